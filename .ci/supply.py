"""What the service is made of: pinned with hashes, with the licence of each part, and as a list for those who check it.

    python .ci/supply.py lock REPORT...      requirements.lock, from reports of `pip install --dry-run --report`
    python .ci/supply.py licences            the licence of each package that runs; refuses what may not be shipped
    python .ci/supply.py sbom                the same as CycloneDX 1.5, with the hashes of requirements.lock
    python .ci/supply.py weaknesses ZIP      known weaknesses of requirements.lock, from the export of osv.dev for PyPI;
                                             refuses those older than SECURITY.md promises

`.ci/release` calls them all, the last by `.ci/weaknesses`. Packages are those that are installed and that the service
needs, with its container.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

TOP = Path(__file__).resolve().parents[1]
LOCK = TOP / "requirements.lock"

#: What the service is, with what it runs on in a container.
SERVICE = "graphpriv[container]"

_HEAD = """\
# What the image and the release script install, with the hashes of the files for Python 3.11 on Linux (x86-64). Made by
# `.ci/release`; README and the tests take requirements.txt, since pip refuses a folder beside hashes. It lists
# all that is needed: pip install --require-hashes --no-deps -r requirements.lock
"""


class Refused(Exception):
    """The service must not be shipped like this; the text says why."""


# Pins with hashes


def lock(reports: Sequence[Mapping[str, Any]]) -> str:
    """The text of requirements.lock, from reports of pip for one platform each; all must have the same versions."""
    versions: dict[str, str] = {}
    hashes: dict[str, set[str]] = {}
    for report in reports:
        for each in report["install"]:
            name, version = canonicalize_name(each["metadata"]["name"]), each["metadata"]["version"]
            if name == "graphpriv":
                continue
            if versions.setdefault(name, version) != version:
                raise Refused(f"{name}: the reports have versions {versions[name]} and {version}.")
            hashes.setdefault(name, set()).add(each["download_info"]["archive_info"]["hashes"]["sha256"])
    lines = [
        " \\\n".join([f"{name}=={version}", *(f"    --hash=sha256:{each}" for each in sorted(hashes[name]))])
        for name, version in sorted(versions.items())
    ]
    return _HEAD + "\n".join(lines) + "\n"


def locked(text: str) -> dict[str, tuple[str, list[str]]]:
    """Version and hashes of each package in a lock."""
    found: dict[str, tuple[str, list[str]]] = {}
    for block in re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace(" \\\n", " ").splitlines():
        pin, *marks = block.split()
        name, _, version = pin.partition("==")
        found[name] = version, [mark.removeprefix("--hash=sha256:") for mark in marks]
    return found


# Licences


def installed(service: str = SERVICE) -> dict[str, metadata.Distribution]:
    """The packages that the *service* needs, with all that these need, as they are installed."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [Requirement(service)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        if (name, frozenset(asked.extras)) in seen:
            continue
        seen.add((name, frozenset(asked.extras)))
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise Refused(f"{name}: this is needed and not installed.") from None
        for text in found[name].requires or ():
            needed = Requirement(text)
            extras = [{"extra": extra} for extra in ("", *asked.extras)]
            if needed.marker is None or any(needed.marker.evaluate(extra) for extra in extras):
                waiting.append(needed)
    return dict(sorted(found.items()))


#: Licences by what is read of them; the first that fits counts. `copyleft` may not be shipped, `weak` is listed.
_KINDS = (
    ("copyleft", r"\bA?GPL|Affero|(?<!Lesser )(?<!Library )General Public"),
    ("weak", r"\bLGPL|Lesser General|Library or Lesser|\bMPL|Mozilla|\bEPL|\bCDDL"),
    (
        "free",
        r"\bMIT\b|\bBSD|Apache|\bISC\b|\bPSF|Python Software|Python-2|Unlicense|Public Domain|CC0|\bZlib|\b0BSD"
        r"|\bZope|\bZPL|HPND|Boost|BSL-1|CNRI|\bUnicode",
    ),
)


