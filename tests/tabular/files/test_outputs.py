from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import sys
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.errors import FileFailure, InvalidInput, InvalidParameter, NameTaken
from tabular.files.disk import Planned, check_outputs, check_release_id, release_id, write_outputs
from tests.system_calls import failing
from tests.tabular.files.scenes import MOST_STEPS, Scene, output, record, scene, scenes, text

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
    assert found == expected
    assert json.loads((tmp_path / "record.json").read_text()) == {"of": "x", "release": expected}
    check_release_id([tmp_path / "table.csv"], expected, record="record.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["record.json", "table.csv"]


def test_the_id_of_several_released_files_is_that_of_all_in_their_order(tmp_path: Path) -> None:
    outputs = [output(tmp_path / name, text(name), released=True) for name in ("b", "a")]
    assert write_outputs(outputs, overwrite=False) == release_id(b"ba")


def test_nothing_released_has_no_id(tmp_path: Path) -> None:
    assert write_outputs([output(tmp_path / "x", record("x"))], overwrite=False) is None
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
    assert found == release_id(b"table")
    assert json.loads((tmp_path / "record").read_text())["release"] == release_id(b"table")


def test_standard_output_alone_needs_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.chdir(tmp_path)
    assert write_outputs([output("-", text("x"), released=True)], overwrite=False) == release_id(b"x")
    assert out.buffer.getvalue() == b"x"  # type: ignore[attr-defined]
    assert not list(tmp_path.iterdir())


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
