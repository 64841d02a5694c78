"""What the page of a graph asks of it: users, counts, links between values and figures, each with its request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from math import log
from typing import Any
from urllib.parse import quote, urlencode

from markupsafe import Markup

from api.http.gate import service
from api.http.options import OPTIONS
from api.http.problems import outside
from api.pages.blueprint import given, named_here
from api.service.graphs import Graph
from api.verbs.values import value_in
from graphpriv.places import LEVELS
from graphpriv.queries import Page, Query, Row, answer, queries, rows
from tabular.errors import InvalidParameter, UnknownName
from tabular.report.kit.charts import Point, heat_map, lying_bars, scatter

#: Users on a page, rows of a table beside a plot, values of a plot, and values that a field proposes.
_USERS, _ROWS, _BARS, _PROPOSED = 20, 50, 8, 200

#: Above so many degrees those that lie near one another share a point: so many points for each factor of e.
_POINTS, _NEAR = 80, 10

#: Which users are asked about.
CHOOSING = ("location", "topic", "rank", "degree", "following", "followers")

#: What users are counted by, and links between which values, in words.
KEYS = {
    "location:continent": "continent",
    "location:country": "country",
    "location": "place",
    "topic1": "first topic",
    "topic2": "second topic",
    "topic3": "third topic",
    "topics": "topic of any rank",
    "degree": "number of neighbours",
}
ENDS = {key: said for key, said in KEYS.items() if key not in ("location", "topics", "degree")}

#: What columns are called.
HEADS = {**KEYS, "location": "place", "id": "user", "degree": "neighbours", "followed": "is followed"}

#: What stands in the field for the place of those whose place is not known; no place is called so.
UNPLACED = "(not known)"

#: The levels whose places a field proposes.
_LEVELS = ("location:continent", "location:country", "location")


@dataclass(frozen=True)
class Source:
    """A request that gives a page of an answer, and the address of all, to which a format or `limit=all` is added.

    There is no address where it would tell of whom somebody asked.
    """

    request: str
    address: str | None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a question gave: a plot, a table, and the request that gives the same."""

    title: str
    source: Source
    page: Page
    plot: Markup | None = None
    note: str | None = None
    #: Between what its links run.
    by: str | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was filled in: which users, what they are counted by, and what is wrong with it."""

    location: str = ""
    topic: str = ""
    rank: str = ""
    degree: str = ""
    following: str = ""
    followers: str = ""
    by: str = "location:country"
    and_by: str = ""
    ends: str = "topic1"
    cursor: str = ""
    wrong: tuple[str, str] | None = None

    @classmethod
    def here(cls) -> Asked:
        """What the address asks, or the form."""
        texts = {each.name: given().get(each.name, "").strip()[:200] for each in fields(cls) if each.name != "wrong"}
        found: dict[str, Any] = {name: text for name, text in texts.items() if text}
        for name, known in (("by", tuple(KEYS)), ("and_by", tuple(KEYS)), ("ends", tuple(ENDS))):
            if found.get(name, known[0]) not in known:
                del found[name]
        return cls(**found)

    @property
    def choice(self) -> dict[str, str]:
        """Which users are asked about, as far as that is said."""
        found = {name: getattr(self, name) for name in CHOOSING if getattr(self, name)}
        # Of a question, an empty text asks for those without a place.
        return {**found, "location": ""} if self.location == UNPLACED else found

    @property
    def query(self) -> dict[str, str]:
        """All of it as it stands in an address, but for the page of users."""
        plain = Asked()
        kept = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("cursor", "wrong")}
        return {name: text for name, text in kept.items() if text != getattr(plain, name)}

    @property
    def keys(self) -> str:
        """What users are counted by."""
        return ",".join(dict.fromkeys(each for each in (self.by, self.and_by) if each))


def answers(graph: Graph) -> tuple[Asked, list[Answer]]:
    """What was asked of a graph, and what came of it; of a wrong choice of users, what all users give."""
    asked = Asked.here()
    try:
        return asked, list(_answers(graph, asked))
    except (InvalidParameter, UnknownName) as error:
        parameter = getattr(error, "parameter", None)
        if parameter not in (*CHOOSING, "cursor"):
            raise
        wrong = parameter, outside(error.worded(named_here))
        # What was typed stays in the form.
        plain = Asked(by=asked.by, and_by=asked.and_by, ends=asked.ends)
        return Asked(**{**vars(asked), "cursor": "", "wrong": wrong}), list(_answers(graph, plain))


def proposed(graph: Graph) -> dict[str, dict[str, str]]:
    """Places and topics that a graph has, the most frequent first, each with how it is shown."""
    places = [value for level in _LEVELS for value in _values(graph, level)]
    return {
        "location": {each: each for each in (*places, UNPLACED)},
        "topic": {each: each for each in _values(graph, "topics")},
    }


def _values(graph: Graph, by: str) -> list[str]:
    """What users are counted by, the most frequent first."""
    found = _page(graph, "counts", {"by": by, "order": "count", "limit": str(_PROPOSED)})
    return [str(row[by]) for row in found.rows if row[by]]


def neighbours(graph: Graph, user: str, cursor: str) -> Answer:
    """The neighbours of a user."""
    shown = {"limit": "50", **({"cursor": cursor} if cursor else {})}
    found = _page(graph, "neighbours", {"user": user, **shown})
    if graph.kind == "original":
        source = _source(graph, "neighbours", {"user": user, "limit": "50"})
    else:
        source = _source(graph, f"users/{quote(user, safe='')}/neighbours", {"limit": "50"})
    return Answer(title=f"Neighbours of {user}", source=source, page=found)


def _answers(graph: Graph, asked: Asked) -> Iterator[Answer]:
    """The answers in the order of the page: users, counts, links, degrees, components, clustering."""
    yield _users(graph, asked)
    yield _counts(graph, asked.choice, asked.keys)
    if asked.keys != "topic1":
        yield _counts(graph, asked.choice, "topic1")
    yield _mixing(graph, asked.ends)
    yield _degrees(graph, asked.choice)
    yield _components(graph)
    yield _clustering(graph)


def _users(graph: Graph, asked: Asked) -> Answer:
    limit = {"limit": str(_USERS)}
    found = _page(graph, "users", {**asked.choice, **limit, **({"cursor": asked.cursor} if asked.cursor else {})})
    count = _page(graph, "counts", {**asked.choice, "by": "topic1", "limit": "1"}).facts["users"]
    note = f"{count:,} of {graph.info.users:,} users." if asked.choice else f"All {count:,} users."
    return Answer(title="Users", page=found, note=note, source=_source(graph, "users", {**asked.choice, **limit}))


def _counts(graph: Graph, choice: Mapping[str, str], by: str) -> Answer:
    options = {"by": by, **choice, "order": "count"}
    found = _page(graph, "counts", {**options, "limit": str(_ROWS)})
    title = "Users by " + " and ".join(KEYS[key] for key in by.split(","))
    plot = _shares(found, by.split(",")) if found.rows else None
    return Answer(title=title, page=found, plot=plot, source=_source(graph, "counts", options))


def _mixing(graph: Graph, by: str) -> Answer:
    options = {"by": by, "order": "count"}
    every = list(rows(service().opened(), graph.stored, _question("mixing", options)))
    found = _page(graph, "mixing", {**options, "limit": str(_ROWS)})
    within = found.facts.get("within")
    note = None if within is None else f"{within:.1%} of the links stay within one value."
    title = f"Links between values: {KEYS[by]}"
    return Answer(
        title=title, page=found, plot=_matrix(every, by), note=note, by=by, source=_source(graph, "mixing", options)
    )


def _degrees(graph: Graph, choice: Mapping[str, str]) -> Answer:
    every = list(rows(service().opened(), graph.stored, _question("degrees", choice)))
    found = _page(graph, "degrees", {**choice, "limit": str(_ROWS)})
    facts = found.facts
    note = f"From {facts['least']:,} to {facts['largest']:,}, {facts['mean']:.1f} on average." if every else None
    return Answer(title="Degrees", page=found, plot=_spread(every), note=note, source=_source(graph, "degrees", choice))


def _components(graph: Graph) -> Answer:
    found = _page(graph, "components", {"limit": str(_ROWS)})
    points = [
        Point(x=row["size"], y=row["components"], said=f"{row['components']:,} with {row['size']:,} users")
        for row in found.rows
    ]
    label = "Points: how many components there are of each size; the table has all."
    plot = (
        scatter(points, label=label, across="users in a component", upwards="components") if len(points) > 1 else None
    )
    number = found.facts["components"]
    note = (
        "One component: links connect all users, directly or through others."
        if number == 1
        else f"{number:,} components."
    )
    return Answer(title="Components", page=found, plot=plot, note=note, source=_source(graph, "components", {}))


def _clustering(graph: Graph) -> Answer:
    found = _page(graph, "clustering", {})
    named = {"mean over all users": found.facts["mean"], "over all pairs of neighbours": found.facts["global"]}
    label = "Bars: how often two neighbours of a user are linked."
    plot = lying_bars(list(named), {"linked pairs of neighbours": list(named.values())}, label=label)
    note = "How often two neighbours of a user are linked to each other."
    return Answer(title="Clustering", page=found, plot=plot, note=note, source=_source(graph, "clustering", {}))


def _page(graph: Graph, name: str, options: Mapping[str, str]) -> Page:
    return answer(service().opened(), graph.stored, _question(name, options))


def _question(name: str, texts: Mapping[str, str]) -> Query:
    known = {each.name: each for each in fields(queries[name].method)}
    return queries[name].method(**{key: value_in(known[key], text) for key, text in texts.items()})


def _source(graph: Graph, path: str, options: Mapping[str, str]) -> Source:
    query = _written(options)
    all_of_it = _written({name: text for name, text in options.items() if name != "limit"})
    address = f"/v1/graphs/{quote(graph.address, safe=':')}/{path}"
    if graph.kind == "original" and {"user", *CHOOSING} & set(options):
        return Source(f"GET {address} with {OPTIONS}: {query}", None)
    request = f"GET {address}{'?' if query else ''}{query}"
    return Source(request, f"{address}?{all_of_it}{'&' if all_of_it else ''}")


def _written(options: Mapping[str, str]) -> str:
    return urlencode(dict(options), safe=":,")


def _shares(page: Page, by: Sequence[str]) -> Markup:
    """The most frequent values as shares of the users."""
    users = max(int(page.facts["users"]), 1)
    shown = page.rows[:_BARS]
    names = [", ".join(_value(row[key], key) for key in by) for row in shown]
    words = " and ".join(KEYS[key] for key in by)
    columns = {"share of the users": [row["users"] / users for row in shown]}
    return lying_bars(names, columns, label=f"Bars: share of users by {words}; the table has more.")


def unknown(key: str) -> str:
    """What it means that a value is not there."""
    level = key.partition(":")[2]
    if level in LEVELS:
        return f"no {level}: a larger place, or not known"
    return "not known" if key == "location" else f"no {HEADS.get(key, key)}"


def _value(value: object, key: str) -> str:
    return unknown(key) if value is None or value == "" else str(value)


def _matrix(every: Sequence[Row], by: str) -> Markup | None:
    """Where the links of the most frequent values lead, as shares of the links of each."""
    from_each = _totals(every, lambda row: _value(row["from"], by))
    names = sorted(from_each, key=lambda name: (-from_each[name], name))[:_BARS]
    if not names:
        return None
    links = {(_value(row["from"], by), _value(row["to"], by)): row["links"] for row in every}
    shares = [[links.get((one, other), 0) / from_each[one] for other in names] for one in names]
    label = f"Squares: share of each {KEYS[by]}'s links that lead to each other one; the table has more."
    return heat_map(names, shares, label=label, what="share of its links")


def _totals(every: Sequence[Row], name: Callable[[Row], str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in every:
        found[name(row)] = found.get(name(row), 0) + row["links"]
    return found


def _spread(every: Sequence[Row]) -> Markup | None:
    """How many users have each degree; where there are many degrees, the mean over those that lie near one another."""
    known = [(row["degree"], row["users"]) for row in every if row["degree"]]
    if not known:
        return None
    points = []
    is_long = len(known) > _POINTS
    for _, group in groupby(known, lambda each: round(_NEAR * log(each[0])) if is_long else each[0]):
        held = list(group)
        degrees = [degree for degree, _ in held]
        mean = sum(users for _, users in held) / (degrees[-1] - degrees[0] + 1)
        said = f"{degrees[0]:,}" if len(held) == 1 else f"{degrees[0]:,} to {degrees[-1]:,}"
        points.append(Point(x=sum(degrees) / len(degrees), y=mean, said=f"{said} neighbours: {mean:,.1f} users each"))
    return scatter(
        points,
        label="Points: how many users have each number of neighbours; the table has more.",
        across="neighbours",
        upwards="users",
    )
