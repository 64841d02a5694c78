"""What the files of an embedded store tell of who was forgotten, and of originals: the contract, byte by byte."""

from __future__ import annotations

import contextlib
import gzip
import json
import sqlite3
from pathlib import Path

import pytest

from graphpriv.graph import fingerprint
from graphpriv.store import Store, open_store
from graphpriv.store.records import keyed
from graphpriv.stored import marked
from tests.contracts.forgetting import ForgettingContract, enrich, unpacked_bytes

#: A store that version 0.1.0 wrote.
OF_0_1 = Path(__file__).parents[3] / "data" / "earlier" / "0.1" / "store.sqlite"


class TestEmbedded(ForgettingContract):
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        (tmp_path / "store").mkdir()
        return tmp_path / "store" / "graphs.db"

    @pytest.fixture
    def address(self, path: Path) -> str:
        return f"file:{path}"

    def everything(self, store: Store) -> bytes:
        return unpacked_bytes(Path(store.address.removeprefix("file:")))


def all_bytes(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(path.parent.glob(f"{path.name}*")))


def test_plain_fingerprints_of_earlier_versions_are_keyed_and_leave_the_file(tmp_path: Path) -> None:
    path = tmp_path / "0.1.db"
    path.write_bytes(OF_0_1.read_bytes())
    held = b"692d0a69a71edd6ec0e9d2211f423cdd8336b5e7e133ff24d25b2225e0cb3d84"
    assert held in path.read_bytes()
    with open_store(f"file:{path}", create=False) as store:
        assert fingerprint(store.load_graph("follows")) == f"sha256:{held.decode()}"
        assert held not in all_bytes(path)
        runs = {run.verb: run.input_hash for run in store.runs("follows")}
        assert runs == {"protect": marked(store, f"sha256:{held.decode()}"), "audit": ""}


def test_notes_of_version_6_are_keyed_and_nobody_is_enriched_again(tmp_path: Path) -> None:
    path = tmp_path / "6.db"
    path.write_bytes(gzip.decompress(Path(__file__).with_name("version-6.sqlite.gz").read_bytes()))
    with contextlib.closing(sqlite3.connect(path)) as db:
        ((note,),) = db.execute("SELECT data FROM crawl_records WHERE kind = 'note' AND id = 'u0'")
    held = json.loads(note)["input"].encode()
    with open_store(f"file:{path}", create=False) as store:
        assert held not in all_bytes(path)
        assert store.check() == []
        before = [each.note for each in store.people("town", 0, 9)[0]]
        assert [each["input"][:12] for each in before] == ["hmac-sha256:"] * 6
        assert before[0]["input"] == keyed(store.secret(), held.decode())
        revision = store.revision("town")
        enrich(store)
        assert ([each.note for each in store.people("town", 0, 9)[0]], store.revision("town")) == (before, revision)
