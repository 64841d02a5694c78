"""Graphs by the names that people give them: NAME, or with its kind `release:NAME` and `original:NAME`.

The service has a space of names for each kind (`api.service.graphs`); a store has one. Where both kinds have a name in
the service, one of them lies in the store under the name with its kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeVar

from api.service.graphs import KINDS, split
from api.verbs.contract import Verb, Work
from tabular.errors import UnknownName

if TYPE_CHECKING:
    from graphpriv.store import GraphInfo

V = TypeVar("V", bound=Verb)


def resolved(verb: V, work: Work) -> V:
    """The *verb* with the name that each graph it is about has in the store."""
    given = dict(_with_kind(verb))
    if not given:
        return verb
    with work.opened() as store:
        # Others are read only where their names may help: to read them takes a time that tells of them.
        others = {option: text for option, text in given.items() if not store.has(text)}
        known = {each.name: each for each in store.graphs()} if others else {}
    return replace(verb, **{option: stored(text, known) for option, text in others.items()})


def _with_kind(verb: Verb) -> Iterator[tuple[str, str]]:
    """The options of a verb that name a graph with its kind, and these names."""
    for each in fields(verb):
        traits, text = each.metadata, getattr(verb, each.name)
        is_file = traits.get("or_file") and getattr(verb, traits["or_file"])
        is_there = not str(traits.get("graph", "new")).startswith("new")
        if is_there and not is_file and isinstance(text, str) and split(text)[0] is not None:
            yield each.name, text


def stored(text: str, known: Mapping[str, GraphInfo]) -> str:
    """The name in a store, of which all graphs are *known*, of the graph that *text* names with its kind."""
    kind, name = split(text)
    if text in known:
        return text
    names = [each.name for each in known.values() if each.is_release == (kind == KINDS[1])]
    if name not in names:
        raise UnknownName.among(str(kind), name, names)
    return name
