"""Auditing a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

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
from api.cli.graphs import warn_of
from api.cli.progress import progress
from graphpriv.auditing import PROFILE_SCENARIOS, THESIS_MEASURES, scenarios_named
from graphpriv.auditing import audit as run_audit
from graphpriv.formats import read_graph
from graphpriv.graph import ATTRIBUTES, SocialGraph
from graphpriv.mapping import mapping_by_id, read_mapping
from graphpriv.measures import measures
from graphpriv.report import audit_report
from graphpriv.risk import attackers
from graphpriv.risk.disclosure import BUCKETS
from graphpriv.store import Run
from tabular.errors import InvalidInput, InvalidParameter, ReportedError
from tabular.files.disk import STREAM, write_text
from tabular.progress import Report

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
budget_option = click.option(
    "--budget",
    "budgets",
    multiple=True,
    metavar="ATTACKER=STEPS",
    help="Steps an attacker's match may take before it is left undecided.",
)
html_option = click.option("--html", metavar="FILE", help="Also write the report.")


@click.command()
@click.argument("names", nargs=2, metavar="ORIGINAL RELEASED")
@click.option("--files", is_flag=True, help="ORIGINAL and RELEASED are files, for a release made elsewhere.")
@click.option("--mapping", metavar="FILE", help="With --files: the CSV original,released.")
@attacker_option
@scenario_option
@click.option("--undirected", is_flag=True, help="Read both graphs without directions.")
@budget_option
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
    budgets: tuple[str, ...],
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
        conditions.holds(fail_if, numbers_of(attackers_named(attacker), list(chosen)))
    steps = budgets_in(budgets)
    with progress() as report:
        original, released, known = (
            _from_files(*names, mapping, report) if files else _from_store(*names, store, report)
        )
        document = run_audit(
            original,
            released,
            known,
            attackers=attackers_named(attacker),
            scenarios=chosen,
            undirected=undirected,
            budgets=steps,
            at_risk=at_risk,
            report=report,
        ).document
    if html is not None:
        write_text(out_path(html), audit_report(document), overwrite=overwrite, private=True)
    if as_json:
        show_json(document)
    elif html != STREAM:
        print_audit(document)
    if not files:
        _record(names, store, document)
    if fail_if is not None and conditions.holds(fail_if, document, doubts_of(document)):
        note(f"--fail-if holds: {fail_if}")
        return 4
    return 0


def attackers_named(choice: str) -> tuple[str, ...]:
    """The attackers of `--attacker`."""
    return ("ego", "subgraph") if choice == "both" else (choice,)


def numbers_of(attacking: Sequence[str], scenarios: Sequence[str]) -> dict[str, Any]:
    """The numbers that an audit will have, all 0: what `--fail-if` may name, known before the work begins."""
    by_scenario = {attacker: dict.fromkeys(scenarios, 0) for attacker in attacking}
    by_attacker = dict.fromkeys(attacking, 0)
    attributes = dict.fromkeys([*ATTRIBUTES, "mean"], 0)
    others = {name: attributes for name in measures if name not in THESIS_MEASURES}
    figures = dict.fromkeys(("degree", "clustering", "path_length", "diameter"), 0)
    buckets = {attacker: {name: dict.fromkeys(BUCKETS, 0) for name in scenarios} for attacker in attacking}
    return {
        **dict.fromkeys(("k", "users", "edges", "released_users", "released_edges", "unmapped"), 0),
        "information_loss": {
            **others,
            "aamil": {**attributes, "anchored": attributes},
            "cdil": attributes,
            "dbil": 0,
            "dbil_by_attribute": dict.fromkeys(ATTRIBUTES, 0),
            "mean": 0,
        },
        **dict.fromkeys(("disclosure_risk", "expected_success", "undecided"), by_scenario),
        "candidates": buckets,
        "structure": {
            **dict.fromkeys(("original", "released", "change"), figures),
            **dict.fromkeys(("risk", "expected_success", "undecided"), by_attacker),
            "candidates": {attacker: dict.fromkeys(BUCKETS, 0) for attacker in attacking},
        },
    }


def doubts_of(document: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Between what the figures lie that undecided users leave in doubt, by their paths."""
    risks, alone = document["disclosure_risk"], document["structure"]
    shares = [
        *((f"disclosure_risk.{attacker}.{name}", f"{attacker}.{name}", "", risks[attacker][name], share)
          for attacker, by_scenario in document["undecided"].items() for name, share in by_scenario.items()),
        *((f"structure.risk.{attacker}", attacker, "structure.", alone["risk"][attacker], share)
          for attacker, share in alone["undecided"].items()),
    ]  # fmt: skip
    doubts: dict[str, tuple[float, float]] = {}
    for path, case, above, risk, share in shares:
        if share:
            # Who is found for certain stays found; of the candidates nothing more is known.
            doubts[path] = risk, min(1.0, risk + share)
            doubts[f"{above}expected_success.{case}"] = 0.0, 1.0
            for bucket in BUCKETS:
                doubts[f"{above}candidates.{case}.{bucket}"] = 0.0, float(document["users"])
    return doubts


def budgets_in(texts: Sequence[str]) -> dict[str, int]:
    """The steps of `--budget ATTACKER=STEPS`."""
    budgets = {}
    for text in texts:
        name, _, steps = text.partition("=")
        if name not in attackers or not steps.isdecimal():
            raise InvalidParameter(f"--budget {text!r}: write ATTACKER=STEPS, ATTACKER one of {', '.join(attackers)}.")
        budgets[name] = int(steps)
    return budgets


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


def _from_store(
    name: str, released: str, store: str, report: Report
) -> tuple[SocialGraph, SocialGraph, NDArray[np.int64] | None]:
    report("Loading", 0, 0)
    with opened(store) as source:
        if source.graph(released).original == name:
            return source.load_pair(name, released)
        graph = source.load_graph(name)
        masked = source.load_graph(released)
    note(f"{released!r} is no release of {name!r} in this store: users are put together by their ids where they agree.")
    return graph, masked, mapping_by_id(graph.ids, masked.ids)


def _from_files(
    original: str, released: str, mapping: str | None, report: Report
) -> tuple[SocialGraph, SocialGraph, NDArray[np.int64] | None]:
    read = [read_graph(file, report=report) for file in (original, released)]
    for imported in read:
        warn_of(imported)
    graph, masked = (imported.graph for imported in read)
    if mapping is not None:
        known = read_mapping(mapping, graph.ids, masked.ids)
        left_out = int((known < 0).sum())
        if left_out == len(known):
            raise InvalidInput(f"{mapping}: the mapping names nobody; leave --mapping out to audit without one.")
        if left_out:
            note(f"warning: the mapping leaves out {left_out} of {len(known)} users; they count nowhere that needs it.")
        return graph, masked, known
    same_ids = mapping_by_id(graph.ids, masked.ids)
    if same_ids is None:
        note("Without --mapping, DBIL, anchored AAMIL and expected success cannot be known.")
    else:
        note("warning: the released graph keeps the ids of the original; users are put together by them.")
    return graph, masked, same_ids


def _record(names: Sequence[str], store: str, document: dict[str, Any]) -> None:
    run = Run(
        verb="audit",
        parameters={"released": names[1], **document["parameters"]},
        version=document["version"],
        input_hash=document["inputs"]["original"],
    )
    try:
        with opened(store) as target:
            target.add_run(names[0], run)
    except ReportedError as error:
        note(f"warning: the audit is not in the store's list of runs: {error}")
