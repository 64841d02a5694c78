"""The guided release of a graph or a table: five decisions, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import Response, request, url_for
from werkzeug.wrappers import Response as Answered

from api.http.bodies import scanned
from api.http.gate import account, needs
from api.http.routes import graphs, tables
from api.pages import jobs
from api.pages.blueprint import bp, go, shown, told
from api.pages.commands import plan_text
from api.pages.releases import plans
from api.pages.releases.candidates import Candidate, Subject, preferred, risk_loss, worst_first
from api.pages.releases.drafts import AUDIENCES, Draft, number
from api.pages.releases.graphs import GraphRelease
from api.pages.releases.tables import TableRelease
from api.service import access
from api.service.graphs import split
from tabular.errors import InvalidInput, counted

STEPS = ("Which file", "Who gets it", "What must stay useful", "Candidates", "Release")

_SUBJECTS: Mapping[str, Callable[[str], Subject]] = {"graph": GraphRelease.called, "table": TableRelease.called}


@bp.get("/release")
@needs("protect")
def guide() -> Response:
    """Show one step."""
    draft = _draft(request.args)
    if draft.kind is None:
        return shown(
            "releases/guide.html", step=1, steps=STEPS, back=_addresses(draft), draft=draft, subject=None,
            originals=_originals(),
        )  # fmt: skip
    subject = _subject(draft)
    step = min(max(number("step", request.args.get("step") or "2"), 1), len(STEPS))
    context: dict[str, Any] = {"originals": _originals()} if step == 1 else {}
    completed, uses = subject.completed(draft), subject.uses(draft)
    # What an earlier choice of columns ticked may be gone.
    draft = replace(draft, useful=tuple(each for each in draft.useful if each in uses))
    if step == 4:
        context |= _candidates(draft, subject)
    if step == 5:
        context |= {"promise": subject.promise(draft), "ways": subject.ways(completed)}
    return shown(
        "releases/guide.html", step=step, steps=STEPS, back=_addresses(draft), draft=draft, subject=subject,
        completed=completed, audiences=AUDIENCES, uses=uses, hindrance=subject.hindrance(draft), **context,
    )  # fmt: skip


@bp.post("/release/candidates")
@needs("protect")
def candidates() -> Answered:
    """Begin to compute the candidates, while the next question is read."""
    draft = _draft(request.form)
    asked = [_job(draft, verb, options) for verb, options in _subject(draft).asks(draft)]
    return go("pages.guide", **{**draft.computing(tuple(asked)).query, "step": 3})


@bp.post("/release")
@needs("protect")
def release() -> Answered:
    """Release the chosen candidate as a job."""
    draft = _draft(request.form)
    return go("pages.job", id=jobs.asked(*_subject(draft).release(draft)))


@bp.get("/release/plan")
@needs("protect")
def plan() -> Response:
    """Download the choices as a plan, which `graphpriv run` performs."""
    draft = _draft(request.args)
    response = Response(plan_text(*_subject(draft).plan(draft)), mimetype="text/plain")
    response.headers["Content-Disposition"] = "attachment; filename=release.toml"
    return response


@bp.post("/release/plan")
@needs("protect")
def planned() -> Answered:
    """Take a plan up again: its choices, for what it names or for what was chosen here."""
    draft = _draft(request.form)
    file = request.files.get("plan")
    data = b"" if file is None else scanned(file.read(plans.LARGEST))
    chosen = plans.chosen_in(data, file.filename or "" if file is not None else "")
    if draft.kind == chosen["kind"]:
        chosen["name"] = draft.name
    taken = replace(draft, **chosen, useful=(), job=(), into="", previous=None)
    return go("pages.guide", **{**taken.query, "step": 2})


def _draft(given: Any) -> Draft:
    """What whoever may release things has chosen; for others there is no such page, whatever they name."""
    access.refuse_role(account().role, "protect", is_about_nothing=True)
    return Draft.asked(given)


def _subject(draft: Draft) -> Subject:
    if draft.kind is None:
        raise InvalidInput("Choose a graph or a table to release.")
    return _SUBJECTS[draft.kind](draft.name or "")


def _originals() -> list[tuple[str, str, str]]:
    """What can be released: its kind, its name, and how large it is."""
    found = [
        ("graph", each["name"], f"{counted(each['users'], 'user')}, {counted(each['edges'], 'link')}")
        for each in told(graphs.listed)["graphs"]
        if each["kind"] == "original"
    ]
    return found + [
        ("table", each["name"], f"a table of {counted(each['size'], 'byte')}")
        for each in told(tables.listed)["tables"]
        if each["kind"] == "original"
    ]


def _job(draft: Draft, verb: str, options: dict[str, Any]) -> str:
    """A job that computes candidates; one that is at it already for the same choices is taken again."""
    for id in draft.job:
        known = jobs.found(id)
        same = all(_plain(known["options"].get(name)) == _plain(options.get(name)) for name in (*options, "previous"))
        if known["verb"] == verb and known["state"] in ("queued", "running") and same:
            return id
    return jobs.asked(verb, options)


def _plain(value: Any) -> Any:
    """The value of an option without what says that a name is that of an original or a release."""
    return split(value)[1] if isinstance(value, str) else value


def _candidates(draft: Draft, subject: Subject) -> dict[str, Any]:
    """The candidates of all jobs, those with the worst risk first, and the jobs that have none yet."""
    every = [jobs.found(id) for id in draft.job]
    results = [result for id in draft.job if (result := jobs.result_of(id)) is not None]
    found: Sequence[Candidate] = worst_first([each for result in results for each in subject.candidates(draft, result)])
    return {
        "rows": found,
        "take": preferred(found, draft),
        "map": risk_loss(found, draft.useful) if found else None,
        "left_out": [each for result in results[-1:] for each in subject.left_out(result)],
        "running": [each for each in every if each["state"] in ("queued", "running")],
        "failed": [each for each in every if each["state"] in ("failed", "cancelled")],
        "report": next((id for id in reversed(draft.job) if _has_report(id)), None),
    }


def _has_report(id: str) -> bool:
    job = jobs.found(id)
    return job["state"] == "done" and "html" in job["options"]


def _addresses(draft: Draft) -> list[str]:
    """The address of each step with all that was chosen."""
    return [url_for("pages.guide", **{**draft.query, "step": step}) for step in range(1, len(STEPS) + 1)]
