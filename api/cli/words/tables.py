"""Words for the verbs on tables, but for the search."""

from __future__ import annotations

from typing import Any

from api.cli.words import Said, tells
from api.verbs.contract import STREAM, Outcome

_COLUMNS = ["name", "kind", "role", "holds", "values", "missing", "most frequent", "range (3+ rows)"]


@tells("table describe")
def described(verb: Any, outcome: Outcome, said: Said) -> None:
    """How the file is written, a line a column, and what is a guess."""
    document = outcome.document
    columns = document["columns"]
    size = f"{document['rows']} rows, {len(columns)} columns"
    dialect = document["dialect"]
    if dialect is None:
        said.line(f"{document['file']}: Parquet, {size}.")
    else:
        spaced = " and a space" if dialect["space_after_delimiter"] else ""
        header = "a header" if dialect["header"] else "no header"
        decimal = ", decimal comma" if dialect["decimal"] == "," else ""
        said.line(
            f"{document['file']}: CSV, {size}; cells parted by {dialect['delimiter']}{spaced}, quotes "
            f"{dialect['quote']}, {dialect['encoding']}, lines end in {dialect['line_end']}, {header}{decimal}."
        )
    said.table("Columns", _COLUMNS, [_column(each) for each in columns])
    doubts: dict[str, list[str]] = {}
    for column in columns:
        for doubt in column["doubts"]:
            doubts.setdefault(doubt, []).append(column["name"])
    for doubt, names in doubts.items():
        said.line(f"{', '.join(names)}: {doubt}.")
    if document["absent"]:
        said.line(f"{outcome.details['schema']} describes columns that the file lacks: {', '.join(document['absent'])}.")
    if any(column["proposed"] for column in columns):
        said.note("A role with ? is a proposal; set it by --role NAME=ROLE or in a schema.")


def _column(column: dict[str, Any]) -> list[object]:
    proposed = f"{column['proposed']}?" if column["proposed"] else "-"
    missing = f"{column['missing']} ({column['missing_marker'] or 'empty'})" if column["missing"] else "0"
    frequent = column["most_frequent"]
    return [
        column["name"],
        column["kind"],
        column["role"] or proposed,
        column["holds"],
        column["values"],
        missing,
        "-" if frequent is None else f"{frequent} ({column['most_frequent_rows']})",
        "-" if column["lowest"] is None else f"{column['lowest']} to {column['highest']}",
    ]


@tells("table hierarchy")
def built(verb: Any, outcome: Outcome, said: Said) -> None:
    """Where the hierarchy is, and how many labels each level has."""
    if verb.out != STREAM:
        levels = outcome.document["levels"]
        sizes = " > ".join(str(each["labels"]) for each in levels)
        values = outcome.document["values"]
        said.line(f"Wrote {verb.out}: {values} values of {verb.column}, levels 0 to {len(levels) - 1} of {sizes} labels.")
