"""Protecting a graph and extracting microdata."""

from __future__ import annotations

from pathlib import Path

import click

from api.cli.common import (
    dictionary_text,
    generator,
    json_option,
    note,
    opened,
    out_path,
    overwrite_option,
    param_option,
    parameters_of,
    refuse_two_documents,
    seed_option,
    show_json,
    store_option,
)
from api.cli.progress import progress
from api.cli.tables.outputs import Outputs
from graphpriv import protections
from graphpriv.dictionary import microdata_dictionary
from graphpriv.microdata import extraction
from graphpriv.microdata.protected import ProtectedMicrodata
from graphpriv.stored import check_release_name, keep_release, take_microdata
from tabular.errors import InvalidParameter
from tabular.files.disk import STREAM, replacing, write_text
from tabular.protections import protections as table_protections
from tabular.release.dictionary import dictionary_path


@click.command()
@click.argument("name")
@click.option("--k", required=True, type=int, help="Each released profile occurs at least K times.")
@click.option("--into", required=True, metavar="NAME", help="What the release is called in the store.")
@click.option(
    "--method",
    type=click.Choice(list(protections.protections)),
    default=protections.DEFAULT,
    show_default=True,
    help="How the users are put together.",
)
@param_option
@overwrite_option
@store_option
@seed_option
@json_option
def protect(
    name: str,
    k: int,
    into: str,
    method: str,
    params: tuple[str, ...],
    overwrite: bool,
    store: str,
    seed: int,
    as_json: bool,
) -> None:
    """Release a graph with k-anonymous profiles, checked before it is written."""
    at_least_two(k)
    check_release_name(into, name)
    entry = protections.protections[method]
    parameters = parameters_of(entry, params)
    with opened(store) as target, progress() as report:
        kept = keep_release(
            target, name, into, k, method=method, parameters=parameters, seed=seed, overwrite=overwrite, report=report
        )
    document = kept.document
    if as_json:
        show_json(document)
        return
    click.echo(
        f"{into}: {document['users']} users, {document['edges']} edges, {document['profiles']} distinct profiles, "
        f"each at least {k} times. Checked: edges kept, ids fresh, order shuffled, nothing else of the original."
    )
    note(f"The edges are as they were; see what can still be found: graphpriv audit {name} {into}")


@click.command()
@click.argument("name")
@click.option("--out", required=True, metavar="FILE", help="The CSV; - is standard output.")
@click.option("--k", type=int, help="Write only a table in which each row occurs at least K times.")
@click.option(
    "--method",
    metavar="NAME",
    help=f"Mask the table, so that k holds with the degree, too: {', '.join(table_protections)}.",
)
@param_option
@overwrite_option
@store_option
@seed_option
@json_option
def microdata(
    name: str,
    out: str,
    k: int | None,
    method: str | None,
    params: tuple[str, ...],
    overwrite: bool,
    store: str,
    seed: int,
    as_json: bool,
) -> None:
    """Write degree, location and topics of each user as a table, and say which k it has.

    The degree breaks the k of the graph: the k of the table is counted with it. Without --method the table is as the
    graph has it; with one it is masked, and measured against the original where that is known. Rows stand in random
    order.
    """
    if k is not None:
        at_least_two(k)
    refuse_two_documents(as_json, out=out)
    outputs = Outputs(overwrite=overwrite, store=store)
    outputs.announce("--out", out)
    if out != STREAM:
        if Path(out).suffix.lower() not in (".csv", ".txt", ""):
            raise InvalidParameter(f"--out {out}: microdata are written as CSV; let the name end in .csv.")
        outputs.announce("the data dictionary", dictionary_path(out))
    if method is None and params:
        raise InvalidParameter("--param is for a method; say which by --method.")
    parameters = parameters_of(table_protections[method], params) if method is not None else {}
    if k is None and parameters.get("k") is not None:
        at_least_two(parameters["k"])
    with progress() as report:
        with opened(store) as source:
            taken = take_microdata(
                source, name, k=k, method=method, parameters=parameters, rng=generator(seed), report=report
            )
        table, private = taken.table, taken.is_private
        document = {"table": out, **table.document}
        with outputs.together():
            with replacing(out_path(out), overwrite=overwrite, private=private) as file:
                table.write(file)
            if out != STREAM:
                beside = dictionary_path(out)
                text = dictionary_text(microdata_dictionary(table))
                write_text(beside, text, overwrite=overwrite, private=private)
                document["dictionary"] = str(beside)
    for each in taken.notes:
        note(f"warning: {each}")
    if as_json:
        show_json(document)
    else:
        tell_of_microdata(table, out)


def tell_of_microdata(table: extraction.Microdata | ProtectedMicrodata, out: str) -> None:
    """Say what was written; on standard error where the table itself is on standard output."""
    say = note if out == STREAM else click.echo
    if out != STREAM:
        say(f"Wrote {out}: {len(table)} rows.")
    if isinstance(table, extraction.Microdata):
        if out != STREAM:
            say(f"The table is {table.k}-anonymous with the degree, {table.k_without_degree}-anonymous without it.")
        return
    suppressed = f", {table.counted.suppressed} suppressed rows set aside" if table.counted.suppressed else ""
    said = f"the table is {table.k}-anonymous with the degree{suppressed}, counted in the masked table."
    say(said[0].upper() + said[1:] if table.promises_k else f"{table.method} promises no k over all columns; {said}")
    found = table.summary
    say(
        f"Against {table.measured_against}: information loss {found.information_loss:.2f} %, disclosure risk "
        f"{found.disclosure_risk:.2f} % (greater of the two {found.score_max:.2f}, mean {found.score_mean:.2f})."
    )


def at_least_two(k: int) -> None:
    """Refuse a k that protects nobody."""
    if k < 2:
        raise InvalidParameter(f"--k must be at least 2, not {k}.")
