"""What the service is made of: pins with hashes, licences, and the list of parts."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


def packed(record: dict[str, object] | str | bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    """An export of OSV with one record, or with a text that is none."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as export:
        export.writestr("one.json", json.dumps(record) if isinstance(record, dict) else record)
    return file.getvalue()


#: A weakness of a version in the lock, known for years.
LATE = {
    **FLASK,
    "affected": [{"package": {"ecosystem": "PyPI", "name": "flask"}, "versions": [metadata.version("flask")]}],
}

#: The same, known since today.
NEW = {**LATE, "published": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")


def compared(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What `.ci/weaknesses` says."""
    # Without the proxy of the machine, which would be asked for loopback, too.
    own = {"PATH": os.environ["PATH"], "GRAPHPRIV_BIN": str(Path(sys.executable).parent)}
    script = TOP / ".ci" / "weaknesses"
    return subprocess.run([script, *words], env={**own, **variables}, capture_output=True, text=True, check=False)


@pytest.fixture
def served() -> Iterator[Callable[[bytes | None], str]]:
    """Serves an answer on loopback, and gives its address; None is no answer at all."""
    with ExitStack() as stack:

        def serve(answer: bytes | None) -> str:
            if answer is None:
                silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
                return f"http://127.0.0.1:{silent.getsockname()[1]}/all.zip"

            class Handler(BaseHTTPRequestHandler):
                def do_GET(self) -> None:
                    self.send_response(200 if answer else 404)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

                def log_message(self, *_: object) -> None:
                    pass

            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
            threading.Thread(target=server.serve_forever, args=(0.05,)).start()
            stack.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}/all.zip"

        yield serve


@needs_curl
@pytest.mark.parametrize("words", [(), ("--or-go-on",)])
def test_a_weakness_of_the_lock_that_is_known_for_too_long_fails(served, tmp_path, words: tuple[str, ...]) -> None:
    ended = compared(*words, GRAPHPRIV_ADVISORIES_URL=served(packed(LATE)))
    assert ended.returncode == 1 and "GHSA-m2qf-hxjv-5gpq" in ended.stderr
    ended = compared(*words, GRAPHPRIV_ADVISORIES_URL=served(packed(NEW)))
    assert ended.returncode == 0 and ended.stderr == ""
    assert ended.stdout.startswith(f"flask {metadata.version('flask')}: GHSA-m2qf-hxjv-5gpq (high), to be gone by ")
    ended = compared(*words, GRAPHPRIV_ADVISORIES_URL=served(packed(FLASK)))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "None is known.\n", "")
    (tmp_path / "all.zip").write_bytes(packed(LATE))
    assert compared(*words, GRAPHPRIV_ADVISORIES=str(tmp_path / "all.zip")).returncode == 1
    # A file that somebody names is there; a list without a record says nothing of the lock.
    ended = compared(*words, GRAPHPRIV_ADVISORIES=str(tmp_path / "al.zip"))
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1) and "No such file" in ended.stderr
    (tmp_path / "all.zip").write_bytes(b"PK\5\6" + bytes(18))
    assert "no record" in compared(*words, GRAPHPRIV_ADVISORIES=str(tmp_path / "all.zip")).stderr


@pytest.mark.parametrize("words", [(), ("--or-go-on",)])
def test_without_a_python_that_works_nothing_goes_on(served, tmp_path, words: tuple[str, ...]) -> None:
    ended = compared(*words, GRAPHPRIV_BIN="/nowhere", GRAPHPRIV_ADVISORIES_URL=served(packed(FLASK)))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert re.fullmatch(
        r"/nowhere/python3 cannot compare: .*No such file or directory\. GRAPHPRIV_BIN .*\n", ended.stderr
    )
    broken = tmp_path / "python3"
    for script, why in (
        ("exit 1", "it fails"),
        ("echo Traceback >&2; echo \"No module named 'packaging'\" >&2; exit 1", "No module named 'packaging'"),
    ):
        broken.write_text(f"#!/bin/sh\n{script}\n")
        broken.chmod(0o755)
        for variables in ({"GRAPHPRIV_ADVISORIES_URL": served(packed(FLASK))}, {"GRAPHPRIV_ADVISORIES": "all.zip"}):
            ended = compared(*words, GRAPHPRIV_BIN=str(tmp_path), **variables)
            assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
            assert ended.stderr.startswith(f"{broken} cannot compare: {why}. ")


def bent(export: bytes, at: int) -> bytes:
    """An export in which one byte after its first name is another."""
    at += export.index(b"one.json") + len("one.json")
    return export[:at] + bytes([export[at] ^ 0xFF]) + export[at + 1 :]


@pytest.mark.parametrize(
    ("export", "why"),
    [
        (packed('{"id": "GHSA-1", '), "one.json: this is not JSON: "),
        (packed(b"\xff\xfe{}\xff"), "one.json: this is not JSON: "),
        (packed("[1]"), "one.json: this is no record of OSV, but a JSON list"),
        (packed("[" * 100_000), "this is not the export of osv.dev: "),
        (bent(packed(FLASK), 3), "this is not the export of osv.dev: "),
        (bent(packed(FLASK, zipfile.ZIP_DEFLATED), 0), "this is not the export of osv.dev: "),
        (packed({**FLASK, "affected": 1}), "GHSA-m2qf-hxjv-5gpq: this record is not as OSV has them: "),
        (packed({**LATE, "published": "today"}), "GHSA-m2qf-hxjv-5gpq: this record is not as OSV has them: "),
        (packed({**LATE, "published": None}), "GHSA-m2qf-hxjv-5gpq: this record is not as OSV has them: "),
    ],
    ids=["part", "no text", "list", "nested", "bent", "bent and packed", "number", "no time", "null"],
)
def test_a_record_that_cannot_be_read_is_told_in_one_line(tmp_path, export: bytes, why: str) -> None:
    (tmp_path / "all.zip").write_bytes(export)
    ended = compared(GRAPHPRIV_ADVISORIES=str(tmp_path / "all.zip"))
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert ended.stderr.startswith("supply: ") and why in ended.stderr


@needs_curl
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "Operation too slow"),
        (b"", "returned error: 404"),
        (b"<title>Sign in to this network</title>", "is not a zip file"),
        (packed(LATE)[:-30], "is not a zip file"),
    ],
    ids=["silence", "404", "a page", "a part"],
)
def test_where_the_list_does_not_come_the_ci_goes_on_and_a_release_stops(
    served, answer: bytes | None, why: str
) -> None:
    url, began = served(answer), time.monotonic()
    ended = compared("--or-go-on", GRAPHPRIV_ADVISORIES_URL=url)
    assert time.monotonic() - began < 10
    assert (ended.returncode, ended.stdout) == (0, "")
    assert re.fullmatch(rf"requirements\.lock is not compared: .*{why}.*\n", ended.stderr)
    # Silence is waited for once.
    if answer is not None:
        assert compared(GRAPHPRIV_ADVISORIES_URL=url).returncode == 1


@needs_curl
def test_where_nobody_listens_the_ci_goes_on_and_a_release_stops() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/all.zip"
    for words, code in ((), 1), (("--or-go-on",), 0):
        ended = compared(*words, GRAPHPRIV_ADVISORIES_URL=url)
        assert ended.returncode == code
        assert re.fullmatch(r"requirements\.lock is not compared: curl: \(7\) .*\n", ended.stderr)
    assert compared("--or-go", GRAPHPRIV_ADVISORIES_URL=url).returncode == 2


def test_the_release_and_every_run_of_the_ci_compare() -> None:
    for script, line in ("release", r"\.ci/weaknesses"), ("run", r"\.ci/weaknesses --or-go-on"):
        text = (TOP / ".ci" / script).read_text()
        # A failure ends the script where it happens.
        assert "\nset -euo pipefail\n" in text
        assert re.search(rf"^{line}$", text, re.MULTILINE), script
