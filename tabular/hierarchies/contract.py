"""What every builder of hierarchies is, and the registry they are entered in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from tabular.attributes import Attribute, Value
from tabular.hierarchy import Hierarchy
from tabular.labels import ANY
from tabular.registry import Method, Registry


@dataclass(frozen=True, kw_only=True)
class Builder(Method):
    """A way to make a hierarchy over the domain of an attribute."""

    @abstractmethod
    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; a missing value keeps apart from the others until the last level."""


hierarchies: Registry[Builder] = Registry("kind of hierarchy")


def with_missing(attribute: Attribute, labels: Sequence[Sequence[str]]) -> Hierarchy:
    """The hierarchy of *labels*, level by level for the values present; the last level, one label for all, is added.

    A missing value keeps apart until then.
    """
    levels: list[list[str]] = []
    for words in labels:
        place = iter(words)
        levels.append(["" if value is None else next(place) for value in attribute.domain])
    return Hierarchy.of(attribute.name, attribute.domain, [*levels, [ANY] * len(attribute.domain)])


def present(attribute: Attribute) -> list[Value]:
    """The values of the domain but a missing one."""
    return [value for value in attribute.domain if value is not None]
