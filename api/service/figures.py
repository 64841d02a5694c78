"""The figures of graphs, computed once for each state of a graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from api.service.home import Home


@dataclass(frozen=True)
class Figures:
    """What `graph show` says of graphs, by their names in the store."""

    home: Home

    def of(self, graph: str, revision: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The figures of a *graph* in the state of a *revision*; computed where they are not kept yet."""
        with self.home.reading() as db:
            row = db.execute("SELECT revision, document FROM figures WHERE graph = ?", (graph,)).fetchone()
        if row is not None and row[0] == revision:
            kept: dict[str, Any] = json.loads(row[1])
            return kept
        document = compute()
        with self.home.writing() as db:
            written = json.dumps(document, ensure_ascii=False)
            db.execute("INSERT OR REPLACE INTO figures VALUES (?, ?, ?)", (graph, revision, written))
        return document

    def forget(self, graph: str) -> None:
        """Let go of the figures of a graph."""
        with self.home.writing() as db:
            db.execute("DELETE FROM figures WHERE graph = ?", (graph,))
