"""Microdata of a graph: degree, location and topics of each user, as a table (Mares Soler 2013, section 6.2.2).

What the degree gives away is protected with the rest where the table is masked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, SocialGraph, common_codes
from graphpriv.places import PlaceTree
from tabular.attributes import NOMINAL, ORDINAL, Attribute, text_of
from tabular.errors import InvalidInput, InvalidParameter, NoSolution, named
from tabular.files.csv_tables import write_csv
from tabular.hierarchies import build
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.measures import Summary, summary
from tabular.measures.scores import PLAIN
from tabular.protections import Protection, protect, protections
from tabular.release import Counted, counted_k, drawn_order, effective_parameters, verify
from tabular.table import Table, smallest_class

#: The columns, in the order of the thesis.
HEADER = ("degree", *ATTRIBUTES)
#: What stands in a cell of the table where the place is unknown or there is no such topic.
MISSING = ""


@dataclass(frozen=True, eq=False)
class Microdata:
    """One row a user, in an order of its own and without ids; columns are codes."""

    degree: NDArray[np.int64]
    location: NDArray[np.int32]
    topics: NDArray[np.int32]
    places: PlaceTree
    topic_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.degree)

    @cached_property
    def k(self) -> int:
        """How many rows share the rarest row, its degree included."""
        return smallest_class([self.degree, self.location, *self.topics.T])

    @cached_property
    def k_without_degree(self) -> int:
        """How many rows share the rarest profile."""
        return smallest_class([self.location, *self.topics.T])

    def require(self, k: int) -> Microdata:
        """The table itself, or `NoSolution` unless each row stands there *k* times or more."""
        if self.k < k:
            raise NoSolution(
                f"These microdata have k={self.k}, less than k={k}: degrees tell users apart whose profiles are alike "
                f"(without the degree it is k={self.k_without_degree}). Ask for a lower k, or mask the table "
                f"itself by a method, such as mondrian."
            )
        return self

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The rows as text, in the order of `HEADER`."""
        # UNKNOWN and EMPTY are -1 and find themselves at the end of each list.
        keys, names = [*self.places.keys, MISSING], [*self.topic_names, MISSING]
        for degree, place, topics in zip(
            self.degree.tolist(), self.location.tolist(), self.topics.tolist(), strict=True
        ):
            yield str(degree), keys[place], *(names[topic] for topic in topics)

    @property
    def document(self) -> dict[str, Any]:
        """Facts about the table, ready for JSON."""
        return {"rows": len(self), "k": self.k, "k_without_degree": self.k_without_degree}

    def write(self, file: IO[bytes]) -> None:
        """Write the table as CSV; cells that a spreadsheet would run are made harmless."""
        write_csv(file, HEADER, self.rows())


def microdata(graph: SocialGraph, *, rng: np.random.Generator) -> Microdata:
    """The table of a graph's users, in random order, so that a row is not linked with a user by its position.

    The degree is the number of neighbours in either direction, each counted once. It is as it was in the original
    as long as edges stay, and breaks the k of the graph: `Microdata.k` is that of the table.
    """
    if not len(graph):
        raise InvalidInput("The graph has no users, so it has no microdata.")
    # Not from the generator itself: the order is published, and from enough of what it gives its state can be computed.
    order = drawn_order(rng, len(graph))
    return Microdata(
        degree=graph.neighbours.counts[order],
        location=graph.location[order],
        topics=graph.topics[order],
        places=graph.places,
        topic_names=graph.topic_names,
    )


#: What the loss and the risk are measured against.
ORIGINAL, ITSELF = "the original", "the graph itself"


