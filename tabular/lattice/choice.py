"""Which node of a search is released: by its place in the list of solutions, by its levels, or the best."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tabular.errors import InvalidParameter, NoSolution, named
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.space import Lattice, Node
from tabular.protections.full_domain import read_levels

#: A name in quotes, a quote in it written twice, or one without commas; the last equals sign parts it from its level.
_LEVEL = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^",][^,]*?))\s*=\s*([^",=]*?)\s*(,|$)')


@dataclass(frozen=True, eq=False)
class Choice:
    """A node with its metrics, and its place among the solutions, from 0 on, if it is one of them."""

    node: Node
    metrics: Mapping[str, Any]
    place: int | None

    @classmethod
    def of(cls, choose: str | None, node: Node | None, solutions: Readings, evaluator: Evaluator) -> Choice:
        """The *node* if there is one, else the one at the place that *choose* says, else the best."""
        if node is not None:
            place = next((at for at, each in enumerate(solutions.tuples()) if each == node), None)
            found = evaluator.in_full([node]) if place is None else solutions.take([place])
            return cls(node, found.document(0), place)
        at = 1 if choose is None else int(choose)
        if not 1 <= at <= len(solutions):
            raise InvalidParameter(f"{named('choose')} {choose}: the list has places 1 to {len(solutions)}.")
        return cls(solutions.tuples()[at - 1], solutions.document(at - 1), at - 1)


def chosen_node(choose: str | None, lattice: Lattice) -> Node | None:
    """The node whose levels *choose* says; None where it says a place or nothing."""
    if choose is None or choose.strip().isdecimal():
        return None
    where = f"{named('choose')} {choose!r}:"
    said = levels_in_text(choose) if "=" in choose else choose
    levels = read_levels(said, lattice.names, parameter="choose")
    for name, height in zip(lattice.names, lattice.heights, strict=True):
        if name not in levels:
            raise InvalidParameter(f"{where} the level of {name!r} is missing.")
        if not 0 <= levels[name] <= height:
            raise InvalidParameter(f"{where} the levels of {name!r} are 0 to {height}; there is no {levels[name]}.")
    return tuple(levels[name] for name in lattice.names)


def require_limits(node: Node, evaluator: Evaluator) -> None:
    """Refuse to release a *node* that does not satisfy the limits."""
    found = evaluator.in_full([node])
    if not found.satisfying[0]:
        at = ", ".join(f"{name}={level}" for name, level in zip(evaluator.lattice.names, node, strict=True))
        t = f" and t is {found['t'][0]:.4f}" if evaluator.limits.t is not None else ""
        raise NoSolution(
            f"{named('choose')}: the node {at} does not satisfy the limits: {found['suppressed'][0]} rows would have "
            f"to go, {evaluator.limits.suppressible(evaluator.rows)} may{t}. Choose a higher one, or raise "
            f"{named('suppression')}."
        )


def levels_in_text(text: str, parameter: str = "choose") -> dict[str, str]:
    """The level of each column that *text* lists, as in `age=1,sex=0`; a name that holds a comma stands in quotes.

    *parameter* is where the text was given, for errors.

    >>> levels_in_text('age=1, "income, net"=2,a=b=0')
    {'age': '1', 'income, net': '2', 'a=b': '0'}
    """
    levels: dict[str, str] = {}
    place = 0
    while place < len(text) or not levels or text.endswith(","):
        found = _LEVEL.match(text, place)
        if found is None:
            raise InvalidParameter(
                f"{named(parameter)} {text!r}: it takes the levels of the columns as in 'age=1,sex=0'; a name with a "
                "comma stands in quotes."
            )
        quoted, plain, level, _ = found.groups()
        name = plain if quoted is None else quoted.replace('""', '"')
        if name in levels:
            raise InvalidParameter(f"{named(parameter)} {text!r}: the level of {name!r} stands there twice.")
        levels[name] = level
        place = found.end()
    return levels


def levels_as_text(names: Iterable[str], levels: Iterable[int]) -> str:
    """The levels of columns as they can be typed again.

    >>> levels_as_text(["age", "income, net"], [1, 2])
    'age=1,"income, net"=2'
    """
    return ",".join(f"{_quoted(name)}={level}" for name, level in zip(names, levels, strict=True))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(mark in name for mark in ',"') or name != name.strip() else name
