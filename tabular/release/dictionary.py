"""The data dictionary of a masked table: what its columns hold, what was done to them, and what is not protected.

It is made from the released table alone, so it holds no value that the release lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tabular.attributes import Attribute
from tabular.labels import text_of, write_label
from tabular.registry import Method
from tabular.table import Table

#: Values are listed only up to this number.
MOST_VALUES = 200

SUFFIX = ".dictionary.json"

ORDER_KEPT = "Rows stand in the order of the original: whoever has that file can match them."
#: The same as this version says it, and as version 0.1.0 did.
ORDERS_KEPT = (
    ORDER_KEPT,
    "Rows stand in the order of the original: who has that file knows which row is whose.",
)
ORDER_DRAWN = "Rows stand in random order."
VALUES_SHARED = (
    "Rows that agree in the protected columns may share a value in another column, too: whoever knows that a person is "
    "among them learns it."
)
OTHERS_STAY = "The other columns are unchanged: whoever knows their values for a person may find that person."
NO_K = "The method promises no k: a row may describe one person alone."
LABELS = "A label such as [a,b], {a|b} or * stands for all values it covers."
LABELS_OF_HIERARCHIES = (
    "A label comes from a hierarchy and stands for all values below it there, whether they occur or not; * stands for "
    "any value."
)


def dictionary_path(out: str | Path) -> Path:
    """The path of the data dictionary: beside the file *out*."""
    # The whole name: a graph and a table of it may differ by their endings only.
    return Path(f"{out}{SUFFIX}")


def table_dictionary(
    table: Table,
    protected: Sequence[str],
    *,
    method: str,
    parameters: Mapping[str, Any],
    findings: Mapping[str, Any],
    shuffled: bool,
    titles: Mapping[str, str],
    labels: str = LABELS,
) -> dict[str, Any]:
    """The dictionary of a *table* as it is released; *findings* are its k and measures."""
    k, suppressed = findings["k"], findings["suppressed"]
    others = [name for name in table.names if name not in protected]
    said = f"Each combination of the protected columns occurs in at least {k} rows"
    said += f", except for {suppressed} suppressed ones." if suppressed else "."
    return {
        "describes": "protected table",
        "rows": len(table),
        "protected_columns": list(protected),
        "method": method,
        "parameters": dict(parameters),
        **findings,
        "order": ORDER_DRAWN if shuffled else ORDER_KEPT,
        "protected": said if k > 1 else "Values were changed; a combination of the protected columns can stand alone.",
        "not_protected": [
            *([] if findings["promises_k"] else [NO_K]),
            *([] if shuffled else [ORDER_KEPT]),
            *([OTHERS_STAY] if others else []),
            *([VALUES_SHARED] if others else []),
        ],
        "labels": labels,
        "fields": [_field(table, each, each.name in protected, titles.get(each.name, "")) for each in table.attributes],
    }


def effective_parameters(method: Method, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters in effect; matrices and paths only as "given".

    A matrix leads back to the original, and paths are private to the house.
    """
    values = {each.name: getattr(method, each.name) for each in fields(method)}
    plain = {name: value for name, value in values.items() if isinstance(value, str | bool | int | float)}
    return plain | {name: "given" for name in given if name not in plain}


def _field(table: Table, attribute: Attribute, is_protected: bool, title: str) -> dict[str, Any]:
    codes, counts = np.unique(table.columns[attribute.name], return_counts=True)
    words = [*attribute.domain, *(write_label(attribute, members) for members in table.sets[attribute.name])]
    found = [(words[code], count) for code, count in zip(codes.tolist(), counts.tolist(), strict=True)]
    present = [(value, count) for value, count in found if value is not None]
    field: dict[str, Any] = {
        "name": attribute.name,
        "meaning": title,
        "kind": attribute.kind,
        "role": attribute.role,
        "protected": is_protected,
        "distinct_values": len(present),
        "missing": sum(count for value, count in found if value is None),
    }
    if len(present) <= MOST_VALUES:
        field["values"] = [{"value": text_of(value), "count": count} for value, count in present]
    return field
