"""The script that starts a Neo4j from its published jars, as far as no server is needed to see it."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import START_SCRIPT, start_script

#: Stands in for Maven: writes two jars where it is told to, taking its time, and counts how often it was called.
MAVEN = """#!/bin/sh
for each in "$@"; do case "$each" in -DoutputDirectory=*) out="${each#-DoutputDirectory=}";; esac; done
echo one > "$out/one.jar"; sleep 0.2; echo two > "$out/two.jar"
echo called >> "$(dirname "$0")/calls"
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of programs, with a Maven and a Java that do nothing of the sort."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in (("mvn", MAVEN), ("java", '#!/bin/sh\necho "no server: $*" >&2; exit 3\n')):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("GRAPHPRIV_NEO4J_CACHE", str(tmp_path / "cache"))
    return tools


def fetch() -> None:
    """Fetch the jars, and see that they are all there."""
    found = {each.name for each in start_script().fetch_jars().iterdir()}
    sys.exit(0 if found == {"one.jar", "two.jar"} else 1)


def test_the_jars_are_fetched_once_and_whole_by_several_processes(tools: Path, tmp_path: Path) -> None:
    fetchers = [multiprocessing.get_context("fork").Process(target=fetch) for _ in range(3)]
    for fetcher in fetchers:
        fetcher.start()
    for fetcher in fetchers:
        fetcher.join()
    assert [fetcher.exitcode for fetcher in fetchers] == [0, 0, 0]
    assert [each.name for each in (tmp_path / "cache").iterdir()] == ["lib"]
    calls = (tools / "calls").read_text()
    start_script().fetch_jars()
    assert (tools / "calls").read_text() == calls


def test_a_fetch_that_fails_leaves_nothing_behind(tools: Path, tmp_path: Path) -> None:
    (tools / "mvn").write_text("#!/bin/sh\necho 'no way to the jars'; exit 1\n")
    script = start_script()
    with pytest.raises(script.ServerFailure, match="no way to the jars"):
        script.fetch_jars()
    assert list((tmp_path / "cache").iterdir()) == []


def test_missing_programs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("GRAPHPRIV_NEO4J_CACHE", str(tmp_path / "cache"))
    script = start_script()
    assert script.missing_tools() == ["java", "mvn"]
    with pytest.raises(script.ServerFailure, match="java and mvn must be installed"):
        script.fetch_jars()


def test_the_password_is_handed_over_by_a_file_for_the_owner_alone(tools: Path, tmp_path: Path) -> None:
    java = '#!/bin/sh\necho "$@" > "$0.arguments"; cp -p "${1#@}" "$0.file"\n'
    (tools / "java").write_text(java)
    start_script().Server(tmp_path / "home", 1, 'a "password" of\\the test')
    (said,) = (tools / "java.arguments").read_text().split()
    handed = tools / "java.file"
    assert handed.stat().st_mode & 0o777 == 0o600
    assert handed.read_text().splitlines()[-3:] == [
        '"dbms"',
        '"set-initial-password"',
        '"a \\"password\\" of\\\\the test"',
    ]
    # And the file is gone.
    assert said.startswith(f"@{tmp_path}") and not Path(said[1:]).exists()


def test_a_password_that_cannot_be_set_is_not_repeated(tools: Path, tmp_path: Path) -> None:
    script = start_script()
    with pytest.raises(script.ServerFailure, match="no server") as caught:
        script.Server(tmp_path / "home", 1, "a-password-of-the-test")
    assert "a-password-of-the-test" not in str(caught.value)


def test_the_script_explains_itself() -> None:
    told = subprocess.run([sys.executable, START_SCRIPT, "run", "--help"], capture_output=True, text=True, check=True)
    for option in ("--home", "--port", "--password-file", "--heap"):
        assert option in told.stdout
    wrong = subprocess.run(
        [sys.executable, START_SCRIPT, "run", "--home", "x"], capture_output=True, text=True, env={"PATH": ""}
    )
    assert wrong.returncode == 2
    assert "GRAPHPRIV_NEO4J_PASSWORD" in wrong.stderr
