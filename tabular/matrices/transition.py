"""Transition matrices: checked, made from the frequencies of a column, kept in CSV files, and used to correct counts.

Mares Soler (2013), section 2.3.1. A file has a row for each original category and a column for each masked one, with
their labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute, Value, text_of
from tabular.errors import InvalidInput, InvalidRecord, NoSolution
from tabular.files.csv_tables import commented_rows, first_line, found_delimiter, plain, write_csv
from tabular.files.disk import read_bytes, replacing
from tabular.table import Table

#: How far the sum of a row may be from 1: the loss of a file with three decimals.
ROUNDING = 0.01
#: A sum nearer to 1 than this is one of unrounded floating-point numbers.
EXACT = 1e-9
#: The most categories of a matrix; more take too much memory, and leave a release hardly masked.
MOST_CATEGORIES = 5_000

#: The first cell of the header, above the labels of the rows.
CORNER = "original"

#: A matrix with a greater condition number gives estimates that are noise.
WORST_CONDITION = 1e10


def stochastic(attribute: Attribute, matrix: Any) -> NDArray[np.float64]:
    """*matrix* as numbers whose rows sum to 1, or an error where it is no transition matrix of *attribute*.

    A row whose sum was rounded is made to sum to 1.
    """
    what, size = f"The matrix of {attribute.name!r}", len(attribute.domain)
    try:
        numbers = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} must hold numbers, in rows of equal length.") from None
    if numbers.ndim != 2 or numbers.shape[0] != numbers.shape[1]:
        raise InvalidInput(f"{what} must be square; it is {' x '.join(map(str, numbers.shape)) or 'a single number'}.")
    if len(numbers) != size:
        raise InvalidInput(f"{what} must be {size} x {size}, as the domain is; it is {len(numbers)} x {len(numbers)}.")
    for row, label in zip(numbers, attribute.domain, strict=True):
        outside = row[~((row >= 0) & (row <= 1 + ROUNDING))]
        if len(outside):
            raise InvalidInput(f"{what}, row {text_of(label)!r}: a probability is from 0 to 1, not {outside[0]:g}.")
        total = row.sum()
        if abs(total - 1) > ROUNDING:
            raise InvalidInput(f"{what}, row {text_of(label)!r}: the probabilities must sum to 1, not {total:g}.")
    sums = numbers.sum(axis=1, keepdims=True)
    # A matrix that was written in full comes back as it was, to the bit.
    return np.where(abs(sums - 1) > EXACT, numbers / sums, numbers)


def refuse_many(attribute: Attribute) -> None:
    """Refuse an attribute with more categories than a matrix can have."""
    if len(attribute.domain) > MOST_CATEGORIES:
        raise InvalidInput(
            f"Column {attribute.name!r} has {len(attribute.domain)} categories, and a matrix holds at most "
            f"{MOST_CATEGORIES}: join categories first."
        )


def retaining(frequencies: NDArray[np.integer], retain: float) -> NDArray[np.float64]:
    """Keep each value with probability *retain*; the rarer another category, the sooner it is taken (eq 2.3).

    Where two categories are all, the other one takes what is left; where one alone occurs, nothing changes.

    >>> retaining(np.array([6, 3, 1]), 0.8).round(3).tolist()
    [[0.8, 0.05, 0.15], [0.029, 0.8, 0.171], [0.067, 0.133, 0.8]]
    """
    counts = np.asarray(frequencies, dtype=np.float64)
    size = len(counts)
    if np.count_nonzero(counts) < 2:
        return np.eye(size)
    others = counts.sum() - counts[:, None]
    # With two categories eq 2.3 is 0/0.
    weights = (others - counts) / ((size - 2) * others) if size > 2 else np.ones((2, 2))
    matrix = (1 - retain) * weights
    np.fill_diagonal(matrix, retain)
    return matrix


def by_frequency(frequencies: NDArray[np.integer], theta: float) -> NDArray[np.float64]:
    """Change each value of the rarest category with probability *theta*, of others the less the more there are.

    What is changed goes to all other categories alike (eq 2.4 and 2.5). A category that does not occur stays; where
    one alone occurs, nothing changes.

    >>> by_frequency(np.array([6, 3, 0]), 0.5).tolist()
    [[0.75, 0.125, 0.125], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]
    """
    counts = np.asarray(frequencies, dtype=np.float64)
    size = len(counts)
    occurring = counts > 0
    if occurring.sum() < 2:
        return np.eye(size)
    changed = np.zeros(size)
    changed[occurring] = np.clip(theta * counts[occurring].min() / counts[occurring], 0, 1)
    matrix = np.repeat(changed[:, None] / (size - 1), size, axis=1)
    np.fill_diagonal(matrix, 1 - changed)
    return matrix


def read_matrices(path: str | Path, attributes: Sequence[Attribute]) -> dict[str, NDArray[np.float64]]:
    """The matrices of *attributes* by name: from a folder with a file for each, or from one file that fits all."""
    if Path(path).is_dir():
        return {each.name: read_matrix(matrix_path(path, each), each) for each in attributes}
    return {each.name: read_matrix(path, each) for each in attributes}


def matrix_path(folder: str | Path, attribute: Attribute) -> Path:
    """The file of an attribute in a folder of matrices; special characters are quoted as in a URL.

    >>> matrix_path("out", Attribute(name="income/year")).as_posix()
    'out/income%2Fyear.csv'
    """
    return Path(folder) / f"{quote(attribute.name, safe=' ')}.csv"


def write_matrix(path: str | Path | IO[bytes], attribute: Attribute, matrix: NDArray[np.float64]) -> None:
    """Write a matrix with the labels of its categories, in full, so that reading gives the same matrix."""
    labels = _labels(attribute)
    rows = zip(labels, stochastic(attribute, matrix).tolist(), strict=True)
    with replacing(path, overwrite=False) as file:
        write_csv(file, [CORNER, *labels], ([label, *row] for label, row in rows))


def read_matrix(path: str | Path, attribute: Attribute) -> NDArray[np.float64]:
    """The matrix in a file, in the order of the domain; its rows and columns may stand in any order."""
    data = read_bytes(path)
    rows = commented_rows(data, str(path), found_delimiter(first_line(data)) or ",")
    body = [[plain(cell) for cell in row] for row in rows]
    if not body:
        raise InvalidInput(f"{path}: there is no matrix in it.")
    header, *lines = body
    if len(lines) != len(header) - 1:
        raise InvalidInput(
            f"{path}: the matrix has {len(lines)} rows and {len(header) - 1} columns beside the labels; "
            f"it must be square."
        )
    codes = {label: code for code, label in enumerate(_labels(attribute))}
    first, *where = (f"{path}, line {rows.ends(number)}" for number in range(len(body)))
    columns = _places(header[1:], codes, attribute, [first] * len(lines))
    places = _places([line[0] for line in lines], codes, attribute, where)
    matrix = np.empty((len(codes), len(codes)))
    for place, line, here in zip(places, lines, where, strict=True):
        matrix[place, columns] = _numbers(line[1:], len(columns), here)
    try:
        return stochastic(attribute, matrix)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def _labels(attribute: Attribute) -> list[str]:
    labels = [text_of(value) for value in attribute.domain]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidInput(
                f"Two categories of {attribute.name!r} are written {label!r}: a file cannot tell them apart."
            )
    return labels


def _places(labels: list[str], codes: Mapping[str, int], attribute: Attribute, where: Sequence[str]) -> list[int]:
    """The codes of *labels*, which name each category once."""
    seen: set[str] = set()
    for label, here in zip(labels, where, strict=True):
        if label not in codes:
            near = get_close_matches(label, codes, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(map(repr, list(codes)[:8]))}."
            raise InvalidRecord(f"{here}: {label!r} is no category of {attribute.name!r}; {hint}")
        if label in seen:
            raise InvalidRecord(f"{here}: {label!r} appears twice.")
        seen.add(label)
    for label in codes:
        if label not in seen:
            raise InvalidRecord(
                f"{where[0].rpartition(', line ')[0] if where else 'The matrix'}: category {label!r} of "
                f"{attribute.name!r} is missing; each has a row and a column."
            )
    return [codes[label] for label in labels]


def _numbers(cells: list[str], width: int, where: str) -> list[float]:
    if len(cells) != width:
        raise InvalidRecord(f"{where}: this row has {len(cells)} numbers, the header {width} labels.")
    for cell in cells:
        try:
            float(cell)
        except ValueError:
            raise InvalidRecord(f"{where}: {cell!r} is not a number.") from None
    return list(map(float, cells))


@dataclass(frozen=True, eq=False)
class CorrectedFrequencies:
    """For each category its count in the masked file, the estimate for the original, and the standard error."""

    attribute: Attribute
    masked: NDArray[np.int64]
    estimates: NDArray[np.float64]
    errors: NDArray[np.float64]

    def rows(self) -> Sequence[tuple[Value, int, float, float]]:
        """Value, masked frequency, estimate and standard error, in the order of the domain."""
        columns = self.masked.tolist(), self.estimates.tolist(), self.errors.tolist()
        return list(zip(self.attribute.domain, *columns, strict=True))


def corrected_frequencies(masked: Table, name: str, matrix: Any) -> CorrectedFrequencies:
    """Estimate the frequencies that column *name* had before it was masked by *matrix*, without bias.

    An estimate can be below 0; it is not cut off, since that would make it biased. With t the original frequencies, the
    masked ones are in expectation P't; the inverse undoes that. Given t, records move each by itself, so the masked
    counts vary as the sum of one multinomial a category (de Wolf and van Gelder 2004); t is replaced by its estimate
    there.
    """
    attribute = masked.attribute(name)
    if len(masked.sets[name]):
        raise InvalidInput(f"Column {name!r} holds labels that stand for sets; no transition matrix makes them.")
    counts = np.bincount(masked.columns[name], minlength=len(attribute.domain))
    transitions = stochastic(attribute, matrix)
    if np.linalg.cond(transitions) > WORST_CONDITION:
        raise NoSolution(
            f"The frequencies of {attribute.name!r} cannot be corrected: its matrix has no inverse. "
            f"Mask with a matrix that has one, as every invariant one of ours does."
        )
    inverse = np.linalg.inv(transitions.T)
    estimates = inverse @ counts
    # The spread of the masked counts: each category's probabilities times what they leave, summed over its records.
    spread = np.diag(estimates @ transitions) - (transitions.T * estimates) @ transitions
    variances = np.einsum("ij,jk,ik->i", inverse, spread, inverse, optimize=True)
    return CorrectedFrequencies(attribute, counts, estimates, np.sqrt(np.maximum(variances, 0)))
