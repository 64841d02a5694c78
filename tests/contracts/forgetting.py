"""What every store promises of a person who is forgotten: nothing in it, nor in what is made of it, tells of them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crawler.enriching.enrichment import Enrichment
from crawler.places import gazetteers
from crawler.topics import categorisers
from graphpriv.auditing import audit
from graphpriv.graph import fingerprint
from graphpriv.report import audit_report, sweep_report
from graphpriv.store import Post, Store, User, open_store
from graphpriv.store.crawls import (
    CHARGES,
    CRAWL,
    FOR_EVER,
    ONLY,
    PAGE,
    SEEN,
    VISITED,
    Step,
    charge_mark,
    document,
    packed,
)
from graphpriv.store.enriched import Linked
from graphpriv.store.records import PLAIN, Record
from graphpriv.stored import keep_release
from graphpriv.sweep import sweep
from tests.contracts.store import OnAStore

#: What tells of the person who is forgotten, wherever it stands.
TRACES = ("id-of-ana-4711", "@ana_of_the_test", "Ana Pérez of Sóller", "Sóller by the sea", "what Ana wrote of chess",
          "https://ana.example/gardens", "All of the gardens of Ana")  # fmt: skip
ANA = User(id=TRACES[0], handle=TRACES[1], name=TRACES[2], location_text=TRACES[3])
OTHERS = [User(id=f"other-{number}", handle=f"@other_{number}", location_text="Madrid") for number in range(7)]


def crawled(store: Store) -> None:
    """A graph with something of everything that a store keeps of a person."""
    store.begin_crawl("town", [document(CRAWL, ONLY, {"source": "x", "users": {"kept": 8}})])
    store.claim_crawl("town", {"token": "me"}, lambda owner: False)
    charged = b"".join(charge_mark(store.secret(), "user", each.id) for each in (ANA, *OTHERS))
    listed = json.dumps({"data": [{"id": ANA.id, "username": "ana_of_the_test", "name": ANA.name}, {"id": "other-1"}]})
    written = json.dumps({"data": [{"id": "p1", "author_id": ANA.id, "text": TRACES[4]}]})
    store.advance(
        "town",
        Step(
            users=(ANA, *OTHERS),
            posts=(
                Post(id="p1", user=ANA.id, text=TRACES[4], links=(TRACES[5],)),
                Post(id="p2", user="other-1", text="what Ben wrote of football"),
            ),
            put=(
                *(document(VISITED, each.id, {"state": "kept"}, at) for at, each in enumerate((ANA, *OTHERS))),
                document(SEEN, "found", {"by": [ANA.id, "other-2"]}, 0),
                Record(PAGE, "000001", packed({"kind": "following", "user": "other-1"}, listed.encode()), FOR_EVER),
                Record(PAGE, "000002", packed({"kind": "posts", "user": ANA.id}, written.encode()), FOR_EVER),
                Record(CHARGES, "1", charged, 20000),
            ),
        ),
        owner="me",
    )
    store.leave_crawl("town", "me")
    store.put_linked("town", {TRACES[5]: Linked("read", 200, TRACES[6])}, {TRACES[5]: [ANA.id]}, FOR_EVER)


def enrich(store: Store) -> dict[str, Any]:
    return Enrichment(
        store=store,
        name="town",
        categoriser=categorisers["embedded"].make({}),
        gazetteer=gazetteers["embedded"].make({}),
        topics_by=("embedded", "1"),
        places_by=("embedded", "1"),
    ).run()


def plain_input(person: Any, topics: str = "embedded", places: str = "embedded") -> str:
    """The digest of what the profile of a user was made from, as versions before kept it."""
    ways = [1, (topics, "1"), (places, "1"), None, person.location_from]
    posts = [[post.id, post.text, post.links] for post in person.posts]
    return hashlib.sha256(json.dumps([ways, [False, False], person.user.location_text, posts]).encode()).hexdigest()


def forms(traces: Iterable[str]) -> Iterator[bytes]:
    """The bytes by which a text or the digest of one may stand somewhere."""
    for trace in traces:
        yield trace.encode()
        digest = trace.removeprefix(PLAIN)
        if len(digest) == 64:
            yield bytes.fromhex(digest)
            yield digest.upper().encode()


class ForgettingContract(OnAStore):
    """What every store promises of a person who is forgotten."""

    def everything(self, store: Store) -> bytes:
        """All bytes that the store holds, with raw answers also unpacked."""
        raise NotImplementedError

    @pytest.fixture
    def digests(self, store: Store) -> list[str]:
        """The plain fingerprints of all persons and of the one, before anybody is forgotten."""
        crawled(store)
        enrich(store)
        people, _ = store.people("town", 0, 1)
        assert people[0].user.id == ANA.id
        mapping = b"".join(number.to_bytes(8, "little") for number in range(8))
        return [fingerprint(store.load_graph("town")), plain_input(people[0]), hashlib.sha256(mapping).hexdigest()]

    def test_no_plain_fingerprint_of_persons_stands_in_a_store_or_a_report(
        self, store: Store, digests: list[str], tmp_path: Path
    ) -> None:
        kept = keep_release(store, "town", "out", 2, seed=1)
        found = audit(store.load_graph("town"), kept.release.graph, kept.release.mapping)
        store.add_run("town", found.run("out"))
        swept = sweep(store.load_graph("town"), [2], 1, rng=np.random.default_rng(1))
        store.backup(tmp_path / "kept.bak")
        reports = [audit_report(found.document), sweep_report(swept), json.dumps([found.document, swept])]
        for held in (self.everything(store), (tmp_path / "kept.bak").read_bytes(), *map(str.encode, reports)):
            assert not [each for each in forms(digests) if each in held]
        # Its own mark is there, or nothing could be counted together.
        assert [run.input_hash[:12] for run in store.runs("town")] == ["hmac-sha256:", ""]

    def test_nothing_tells_of_who_was_forgotten_nor_confirms_a_guess(
        self, store: Store, digests: list[str], tmp_path: Path
    ) -> None:
        kept = keep_release(store, "town", "out", 2, seed=1)
        store.add_run("town", audit(store.load_graph("town"), kept.release.graph, kept.release.mapping).run("out"))
        marks = [each.input_hash for each in store.runs("town") if each.input_hash]
        notes = [each.note["input"] for each in store.people("town", 0, 1)[0]]
        assert not [each for each in TRACES[:-1] if each.encode() not in self.everything(store)]
        store.forget("town", ANA.id)
        store.backup(tmp_path / "later.bak")
        with open_store(f"file:{tmp_path / 'later.bak'}", create=False) as later:
            assert later.load_graph("town") == store.load_graph("town")
        swept = json.dumps(sweep(store.load_graph("town"), [2], 1, rng=np.random.default_rng(1))).encode()
        traces = list(forms([*TRACES, *digests, *marks, *notes]))
        for held in (self.everything(store), unpacked_bytes(tmp_path / "later.bak"), swept):
            assert not [each for each in traces if each in held]
        assert b"what Ben wrote of football" in self.everything(store)
        assert store.check() == []


def unpacked_bytes(path: Path) -> bytes:
    """The bytes of the files of an embedded store, and its raw answers unpacked."""
    import zlib

    raw = b"".join(each.read_bytes() for each in sorted(path.parent.glob(f"{path.name}*")))
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        pages = db.execute("SELECT data FROM crawl_records WHERE kind = 'page'").fetchall()
    return raw + b"".join(zlib.decompress(data) for (data,) in pages)
