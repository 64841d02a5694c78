"""What the service is made of: pins with hashes, licences, and the list of parts."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

TOP = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def supply() -> ModuleType:
    spec = importlib.util.spec_from_file_location("supply", TOP / ".ci" / "supply.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pins() -> dict[str, str]:
    """The versions in requirements.txt that count for the Python of the lock."""
    lines = [line for line in (TOP / "requirements.txt").read_text().splitlines() if "==" in line]
    asked = [Requirement(line) for line in lines]
    here = {"python_version": "3.11", "python_full_version": "3.11.7"}
    return {
        each.name: str(each.specifier).removeprefix("==")
        for each in asked
        if each.marker is None or each.marker.evaluate(here)
    }


def test_the_lock_pins_what_runs_to_the_versions_of_the_pins_and_each_with_hashes(supply) -> None:
    text = (TOP / "requirements.lock").read_text()
    locked = supply.locked(text)
    assert "://" not in text and "-index" not in text
    for name, (version, hashes) in locked.items():
        assert hashes and all(re.fullmatch("[0-9a-f]{64}", each) for each in hashes), name
        assert pins().get(name, version) == version, name
    # All that the service needs here is in it.
    needed = set(supply.installed()) - {"graphpriv"}
    assert needed <= locked.keys(), needed - locked.keys()
    assert {"hatchling", "setuptools"} <= locked.keys()


def test_the_image_installs_from_the_lock_alone() -> None:
    dockerfile = re.sub(r"^#.*\n", "", (TOP / "docker" / "Dockerfile").read_text().replace("\\\n", " "), flags=re.M)
    installs = re.findall(r"pip install ([^&\n]*)", dockerfile)
    assert len(installs) == 3
    for each, lock in zip(installs, ("build.lock", "requirements.lock"), strict=False):
        assert "--require-hashes" in each and "--no-deps" in each and f"-r {lock}" in each
    assert all("--no-deps" in each and "--no-build-isolation" in each for each in installs[1:])


def test_nothing_that_runs_is_gpl_or_unknown(supply) -> None:
    rows = supply.licences(supply.installed())
    assert {row[3] for row in rows} == {"free", "weak"}
    told = list(supply.listed(rows))
    assert len(told) == len(rows) + 2
    # Those with conditions come first.
    first = told[: told.index("All others:")]
    assert any("psycopg " in line and "LGPL" in line for line in first)


@pytest.mark.parametrize(
    ("licence", "kind"),
    [
        ("GPL-3.0-or-later", "copyleft"),
        ("GNU General Public License v3 (GPLv3)", "copyleft"),
        ("GNU Affero General Public License v3", "copyleft"),
        ("AGPL-3.0-only", "copyleft"),
        ("MIT AND GPL-2.0-only", "copyleft"),
        ("GPL-2.0-only OR MIT", "free"),
        ("GNU Lesser General Public License v3 (LGPLv3)", "weak"),
        ("lgpl", "weak"),
        ("", "unknown"),
        ("Proprietary", "unknown"),
        ("SEE LICENSE", "unknown"),
        ("MIT AND something of our own", "unknown"),
        ("(MIT OR Apache-2.0) AND BSD-3-Clause", "free"),
    ],
)
def test_a_licence_is_told_by_its_words(supply, licence: str, kind: str) -> None:
    assert supply.kind_of(licence) == kind


@pytest.mark.parametrize("licence", ["GPL-3.0-only", ""])
def test_a_package_that_may_not_be_shipped_is_named(supply, monkeypatch, licence: str) -> None:
    monkeypatch.setattr(supply, "licence_of", lambda package: licence)
    with pytest.raises(supply.Refused, match=r"GPL, AGPL or unknown.* flask 3\.") as refused:
        supply.licences({"flask": metadata.distribution("flask")})
    assert (licence or "says nothing") in str(refused.value)


def test_a_lock_is_made_of_reports_of_several_platforms(supply) -> None:
    def report(version: str, digest: str) -> dict[str, object]:
        archive = {"archive_info": {"hashes": {"sha256": digest * 64}}}
        return {"install": [{"metadata": {"name": "Some_Thing", "version": version}, "download_info": archive}]}

    text = supply.lock([report("1.0", "a"), report("1.0", "b")])
    assert supply.locked(text) == {"some-thing": ("1.0", ["a" * 64, "b" * 64])}
    with pytest.raises(supply.Refused, match=r"some-thing: the reports have versions 1\.0 and 1\.1"):
        supply.lock([report("1.0", "a"), report("1.1", "b")])


def test_the_list_of_parts_names_each_with_its_version_licence_and_hashes(supply) -> None:
    told = subprocess.run(
        [sys.executable, TOP / ".ci" / "supply.py", "sbom"], capture_output=True, text=True, check=True
    )
    document = json.loads(told.stdout)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    (flask,) = (each for each in document["components"] if each["name"] == "flask")
    assert flask["purl"] == f"pkg:pypi/flask@{metadata.version('flask')}"
    assert flask["licenses"] and flask["properties"]
    refs = [each["bom-ref"] for each in document["components"]]
    assert document["dependencies"][0]["dependsOn"] == refs and len(set(refs)) == len(refs)


#: What OSV has of Flask 2.3.0 and 2.3.1 (CVE-2023-30861), without its prose.
FLASK = {
    "id": "GHSA-m2qf-hxjv-5gpq",
    "published": "2023-05-01T19:22:20Z",
    "database_specific": {"severity": "HIGH"},
    "affected": [
        {
            "package": {"ecosystem": "PyPI", "name": "Flask"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "2.3.0"}, {"fixed": "2.3.2"}]}],
        },
        {
            "package": {"ecosystem": "PyPI", "name": "flask"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.2.5"}]}],
        },
    ],
}


@pytest.mark.parametrize(
    ("version", "is_affected"),
    [("2.2.4", True), ("2.2.5", False), ("2.3.0", True), ("2.3.1", True), ("2.3.2", False), ("3.1.0", False)],
)
def test_a_weakness_is_one_of_the_versions_in_its_ranges(supply, version: str, is_affected: bool) -> None:
    soon = datetime(2023, 5, 10, tzinfo=UTC)
    found = supply.weaknesses({"flask": (version, [])}, [FLASK], soon)
    line = f"flask {version}: GHSA-m2qf-hxjv-5gpq (high), to be gone by 2023-05-15"
    assert found == ([line] if is_affected else [])
    listed = {"package": FLASK["affected"][0]["package"], "versions": [version, "not a version"]}
    assert len(supply.weaknesses({"flask": (version, [])}, [{**FLASK, "affected": [listed]}], soon)) == 1
    last = {**listed, "versions": [], "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "1"},
            {"last_affected": "2.3.0"}]}]}  # fmt: skip
    found = supply.weaknesses({"flask": (version, [])}, [{**FLASK, "affected": [last]}], soon)
    assert bool(found) == (version in ("2.2.4", "2.2.5", "2.3.0"))


def test_what_is_known_for_longer_than_is_promised_is_not_shipped(supply) -> None:
    pins, page = {"flask": ("2.3.1", [])}, (TOP / "SECURITY.md").read_text()
    assert re.search(r"more than 7 days if it is critical, 14 if it\s+is high or not rated, and 60 otherwise", page)
    for severity, days in {"CRITICAL": 7, "HIGH": 14, "": 14, "MODERATE": 60, "LOW": 60}.items():
        rated = {**FLASK, "database_specific": {"severity": severity} if severity else {}}
        published = datetime(2023, 5, 1, 19, 22, 20, tzinfo=UTC)
        assert len(supply.weaknesses(pins, [rated], published + timedelta(days=days))) == 1
        with pytest.raises(supply.Refused, match=r"flask 2\.3\.1: GHSA-m2qf-hxjv-5gpq"):
            supply.weaknesses(pins, [rated], published + timedelta(days=days, seconds=1))
    late = datetime(2026, 1, 1, tzinfo=UTC)
    assert supply.weaknesses(pins, [{**FLASK, "withdrawn": "2023-06-01T00:00:00Z"}], late) == []
    elsewhere = [{"package": {"ecosystem": "npm", "name": "flask"}, "versions": ["2.3.1"]}]
    assert supply.weaknesses(pins, [{**FLASK, "affected": elsewhere}], late) == []


def test_the_release_stops_at_a_weakness_of_the_lock(tmp_path) -> None:
    def told(record: dict[str, object]) -> subprocess.CompletedProcess[str]:
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as packed:
            packed.writestr("one.json", json.dumps(record))
        command = [sys.executable, TOP / ".ci" / "supply.py", "weaknesses", tmp_path / "all.zip"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert (told(FLASK).returncode, told(FLASK).stdout) == (0, "None is known.\n")
    here = {"package": {"ecosystem": "PyPI", "name": "flask"}, "versions": [metadata.version("flask")]}
    stopped = told({**FLASK, "affected": [here]})
    assert stopped.returncode == 1 and "GHSA-m2qf-hxjv-5gpq" in stopped.stderr
    release = (TOP / ".ci" / "release").read_text()
    assert "set -euo pipefail" in release and ".ci/supply.py weaknesses" in release
