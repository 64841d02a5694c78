"""Auditing a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from api import fail_if as conditions
from api.cli.common import (
    json_option,
    may_write,
    note,
    opened,
    out_path,
    overwrite_option,
    refuse_two_documents,
    show_json,
    show_table,
    store_option,
)
from api.cli.progress import progress
from graphpriv.auditing import PROFILE_SCENARIOS, figure_paths, scenarios_named
from graphpriv.auditing import audit as run_audit
from graphpriv.report import audit_report
from graphpriv.risk import attackers
from graphpriv.store import Run
from graphpriv.stored import match_files, match_stored
from tabular.errors import InvalidParameter, ReportedError
from tabular.files.disk import STREAM, write_text

attacker_option = click.option(
    "--attacker",
    type=click.Choice([*attackers, "both"]),
    default="both",
    show_default=True,
    help="ego knows the whole neighbourhood, subgraph a part of what the release shows.",
)
scenario_option = click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="NAME",
    help=f"What the attacker knows: {', '.join(PROFILE_SCENARIOS)}, or attributes joined by +; default all six.",
)
steps_option = click.option(
    "--steps", type=int, help="Steps an attacker may take for one match before it is left undecided."
)
html_option = click.option("--html", metavar="FILE", help="Also write the report.")


@click.command()
@click.argument("names", nargs=2, metavar="ORIGINAL RELEASED")
@click.option("--files", is_flag=True, help="ORIGINAL and RELEASED are files, for a release made elsewhere.")
@click.option("--mapping", metavar="FILE", help="With --files: the CSV original,released.")
@attacker_option
@scenario_option
@click.option("--undirected", is_flag=True, help="Read both graphs without directions.")
@steps_option
@click.option("--at-risk", default=20, show_default=True, type=click.IntRange(min=0), help="How many users to list.")
@html_option
@click.option("--fail-if", metavar="EXPR", help="Exit with 4 if it holds: 'disclosure_risk.ego.all > 0.05'.")
@overwrite_option
@store_option
@json_option
def audit(
    names: tuple[str, str],
    files: bool,
    mapping: str | None,
    attacker: str,
    scenarios: tuple[str, ...],
    undirected: bool,
    steps: int | None,
    at_risk: int,
    html: str | None,
    fail_if: str | None,
    overwrite: bool,
    store: str,
    as_json: bool,
) -> int:
    """Measure what a release lost and who can still be found in it."""
    if fail_if is not None:
        conditions.parse(fail_if)
    refuse_two_documents(as_json, html=html)
    if html is not None:
        may_write(html, store, overwrite=overwrite)
    if mapping is not None and not files:
        raise InvalidParameter("--mapping goes with --files; the store knows the mapping of its releases.")
    chosen = scenarios_named(scenarios) if scenarios else PROFILE_SCENARIOS
    if fail_if is not None:
        conditions.holds(fail_if, nested(figure_paths(attackers_named(attacker), chosen)))
    with progress() as report:
        if files:
            matched = match_files(*names, mapping=mapping, report=report)
        else:
            with opened(store) as source:
                matched = match_stored(source, *names, report=report)
        for each in matched.notes:
            note(f"warning: {each}")
        found = run_audit(
            matched.original,
            matched.released,
            matched.mapping,
            attackers=attackers_named(attacker),
            scenarios=chosen,
            undirected=undirected,
            steps=steps,
            at_risk=at_risk,
            report=report,
        )
    document = found.document
    if html is not None:
        write_text(out_path(html), audit_report(document), overwrite=overwrite, private=True)
    if as_json:
        show_json(document)
    elif html != STREAM:
        print_audit(document)
    if not files:
        _record(names[0], store, found.run(names[1]))
    if fail_if is not None and conditions.holds(fail_if, document, found.bounds):
        note(f"--fail-if holds: {fail_if}")
        return 4
    return 0


def attackers_named(choice: str) -> tuple[str, ...]:
    """The attackers of `--attacker`."""
    return ("ego", "subgraph") if choice == "both" else (choice,)


def nested(paths: Sequence[str]) -> dict[str, Any]:
    """The *paths* as a document, every number 0."""
    document: dict[str, Any] = {}
    for path in paths:
        *above, name = path.split(".")
        part = document
        for step in above:
            part = part.setdefault(step, {})
        part[name] = 0
    return document


def print_audit(document: dict[str, Any]) -> None:
    """The audit as tables."""
    click.echo(
        f"{document['users']} users, {document['edges']} edges; every released profile occurs at least "
        f"{document['k']} times."
    )
    loss = document["information_loss"]
    columns = [*(key for key in loss["cdil"] if key != "mean"), "mean"]
    by_attribute = loss["dbil_by_attribute"]
    rows: list[tuple[object, ...]] = [
        ("AAMIL", *(loss["aamil"][each] for each in columns)),
        ("AAMIL anchored", *((loss["aamil"]["anchored"] or {}).get(each) for each in columns)),
        ("CDIL", *(loss["cdil"][each] for each in columns)),
        ("DBIL", *((by_attribute or {}).get(each) for each in columns[:-1]), loss["dbil"]),
        ("IL", *[None] * (len(columns) - 1), loss["mean"]),
    ]
    show_table("Information loss", ["measure", *columns], rows)
    structure = document["structure"]
    for part, title in (
        ("disclosure_risk", "Disclosure risk: share of users whose neighbourhood is found"),
        ("expected_success", "Expected success of naming the right user"),
        ("undecided", "Undecided within the budget"),
    ):
        found = document[part]
        names = list(next(iter(found.values())))
        alone = structure["risk" if part == "disclosure_risk" else part]
        lines = [(attacker, *(shares[each] for each in names), alone[attacker]) for attacker, shares in found.items()]
        show_table(title, ["attacker", *names, "structure only"], lines)
    click.echo(structure["note"])
    if document["at_risk"]:
        header = list(document["at_risk"][0])
        rows = [tuple(each[key] for key in header) for each in document["at_risk"]]
        show_table("Users most at risk (custodian and auditor only): candidates by attacker", header, rows)


def _record(name: str, store: str, run: Run) -> None:
    try:
        with opened(store) as target:
            target.add_run(name, run)
    except ReportedError as error:
        note(f"warning: the audit is not in the store's list of runs: {error}")
