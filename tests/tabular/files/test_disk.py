from __future__ import annotations

import errno
import hashlib
import io
import os
import signal
import sys
from pathlib import Path

import pytest

from tabular.errors import FileFailure, InvalidInput, NameTaken
from tabular.files.disk import (
    check_release_id,
    failure,
    free_memory,
    read_bytes,
    read_text,
    refuse_existing,
    release_id,
    replacing,
    write_text,
)
from tabular.files.journal import finish_interrupted
from tests.system_calls import killed_at


def test_text_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa\r\nb")
    assert read_text(tmp_path / "x") == "a\r\nb"
    assert read_bytes(tmp_path / "x") == b"\xef\xbb\xbfa\r\nb"


def test_text_of_another_encoding_is_an_error_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a\nb\n\xff")
    with pytest.raises(InvalidInput, match="x, line 3: this is not UTF-8 text"):
        read_text(tmp_path / "x")


def test_what_cannot_be_read_is_an_error_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none: No such file or directory\.$"):
        read_bytes(tmp_path / "none")
    with pytest.raises(InvalidInput, match="Is a directory"):
        read_bytes(tmp_path)


def test_a_dash_is_standard_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"given")))
    assert read_bytes("-") == b"given"
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    write_text("-", "shown", overwrite=False)
    assert out.buffer.getvalue() == b"shown"  # type: ignore[attr-defined]


def test_a_file_is_replaced_when_the_block_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_as_it_was_when_the_block_does_not_end_well(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "x")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["x"]


def test_the_temporary_of_a_killed_command_is_cleared_up_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    def killed() -> None:
        with replacing(tmp_path / "x") as file:
            file.write(b"new")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)

    killed_at(1000, killed)
    assert len(list(tmp_path.iterdir())) == 1
    with replacing(tmp_path / "y") as file:
        finish_interrupted(tmp_path)
        assert len(list(tmp_path.iterdir())) == 1
        file.write(b"new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("y", "new")]


def test_a_new_file_has_the_rights_that_new_files_have_and_a_private_one_has_fewer(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "shared", "x")
        with replacing(tmp_path / "own", private=True) as file:
            file.write(b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o600


def test_an_existing_file_is_kept_unless_it_may_be_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(NameTaken, match="x: the file exists; give overwrite to replace it"):
        write_text(path, "new", overwrite=False)
    assert path.read_text() == "old"
    refuse_existing("-", overwrite=False)
    refuse_existing(path, overwrite=True)
    refuse_existing(tmp_path / "none", overwrite=False)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"No such file or directory\. Nothing was written"):
        write_text(tmp_path / "none" / "x", "new")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidInput, match="folder: this is a folder"):
        write_text(tmp_path / "folder", "new")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_pipe_or_a_device_is_never_replaced_by_a_file(tmp_path: Path, overwrite: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="a device or a pipe; name a file"):
        write_text(tmp_path / "pipe", "new", overwrite=overwrite)
    assert (tmp_path / "pipe").is_fifo()


def test_a_full_disk_fails_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "x").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileFailure, match=r"x: No space left on device\. Nothing was written\."):
        write_text(tmp_path / "x", "new")
    assert (tmp_path / "x").read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


def test_a_full_device_fails_too() -> None:
    with pytest.raises(FileFailure, match="No space left"):
        try:
            with Path("/dev/full").open("wb", buffering=0) as file:
                file.write(b"x")
        except OSError as error:
            raise failure(error, "/dev/full") from None


def test_the_id_is_the_hash_of_the_bytes_wherever_they_are(tmp_path: Path) -> None:
    data = bytes(range(256)) * 9000
    (tmp_path / "x").write_bytes(data)
    expected = f"sha256:{hashlib.sha256(data).hexdigest()}"
    assert release_id(data) == expected
    assert release_id(tmp_path / "x") == expected
    assert release_id(str(tmp_path / "x")) == expected
    assert release_id(io.BytesIO(data)) == expected


def test_the_id_of_several_files_is_that_of_one_after_the_other(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(name * 3)
    assert release_id(tmp_path / "a", tmp_path / "b") == release_id(b"aaabbb") != release_id(b"bbbaaa")


def test_a_release_that_a_record_does_not_belong_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("new")
    check_release_id([tmp_path / "x"], release_id(b"new"), record="record.json")
    with pytest.raises(InvalidInput) as caught:
        check_release_id([tmp_path / "x"], release_id(b"old"), record="record.json")
    assert str(caught.value) == (
        f"{tmp_path}/x: this is not the release that record.json belongs to; take both from the same run."
    )


def test_a_record_of_an_earlier_version_has_no_id_and_expects_nothing(tmp_path: Path) -> None:
    check_release_id([tmp_path / "none"], None, record="record.json")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none: No such file or directory\."):
        release_id(tmp_path / "none")


def test_what_never_ends_is_refused_before_it_takes_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("tabular.files.disk.free_memory", lambda: 2**24)
    told = r"more than 0\.0 GB came, half of the memory that was free, and no end"
    (tmp_path / "link.csv").symlink_to("/dev/zero")
    with pytest.raises(InvalidInput, match=f"link.csv: {told}"):
        read_bytes(tmp_path / "link.csv")
    with open("/dev/zero", "rb") as zeros:  # noqa: PTH123
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(zeros))
        with pytest.raises(InvalidInput, match=f"standard input: {told}"):
            read_bytes("-")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x" * 2**22)))
    assert read_bytes("-") == b"x" * 2**22


def test_a_container_has_no_more_memory_than_its_limit_leaves(tmp_path, monkeypatch):
    (tmp_path / "most").write_text("9000\n")
    (tmp_path / "taken").write_text("5000\n")
    (tmp_path / "memory.stat").write_text("anon 4000\ninactive_file 700\n")
    none = (str(tmp_path / "none"), "most", "taken")
    monkeypatch.setattr("tabular.files.disk._CONTAINERS", (none, (str(tmp_path), "most", "taken")))
    assert free_memory() == 4700
    (tmp_path / "most").write_text("max\n")
    assert free_memory() > 10**6


def test_a_file_larger_than_memory_is_refused_unread(tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        # A hole: it takes no room.
        file.truncate(2**42)
    with pytest.raises(InvalidInput, match=r"huge\.csv: the file has 4,398\.0 GB, and [\d.,]+ GB of memory are free"):
        read_bytes(path)
