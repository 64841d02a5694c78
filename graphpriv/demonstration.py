"""The chain from an original on: protected, audited, described, and taken as microdata."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any

import numpy as np

from graphpriv.auditing import Audit, audit
from graphpriv.dictionary import microdata_dictionary, release_dictionary
from graphpriv.formats.contract import write_pieces
from graphpriv.formats.node_link import NodeLink
from graphpriv.graph import SocialGraph, fingerprint
from graphpriv.microdata import Microdata, microdata
from graphpriv.protections import protect
from graphpriv.release import Release, write_mapping
from graphpriv.report import demo_report
from graphpriv.report.drawing import draw, shares
from graphpriv.store.contract import Store
from graphpriv.store.records import Copy, sound_release
from graphpriv.stored import marked, protection_run
from graphpriv.structure import describe
from tabular.files.disk import release_id
from tabular.loop import Report, silent

#: What the chain leaves, by what it is for; `store` is an embedded store.
FILES = {
    "store": "demo.db",
    "original": "original.json",
    "released": "released.json",
    "dictionary": "released.json.dictionary.json",
    "mapping": "mapping.csv",
    "microdata": "microdata.csv",
    "microdata dictionary": "microdata.csv.dictionary.json",
    "audit": "audit.json",
    "report": "report.html",
}
#: The files that are for their owner's eyes alone.
PRIVATE = frozenset(("original", "mapping", "audit", "report"))


@dataclass(frozen=True, eq=False)
class Demonstration:
    """All that the chain made; `seed` gives the same again."""

    original: SocialGraph
    release: Release
    audit: Audit
    facts: Mapping[str, Any]
    microdata: Microdata
    seed: int
    #: How the original was collected, and all that is kept of that, if it was.
    collection: Mapping[str, Any] | None = None
    collected: Copy | None = None

    def keep(self, store: Store) -> None:
        """Keep the original and the release in a *store*, both or neither."""
        original = self.collected or Copy.of("original", self.original)
        run = protection_run(marked(store, fingerprint(self.original)), self.release)
        release = sound_release(self.release, len(self.original), "original")
        released = Copy.of_release("original", "released", release, run=run, seed=self.seed)
        store.adopt(original, released, overwrite=True)

    def writers(self) -> dict[str, Callable[[IO[bytes]], object]]:
        """How each of `FILES` but the store and the dictionaries is written."""
        ids, released = self.original.ids, self.release.graph
        return {
            "original": lambda file: write_pieces(file, NodeLink().text(self.original)),
            "released": lambda file: write_pieces(file, NodeLink().text(released)),
            "mapping": lambda file: write_mapping(file, ids, released.ids, self.release.mapping),
            "microdata": self.microdata.write,
            "audit": lambda file: file.write(_json(self.audit.document)),
            "report": lambda file: file.write(self.report().encode()),
        }

    def dictionaries(self) -> dict[str, dict[str, Any]]:
        """The data dictionaries by what `FILES` calls them; that of the microdata has the id of its table."""
        table = BytesIO()
        self.microdata.write(table)
        return {
            "dictionary": release_dictionary(self.release.graph, self.release),
            "microdata dictionary": {
                **microdata_dictionary(self.microdata),
                "release": release_id(table.getvalue()),
            },
        }

    def report(self) -> str:
        """The report as HTML."""
        degree = self.facts["degree"]
        return demo_report(
            self.audit.document,
            graph_facts={**self.facts, "degree": degree["mean"], "largest_degree": degree["largest"]},
            drawings=draw(self.original, self.release.graph, self.release.mapping),
            files=FILES,
            collection=self.collection,
            shares={
                "first topic": shares(self.original, self.release.graph, "topic1"),
                "continent": shares(self.original, self.release.graph, "continent"),
            },
        )


def demonstrate(
    original: SocialGraph,
    *,
    k: int,
    seed: int,
    collection: Mapping[str, Any] | None = None,
    collected: Copy | None = None,
    report: Report = silent,
) -> Demonstration:
    """Take an *original* through the chain; *collection* says how it was *collected*."""
    _, extracting = np.random.default_rng(seed).spawn(2)
    # From the seed itself: a protection with the seed that the store keeps draws the same release.
    release = protect(original, k, rng=np.random.default_rng(seed), report=report)
    found = audit(original, release.graph, release.mapping, report=report)
    report("Describing", 0, 0)
    facts = describe(original, rng=np.random.default_rng(0))
    table = microdata(release.graph, rng=extracting)
    return Demonstration(original, release, found, facts, table, seed, collection, collected)


def _json(document: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)}\n".encode()