def kind_of(licence: str) -> str:
    """Whether a licence is `free`, `weak`, `copyleft` or `unknown`; of several to choose from the best counts.

    >>> [kind_of(each) for each in ("MIT", "LGPL-3.0-only", "GPL-2.0-only OR MIT", "AGPL-3.0", "see file")]
    ['free', 'weak', 'free', 'copyleft', 'unknown']
    """
    ranks = ["free", "weak", "copyleft", "unknown"]
    choices = re.split(r"\s+OR\s+|\s+or\s+|;", licence.strip("() "))
    return min((_all_of(each) for each in choices), key=ranks.index)


def _all_of(licence: str) -> str:
    """The strictest of licences that hold together."""
    ranks = ["unknown", "copyleft", "weak", "free"]
    parts = [part for part in re.split(r"\s+AND\s+|\s+WITH\s+[\w-]+", licence) if part.strip("() ")]
    kinds = [next((kind for kind, form in _KINDS if re.search(form, part, re.IGNORECASE)), "unknown") for part in parts]
    return min(kinds, key=ranks.index) if kinds else "unknown"


def licence_of(package: metadata.Distribution) -> str:
    """What a package says of its licence: an expression, or else its classifiers, or else one line of text."""
    said = package.metadata
    if expression := said.get("License-Expression"):
        return str(expression)
    classifiers = [
        text.rpartition("::")[2].strip()
        for text in said.get_all("Classifier") or ()
        if text.startswith("License ::") and not text.endswith(":: OSI Approved")
    ]
    if classifiers:
        return " AND ".join(sorted(classifiers))
    return str(said.get("License") or "").strip().partition("\n")[0]


def licences(packages: Mapping[str, metadata.Distribution]) -> list[tuple[str, str, str, str]]:
    """Name, version, licence and kind of each package; `Refused` where one may not be shipped."""
    rows = [(name, each.version, licence_of(each), kind_of(licence_of(each))) for name, each in packages.items()]
    rows = [row for row in rows if row[0] != "graphpriv"]
    wrong = [f"{name} {version}: {licence or 'says nothing'}" for name, version, licence, kind in rows
             if kind in ("copyleft", "unknown")]  # fmt: skip
    if wrong:
        raise Refused("These licences are GPL, AGPL or unknown, and offer nothing else: " + "; ".join(wrong))
    return rows


def listed(rows: Iterable[tuple[str, str, str, str]]) -> Iterator[str]:
    """The lines of a list of licences: first what is to be looked at."""
    rows = list(rows)
    for title, fits in (
        ("Weak copyleft (LGPL, MPL and the like), or a choice", lambda row: row[3] == "weak" or " OR " in row[2]),
        ("All others", lambda row: row[3] != "weak" and " OR " not in row[2]),
    ):
        yield f"{title}:"
        yield from (
            f"  {name} {version}: {licence}" for name, version, licence, _ in rows if fits((name, version, licence, _))
        )


# Known weaknesses

#: So many days after a weakness was published nothing is shipped that has it, by how severe it is; SECURITY.md promises
#: this. One that says nothing of it counts as high.
FRAMES = {"CRITICAL": 7, "HIGH": 14, "MODERATE": 60, "LOW": 60}


def weaknesses(
    pins: Mapping[str, tuple[str, list[str]]], records: Iterable[Mapping[str, Any]], now: datetime
) -> list[str]:
    """What is known of the versions in a lock, from records of OSV; `Refused` where one is known for too long."""
    lines, late = set[str](), set[str]()
    for record in records:
        try:
            found = dict(_lines_of(record, pins))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            what = f"{type(error).__name__}: {error}"
            raise Refused(f"{record.get('id')}: this record is not as OSV has them: {what}.") from None
        for line, due in found.items():
            (late if due < now else lines).add(line)
    if late:
        raise Refused("These weaknesses are known for longer than is promised: " + "; ".join(sorted(late)))
    return sorted(lines)


def _lines_of(record: Mapping[str, Any], pins: Mapping[str, tuple[str, list[str]]]) -> Iterator[tuple[str, datetime]]:
    """What a record says of each version in a lock, and until when it must be gone."""
    for affected in record.get("affected", ()) if "withdrawn" not in record else ():
        package = affected.get("package", {})
        name = canonicalize_name(package.get("name", ""))
        if package.get("ecosystem") != "PyPI" or name not in pins or not _is_affected(pins[name][0], affected):
            continue
        severity = str(record.get("database_specific", {}).get("severity", "HIGH")).upper()
        published = datetime.fromisoformat(record["published"]).astimezone(UTC)
        due = published + timedelta(days=FRAMES.get(severity, FRAMES["HIGH"]))
        yield f"{name} {pins[name][0]}: {record['id']} ({severity.lower()}), to be gone by {due:%Y-%m-%d}", due


