"""Users, and the neighbours of one, in the order of the store: in a release that is the order drawn for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import FOLLOWED, FOLLOWS
from graphpriv.queries.contract import Page, Query, Row, queries
from graphpriv.queries.cursors import Place
from graphpriv.queries.profiles import header, profiles
from graphpriv.queries.selection import Selection, selected
from graphpriv.store.view import View
from tabular.errors import InvalidParameter, named
from tabular.registry import option

#: The columns of the links of a user in each direction, and how the user stands to those at the other ends.
_ENDS = {"following": ("out_offsets", "out", FOLLOWS), "followers": ("in_offsets", "in", FOLLOWED)}


@queries.add("users")
@dataclass(frozen=True, kw_only=True)
class Users(Selection):
    """The users of a graph, each with place, topics and degrees."""

    def page(self, view: View, after: Place | None, size: int) -> tuple[Page, Place | None]:
        begin = 0 if after is None else view.position_of(after[0] + 1)
        found, count = [], 0
        for positions, _ in selected(view, self.conditions(view), begin=begin):
            found.append(positions)
            count += len(positions)
            if count > size:
                break
        return _page(view, np.concatenate([np.zeros(0, dtype=np.int64), *found]), size)


@queries.add("neighbours")
@dataclass(frozen=True, kw_only=True)
class Neighbours(Query):
    """The users whom one user follows or who follow that user.

    Of a directed graph, `follows` says of each whether they follow the user, `followed` whether the user follows them.
    """

    user: str = option(help="The id of the user.")
    direction: str = option(
        "any",
        choices=("any", "following", "followers"),
        help="Which neighbours: those whom the user follows, those who follow the user, or all.",
    )

    def page(self, view: View, after: Place | None, size: int) -> tuple[Page, Place | None]:
        user = view.position(self.user)
        if user is None:
            # The id is not repeated: it may be that of a person.
            must = "be the id of a user of this graph"
            raise InvalidParameter(f"{named('user')} must {must}.", must=must)
        positions, ways = _neighbours(view, user, self.direction)
        later = 0 if after is None else int(np.searchsorted(positions, view.position_of(after[0] + 1)))
        page, last = _page(view, positions[later : later + size + 1], size)
        if not view.directed:
            return page, last
        for row, way in zip(page.rows, ways[later : later + size].tolist(), strict=True):
            row.update(follows=bool(way & FOLLOWED), followed=bool(way & FOLLOWS))
        return replace(page, header=(*page.header, "follows", "followed")), last


def _neighbours(view: View, user: int, direction: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the neighbours of a user, sorted, and how the user stands to each, as bits."""
    directions = ["following", "followers"] if view.directed else ["following"]
    ends = {each: _row(view, user, each) for each in directions}
    every = np.unique(np.concatenate(list(ends.values())))
    ways = sum(_ENDS[each][2] * np.isin(every, ends[each], assume_unique=True) for each in directions)
    kept = np.isin(every, ends[direction]) if view.directed and direction != "any" else slice(None)
    return every[kept], np.asarray(ways, dtype=np.int64)[kept]


def _row(view: View, user: int, direction: str) -> NDArray[np.int64]:
    offsets, column, _ = _ENDS[direction]
    begin, end = view.columns.slice(offsets, user, user + 2).tolist()
    return view.columns.slice(column, begin, end).astype(np.int64)


def _page(view: View, positions: NDArray[np.int64], size: int) -> tuple[Page, Place | None]:
    """The first of the users at sorted *positions*, and the place of the last of them if there are more."""
    shown: list[Row] = profiles(view, positions[:size])
    last = (view.number_of(int(positions[size - 1])),) if len(positions) > size else None
    return Page(header=header(view), rows=shown, next=None), last
