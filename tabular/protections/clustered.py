"""Clustered protection: each cluster of similar records is protected separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Members, widened
from tabular.clusterings import clusterings
from tabular.errors import InvalidParameter
from tabular.intervals import Span
from tabular.protections.contract import Protection, check_columns, method_in, protections
from tabular.registry import option
from tabular.table import Table, check_k


@protections.add(
    "clustered",
    cites="Mares Soler (2013), chapter 5, Alg. 9 to 11",
    limits="k holds only if the inner method promises it; each cluster is masked by its own records, so ranks, "
    "frequencies and spreads are those of the cluster",
)
@dataclass(frozen=True, kw_only=True)
class Clustered(Protection):
    """Put similar records into clusters of k or more and protect each cluster by another method."""

    promises_k: ClassVar[bool] = True

    clusters: int = option(5, low=1, help="most clusters; the smallest are merged until each has k records")
    k: int = option(3, low=1, help="fewest records of a cluster; also the k of the inner method, if it has one")
    inner: str | Protection = option(  # noqa: RUF009
        "microaggregation", help="the method within clusters, with its parameters as in 'rank-swapping percent=10'"
    )
    clustering: str = option("c-median", help="how records are put into clusters")

    def __post_init__(self) -> None:
        super().__post_init__()
        clusterings[self.clustering]
        self.method  # noqa: B018  (it says what is wrong with the parameters)

    @property
    def method(self) -> Protection:
        """The inner method, with the k of this one."""
        if isinstance(self.inner, Protection):
            return self.inner
        name, given = method_in(self.inner, parameter="inner", owner="Clustered")
        entry = protections[name]
        parameters = {"k": self.k} if "k" in {each.name for each in entry.parameters} else {}
        return entry.make({**parameters, **given})

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """Rows keep their order; random methods take the clusters in the order of their first rows."""
        method = self.method
        check_columns(table, attributes, f"{self.inner_name} within clusters", method.kinds)
        if method.promises_k and getattr(method, "k", self.k) < self.k:
            raise InvalidParameter.wrong(
                "inner", must=f"have a k of at least {self.k}", was=self.inner, owner="Clustered"
            )
        least = max(check_k(self.k, len(table)), check_k(getattr(method, "k", self.k), len(table)))
        columns = Table(
            tuple(table.attribute(name) for name in attributes), {name: table.columns[name] for name in attributes}
        )
        labels = clusterings[self.clustering].method(clusters=self.clusters).cluster(columns, attributes, rng)
        labels = merged(labels, least)
        parts = [np.flatnonzero(labels == cluster) for cluster in range(int(labels.max()) + 1)]
        return rebuilt(table, parts, [method.protect(columns.rows(part), attributes, rng) for part in parts])

    @property
    def inner_name(self) -> str:
        """What the inner method is called."""
        if isinstance(self.inner, Protection):
            return next(entry.name for entry in protections.entries() if isinstance(self.inner, entry.method))
        return self.inner.split()[0]

    def k_holds_over(self, attributes: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """What the inner method promises."""
        return self.method.k_holds_over(attributes)


def merged(labels: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The clusters after the two smallest are merged, again and again, until each has *k* records or more.

    >>> merged(np.array([0, 0, 0, 0, 1, 1, 2, 3]), 3).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    names = np.arange(int(labels.max()) + 1)
    sizes = np.bincount(labels).astype(np.int64)
    while True:
        left = np.flatnonzero(sizes > 0)
        if len(left) == 1 or sizes[left].min() >= k:
            break
        one, two = sorted(left[np.argsort(sizes[left], kind="stable")[:2]].tolist())
        names[names == two] = one
        sizes[one] += sizes[two]
        sizes[two] = 0
    return np.asarray(np.unique(names[labels], return_inverse=True)[1], dtype=np.int64)


def rebuilt(table: Table, parts: Sequence[NDArray[np.int64]], masked: Sequence[Table]) -> Table:
    """*table* with the rows at each of *parts* from the masked table of that part."""
    described = {attribute.name: attribute for attribute in table.attributes}
    columns, sets = dict(table.columns), dict(table.sets)
    for name in masked[0].names:
        # A continuous column gets the numbers that are new in any of the parts.
        new = {value for part in masked for value in part.attribute(name).domain}
        attribute = described[name] = widened(described[name], new)
        codes, held = np.empty(len(table), dtype=np.int32), list[Members]()
        for rows, part in zip(parts, masked, strict=True):
            places = np.array([attribute.codes[value] for value in part.attribute(name).domain], dtype=np.int64)
            labels = np.concatenate([places, len(attribute.domain) + len(held) + np.arange(len(part.sets[name]))])
            codes[rows] = labels[part.columns[name]]
            held.extend(
                each.moved(places) if isinstance(each, Span) else tuple(places[list(each)].tolist())
                for each in part.sets[name]
            )
        columns[name], sets[name] = codes, tuple(held)
    return Table(tuple(described.values()), columns, sets)