def _is_affected(version: str, affected: Mapping[str, Any]) -> bool:
    """Whether a version is among those that a record lists, or within one of its ranges."""
    here = Version(version)
    if any(_version(each) == here for each in affected.get("versions", ())):
        return True
    return any(_is_within(here, each["events"]) for each in affected.get("ranges", ()) if each["type"] == "ECOSYSTEM")


def _is_within(here: Version, events: Iterable[Mapping[str, str]]) -> bool:
    """Whether the last event that a version has come to lets the weakness in."""
    found = False
    # `last_affected` ends a range behind the version that it names.
    steps = [(_version(text), kind) for event in events for kind, text in event.items() if kind != "limit"]
    for at, kind in sorted((each for each in steps if each[0] is not None), key=lambda each: each[0]):
        if at < here or (at == here and kind != "last_affected"):
            found = kind == "introduced"
    return found


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def records_of(export: Path) -> Iterator[Mapping[str, Any]]:
    """The records in an export of OSV: a zip with a JSON file for each."""
    try:
        with zipfile.ZipFile(export) as packed:
            names = [name for name in packed.namelist() if name.endswith(".json")]
            if not names:
                raise Refused(f"{export}: there is no record in it.")
            for name in names:
                yield _record(packed.read(name), f"{export}, {name}")
    # Of a file that is encrypted, nested or packed as we cannot read it, RuntimeError.
    except (OSError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise Refused(f"{export}: this is not the export of osv.dev: {error}.") from None


def _record(text: bytes, where: str) -> Mapping[str, Any]:
    try:
        record = json.loads(text)
    except ValueError as error:
        raise Refused(f"{where}: this is not JSON: {error}.") from None
    if not isinstance(record, dict):
        raise Refused(f"{where}: this is no record of OSV, but a JSON {type(record).__name__}.")
    return record


# A list for others


def sbom(
    rows: Sequence[tuple[str, str, str, str]], hashes: Mapping[str, tuple[str, list[str]]], version: str
) -> dict[str, Any]:
    """The packages as a CycloneDX document."""
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name}@{number}",
            "name": name,
            "version": number,
            "purl": f"pkg:pypi/{name}@{number}",
            # Of a licence that is no expression of SPDX the name is told.
            "licenses": [{"license": {"name": licence}}],
            # Those of the files for each platform; a component has one file, so they stand among its properties.
            "properties": [{"name": "sha256", "value": each} for each in hashes.get(name, ("", []))[1]],
        }
        for name, number, licence, _ in rows
    ]
    service = {"type": "application", "bom-ref": "graphpriv", "name": "graphpriv", "version": version}
    licence = [{"license": {"id": "Apache-2.0"}}]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**service, "licenses": licence}},
        "components": components,
        "dependencies": [{"ref": "graphpriv", "dependsOn": [each["bom-ref"] for each in components]}],
    }


def main(words: Sequence[str]) -> int:
    """Do what the command line says."""
    try:
        if words[:1] == ["lock"] and len(words) > 1:
            print(lock([json.loads(Path(each).read_text(encoding="utf-8")) for each in words[1:]]), end="")
        elif words == ["licences"]:
            print("\n".join(listed(licences(installed()))))
        elif words[:1] == ["weaknesses"] and len(words) == 2:
            found = weaknesses(locked(LOCK.read_text("utf-8")), records_of(Path(words[1])), datetime.now(UTC))
            print("\n".join(found) or "None is known.")
        elif words == ["sbom"]:
            rows = licences(installed())
            hashes = locked(LOCK.read_text(encoding="utf-8"))
            print(json.dumps(sbom(rows, hashes, metadata.version("graphpriv")), indent=2))
        else:
            print((__doc__ or "").strip(), file=sys.stderr)
            return 2
    except Refused as error:
        print(f"supply: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
