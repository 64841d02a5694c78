"""Hierarchies that are written out, one row a value, one column a level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabular.attributes import Attribute
from tabular.hierarchies.contract import Builder, hierarchies
from tabular.hierarchies.files import hierarchy_of_rows
from tabular.hierarchy import Hierarchy
from tabular.registry import option


@hierarchies.add(
    "csv",
    cites="the hierarchy files of ARX (Prasser and Kohlmayer 2015)",
    limits="every value of the column needs a row; each level must merge the one below, the last one all",
)
@dataclass(frozen=True, kw_only=True)
class Rows(Builder):
    """Take the levels from rows, one a value, one column a level, such as an ARX file has."""

    rows: Sequence[Sequence[str]] = option(help="the rows: the value, then its label on each level")

    def build(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy; rows of values that the column lacks are left out."""
        return hierarchy_of_rows(self.rows, attribute)
