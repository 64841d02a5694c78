"""Transition matrices as CSV: a row for each original category, a column for each masked one, with their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import IO
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute, text_of
from tabular.errors import InvalidInput, InvalidRecord
from tabular.files.csv_tables import commented_rows, first_line, found_delimiter, plain, write_csv
from tabular.files.disk import read_bytes, replacing
from tabular.matrices.stochastic import stochastic

#: The first cell of the header, above the labels of the rows.
CORNER = "original"


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
            raise InvalidRecord(f"{here}: {label!r} stands twice.")
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
