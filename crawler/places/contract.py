"""What a gazetteer is: it takes the free text of a location and gives a place, or says that it is unknown.

A place is a path from the most specific place to `world`, with the types of `graphpriv.places`. Its score, from 0 to 1,
says how sure the place at the beginning of the path is; below a threshold it is unknown, an empty path. "Earth" and the
like, which are true of everybody, are unknown as well. Of several places the closest common one is given; where they
have nothing in common but the world, the path is that of the world alone. Of where somebody is from and where they
live, it is where they live.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphpriv.places import WORLD, Path
from tabular.registry import Method, Registry

#: The path of places that have nothing else in common.
WORLD_PATH: Path = (WORLD,)


class Located(NamedTuple):
    """Where a text says that somebody is."""

    #: From the most specific place to `world`; empty if unknown.
    path: Path = ()
    #: How sure that is, from 0 to 1.
    score: float = 0.0
    #: ISO 3166-1 alpha-2; None if unknown, or if several countries are named.
    country: str | None = None
    #: Other places that it can mean, or the several places that it names, with their scores.
    alternatives: tuple[tuple[Path, float], ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the text names a place."""
        return bool(self.path)

    @property
    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "path": [list(step) for step in self.path],
            "score": round(self.score, 3),
            "country": self.country,
            "alternatives": [
                {"path": [list(step) for step in path], "score": round(score, 3)} for path, score in self.alternatives
            ],
        }


#: The answer to a text that names no place.
UNKNOWN_PLACE = Located()


@dataclass(frozen=True, kw_only=True)
class Gazetteer(Method):
    """Something that finds the places of free texts."""

    @property
    @abstractmethod
    def version(self) -> str:
        """Another one stands for other answers to the same texts."""

    @abstractmethod
    def locate(self, text: str) -> Located:
        """The place that a *text* names."""

    def locate_all(self, texts: Sequence[str]) -> list[Located]:
        """The places that *texts* name, in their order."""
        return [self.locate(text) for text in texts]


#: All gazetteers, by name.
gazetteers: Registry[Gazetteer] = Registry("gazetteer")


def common_path(paths: Sequence[Path]) -> Path:
    """The path of the closest place that lies on all *paths*.

    >>> europe = ("Europe", "continent")
    >>> common_path([(("Spain", "country"), europe, WORLD), (("France", "country"), europe, WORLD)])
    (('Europe', 'continent'), ('world', 'world'))
    """
    shared = []
    for steps in zip(*(reversed(path) for path in paths), strict=False):
        if len(set(steps)) > 1:
            break
        shared.append(steps[0])
    return tuple(reversed(shared))
