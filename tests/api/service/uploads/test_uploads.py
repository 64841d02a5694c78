"""Uploads: pieces, cuts, room, and what is abandoned."""

from __future__ import annotations

import errno
import os
import threading
import time

import pytest

from api.service.access import UnknownThing
from api.service.accounts import Account
from api.service.files import StoredFiles, files_of
from api.service.home import Home
from api.service.tables.tables import Tables
from api.service.uploads import uploads as module
from api.service.uploads.scanner import TooLarge
from api.service.uploads.uploads import Uploads, WrongOffset
from api.verbs import verbs
from tabular.errors import FileFailure, InvalidInput, InvalidParameter

ANN, BOB = Account("1", "ann", "custodian", ""), Account("2", "bob", "custodian", "")


@pytest.fixture
def uploads(tmp_path):
    return Uploads(Home(tmp_path / "home", create=True), 10_000)


def test_a_file_comes_in_pieces_and_goes_on_after_a_cut(uploads):
    upload = uploads.open(ANN, 6)
    assert upload.document == {"id": upload.id, "size": 6, "offset": 0, "finished": False}
    assert uploads.add(upload.id, ANN, 0, b"abc").offset == 3
    # The answer was lost: the piece is sent again.
    with pytest.raises(WrongOffset, match="offset 3"):
        uploads.add(upload.id, ANN, 0, b"abc")
    again = Uploads(uploads.home, uploads.largest)
    assert again.get(upload.id, ANN).offset == 3
    assert again.add(upload.id, ANN, 3, b"def").is_finished
    path = again.file(upload.id, ANN)
    assert path.read_bytes() == b"abcdef"
    assert path.stat().st_mode & 0o077 == 0 == path.parent.stat().st_mode & 0o077


def test_an_upload_belongs_to_one_account(uploads):
    upload = uploads.open(ANN, 1)
    for ask in (uploads.get, uploads.finished):
        with pytest.raises(UnknownThing) as foreign:
            ask(upload.id, BOB)
        with pytest.raises(UnknownThing) as missing:
            ask("0" * 32, BOB)
        assert str(foreign.value) == str(missing.value)
    with pytest.raises(UnknownThing):
        uploads.add(upload.id, BOB, 0, b"x")
    with pytest.raises(UnknownThing):
        uploads.get("../service.db", ANN)


def test_no_more_comes_than_was_said(uploads):
    upload = uploads.open(ANN, 2)
    with pytest.raises(TooLarge):
        uploads.add(upload.id, ANN, 0, b"abc")
    assert uploads.get(upload.id, ANN).offset == 0
    with pytest.raises(TooLarge):
        uploads.open(ANN, 10_001)
    with pytest.raises(InvalidParameter):
        uploads.open(ANN, -1)
    with pytest.raises(InvalidInput, match="0 of 2 bytes"):
        uploads.finished(upload.id, ANN)
    assert uploads.file(uploads.open(ANN, 0).id, ANN).read_bytes() == b""


def test_what_is_promised_to_others_is_no_room(uploads, monkeypatch):
    free = module.RESERVE + 100
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: type("Usage", (), {"free": free}))
    first = uploads.open(ANN, 60)
    with pytest.raises(FileFailure, match="no room"):
        uploads.open(BOB, 60)
    assert uploads.open(BOB, 40).size == 40
    uploads.add(first.id, ANN, 0, b"x" * 60)


def test_a_disk_that_fills_keeps_the_pieces_before(uploads, monkeypatch):
    upload = uploads.open(ANN, 6)
    uploads.add(upload.id, ANN, 0, b"abc")

    def full(_):
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr(module.os, "fsync", full)
        with pytest.raises(FileFailure, match="disk is full"):
            uploads.add(upload.id, ANN, 3, b"def")
    assert uploads.get(upload.id, ANN).offset == 3
    assert uploads.add(upload.id, ANN, 3, b"def").is_finished


