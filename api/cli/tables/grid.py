"""`graphpriv table protect --grid`: many protections of one table, measured side by side."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from api.cli.common import generator, note, out_path, refuse_two_documents, show_json, show_table
from api.cli.progress import progress
from api.cli.tables.columns import require_columns
from api.cli.tables.common import TableOptions, write_release
from api.cli.tables.outputs import Outputs
from tabular.files.disk import write_text
from tabular.files.reading import TableFile
from tabular.grid import SCORES, Member, run_grid, thesis_grid
from tabular.release.fingerprint import fingerprint_of_table
from tabular.report import risk_loss_report
from tabular.table import Table
from tabular.version import version

F = TypeVar("F", bound=Callable[..., Any])

#: So many of the best are shown, beside the best of each method; all are in the JSON and in the report.
SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class Grid:
    """What the options of a grid ask for."""

    file: str
    columns: tuple[str, ...]
    html: str | None
    out_dir: str | None
    score: str
    seed: int
    identifiers: str
    overwrite: bool


def grid_options(command: F) -> F:
    """Add `--grid` and what goes with it."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option(
        "--grid",
        is_flag=True,
        help="Try the thesis's grid, about a hundred protections, and measure each: a table by score.",
    ),
    click.option("--html", metavar="FILE", help="With --grid: the map of risk against loss, and all figures."),
    click.option("--out-dir", metavar="DIR", help="With --grid: each masked table, in the order of the original."),
    click.option(
        "--score",
        type=click.Choice(SCORES),
        default=SCORES[0],
        show_default=True,
        help="With --grid: sort by the greater of loss and risk, or by their mean.",
    ),
)


def protect_by_grid(asked: Grid, reading: TableOptions, *, as_json: bool) -> None:
    """Try the grid, write what was asked for, and show the best."""
    outputs = Outputs(overwrite=asked.overwrite)
    outputs.announce("--html", asked.html)
    refuse_two_documents(as_json, html=asked.html)
    with progress() as report:
        report("Reading", 0, 0)
        source = reading.read(asked.file)
        require_columns(source.table, asked.columns, asked.file)
        files = file_names(source, asked)
        if asked.out_dir is not None:
            outputs.announce_folder(asked.out_dir)
            for path in files.values():
                outputs.announce("--out-dir", path)
        outputs.read_from(asked.file)
        outputs.read_from(reading.schema.source)
        with outputs.together():

            def keep(member: Member, masked: Table) -> None:
                if asked.out_dir is not None:
                    Path(asked.out_dir).mkdir(exist_ok=True)
                    write_release(
                        masked,
                        str(files[member.name]),
                        like=source,
                        identifiers=asked.identifiers,
                        overwrite=asked.overwrite,
                    )

            found = run_grid(source.table, asked.columns, rng=generator(asked.seed), report=report, keep=keep)
            document = {**about(asked, source), **found.document(asked.score)}
            if asked.html is not None:
                write_text(out_path(asked.html), risk_loss_report(document), overwrite=asked.overwrite)
    if as_json:
        show_json(document)
    else:
        tell(asked, document)


def about(asked: Grid, source: TableFile) -> dict[str, Any]:
    """What was tried on what."""
    table = source.table
    return {
        "version": version(),
        "inputs": {"original": fingerprint_of_table(table)},
        "file": Path(source.name).name,
        "rows": len(table),
        "columns": [
            {"name": name, "kind": table.attribute(name).kind, "categories": len(table.attribute(name).domain)}
            for name in asked.columns
        ],
    }


def file_names(source: TableFile, asked: Grid) -> Mapping[str, Path]:
    """Where each protection of the grid goes, by its name."""
    if asked.out_dir is None:
        return {}
    ending = ".parquet" if source.dialect is None else ".csv"
    members, _ = thesis_grid(source.table, asked.columns)
    return {each.name: Path(asked.out_dir) / (re.sub(r"[ =,]+", "-", each.name) + ending) for each in members}


def tell(asked: Grid, document: Mapping[str, Any]) -> None:
    """The best by score, the best of each method, and what was left out."""
    every = document["protections"]
    first = {each["method"]: place for place, each in reversed(list(enumerate(every)))}
    shown = sorted({*range(min(SHOWN, len(every))), *first.values()})
    rows = [
        (
            place + 1,
            name_of(every[place]),
            every[place]["k"],
            *(
                round(every[place][key], 2)
                for key in ("information_loss", "disclosure_risk", "score_max", "score_mean")
            ),
            "yes" if every[place]["on_front"] else "",
        )
        for place in shown
    ]
    which = "the greater of loss and risk" if asked.score == "max" else "the mean of loss and risk"
    show_table(
        f"{document['file']}: {len(every)} protections of {', '.join(asked.columns)} by {which}, in percent",
        ["place", "protection", "k", "loss", "risk", "greater", "mean", "on front"],
        rows,
    )
    if len(shown) < len(every):
        click.echo(f"The best {min(SHOWN, len(every))} and the best of each method; --json and --html have all.")
    for each in document["left_out"]:
        click.echo(f"Left out: {each['method']}: {each['reason']}.".replace("..", "."))
    if asked.html is not None and asked.html != "-":
        click.echo(f"Wrote {asked.html}: the map of risk against loss.")
    if asked.out_dir is not None:
        click.echo(f"Wrote {len(every)} masked tables to {asked.out_dir}.")
        note("Their rows stand in the order of the original, which links them with it: they are for measuring.")


def name_of(protection: Mapping[str, Any]) -> str:
    """A protection of the document in words."""
    return Member(method=protection["method"], parameters=protection["parameters"]).name
