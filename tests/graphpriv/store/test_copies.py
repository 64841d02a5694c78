"""Folders for copies: for the owner alone, gone after the block, and after a kill with the next run."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphpriv.store import open_store
from graphpriv.store.copies import PREFIX, _opened, first_usable, leftovers, working_folder
from tabular.errors import InvalidInput
from tests.contracts.store import ROOT, filled

WORKER = """
import sys
from pathlib import Path
from graphpriv.store.copies import working_folder
with working_folder(Path(sys.argv[1])) as folder:
    (folder / "backup.db").write_text("@ana_of_the_test")
    print(folder, flush=True)
    input()
"""


def worker(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process at work in a folder, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(place)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def left_behind(place: Path, then: Callable[[], object]) -> Path:
    """What a killed process left in a folder, after something else was done."""
    killed, left = worker(place)
    killed.kill()
    killed.communicate()
    assert left.exists()
    assert not then()
    return left


def test_a_folder_is_for_its_owner_alone_and_gone_after_the_block(tmp_path: Path) -> None:
    with working_folder(tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "copy.db").write_text("x")
    with pytest.raises(RuntimeError), working_folder(tmp_path) as folder:
        (folder / "copy.db").write_text("x")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none: No such file or directory\."), working_folder(tmp_path / "none"):
        pass


def test_what_a_killed_process_left_goes_and_what_a_living_one_needs_stays(tmp_path: Path) -> None:
    killed, left = worker(tmp_path)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    living, needed = worker(tmp_path)
    try:
        assert not left.exists()
        with working_folder(tmp_path):
            assert needed.exists()
        assert leftovers(tmp_path) == []
        assert (needed / "backup.db").exists()
    finally:
        living.communicate("\n")
    assert living.returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("opened_before", [False, True])
def test_a_folder_taken_for_left_behind_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened_before: bool
) -> None:
    stolen: list[Path] = []

    def late(folder: Path) -> int:
        if stolen:
            return _opened(folder)
        stolen.append(folder)
        lock = _opened(folder) if opened_before else None
        leftovers(tmp_path)
        assert not folder.exists()
        return _opened(folder) if lock is None else lock

    monkeypatch.setattr("graphpriv.store.copies._opened", late)
    with working_folder(tmp_path) as folder:
        assert folder not in stolen
        assert folder.exists()
    assert len(stolen) == 1


def test_a_check_removes_what_a_killed_backup_left_or_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store:
        filled(store)
        assert not left_behind(tmp_path, store.check).exists()
        left = left_behind(tmp_path, list)
        monkeypatch.setattr("graphpriv.store.copies.shutil.rmtree", lambda *_, **__: None)
        assert store.check() == [f"{left}: a killed run left copies of graphs; delete this folder."]
        monkeypatch.undo()
        store.backup(tmp_path / "kept.bak")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["graphs.db", "graphs.db-reserve", "kept.bak"]


def test_another_folder_is_taken_where_the_first_cannot_be_written(tmp_path: Path) -> None:
    assert first_usable(tmp_path / "none", tmp_path) == tmp_path
    assert first_usable(tmp_path / "none").is_dir()
    assert PREFIX.startswith(".")
