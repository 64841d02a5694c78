"""The audit of a masked table: what its dictionary promises, what is counted in it, and what an attacker finds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import Response, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.routes import tables as routes
from api.pages import jobs
from api.pages.blueprint import bp, go, may, shown, told
from api.pages.commands import ways_of
from api.pages.releases.candidates import Candidate, risk_loss, worst_first
from api.pages.releases.tables import candidate_of
from api.service.tables.tables import KINDS, StoredTable, split
from tabular.errors import InvalidInput

#: What attackers go by, in words.
ATTACKERS = {
    "dbrl": "by distance (DBRL)",
    "dbrl-numbers": "by distance of numbers (DBRL)",
    "prl": "by agreement, one to one (PRL)",
    "prl-numbers": "by agreement of numbers, one to one (PRL)",
    "rsrl": "by distance within the reach of a swap (RSRL)",
    "informed": "knowing the method (informed)",
}

_MEASURE, _CHECK, _COMPARE = "table measure", "table check", "table compare"
_MAKERS = ("table protect", "table search")


@bp.get("/tables/<name>/audit")
@needs("measure")
def masked(name: str) -> Response:
    """Show what is known of a table's protection."""
    table = _found(name)
    described = told(routes.show, name=table.address)
    names = [each["name"] for each in described["columns"]]
    dictionary = _dictionary(table)
    made = _newest(_MAKERS, "into", table)
    measured, checked = _newest((_MEASURE,), "masked", table), _newest((_CHECK,), "file", table)
    protected = [each for each in (dictionary or {}).get("protected_columns", names) if each in names]
    options = {"file": table.address, "quasi_identifiers": protected}
    return shown(
        "releases/masked.html", table=table, described=described, names=names, protected=protected,
        dictionary=dictionary, linked=_linked(dictionary), attackers=ATTACKERS, measures=_result(measured),
        checks=_result(checked), map=_map(table, dictionary, made), originals=_originals(table),
        is_shuffled=_is_shuffled(dictionary), running=_running(table), ways=ways_of(_CHECK, options),
    )  # fmt: skip


@bp.post("/tables/<name>/check")
@needs("measure")
def check_masked(name: str) -> Answered:
    """Count k, l and t of a table as a job."""
    table, form = _found(name), request.form
    options = {"file": table.address, "quasi_identifiers": form.getlist("columns")}
    if form.get("sensitive"):
        options["sensitive"] = [form["sensitive"]]
    return go("pages.job", id=jobs.asked(_CHECK, options))


@bp.post("/tables/<name>/measure")
@needs("measure")
def measure_masked(name: str) -> Answered:
    """Measure a table against its original as a job."""
    table, form = _found(name), request.form
    if not form.get("original"):
        raise InvalidInput("Choose the original that the table was made from.")
    options = {
        "original": f"original:{form.get('original', '')}",
        "masked": table.address,
        "columns": form.getlist("columns"),
    }
    return go("pages.job", id=jobs.asked(_MEASURE, options))


def _found(name: str) -> StoredTable:
    """The table of an address, which may say its kind."""
    kind = request.args.get("kind")
    return service().tables.find(f"{kind}:{name}" if kind in KINDS else name, account().role, "measure")


def _dictionary(table: StoredTable) -> dict[str, Any] | None:
    """What goes with a release."""
    if table.kind != "release" or not table.dictionary.is_file():
        return None
    found: dict[str, Any] = json.loads(table.dictionary.read_bytes())
    return found


def _is_shuffled(dictionary: Mapping[str, Any] | None) -> bool:
    from tabular.release import ORDER_DRAWN

    return dictionary is not None and dictionary.get("order") == ORDER_DRAWN


def _linked(dictionary: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The attacker who linked most when the table was made, if that was measured."""
    found = (dictionary or {}).get("highest_linkage")
    return found if found and found["value"] is not None else None


def _newest(verbs: Sequence[str], option: str, table: StoredTable) -> dict[str, Any] | None:
    """The newest job that is done and has a table in an *option*."""
    for job in jobs.newest():
        is_it = job["verb"] in verbs and job["state"] == "done" and _names(job["options"].get(option), table)
        if is_it:
            return job
    return None


def _names(text: Any, table: StoredTable) -> bool:
    """Whether an option of a job is this table; one that was made has its plain name."""
    return isinstance(text, str) and split(text)[1] == table.name and split(text)[0] in (None, table.kind)


def _result(job: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if job is None else jobs.result_of(job["id"])


def _originals(table: StoredTable) -> list[str]:
    """What a masked table may have been made of."""
    every = service().tables.visible(account().role)
    return [each.name for each in every if each.kind == "original" and each.id != table.id]


def _running(table: StoredTable) -> str | None:
    for job in jobs.newest():
        is_about = any(_names(job["options"].get(option), table) for option in ("file", "masked"))
        if job["verb"] in (_CHECK, _MEASURE) and job["state"] in ("queued", "running") and is_about:
            return str(url_for("pages.job", id=job["id"]))
    return None


def _map(table: StoredTable, dictionary: Mapping[str, Any] | None, made: Mapping[str, Any] | None) -> Markup | None:
    """Risk and loss of this release, beside what was compared for its original."""
    found: list[Candidate] = []
    if made is not None and may("protect", "original"):
        original = split(str(made["options"]["file"]))[1]
        compared = (each for each in jobs.newest() if each["verb"] == _COMPARE and each["state"] == "done")
        newest = next((each for each in compared if split(str(each["options"]["file"]))[1] == original), None)
        compared_now = (_result(newest) or {"protections": ()})["protections"]
        found = [replace(candidate_of(each), losses={"": each["information_loss"] / 100}) for each in compared_now]
    loss, risk = ((dictionary or {}).get(name) for name in ("information_loss", "disclosure_risk"))
    if loss is not None and risk is not None:
        found.append(Candidate(id="", title=table.name, risk=risk / 100, losses={"": loss / 100}))
    return risk_loss(worst_first(found), (), upwards="information loss") if len(found) > 1 else None
