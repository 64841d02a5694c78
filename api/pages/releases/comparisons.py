"""Protections of one table side by side: any of them, sorted by any figure, and one of them released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import Response, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as Answered

from api.http.gate import needs
from api.pages import jobs
from api.pages.blueprint import bp, go, shown
from api.pages.commands import ways_of
from api.pages.releases.candidates import Candidate
from api.pages.releases.drafts import Draft, number
from api.pages.releases.tables import SAMPLE, candidate_of, job_of, table_of
from api.service.tables.tables import split

_COMPARE, _GRID = "table compare", "table protect"

#: The figures to sort by, each with whether a higher one is worse and comes first.
FIGURES = {
    "disclosure_risk": ("Disclosure risk", True),
    "linked": ("Rows linked correctly", True),
    "information_loss": ("Information loss", False),
    "score_max": ("Greater of both", False),
    "score_mean": ("Mean of both", False),
    "k": ("k", False),
}

#: So many protections stand in the table.
_SHOWN = 200


@dataclass(frozen=True)
class Row:
    """One protection with its figures and where it is released."""

    candidate: Candidate
    figures: Mapping[str, float | None]
    on_front: bool
    address: str | None


@bp.get("/protections")
@needs("protect")
def compare() -> Response:
    """Ask which protections of a table to compare."""
    subject = table_of(request.args)
    ticked = subject.completed(Draft.asked(request.args)).columns
    typed = ways_of(_COMPARE, {"file": f"{subject.name}.csv", "columns": list(ticked), "hierarchies": "hierarchies"})
    asked = ways_of(_COMPARE, {"file": f"original:{subject.name}", "columns": list(ticked)})
    return shown("releases/compare.html", subject=subject, ticked=ticked, ways=replace(typed, request=asked.request))


@bp.post("/protections")
@needs("protect")
def compare_them() -> Answered:
    """Compare protections as a job."""
    form, subject = request.form, table_of(request.form)
    options: dict[str, Any] = {"file": f"original:{subject.name}", "columns": form.getlist("columns")}
    if form.get("which") == "grid":
        return go("pages.compared", id=jobs.asked(_GRID, {**options, "grid": True, "html": "protections.html"}))
    options |= {"k": number("k", form.get("k") or "10"), "sample": SAMPLE, "html": "protections.html"}
    lines = [line.strip() for line in form.get("protections", "").splitlines() if line.strip()]
    if lines:
        options["protection"] = lines
    return go("pages.compared", id=jobs.asked(_COMPARE, options))


@bp.get("/protections/<id>")
@needs("protect")
def compared(id: str) -> Response:
    """Show the protections of a job side by side, and those of others that compared the same table."""
    job = job_of(id, _compares, "comparison")
    others = [job_of(each, _compares, "comparison") for each in request.args.getlist("also")]
    every = [job, *(each for each in others if _file(each) == _file(job))]
    results = [(each, result) for each in every if (result := jobs.result_of(each["id"])) is not None]
    by = request.args.get("by") or ""
    by = by if by in FIGURES else "disclosure_risk"
    together = _together(results)
    rows, ids = [_row(*each) for each in together], [each["id"] for each in every]
    left_out = [each for _, result in results for each in result["left_out"]]
    return shown(
        "releases/compared.html", job=job, name=_file(job), rows=_sorted(rows, by)[:_SHOWN], total=len(rows), by=by,
        heads=FIGURES, map=_map([each for _, each in together]) if together else None, left_out=left_out,
        also=ids[1:], others=_others(job, ids), ways=ways_of(job["verb"], job["options"]),
    )  # fmt: skip


def _others(job: Mapping[str, Any], ids: Sequence[str]) -> list[dict[str, Any]]:
    """Other comparisons of the same table that are done."""
    every = [each for each in jobs.newest() if _compares(each) and each["state"] == "done"]
    return [each for each in every if _file(each) == _file(job) and each["id"] not in ids]


def _compares(job: Mapping[str, Any]) -> bool:
    return job["verb"] == _COMPARE or (job["verb"] == _GRID and bool(job["options"].get("grid")))


def _file(job: Mapping[str, Any]) -> str:
    return split(str(job["options"]["file"]))[1]


def _row(job: Mapping[str, Any], found: Mapping[str, Any]) -> Row:
    candidate = candidate_of(found)
    figures = {name: found.get(name) for name in FIGURES} | {
        "linked": None if candidate.other_risk is None else 100 * candidate.other_risk
    }
    # A coding whose counts differ by column is several methods.
    is_one = not any(isinstance(value, Mapping) for value in found["parameters"].values())
    given: dict[str, Any] = {
        "table": _file(job),
        "columns": job["options"]["columns"],
        "chosen": candidate.id,
        "step": 5,
    }
    address = url_for("pages.guide", **given) if is_one else None
    return Row(candidate, figures, bool(found["on_front"]), address)


def _sorted(rows: Sequence[Row], by: str) -> list[Row]:
    worst_first = FIGURES[by][1]
    known = [row for row in rows if row.figures[by] is not None]
    unknown = [row for row in rows if row.figures[by] is None]
    return sorted(known, key=lambda row: row.figures[by] or 0, reverse=worst_first) + unknown


def _together(results: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[tuple[Any, dict[str, Any]]]:
    """All protections with their jobs, each with whether it is on the front of all of them."""
    from tabular.comparison import pareto_front

    every = [(job, each) for job, result in results for each in result["protections"]]
    front = pareto_front([(each["information_loss"], each["disclosure_risk"]) for _, each in every])
    return [(job, {**each, "on_front": on_front}) for (job, each), on_front in zip(every, front, strict=True)]


def _map(every: Sequence[Mapping[str, Any]]) -> Markup:
    """The map of risk and loss of all protections."""
    from tabular.report.kit.figures import Figures
    from tabular.report.reports import risk_loss_context

    found: Markup = risk_loss_context(Figures({"protections": list(every), "score": "max"}))["map"]
    return found
