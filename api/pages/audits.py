"""The page of an audit: the verdict, the risks and losses, and who is most exposed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Response, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.routes import jobs as job_routes
from api.pages import jobs, pictures
from api.pages.blueprint import bp, go, may, shown, told
from api.pages.commands import ways_of
from api.service.graphs import Graph, split
from api.service.requests import Thing
from tabular.errors import InvalidInput
from tabular.report.kit.charts import Point, scatter
from tabular.report.kit.figures import Figures

#: The values of k that a map of risk and loss shows.
_MAPPED = (2, 3, 5, 10, 20, 50)

#: How an audit calls what is found by links alone.
_LINKS = "structure"


#: How many of the most exposed users an audit lists.
_LISTED = 50

#: The files of an audit: the report, and all users at risk.
REPORT, AT_RISK = "audit.html", "at-risk.csv"


@bp.get("/releases/<name>/audit")
@needs("measure")
def audit(name: str) -> Response:
    """Show the newest audit of a release, or offer one."""
    graph = _release(name)
    found = latest_audits().get(graph.name)
    origin = origin_of(graph)
    if found is not None and found.document["at_risk"] and may("map", "original"):
        # The page names persons.
        thing = Thing("graph", "original", origin or graph.name)
        service().note_access("exposed users", (thing,), account(), release=graph.name)
    sweep = latest_sweep(origin) if origin else None
    ways = ways_of("audit", {"original": origin or "ORIGINAL", "released": graph.name, "html": REPORT})
    running = {
        "audit": _running("audit", "released", graph.name),
        "map": _running("sweep", "name", origin) if origin else None,
    }
    return shown(
        "audit.html", graph=graph, origin=origin, audit=found and found.document, job=found and found.id,
        files=found.files if found else (), report=REPORT, at_risk=AT_RISK, sweep=sweep,
        map=risk_loss(sweep, graph.info.k) if sweep else None, has_picture=graph.info.users <= pictures.MOST,
        picture=url_for("pages.picture", name=graph.name, kind=graph.kind), running=running, ways=ways,
        **(_context(found.document, graph.info.k) if found else {}),
    )  # fmt: skip


@bp.post("/releases/<name>/audit")
@needs("measure")
def audit_again(name: str) -> Answered:
    """Audit a release as a job."""
    graph = _release(name)
    names = {"original": f"original:{_origin(graph)}", "released": f"release:{graph.name}"}
    return go(
        "pages.job", id=jobs.asked("audit", {**names, "at_risk": _LISTED, "html": REPORT, "at_risk_out": AT_RISK})
    )


@bp.post("/releases/<name>/map")
@needs("measure")
def map_again(name: str) -> Answered:
    """Compute risk and loss by k as a job."""
    graph = _release(name)
    steps = [str(k) for k in _MAPPED if k <= graph.info.users // 2]
    return go("pages.job", id=jobs.asked("sweep", {"name": f"original:{_origin(graph)}", "k": steps, "runs": 1}))


@dataclass(frozen=True)
class Audited:
    """An audit that is done: its job, its document and its files."""

    id: str
    document: dict[str, Any]

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that the job has written."""
        return tuple(each["name"] for each in told(job_routes.files, id=self.id)["files"])


def origin_of(graph: Graph) -> str | None:
    """The original that a release was made of."""
    return None if graph.info.original is None else split(graph.info.original)[1]


def latest_audits() -> dict[str, Audited]:
    """The newest audit of each release, by the name of that."""
    found: dict[str, Audited] = {}
    for job in jobs.newest():
        name = split(str(job["options"].get("released", "")))[1]
        if job["verb"] == "audit" and job["state"] == "done" and name not in found:
            document = jobs.result_of(job["id"])
            if document is not None:
                found[name] = Audited(job["id"], document)
    return found


def latest_sweep(original: str) -> dict[str, Any] | None:
    """The newest figures by k of an original."""
    for job in jobs.newest():
        is_it = job["verb"] == "sweep" and split(str(job["options"].get("name", "")))[1] == original
        if is_it and job["state"] == "done":
            return jobs.result_of(job["id"])
    return None


def exposure(document: Mapping[str, Any]) -> dict[str, float]:
    """How often the best attacker names the right user, with profiles and by links alone; the fewest candidates."""
    kinds = ("highest", "highest_by_links")
    shares = {kind: float(document[kind]["expected_success"]["value"] or 0) for kind in kinds}
    return {**shares, "fewest": document["smallest_candidate_set"] or 0}


