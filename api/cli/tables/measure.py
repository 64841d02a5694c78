"""`graphpriv table measure`: all measures of a masked file against its original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from api import fail_if as conditions
from api.cli.common import json_option, note, parameters_of, show_json, show_table
from api.cli.tables.columns import names_in, require_columns
from api.cli.tables.common import TableOptions, table_options
from tabular.errors import InvalidInput, InvalidParameter
from tabular.files.disk import STREAM
from tabular.files.reading import read_masked
from tabular.matrices.files import read_matrices
from tabular.measures import Summary, measures, summary
from tabular.table import Table

#: What the scores are, as the table of results says it.
SCORES = {
    "information_loss": "Mean of CTBIL, DBIL and EBIL; of numbers PIL.",
    "disclosure_risk": "Mean of ID and the better linkage, DBRL or PRL; of numbers of ID and the mean linkage.",
    "score_mean": "Mean of loss and risk.",
    "score_max": "Greater of loss and risk.",
}

#: The measures that transition matrices tell more than the two files do.
BY_MATRICES = ("ebil", "informed")


@click.command()
@click.argument("original")
@click.argument("masked")
@click.option("--columns", required=True, metavar="A,B", help="The protected columns to compare.")
@click.option("--matrices", metavar="DIR", help="The PRAM matrices the file was masked with, for EBIL and `informed`.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="MEASURE.KEY=VALUE",
    help="A parameter of a measure, such as rsrl.percent=10; may be given again.",
)
@click.option("--without", multiple=True, metavar="MEASURE", help="Leave a measure out; may be given again.")
@click.option("--fail-if", metavar="EXPR", help="Exit with 4 if it holds: 'score_max > 40 or raw.dbrl > 100'.")
@table_options
@json_option
def measure(
    original: str,
    masked: str,
    columns: str,
    matrices: str | None,
    params: tuple[str, ...],
    without: tuple[str, ...],
    fail_if: str | None,
    reading: TableOptions,
    as_json: bool,
) -> int:
    """Measure what MASKED lost of ORIGINAL and what it still discloses; row i of both is the same record."""
    names = names_in("--columns", columns)
    if fail_if is not None:
        conditions.check_names(fail_if, {"records": 0, **Summary(readings={}).document()})
    if original == masked == STREAM:
        raise InvalidParameter("ORIGINAL and MASKED cannot both come from standard input.")
    parameters = parameters_by_measure(params)
    before, after = both_files(original, masked, names, reading)
    if matrices is not None:
        known = read_matrices(Path(matrices), [before.attribute(name) for name in names])
        for name in BY_MATRICES:
            parameters.setdefault(name, {})["matrices"] = known
    found = summary(before, after, names, without=without, parameters=parameters)
    document = {"records": len(before), "columns": list(names), **found.document()}
    if as_json:
        show_json(document)
    else:
        _show(document)
    bound = document["bounds"]["prl"]
    if bound:
        note(
            f"PRL was not solved exactly: it is at most {document['prl']:.2f} %, and the disclosure risk within "
            f"{document['bounds']['disclosure_risk']:.2f} of what is given."
        )
    return 4 if fail_if is not None and conditions.holds(fail_if, document) else 0


def both_files(original: str, masked: str, names: Sequence[str], reading: TableOptions) -> tuple[Table, Table]:
    """Both tables, in the domains of the original; what the options say of its file holds of that alone."""
    before = reading.read(original).table
    require_columns(before, names, original)
    # How the masked file is written is found out anew; where the names of its columns come from is not.
    after = read_masked(masked, before, names=names, schema=reading.schema)
    if len(before) != len(after):
        raise InvalidInput(
            f"{masked}: it has {len(after)} rows, {original} has {len(before)}; row i of both is the same record."
        )
    return before, after


def parameters_by_measure(params: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The `--param` texts by measure."""
    texts: dict[str, list[str]] = {}
    for text in params:
        name, dot, rest = text.partition(".")
        if not dot:
            raise InvalidParameter(f"--param {text!r}: write MEASURE.KEY=VALUE, such as rsrl.percent=10.")
        texts.setdefault(measures[name.strip()].name, []).append(rest)
    return {name: parameters_of(measures[name], given) for name, given in texts.items()}


def _show(document: Mapping[str, Any]) -> None:
    numeric = document["numeric"]
    rows: list[tuple[object, ...]] = []
    for key, raw in document["raw"].items():
        entry = f"{key}-numbers" if numeric and f"{key}-numbers" in measures else key
        if raw is not None:
            rows.append((key, document[key], raw, measures[entry].summary))
    title = f"{document['records']} records, {len(document['columns'])} columns, read as "
    show_table(title + ("numbers" if numeric else "categories"), ("measure", "percent", "raw", "what it says"), rows)
    scores = [(key, document[key], says) for key, says in SCORES.items() if document[key] is not None]
    if scores:
        show_table("Scores", ("score", "percent", "what it says"), scores)