def test_of_two_who_send_the_same_piece_one_is_told(uploads):
    upload = uploads.open(ANN, 4000)
    told = []

    def send():
        try:
            told.append(uploads.add(upload.id, ANN, 0, b"x" * 2000).offset)
        except WrongOffset:
            told.append("late")

    threads = [threading.Thread(target=send) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(map(str, told)) == ["2000", *["late"] * 5]
    assert uploads.get(upload.id, ANN).offset == 2000


def test_what_nobody_goes_on_with_is_erased(uploads):
    begun, whole = uploads.open(ANN, 2), uploads.open(ANN, 1)
    uploads.add(whole.id, ANN, 0, b"x")
    folder = uploads.folder / uploads.together({"a.csv": whole.id}, ANN)
    for path in uploads.folder.iterdir():
        os.utime(path, (time.time() - 3000,) * 2)
    uploads.erase_abandoned()
    with pytest.raises(UnknownThing):
        uploads.get(begun.id, ANN)
    assert uploads.get(whole.id, ANN).is_finished and folder.exists()
    for path in uploads.folder.iterdir():
        os.utime(path, (time.time() - 90_000,) * 2)
    uploads.erase_abandoned()
    assert list(uploads.folder.iterdir()) == []


@pytest.mark.parametrize("is_begun", [False, True])
def test_one_that_a_kill_cut_off_promises_no_room(uploads, monkeypatch, is_begun):
    class Killed(BaseException):
        pass

    def kill(*_, **__):
        raise Killed

    if is_begun:
        upload = uploads.open(ANN, 60)
        monkeypatch.setattr(module.Path, "unlink", kill)
        with pytest.raises(Killed):
            uploads._erase(uploads.folder / upload.file)
    else:
        monkeypatch.setattr(module.os, "open", kill)
        with pytest.raises(Killed):
            uploads.open(ANN, 60)
    with uploads.home.reading() as db:
        assert db.execute("SELECT count(*) FROM uploads").fetchone() == (0,)
    monkeypatch.undo()
    for path in uploads.folder.iterdir():
        os.utime(path, (time.time() - 4000,) * 2)
    uploads.erase_abandoned()
    assert list(uploads.folder.iterdir()) == []


def test_a_job_finds_what_a_request_names(uploads):
    upload = uploads.open(ANN, 1, "people.csv")
    uploads.add(upload.id, ANN, 0, b"x")
    files = StoredFiles(uploads, Tables(uploads.home))
    name = files.upload(upload.id, ANN).name
    assert name == f"upload-{upload.id}.csv"
    levels = files.uploads({"age.csv": upload.id}, ANN).name
    search = verbs["table search"].method(file=name, quasi_identifiers=("age",), hierarchies=levels, k=2)
    found = files_of(uploads.home.folder, search)
    assert found[name].read_bytes() == b"x"
    assert (found[levels] / "age.csv").read_bytes() == b"x"
    with pytest.raises(UnknownThing):
        files_of(uploads.home.folder, verbs["table describe"].method(file="people.csv"))
    with pytest.raises(UnknownThing):
        files_of(uploads.home.folder, verbs["table describe"].method(file="upload-none"))


def test_jobs_know_an_upload_alone_or_in_a_folder(uploads):
    one, other = (uploads.open(ANN, 0, name) for name in ("a.csv", "b.csv"))
    folder = uploads.together({"x.csv": one.id}, ANN)
    file = uploads.folder / one.file
    assert uploads.behind(f"upload-{one.file}") == uploads.behind(folder) == [file]
    assert uploads.behind("people") == []
    assert sorted(uploads.names_of([file])) == sorted([f"upload-{one.file}", folder])
    assert uploads.that(lambda path: path.suffix == ".csv") == sorted([file, uploads.folder / other.file])
    assert (uploads.erase([file]), uploads.erase([file])) == (1, 0)
    with pytest.raises(UnknownThing):
        uploads.get(one.id, ANN)
