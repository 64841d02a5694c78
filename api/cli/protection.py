"""Protecting a graph and extracting microdata."""

from __future__ import annotations

from pathlib import Path

import click

from api.cli.common import (
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
from graphpriv.dictionary import write_microdata_dictionary
from graphpriv.fingerprint import fingerprint
from graphpriv.graph import SocialGraph
from graphpriv.microdata import extraction
from graphpriv.microdata.protected import Origin, ProtectedMicrodata, protect_microdata
from graphpriv.store import Run, Store
from graphpriv.store.contract import GraphInfo, check_name, taken
from tabular.classes import class_count
from tabular.errors import InvalidParameter
from tabular.files.disk import STREAM
from tabular.protections import protections as table_protections
from tabular.release.dictionary import dictionary_path
from tabular.version import version


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
    check_name(into)
    if into == name:
        raise InvalidParameter(f"--into {into}: a release needs a name of its own; this is the original's.")
    entry = protections.protections[method]
    parameters = parameters_of(entry, params)
    with opened(store) as target, progress() as report:
        if not overwrite and any(info.name == into for info in target.graphs()):
            raise taken(into)
        report("Loading", 0, 0)
        revision = target.revision(name)
        original = target.load_graph(name)
        release = protections.protect(original, k, method=method, rng=generator(seed), report=report, **parameters)
        run = Run(
            verb="protect",
            parameters={"k": k, "method": method, **parameters},
            version=version(),
            input_hash=fingerprint(original),
        )
        report("Storing", 0, 0)
        target.save_release(name, into, release, seed=seed, run=run, overwrite=overwrite, revision=revision)
    document = {
        "graph": into,
        "release_of": name,
        "k": k,
        "method": method,
        "users": len(release.graph),
        "edges": release.graph.edge_count,
        "profiles": class_count(list(release.graph.profiles().T)),
    }
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
        report("Loading", 0, 0)
        with opened(store) as source:
            info = source.graph(name)
            graph, origin = with_origin(source, info) if method is not None else (source.load_graph(name), None)
        table: extraction.Microdata | ProtectedMicrodata
        if method is None:
            table = extraction.microdata(graph, rng=generator(seed))
            if k is not None:
                table.require(k)
            document = {"table": out, "rows": len(table), "k": table.k, "k_without_degree": table.k_without_degree}
        else:
            report("Protecting and measuring", 0, 0)
            table = protect_microdata(
                graph, method=method, k=k, parameters=parameters, origin=origin, rng=generator(seed)
            )
            document = {
                "table": out,
                "rows": len(table),
                "method": method,
                "parameters": dict(table.parameters),
                **table.findings(),
            }
        # What is known of persons as it is, and not k times, is for its owner's eyes.
        private = not info.is_release and table.k < 2
        with outputs.together():
            table.write(out_path(out), overwrite=overwrite, private=private)
            if out != STREAM:
                dictionary = write_microdata_dictionary(table, out, overwrite=overwrite, private=private)
                document["dictionary"] = str(dictionary)
    if private:
        note(f"warning: {name!r} is an original; its microdata are not protected.")
    if as_json:
        show_json(document)
    else:
        tell_of_microdata(table, out)


def with_origin(source: Store, info: GraphInfo) -> tuple[SocialGraph, Origin | None]:
    """A graph and, if it is a release, the original it was made from as long as that is there."""
    if info.original is None:
        return source.load_graph(info.name), None
    original, graph, mapping = source.load_pair(info.original, info.name)
    return graph, Origin(original, mapping)


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
