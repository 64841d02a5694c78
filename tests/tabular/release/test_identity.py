from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest

from tabular.errors import InvalidInput
from tabular.release.identity import check_release_id, release_id


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
