"""The base class of all hierarchy builders, and their registry."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from tabular.attributes import Attribute
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.registry import Method, Registry


@dataclass(frozen=True, kw_only=True)
class Builder(Method):
    """A way to build a hierarchy over the domain of an attribute."""

    @abstractmethod
    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; a missing value stays apart from the others until the last level."""


hierarchies: Registry[Builder] = Registry("kind of hierarchy")
