"""What the embedded store keeps of enrichment: the contract, and what the bytes of the files still tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphpriv.store import Store
from graphpriv.store.crawls import FOR_EVER, PAGE
from graphpriv.store.enriched import Linked
from tests.contracts.enriched import EnrichedContract


class TestEmbedded(EnrichedContract):
    @pytest.fixture
    def address(self, tmp_path: Path) -> str:
        return f"file:{tmp_path / 'graphs.db'}"

    def test_the_files_tell_nothing_of_who_was_forgotten(self, store: Store, tmp_path: Path) -> None:
        def raw() -> bytes:
            return b"".join(path.read_bytes() for path in sorted(tmp_path.glob("graphs.db*")))

        store.put_linked("town", {"https://ana.example/": Linked("read")}, {"https://ana.example/": ["17"]}, FOR_EVER)
        store.put_profiles("town", {"17": (None, ("Gardens of Babylon",))}, {"17": {"posts": ["4711-4711"]}})
        (page,) = [each.data for each in store.records("town", PAGE)]
        assert page in raw() and b"4711-4711" in raw() and b"Gardens of Babylon" in raw()
        assert store.forget("town", "17").erased
        assert page not in raw() and b"4711-4711" not in raw() and b"Gardens of Babylon" not in raw()
