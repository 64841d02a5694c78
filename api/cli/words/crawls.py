"""Words for the verbs that ask networks."""

from __future__ import annotations

from typing import Any

from api.cli.words import Said, tells
from api.errors import counted
from api.verbs.contract import Outcome
from api.verbs.graph.show import ENDED

#: Why a refresh has ended that went through all users.
_DONE = "all users were asked about"


@tells("crawl")
def crawled(verb: Any, outcome: Outcome, said: Said) -> None:
    """How large the graph is, who was left out, what it cost and why it ended."""
    document = outcome.document
    if document.get("dry_run"):
        _would(document, said)
        return
    users = document["users"]
    edges = counted(document["edges"], "directed edge")
    said.line(f"{document['graph']}: {counted(users['kept'], 'user')}, {edges}; {_ended(document)}.")
    left_out = [f"{count} {state}" for state, count in users.items() if state != "kept" and count]
    if left_out:
        said.line(f"Left out: {', '.join(left_out)}.")
    lists = {key: value for key, value in document["lists"].items() if key != "share_seen"}
    share = document["lists"]["share_seen"]
    seen = "" if share is None else f", {share:.1%} of their entries seen"
    said.line(f"Lists: {', '.join(f'{count} {ending}' for ending, count in lists.items()) or 'none'}{seen}.")
    failed = ", ".join(f"{count} {kind}" for kind, count in document["failures"].items()) or "none"
    said.line(f"Requests: {document['requests']:,}, cost ${document['cost']:,.3f}; failures: {failed}.")
    if servers := document["servers_left"]:
        was = "was" if servers == 1 else "were"
        said.line(
            f"{counted(servers, 'server')} {was} left alone after failing again and again or asking us to wait too "
            "long; the next run tries again."
        )
    _doubts(document, said)
    if more := document["frontier"]:
        said.line(f"{counted(more, 'more user')} {'was' if more == 1 else 'were'} found and not asked.")


def _ended(document: dict[str, Any]) -> str:
    return {**ENDED, "done": _DONE}.get(document["ended"], str(document["ended"]))


def _doubts(document: dict[str, Any], said: Said) -> None:
    """What was asked twice, and what may have been charged beside what is known."""
    if twice := document["asked_twice"]:
        was = "was under way when a run was cut off, and was" if twice == 1 else "were under way at cuts, and were"
        said.line(f"{counted(twice, 'question')} {was} asked again.")
    if uncertain := document["uncertain_cost"]:
        said.line(
            f"Up to ${uncertain:,.3f} more may have been charged: for what was under way at a cut, or came around "
            "midnight. The budget counts it as spent."
        )


def _would(document: dict[str, Any], said: Said) -> None:
    asks, cost = document["would_ask"], document["cost"]
    users = counted(asks["users"], "more user" if document["kept"] else "user")
    said.line(
        f"It would keep {users}, with at most {asks['follows_at_most']:,} follows and {asks['posts_at_most']:,} posts."
    )
    within = f" It stops before it costs more than ${budget:,.2f} in all." if (budget := document["budget"]) else ""
    said.line(
        f"That would likely cost ${cost['likely']:,.2f}: at least about ${cost['low']:,.2f}, at most about "
        f"${cost['high']:,.2f}, at the prices of {document['prices']['date']}.{within} Nothing was asked."
    )


@tells("graph refresh")
def refreshed(verb: Any, outcome: Outcome, said: Said) -> None:
    """How many users are gone."""
    document = outcome.document
    said.line(
        f"{document['graph']}: asked about {counted(document['asked'], 'user')}, erased {document['erased']}; "
        f"{_ended(document)}."
    )
    doubt = document["uncertain_cost"]
    more = f", and ${doubt:,.3f} that may have been charged" if doubt else ""
    said.line(f"Requests: {document['requests']:,}, cost ${document['cost']:,.3f}{more}.")
    if left := document["left"]:
        said.line(f"{counted(left, 'user')} {'is' if left == 1 else 'are'} left; the next refresh goes on there.")
