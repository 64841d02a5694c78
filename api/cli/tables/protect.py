"""`graphpriv table protect`: a masked table, written as it may be released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from api.cli.common import (
    generator,
    json_option,
    note,
    overwrite_option,
    param_option,
    parameters_of,
    refuse_two_documents,
    seed_option,
    show_json,
)
from api.cli.progress import progress
from api.cli.tables.columns import names_in, require_columns
from api.cli.tables.common import TableOptions, identifiers_option, table_options
from api.cli.tables.grid import Grid, grid_options, protect_by_grid
from api.cli.tables.outputs import Outputs
from api.cli.tables.writing import Asked, Done, announced, drawn_order, written
from tabular.errors import InvalidParameter
from tabular.files.disk import STREAM
from tabular.files.reading import TableFile
from tabular.hierarchies import read_hierarchies
from tabular.matrices import corrected_frequencies, read_matrices
from tabular.matrices.files import matrix_path
from tabular.measures import Summary, summary
from tabular.protections import protect as protect_table
from tabular.protections import protections
from tabular.protections.pram import PRAM
from tabular.release.dictionary import effective_parameters
from tabular.release.identifiers import IDENTIFIER, release_table
from tabular.release.verification import verify
from tabular.table import Table


@click.command()
@click.argument("file")
@click.option("--columns", required=True, metavar="A,B", help="The columns to protect.")
@click.option("--method", metavar="NAME", help=f"How: {', '.join(protections)}.")
@param_option
@click.option("--out", metavar="FILE", help="The masked table, CSV or Parquet by its name; - is standard output.")
@identifiers_option
@click.option(
    "--shuffle",
    is_flag=True,
    help="Put the rows in random order. The order links each row with its original, so that `table measure` can "
    "compare them and so can whoever has the original; before a release, shuffle.",
)
@click.option("--measure/--no-measure", default=True, help="Measure loss and risk; of large tables it takes longer.")
@click.option(
    "--private",
    metavar="FILE",
    help="Keep, as JSON for the owner's eyes alone, what leads back: seed, matrices and, if shuffled, the order.",
)
@click.option(
    "--matrices-out",
    metavar="DIR",
    help="The matrices of pram, a CSV each. Private: they belong with what leads back, not with the release.",
)
@click.option(
    "--frequencies",
    metavar="FILE",
    help="After pram: the frequencies of the original, estimated without bias, with standard errors, as CSV.",
)
@grid_options
@overwrite_option
@table_options
@seed_option
@json_option
def protect(
    file: str,
    columns: str,
    method: str | None,
    params: tuple[str, ...],
    out: str | None,
    reading: TableOptions,
    as_json: bool,
    grid: bool,
    html: str | None,
    out_dir: str | None,
    score: str,
    **options: Any,
) -> None:
    """Mask columns of a table and write it as it may be released, with a data dictionary beside it.

    Columns that are identifiers are dropped; while all values of a column are distinct and nobody has said what it is,
    nothing is written. With --grid many protections are tried and measured side by side, and none is chosen for you.

    What a method takes by --param and what it promises stands under `graphpriv methods`.
    """
    names = names_in("--columns", columns)
    if grid:
        refuse_options(
            "--grid", method=method, out=out, param=params, **{
                name: options[name] for name in ("shuffle", "private", "matrices_out", "frequencies")
            }
        )  # fmt: skip
        asked = Grid(
            file=file,
            columns=names,
            html=html,
            out_dir=out_dir,
            score=score,
            **{name: options[name] for name in ("seed", "identifiers", "overwrite")},
        )
        protect_by_grid(asked, reading, as_json=as_json)
        return
    if method is None or out is None:
        raise InvalidParameter("Give --method and --out, or --grid to try many protections.")
    refuse_options("--method", html=html, out_dir=out_dir)
    refuse_two_documents(as_json, out=out)
    protect_by_method(
        Asked(file=file, out=out, columns=names, method=method, params=params, **options), reading, as_json=as_json
    )


def refuse_options(beside: str, **options: object) -> None:
    """Refuse options that say nothing *beside* another one."""
    for name, value in options.items():
        if value:
            raise InvalidParameter(f"--{name.replace('_', '-')} says nothing beside {beside}.")


def protect_by_method(asked: Asked, reading: TableOptions, *, as_json: bool) -> None:
    """Protect, measure and write, and say what came of it."""
    entry = protections[asked.method]
    parameters = parameters_of(entry, asked.params)
    outputs = Outputs(overwrite=asked.overwrite)
    announced(outputs, asked)
    for path in (asked.file, reading.schema.source, *(parameters.get(name) for name in ("matrix", "hierarchies"))):
        outputs.read_from(path)
    with progress() as report:
        report("Reading", 0, 0)
        source = reading.read(asked.file)
        require_columns(source.table, asked.columns, asked.file)
        if asked.matrices_out is not None:
            outputs.announce_folder(asked.matrices_out)
            for name in asked.columns:
                outputs.announce("--matrices-out", matrix_path(asked.matrices_out, source.table.attribute(name)))
        report("Protecting", 0, 0)
        done = done_by(asked, source, parameters, report)
        report("Writing", 0, 0)
        with outputs.together():
            document = written(asked, done)
    if as_json:
        show_json(document)
    else:
        tell(asked, document)


def done_by(asked: Asked, source: TableFile, parameters: Mapping[str, Any], report: Any) -> Done:
    """The masked table, checked and measured; nothing is written yet."""
    table, names = source.table, asked.columns
    refuse_identifiers(table, names)
    whole = with_files(parameters, table, names)
    protection = protections[asked.method].method(**whole)
    if (asked.matrices_out or asked.frequencies) and not isinstance(protection, PRAM):
        raise InvalidParameter(f"--matrices-out and --frequencies are for pram; {asked.method} has no matrices.")
    rng = generator(asked.seed)
    masked = protect_table(table, asked.method, names, rng=rng, **whole)
    release_table(masked, identifiers=asked.identifiers)
    counted = verify(masked, protection, names)
    matrices = protection.matrices(table, names) if isinstance(protection, PRAM) else {}
    frequencies = (
        [corrected_frequencies(masked, name, matrices[name]) for name in names] if asked.frequencies is not None else []
    )
    findings: dict[str, Any] = {
        # Over blocks of columns a k says nothing of all of them together.
        "promises_k": protection.k_holds_over(names) == (tuple(names),),
        "k": counted.k,
        "suppressed": counted.suppressed,
    }
    if asked.measure:
        report("Measuring", 0, 0)
        findings |= scores(summary(table, masked, names))
    return Done(
        source=source,
        masked=masked,
        parameters=effective_parameters(protection, parameters),
        findings=findings,
        matrices=matrices,
        frequencies=frequencies,
        order=drawn_order(rng, len(table)) if asked.shuffle else None,
    )


def with_files(parameters: Mapping[str, Any], table: Table, names: Sequence[str]) -> dict[str, Any]:
    """The *parameters* with the files read that some of them name."""
    whole = dict(parameters)
    if "matrix" in whole:
        whole["matrix"] = read_matrices(whole["matrix"], [table.attribute(name) for name in names])
    if "hierarchies" in whole:
        whole["hierarchies"] = read_hierarchies(whole["hierarchies"], table, names)
    return whole


def refuse_identifiers(table: Table, names: Sequence[str]) -> None:
    """Refuse to protect columns that are dropped or starred anyway."""
    for name in names:
        if table.attribute(name).role == IDENTIFIER:
            raise InvalidParameter(
                f"--columns: {name!r} is an identifier; it is dropped or starred, and not protected."
            )


def scores(found: Summary) -> dict[str, Any]:
    """Loss and risk in percent, and both scores."""
    names = ("information_loss", "disclosure_risk", "score_mean", "score_max")
    bound = found.disclosure_risk_bound
    return {name: getattr(found, name) for name in names} | ({"disclosure_risk_bound": bound} if bound else {})


def tell(asked: Asked, document: Mapping[str, Any]) -> None:
    """Say what came of it; on standard error where the table itself is on standard output."""
    say = note if asked.out == STREAM else click.echo
    dropped = f" Dropped: {', '.join(document['dropped'])}." if document["dropped"] else ""
    what = "standard output" if asked.out == STREAM else asked.out
    parameters = ", ".join(
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in document["parameters"].items()
    )
    say(
        f"Wrote {what}: {document['rows']:,} rows; {', '.join(asked.columns)} masked by {asked.method} "
        f"({parameters}).{dropped}"
    )
    say(about_k(asked.method, document))
    if asked.measure:
        say(
            f"Information loss {document['information_loss']:.2f} %, disclosure risk "
            f"{document['disclosure_risk']:.2f} % (greater of the two {document['score_max']:.2f}, mean "
            f"{document['score_mean']:.2f})."
        )
    if "disclosure_risk_bound" in document:
        say(
            f"PRL was not solved exactly: the risk lies within {document['disclosure_risk_bound']:.2f} of what is said."
        )
    for key, words in (("private", "seed and all that leads back"), ("matrices", "transition matrices")):
        if key in document:
            say(f"Wrote {document[key]}: {words}; private, keep it apart from the release.")
    if not asked.shuffle:
        note("Rows stand in the order of the original, which links them with it; before a release give --shuffle.")


def about_k(method: str, document: Mapping[str, Any]) -> str:
    """What is to be said of the k of the protected columns."""
    suppressed = f", {document['suppressed']} suppressed rows set aside" if document["suppressed"] else ""
    held = f"the protected columns together have k={document['k']}{suppressed}, counted in the masked table."
    return held[0].upper() + held[1:] if document["promises_k"] else f"{method} promises no k over all columns; {held}"
