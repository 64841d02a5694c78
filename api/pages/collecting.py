"""Collecting: a crawl begins or goes on, once what it would cost was shown; and what is made of a graph with posts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flask import Response, request
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.problems import outside
from api.http.routes.verbs import performed
from api.pages.blueprint import bp, go, named_here, shown
from api.pages.commands import ways_of
from api.pages.jobs import asked
from api.service.access import UnknownThing
from api.service.graphs import Graph, split
from api.service.requests import WrongOptions, choices_here
from api.verbs import verbs
from api.verbs.graph.show import told as told_of_crawl
from api.verbs.values import options_of, value_in
from graphpriv.store.records import check_name
from tabular.errors import InvalidInput, InvalidParameter, ReportedError, worded
from tabular.registry import Entry

if TYPE_CHECKING:
    from crawler.sources import Source

#: What the fields are at first.
_FIRST = {"users": "100", "posts": "20"}

#: What is filled in; who a crawl starts from stands in no address, since that is a person.
_PERSONAL, _COUNTS = ("start", "graph"), ("source", "users", "posts", "follows", "requests", "seconds", "budget")
FIELDS = (*_PERSONAL, *_COUNTS)

#: What may be changed of a crawl that goes on.
_CHANGED = tuple(name for name in _COUNTS if name != "source")

#: A longer text is none of a field.
_LONGEST = 200


@dataclass(frozen=True)
class Network:
    """A network as the page offers it."""

    name: str
    #: How a user is given.
    user: str
    charges: bool
    terms: str
    #: What the operator has to set before it can be asked.
    missing: str | None
    #: Whether that is certain: workers of other machines may know what this process does not.
    is_off: bool

    @property
    def title(self) -> str:
        """Its name as people write it."""
        return self.name.capitalize()


@dataclass(frozen=True)
class Filled:
    """What was filled in, as texts, and what it would ask and cost."""

    texts: Mapping[str, str]
    wrong: dict[str, str] = field(default_factory=dict)
    cost: Mapping[str, Any] | None = None
    #: Whether it was to begin, though nobody had seen yet what it costs.
    is_news: bool = False

    @property
    def seen(self) -> str:
        """What the cost on the page is of."""
        return " ".join(f"{name}={self.texts.get(name, '')}" for name in _COUNTS)

    @property
    def first_wrong(self) -> str | None:
        """The first field that is wrong."""
        return next((name for name in FIELDS if name in self.wrong), None)

    @property
    def is_free(self) -> bool:
        """Whether it costs nothing at all."""
        return self.cost is not None and not self.cost["cost"]["high"]


@bp.get("/collect")
@needs("store")
def collect() -> Response:
    """Ask what is to be collected."""
    every = networks()
    ready = next((each.name for each in every if not each.is_off), every[0].name)
    given = {name: request.args[name].strip()[:_LONGEST] for name in _COUNTS if name in request.args}
    return _page(_priced({**_FIRST, "source": ready, **given}), every)


@bp.post("/collect")
@needs("store")
def collecting() -> Response | Answered:
    """Say what it would cost; or begin, if that was seen or there is nothing to pay."""
    given = {name: request.form.get(name, "").strip()[:_LONGEST] for name in FIELDS}
    return _asked(_priced(given), networks())


@bp.get("/graphs/<name>/collect")
@needs("store")
def collect_more(name: str) -> Response:
    """Ask how far the crawl of a graph is to go on."""
    going = _going(name)
    return _page(_priced(going.texts, going), networks(), going)


@bp.post("/graphs/<name>/collect")
@needs("store")
def collecting_more(name: str) -> Response | Answered:
    """Say what the rest of a crawl would cost; or go on, if that was seen or there is nothing to pay."""
    going, every = _going(name), networks()
    given = {each: request.form.get(each, "").strip()[:_LONGEST] for each in _CHANGED}
    return _asked(_priced(going.texts | given, going), every, going)


@bp.post("/graphs/<name>/enrich")
@needs("protect")
def enrich(name: str) -> Answered:
    """Find topics and places of the users of an original, as a job."""
    known, form = options_of(verbs["enrich"].method), request.form
    graph = service().graphs.find(name, account().role, "protect", kinds=("original",))
    options: dict[str, Any] = {"name": graph.address, "fold_sensitive": "fold_sensitive" in form}
    options |= {each: value_in(known[each], form[each]) for each in ("pages", "topics", "places") if form.get(each)}
    return go("pages.job", id=asked("enrich", options))


def networks() -> list[Network]:
    """Every network that can be asked, with what is missing for it."""
    from crawler.sources import sources

    return [_network(entry) for entry in sources.entries()]


def _network(entry: Entry[Source]) -> Network:
    source, missing = entry.method, None
    try:
        source.from_environment(os.environ)
    except ReportedError as error:
        missing = outside(error.worded(named_here))
    is_off = missing is not None and service().settings.workers > 0
    return Network(entry.name, source.user, source.charges, source.terms, missing, is_off)


def providers_here() -> list[tuple[str, str, tuple[str, ...]]]:
    """What may find topics and places here, each with the words for it."""
    known, offered = options_of(verbs["enrich"].method), service().settings.offered
    words = {"topics": "Topics from", "places": "Places from"}
    return [(name, said, choices_here(known[name], offered) or ()) for name, said in words.items()]


def why_folded(graph: Graph) -> tuple[str, bool]:
    """Why sensitive topics may better be kept out, and whether the network that a graph comes from demands it."""
    from crawler.enriching.terms import remark

    crawl = service().opened().crawl_of(graph.stored) or {}
    demanded = remark(crawl.get("source"), "this")
    told = "What people write about their health, faith or politics may say more about them than they want known."
    return demanded or told, demanded is not None


@dataclass(frozen=True)
class Going:
    """A crawl that may go on."""

    graph: Graph
    #: What its fields are at first.
    texts: dict[str, str]
    #: How far it is, in words.
    told: str

    @property
    def fixed(self) -> dict[str, Any]:
        """The options that say which crawl it is."""
        return {"source": self.texts["source"], "graph": self.graph.address, "resume": True}


def _going(name: str) -> Going:
    """The crawl that filled a graph."""
    from crawler.crawling import origin
    from crawler.crawling.prices import DOLLAR

    graph = service().graphs.find(name, account().role, "store", kinds=("original",))
    store = service().opened()
    kept, known = store.crawl_of(graph.stored), origin(store, graph.stored)
    if kept is None or known is None:
        raise UnknownThing(f"Graph {graph.name!r} was not collected from a network, so there is nothing to go on with.")
    given = {"users": kept.get("wanted"), "posts": kept.get("posts"), "follows": kept.get("follows")}
    if (budget := kept.get("budget")) is not None:
        given["budget"] = f"{budget / DOLLAR:g}"
    texts = {each: str(value) for each, value in given.items() if value is not None}
    return Going(graph, {**texts, "source": str(kept["source"]), "graph": graph.name}, told_of_crawl(known))


def _asked(filled: Filled, every: list[Network], going: Going | None = None) -> Response | Answered:
    """Begin or go on, if that is wanted and what it would cost was seen; else the page again."""
    if request.form.get("do") == "begin":
        _refuse_impossible(filled, every, going)
        if not filled.wrong and (filled.is_free or request.form.get("seen") == filled.seen):
            options = _options(filled.texts, FIELDS) if going is None else _options_of(filled.texts, going)
            try:
                return go("pages.job", id=asked("crawl", options))
            except InvalidInput as error:
                filled.wrong.update(_wrong(error))
        filled = Filled(filled.texts, filled.wrong, filled.cost, is_news=not filled.wrong)
    return _page(filled, every, going)


def _page(filled: Filled, every: list[Network], going: Going | None = None) -> Response:
    given = {"source": "SOURCE", "start": "USER", "graph": "NAME", **_readable(filled.texts)}
    if going is not None:
        given = {**_readable(filled.texts), **going.fixed, "graph": going.graph.name}
    return shown(
        "collect.html",
        status=400 if filled.wrong else 200,
        filled=filled,
        going=going,
        networks=every,
        chosen=next((each for each in every if each.name == filled.texts["source"]), None),
        ways=ways_of("crawl", given),
    )


def _priced(texts: Mapping[str, str], going: Going | None = None) -> Filled:
    """What was filled in with what it would ask and cost; nobody is asked for that."""
    try:
        options = {**_options(texts, _COUNTS), "graph": "any"} if going is None else _options_of(texts, going)
        return Filled(texts, cost=_dry_run(options))
    except InvalidInput as error:
        return Filled(texts, _wrong(error))


def _options_of(texts: Mapping[str, str], going: Going) -> dict[str, Any]:
    """The options with which a crawl goes on."""
    return {**_options(texts, _CHANGED), **going.fixed}


def _dry_run(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a crawl would ask and cost."""
    asked = service().requests.read("crawl", verbs["crawl"].method, {**options, "dry_run": True}, account())
    return performed(asked).document


