"""Words for the verbs on graphs and on the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.cli.words import Said, counted_k, flat, note, scores_of, tells
from api.errors import counted
from api.verbs.contract import STREAM, Outcome
from api.verbs.graph.show import told
from api.verbs.graph.sweep import methods_tried, why_risk_rises


@tells("graph import")
def imported(verb: Any, outcome: Outcome, said: Said) -> None:
    """How large the graph is, and what of the file is not in it."""
    document = outcome.document
    edge = "directed edge" if document["directed"] else "undirected edge"
    said.line(f"{document['graph']}: {counted(document['users'], 'user')}, {counted(document['edges'], edge)}.")
    if document["posts"]:
        said.line(f"With {counted(document['posts'], 'post')}.")
    dropped = document["dropped"]
    if dropped["self_loops"] or dropped["parallel"]:
        loops, parallel = counted(dropped["self_loops"], "self-loop"), counted(dropped["parallel"], "parallel edge")
        said.line(f"Dropped: {loops}, {parallel}.")
    for attribute, count in document["ignored"].items():
        said.line(f"Ignored: {attribute} ({counted(count, 'record')}).")


@tells("graph export")
def exported(verb: Any, outcome: Outcome, said: Said) -> None:
    """Which files were written."""
    if verb.out != STREAM:
        for path in outcome.document["files"]:
            said.line(f"Wrote {path}")


@tells("graph list")
def listed(verb: Any, outcome: Outcome, said: Said) -> None:
    """A line a graph."""
    keys = ("name", "kind", "original", "k", "users", "edges", "created")
    rows = [tuple("" if key == "original" and not each[key] else each[key] for key in keys)
            for each in outcome.document["graphs"]]  # fmt: skip
    said.table("Graphs", ["name", "what", "made from", "k", "users", "edges", "created"], rows)


@tells("graph show")
def shown(verb: Any, outcome: Outcome, said: Said) -> None:
    """The figures of a graph, then its places and topics."""
    left_out = ("graph", "kind", "original", "collected")
    facts = {key: value for key, value in outcome.document.items() if key not in left_out}
    if outcome.document["collected"] is not None:
        said.line(told(outcome.document["collected"]))
    shares = facts.pop("places"), facts.pop("topics")
    said.table(verb.name, ["what", "value"], flat(facts))
    for title, part in zip(("Places", "Topics"), shares, strict=True):
        said.table(title, ["what", "share or count"], flat(part))


@tells("graph delete")
def deleted(verb: Any, outcome: Outcome, said: Said) -> None:
    """That the graph is gone."""
    said.line(f"Deleted {verb.name}.")


@tells("graph forget")
def forgotten(verb: Any, outcome: Outcome, said: Said) -> None:
    """What went with the person, and where they may still be found."""
    gone = outcome.document
    links, posts, rows = (counted(gone[name], name[:-1]) for name in ("follows", "posts", "mappings"))
    said.line(f"Forgotten, with {links}, {posts} and {rows}.")
    if gone["uploads"] or gone["jobs"]:
        uploads, jobs = counted(gone["uploads"], "upload"), counted(gone["jobs"], "job")
        said.line(f"Erased in the service: {uploads} and {jobs} with everything they left.")
    if gone["erased"] is False:
        note(
            "warning: another process is reading the store, or the disk is full; the deleted data leaves its files "
            "with the next check after that."
        )
    if gone["erased"] is None:
        note("The server may keep deleted texts in its files and transaction logs until it overwrites them.")
    note("Backups and exported files still hold the person; releases keep a row that no mapping leads to.")
    if gone["mappings"]:
        note("Delete those releases before you release again: beside a new one they show which row is missing.")


@tells("store backup")
def backed_up(verb: Any, outcome: Outcome, said: Said) -> None:
    """Where the backup is, and what it holds."""
    if verb.file == STREAM:
        note("The backup holds originals and mappings.")
    else:
        said.line(f"Wrote {verb.file}; it holds originals and mappings.")


@tells("store restore")
def restored(verb: Any, outcome: Outcome, said: Said) -> None:
    """How many graphs are back."""
    said.line(f"Restored {counted(len(outcome.document['graphs']), 'graph')}.")


@tells("store check")
def checked(verb: Any, outcome: Outcome, said: Said) -> None:
    """Each problem, or that there is none."""
    for problem in outcome.document["problems"] or ["The store is sound."]:
        said.line(problem)
    if log := outcome.document.get("audit_log"):
        said.line(f"The audit log of the service has {log['entries']} entries; the last hash is {log['hash']}.")


_SHARES = (
    ("disclosure_risk", "Disclosure risk: share of users whose neighbourhood is found"),
    ("expected_success", "Expected success of naming the right user"),
    ("undecided", "Undecided within the steps allowed"),
)


#: What is highest, and the head of its column.
_HIGHEST = {"expected_success": "identified correctly", "disclosure_risk": "found"}


@tells("protect")
def protected(verb: Any, outcome: Outcome, said: Said) -> None:
    """What the release is, and what was checked."""
    document = outcome.document
    said.line(
        f"{verb.into}: {counted(document['users'], 'user')}, {counted(document['edges'], 'edge')}, "
        f"{counted(document['profiles'], 'distinct profile')}, each at least {verb.k} times. "
        "Checked: same edges, new ids, shuffled order, nothing else of the original."
    )
    if "gap" in document:
        said.line(
            f"Loss {document['loss']:.4f} (0 none, 1 all); no release with k={verb.k} can lose less than "
            f"{document['lower_bound']:.4f}."
        )
    if document["beside"]:
        said.line(
            f"Together with {', '.join(document['beside'])}: joint k {document['joint_k']}, the number of users "
            "who share the rarest combination of profiles in all these releases."
        )
    if gone := document["forgotten_beside"]:
        rows = "1 row of forgotten persons is" if gone == 1 else f"{gone} rows of forgotten persons are"
        note(f"warning: {rows} only in earlier releases, and so easy to find; the joint k leaves them out.")
    note(f"The edges are unchanged; to see who can still be found: graphpriv audit {verb.name} {verb.into}")


@tells("audit")
def audited(verb: Any, outcome: Outcome, said: Said) -> None:
    """The audit as tables, unless the report itself is on standard output."""
    if verb.html != STREAM:
        show_audit(outcome.document, said)


def show_audit(document: dict[str, Any], said: Said) -> None:
    """Losses, risks, and the users most at risk."""
    said.line(
        f"{counted(document['users'], 'user')}, {counted(document['edges'], 'edge')}; every released profile occurs "
        f"at least {document['k']} times."
    )
    for line in highest_risks(document):
        said.line(line)
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


def highest_risks(document: dict[str, Any]) -> list[str]:
    """Whom the strongest attacker finds, with profiles and by links alone, and who is most exposed."""
    lines = [
        f"Highest risk: {_of_highest(document, 'highest')}.",
        f"By links alone: {_of_highest(document, 'highest_by_links')}; no k changes this while the links stay.",
    ]
    smallest = document["smallest_candidate_set"]
    if smallest is not None:
        lines[0] += f" Most exposed: 1 in {smallest}."
    return lines


def _of_highest(document: dict[str, Any], name: str) -> str:
    measure = "expected_success" if document[name]["expected_success"]["value"] is not None else "disclosure_risk"
    highest = document[name][measure]
    if highest["value"] is None:
        return "not known"
    low, high = document["bounds"][measure][highest["attacker"]][highest["scenario"]]
    share = f"{100 * high:.2f} %" if low == high else f"{100 * low:.2f} to {100 * high:.2f} %"
    found = "identified correctly" if measure == "expected_success" else "found"
    knows = "the links" if highest["scenario"] == "structure" else highest["scenario"]
    return f"{share} of users are {found} ({highest['attacker']}, who knows {knows})"


@tells("sweep")
def swept(verb: Any, outcome: Outcome, said: Said) -> None:
    """Losses and risks by k as tables, unless the report itself is on standard output."""
    if verb.html == STREAM:
        return
    rows = outcome.document["rows"]
    if not outcome.document["ended"]:
        done = ", ".join(f"{row['runs']} with k={row['k']}" for row in rows)
        said.line(f"Stopped early; these are the means of the completed runs: {done}.")
    for each in outcome.document["left_out"]:
        said.line(f"k={each['k']} is left out. {each['reason']}")
    if outcome.document["beside"]:
        _show_ways(outcome.document, said)
    highest = [
        (
            row["k"],
            *(row[part][each]["mean"] for part in ("highest", "highest_by_links") for each in _HIGHEST),
            row["smallest_candidate_set"]["mean"],
        )
        for row in rows
    ]
    header = ["k", *_HIGHEST.values(), *(f"{each} by links alone" for each in _HIGHEST.values()), "smallest set"]
    said.table("Highest risk over all scenarios and attackers, mean of the runs", header, highest)
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


def _show_ways(document: Mapping[str, Any], said: Said) -> None:
    """All methods and weights that were tried, side by side."""
    lines = [
        (way, row["k"], row["information_loss"]["mean"]["mean"], row["information_loss"]["dbil"]["mean"],
         row["highest"]["expected_success"]["mean"], row["places"]["kept"]["mean"], row["places"]["world"]["mean"])
        for way, rows in methods_tried(document)
        for row in rows
    ]  # fmt: skip
    header = ["protection", "k", "IL", "DBIL", "identified", "places kept", "now world"]
    said.table("Protections beside each other, mean of the runs", header, lines)
    said.line(f"The tables below are of {methods_tried(document)[0][0]}. {why_risk_rises()}")


@tells("microdata")
def taken(verb: Any, outcome: Outcome, said: Said) -> None:
    """What was written, which k it has, and what masking it lost."""
    found = outcome.document
    if verb.out != STREAM:
        said.line(f"Wrote {verb.out}: {counted(found['rows'], 'row')}.")
    if verb.method is None:
        if verb.out != STREAM:
            said.line(f"The table has k={found['k']} with the degree, k={found['k_without_degree']} without it.")
        return
    said.line(counted_k(found, f"table has k={found['k']} with the degree", verb.method))
    said.line(scores_of(found, f"Against {found['measured_against']}: information"))


def _show_collection(document: Mapping[str, Any], said: Said) -> None:
    """Whom the crawl asked, and how many users were placed."""
    crawl, places, meant = document["crawl"], document["enrichment"]["places"], document["agreement"]
    said.line(
        f"Collected {counted(crawl['users']['kept'], 'user')} with {counted(crawl['requests'], 'request')}; X "
        f"would have charged ${crawl['cost']:,.2f}. {places['placed']:,} were placed, "
        f"{_percent(meant['country'])} of them in the right country; {_percent(meant['first_topic'])} have the right "
        "first topic."
    )


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.0f} %"


@tells("demo")
def demonstrated(verb: Any, outcome: Outcome, said: Said) -> None:
    """The audit, then where the files are and how to recompute everything."""
    document = outcome.document
    _show_collection(document["collection"], said)
    show_audit(document["audit"], said)
    table, files = document["microdata"], document["files"]
    said.line(
        f"Microdata: {counted(table['rows'], 'row')}, k={table['k']} with the degree, "
        f"k={table['k_without_degree']} without it."
    )
    said.line(f"The report: {files['report']}; beside it are the graph files, the mapping and the store.")
    said.line(
        f"Recompute: graphpriv audit --files {files['original']} {files['released']} --mapping {files['mapping']}"
    )
