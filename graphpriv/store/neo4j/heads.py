"""The nodes of graphs: found by name, and locked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, LiteralString

from neo4j import ManagedTransaction

from graphpriv.store.neo4j import schema
from graphpriv.store.neo4j.schema import ask
from graphpriv.store.records import GraphInfo, no_release_of, not_an_original
from tabular.errors import UnknownName


@dataclass(frozen=True)
class Head:
    """The node of a graph."""

    key: str
    name: str | None
    directed: bool
    private: tuple[str, ...]
    users: int
    edges: int
    forgotten: int
    posts: int
    revision: int
    created: str
    original: str | None
    k: int | None
    method: str | None
    parameters: str

    @property
    def moment(self) -> str:
        """The revision as others compare it: the key is given once only."""
        return f"{self.key}-{self.revision}"

    @property
    def numbers(self) -> int:
        """One past the highest number that a user may have."""
        return self.users + self.forgotten

    def info(self, original: str | None) -> GraphInfo:
        """The row of the graph in the list; *original* is the name of its original."""
        return GraphInfo(
            name=str(self.name),
            kind="original" if self.k is None else "release",
            directed=self.directed,
            users=self.users,
            edges=self.edges,
            created=self.created,
            original=original,
            k=self.k,
            method=self.method,
            parameters=json.loads(self.parameters),
        )

    @classmethod
    def of(cls, node: Mapping[str, Any]) -> Head:
        """The node's properties, which may lack those that are null."""
        values: dict[str, Any] = {field: node.get(field) for field in cls.__dataclass_fields__}
        values.update(private=tuple(values["private"] or ()), parameters=values["parameters"] or "{}")
        return cls(**values)


def heads(tx: ManagedTransaction) -> list[Head]:
    """All graphs that have a name, sorted by it."""
    found = [Head.of(row[0]) for row in ask(tx, "MATCH (g:Graph) WHERE g.name IS NOT NULL RETURN properties(g)")]
    return sorted(found, key=lambda head: str(head.name))


def infos(tx: ManagedTransaction) -> list[GraphInfo]:
    """The list of graphs, sorted by name."""
    found = heads(tx)
    names = {head.key: head.name for head in found}
    return [head.info(names.get(head.original or "")) for head in found]


def state(tx: ManagedTransaction) -> tuple[list[Head], int]:
    """A value that differs after every change: all graphs, and how many runs were noted."""
    found = ask(tx, "MATCH (s:Store {name: 'graphpriv'}) RETURN s.runs")
    return heads(tx), int(found[0][0])


def head_of(tx: ManagedTransaction, name: str, *, lock: bool = False) -> Head | None:
    """The graph of a name; with *lock* nobody else changes it to the end of this transaction."""
    locking: LiteralString = "SET g.revision = g.revision + 1 " if lock else ""
    found = ask(tx, "MATCH (g:Graph {name: $name}) " + locking + "RETURN properties(g)", name=name)
    return Head.of(found[0][0]) if found else None


def known(tx: ManagedTransaction, name: str, *, lock: bool = False) -> Head:
    """The same for a graph that must be there."""
    head = head_of(tx, name, lock=lock)
    if head is None:
        raise UnknownName.among("graph", name, [str(each.name) for each in heads(tx)])
    return head


def original(tx: ManagedTransaction, name: str, *, lock: bool = False) -> Head:
    """The same for a graph that must be an original."""
    head = known(tx, name, lock=lock)
    if head.k is not None:
        raise not_an_original(name)
    return head


def release_of(tx: ManagedTransaction, original: str, release: str) -> tuple[str, str]:
    """The keys of an original and of a release that must have been made from it."""
    source, made = known(tx, original), known(tx, release)
    if made.original != source.key:
        raise no_release_of(original, release, [str(head.name) for head in heads(tx) if head.original == source.key])
    return source.key, made.key


def lock_key(tx: ManagedTransaction, key: str) -> None:
    """Wait until nobody else changes a graph, to the end of this transaction."""
    tx.run("MATCH (g:Graph {key: $key}) SET g.revision = g.revision", key=key).consume()


def lock_all(tx: ManagedTransaction) -> None:
    """Wait until nobody else changes anything that has a name, to the end of this transaction."""
    schema.lock_store(tx)
    for key in sorted(head.key for head in heads(tx)):
        lock_key(tx, key)


def note(tx: ManagedTransaction, key: str, changes: Mapping[str, Any]) -> None:
    """Set what the node of a graph says."""
    tx.run("MATCH (g:Graph {key: $key}) SET g += $changes", key=key, changes=dict(changes)).consume()
