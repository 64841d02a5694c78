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
        said.line(
            f"{outcome.details['schema']} describes columns that the file lacks: {', '.join(document['absent'])}."
        )
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
        values = f"{outcome.document['values']} values of {verb.column}"
        said.line(f"Wrote {verb.out}: {values}, levels 0 to {len(levels) - 1} of {sizes} labels.")


@tells("table check")
def checked(verb: Any, outcome: Outcome, said: Said) -> None:
    """Each criterion with its value, and by column if several are sensitive."""
    document, secret = outcome.document, outcome.document["sensitive"]
    sizes = document["class_sizes"]
    title = (
        f"{document['rows']} rows, {document['suppressed']} suppressed, {document['classes']} classes of "
        f"{sizes[0][0]} to {sizes[-1][0]} rows"
    )
    shown = [each for each in outcome.details["criteria"] if secret or not each["of_values"]]
    rows = [(each["name"], _number(document[each["key"]]), each["safer"], each["summary"]) for each in shown]
    said.table(title, ["criterion", "value", "safer", "what it says"], rows)
    if len(secret) > 1:
        found = document["by_attribute"]
        lines = [
            (each["name"], *(_number(found[name][each["key"]]) for name in secret))
            for each in shown
            if each["of_values"]
        ]
        said.table("By sensitive column", ["criterion", *secret], lines)


def _number(value: float | None) -> float | str:
    return "infinite" if value is None else value


#: What the scores are.
_SCORES = {
    "information_loss": "Mean of CTBIL, DBIL and EBIL; of numbers PIL.",
    "disclosure_risk": "Mean of ID and the better linkage, DBRL or PRL; of numbers of ID and the mean linkage.",
    "score_mean": "Mean of loss and risk.",
    "score_max": "Greater of loss and risk.",
}


@tells("table measure")
def measured(verb: Any, outcome: Outcome, said: Said) -> None:
    """Each measure in percent and raw, then the scores."""
    document = outcome.document
    summaries = outcome.details["summaries"]
    rows = [(key, document[key], raw, summaries[key]) for key, raw in document["raw"].items() if raw is not None]
    kind = "numbers" if document["numeric"] else "categories"
    title = f"{document['records']} records, {len(document['columns'])} columns, read as {kind}"
    said.table(title, ["measure", "percent", "raw", "what it says"], rows)
    scores = [(key, document[key], text) for key, text in _SCORES.items() if document[key] is not None]
    if scores:
        said.table("Scores", ["score", "percent", "what it says"], scores)


@tells("table protect")
def protected(verb: Any, outcome: Outcome, said: Said) -> None:
    """The masked table, or the best of the grid."""
    (_grid if verb.grid else _masked)(verb, outcome, said)


def _masked(verb: Any, outcome: Outcome, said: Said) -> None:
    document = outcome.document
    dropped = f" Dropped: {', '.join(document['dropped'])}." if document["dropped"] else ""
    what = "standard output" if verb.out == STREAM else verb.out
    parameters = ", ".join(
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in document["parameters"].items()
    )
    said.line(
        f"Wrote {what}: {document['rows']:,} rows; {', '.join(verb.columns)} masked by {verb.method} ({parameters})."
        f"{dropped}"
    )
    suppressed = f", with {document['suppressed']} suppressed rows set aside" if document["suppressed"] else ""
    counted = f"the protected columns together have k={document['k']}{suppressed}, counted in the masked table."
    promise = (
        "T" + counted[1:] if document["promises_k"] else f"{verb.method} promises no k over all columns; {counted}"
    )
    said.line(promise)
    if verb.measure:
        said.line(
            f"Information loss {document['information_loss']:.2f} %, disclosure risk "
            f"{document['disclosure_risk']:.2f} % (greater of the two {document['score_max']:.2f}, mean "
            f"{document['score_mean']:.2f})."
        )
    if "disclosure_risk_bound" in document:
        bound = document["disclosure_risk_bound"]
        said.line(f"PRL was not solved exactly: the true risk lies within {bound:.2f} of this one.")
    for key, words in (("private", "the seed and all that leads back"), ("matrices", "the transition matrices")):
        if key in document:
            said.line(f"Wrote {document[key]}: {words}; private, keep it apart from the release.")
    if not verb.shuffle:
        said.note(ORDER_KEPT)


#: What is said of a table whose rows are in the order of its original.
ORDER_KEPT = "The rows are in the original's order, which links them with it; add --shuffle before you release."

#: So many of the best protections are shown, with the best of each method.
_SHOWN = 10


def _grid(verb: Any, outcome: Outcome, said: Said) -> None:
    document, names = outcome.document, outcome.details["names"]
    every = document["protections"]
    first = {each["method"]: place for place, each in reversed(list(enumerate(every)))}
    shown = sorted({*range(min(_SHOWN, len(every))), *first.values()})
    keys = ("information_loss", "disclosure_risk", "score_max", "score_mean")
    rows = [
        (
            place + 1,
            names[place],
            every[place]["k"],
            *(round(every[place][key], 2) for key in keys),
            "yes" if every[place]["on_front"] else "",
        )
        for place in shown
    ]
    which = "mean of loss and risk" if verb.score == "mean" else "greater of loss and risk"
    said.table(
        f"{document['file']}: {len(every)} protections of {', '.join(verb.columns)} by the {which}, in percent",
        ["place", "protection", "k", "loss", "risk", "greater", "mean", "on front"],
        rows,
    )
    if len(shown) < len(every):
        said.line(f"The best {min(_SHOWN, len(every))} and the best of each method; --json and --html have all.")
    for each in document["left_out"]:
        said.line(f"Left out: {each['method']}: {each['reason']}.".replace("..", "."))
    if verb.html not in (None, STREAM):
        said.line(f"Wrote {verb.html}: the map of risk against loss.")
    if verb.out_dir is not None:
        said.line(f"Wrote {len(every)} masked tables to {verb.out_dir}.")
        said.note("Their rows are in the original's order, which links them with it: use them for measuring only.")
