"""Backup, restore and check, as typed."""

import sqlite3


def test_a_backup_brings_all_back(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("protect", "g", "--k", 2, "--into", "r", "--seed", 1)
    before = graphpriv("audit", "g", "r", "--json").out
    assert graphpriv("store", "backup", "b.db").code == 0
    other = f"file:{tmp_path / 'other.db'}"
    ended = graphpriv("store", "restore", "b.db", "--store", other, "--json")
    assert ended.document["graphs"] == ["g", "r"]
    assert graphpriv("audit", "g", "r", "--json", "--store", other).out == before
    assert graphpriv("store", "check", "--store", other).code == 0


def test_a_store_with_graphs_in_it_is_not_replaced_unasked(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("store", "backup", "b.db")
    assert graphpriv("store", "restore", "b.db").code == 2
    assert graphpriv("store", "restore", "b.db", "--overwrite").code == 0


def test_a_backup_is_private_and_replaced_when_asked(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    assert graphpriv("store", "backup", "b.db").code == 0
    assert graphpriv("store", "backup", "b.db", "--overwrite").code == 0
    assert (tmp_path / "b.db").stat().st_mode & 0o077 == 0


def test_what_is_no_backup_makes_no_store(graphpriv, small, tmp_path):
    assert graphpriv("store", "restore", small, "--store", f"file:{tmp_path / 'new.db'}").code == 2
    assert not (tmp_path / "new.db").exists()


def test_a_backup_file_that_exists_is_kept(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    (tmp_path / "b.db").write_text("mine")
    assert graphpriv("store", "backup", "b.db").code == 2
    assert (tmp_path / "b.db").read_text() == "mine"


def test_what_is_no_backup_is_refused(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    ended = graphpriv("store", "restore", small, "--overwrite")
    assert ended.code == 2
    assert len(graphpriv("graph", "list", "--json").document["graphs"]) == 1


def test_the_store_may_be_named_by_the_environment(graphpriv, small, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHPRIV_STORE", f"file:{tmp_path / 'elsewhere.db'}")
    assert graphpriv("graph", "import", small, "--graph", "g").code == 0
    assert (tmp_path / "elsewhere.db").exists()


def test_a_store_that_is_not_sound_ends_with_1_and_tells_what_is_wrong(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    assert graphpriv("store", "check", "--json").document == {"sound": True, "problems": []}
    db = sqlite3.connect(tmp_path / "graphpriv.db")
    db.execute("UPDATE graphs SET edges = edges + 1")
    db.commit()
    db.close()
    ended = graphpriv("store", "check")
    assert ended.code == 1
    assert "are noted" in ended.out
    assert ended.err == "graphpriv: error: The store is not sound; problems found: 1.\n"
    ended = graphpriv("store", "check", "--json")
    assert ended.code == 1
    assert ended.document["sound"] is False
    assert len(ended.document["problems"]) == 1


def test_a_backup_on_standard_output_stands_there_alone(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    ended = graphpriv("store", "backup", "-", "--json")
    assert (ended.code, ended.out) == (2, "")
    assert "FILE" in ended.error