@dataclass(frozen=True)
class Origin:
    """The original that a release was made from, and where each of its users went."""

    graph: SocialGraph
    mapping: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ProtectedMicrodata:
    """The masked table, its rows in random order, with what was counted and measured before they were."""

    table: Table
    method: str
    parameters: Mapping[str, Any]
    promises_k: bool
    counted: Counted
    summary: Summary
    measured_against: str

    def __len__(self) -> int:
        return len(self.table)

    @property
    def k(self) -> int:
        """How many rows share the rarest row, its degree included; suppressed rows are set aside."""
        return self.counted.k

    @property
    def k_without_degree(self) -> int:
        """The same without the degree."""
        return counted_k(self.table, HEADER[1:]).k

    def findings(self) -> dict[str, Any]:
        """Facts about the table: its k, loss and risk."""
        return {
            "promises_k": self.promises_k,
            "k": self.k,
            "k_without_degree": self.k_without_degree,
            "suppressed": self.counted.suppressed,
            "information_loss": self.summary.information_loss,
            "disclosure_risk": self.summary.disclosure_risk,
            "score_mean": self.summary.score_mean,
            "score_max": self.summary.score_max,
            "measured_against": self.measured_against,
        }

    @property
    def document(self) -> dict[str, Any]:
        """Facts about the table, ready for JSON."""
        parameters = dict(self.parameters)
        return {"rows": len(self), "method": self.method, "parameters": parameters, **self.findings()}

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The rows as text, in the order of `HEADER`."""
        cells = (map(text_of, self.table.values(name)) for name in HEADER)
        return zip(*cells, strict=True)

    def write(self, file: IO[bytes]) -> None:
        """Write the table as CSV; cells that a spreadsheet would run are made harmless."""
        write_csv(file, HEADER, self.rows())


def microdata_table(graph: SocialGraph) -> Table:
    """Degree, location and topics of each user, in the order of the users.

    Degrees are ordinal. Locations and topics are nominal; their domains stand in the order of the tree and of the
    topics, so that methods that go by it keep near what lies near.
    """
    places, topics = [*graph.places.keys, None], [*graph.topic_names, None]
    degree, *others = code_columns(graph)
    columns: dict[str, Sequence[Any]] = {"degree": degree.tolist()}
    attributes = [Attribute(name="degree", kind=ORDINAL)]
    for name, codes, words in zip(HEADER[1:], others, (places, topics, topics, topics), strict=True):
        # UNKNOWN and EMPTY are -1 and find themselves at the end of each list.
        columns[name] = [words[code] for code in codes.tolist()]
        domain = tuple(words[code] for code in np.unique(codes).tolist() if code >= 0)
        attributes.append(Attribute(name=name, kind=NOMINAL, domain=domain))
    return Table.from_columns(columns, attributes)


def code_columns(graph: SocialGraph) -> list[NDArray[np.integer]]:
    """The columns of the table as codes of the graph."""
    return [graph.neighbours.counts, graph.location, *graph.topics.T]


def protect_microdata(
    graph: SocialGraph,
    *,
    method: str,
    k: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    origin: Origin | None = None,
    rng: np.random.Generator,
) -> ProtectedMicrodata:
    """Mask the table of a graph's users by a protection of tables, so that *k* holds with the degree.

    Loss and risk are those against the *origin* if the graph is a release and its original is known, else against the
    table before it was masked. `NoSolution` where a method that promises no k does not come to it by chance.
    """
    if not len(graph):
        raise InvalidInput("The graph has no users, so it has no microdata.")
    table = microdata_table(graph)
    whole = whole_parameters(method, k, dict(parameters or {}), table, graph.places)
    masked = protect(table, method, HEADER, rng=rng, **whole)
    protection = protections[method].method(**whole)
    promises_k = protection.k_holds_over(HEADER) == (HEADER,)
    counted = verify(masked, protection, HEADER)
    if k is not None and counted.k < k:
        if promises_k:
            raise RuntimeError("The microdata do not have the k that was promised.")
        raise NoSolution(_no_k(method, k, counted.k))
    return ProtectedMicrodata(
        table=masked.rows(drawn_order(rng, len(table))),
        method=method,
        parameters=effective_parameters(protection, whole),
        promises_k=promises_k,
        counted=counted,
        summary=measured(table, masked, graph, origin),
        measured_against=ITSELF if origin is None else ORIGINAL,
    )


def whole_parameters(
    method: str, k: int | None, parameters: dict[str, Any], table: Table, places: PlaceTree
) -> dict[str, Any]:
    """The *parameters* with k, and with the hierarchies that the graph knows where the method takes some."""
    entry = protections[method]
    known = [parameter.name for parameter in entry.parameters]
    if "k" in known:
        given = parameters.setdefault("k", k)
        if given is None:
            raise InvalidParameter(f"{method} needs {named('k')}, the least number of rows that agree.")
        if k is not None and given != k:
            raise InvalidParameter(f"{named('k')} is given twice, as {k} and as {given}.")
    if "hierarchies" in known and "hierarchies" not in parameters:
        parameters["hierarchies"] = hierarchies_of(table, places)
        if parameters.get("levels") is None:
            heights = ", ".join(f"{name} 0 to {each.height}" for name, each in parameters["hierarchies"].items())
            raise InvalidParameter(f"{method} needs {named('levels')}, one for each column: {heights}.")
    return parameters


def hierarchies_of(table: Table, places: PlaceTree) -> dict[str, Hierarchy]:
    """Ranges of degrees, places by what they lie in, and topics that go all at once."""
    found = {"degree": build(table.attribute("degree"), "balanced")}
    paths = {places.keys[node]: _above(places, node) for node in range(len(places))}
    found["location"] = build(table.attribute("location"), "places", paths=paths)
    for name in HEADER[2:]:
        attribute = table.attribute(name)
        found[name] = Hierarchy.of(name, attribute.domain, [["*"] * len(attribute.domain)])
    return found


def _above(places: PlaceTree, node: int) -> list[str]:
    """The places that a place lies in, the nearest first, without `world`."""
    above = []
    while (node := int(places.parents[node])) > 0:
        above.append(places.keys[node])
    return above


def measured(table: Table, masked: Table, graph: SocialGraph, origin: Origin | None) -> Summary:
    """Loss and risk of *masked*, the table of *graph*, both in the order of its users."""
    if origin is None:
        return summary(table, masked, HEADER, without=(PLAIN,))
    known = np.flatnonzero(origin.mapping >= 0)
    original, release = common_codes(origin.graph, graph)
    attributes, columns, codes, sets = [], {}, {}, {}
    for name, before, after in zip(HEADER, code_columns(original), code_columns(release), strict=True):
        # Whatever stands in one of both, in the order of their common codes; what is missing, -1, comes last.
        both = np.concatenate([before[known], after]).astype(np.int64)
        both[both < 0] = both.max() + 1
        values, places = np.unique(both, return_inverse=True)
        kind = table.attribute(name).kind
        attributes.append(Attribute(name=name, kind=kind, domain=tuple(values.tolist())))
        columns[name] = places[: len(known)].astype(np.int32)
        codes[name], sets[name] = _moved(table, masked, name, places[len(known) :], len(values))
    full = Table(tuple(attributes), columns)
    return summary(full, Table(tuple(attributes), codes, sets).rows(origin.mapping[known]), HEADER, without=(PLAIN,))


def _moved(
    table: Table, masked: Table, name: str, places: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int32], tuple[tuple[int, ...], ...]]:
    """A masked column in a domain of *size* values; *places* is where the value of each row of *table* stands there."""
    own = len(table.attribute(name).domain)
    moved = np.zeros(own, dtype=np.int64)
    # Every value of the domain stands in some row.
    moved[table.columns[name]] = places
    labels = np.concatenate([moved, size + np.arange(len(masked.sets[name]))])
    return labels[masked.columns[name]].astype(np.int32), tuple(
        tuple(moved[list(members)].tolist()) for members in masked.sets[name]
    )


def _no_k(method: str, k: int, found: int) -> str:
    promising = ", ".join(entry.name for entry in protections.entries() if _promises(entry.method))
    return (
        f"{method} promises no k over all columns, and this table has k={found}, less than k={k}. Take a method that "
        f"promises it ({promising}), or leave out the k."
    )


def _promises(method: type[Protection]) -> bool:
    return {NOMINAL, ORDINAL} <= set(method.kinds) and method().k_holds_over(HEADER) == (HEADER,)
