"""The folder of the service."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from api.service.home import Home
from tabular.errors import InvalidInput


def test_nobody_but_the_owner_can_read_it(tmp_path):
    (tmp_path / "home").mkdir(mode=0o755)
    home = Home(tmp_path / "home", create=True)
    with home.writing() as db:
        db.execute("INSERT INTO accounts VALUES ('1', 'ann', 'analyst', '')")
    assert home.folder.stat().st_mode & 0o777 == 0o700
    for path in home.folder.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    with home.reading() as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_question_does_not_make_one(tmp_path):
    with pytest.raises(InvalidInput, match="no folder here"):
        Home(tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_a_folder_of_a_later_version_is_left_alone(tmp_path):
    Home(tmp_path, create=True).close()
    with sqlite3.connect(tmp_path / "service.db") as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(InvalidInput, match="later version"):
        Home(tmp_path)


def test_what_fails_half_way_leaves_nothing(tmp_path):
    home = Home(tmp_path, create=True)
    with pytest.raises(KeyError), home.writing() as db:
        db.execute("INSERT INTO accounts VALUES ('1', 'ann', 'analyst', '')")
        raise KeyError
    with home.reading() as db:
        assert db.execute("SELECT * FROM accounts").fetchall() == []


def test_many_threads_write_at_once(tmp_path):
    home = Home(tmp_path, create=True)

    def work(number):
        for step in range(10):
            with home.writing() as db:
                db.execute("INSERT INTO accounts VALUES (?, ?, 'analyst', '')", [f"{number}-{step}"] * 2)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    with home.reading() as db:
        assert db.execute("SELECT count(*) FROM accounts").fetchone() == (80,)
