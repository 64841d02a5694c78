"""Figures that were computed when the graph was stored: components and clustering, without directions."""

from __future__ import annotations

from dataclasses import dataclass

from graphpriv.queries.contract import Page, Query, Row, queries
from graphpriv.queries.cursors import Place
from graphpriv.store.view import View


@queries.add("components")
@dataclass(frozen=True, kw_only=True)
class ComponentSizes(Query):
    """How many components there are of each size, the largest first; no link leaves a component."""

    def page(self, view: View, after: Place | None, size: int) -> tuple[Page, Place | None]:
        sizes = view.figures["components"]
        later = [pair for pair in sizes if after is None or pair[0] < after[0]]
        shown = [Row(size=each, components=count) for each, count in later[:size]]
        facts = {"components": sum(count for _, count in sizes), "users": view.users}
        page = Page(header=("size", "components"), rows=shown, next=None, facts=facts)
        return page, (later[size - 1][0],) if len(later) > size else None


@queries.add("clustering")
@dataclass(frozen=True, kw_only=True)
class ClusteringFigures(Query):
    """How often two neighbours of a user are linked themselves.

    `mean` is the mean over all users of the share of their pairs of neighbours that are linked, 0 for a user with fewer
    than two; `global` the share of all pairs of neighbours, over all users together.
    """

    def page(self, view: View, after: Place | None, size: int) -> tuple[Page, Place | None]:
        figures = dict(view.figures["clustering"])
        return Page(header=("mean", "global"), rows=[Row(figures)], next=None, facts=figures), None
