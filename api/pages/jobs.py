"""The pages of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from flask import Response, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.problems import HttpProblem, outside
from api.http.routes import jobs as routes
from api.pages.blueprint import bp, go, may, named_here, shown, told
from api.pages.commands import ways_of
from api.service.graphs import split
from api.service.jobs import JobsNotRunning
from api.verbs import verbs
from tabular.errors import ReportedError, worded
from tabular.report.kit.charts import Moment, held_lines

ENDED = routes.ENDED

#: The options that say what a job is about, the first one that is there.
_ABOUT = ("into", "released", "graph", "table", "name", "file", "original")


@bp.get("/jobs")
@needs("work")
def jobs() -> Response:
    """List jobs."""
    page = told(routes.listed)
    every = page["jobs"]
    running = [each for each in every if each["state"] not in ENDED]
    titles = {each["id"]: title_of(each) for each in every}
    return shown("jobs.html", jobs=every, running=running, titles=titles, following=page["next"])


@bp.get("/jobs/<id>")
@needs("work")
def job(id: str) -> Response:
    """Show one job, live."""
    job = found(id)
    files = told(routes.files, id=id)["files"] if job["state"] == "done" else []
    return shown(
        "job.html", job=job, title=title_of(job), files=files, why=_why(job), ways=_ways(job), then=_then(job),
        course=_course(id), charts=_charts(job), took=_took(job),
    )  # fmt: skip


@bp.post("/jobs/<id>/cancel")
@needs("work")
def cancel_job(id: str) -> Answered:
    """Cancel a job."""
    told(routes.cancel, id=id)
    return go("pages.job", id=id)


def newest() -> list[dict[str, Any]]:
    """The newest jobs that whoever asks may see; none where no jobs run."""
    if request.args.get("cursor") or request.args.get("limit"):
        raise HttpProblem(400, "Invalid input", "This page takes no cursor and no limit.")
    with suppress(JobsNotRunning):
        listed: list[dict[str, Any]] = told(routes.listed)["jobs"]
        return listed
    return []


def asked(verb: str, options: dict[str, Any]) -> str:
    """Ask for a verb as a job; the id of that."""
    request = service().requests.read(verb, verbs[verb].method, options, account())
    service().note_request(request, account())
    id: str = routes.submitted(request).get_json()["id"]
    return id


def found(id: str) -> dict[str, Any]:
    """A job that whoever asks may see."""
    job: dict[str, Any] = told(routes.show, id=id)
    return job


def result_of(id: str) -> dict[str, Any] | None:
    """What came of a job, if it is done and its result is there."""
    if found(id)["state"] != "done":
        return None
    with suppress(ReportedError):
        result: dict[str, Any] = told(routes.result, id=id)
        return result
    return None


def title_of(job: Mapping[str, Any]) -> str:
    """What a job does, and with what."""
    options = job["options"]
    about = next((options[name] for name in _ABOUT if isinstance(options.get(name), str)), None)
    said: str = job["verb"].capitalize()
    return said if about is None else f"{said}: {split(about)[1]}"


def _course(id: str) -> Markup | None:
    """How the best came about, for a search that has one loss."""
    # That whoever asks may see the job was looked up before.
    told_of = service().jobs.events({id: 0})
    best = [each for each in told_of if each.kind == "best" and each.data.get("loss") is not None]
    if not best:
        return None
    began = min(each.at for each in told_of)
    moments = [
        Moment(
            each.at - began,
            (each.data["loss"], each.data.get("lower_bound")),
            f"After {each.at - began:.1f} s: {each.data['loss']:.4f}",
        )
        for each in best
    ]
    return held_lines(
        moments, names=("best so far", "lower bound"), between="possible gain",
        label="Lines: the lowest loss found so far, over time.", across="seconds", upwards="loss",
    )  # fmt: skip


def _charts(job: Mapping[str, Any]) -> tuple[Markup, Markup] | None:
    """How far an evolution is: its history, and its population on the map."""
    from tabular.report.evolution import evolution_charts

    best = job["best"] or {}
    if job["verb"] != "table evolve" or not {"history", "start", "population"} <= set(best):
        return None
    return evolution_charts(best)


def _took(job: Mapping[str, Any]) -> float | None:
    """For how many seconds a job ran."""
    if job["began"] is None or job["ended"] is None:
        return None
    began, ended = (datetime.fromisoformat(job[each]) for each in ("began", "ended"))
    return (ended - began).total_seconds()


def _why(job: dict[str, Any]) -> str | None:
    """Why a job failed."""
    if job["state"] != "failed":
        return None
    failure = service().jobs.failure(job["id"])
    return outside(worded(failure.text, named_here)) if failure else "This is a bug."


def _ways(job: dict[str, Any]) -> Any:
    return ways_of(job["verb"], job["options"]) if job["verb"] in verbs else None


def _then(job: dict[str, Any]) -> tuple[str, str] | None:
    """Where what a job made can be seen, and what that is called."""
    options = {name: split(text)[1] if isinstance(text, str) else text for name, text in job["options"].items()}
    if job["verb"] == "table search" and options.get("objectives") and not options.get("alone"):
        return url_for("pages.front", id=job["id"]), "See the search results"
    if job["verb"] == "crawl" and job["state"] in ("failed", "cancelled") and may("store", "original"):
        return _rest_of(str(options["graph"]))
    if job["state"] != "done":
        return None
    if job["verb"] == "table compare" or (job["verb"] == "table protect" and options.get("grid")):
        return url_for("pages.compared", id=job["id"]), "Compare the protections"
    if job["verb"] in ("table protect", "table search") and options.get("into"):
        return url_for("pages.table", name=options["into"], kind="release"), "See the release"
    if job["verb"] in ("table check", "table measure") and may("measure", "release"):
        kind, name = split(job["options"].get("masked") or job["options"]["file"])
        return url_for("pages.masked", name=name, kind=kind), "See the audit"
    if job["verb"] in ("graph import", "crawl", "enrich"):
        return url_for("pages.graph", name=options.get("graph", options.get("name"))), "See the graph"
    if job["verb"] == "table import":
        return url_for("pages.table", name=options["into"], kind="original"), "See the table"
    if job["verb"] == "protect":
        return url_for("pages.graph", name=options["into"], kind="release"), "See the release"
    if job["verb"] == "audit" and may("measure", "release"):
        return url_for("pages.audit", name=options["released"]), "See the audit"
    if job["verb"] == "sweep" and may("measure", "release"):
        return _map_of(options["name"])
    return None


def _rest_of(name: str) -> tuple[str, str] | None:
    """Where a crawl that was cut off goes on; nowhere if it ended before there was anything."""
    every = service().graphs.visible(account().role)
    stored = next((each.stored for each in every if (each.kind, each.name) == ("original", name)), None)
    if stored is None or service().opened().crawl_of(stored) is None:
        return None
    return url_for("pages.collect_more", name=name), "Go on collecting"


def _map_of(original: str) -> tuple[str, str] | None:
    """Where the risks and losses of an original by k are shown: beside the audit of its newest release."""
    every = [each for each in service().graphs.visible(account().role) if each.info.original is not None]
    own = [each for each in every if split(str(each.info.original))[1] == original]
    newest = max(own, key=lambda each: each.info.created, default=None)
    return None if newest is None else (url_for("pages.audit", name=newest.name) + "#map", "See risk and loss by k")
