"""Graphs as the service names them: originals and releases have name spaces of their own.

The store has one space for both. Where a name is taken there by the other kind, a graph of the service lies in the
store under its name with its kind before it: `release:NAME`, `original:NAME`. Whoever asks may write a name so, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from api.service import access
from api.service.access import UnknownThing

if TYPE_CHECKING:
    from graphpriv.store import GraphInfo, Store

GraphKind = Literal["original", "release"]

KINDS: tuple[GraphKind, ...] = ("original", "release")


@dataclass(frozen=True)
class Graph:
    """A graph of the store under the name it has in the service."""

    name: str
    kind: GraphKind
    info: GraphInfo

    @property
    def stored(self) -> str:
        """Its name in the store."""
        return self.info.name

    @property
    def address(self) -> str:
        """A name that means this graph and no other, whoever reads it."""
        return self.name if self.kind == "original" else f"release:{self.name}"


@dataclass(frozen=True)
class Graphs:
    """The graphs of a store, for those who may know of them."""

    opened: Callable[[], Store]

    def visible(self, role: str) -> list[Graph]:
        """The graphs that a *role* may know of, by name."""
        return [each for each in self._all(role) if access.may_see(role, each.kind)]

    def find(self, text: str, role: str, action: str, *, kinds: Iterable[GraphKind] = KINDS) -> Graph:
        """The graph that *text* names, of one of the *kinds*, if the *role* may do *action* with it."""
        access.refuse_role(role, action)
        asked, name = split(text)
        for kind in KINDS:
            if kind in kinds and asked in (None, kind) and access.may_see(role, kind):
                for graph in self._all(role):
                    if (graph.kind, graph.name) == (kind, name):
                        access.refuse_thing(role, action, kind, "graph", text)
                        return graph
        raise UnknownThing.called("graph", text)

    def place_for(self, text: str, kind: GraphKind) -> str:
        """Where in the store a graph of a *kind* lies that *text* names, or where a new one goes."""
        asked, name = split(text)
        if asked not in (None, kind):
            raise UnknownThing.called(kind, text)
        names = {each.name: each.kind for each in self.opened().graphs()}
        return name if names.get(name, kind) == kind and f"{kind}:{name}" not in names else f"{kind}:{name}"

    def _all(self, role: str) -> list[Graph]:
        # Of the others not even the time to read them may tell.
        infos = self.opened().graphs() if access.may_see(role, "original") else self.opened().releases()
        plain = {(_kind(each), each.name) for each in infos}
        return sorted((_graph(each, plain) for each in infos), key=lambda each: (each.name, each.kind))


def split(text: str) -> tuple[GraphKind | None, str]:
    """The kind that a name begins with, if any, and the name.

    >>> split("release:follows"), split("follows")
    (('release', 'follows'), (None, 'follows'))
    """
    for kind in KINDS:
        if text.startswith(f"{kind}:"):
            return kind, text.removeprefix(f"{kind}:")
    return None, text


def _kind(info: GraphInfo) -> GraphKind:
    return "release" if info.is_release else "original"


def _graph(info: GraphInfo, plain: Set[tuple[GraphKind, str]]) -> Graph:
    """A graph of the store; *plain* are the kinds and names there."""
    kind = _kind(info)
    asked, name = split(info.name)
    # The command line may give such a name, too; then it is only a name.
    return Graph(name if asked == kind and (kind, name) not in plain else info.name, kind, info)
