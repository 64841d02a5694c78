"""Which node of a search is released: chosen by place or by levels, re-checked, ready to be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from api.cli.tables.chain import AnyEvaluator, Chain, record_of
from api.cli.tables.columns import levels_in_text
from api.cli.tables.sought import Sought
from api.cli.tables.writing import Done, drawn_order
from tabular.errors import InvalidParameter, NoSolution
from tabular.files.reading import TableFile
from tabular.hierarchy import Hierarchy
from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.release.node import BY_HIERARCHY, BY_SETS, ReleasedNode, released
from tabular.lattice.space import Lattice, Node
from tabular.protections.full_domain import generalised, read_levels
from tabular.release.dictionary import LABELS, LABELS_OF_HIERARCHIES
from tabular.release.identifiers import release_table
from tabular.table import Table


@dataclass(frozen=True, eq=False)
class Chosen:
    """The node to release with its metrics; its place among the solutions, if it is one of them."""

    node: Node
    found: Mapping[str, Any]
    place: int | None


def check_choice(choose: str | None, sought: Sought, labels: str) -> None:
    """Refuse, before anything is read, to choose for the user what only the user can, and labels that tell too much."""
    if labels == BY_SETS and (sought.before.previous is not None or sought.before.key is not None):
        raise InvalidParameter(
            "--labels sets: such labels name the values that occur, so that two releases say who came and who left "
            "between them; with --previous or --key they are those of the hierarchies."
        )
    if choose is None and sought.objectives:
        raise InvalidParameter(
            "--out releases one node, and a front has many: say which by --choose, either its place in the list or its "
            "levels, as in 'age=1,sex=0'; without --out the list is shown."
        )
    if choose is None and all(getattr(sought.limits, name) is None for name in ("k", "l", "t")):
        raise InvalidParameter(
            "--out without a limit would release the table as it is, for that loses nothing: give --k (or --l, --t), "
            "or say by --choose which node."
        )


def levels_in(choose: str | None, lattice: Lattice) -> Node | None:
    """The node whose levels *choose* says; None where it says a place or nothing."""
    if choose is None or choose.strip().isdecimal():
        return None
    said = levels_in_text("--choose", choose) if "=" in choose else choose
    levels = read_levels(said, lattice.names, parameter="choose")
    for name, height in zip(lattice.names, lattice.heights, strict=True):
        if name not in levels:
            raise InvalidParameter(f"--choose {choose!r}: the level of {name!r} is missing.")
        if not 0 <= levels[name] <= height:
            raise InvalidParameter(
                f"--choose {choose!r}: the levels of {name!r} are 0 to {height}; there is no {levels[name]}."
            )
    return tuple(levels[name] for name in lattice.names)


def require_limits(node: Node, evaluator: AnyEvaluator) -> None:
    """Refuse to release a *node* that does not satisfy the limits."""
    found = evaluator.in_full([node])
    if not found.satisfying[0]:
        at = ", ".join(f"{name}={level}" for name, level in zip(evaluator.lattice.names, node, strict=True))
        t = f" and t is {found['t'][0]:.4f}" if evaluator.limits.t is not None else ""
        raise NoSolution(
            f"--choose: the node {at} does not satisfy the limits: {found['suppressed'][0]} rows would have to go, "
            f"{evaluator.limits.suppressible(evaluator.rows)} may{t}. Choose a higher one, or raise the suppression."
        )


def chosen(choose: str | None, node: Node | None, solutions: Readings, evaluator: AnyEvaluator) -> Chosen:
    """The node of these levels, else the one at the place that *choose* says, else the best."""
    if node is not None:
        place = next((at for at, each in enumerate(solutions.tuples()) if each == node), None)
        found = evaluator.in_full([node]) if place is None else solutions.take([place])
        return Chosen(node, found.document(0), place)
    place = 1 if choose is None else int(choose)
    if not 1 <= place <= len(solutions):
        raise InvalidParameter(f"--choose {choose}: the list has places 1 to {len(solutions)}.")
    return Chosen(solutions.tuples()[place - 1], solutions.document(place - 1), place - 1)


def check_release(table: Table, hierarchies: Mapping[str, Hierarchy], identifiers: str) -> None:
    """Refuse, before the search, a table whose other columns cannot be released as they are."""
    top = {name: each.height for name, each in hierarchies.items()}
    release_table(
        generalised(table, hierarchies, top, suppressed=np.zeros(len(table), dtype=np.bool_)), identifiers=identifiers
    )


def release_of(
    which: Chosen, sought: Sought, source: TableFile, evaluator: AnyEvaluator, chain: Chain, *, labels: str
) -> ReleasedNode:
    """The generalised table of the chosen node, counted anew."""
    return released(
        source.table,
        {name: chain.hierarchies[name] for name in evaluator.hierarchies},
        which.node,
        sought.limits,
        evaluator.suppressed_rows(which.node),
        which.found,
        sensitive=sought.sensitive,
        labels=labels,
    )


def done_of(
    release: ReleasedNode,
    sought: Sought,
    source: TableFile,
    rng: np.random.Generator,
    chain: Chain,
    *,
    shuffle: bool,
    drop_suppressed: bool,
) -> Done:
    """What is to be written; suppressed rows stand as `*` or are left out."""
    node = tuple(release.node.values())
    history = chain.extended(source.table, node, release.suppressed, k=sought.limits.k, left_out=drop_suppressed)
    rows = np.flatnonzero(~release.suppressed) if drop_suppressed else np.arange(len(source.table))
    order = rows[drawn_order(rng, len(rows))] if shuffle else rows
    counted = release.recounted
    limits = {
        name: value for name in ("k", "l", "t", "suppression") if (value := getattr(sought.limits, name)) is not None
    }
    findings: dict[str, Any] = {
        "promises_k": counted.k >= 2,
        "k": counted.k,
        "suppressed": 0 if drop_suppressed else counted.suppressed,
        "left_out": len(source.table) - len(rows),
    }
    if sought.sensitive is not None:
        findings |= {"sensitive": sought.sensitive, "l": counted.l, "t": counted.t}
    if chain.history.releases:
        findings |= {"releases": history.releases, "k_over_releases": history.k}
    return Done(
        source=source,
        masked=release.table,
        parameters={"levels": ",".join(f"{name}={level}" for name, level in release.node.items()), **limits},
        findings=findings | {"attributes": release.public(chain.hierarchies)},
        order=order if shuffle or drop_suppressed else None,
        # What is recorded for later releases are the hierarchy's labels: no others may have been written.
        private=record_of(history) if release.labels == BY_HIERARCHY else {},
        labels=LABELS_OF_HIERARCHIES if release.labels == BY_HIERARCHY else LABELS,
    )
