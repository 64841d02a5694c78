"""Words for the verbs that protect, audit and release a graph."""

from __future__ import annotations

from typing import Any

from api.cli.words import Said, tells
from api.verbs.contract import STREAM, Outcome

_SHARES = (
    ("disclosure_risk", "Disclosure risk: share of users whose neighbourhood is found"),
    ("expected_success", "Expected success of naming the right user"),
    ("undecided", "Undecided within the steps allowed"),
)


@tells("protect")
def protected(verb: Any, outcome: Outcome, said: Said) -> None:
    """What the release is, and what was checked."""
    document = outcome.document
    said.line(
        f"{verb.into}: {document['users']} users, {document['edges']} edges, {document['profiles']} distinct profiles, "
        f"each at least {verb.k} times. Checked: same edges, new ids, shuffled order, nothing else of the original."
    )
    said.note(f"The edges are as they were; to see what can still be found: graphpriv audit {verb.name} {verb.into}")


@tells("audit")
def audited(verb: Any, outcome: Outcome, said: Said) -> None:
    """The audit as tables, unless the report itself is on standard output."""
    if verb.html != STREAM:
        show_audit(outcome.document, said)


def show_audit(document: dict[str, Any], said: Said) -> None:
    """Losses, risks, and the users most at risk."""
    said.line(
        f"{document['users']} users, {document['edges']} edges; every released profile occurs at least "
        f"{document['k']} times."
    )
    loss = document["information_loss"]
    columns = [*(key for key in loss["cdil"] if key != "mean"), "mean"]
    anchored, distances = loss["aamil"]["anchored"] or {}, loss["dbil_by_attribute"] or {}
    rows: list[tuple[object, ...]] = [
        ("AAMIL", *(loss["aamil"][each] for each in columns)),
        ("AAMIL anchored", *(anchored.get(each) for each in columns)),
        ("CDIL", *(loss["cdil"][each] for each in columns)),
        ("DBIL", *(distances.get(each) for each in columns[:-1]), loss["dbil"]),
        ("IL", *[None] * (len(columns) - 1), loss["mean"]),
    ]
    said.table("Information loss", ["measure", *columns], rows)
    structure = document["structure"]
    for part, title in _SHARES:
        found = document[part]
        names = list(next(iter(found.values())))
        alone = structure["risk" if part == "disclosure_risk" else part]
        lines = [(attacker, *(shares[each] for each in names), alone[attacker]) for attacker, shares in found.items()]
        said.table(title, ["attacker", *names, "structure only"], lines)
    said.line(structure["note"])
    if document["at_risk"]:
        header = list(document["at_risk"][0])
        users = [tuple(each[key] for key in header) for each in document["at_risk"]]
        said.table("Users most at risk (custodian and auditor only): candidates by attacker", header, users)


@tells("sweep")
def swept(verb: Any, outcome: Outcome, said: Said) -> None:
    """Losses and risks by k as tables, unless the report itself is on standard output."""
    if verb.html == STREAM:
        return
    rows = outcome.document["rows"]
    losses = list(rows[0]["information_loss"])
    lines = [(row["k"], *(row["information_loss"][each]["mean"] for each in losses)) for row in rows]
    said.table("Information loss, mean of the runs", ["k", *losses], lines)
    for attacker, shares in rows[0]["disclosure_risk"].items():
        lines = [
            (
                row["k"],
                *(row["disclosure_risk"][attacker][each]["mean"] for each in shares),
                row["structure"]["risk"][attacker]["mean"],
            )
            for row in rows
        ]
        said.table(f"Disclosure risk, {attacker}, mean of the runs", ["k", *shares, "structure only"], lines)
    said.line(outcome.document["note"])


@tells("microdata")
def taken(verb: Any, outcome: Outcome, said: Said) -> None:
    """What was written, which k it has, and what masking it lost."""
    found = outcome.document
    if verb.out != STREAM:
        said.line(f"Wrote {verb.out}: {found['rows']} rows.")
    if verb.method is None:
        if verb.out != STREAM:
            said.line(f"The table has k={found['k']} with the degree, k={found['k_without_degree']} without it.")
        return
    suppressed = f", with {found['suppressed']} suppressed rows set aside" if found["suppressed"] else ""
    counted = f"the table has k={found['k']} with the degree{suppressed}, counted in the masked table."
    promise = "T" + counted[1:] if found["promises_k"] else f"{verb.method} promises no k over all columns; {counted}"
    said.line(promise)
    said.line(
        f"Against {found['measured_against']}: information loss {found['information_loss']:.2f} %, disclosure risk "
        f"{found['disclosure_risk']:.2f} % (greater of the two {found['score_max']:.2f}, mean "
        f"{found['score_mean']:.2f})."
    )


@tells("demo")
def demonstrated(verb: Any, outcome: Outcome, said: Said) -> None:
    """The audit, then where the files are and how to recompute everything."""
    document = outcome.document
    show_audit(document["audit"], said)
    table, files = document["microdata"], document["files"]
    said.line(
        f"Microdata: {table['rows']} rows, k={table['k']} with the degree, k={table['k_without_degree']} without it."
    )
    said.line(f"The report: {files['report']}; beside it are the graph files, the mapping and the store.")
    said.line(
        f"Recompute: graphpriv audit --files {files['original']} {files['released']} --mapping {files['mapping']}"
    )
