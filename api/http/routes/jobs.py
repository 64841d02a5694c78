"""Routes of jobs, and how a verb becomes one."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response, jsonify, request, send_file, url_for

from api.errors import OUTCOMES, worded
from api.http import paging
from api.http.describing import ANY_OBJECT, BYTES, COUNT, EVENTS, MAYBE, PAGES, STRING, answers, paged, record
from api.http.gate import account, keep_place, needs, service, tell_again
from api.http.problems import HttpProblem, call_by, name_here, outside, pointer, problem
from api.service import access
from api.service.access import UnknownThing
from api.service.graphs import split
from api.service.jobs import Job
from api.service.listeners import Gone, Listener
from api.service.requests import Request, form_of, offered
from api.service.uploads.uploads import UPLOAD
from api.verbs import verbs
from tabular.errors import InvalidInput, UnknownName

bp = Blueprint("jobs", __name__)

JOB = record(
    id=STRING,
    verb=STRING,
    options=ANY_OBJECT,
    state={"enum": ["queued", "running", "done", "failed", "cancelled"]},
    created=STRING,
    began=MAYBE,
    ended=MAYBE,
    progress={"type": ["object", "null"]},
    best={"type": ["object", "null"]},
)

#: What the result of a job that failed can be: what the verb itself would be refused for.
REFUSALS = (404, 409, 412, 413, 422, 502, 507)

#: How jobs end that no verb has ended.
_ENDS = {
    "MemoryError": (413, "Too large"),
    "Interrupted": (413, "Too large"),
    "TimeLimit": (422, "Time limit"),
    "OSError": (507, "File not written"),
}

#: The states that a job does not leave.
ENDED = ("done", "failed", "cancelled")

#: A stream ends after so many seconds, says something at least as often as this, and is taken up again after so many
#: milliseconds.
STREAM_SECONDS, HEARTBEAT, RETRY = 60.0, 10.0, 500

#: How long an answer waits for a job at most, in seconds, and how many do at once: each holds a thread.
LONGEST_WAIT, MOST_WAITING = 30, 12

#: So many seconds at a time.
_SLICE = 0.5

_WAITING = threading.BoundedSemaphore(MOST_WAITING)

_WAIT = re.compile(r"(?:^|[,;\s])wait=([0-9]{1,6})(?![0-9])")


def submitted(asked: Request) -> Response:
    """Queue a request: the job, or the result where the caller waits for it and it is there in time."""
    job = service().jobs.submit(asked.name, asked.options, account=account().id, seed=asked.seed)
    # The result may hold data of persons: a repeated request gets the job instead.
    tell_again(_shown(job), 202)
    seconds = _waiting()
    if seconds:
        job = _waited_for(job, seconds)
    if job.state == "done" and seconds:
        response = _result(job)
    elif job.state == "failed" and seconds:
        response = _failed(job)
    else:
        response = jsonify(_shown(job))
        response.status_code = 202
    response.headers["Location"] = url_for("jobs.show", id=job.id)
    if seconds:
        response.headers["Preference-Applied"] = f"wait={seconds}"
    return response


def _waited_for(job: Job, seconds: int) -> Job:
    """The job when it has ended, or when it is time; where too many wait already, as it is now."""
    if not _WAITING.acquire(blocking=False):
        return job
    until, is_gone = time.monotonic() + seconds, _gone()
    try:
        # Nobody waits longer than the service lives, or than somebody wants the answer.
        while not job.has_ended and (left := until - time.monotonic()) > 0 and not (service().is_stopping or is_gone()):
            job = service().jobs.wait(job.id, min(left, _SLICE))
        return job
    finally:
        _WAITING.release()


def _waiting() -> int:
    """For how many seconds the caller wants to wait."""
    found = _WAIT.search(request.headers.get("Prefer", ""))
    return min(int(found[1]), LONGEST_WAIT) if found else 0


@bp.get("/v1/jobs")
@needs("work")
@answers(paged("jobs", JOB), query=PAGES)
def listed() -> Response:
    """List your jobs, newest first; a custodian sees those of all accounts."""
    size = paging.limit()
    found = service().jobs.list(account=_whose(), after=paging.cursor(), limit=size + 1)
    return paging.page("jobs", found, lambda job: job.id, _shown, more=len(found) > size)


@bp.get("/v1/jobs/<id>")
@needs("work")
@answers(JOB)
def show(id: str) -> Response:
    """Show a job: its state, how far it is, and the best so far."""
    return jsonify(_shown(_found(id)))


@bp.post("/v1/jobs/<id>/cancel")
@needs("work")
@answers(JOB)
def cancel(id: str) -> Response:
    """Cancel a job; one that has ended stays as it is."""
    return jsonify(_shown(service().jobs.cancel(_found(id).id)))


@bp.post("/v1/jobs/<id>/resume")
@needs("work")
@answers(JOB, status=202)
def resume(id: str) -> Response:
    """Go on with a job that was cancelled, as a new job; evolutions can."""
    old = _found(id)
    if not service().jobs.can_go_on(old.id):
        raise HttpProblem(409, "Nothing to go on from", "This job was not cancelled, or nothing is left of it.")
    asked = service().requests.read(old.verb, verbs[old.verb].method, _again(old), account())
    service().note_request(asked, account())
    job = service().jobs.go_on(old.id, asked.options, account=account().id)
    response = jsonify(_shown(job))
    response.status_code = 202
    response.headers["Location"] = url_for("jobs.show", id=job.id)
    return response


def _again(job: Job) -> dict[str, Any]:
    """The options of a job as a request gives them."""
    known = offered(verbs[job.verb].method)
    given = {
        name: value for name, value in job.options.items() if name in known and not known[name].metadata.get("own")
    }
    for name, value in given.items():
        if form_of(known[name]) == "file" and isinstance(value, str) and value.startswith(UPLOAD):
            given[name] = {"upload": value.removeprefix(UPLOAD).partition(".")[0]}
        elif form_of(known[name]) == "table" and isinstance(value, str):
            given[name] = _free(value)
    return given


def _free(name: str) -> str:
    """A name for a table that is to be released: this one, or another where the job that was cancelled has it."""
    taken = {each.name for each in service().tables.visible(account().role) if each.kind == "release"}
    return next(each for each in (name, *(f"{name}-v{place}" for place in range(2, 10_000))) if each not in taken)


@bp.get("/v1/jobs/<id>/events")
@needs("work")
@answers(
    (EVENTS,),
    others={204: {}},
    headers={"Last-Event-ID": "The id of the last event that was heard; the stream goes on after it."},
)
def events(id: str) -> Response:
    """Stream what happens to a job, as server-sent events; a stream ends after a minute, to be taken up again."""
    job, after = _found(id), _last_heard()
    if job.has_ended and after >= job.version:
        # A browser does not come back after this.
        return Response(status=204)
    opened = ExitStack()
    listener = opened.enter_context(service().listeners.listening(job.id, after, _gone()))
    opened.callback(keep_place())
    response = Response(_stream(listener, opened), mimetype=EVENTS)
    # Where the answer is not read to its end, or not at all.
    response.call_on_close(opened.close)
    response.headers.update({"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
    return response


def _gone() -> Gone:
    """What says whether the caller of this request has gone away, where the server can tell."""
    return request.environ.get("waitress.client_disconnected") or (lambda: False)


def _last_heard() -> int:
    text = request.headers.get("Last-Event-ID", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _stream(listener: Listener, opened: ExitStack) -> Iterator[str]:
    """The events that a listener hears, as a browser reads them."""
    until = time.monotonic() + STREAM_SECONDS
    with opened:
        yield f"retry: {RETRY}\n\n"
        while (left := until - time.monotonic()) > 0:
            event = listener.heard(min(HEARTBEAT, left))
            if listener.has_ended:
                return
            if event is None:
                # Says that the stream lives, and finds out whether anybody listens.
                yield ":\n\n"
                continue
            data = json.dumps(dict(event.data), ensure_ascii=False)
            yield f"id: {event.number}\nevent: {event.kind}\ndata: {data}\n\n"
            if event.kind == "state" and event.data.get("state") in ENDED:
                return


@bp.get("/v1/jobs/<id>/result")
@needs("work")
@answers(ANY_OBJECT, refusals=REFUSALS)
def result(id: str) -> Response:
    """Give the document of a job that is done."""
    job = _found(id)
    if job.state == "failed":
        return _failed(job)
    if not job.has_ended:
        raise HttpProblem(409, "Not done", "This job has not ended, so it has no result yet.")
    _note(job, "result")
    return _result(job)


@bp.get("/v1/jobs/<id>/files")
@needs("work")
@answers(record(files={"type": "array", "items": record(name=STRING, size=COUNT)}))
def files(id: str) -> Response:
    """List the files that a job has written, with their sizes."""
    found = service().jobs.files(_found(id).id)
    return jsonify(files=[{"name": name, "size": size} for name, size in sorted(found.items())])


@bp.get("/v1/jobs/<id>/files/<path:name>")
@needs("work")
@answers((BYTES,))
def file(id: str, name: str) -> Response:
    """Download a file that a job has written."""
    job = _found(id)
    path = service().jobs.file(job.id, name)
    _note(job, "file")
    return send_file(path, as_attachment=True, download_name=path.name, mimetype="application/octet-stream")


def _whose() -> str | None:
    """Whose jobs are shown: everybody's to a custodian."""
    return None if access.may(account().role, "administer", "service") else account().id


