"""A search of generalisations, live: its front as a chart and a table, and a node that is picked and released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from flask import Response, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.routes import jobs as job_routes
from api.http.routes import tables as routes
from api.pages import jobs
from api.pages.blueprint import bp, go, shown, told
from api.pages.commands import ways_of
from api.pages.releases.drafts import Draft, decimal, number
from api.pages.releases.previews import Preview, previewed
from api.pages.releases.tables import TableRelease, job_of, table_of
from api.service.tables.tables import split
from api.service.uploads.uploads import UPLOAD
from tabular.errors import InvalidInput, InvalidParameter, ReportedError

_VERB = "table search"

#: Options of a search that say what a node must keep, and so belong to its release.
_KEPT = ("quasi_identifiers", "k", "l", "t", "sensitive", "suppression", "class_label", "objectives", "metric")

#: So many nodes stand in the table, and so many labels of a level in words.
_NODES, _LABELS = 200, 4

#: What can be sought beside k, in words.
OBJECTIVES = {
    "glm": "Little loss (GLM)",
    "precision": "Low levels (precision)",
    "l": "Many sensitive values in each class (l)",
    "cm": "Classes that agree in a label (CM)",
}


@dataclass(frozen=True)
class Level:
    """The level of one column, in words."""

    column: str
    level: int
    height: int
    labels: Sequence[str]
    #: Whether the level has more labels.
    more: bool


@bp.get("/search")
@needs("protect")
def search() -> Response:
    """Ask what to search for."""
    subject = table_of(request.args)
    has = {each["column"] for each in told(routes.hierarchies, name=f"original:{subject.name}")["hierarchies"]}
    proposed = subject.completed(Draft.asked(request.args)).columns
    columns = [(name, name in has, name in proposed and name in has) for name, _ in subject.columns]
    asked = _asked(subject.name, [name for name, _, ticked in columns if ticked])
    typed = ways_of(_VERB, {**asked, "file": f"{subject.name}.csv", "hierarchies": "hierarchies"})
    ways = replace(typed, request=ways_of(_VERB, asked).request)
    return shown("releases/search.html", subject=subject, columns=columns, objectives=OBJECTIVES, ways=ways)


@bp.post("/search")
@needs("protect")
def searched() -> Answered:
    """Begin a search as a job."""
    form, subject = request.form, table_of(request.form)
    given = [each for each in form.getlist("objectives") if each in OBJECTIVES]
    options = _asked(subject.name, form.getlist("columns"))
    options["objectives"] = ["k", *given] if given else ["k", "glm"]
    if form.get("k"):
        options["k"] = number("k", form["k"])
    options["suppression"] = decimal("suppression", form.get("suppression") or "0.01")
    for name in ("sensitive", "class_label"):
        if form.get(name):
            options[name] = form[name]
    return go("pages.front", id=jobs.asked(_VERB, options))


@bp.get("/search/<id>")
@needs("protect")
def front(id: str) -> Response:
    """Show what a search has found so far, and the node that was picked."""
    job = _job(id)
    result = _result(job)
    names, objectives = list(job["options"]["quasi_identifiers"]), list(job["options"].get("objectives") or ())
    found = _solutions(job, result)
    picked = _picked(names, found)
    preview = previewed(request.args.get("preview"), names) if picked else None
    others = _subject(job).told_of(names) if picked and not _of_upload(job) else []
    return shown(
        "releases/front.html", job=job, name=split(job["options"]["file"])[1], names=names, objectives=objectives,
        solutions=found[:_NODES], total=len(found) if result else (job["best"] or {}).get("found", 0),
        heads=_heads(found), cells=(result or {}).get("rows", 0) * len(names), picked=picked, others=others,
        chart=_chart(id, names, objectives, found), preview=preview, free=_free(job), ways=_ways(job, names, picked),
        refusal=None if picked is None else _refusal(job, picked), levels=_in_words(job, names, picked),
    )  # fmt: skip


@bp.post("/search/<id>/stop")
@needs("protect")
def stop_search(id: str) -> Answered:
    """End a search; what it has found by then stays."""
    told(job_routes.cancel, id=_job(id)["id"])
    return go("pages.front", id=id)


@bp.post("/search/<id>/preview")
@needs("protect")
def preview_node(id: str) -> Answered:
    """Generalise the table to a node as a job, for a look at some rows."""
    job, node = _job(id), request.form.get("node", "")
    begun = jobs.asked(_VERB, {**_alone(job, node), "out": Preview.FILE})
    return go("pages.front", id=id, node=node, preview=begun)


@bp.post("/search/<id>/release")
@needs("protect")
def release_node(id: str) -> Answered:
    """Release a node as a job."""
    job, form = _job(id), request.form
    node = form.get("node", "")
    found = (each for each in _solutions(job, _result(job)) if written(each["node"]) == node)
    refusal = _refusal(job, next(found, {}))
    if refusal is not None:
        raise InvalidInput(refusal)
    options = _alone(job, node)
    roles = [*options.get("role", ()), *_subject(job).guessed_roles]
    options |= {"role": roles} if roles else {}
    into = form.get("into", "")
    return go("pages.job", id=jobs.asked(_VERB, {**options, "out": f"{into}.csv", "into": into, "shuffle": True}))


def _asked(name: str, columns: Sequence[str]) -> dict[str, Any]:
    return {"file": f"original:{name}", "quasi_identifiers": list(columns), "objectives": ["k", "glm"]}


def _job(id: str) -> dict[str, Any]:
    return job_of(id, lambda job: bool(job["verb"] == _VERB), "search")


def _result(job: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a search has found that has ended, by itself or because it was stopped."""
    if job["state"] not in ("done", "cancelled"):
        return None
    with suppress(ReportedError):
        found: dict[str, Any] = told(job_routes.result, id=job["id"])
        return found
    return None


