"""Words for enriching."""

from __future__ import annotations

from typing import Any

from api.cli.words import Said, tells
from api.errors import counted
from api.verbs.contract import Outcome


@tells("enrich")
def enriched(verb: Any, outcome: Outcome, said: Said) -> None:
    """How many users have topics and places now, and what kept others from it."""
    document = outcome.document
    topics, places, pages = document["topics"], document["places"], document["pages"]
    said.line(f"{document['graph']}: {counted(document['users'], 'user')}, {counted(document['posts'], 'post')}.")
    said.line(
        f"Topics ({topics['by']}): {topics['users_with']:,} users, {topics['users_without']:,} without, "
        f"{topics['kept']:,} kept from before."
    )
    said.line(
        f"Places ({places['by']}): {places['placed']:,} placed, {places['unclear']:,} unclear, "
        f"{places['no_place']:,} that name no place, {places['no_text']:,} without a text, "
        f"{places['kept']:,} kept from before."
    )
    said.line(f"Pages: {pages['read']:,} read of {counted(pages['links'], 'link')}, {pages['failed']:,} failed.")
    if pages["failed"]:
        said.table("Links that gave no page", ["outcome", "links"], list(pages["failed_by_outcome"].items()))
    if document["left"]:
        said.line(f"Stopped early: {counted(document['left'], 'user')} left; enrich again to go on.")