def _found(id: str) -> Job:
    """The job with an *id*, if it is one's own or all are shown; ids of other people's jobs are no jobs."""
    try:
        job = service().jobs.get(id)
    except UnknownName:
        raise UnknownThing("No job has this id.") from None
    if _whose() not in (None, job.account):
        raise UnknownThing("No job has this id.")
    return job


def _note(job: Job, what: str) -> None:
    """Write down that somebody takes what came of somebody else's job: it may hold what an original holds.

    Whoever asked for it stands in the log already; a page says itself what it shows of it.
    """
    if job.account != account().id and request.path.startswith("/v1/"):
        about = {"verb": job.verb}
        service().log.add(f"job {what}", "job", job.id, account=account().name, role=account().role, details=about)


def _shown(job: Job) -> dict[str, Any]:
    """What is told of a job."""
    return {
        "id": job.id,
        "verb": job.verb,
        "options": {name: _name_here(job, name, value) for name, value in job.options.items()},
        "state": job.state,
        "created": _moment(job.created),
        "began": _moment(job.began),
        "ended": _moment(job.ended),
        "progress": None if job.progress is None else job.progress.document,
        "best": None if job.best is None else dict(job.best),
    }


def _name_here(job: Job, option: str, value: Any) -> Any:
    """The value of an option of a job, in which a graph has the name it has here and not that of the store."""
    if access.may_see(account().role, "original"):
        return value
    known = offered(verbs[job.verb].method) if job.verb in verbs else {}
    if option not in known or form_of(known[option]) != "graph" or not isinstance(value, str):
        return value
    name = split(value)[1]
    call_by(name, value)
    return name


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _result(job: Job) -> Response:
    found = service().jobs.result(job.id)
    return answered(found.document, condition_holds=found.condition_holds)


def answered(document: Mapping[str, Any], *, condition_holds: bool) -> Response:
    """The document of a verb; a header says whether the condition that it was given holds."""
    response = jsonify(dict(document))
    if condition_holds:
        response.headers["Graphpriv-Condition"] = "holds"
    return response


def _failed(job: Job) -> Response:
    """Why a job failed, as the problem it would have been at once."""
    found = service().jobs.failure(job.id)
    # The text may have names of the store.
    for option, value in job.options.items():
        _name_here(job, option, value)
    if found is None:
        return problem(500, "Failed", "The job failed; this is a bug.")
    text = outside(worded(found.text, name_here))
    if found.error in _ENDS:
        return problem(*_ENDS[found.error], text)
    kind = next((each for each in OUTCOMES if each.__name__ == found.error), None)
    if kind is None:
        return problem(500, "Failed", "The job failed; this is a bug.")
    # A column or a method that is not there is no address that is not there.
    outcome = OUTCOMES[InvalidInput if issubclass(kind, UnknownName) else kind]
    wrong = [{"pointer": pointer(name), "detail": text} for name in found.parameters[:1] if outcome.status < 500]
    return problem(outcome.status, outcome.title, text, errors=wrong)
