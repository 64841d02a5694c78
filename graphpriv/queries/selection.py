"""Which users a question is about: by place with all that lies below it, by topic and its rank, by degree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.places import UNKNOWN
from graphpriv.queries.contract import Query
from graphpriv.queries.profiles import TOPICS, degrees_of
from graphpriv.store import summary
from graphpriv.store.view import View
from graphpriv.topics import EMPTY, RANKS
from tabular.errors import InvalidParameter, named
from tabular.registry import option

#: A number, or the least and the most with two points between them.
RANGE = r"\d{1,9}|\d{1,9}\.\.(\d{1,9})?|\.\.\d{1,9}"

#: The columns that a condition reads, and what it says of them.
Condition = tuple[tuple[str, ...], Callable[[Mapping[str, NDArray[Any]]], NDArray[np.bool_]]]

_RANGE = "a whole number, or a range such as 5..10, 5.. or ..10"


#: So much of a value that a graph does not have is repeated, and among so many values the nearest is looked for.
_SHOWN, _COMPARED = 100, 5_000


@dataclass(frozen=True, kw_only=True)
class Selection(Query):
    """A question about some of the users, or about all."""

    location: str | None = option(
        None, help="Only users at this place or below it, by its name as answers give it; an empty text: place unknown."
    )
    topic: str | None = option(
        None, help="Only users with this topic; an empty text: with none. Its rank may stand beside."
    )
    rank: int | None = option(
        None, low=1, high=RANKS, help="The rank that the topic has, beside topic; any if not given."
    )
    degree: str | None = option(None, pattern=RANGE, help=f"Only users with so many neighbours: {_RANGE}.")
    following: str | None = option(
        None, pattern=RANGE, help=f"Only users who follow so many: {_RANGE}. Directed graphs alone have it."
    )
    followers: str | None = option(
        None, pattern=RANGE, help=f"Only users whom so many follow: {_RANGE}. Directed graphs alone have it."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("degree", "following", "followers"):
            bounds_of(name, getattr(self, name))
        if self.rank is not None and self.topic is None:
            must = "come with a topic, whose rank it is"
            raise InvalidParameter(f"{named('rank')} must {must}.", must=must, was=self.rank)

    def conditions(self, view: View) -> list[Condition]:
        """What the options ask for, in the codes of one graph."""
        found = [] if self.location is None else [_at_or_below(view, self.location)]
        found += [] if self.topic is None else [_interested(view, self.topic, self.rank)]
        for name in ("degree", "following", "followers"):
            bounds = bounds_of(name, getattr(self, name))
            if bounds is not None:
                found.append(_between(refuse_undirected(view, name, name), *bounds))
        return found


def bounds_of(name: str, text: str | None) -> tuple[int, int] | None:
    """The least and the most that a range allows."""
    if text is None:
        return None
    if not re.fullmatch(RANGE, text, re.ASCII):
        raise InvalidParameter.wrong(name, must=f"be {_RANGE}", was=text)
    low, points, high = text.partition("..")
    return int(low or 0), int(high or 10**9) if points else int(low)


def refuse_undirected(view: View, degree: str, parameter: str) -> str:
    """The name of a *degree* that a *parameter* asks for, if the graph has it."""
    if degree not in degrees_of(view):
        must = "ask for degree alone, as the graph has no directions"
        raise InvalidParameter(f"{named(parameter)} must {must}, not for {degree}.", must=must, was=degree)
    return degree


def selected(
    view: View, conditions: Iterable[Condition], columns: Iterable[str] = (), *, begin: int = 0
) -> Iterator[tuple[NDArray[np.int64], Mapping[str, NDArray[Any]]]]:
    """The positions of the users who meet all *conditions*, from *begin* on, with *columns* of theirs, in steps."""
    conditions, columns = list(conditions), list(columns)
    needed = list(dict.fromkeys([*columns, *(column for each, _ in conditions for column in each)]))
    while begin < view.users:
        end = min((begin // summary.CHUNK + 1) * summary.CHUNK, view.users)
        read = view.columns.slices(needed, begin, end)
        kept = np.ones(end - begin, dtype=np.bool_)
        for _, holds in conditions:
            kept &= holds(read)
        yield np.flatnonzero(kept) + begin, {column: read[column][kept] for column in columns}
        begin = end


def _at_or_below(view: View, place: str) -> Condition:
    if not place:
        return ("location",), lambda read: read["location"] == UNKNOWN
    tree = view.domain.places
    node = tree.by_key.get(place)
    if node is None:
        raise unknown("location", place, "a place", tree.keys)
    return ("location",), lambda read: (read["location"] >= node) & (read["location"] < tree.ends[node])


def _interested(view: View, topic: str, rank: int | None) -> Condition:
    names = view.domain.topic_names
    if topic and topic not in names:
        raise unknown("topic", topic, "a topic", names)
    code = names.index(topic) if topic else EMPTY
    columns = TOPICS if rank is None else (TOPICS[rank - 1],)
    # Whoever has no topic has none at any rank.
    over = np.logical_or if topic else np.logical_and
    return columns, lambda read: over.reduce([read[column] == code for column in columns])


def _between(column: str, low: int, high: int) -> Condition:
    return (column,), lambda read: (read[column] >= low) & (read[column] <= high)


def unknown(parameter: str, value: str, what: str, known: Sequence[str]) -> InvalidParameter:
    """The error for a value that the graph does not have, with the nearest one that it has."""
    shown = value[:_SHOWN]
    near = get_close_matches(shown, known, n=1) if len(known) <= _COMPARED else []
    hint = f"; did you mean {near[0]!r}?" if near else "."
    must = f"be {what} of this graph"
    return InvalidParameter(f"{named(parameter)} must {must}, not {shown!r}{hint}", must=must, was=shown)
