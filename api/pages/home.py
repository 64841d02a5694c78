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
    exposed = {name: exposure(found) for name, found in audits.items()}
    return shown(
        "home.html",
        originals=originals,
        releases=releases,
        running=running,
        exposed=exposed,
        next=_next(originals, releases, running, exposed),
        ways=ways_of("graph list", {}, request="GET /v1/graphs"),
    )


def _next(
    originals: Sequence[Mapping[str, Any]],
    releases: Sequence[Mapping[str, Any]],
    running: Sequence[Mapping[str, Any]],
    exposed: Mapping[str, Any],
) -> Next:
    """The one next action for whoever asks."""
    if not originals and opens("pages.upload") and not releases:
        return Next("There is no graph here yet.", "Upload one", url_for("pages.upload"))
    released = {each.get("original") for each in releases}
    waiting = [each["name"] for each in originals if each["name"] not in released]
    if waiting and opens("pages.guide"):
        return Next(f"“{waiting[0]}” has no release yet.", "Release it", url_for("pages.guide", graph=waiting[0]))
    if running:
        return Next("A job is running.", "Watch it", url_for("pages.job", id=running[0]["id"]))
    return _next_of_releases(releases, exposed)


def _next_of_releases(releases: Sequence[Mapping[str, Any]], exposed: Mapping[str, Any]) -> Next:
    unaudited = [each["name"] for each in releases if each["name"] not in exposed]
    if unaudited and opens("pages.audit"):
        return Next(f"“{unaudited[0]}” has not been audited.", "Audit it", url_for("pages.audit", name=unaudited[0]))
    if not releases:
        return Next("Nothing has been released yet. Releases stand here as soon as there are some.")
    newest = max(releases, key=lambda each: str(each["created"]))
    address = url_for("pages.graph", name=newest["name"], kind="release")
    return Next(f"The newest release is “{newest['name']}”.", "Look at it", address)
