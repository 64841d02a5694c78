"""The whole chain on a synthetic graph: protected, audited, described, and taken as microdata."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from graphpriv.auditing import Audit, audit
from graphpriv.dictionary import microdata_dictionary, release_dictionary
from graphpriv.formats.node_link import NodeLink
from graphpriv.graph import SocialGraph
from graphpriv.microdata import Microdata, microdata
from graphpriv.protections import check_k, protect
from graphpriv.release import Release, write_mapping
from graphpriv.report import demo_report
from graphpriv.report.drawing import draw, shares
from graphpriv.store.contract import Store
from graphpriv.stored import protection_run
from graphpriv.structure import describe
from graphpriv.synthetic import synthetic_graph
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

    def keep(self, store: Store) -> None:
        """Keep the original and the release in a *store*."""
        store.save_graph("original", self.original, overwrite=True)
        run = protection_run(self.original, self.release)
        store.save_release("original", "released", self.release, seed=self.seed, run=run, overwrite=True)

    def writers(self) -> dict[str, Callable[[IO[bytes]], object]]:
        """How each of `FILES` but the store and the dictionaries is written."""
        ids, released = self.original.ids, self.release.graph
        return {
            "original": lambda file: NodeLink().write(self.original, [file], Path()),
            "released": lambda file: NodeLink().write(released, [file], Path()),
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
            shares={
                "first topic": shares(self.original, self.release.graph, "topic1"),
                "continent": shares(self.original, self.release.graph, "continent"),
            },
        )


def demonstrate(users: int, follows: int | None = None, *, k: int, seed: int, report: Report = silent) -> Demonstration:
    """Draw a graph of *users* and *follows* from *seed*, and take it through the whole chain."""
    check_k(k, users)
    drawing, extracting = np.random.default_rng(seed).spawn(2)
    report(f"Drawing {users:,} users", 0, 0)
    original = synthetic_graph(users, follows, rng=drawing)
    # From the seed itself: a protection with the seed that the store keeps draws the same release.
    release = protect(original, k, rng=np.random.default_rng(seed), report=report)
    found = audit(original, release.graph, release.mapping, report=report)
    report("Describing", 0, 0)
    facts = describe(original, rng=np.random.default_rng(0))
    return Demonstration(original, release, found, facts, microdata(release.graph, rng=extracting), seed)


def _json(document: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)}\n".encode()
