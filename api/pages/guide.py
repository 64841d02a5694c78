"""The guided release: five decisions, each with its reason; what was chosen stands in the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flask import Response, request, url_for
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.problems import call_by
from api.http.routes import graphs as routes
from api.pages import jobs
from api.pages.audits import risk_loss
from api.pages.blueprint import bp, go, shown, told
from api.pages.commands import plan_text, ways_of
from api.service import access
from api.service.graphs import Graph, split
from api.verbs.graph.protect import ProtectGraph
from api.verbs.values import read_plan
from tabular.errors import InvalidInput, InvalidParameter

#: Who gets a release: how many users shall share each profile, and why.
AUDIENCES = {
    "colleagues": (5, "Colleagues under contract", "They have signed not to look for anybody, and you know them."),
    "partners": (10, "Named partners", "You know who they are, and not what else they have."),
    "everybody": (20, "Everybody", "Somebody will try, with everything else that can be found."),
}

#: What must stay useful, as the losses measure it.
USES = {
    "aamil": ("Who is linked with whom", "How links run between places and between topics (AAMIL)."),
    "cdil": ("How frequent things are", "How many users have each place and topic (CDIL)."),
    "dbil": ("What each user is like", "How near each user's values stay to the true ones (DBIL)."),
}

#: A plan is shorter than this.
_LARGEST_PLAN = 64 * 1024

STEPS = ("Which graph", "Who gets it", "What must stay useful", "Candidates", "Release")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What has been chosen so far."""

    graph: str | None
    who: str
    k: int
    useful: tuple[str, ...]
    job: str | None
    chosen: int | None
    into: str
    previous: str | None

    @classmethod
    def asked(cls, given: Any) -> Draft:
        """The draft that an address or a form holds."""
        who = given.get("who") if given.get("who") in AUDIENCES else "partners"
        graph = given.get("graph") or None
        return cls(
            graph=graph,
            who=who,
            k=_number("k", given.get("k") or str(AUDIENCES[who][0])),
            useful=tuple(each for each in USES if each in given.getlist("useful")),
            job=given.get("job") or None,
            chosen=_number("chosen", given["chosen"]) if given.get("chosen") else None,
            into=given.get("into") or "",
            previous=given.get("previous") or None,
        )

    @property
    def query(self) -> dict[str, Any]:
        """The draft as it stands in an address."""
        return {name: value for name, value in vars(self).items() if value}

    @property
    def options(self) -> dict[str, Any]:
        """The options of the release."""
        found = {"name": self.graph, "k": self.chosen or self.k, "into": self.into, "previous": self.previous}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def candidates(self) -> list[int]:
        """The three values of k to compare."""
        return sorted({max(2, self.k // 2), self.k, 2 * self.k})


@bp.get("/release")
@needs("protect")
def guide() -> Response:
    """Show one step."""
    draft = _draft(request.args)
    originals = [each for each in told(routes.listed)["graphs"] if each["kind"] == "original"]
    graph = None if draft.graph is None else _original(draft.graph)
    step = 1 if graph is None else min(max(_number("step", request.args.get("step") or "2"), 1), 5)
    context = _candidates(draft) if step >= 4 else {}
    releases = [] if graph is None else _releases(graph)
    if graph is not None and not draft.into:
        draft = Draft(**{**vars(draft), "into": _free(graph.name)})
    return shown(
        "guide.html", step=step, steps=STEPS, draft=draft, graph=graph, originals=originals, audiences=AUDIENCES,
        uses=USES, releases=releases, back=_addresses(draft), ways=_ways(draft), **context,
    )  # fmt: skip


@bp.post("/release/candidates")
@needs("protect")
def candidates() -> Answered:
    """Begin to compute the candidates, while the next question is read."""
    draft = _draft(request.form)
    graph = _original(draft.graph or "")
    steps = [str(k) for k in draft.candidates if k <= max(graph.info.users // 2, 2)]
    found = jobs.asked("sweep", {"name": f"original:{graph.name}", "k": steps, "runs": 1})
    return go("pages.guide", **{**draft.query, "job": found, "chosen": None, "step": 3})


@bp.post("/release")
@needs("protect")
def release() -> Answered:
    """Release the graph as a job."""
    draft = _draft(request.form)
    options = {**draft.options, "name": f"original:{_original(draft.graph or '').name}"}
    if draft.previous:
        options["previous"] = f"release:{draft.previous}"
    return go("pages.job", id=jobs.asked("protect", options))


@bp.get("/release/plan")
@needs("protect")
def plan() -> Response:
    """Download the choices as a plan, which `graphpriv run` performs."""
    draft = _draft(request.args)
    _original(draft.graph or "")
    response = Response(plan_text("protect", draft.options), mimetype="text/plain")
    response.headers["Content-Disposition"] = "attachment; filename=release.toml"
    return response


@bp.post("/release/plan")
@needs("protect")
def planned() -> Answered:
    """Take a plan up again: its choices, for the graph that it names or for another one."""
    draft = _draft(request.form)
    file = request.files.get("plan")
    data = b"" if file is None else file.read(_LARGEST_PLAN)
    options = _options_of(data.decode("utf-8", "replace"), file.filename or "" if file is not None else "")
    chosen = {"graph": draft.graph or split(str(options["name"]))[1], "k": options["k"], "into": None}
    return go("pages.guide", **{**draft.query, **chosen, "job": None, "chosen": None, "step": 2})


def _options_of(text: str, name: str) -> dict[str, Any]:
    """The options of a release that the *text* of a plan holds."""
    with TemporaryDirectory(prefix="request-", dir=service().folder) as folder:
        path = Path(folder) / ("plan.json" if name.lower().endswith(".json") else "plan.toml")
        path.write_text(text, encoding="utf-8")
        call_by("the plan", str(path))
        verb, found = read_plan(str(path))
    if not isinstance(found, ProtectGraph):
        raise InvalidInput(f"This is a plan for {verb}, and not for a release of a graph.")
    return vars(found)


def _draft(given: Any) -> Draft:
    """What whoever may release graphs has chosen; for others there is no such page, whatever they name."""
    access.refuse_role(account().role, "protect", is_about_nothing=True)
    return Draft.asked(given)


def _candidates(draft: Draft) -> dict[str, Any]:
    """The candidates, those with the worst risk first; None while they are computed."""
    if draft.job is None:
        return {"job": None, "rows": None, "map": None}
    job = jobs.found(draft.job)
    sweep = jobs.result_of(draft.job)
    rows = (
        None if sweep is None else sorted((_row(each, draft) for each in sweep["rows"]), key=lambda each: -each["risk"])
    )
    return {"job": job, "rows": rows, "map": risk_loss(sweep) if sweep else None}


def _row(found: Mapping[str, Any], draft: Draft) -> dict[str, Any]:
    losses = {name: found["information_loss"][name]["mean"] for name in USES}
    wanted = [losses[name] for name in draft.useful or USES]
    return {
        "k": found["k"],
        "risk": found["highest"]["expected_success"]["mean"],
        "links": found["highest_by_links"]["expected_success"]["mean"],
        "losses": losses,
        "loss": sum(wanted) / len(wanted),
    }


def _ways(draft: Draft) -> Any:
    return ways_of("protect", {"name": "NAME", **draft.options, "into": draft.into or "RELEASE"})


def _addresses(draft: Draft) -> list[str]:
    """The address of each step with all that was chosen."""
    return [url_for("pages.guide", **{**draft.query, "step": step}) for step in range(1, len(STEPS) + 1)]


def _original(name: str) -> Graph:
    return service().graphs.find(f"original:{name}", account().role, "protect", kinds=("original",))


def _releases(graph: Graph) -> list[str]:
    """The releases of an original, the newest first."""
    every = [each for each in service().graphs.visible(account().role) if each.kind == "release"]
    own = [each for each in every if each.info.original is not None and split(each.info.original)[1] == graph.name]
    return [each.name for each in sorted(own, key=lambda each: each.info.created, reverse=True)]


def _free(name: str) -> str:
    taken = {each.name for each in service().graphs.visible(account().role) if each.kind == "release"}
    return next(each for each in (f"{name}-v{number}" for number in range(1, 10_000)) if each not in taken)


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidParameter.wrong(name, must="be a whole number", was=text[:20])
    return int(text)
