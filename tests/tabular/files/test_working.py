"""Working folders: for the owner alone, gone after the block, and after a kill with the next command."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tabular.errors import InvalidInput
from tabular.files.journal import MARK, WORKING, finish_interrupted, leftovers, opened_folder
from tabular.files.working import working_folder
from tests.tabular.files.left import left_behind, worker


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
            return opened_folder(folder)
        stolen.append(folder)
        lock = opened_folder(folder) if opened_before else None
        leftovers(tmp_path)
        assert not folder.exists()
        return opened_folder(folder) if lock is None else lock

    monkeypatch.setattr("tabular.files.working.opened_folder", late)
    with working_folder(tmp_path) as folder:
        assert folder not in stolen
        assert folder.exists()
    assert len(stolen) == 1


def test_whatever_reads_or_writes_in_a_folder_clears_up_there(tmp_path: Path) -> None:
    assert WORKING.startswith(MARK)
    assert not left_behind(tmp_path, lambda: finish_interrupted(tmp_path)).exists()


def test_without_a_place_it_is_among_the_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with working_folder() as folder:
        assert folder.parent == tmp_path
