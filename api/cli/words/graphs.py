"""Words for the verbs on graphs and on the store."""

from __future__ import annotations

from typing import Any

from api.cli.words import Said, flat, tells
from api.verbs.contract import STREAM, Outcome


@tells("graph import")
def imported(verb: Any, outcome: Outcome, said: Said) -> None:
    """How large the graph is, and what of the file is not in it."""
    document = outcome.document
    kind = "directed" if document["directed"] else "undirected"
    said.line(f"{document['graph']}: {document['users']} users, {document['edges']} {kind} edges.")
    dropped = document["dropped"]
    if dropped["self_loops"] or dropped["parallel"]:
        said.line(f"Dropped: {dropped['self_loops']} self-loops, {dropped['parallel']} parallel edges.")
    for attribute, count in document["ignored"].items():
        said.line(f"Ignored: {attribute} ({count} records).")


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
    facts = {key: value for key, value in outcome.document.items() if key not in ("graph", "kind", "original")}
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
    said.line(f"Forgotten, with {gone['follows']} follows, {gone['posts']} posts and {gone['mappings']} mappings.")
    if gone["erased"] is False:
        said.note("warning: another process is reading the store; the deleted data leaves its files when that ends.")
    if gone["erased"] is None:
        said.note("The server may keep deleted data in its transaction logs until it prunes them.")
    said.note("Backups and exported files still hold the person; releases keep a row that no mapping leads to.")


@tells("store backup")
def backed_up(verb: Any, outcome: Outcome, said: Said) -> None:
    """Where the backup is, and what it holds."""
    if verb.file == STREAM:
        said.note("The backup holds originals and mappings.")
    else:
        said.line(f"Wrote {verb.file}; it holds originals and mappings.")


@tells("store restore")
def restored(verb: Any, outcome: Outcome, said: Said) -> None:
    """How many graphs are back."""
    said.line(f"Restored {len(outcome.document['graphs'])} graphs.")


@tells("store check")
def checked(verb: Any, outcome: Outcome, said: Said) -> None:
    """Each problem, or that there is none."""
    said.line("\n".join(outcome.document["problems"]) or "The store is sound.")
