"""The home page: what is there, and the one thing to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Response, url_for

from api.http.gate import needs
from api.http.routes import graphs
from api.pages import jobs
from api.pages.audits import exposure, latest_audits
from api.pages.blueprint import bp, may, opens, shown, told
from api.pages.commands import ways_of
from api.pages.tables.tables import overview


@dataclass(frozen=True)
class Next:
    """What to do next, why, and where."""

    text: str
    label: str | None = None
    address: str | None = None


@bp.get("/")
@needs("describe")
def home() -> Response:
    """Show what there is."""
    every = told(graphs.listed)["graphs"]
    originals = [each for each in every if each["kind"] == "original"]
    releases = [each for each in every if each["kind"] == "release"]
    running = [each for each in jobs.newest() if each["state"] in ("queued", "running")]
    audits = latest_audits() if may("measure", "release") else {}
    exposed = {name: exposure(found.document) for name, found in audits.items()}
    kept = overview()
    return shown(
        "home.html",
        originals=originals,
        releases=releases,
        running=running,
        titles={each["id"]: jobs.title_of(each) for each in running},
        exposed=exposed,
        tables=kept,
        next=_next(originals, releases, running, exposed, kept),
        ways=ways_of("graph list", {}, request="GET /v1/graphs"),
    )


def _next(
    originals: Sequence[Mapping[str, Any]],
    releases: Sequence[Mapping[str, Any]],
    running: Sequence[Mapping[str, Any]],
    exposed: Mapping[str, Any],
    tables: Sequence[Mapping[str, Any]],
) -> Next:
    """The one next action for whoever asks."""
    if not (originals or releases or tables) and opens("pages.upload"):
        return Next("There are no graphs or tables yet.", "Upload one", url_for("pages.upload"))
    released = {each.get("original") for each in releases}
    waiting = [each for each in originals if each["name"] not in released]
    if waiting and opens("pages.guide"):
        name = max(waiting, key=lambda each: str(each["created"]))["name"]
        return Next(f"“{name}” has no release yet.", "Release it", url_for("pages.guide", graph=name))
    unreleased = _next_of_tables(tables) if opens("pages.guide") else None
    if unreleased is not None:
        return unreleased
    if running:
        return Next("A job is running.", "Watch it", url_for("pages.job", id=running[0]["id"]))
    return _next_of_releases(releases, exposed, tables)


def _next_of_tables(tables: Sequence[Mapping[str, Any]]) -> Next | None:
    """What to do with the first original table that is not ready for a release, or has none yet."""
    newest = max((each["created"] for each in tables if each["kind"] == "release"), default="")
    for each in tables:
        if each["kind"] == "original" and each["columns"] is not None and each["created"] > newest:
            if each["ready"] < each["columns"]:
                text = f"“{each['name']}” has {each['ready']} of {each['columns']} columns ready for release."
                return Next(text, "Describe its columns", url_for("pages.table", name=each["name"], kind="original"))
            return Next(
                f"“{each['name']}” has no release yet.", "Release it", url_for("pages.guide", table=each["name"])
            )
    return None


def _next_of_releases(
    releases: Sequence[Mapping[str, Any]], exposed: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]
) -> Next:
    unaudited = [each["name"] for each in releases if each["name"] not in exposed]
    if unaudited and opens("pages.audit"):
        return Next(f"“{unaudited[0]}” has not been audited.", "Audit it", url_for("pages.audit", name=unaudited[0]))
    released = [each for each in tables if each["kind"] == "release"]
    if not releases and not released:
        return Next("Nothing has been released yet. Releases appear here.")
    newest = max([*releases, *released], key=lambda each: str(each["created"]))
    endpoint = "pages.table" if newest in released else "pages.graph"
    address = url_for(endpoint, name=newest["name"], kind="release")
    return Next(f"The newest release is “{newest['name']}”.", "Look at it", address)
