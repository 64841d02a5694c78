from __future__ import annotations

from pathlib import Path

import pytest

from graphpriv.store import open_store
from graphpriv.store.copies import first_usable
from tests.contracts.store import filled
from tests.tabular.files.left import left_behind


def test_a_check_removes_what_a_killed_backup_left_or_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store:
        filled(store)
        assert not left_behind(tmp_path, store.check).exists()
        left = left_behind(tmp_path, list)
        monkeypatch.setattr("tabular.files.journal.shutil.rmtree", lambda *_, **__: None)
        assert store.check() == [f"{left}: a killed run left copies of graphs; delete this folder."]
        monkeypatch.undo()
        store.backup(tmp_path / "kept.bak")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["graphs.db", "graphs.db-reserve", "kept.bak"]


def test_another_folder_is_taken_where_the_first_cannot_be_written(tmp_path: Path) -> None:
    assert first_usable(tmp_path / "none", tmp_path) == tmp_path
    assert first_usable(tmp_path / "none").is_dir()
