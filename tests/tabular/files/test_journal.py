from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.errors import InvalidInput
from tabular.files.disk import check_release_id, write_outputs
from tabular.files.journal import MARK, finish_interrupted
from tests import moments
from tests.system_calls import killed_at
from tests.tabular.files.scenes import MOST_STEPS, Scene, output, scene, scenes, text


def check_killed(place: Scene, step: int) -> bool:
    """Kill a command at a step; whether it came so far."""
    was_killed = killed_at(step, lambda: place.write("new"))
    new = place.expected("new")
    assert all(seen in (before, after) for seen, before, after in zip(place.seen(), place.before, new, strict=True))
    if place.seen() not in (place.before, new) and all(place.targets[each].exists() for each in (0, 1, 2)):
        is_mixed = len({seen == after for seen, after in zip(place.seen()[:3], new, strict=False)}) > 1
        ids = [json.loads(place.targets[each].read_text())["release"] for each in (1, 2)]
        if is_mixed:
            with pytest.raises(InvalidInput, match=r"not the release that record\.json belongs to"):
                for each in ids:
                    check_release_id([place.targets[0]], each, record="record.json")
    return was_killed


def check_finished(place: Scene) -> None:
    place.finish()
    assert place.seen() in (place.before, place.expected("new"))
    assert not place.left_over()
    assert not place.finish()


def check_kills(folders: int, old: bool, *, every: int) -> None:
    for step in range(1, MOST_STEPS, every):
        with scene(folders, old) as place:
            was_killed = check_killed(place, step)
            check_finished(place)
        if not was_killed:
            assert step > 20
            return
    raise AssertionError


# A fork of a process that has loaded much takes long: few of them in the plain run.
@pytest.mark.parametrize(("folders", "old"), [(1, True), (2, False), (3, True)])
def test_after_a_kill_the_next_command_finishes_or_undoes(folders: int, old: bool) -> None:
    check_kills(folders, old, every=5)


@pytest.mark.heavy
@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("folders", [1, 2, 3])
def test_after_a_kill_at_any_step_the_next_command_finishes_or_undoes(folders: int, old: bool) -> None:
    check_kills(folders, old, every=1)


@settings(max_examples=20)
@given(scenes, st.integers(1, 60), st.integers(1, 20))
def test_what_clears_up_may_be_killed_too(kind: tuple[int, bool], step: int, again: int) -> None:
    with scene(*kind) as place:
        check_killed(place, step)
        killed_at(again, place.finish)
        check_finished(place)


@pytest.mark.heavy
@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("folders", [1, 2, 3])
def test_kills_at_all_pairs_of_steps(folders: int, old: bool) -> None:
    for step in range(1, MOST_STEPS):
        for again in range(1, MOST_STEPS):
            with scene(folders, old) as place:
                was_killed = check_killed(place, step)
                was_killed_again = killed_at(again, place.finish)
                check_finished(place)
            if not was_killed_again:
                break
        if not was_killed:
            return
    raise AssertionError


def test_one_folder_is_enough_to_clear_up_in_all(tmp_path: Path) -> None:
    for name in ("private", "."):
        for step in range(2, MOST_STEPS, 6):
            place = Scene(tmp_path, folders=2, old=False)
            if not killed_at(step, lambda place=place: place.write("new")):  # type: ignore[misc]
                break
            mixed = place.seen() not in (place.before, place.expected("new"))
            told = finish_interrupted(tmp_path / name)
            assert place.seen() in (place.before, place.expected("new"))
            if mixed:
                assert told == [
                    "An earlier command was killed while it wrote table.csv, table.csv.dictionary.json, record.json; "
                    "all is as it was before that command."
                ]
            place.finish()
            for target in place.targets:
                target.unlink(missing_ok=True)


