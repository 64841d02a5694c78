"""The pages of jobs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from flask import Response, request, url_for
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.problems import HttpProblem, outside
from api.http.routes import jobs as routes
from api.pages.blueprint import bp, go, may, named_here, shown, told
from api.pages.commands import ways_of
from api.service.jobs import JobsNotRunning
from api.verbs import verbs
from tabular.errors import ReportedError, worded

ENDED = routes.ENDED


@bp.get("/jobs")
@needs("work")
def jobs() -> Response:
    """List jobs."""
    page = told(routes.listed)
    return shown("jobs.html", jobs=page["jobs"], following=page["next"])


@bp.get("/jobs/<id>")
@needs("work")
def job(id: str) -> Response:
    """Show one job, live."""
    job = found(id)
    files = told(routes.files, id=id)["files"] if job["state"] == "done" else []
    return shown("job.html", job=job, files=files, why=_why(job), ways=_ways(job), then=_then(job))


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
    options = job["options"]
    if job["state"] != "done":
        return None
    if job["verb"] == "graph import":
        return url_for("pages.graph", name=options["graph"]), "See the graph"
    if job["verb"] == "protect":
        return url_for("pages.graph", name=options["into"], kind="release"), "See the release"
    if job["verb"] == "audit" and may("measure", "release"):
        return url_for("pages.audit", name=options["released"]), "See the audit"
    return None
