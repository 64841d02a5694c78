"""What each column of a table file holds, without showing what belongs to one person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tabular.attributes import Attribute, is_number, text_of
from tabular.files.columns import CODES, NUMBERS, WHOLE
from tabular.files.table_files import TableFile
from tabular.release import distinct_columns

#: A value of fewer rows is not shown, and none of a column with more than this share of distinct values.
_ROWS, _SHARE = 3, 0.9
_LONG = 60

_NAMES = (
    (r"id|ids|nr|no|uuid|name|names|surname|lastname|firstname|handle|user|username|ssn|passport|iban", "identifier"),
    (r"e?mail|phone|telephone|mobile|address|street|url", "identifier"),
    (r"age|sex|gender|race|ethnicity|zip|zipcode|postcode|birth|birthday|birthdate|dob", "quasi-identifier"),
    (r"marital|education|occupation|job|nationality|citizenship|country|region|city|municipality", "quasi-identifier"),
    (r"disease|diagnosis|illness|treatment|religion|income|salary|wage|savings|debts?|crime", "sensitive"),
)


def described(file: TableFile) -> dict[str, Any]:
    """How a table file is written, and what each of its columns holds, as plain values."""
    return {
        "file": file.name,
        "format": "parquet" if file.dialect is None else "csv",
        "rows": len(file.table),
        "dialect": None if file.dialect is None else file.dialect.shown(),
        "unsure": list(file.unsure),
        "absent": list(file.absent),
        "columns": described_columns(file),
    }


def described_columns(file: TableFile) -> list[dict[str, Any]]:
    """What each column of a table file holds, as plain values.

    `proposed` is a role for a column without one, `doubts` are guesses to be checked.
    """
    distinct = set(distinct_columns(file.table))
    return [_described(file, attribute, attribute.name in distinct) for attribute in file.table.attributes]


def _described(file: TableFile, attribute: Attribute, is_distinct: bool) -> dict[str, Any]:
    name = attribute.name
    form, description = file.forms.get(name, ""), file.schema.attributes.get(name)
    counts = np.bincount(file.table.columns[name], minlength=len(attribute.domain))[: len(attribute.domain)]
    missing = 0
    if attribute.missing is not None:
        missing, counts = int(counts[attribute.missing]), np.delete(counts, attribute.missing)
    present, occurring = int(counts.sum()), int(np.count_nonzero(counts))
    values = [value for value in attribute.domain if value is not None]
    doubts = list(file.doubts.get(name, ()))
    shown = present > 0 and not is_distinct and occurring <= _SHARE * present
    if is_distinct:
        doubts.insert(0, "all values are distinct, so none is shown; without a role the table cannot be released")
    elif present and not shown:
        doubts.insert(0, f"{occurring} of {present} values are distinct, so none is shown")
    most = int(np.argmax(counts)) if shown and counts.max() >= _ROWS else None
    has_ends = shown and all(map(is_number, values))
    # Distinct values look like names for rows if they are texts, codes, or numbers that count them.
    is_key = is_distinct and (
        form not in (NUMBERS, WHOLE) or (form == WHOLE and values[-1] - values[0] < 2 * len(values))  # type: ignore[operator]
    )
    return {
        "name": name,
        "kind": attribute.kind,
        "role": attribute.role,
        "proposed": None if attribute.role else _proposed(name, form, present, occurring, is_key),
        "holds": form,
        "values": occurring,
        "missing": missing,
        "missing_marker": file.markers.get(name),
        "most_frequent": None if most is None else _short(text_of(values[most])),
        "most_frequent_rows": None if most is None else int(counts[most]),
        "lowest": _end(values, counts) if has_ends else None,
        "highest": _end(values[::-1], counts[::-1]) if has_ends else None,
        "title": description.title if description else "",
        "doubts": doubts,
    }


def _end(values: Sequence[Any], counts: Any) -> str | None:
    """The first value that enough rows share."""
    return next((text_of(value) for value, count in zip(values, counts, strict=True) if count >= _ROWS), None)


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def _proposed(name: str, form: str, present: int, occurring: int, looks_like_key: bool) -> str | None:
    """A role to propose, by what the column holds and by its name."""
    words = re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())
    by_name = next((role for pattern, role in _NAMES if any(re.fullmatch(pattern, word) for word in words)), None)
    if by_name == "identifier" and occurring * 2 < present:
        by_name = None
    if looks_like_key and by_name != "sensitive":
        return "identifier"
    if form not in (NUMBERS, WHOLE, CODES) and occurring > _SHARE * present:
        return by_name or "identifier"
    return by_name
