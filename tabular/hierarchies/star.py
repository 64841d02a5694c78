"""Texts masked character by character."""

from __future__ import annotations

from dataclasses import dataclass

from tabular.attributes import Attribute
from tabular.hierarchies.contract import Builder, hierarchies, present, with_missing
from tabular.hierarchy import Hierarchy
from tabular.labels import ANY, text_of
from tabular.registry import option

#: Texts of more characters are no codes, and would make as many levels.
_LONGEST = 100


@hierarchies.add(
    "star",
    cites="Samarati and Sweeney (1998); Sweeney (2002)",
    limits="sensible for codes whose characters go from the general to the special; the first 100 characters count",
)
@dataclass(frozen=True, kw_only=True)
class Stars(Builder):
    """Replace the characters of a code by stars, from the right, more from level to level."""

    step: int = option(1, help="how many characters more a level masks", low=1, high=100)
    side: str = option("right", help="which end is masked first", choices=("right", "left"))

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; shorter texts count as filled up with spaces at the side that is masked first."""
        texts = [text_of(value)[:_LONGEST] for value in present(attribute)]
        length = max(map(len, texts), default=0)
        levels = []
        for hidden in range(self.step, length, self.step):
            stars = ANY * hidden
            if self.side == "right":
                levels.append([f"{text.ljust(length)[:-hidden].rstrip()}{stars}" for text in texts])
            else:
                levels.append([f"{stars}{text.rjust(length)[hidden:].lstrip()}" for text in texts])
        return with_missing(attribute, levels)
