"""The page of an audit: the verdict, the risks and losses, and who is most exposed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response
from markupsafe import Markup
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.pages import jobs
from api.pages.blueprint import bp, go, may, shown
from api.pages.commands import ways_of
from api.service.graphs import Graph, split
from tabular.errors import InvalidInput
from tabular.report.kit.charts import Point, scatter
from tabular.report.kit.figures import Figures

#: The values of k that a map of risk and loss shows.
_MAPPED = (2, 3, 5, 10, 20, 50)


@bp.get("/releases/<name>/audit")
@needs("measure")
def audit(name: str) -> Response:
    """Show the newest audit of a release, or offer one."""
    graph = _release(name)
    document = latest_audits().get(graph.name)
    context: dict[str, Any] = {} if document is None else _context(document)
    origin = origin_of(graph)
    sweep = latest_sweep(origin) if origin else None
    ways = ways_of("audit", {"original": origin or "ORIGINAL", "released": graph.name})
    return shown("audit.html", graph=graph, origin=origin, audit=document, map=risk_loss(sweep) if sweep else None,
                 running=_running(graph), ways=ways, **context)  # fmt: skip


@bp.post("/releases/<name>/audit")
@needs("measure")
def audit_again(name: str) -> Answered:
    """Audit a release as a job."""
    graph = _release(name)
    options = {"original": f"original:{_origin(graph)}", "released": f"release:{graph.name}", "at_risk": 50}
    return go("pages.job", id=jobs.asked("audit", options))


@bp.post("/releases/<name>/map")
@needs("measure")
def map_again(name: str) -> Answered:
    """Compute risk and loss by k as a job."""
    graph = _release(name)
    steps = [str(k) for k in _MAPPED if k <= graph.info.users // 2]
    return go("pages.job", id=jobs.asked("sweep", {"name": f"original:{_origin(graph)}", "k": steps, "runs": 1}))


def origin_of(graph: Graph) -> str | None:
    """The original that a release was made of."""
    return None if graph.info.original is None else split(graph.info.original)[1]


def latest_audits() -> dict[str, dict[str, Any]]:
    """The newest audit of each release, by the name of that."""
    found: dict[str, dict[str, Any]] = {}
    for job in jobs.newest():
        name = split(str(job["options"].get("released", "")))[1]
        if job["verb"] == "audit" and job["state"] == "done" and name not in found:
            document = jobs.result_of(job["id"])
            if document is not None:
                found[name] = document
    return found


def latest_sweep(original: str) -> dict[str, Any] | None:
    """The newest figures by k of an original."""
    for job in jobs.newest():
        is_it = job["verb"] == "sweep" and split(str(job["options"].get("name", "")))[1] == original
        if is_it and job["state"] == "done":
            return jobs.result_of(job["id"])
    return None


def exposure(document: Mapping[str, Any]) -> dict[str, float]:
    """How often the best attacker names the right user: with profiles, and by links alone."""
    return {kind: float(document[kind]["expected_success"]["value"] or 0) for kind in ("highest", "highest_by_links")}


def risk_loss(sweep: Mapping[str, Any]) -> Markup:
    """The map of risk and loss, a point for each k."""
    rows: Sequence[Mapping[str, Any]] = sweep["rows"]
    points = [
        Point(
            x=row["highest"]["expected_success"]["mean"],
            y=row["information_loss"]["mean"]["mean"],
            said=f"k {row['k']}: risk {row['highest']['expected_success']['mean']:.3f}, "
            f"loss {row['information_loss']['mean']['mean']:.3f}",
            shade=row["k"],
            is_ringed=True,
        )
        for row in rows
    ]
    return scatter(
        points,
        label="Points: risk and information loss of each k; lower left is better.",
        across="risk: share of users named rightly",
        upwards="information loss",
        shade="k",
        ceiling=1.0,
    )


def _release(name: str) -> Graph:
    return service().graphs.find(f"release:{name}", account().role, "measure", kinds=("release",))


def _origin(graph: Graph) -> str:
    found = origin_of(graph)
    if found is None:
        raise InvalidInput("The original of this release is gone, and nothing can be measured without it.")
    return found


def _running(graph: Graph) -> str | None:
    """The id of an audit of a release that has not ended."""
    for job in jobs.newest():
        is_it = job["verb"] == "audit" and split(str(job["options"].get("released", "")))[1] == graph.name
        if is_it and job["state"] in ("queued", "running"):
            return str(job["id"])
    return None


def _context(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of an audit; who is exposed is for those who may see the original."""
    from graphpriv.report.reports import audit_context

    exposed = document["at_risk"] if may("read", "original") else None
    context = audit_context(Figures(document))
    kept = ("names", "losses", "risks", "highest")
    return {**{name: context[name] for name in kept}, "exposed": exposed, "verdict": exposure(document)}
