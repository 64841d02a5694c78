"""What a store keeps beside the rows of a graph, so that questions about it are answered without reading them.

A summary holds columns, one number a user or one a link, cut into pieces of `CHUNK` numbers, and the figures of
`graphpriv.structure`. It is made when a graph comes in whole. Every change of the graph takes it out, and whoever asks
next makes it anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.topics import EMPTY, RANKS, in_order

#: So many numbers of a column stand together; less makes a scan slow, more makes a page slow.
CHUNK = 1 << 15

#: One number a user, by position. Only a directed graph has the last two.
OF_USERS = ("number", "location", *(f"topic{rank}" for rank in range(1, RANKS + 1)), "degree", "following", "followers")

#: Whom each user follows and by whom each is followed, as positions, and where in these columns the row of a user
#: begins. Only a directed graph has the last two; in the other one, `out` has both ends of each edge.
OF_LINKS = ("out_offsets", "out", "in_offsets", "in")

#: Pieces are known by the place of their column here; columns are only ever added at the end.
COLUMNS = (*OF_USERS, *OF_LINKS)

#: The piece that holds the figures. It is written last: where it is, all others are.
FIGURES = 0

#: A piece of a summary: its number and its bytes.
Piece = tuple[int, bytes]

#: So many pieces are written at a time: 4 MiB.
PIECES = 32

#: Reads pieces by their numbers, in that order.
Fetch = Callable[[Sequence[int]], Sequence[bytes]]


def dtype_of(column: str) -> np.dtype[Any]:
    """How the numbers of a column are written."""
    return np.dtype("<i8" if column.endswith("offsets") else "<i4")


def piece(column: str, part: int) -> int:
    """The number of one piece of a column."""
    return (COLUMNS.index(column) + 1 << 32) + part


@dataclass(frozen=True, eq=False)
class Summary:
    """The columns and figures of a graph in memory."""

    columns: Mapping[str, NDArray[np.integer[Any]]]
    figures: Mapping[str, Any]

    @classmethod
    def of(cls, graph: SocialGraph, numbers: NDArray[np.int64] | None = None) -> Summary:
        """The summary of a *graph*, whose users have those *numbers* in the store, or those of their positions."""
        from graphpriv.structure import anatomy

        # Paths from other starts would give other figures at every turn.
        return cls(columns_of(graph, numbers), anatomy(graph, rng=np.random.default_rng(0)))

    def pieces(self) -> Iterator[Piece]:
        """All that is written down, the figures last."""
        for column, values in self.columns.items():
            yield from pieces_of(column, values)
        from graphpriv.store.seals import OF_FIGURES, content_of_figures, seal

        figures = json.dumps(self.figures, ensure_ascii=False).encode()
        yield OF_FIGURES, seal(content_of_figures(figures))
        yield FIGURES, figures


def columns_of(graph: SocialGraph, numbers: NDArray[np.int64] | None = None) -> dict[str, NDArray[np.integer[Any]]]:
    """The columns of a *graph*, whose users have those *numbers* in the store."""
    names = in_order(graph.topic_names)
    # A store reads topics in their order, whatever the order they came in.
    code = np.array([*(names.index(name) for name in graph.topic_names), EMPTY], dtype=np.int32)
    found: dict[str, NDArray[np.integer[Any]]] = {
        "number": np.arange(len(graph)) if numbers is None else numbers,
        "location": graph.location,
        **{f"topic{rank}": code[graph.topics[:, rank - 1]] for rank in range(1, RANKS + 1)},
        "degree": graph.neighbours.counts,
        "out_offsets": graph.follows.offsets,
        "out": graph.follows.targets,
    }
    if graph.directed:
        found |= {"following": graph.follows.counts, "followers": graph.followers.counts}
        found |= {"in_offsets": graph.followers.offsets, "in": graph.followers.targets}
    return found


def pieces_of(column: str, values: NDArray[np.integer[Any]]) -> Iterator[Piece]:
    """A column in pieces."""
    for part, low in enumerate(range(0, len(values), CHUNK)):
        yield piece(column, part), values[low : low + CHUNK].astype(dtype_of(column)).tobytes()


class Columns:
    """The columns of a summary as they are read, a few pieces at a time."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    def slices(self, columns: Sequence[str], low: int, high: int) -> dict[str, NDArray[np.integer[Any]]]:
        """The numbers from *low* to *high* of each of the *columns*, which are as long as that."""
        parts = range(low // CHUNK, -(-high // CHUNK)) if high > low else range(0)
        read = self._fetch([piece(column, part) for column in columns for part in parts])
        begin, found = low - low // CHUNK * CHUNK, {}
        for at, column in enumerate(columns):
            joined = b"".join(read[at * len(parts) : (at + 1) * len(parts)])
            found[column] = np.frombuffer(joined, dtype=dtype_of(column))[begin : begin + max(high - low, 0)]
        return found

    def slice(self, column: str, low: int, high: int) -> NDArray[np.integer[Any]]:
        """The numbers from *low* to *high* of one column."""
        return self.slices([column], low, high)[column]

    def at(self, columns: Sequence[str], positions: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """The numbers of each of the *columns* at sorted *positions*."""
        found: dict[str, list[NDArray[np.int64]]] = {column: [] for column in columns}
        for part in np.unique(positions // CHUNK).tolist():
            inside = positions[positions // CHUNK == part]
            read = self.slices(columns, int(inside[0]), int(inside[-1]) + 1)
            for column in columns:
                found[column].append(read[column][inside - inside[0]].astype(np.int64))
        none = np.zeros(0, dtype=np.int64)
        return {column: np.concatenate([none, *values]) for column, values in found.items()}