def test_what_a_living_command_is_doing_stays_untouched(tmp_path: Path) -> None:
    def write(file: IO[bytes], _: str) -> None:
        file.write(b"x")
        before = sorted(tmp_path.iterdir())
        assert finish_interrupted(tmp_path) == []
        assert sorted(tmp_path.iterdir()) == before

    write_outputs([output(tmp_path / "x", write)], overwrite=False)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def killed_between(place: Scene) -> None:
    """A command that was killed when some of its files were new."""
    for step in range(20, MOST_STEPS):
        assert killed_at(step, lambda: place.write("new"))
        if place.seen() not in (place.before, place.expected("new")):
            return
        place.finish()


def test_what_somebody_has_changed_since_the_kill_stays(tmp_path: Path) -> None:
    place = Scene(tmp_path, folders=1, old=True)
    killed_between(place)
    changed = next(
        target for target, old in zip(place.targets, place.before, strict=True) if target.read_bytes() != old
    )
    changed.write_text("by hand")
    place.finish()
    assert changed.read_text() == "by hand"
    assert not place.left_over()


def test_a_folder_that_is_away_is_waited_for(tmp_path: Path) -> None:
    place = Scene(tmp_path, folders=2, old=True)
    killed_between(place)
    between = place.seen()
    for away in (tmp_path / "private",):
        away.rename(tmp_path / "away")
        assert finish_interrupted(tmp_path) == []
        (tmp_path / "away").rename(away)
    assert place.seen() == between
    place.finish()
    assert place.seen() == place.before


def test_a_journal_that_names_files_of_others_or_makes_no_sense_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    status = (tmp_path / "mine").stat()
    mark = [status.st_ino, status.st_size, status.st_mtime_ns]
    file = {"folder": 0, "target": "../mine", "temporary": f"{MARK}0-0.new", "old": f"{MARK}0-0.old"}
    evil = [{"folders": ["."], "made": [], "files": [file]}, {"files": [[mark, False]]}]
    (tmp_path / "folder").mkdir()
    for number, content in enumerate(("\n".join(map(json.dumps, evil)) + "\n", "{\n", "[1]\n", '{"a": 1}\n')):
        (tmp_path / "folder" / f"{MARK}{number}.journal").write_text(content)
    assert finish_interrupted(tmp_path / "folder") == []
    assert (tmp_path / "mine").read_text() == "x"
    assert len(list((tmp_path / "folder").iterdir())) == 4


def test_a_folder_that_is_not_there_needs_no_clearing_up(tmp_path: Path) -> None:
    assert finish_interrupted(tmp_path / "none") == []


def test_where_the_file_system_has_no_links_old_files_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    place = Scene(tmp_path, folders=1, old=True)
    monkeypatch.setattr(os, "link", refuse)
    killed_between(place)
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in tmp_path.glob(f"{MARK}*-2.old"))
    check_finished(place)
    assert place.seen() == place.before
    place.write("new")
    assert place.seen() == place.expected("new")
    assert not place.left_over()


@pytest.mark.parametrize("existed", [True, False])
def test_files_that_go_with_the_old_ones_go_when_the_new_ones_come(tmp_path: Path, existed: bool) -> None:
    new, gone = tmp_path / "000.csv", tmp_path / "001.csv"

    def write() -> int:
        write_outputs([output(new, text("new"))], overwrite=True, removed=[gone])
        return 0

    for moment in range(1, MOST_STEPS):
        for path in (new, gone) if existed else (gone,):
            path.write_text("old")
        ended = moments.killed_at(moment, write)
        finish_interrupted(tmp_path)
        seen = [path.read_text() if path.exists() else None for path in (new, gone)]
        assert seen in (["old" if existed else None, "old"], ["new", None])
        assert sorted(tmp_path.iterdir()) == [path for path in (new, gone) if path.exists()]
        for path in (new, gone):
            path.unlink(missing_ok=True)
        if ended.code is not None:
            assert (ended.code, seen) == (0, ["new", None])
            return
    raise AssertionError