def risk_loss(sweep: Mapping[str, Any], k: int | None = None) -> Markup:
    """The map of risk and loss, a point for each k; the one of a release is ringed."""
    points = [
        Point(
            x=row["highest"]["expected_success"]["mean"],
            y=row["information_loss"]["mean"]["mean"],
            said=f"k {row['k']}: risk {row['highest']['expected_success']['mean']:.3f}, "
            f"loss {row['information_loss']['mean']['mean']:.3f}",
            name=f"k {row['k']}",
            is_ringed=row["k"] == k,
        )
        for row in sweep["rows"]
    ]
    return scatter(
        points,
        label="Points: risk and information loss for each k; lower left is better.",
        across="risk: share of users identified correctly",
        upwards="information loss",
        ceiling=1.0,
    )


def _release(name: str) -> Graph:
    return service().graphs.find(f"release:{name}", account().role, "measure", kinds=("release",))


def _origin(graph: Graph) -> str:
    found = origin_of(graph)
    if found is None:
        raise InvalidInput("The original of this release is gone, and an audit needs it.")
    return found


def _running(verb: str, option: str, name: str) -> str | None:
    """The id of a job about a graph that has not ended."""
    for job in jobs.newest():
        is_it = job["verb"] == verb and split(str(job["options"].get(option, "")))[1] == name
        if is_it and job["state"] in ("queued", "running"):
            return str(job["id"])
    return None


def _context(document: Mapping[str, Any], k: int | None) -> dict[str, Any]:
    """What the page shows of an audit; ids of the original are for those who may see the mapping."""
    from graphpriv.report.reports import audit_context

    context = audit_context(Figures(document))
    kept = ("names", "losses", "risks", "highest", "undecided")
    return {
        **{name: context[name] for name in kept},
        "exposed": document["at_risk"] if may("map", "original") else None,
        "verdict": exposure(document),
        "holds": holds(document["k"], k),
        "knowledge": knowledge(document),
    }


def holds(counted: int | None, promised: int | None) -> str:
    """Whether what was promised holds, in a sentence."""
    if counted is None:
        return "The number of users who share each profile is not known."
    if counted < (promised or 2):
        return f"Does not hold for k {promised or 2}: some profile is shared by {counted} only."
    return f"Holds for k {counted}."


@dataclass(frozen=True)
class Known:
    """What attackers find who know so much: the worst of them counts."""

    said: str
    surely: float | None
    one_in: str
    undecided: int


def knowledge(document: Mapping[str, Any]) -> list[Known]:
    """What attackers find by what they know: without links, with them, and by links alone."""
    from graphpriv.report import names

    k = document["k"]
    found = [] if k is None else [Known("Place and topics, no links", 0.0 if k > 1 else None, str(k), 0)]
    scenarios = [*document["parameters"]["scenarios"], _LINKS]
    for scenario in scenarios:
        said = names.LINKS_ALONE if scenario == _LINKS else f"{names.scenario(scenario)}, and links"
        found.append(_known(document, scenario, said))
    return found


def _known(document: Mapping[str, Any], scenario: str, said: str) -> Known:
    one, open_ones, sets = [], [], []
    for attacker in document["parameters"]["attackers"]:
        alone = scenario == _LINKS
        one.append(document["bounds"].get("one_candidate", {}).get(attacker, {}).get(scenario))
        open_ones.append(_at(document, "undecided", attacker, scenario, alone=alone))
        sets.append(_at(document, "candidates", attacker, scenario, alone=alone))
    surely = max((low for low, _ in filter(None, one)), default=None)
    undecided = round(max((share for share in open_ones if share is not None), default=0.0) * document["users"])
    return Known(said, surely, _fewest(sets), undecided)


def _at(document: Mapping[str, Any], what: str, attacker: str, scenario: str, *, alone: bool) -> Any:
    """What the audit says of an attacker: for links alone it stands elsewhere."""
    if alone:
        return (document["structure"].get(what) or {}).get(attacker)
    return (document.get(what) or {}).get(attacker, {}).get(scenario)


def _fewest(sets: Sequence[Mapping[str, int] | None]) -> str:
    """Among how few candidates somebody is found, as far as that is counted."""
    from graphpriv.report import names

    if not any(sets):
        return "not known"
    for bucket in names.BUCKETS[:-1]:
        if any(counts and counts.get(bucket) for counts in sets):
            return names.bucket(bucket)
    return "nobody found"
