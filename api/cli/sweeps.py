"""Sweeping over k."""

from __future__ import annotations

from typing import Any

import click

from api.cli.audits import (
    attacker_option,
    attackers_named,
    html_option,
    scenario_option,
    steps_option,
)
from api.cli.common import (
    generator,
    json_option,
    may_write,
    opened,
    out_path,
    overwrite_option,
    param_option,
    parameters_of,
    refuse_two_documents,
    seed_option,
    show_json,
    show_table,
    store_option,
)
from api.cli.progress import progress
from api.cli.protection import at_least_two
from graphpriv.auditing import PROFILE_SCENARIOS, scenarios_named
from graphpriv.protections import DEFAULT, protections
from graphpriv.report import sweep_report
from graphpriv.sweep import sweep as run_sweep
from tabular.errors import InvalidParameter
from tabular.files.disk import STREAM, write_text


@click.command()
@click.argument("name")
@click.option("--k", "ks", default="2,3,5,10,20", show_default=True, metavar="K,K…", help="Which k to try.")
@click.option("--runs", default=5, show_default=True, type=click.IntRange(1, 10_000), help="How often for each k.")
@click.option("--method", type=click.Choice(list(protections)), default=DEFAULT, show_default=True)
@param_option
@attacker_option
@scenario_option
@steps_option
@html_option
@overwrite_option
@store_option
@seed_option
@json_option
def sweep(
    name: str,
    ks: str,
    runs: int,
    method: str,
    params: tuple[str, ...],
    attacker: str,
    scenarios: tuple[str, ...],
    steps: int | None,
    html: str | None,
    overwrite: bool,
    store: str,
    seed: int,
    as_json: bool,
) -> None:
    """Show losses and risks by k, each the mean of repeated runs; nothing is released."""
    numbers = numbers_in(ks)
    refuse_two_documents(as_json, html=html)
    if html is not None:
        may_write(html, store, overwrite=overwrite)
    chosen = scenarios_named(scenarios) if scenarios else PROFILE_SCENARIOS
    parameters = parameters_of(protections[method], params)
    with progress() as report:
        report("Loading", 0, 0)
        with opened(store) as source:
            graph = source.load_graph(name)
        document = run_sweep(
            graph,
            numbers,
            runs,
            rng=generator(seed),
            method=method,
            parameters=parameters,
            attackers=attackers_named(attacker),
            scenarios=chosen,
            steps=steps,
            report=report,
        )
    if html is not None:
        write_text(out_path(html), sweep_report(document), overwrite=overwrite)
    if as_json:
        show_json(document)
    elif html != STREAM:
        print_sweep(document)


def numbers_in(text: str) -> list[int]:
    """The ks of `--k 2,3,5`."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameter(f"--k must be whole numbers with commas between, such as 2,3,5, not {text!r}.") from None
    for number in numbers:
        at_least_two(number)
    if len(set(numbers)) < len(numbers):
        raise InvalidParameter(f"--k names a number twice: {text}.")
    return numbers


def print_sweep(document: dict[str, Any]) -> None:
    """The sweep as tables."""
    rows = document["rows"]
    losses = list(rows[0]["information_loss"])
    lines = [(row["k"], *(row["information_loss"][each]["mean"] for each in losses)) for row in rows]
    show_table("Information loss, mean of the runs", ["k", *losses], lines)
    for attacker, shares in rows[0]["disclosure_risk"].items():
        lines = [
            (
                row["k"],
                *(row["disclosure_risk"][attacker][each]["mean"] for each in shares),
                row["structure"]["risk"][attacker]["mean"],
            )
            for row in rows
        ]
        show_table(f"Disclosure risk, {attacker}, mean of the runs", ["k", *shares, "structure only"], lines)
    click.echo(document["note"])
