"""What was released before, and what a release adds to it: `--previous`, `--key` and the private record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter
from tabular.hierarchies import read_hierarchies
from tabular.hierarchy import Hierarchy
from tabular.lattice.chain import DynamicEvaluator, History, already_told, document_of, read_history
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.limits import Limits
from tabular.lattice.release.labelled import refuse_starred_values
from tabular.lattice.space import Node
from tabular.release.dictionary import dictionary_path
from tabular.table import Table

#: Either of them answers for nodes; the second with all that was released before.
AnyEvaluator = Evaluator | DynamicEvaluator


@dataclass(frozen=True, kw_only=True)
class Before:
    """What the options say of earlier releases."""

    previous: str | None = None
    key: str | None = None

    def check(self, limits: Limits, *, is_recorded: bool) -> None:
        """Refuse what cannot be told over several releases."""
        if self.previous is not None and limits.k is None:
            raise InvalidParameter("--previous needs --k: what all releases say together is to hide each in so many.")
        if self.key is not None and self.previous is None and not is_recorded:
            raise InvalidParameter("--key says nothing without --previous, or --private of a first release.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Chain:
    """The releases so far, over the whole hierarchies: labels can be of values that the table no longer has."""

    history: History
    hierarchies: Mapping[str, Hierarchy]

    @classmethod
    def of(cls, before: Before, folder: str, table: Table, names: tuple[str, ...]) -> Chain:
        """What `--previous` names, or the beginning of a chain."""
        refuse_starred_values(table, names)
        hierarchies = read_hierarchies(folder, table, names, whole=True)
        if before.previous is None:
            return cls(history=History.begun(names, key=before.key), hierarchies=hierarchies)
        history = read_history(
            before.previous, table, hierarchies, key=before.key, dictionary=dictionary_path(before.previous)
        )
        return cls(history=history, hierarchies=hierarchies)

    def evaluator(self, table: Table, **parameters: Any) -> AnyEvaluator:
        """What says of nodes what they are worth: alone, or together with the releases before."""
        if self.history.releases:
            return DynamicEvaluator(table, self.hierarchies, self.history, **parameters)
        return Evaluator(table, self.hierarchies, **parameters)

    def extended(
        self, table: Table, node: Node, suppressed: NDArray[np.bool_], *, k: int | None, left_out: bool
    ) -> History:
        """The releases with this one; that they break k together is a bug, and nothing goes out."""
        after = self.history.extended(table, self.hierarchies, node, suppressed, silent=left_out)
        if self.history.releases and k is not None and already_told(after, k):
            raise RuntimeError("A release does not keep k together with those before it.")
        return after

    def document(self) -> dict[str, Any]:
        """What there is to say of the releases before."""
        return {"releases": self.history.releases, "matched": self.history.matched, "k": self.history.k}


def record_of(history: History) -> dict[str, Any]:
    """The part of a private record that the next release is read from."""
    return {"history": document_of(history)}
