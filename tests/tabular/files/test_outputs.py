from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.errors import FileFailure, InvalidInput, InvalidParameter, NameTaken
from tabular.files.journal import MARK
from tabular.files.outputs import (
    Output,
    Planned,
    WrittenOutputs,
    check_outputs,
    finish_interrupted,
    write_outputs,
)
from tabular.release.identity import check_release_id, release_id
from tests.system_calls import failing, killed_at


def text(content: str) -> Callable[[IO[bytes], str], None]:
    return lambda file, _: (file.write(content.encode()), None)[1]


def record(of: str) -> Callable[[IO[bytes], str], None]:
    return lambda file, release: (file.write(json.dumps({"of": of, "release": release}).encode()), None)[1]


def output(path: Path | str, write: Callable[[IO[bytes], str], None], **options: bool) -> Output:
    return Output(path=str(path), parameter="out", write=write, **options)


class Scene:
    """A table, its dictionary and its private record in up to three folders, before and after a command."""

    def __init__(self, top: Path, *, folders: int, old: bool) -> None:
        self.top = top
        second = top if folders == 1 else top / "private"
        self.third = top / "made"
        second.mkdir(exist_ok=True)
        self.targets = [top / "table.csv", top / "table.csv.dictionary.json", second / "record.json"]
        if folders == 3:
            self.targets.append(self.third / "matrix.csv")
        self.old = old
        if old:
            self.write("old", overwrite=False)
        self.before = self.seen()

    def write(self, content: str, *, overwrite: bool = True) -> WrittenOutputs:
        writers = [text(content * 3), record(content), record(content), text(content)]
        return write_outputs(
            [
                output(target, writer, released=target.name == "table.csv", private=target.name == "record.json")
                for target, writer in zip(self.targets, writers, strict=False)
            ],
            overwrite=overwrite,
        )

    def seen(self) -> list[bytes | None]:
        return [target.read_bytes() if target.exists() else None for target in self.targets]

    def expected(self, content: str) -> list[bytes | None]:
        document = json.dumps({"of": content, "release": release_id((content * 3).encode())}).encode()
        return [(content * 3).encode(), document, document, content.encode()][: len(self.targets)]

    def left_over(self) -> list[str]:
        return [path.name for path in self.top.rglob(f"{MARK}*")]

    def finish(self) -> list[str]:
        return [told for folder in (self.top / "private", self.third, self.top) for told in finish_interrupted(folder)]


@contextlib.contextmanager
def scene(folders: int, old: bool) -> Iterator[Scene]:
    with tempfile.TemporaryDirectory() as top:
        yield Scene(Path(top), folders=folders, old=old)


scenes = st.tuples(st.sampled_from([1, 2, 3]), st.booleans())
#: More than any command of a scene takes.
MOST_STEPS = 90
CONTENT = b"a\n1\n"


def test_outputs_are_written_and_the_others_know_the_release_id(tmp_path: Path) -> None:
    found = write_outputs(
        [
            output(tmp_path / "record.json", record("x"), private=True),
            output(tmp_path / "table.csv", text(CONTENT.decode()), released=True),
        ],
        overwrite=False,
    )
    expected = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
    assert found == WrittenOutputs(expected, (str(tmp_path / "record.json"), str(tmp_path / "table.csv")))
    assert json.loads((tmp_path / "record.json").read_text()) == {"of": "x", "release": expected}
    check_release_id(tmp_path / "table.csv", expected, record="record.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["record.json", "table.csv"]


def test_the_id_of_several_released_files_is_that_of_all_in_their_order(tmp_path: Path) -> None:
    outputs = [output(tmp_path / name, text(name), released=True) for name in ("b", "a")]
    assert write_outputs(outputs, overwrite=False).release == release_id(b"ba")


def test_nothing_released_has_no_id(tmp_path: Path) -> None:
    assert write_outputs([output(tmp_path / "x", record("x"))], overwrite=False).release is None
    assert json.loads((tmp_path / "x").read_text())["release"] == ""


def test_what_is_private_is_for_its_owner_alone_and_the_rest_has_the_rights_of_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        (tmp_path / "own").write_text("old")
        write_outputs(
            [output(tmp_path / "own", text("x"), private=True), output(tmp_path / "shared", text("x"))], overwrite=True
        )
    finally:
        os.umask(before)
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o640


def test_standard_output_comes_last_and_knows_the_release_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    found = write_outputs(
        [output("-", text("table"), released=True), output(tmp_path / "record", record("x"))], overwrite=False
    )
    assert out.buffer.getvalue() == b"table"  # type: ignore[attr-defined]
    assert found == WrittenOutputs(release_id(b"table"), ("-", str(tmp_path / "record")))
    assert json.loads((tmp_path / "record").read_text())["release"] == release_id(b"table")


def test_files_are_undone_when_nobody_reads_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        with pytest.raises(BrokenPipeError):
            write_outputs(
                [output("-", text("table"), released=True), output(tmp_path / "record", record("x"))], overwrite=False
            )
        monkeypatch.undo()
        with contextlib.suppress(OSError):
            closed.close()
    assert not list(tmp_path.iterdir())


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "x")
    write_outputs([output(tmp_path / "link", text("new"))], overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "x").read_text() == "new"


