"""Some rows of a table before and after, from a file that a job has written in the order of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from flask import request

from api.http.gate import service
from api.http.problems import HttpProblem
from api.http.routes import tables as routes
from api.pages import jobs
from api.pages.blueprint import told
from api.pages.releases.candidates import Sample
from api.pages.releases.tables import SAMPLE, paired
from api.service.access import UnknownThing


@dataclass(frozen=True)
class Preview:
    """A job that generalises a table for a look at it, and the rows once it is done."""

    #: What it writes.
    FILE: ClassVar[str] = "preview.csv"

    job: dict[str, Any]
    sample: Sample | None


def previewed(id: str | None, columns: Sequence[str]) -> Preview | None:
    """What the job with an *id* shows of some *columns*."""
    if not id:
        return None
    if {"where", "limit", "cursor", "format"} & set(request.args):
        raise HttpProblem(
            400, "Invalid input", "This page shows only the first rows; leave out cursor, limit and conditions."
        )
    job = jobs.found(id)
    if job["options"].get("out") != Preview.FILE or job["options"].get("into"):
        raise UnknownThing("No preview has this id.")
    if job["state"] != "done":
        return Preview(job, None)
    file = service().jobs.file(id, Preview.FILE)
    before, after = _before(job["options"]["file"], columns), rows_after(file, columns)
    return Preview(job, paired(columns, range(1, len(before) + 1), before, after))


def _before(name: str, columns: Sequence[str]) -> list[list[str]]:
    """The first rows of a table; that they were read is written down."""
    rows = told(routes.asked_rows, name=name)["rows"][:SAMPLE]
    return [[_text(row[column]) for column in columns] for row in rows]


def rows_after(file: Path, columns: Sequence[str]) -> list[list[str]]:
    """The first rows of what a preview has written."""
    from tabular.files.csv_tables import DialectOptions
    from tabular.files.table_files import read_file

    # Where every row has stars alone, nobody could guess that the first line is none.
    table = read_file(file, options=DialectOptions(header=True, delimiter=",")).table
    some = {name: table.values(name)[:SAMPLE] for name in columns}
    return [[_text(some[name][row]) for name in columns] for row in range(min(SAMPLE, len(table)))]


def _text(value: Any) -> str:
    return "" if value is None else str(value)
