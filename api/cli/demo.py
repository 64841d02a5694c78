"""The whole chain on a synthetic graph."""

from __future__ import annotations

from pathlib import Path

import click

from api.cli.audits import print_audit
from api.cli.common import json_option, overwrite_option, seed_option, show_json
from api.cli.progress import progress
from api.cli.protection import at_least_two
from graphpriv.demonstration import FILES, PRIVATE, demonstrate
from graphpriv.protections import check_k
from graphpriv.store import open_store
from tabular.errors import NameTaken
from tabular.files.disk import failure, replacing


@click.command()
@click.option("--out", default="graphpriv-demo", show_default=True, metavar="DIR", help="Where the files go.")
@click.option("--users", default=1638, show_default=True, type=click.IntRange(min=2), help="How many users.")
@click.option("--follows", type=click.IntRange(min=1), help="How many follows; default about 2.8 a user.")
@click.option("--k", default=5, show_default=True, type=int, help="Each released profile occurs at least K times.")
@overwrite_option
@seed_option
@json_option
def demo(out: str, users: int, follows: int | None, k: int, overwrite: bool, seed: int, as_json: bool) -> None:
    """Make a synthetic follow graph, protect, audit and release it: the whole chain, offline.

    Everything printed can be recomputed from the files that are left in DIR. The store demo.db keeps the seed with the
    mapping: `graphpriv protect original --seed` with it gives the same release again, and `graphpriv demo --seed` all
    of the demo.
    """
    at_least_two(k)
    check_k(k, users)
    folder = Path(out)
    _check(folder, overwrite=overwrite)
    with progress() as report:
        found = demonstrate(users, follows, k=k, seed=seed, report=report)
        report("Writing", 0, 0)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise failure(error, folder) from None
        with open_store(f"file:{folder / FILES['store']}", create=True) as store:
            found.keep(store)
        for name, write in found.writers().items():
            with replacing(folder / FILES[name], private=name in PRIVATE) as file:
                write(file)
    document, table = found.audit.document, found.microdata.document
    if as_json:
        files = {name: str(folder / file) for name, file in FILES.items()}
        show_json({"files": files, "microdata": table, "audit": document})
        return
    print_audit(document)
    click.echo(f"Microdata: {table['rows']} rows, {table['k']}-anonymous with the degree, ", nl=False)
    click.echo(f"{table['k_without_degree']}-anonymous without it.")
    click.echo(f"The report: {folder / FILES['report']}; beside it the graph files, the mapping and the store.")
    click.echo(
        f"Recompute: graphpriv audit --files {folder / FILES['original']} {folder / FILES['released']} "
        f"--mapping {folder / FILES['mapping']}"
    )


def _check(folder: Path, *, overwrite: bool) -> None:
    """Files of an earlier demo are replaced, others only if that was asked for."""
    there = [name for name in FILES.values() if (folder / name).exists()]
    if there and not overwrite and not (folder / FILES["store"]).exists():
        raise NameTaken(f"{folder / there[0]}: the file exists and is not of an earlier demo; give --overwrite.")
