"""Microdata of a graph: degree, location and topics of each user, as a table (Mares Soler 2013, section 6.2.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, SocialGraph
from graphpriv.places import PlaceTree
from tabular.errors import InvalidInput, NoSolution
from tabular.files.csv_tables import write_csv
from tabular.table import smallest_class

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
        raise InvalidInput("The graph has no users; there are no microdata of it.")
    order = rng.permutation(len(graph))
    return Microdata(
        degree=graph.neighbours.counts[order],
        location=graph.location[order],
        topics=graph.topics[order],
        places=graph.places,
        topic_names=graph.topic_names,
    )
