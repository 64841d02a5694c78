"""PRAM, the post-randomisation method: each value is drawn anew by a transition matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import NOMINAL, ORDINAL, Attribute
from tabular.errors import InvalidParameter, UnknownName, named
from tabular.kernels import compiled
from tabular.matrices.formulas import Formula
from tabular.matrices.invariance import Bounds, bounded, check_bounds, invariant
from tabular.matrices.transition import by_frequency, refuse_many, retaining, stochastic
from tabular.protections.contract import Protection, protections
from tabular.registry import option
from tabular.table import Table

#: The probability to keep a value where nothing is asked for.
RETAIN = 0.8


@protections.add(
    "pram",
    cites="Gouweleeuw, Kooiman, Willenborg and de Wolf (1998); Mares Soler (2013), sections 2.3.1 and 4.1.4",
    limits="promises no k; columns are changed one by one, which weakens the relations between them; frequencies are "
    "kept only in expectation and only if invariant, else they can be corrected with the matrix, which also helps "
    "an attacker who has it",
)
@dataclass(frozen=True, kw_only=True, eq=False)
class PRAM(Protection):
    """Change each value at random, with the probabilities of a transition matrix.

    The matrix is given, the same for several columns, or a mapping from their names; or it is made from the frequencies
    by *retain*, *theta* or a *formula*. A bounded *diagonal* limits how probably a value stays; an *invariant* matrix
    keeps the frequencies in expectation and can be inverted.
    """

    kinds: ClassVar[tuple[str, ...]] = (NOMINAL, ORDINAL)

    matrix: Any = option(  # noqa: RUF009
        None,
        help="the matrix, or one for each column: a CSV file, or a folder of such; in place of retain, theta "
        "and formula",
    )
    retain: float | None = option(
        None,
        low=0,
        high=1,
        help=f"probability to keep a value (eq 2.3), in place of theta and formula; {RETAIN} where nothing else is "
        "given",
    )
    theta: float | None = option(
        None,
        low=0,
        high=1,
        help="probability to change a value of the rarest category (eq 2.4 and 2.5), in place of formula",
    )
    formula: str | None = option(
        None,
        help="what makes the matrix (section 4.2): + - * / and brackets over N, freq_max, freq_min, freq_i, freq_j and "
        "i=j; rows are made to sum to 1",
    )
    invariant: bool = option(False, help="keep the frequencies in expectation")
    diagonal: str | tuple[float, float] | None = option(
        None, help="lo,hi: the lowest and the highest probability to keep a value"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in ("matrix", "retain", "theta", "formula") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidParameter(
                f"PRAM takes one of {named('matrix')}, {named('retain')}, {named('theta')} and {named('formula')}, not "
                f"{' and '.join(map(named, given))}."
            )
        if self.formula is not None:
            Formula.read(self.formula)
        if isinstance(self.matrix, str):
            must = "be numbers, as read_matrix and read_matrices give"
            raise InvalidParameter.wrong("matrix", must=must, was=self.matrix, owner="PRAM")
        if self.diagonal is not None:
            read_bounds(self.diagonal)

    @property
    def bounds(self) -> Bounds | None:
        """The bounds of the diagonal as numbers."""
        return None if self.diagonal is None else read_bounds(self.diagonal)

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """The table with each value of *attributes* drawn by the matrix of its column, one column after the other."""
        matrices = self.matrices(table, attributes)
        return table.with_codes(**{name: drawn(table.columns[name], matrices[name], rng) for name in attributes})

    def matrices(self, table: Table, attributes: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """The matrix that each of *attributes* is masked with, by name; nothing in it is random."""
        if isinstance(self.matrix, Mapping):
            for name in self.matrix:
                if name not in attributes:
                    raise UnknownName.among("column to protect", str(name), attributes)
        return {name: self._matrix(table.attribute(name), table.columns[name]) for name in attributes}

    def _matrix(self, attribute: Attribute, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        refuse_many(attribute)
        frequencies = np.bincount(codes, minlength=len(attribute.domain))
        if self.matrix is not None:
            matrix = stochastic(attribute, self._given(attribute))
        elif self.theta is not None:
            matrix = by_frequency(frequencies, self.theta)
        elif self.formula is not None:
            matrix = Formula.read(self.formula).matrix(frequencies)
        else:
            matrix = retaining(frequencies, RETAIN if self.retain is None else self.retain)
        if self.invariant:
            return invariant(matrix, frequencies, attribute, self.bounds)
        return matrix if self.bounds is None else bounded(matrix, self.bounds, attribute)

    def _given(self, attribute: Attribute) -> Any:
        if not isinstance(self.matrix, Mapping):
            return self.matrix
        if attribute.name not in self.matrix:
            raise InvalidParameter(f"{named('matrix')} has no matrix for column {attribute.name!r}.", owner="PRAM")
        return self.matrix[attribute.name]


def drawn(codes: NDArray[np.int32], matrix: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int32]:
    """New codes, each drawn with the probabilities in the row of the old one."""
    steps = np.cumsum(matrix, axis=1)
    # So that the last category with a probability can be drawn, and none without.
    steps /= steps[:, -1:]
    return inverse_cdf(codes, steps, rng.random(len(codes)))


@compiled
def inverse_cdf(
    codes: NDArray[np.int32], steps: NDArray[np.float64], uniform: NDArray[np.float64]
) -> NDArray[np.int32]:
    """For each code the first category whose cumulated probability is above the uniform number."""
    new = np.empty_like(codes)
    for row in range(len(codes)):
        # A binary search of our own: numpy's compiles slowly, and checks what is known here.
        cumulated, low, high = steps[codes[row]], 0, steps.shape[1] - 1
        while low < high:
            middle = (low + high) // 2
            if uniform[row] < cumulated[middle]:
                high = middle
            else:
                low = middle + 1
        new[row] = low
    return new


def read_bounds(diagonal: Any) -> Bounds:
    """The bounds that *diagonal* is: two numbers, or a text such as `0.55,0.75`."""
    parts = diagonal.split(",") if isinstance(diagonal, str) else diagonal
    try:
        low, high = (float(part) for part in parts)
    except (TypeError, ValueError):
        must = "be two probabilities, lo,hi"
        raise InvalidParameter.wrong("diagonal", must=must, was=diagonal, owner="PRAM") from None
    return check_bounds((low, high))