def test_an_existing_file_is_kept_unless_it_may_be_overwritten(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("old")
    outputs = [output(tmp_path / name, text("new")) for name in "ab"]
    with pytest.raises(NameTaken, match="b: the file exists; give overwrite to replace it"):
        write_outputs(outputs, overwrite=False)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_file_that_appears_while_others_are_written_is_kept(tmp_path: Path) -> None:
    def write(file: IO[bytes], _: str) -> None:
        (tmp_path / "b").write_text("somebody's")

    with pytest.raises(NameTaken, match="b: the file exists"):
        write_outputs([output(tmp_path / "a", write), output(tmp_path / "b", text("new"))], overwrite=False)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("b", "somebody's")]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyboardInterrupt(), InvalidInput("no such letter")])
def test_what_fails_while_it_is_written_leaves_everything_as_it_was(tmp_path: Path, error: BaseException) -> None:
    def write(file: IO[bytes], _: str) -> None:
        file.write(b"half")
        raise error

    (tmp_path / "a").write_text("old")
    with pytest.raises(type(error)):
        write_outputs([output(tmp_path / "a", text("new")), output(tmp_path / "made" / "b", write)], overwrite=True)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "old")]


def test_the_error_names_the_file_and_says_that_nothing_was_written(tmp_path: Path) -> None:
    def full(file: IO[bytes], _: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(FileFailure, match=r"/b: No space left on device\. Nothing was written\.$"):
        write_outputs([output(tmp_path / "a", text("new")), output(tmp_path / "b", full)], overwrite=True)
    assert not list(tmp_path.iterdir())
    with pytest.raises(InvalidInput, match=r"x: No such file or directory\. Nothing was written\.$"):
        write_outputs([output(tmp_path / "none" / "none" / "x", text("new"))], overwrite=True)


def test_where_undoing_fails_too_the_error_says_what_is_new_on_the_disk(tmp_path: Path) -> None:
    place = Scene(tmp_path, folders=1, old=True)
    told = set()
    for step in range(1, MOST_STEPS):
        with failing(step, OSError(errno.EIO, "Input/output error"), ever_after=True):
            try:
                place.write("new")
            except FileFailure as error:
                said = str(error)
            else:
                break
        new = [
            target.name
            for target, seen, old in zip(place.targets, place.seen(), place.before, strict=True)
            if seen != old
        ]
        if new:
            assert f"New on the disk: {', '.join(new)}; all others are as they were." in said
        else:
            assert said.endswith("Nothing was written.")
        told.add(len(new))
        place.finish()
        assert place.seen() == place.before or place.seen() == place.expected("new")
        place.write("old")
    assert told == {0, 1, 2, 3}


@given(
    scenes,
    st.integers(1, MOST_STEPS),
    st.sampled_from([OSError(errno.EIO, "failed"), OSError(errno.ENOSPC, "full"), KeyboardInterrupt()]),
    st.booleans(),
)
def test_whatever_fails_all_files_are_old_or_all_are_new(
    kind: tuple[int, bool], step: int, error: BaseException, ever_after: bool
) -> None:
    with scene(*kind) as place:
        failed = None
        with failing(step, error, ever_after=ever_after):
            try:
                place.write("new")
            except (FileFailure, KeyboardInterrupt) as caught:
                failed = caught
        if failed is None:
            assert place.seen() == place.expected("new")
        elif not ever_after:
            # One failure is undone at once.
            assert place.seen() == place.before
            assert not place.left_over()
        place.finish()
        assert place.seen() in (place.before, place.expected("new"))
        assert not place.left_over()
        assert place.third.exists() == (place.seen()[-1] is not None and len(place.targets) == 4)


def check_killed(place: Scene, step: int) -> bool:
    """Kill a command at a step; whether it came so far."""
    was_killed = killed_at(step, lambda: place.write("new"))
    new = place.expected("new")
    assert all(seen in (before, after) for seen, before, after in zip(place.seen(), place.before, new, strict=True))
    if place.seen() not in (place.before, new) and all(place.targets[each].exists() for each in (0, 1, 2)):
        is_mixed = len({seen == after for seen, after in zip(place.seen()[:3], new, strict=False)}) > 1
        ids = [json.loads(place.targets[each].read_text())["release"] for each in (1, 2)]
        if is_mixed:
            with pytest.raises(InvalidInput, match="not the release that the record"):
                for each in ids:
                    check_release_id(place.targets[0], each, record="record.json")
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


# Before the work begins.


def refused(*planned: Planned, overwrite: bool = False, **options: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        check_outputs(planned, overwrite=overwrite, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_outputs_that_can_be_written_pass(tmp_path: Path) -> None:
    check_outputs(
        [
            Planned("out", str(tmp_path / "x")),
            Planned("html", "-"),
            Planned("out_dir", str(tmp_path / "made" / "y"), folder=str(tmp_path / "made")),
            Planned("out_dir", str(tmp_path / "made" / "z"), folder=str(tmp_path / "made")),
        ],
        overwrite=False,
        reads=[None, "-", str(tmp_path / "none")],
        store="neo4j://localhost",
    )
    assert not list(tmp_path.iterdir())


def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    (tmp_path / "folder").mkdir()
    here = str(tmp_path)
    assert refused(Planned("out", f"{here}/x")).endswith("x: the file exists; give overwrite to replace it.")
    check_outputs([Planned("out", f"{here}/x")], overwrite=True)
    assert refused(Planned("out", f"{here}/folder"), overwrite=True).endswith(
        "folder: this is a folder, a device or a pipe; name a file."
    )
    assert refused(Planned("out", f"{here}/none/x")) == f"{here}/none/x: there is no folder {here}/none to write it to."
    (tmp_path / "folder").chmod(0o500)
    if not os.access(tmp_path / "folder", os.W_OK):
        assert refused(Planned("out", f"{here}/folder/x")).endswith(
            f"nothing may be written to the folder {here}/folder."
        )


def test_an_output_in_the_place_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    (tmp_path / "folder").mkdir()
    here = str(tmp_path)
    store = f"file:{here}/store.db"
    for name in ("store.db", "folder/../store.db-wal", "store.db-shm"):
        assert refused(Planned("out", f"{here}/{name}"), store=store).endswith(
            "this is the store; give the output a name of its own."
        )
    same = Planned("private", f"{here}/folder/../y"), Planned("", f"{here}/y", what="the data dictionary")
    assert refused(*same) == f"the data dictionary {here}/y: private writes to this file, too."
    assert refused(Planned("out", "-"), Planned("html", "-")) == "html -: out writes to this file, too."
    assert refused(Planned("out", f"{here}/folder/../x"), overwrite=True, reads=[f"{here}/x"]) == (
        f"out {here}/x: this is a file that is read; give the output another name."
    )
    assert refused(Planned("out", f"{here}/folder/y"), reads=[f"{here}/folder"]) == (
        f"out y: the files of {here}/folder are read; name another folder."
    )


def test_a_folder_that_can_be_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    here = str(tmp_path)
    assert refused(Planned("out_dir", f"{here}/x/y", folder=f"{here}/x")) == f"{here}/x: this is no folder."
    assert refused(Planned("out_dir", f"{here}/a/b/y", folder=f"{here}/a/b")) == (
        f"{here}/a/b: there is no folder {here}/a to make it in."
    )


def test_the_parameter_that_is_wrong_is_told_as_data(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    with pytest.raises(InvalidParameter) as caught:
        check_outputs([Planned("out", str(tmp_path / "x"))], overwrite=True, reads=[str(tmp_path / "x")])
    assert caught.value.parameter == "out"
