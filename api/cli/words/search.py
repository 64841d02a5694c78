"""Words for the search: the best nodes, how they were found, what is proven of them, and what was released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.cli.words import Said, tells
from api.cli.words.tables import ORDER_KEPT
from api.verbs.contract import STREAM, Outcome
from api.verbs.table.search import BY_SETS, levels_as_text, nodes_in_words

#: So many solutions are shown; the JSON has all of them.
SHOWN = 20
#: A gap so small beside the bound is none: both were added up in another order.
_EXACT = 1e-9


@tells("table search")
def found(verb: Any, outcome: Outcome, said: Said) -> None:
    """The best solutions, how they were found and what is proven of them, and what was released."""
    document = outcome.document
    _solutions(document, said)
    for sentence in sentences(document):
        said.line(sentence)
    if document["metric"] is not None and all(document["limits"][name] is None for name in ("k", "l", "t")):
        said.note("Without --k, --l or --t every node qualifies: the best one loses least, however small its k.")
    if "release" in document:
        _losses(document, said)
        _release(document, said, shuffle=verb.shuffle)
    if verb.html not in (None, STREAM):
        said.line(f"Wrote {verb.html}: the report.")


def _solutions(document: Mapping[str, Any], said: Said) -> None:
    found, names = document["solutions"], [each["name"] for each in document["quasi_identifiers"]]
    cells = document["rows"] * len(names)
    ranks = document["objectives"] or [document["metric"]]
    of_values = ["l", "t"] if document["sensitive"] is not None else []
    columns = list(dict.fromkeys(["k", *of_values, "suppressed", *ranks, "glm", "precision"]))
    rows = [
        (
            place,
            levels_as_text(names, each["node"]),
            *(each[name] for name in columns),
            100 * each["glm"] / cells,
        )
        for place, each in enumerate(found[:SHOWN], start=1)
    ]
    what = f"the front of {', '.join(ranks)}" if document["objectives"] else f"best by {ranks[0]}"
    shown = f"{len(rows)} of {len(found):,} nodes" if len(found) > len(rows) else _nodes(len(found))
    said.table(
        f"{document['file']}: {shown}, {what}, found by {document['algorithm']}",
        ["place", "levels", *columns, "glm %"],
        rows,
    )
    if len(found) > len(rows):
        said.line(f"The first {len(rows)} by {ranks[0]}; --json has all {len(found):,}.")


def sentences(document: Mapping[str, Any]) -> list[str]:
    """How large the lattice is, how much of it was looked at, and what is proven."""
    size, evaluated = document["lattice_nodes"], document["evaluated"]
    share = f" ({100 * evaluated / size:.1f} %)" if evaluated < size < 10**12 and evaluated / size >= 0.001 else ""
    looked = f"The lattice has {nodes_in_words(size)} nodes; {evaluated:,}{share} were evaluated"
    first = f"{looked} in {document['seconds']:.2f} s."
    if document["satisfying"] is not None:
        first += f" {_nodes(document['satisfying'])} satisfy {limits_of(document['limits'])}."
    return [
        first,
        *([] if document["ended"] else ["Stopped early: this is the best so far."]),
        *_proof(document),
        *_compared(document),
        *_before(document),
    ]


def _proof(document: Mapping[str, Any]) -> list[str]:
    """What is proven of the best solution, in words."""
    metric, bound, gap = document["metric"], document["lower_bound"], document["gap"]
    if metric is None:
        return []
    if bound is None:
        return [f"No proof: another node may lose less by {metric}."]
    if gap <= _EXACT * max(1.0, bound):
        return [f"Proven: no node that satisfies the limits loses less by {metric}."]
    above = f", {100 * gap / bound:.2f} % of it" if bound > 0 else ""
    proven = f"Proven: no node that satisfies the limits loses less by {metric} than {bound:,.4f}"
    return [f"{proven}; the gap is {gap:,.4f}{above}."]


def _compared(document: Mapping[str, Any]) -> list[str]:
    """How near the front found is to the exact one."""
    if "comparison" not in document:
        return []
    found, nodes = document["comparison"], len(document["exact_front"])
    return [
        f"The exact front has {_nodes(nodes)}: {100 * found['representation_ratio']:.1f} % of its boxes are occupied "
        f"(RR); the distance from it (CE) is {found['convergence_error']:.3g} in sum and "
        f"{found['mean_convergence_error']:.3g} a solution."
    ]


def _before(document: Mapping[str, Any]) -> list[str]:
    """What was released before."""
    if "previous" not in document:
        return []
    before = document["previous"]
    many = "1 earlier release" if before["releases"] == 1 else f"{before['releases']} earlier releases"
    changes = [f"{before[name]:,} rows {name}" for name in ("added", "removed", "changed") if name in before]
    said = f" ({', '.join(changes)})" if changes else ""
    return [f"All limits are kept together with {many}{said}, rows matched {before['matched']}."]


def limits_of(limits: Mapping[str, Any]) -> str:
    """The limits in words."""
    asked = [f"{name}={limits[name]}" for name in ("k", "l", "t") if limits[name] is not None]
    many = limits["suppressible"]
    rows = f"at most {many:,} row{'' if many == 1 else 's'} suppressed" if many else "no row suppressed"
    return f"{', '.join(asked)} with {rows}" if asked else f"the limits ({rows}; each has a k of its own)"


def _losses(document: Mapping[str, Any], said: Said) -> None:
    rows = [
        (
            each["name"],
            f"{each['level']} of {each['height']}",
            each["values_before"],
            each["values_after"],
            100 * each["general_loss"],
            100 * each["precision"],
            each["non_uniform_entropy"],
            each["cells_suppressed"],
        )
        for each in document["release"]["attributes"]
    ]
    said.table(
        "What each attribute lost",
        ["attribute", "level", "values before", "after", "glm %", "precision %", "bits a row", "suppressed"],
        rows,
    )


def _release(document: Mapping[str, Any], said: Said, *, shuffle: bool) -> None:
    done, release = document["written"], document["release"]
    dropped = f" Dropped: {', '.join(done['dropped'])}." if done["dropped"] else ""
    what = "standard output" if done["table"] == STREAM else done["table"]
    levels = levels_as_text(release["levels"], release["levels"].values())
    said.line(f"Wrote {what}: {done['rows']:,} rows at {levels}.{dropped}")
    of_values = "" if release["l"] is None else f", l={release['l']}, t={release['t']:.4f}"
    gone = release["suppressed"]
    how = "are left out" if done["left_out"] else "have * in all quasi-identifiers"
    rows = f"; {gone:,} suppressed rows {how}" if gone else ""
    said.line(f"Recounted from the released table: k={release['k']}{of_values}{rows}.")
    if "private" in done:
        said.line(
            f"Wrote {done['private']}: the seed and all that leads back; private, keep it apart from the release."
        )
    # A quasi-identifier is `*` there, also one that is sensitive.
    is_kept = document["sensitive"] is not None and document["sensitive"] not in release["levels"]
    if gone and not done["left_out"] and is_kept:
        said.note(
            f"A suppressed row keeps its value of {document['sensitive']!r}: whoever knows that a person is among the "
            f"{gone:,} may learn it. --suppressed drop leaves these rows out."
        )
    if release["labels"] == BY_SETS:
        said.note(
            "Labels such as [20,34] name values that occur, perhaps in one row only: measure this table, and release "
            "one with the labels of the hierarchies."
        )
    if not shuffle:
        said.note(ORDER_KEPT)


def _nodes(count: int) -> str:
    return f"{nodes_in_words(count)} node{'' if count == 1 else 's'}"