def _refusal(job: Mapping[str, Any], picked: Mapping[str, Any]) -> str | None:
    """Why a node cannot be released, if so."""
    if _of_upload(job):
        return "Not possible: this search was of an upload. Save the upload as a table and search the table."
    if "k" not in picked:
        return "Not possible: the search did not find this choice of levels. Pick one it shows."
    return None if picked["k"] >= 2 else "Not possible: k would be 1, which protects nobody."


def _subject(job: Mapping[str, Any]) -> TableRelease:
    """The table that was searched."""
    return TableRelease.called(split(str(job["options"]["file"]))[1])


def _of_upload(job: Mapping[str, Any]) -> bool:
    return str(job["options"]["file"]).startswith(UPLOAD)


def _solutions(job: Mapping[str, Any], result: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """What was found: all of it at the end, and until then the best so far."""
    if result is not None:
        return list(result["solutions"])
    return list((job["best"] or {}).get("front", ()))


def _heads(found: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The figures that are known, with their names."""
    from tabular.report.reports import FIRST, HEADS

    known = found[0] if found else {}
    return {name: HEADS[name] for name in FIRST if known.get(name) is not None and not name.startswith("s_")}


def _chart(
    id: str, names: Sequence[str], objectives: Sequence[str], found: Sequence[Mapping[str, Any]]
) -> Markup | None:
    from tabular.report.kit.figures import Figures
    from tabular.report.reports import front_chart

    if not objectives or not found:
        return None
    document = {
        "quasi_identifiers": [{"name": name} for name in names],
        "objectives": list(objectives),
        "solutions": list(found[:_NODES]),
    }
    return front_chart(Figures(document), lambda node: url_for("pages.front", id=id, node=written(node)) + "#picked")


def written(node: Sequence[int]) -> str:
    """A node in an address.

    >>> written([1, 0, 2])
    '1,0,2'
    """
    return ",".join(map(str, node))


def _picked(names: Sequence[str], found: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The node that the address names, with its figures if it is one that was found."""
    text = request.args.get("node")
    if not text:
        return None
    node = _node(text, names)
    return next((each for each in found if list(each["node"]) == node), {"node": node})


def _node(text: str, names: Sequence[str]) -> list[int]:
    node = [number("node", each) for each in text.split(",")]
    if len(node) != len(names):
        raise InvalidParameter.wrong("node", must="have a level for each column", was=text[:80])
    return node


def _in_words(job: Mapping[str, Any], names: Sequence[str], picked: Mapping[str, Any] | None) -> list[Level]:
    """The level of each column with some of its labels."""
    from tabular.attributes import Attribute
    from tabular.hierarchies import read_hierarchy

    if picked is None or _of_upload(job):
        return []
    table = service().tables.find(job["options"]["file"], account().role, "protect")
    told(routes.hierarchies, name=table.address)
    found = []
    for name, level in zip(names, picked["node"], strict=True):
        path = service().tables.hierarchy(table, name)
        hierarchy = read_hierarchy(path, Attribute(name=name), whole=True)
        if level > hierarchy.height:
            raise InvalidParameter.wrong("node", must=f"be at most {hierarchy.height} for {name!r}", was=level)
        labels = hierarchy.levels[level].labels
        found.append(Level(name, level, hierarchy.height, labels[:_LABELS], len(labels) > _LABELS))
    return found


def _alone(job: Mapping[str, Any], node: str) -> dict[str, Any]:
    """What releases a node of a search without another one."""
    from tabular.lattice.search_outcome import levels_as_text

    given = job["options"]
    names = list(given["quasi_identifiers"])
    options = {name: given[name] for name in (*_KEPT, "role", "kind") if given.get(name) not in (None, [], ())}
    kind, name = split(given["file"])
    return {
        **options,
        "file": f"{kind or 'original'}:{name}",
        "choose": levels_as_text(names, _node(node, names)),
        "alone": True,
    }


def _free(job: Mapping[str, Any]) -> str:
    name = split(job["options"]["file"])[1]
    taken = {each.name for each in service().tables.visible(account().role) if each.kind == "release"}
    return next(each for each in (f"{name}-v{place}" for place in range(1, 10_000)) if each not in taken)


def _ways(job: Mapping[str, Any], names: Sequence[str], picked: Mapping[str, Any] | None) -> Any:
    """The search in the words of each door; with a node, its release."""
    if picked is None:
        return ways_of(_VERB, job["options"])
    return ways_of(_VERB, {**_alone(job, written(picked["node"])), "out": "RELEASE.csv", "shuffle": True})
