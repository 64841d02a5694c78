"""Every damage that `check` knows, done by hand."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from graphpriv.store import Run, open_store
from graphpriv.store.assembly import place_problems
from graphpriv.store.summary import piece
from tests.contracts.store import filled, little, release_of

DAMAGES = {
    "follows of oneself": "INSERT INTO follows VALUES (1, 1, 1)",
    "follows to or from nobody": "INSERT INTO follows VALUES (1, 1, 50)",
    "users and 3 are noted": "DELETE FROM users WHERE graph = 1 AND id = '99'",
    "follows and 9 are noted": "UPDATE graphs SET edges = 9 WHERE key = 1",
    "users out of the order of import": "UPDATE users SET number = 70 WHERE graph = 1 AND number = 2",
    "wrong order": "UPDATE graphs SET directed = 0 WHERE key = 1",
    "released users with private columns": "INSERT INTO persons VALUES (2, 0, '@someone', NULL, NULL)",
    "lead to nobody": "UPDATE mappings SET released = 33 WHERE user = 1",
    "to a released user twice": "UPDATE mappings SET released = 0",
    "come from nobody": "UPDATE mappings SET user = 44 WHERE user = 1",
    "of another original": "UPDATE mappings SET original = 2",
    "form a cycle": "UPDATE places SET parent = 2 WHERE graph = 1 AND number = 1",
    "one place above all others": "UPDATE places SET parent = NULL WHERE graph = 1 AND number = 2",
    "'galaxy' is no type of place": "UPDATE places SET type = 'galaxy' WHERE graph = 1 AND number = 1",
    "rows of posts refer to something that is not there": "UPDATE posts SET user = 50 WHERE id = 'p1'",
    "the summary says something else of degree than": f"""
        UPDATE summaries SET data = zeroblob(length(data)) WHERE number = {piece("degree", 0)}""",
    "the summary says something else of topic2 than": "UPDATE users SET topic2 = 0 WHERE graph = 2",
    "rows of runs refer": "INSERT INTO runs VALUES (9, 99, 'x', '{}', '', '', '')",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "graphs.db"
    with open_store(f"file:{path}", create=True) as store:
        filled(store)
        store.save_release("town", "out", release_of(store.load_graph("town")), seed=1, run=Run(verb="protect"))
    return path


@pytest.mark.parametrize("problem", DAMAGES)
def test_a_damage_is_found(path: Path, problem: str) -> None:
    with open_store(f"file:{path}", create=False) as store:
        assert store.check() == []
    db = sqlite3.connect(path)
    db.executescript(DAMAGES[problem])
    db.close()
    with open_store(f"file:{path}", create=False) as store:
        problems = store.check()
    assert any(problem in found for found in problems), problems
    assert not any(secret in found for found in problems for secret in ("@ana", "'17'", "'99'"))


def test_a_damaged_page_is_found(tmp_path: Path) -> None:
    path = tmp_path / "graphs.db"
    with open_store(f"file:{path}", create=True) as store:
        store.save_graph("town", little())
    content = bytearray(path.read_bytes())
    content[5 * 4096 + 8 : 5 * 4096 + 64] = b"\xff" * 56
    path.write_bytes(content)
    with open_store(f"file:{path}", create=False) as store:
        assert any("damaged" in problem for problem in store.check())


def test_the_places_of_a_sound_graph_have_no_problem() -> None:
    assert place_problems([(4, None, "world", "world"), (2, 4, "Chile", "country")]) == []


def test_a_place_that_stands_twice_is_found() -> None:
    rows = [(0, None, "world", "world"), (1, 0, "Chile", "country"), (2, 0, "Chile", "country")]
    assert place_problems(rows) == ["the same place appears twice."]
