"""The base class of all hierarchy builders, and their registry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from tabular.attributes import Attribute, Value
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.labels import ANY
from tabular.registry import Method, Registry


@dataclass(frozen=True, kw_only=True)
class Builder(Method):
    """A way to build a hierarchy over the domain of an attribute."""

    @abstractmethod
    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; a missing value stays apart from the others until the last level."""


hierarchies: Registry[Builder] = Registry("kind of hierarchy")


def with_missing(attribute: Attribute, labels: Sequence[Sequence[str]]) -> Hierarchy:
    """The hierarchy in which *labels* has one label for each value present, level by level.

    A last level with one label for all is added; until then a missing value stays apart.
    """
    levels: list[list[str]] = []
    for words in labels:
        place = iter(words)
        levels.append(["" if value is None else next(place) for value in attribute.domain])
    return Hierarchy.of(attribute.name, attribute.domain, [*levels, [ANY] * len(attribute.domain)])


def present(attribute: Attribute) -> list[Value]:
    """The values of the domain without the missing one."""
    return [value for value in attribute.domain if value is not None]
