"""The whole chain on a synthetic graph."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from api.cli.audits import print_audit
from api.cli.common import generator, json_option, overwrite_option, seed_option, show_json
from api.cli.progress import progress
from api.cli.protection import at_least_two
from graphpriv.auditing import audit
from graphpriv.dictionary import write_dictionary, write_microdata_dictionary
from graphpriv.fingerprint import fingerprint
from graphpriv.formats import write_graph
from graphpriv.graph import SocialGraph
from graphpriv.mapping import write_mapping
from graphpriv.microdata.extraction import microdata
from graphpriv.protections import check_k, protect
from graphpriv.release import Release
from graphpriv.report import demo_report
from graphpriv.report.drawing import draw, shares
from graphpriv.store import Run, open_store
from graphpriv.structure import describe
from graphpriv.synthetic.graphs import synthetic_graph
from tabular.errors import NameTaken
from tabular.files.disk import failure, write_text
from tabular.version import version

FILES = {
    "store": "demo.db",
    "original": "original.json",
    "released": "released.json",
    "dictionary": "released.json.dictionary.json",
    "mapping": "mapping.csv",
    "microdata": "microdata.csv",
    "microdata dictionary": "microdata.csv.dictionary.json",
    "audit": "audit.json",
    "report": "report.html",
}


@dataclass(frozen=True)
class Chain:
    """What the demo made, on its way into files."""

    original: SocialGraph
    release: Release
    document: dict[str, Any]
    facts: dict[str, Any]


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
    drawing, extracting = generator(seed).spawn(2)
    with progress() as report:
        report(f"Drawing {users:,} users", 0, 0)
        original = synthetic_graph(users, follows, rng=drawing)
        # From the seed itself: `graphpriv protect --seed` with what the store keeps draws the same release.
        release = protect(original, k, rng=generator(seed), report=report)
        document = audit(original, release.graph, release.mapping, report=report).document
        report("Describing", 0, 0)
        facts = describe(original, rng=np.random.default_rng(0))
        report("Writing", 0, 0)
        table = _write(folder, Chain(original, release, document, facts), seed, extracting)
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


def _write(folder: Path, chain: Chain, seed: int, rng: np.random.Generator) -> dict[str, int]:
    """Keep all of it in the store and as files; the counts of the microdata come back."""
    original, release = chain.original, chain.release
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise failure(error, folder) from None
    run = Run(
        verb="protect",
        parameters={"k": release.k, "method": release.method, **release.parameters},
        version=version(),
        input_hash=fingerprint(original),
    )
    with open_store(f"file:{folder / FILES['store']}", create=True) as store:
        store.save_graph("original", original, overwrite=True)
        store.save_release("original", "released", release, seed=seed, run=run, overwrite=True)
        info = store.graph("released")
    write_graph(original, folder / FILES["original"], overwrite=True, private=True)
    write_graph(release.graph, folder / FILES["released"], overwrite=True)
    write_dictionary(release.graph, info, folder / FILES["released"], overwrite=True)
    mapping = folder / FILES["mapping"]
    write_mapping(mapping, original.ids, release.graph.ids, release.mapping, overwrite=True)
    table = microdata(release.graph, rng=rng)
    table.write(folder / FILES["microdata"], overwrite=True)
    write_microdata_dictionary(table, folder / FILES["microdata"], overwrite=True)
    text = json.dumps(chain.document, ensure_ascii=False, indent=2, allow_nan=False)
    write_text(folder / FILES["audit"], f"{text}\n", private=True)
    drawings = draw(original, release.graph, release.mapping)
    degree = chain.facts["degree"]
    facts = {**chain.facts, "degree": degree["mean"], "largest_degree": degree["largest"]}
    spread = {
        "first topic": shares(original, release.graph, "topic1"),
        "continent": shares(original, release.graph, "continent"),
    }
    html = demo_report(chain.document, graph_facts=facts, drawings=drawings, files=FILES, shares=spread)
    write_text(folder / FILES["report"], html, private=True)
    return {"rows": len(table), "k": table.k, "k_without_degree": table.k_without_degree}
