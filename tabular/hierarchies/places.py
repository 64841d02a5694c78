"""Places: each under what it lies in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabular.attributes import Attribute
from tabular.errors import InvalidHierarchy, InvalidParameter
from tabular.hierarchies.contract import Builder, hierarchies, present, with_missing
from tabular.hierarchy import Hierarchy
from tabular.labels import text_of
from tabular.registry import option


@hierarchies.add(
    "places",
    cites="Mares Soler (2013), section 6.2.1",
    limits="a shorter path stays as it is until the longer ones are as short; the paths are handed in",
)
@dataclass(frozen=True, kw_only=True)
class Places(Builder):
    """Join places by what they lie in, along paths from the special to the general."""

    paths: Mapping[str, Sequence[str]] = option(
        help="for each value the places above it, the nearest first, such as Barcelona: Catalonia, Spain, Europe"
    )

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; a place is known by its whole path, so two of one name stay apart."""
        if not isinstance(self.paths, Mapping):
            raise InvalidParameter("Places: paths must give, for each value, the places above it.")
        downwards = []
        for value in present(attribute):
            above = self.paths.get(text_of(value))
            if above is None or isinstance(above, str):
                raise InvalidHierarchy(f"Hierarchy of {attribute.name}: there is no path for {text_of(value)!r}.")
            downwards.append((*map(str, reversed(list(above))), text_of(value)))
        longest = max(map(len, downwards), default=0)
        levels = []
        for kept in range(longest - 1, 0, -1):
            nodes = [path[:kept] for path in downwards]
            names = Counter(node[-1] for node in set(nodes))
            levels.append([node[-1] if names[node[-1]] == 1 else ", ".join(reversed(node)) for node in nodes])
        return with_missing(attribute, levels)
