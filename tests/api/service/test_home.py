"""The folder of the service."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from api.service.home import Home
from api.service.records import Records
from api.service.signing.one_time_codes import code_of, step_at
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


def test_the_database_of_an_earlier_version_is_brought_up_to_date(tmp_path):
    written = (Path(__file__).parents[2] / "data" / "earlier" / "service-5.sql").read_text()
    (tmp_path / "home").mkdir(mode=0o700)
    with closing(sqlite3.connect(tmp_path / "home" / "service.db")) as db:
        db.executescript(written)
    with Records.at(str(tmp_path / "home")) as records:
        found = records.accounts.of_token(re.search(r"gp_\S+", written)[0])
        assert (found.name, found.role, found.has_factor) == ("ann", "custodian", False)
        assert [each.programs for each in records.accounts.tokens()] == [False]
        assert records.log.end()[0] == 2 and records.log.problems() == []
        secret = records.factors.begin(found)
        assert records.factors.confirm(found, code_of(secret, step_at(time.time())))
        assert records.accounts.named("ann").has_factor