def _options(texts: Mapping[str, str], names: tuple[str, ...]) -> dict[str, Any]:
    """The options of a crawl that the texts of some fields stand for; an empty one is not given."""
    known = options_of(verbs["crawl"].method)
    return {name: value_in(known[name], texts[name]) for name in names if texts.get(name)}


def _readable(texts: Mapping[str, str]) -> dict[str, Any]:
    """The options that texts stand for, as far as they stand for any."""
    found: dict[str, Any] = {}
    for name in FIELDS:
        with suppress(InvalidInput):
            found |= _options(texts, (name,))
    return found


def _refuse_impossible(filled: Filled, every: list[Network], going: Going | None) -> None:
    """Add what is wrong that no option says: no user to start from, a name that is taken, a network that is off."""
    off = {each.name: each.missing for each in every if each.is_off}
    if off.get(filled.texts["source"]):
        filled.wrong["source"] = str(off[filled.texts["source"]])
    if going is None:
        _refuse_new(filled)


def _refuse_new(filled: Filled) -> None:
    """Add what is wrong with the start of a new crawl, and with its name."""
    for name, said in (("start", "Name a user to start from."), ("graph", "Give the graph a name.")):
        if not filled.texts.get(name):
            filled.wrong[name] = said
    name = split(filled.texts["graph"])[1]
    if name in _taken():
        filled.wrong["graph"] = "An original already has this name; choose another."
    elif name:
        try:
            check_name(name, "graph")
        except InvalidInput as error:
            filled.wrong.update(_wrong(error))


def _taken() -> set[str]:
    """The names that originals have."""
    return {each.name for each in service().graphs.visible(account().role) if each.kind == "original"}


def _wrong(error: InvalidInput) -> dict[str, str]:
    """What is wrong by field; what is about none of them stands under an empty name."""
    if isinstance(error, WrongOptions):
        return {name: outside(worded(text, named_here)) for name, text in error.errors.items()}
    name = error.parameter if isinstance(error, InvalidParameter) else None
    return {name if name in FIELDS else "": outside(error.worded(named_here))}
