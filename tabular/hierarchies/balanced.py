"""Runs of an order, as many values in each."""

from __future__ import annotations

from dataclasses import dataclass

from tabular.attributes import Attribute
from tabular.errors import InvalidInput
from tabular.hierarchies.contract import Builder, hierarchies, present, with_missing
from tabular.hierarchy import Hierarchy
from tabular.labels import text_of
from tabular.registry import option


@hierarchies.add(
    "balanced",
    cites="Iyengar (2002), on hierarchies made of an order",
    limits="ordered attributes only; runs hold as many values of the domain, not as many rows",
)
@dataclass(frozen=True, kw_only=True)
class Balanced(Builder):
    """Join neighbours in the order of the domain, as many at each level."""

    fan_out: int = option(2, help="how many neighbours a level joins", low=2, high=1_000_000)

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; a label names the first and the last value under it."""
        if not attribute.is_ordered:
            raise InvalidInput(f"{attribute.name!r} is nominal: neighbours need an order, so give it one in a schema.")
        texts = [text_of(value) for value in present(attribute)]
        levels = []
        width = self.fan_out
        while width < len(texts):
            ends = [(begin, min(begin + width, len(texts)) - 1) for begin in range(0, len(texts), width)]
            names = [texts[low] if low == high else f"[{texts[low]},{texts[high]}]" for low, high in ends]
            levels.append([names[code // width] for code in range(len(texts))])
            width *= self.fan_out
        return with_missing(attribute, levels)
