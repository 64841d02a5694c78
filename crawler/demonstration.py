"""How the graph of the demonstration is collected: a made network is crawled over HTTP, and its users are enriched.

The network has the users and follows of a graph of `graphpriv.synthetic`. They write their places and posts in their
own words, and link to pages that are served beside. What the crawl and the enrichment make of it can so be held
against what was meant. Nothing leaves this machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from crawler.crawling import Limits, collected
from crawler.crawling.crawl import Crawl
from crawler.crawling.prices import Prices
from crawler.enriching.enrichment import Enrichment
from crawler.enriching.links import Links
from crawler.made.population import Pages, peopled
from crawler.made.serving import served
from crawler.made.x import XInterface
from crawler.sources.x import X
from graphpriv.graph import SocialGraph
from graphpriv.places import UNKNOWN, Path
from graphpriv.store import Store
from graphpriv.topics import EMPTY
from tabular.loop import Report, silent

#: How many posts each user has written.
POSTS = 12

_CATEGORISER = _GAZETTEER = "embedded"


def collect(store: Store, name: str, graph: SocialGraph, *, seed: int, report: Report = silent) -> dict[str, Any]:
    """Crawl the network of the users of *graph* into *store* and enrich them; the document says what came of it."""
    writing, walking = np.random.default_rng(seed).spawn(2)
    with served(Pages(seed)) as pages:
        network = peopled(graph, posts=POSTS, pages=pages, rng=writing)
        interface = XInterface(network)
        with served(interface) as address:
            first, *others = entrances(graph)
            crawl = Crawl(
                store=store,
                graph=name,
                source=X(token=interface.token, url=address),
                limits=Limits(users=len(graph), posts=POSTS),
                prices=Prices.read("x"),
                report=report,
            )
            crawl.begin("x", network.users[graph.ids[first]].handle, walking, [graph.ids[each] for each in others])
            crawl.run()
        enriched = _enrichment(store, name, pages, report).run()
    told = collected(store, name)
    return {"crawl": told, "enrichment": enriched, "agreement": agreement(graph, store.load_graph(name))}


def entrances(graph: SocialGraph) -> list[int]:
    """Users from whom everybody can be reached by following: one of each group that nobody outside follows into."""
    sources, targets = graph.follows.sources, graph.follows.targets
    links = csr_array((np.ones(len(targets), dtype=np.int8), (sources, targets)), shape=(len(graph), len(graph)))
    count, group = connected_components(links, directed=True, connection="strong")
    entered = np.zeros(count, dtype=np.bool_)
    entered[group[targets][group[sources] != group[targets]]] = True
    first = np.unique(group, return_index=True)[1]
    return sorted(first[~entered].tolist())


def _enrichment(store: Store, name: str, pages: str, report: Report) -> Enrichment:
    from crawler.places import gazetteers
    from crawler.topics import categorisers
    from crawler.web.addresses import Endpoint, Guard
    from crawler.web.pages import Reader

    where = urlsplit(pages)
    guard = Guard(exempt=Endpoint(str(where.hostname), int(where.port or 0)))
    categoriser, gazetteer = categorisers[_CATEGORISER].make({}), gazetteers[_GAZETTEER].make({})
    return Enrichment(
        store=store,
        name=name,
        categoriser=categoriser,
        gazetteer=gazetteer,
        topics_by=(_CATEGORISER, categoriser.version),
        places_by=(_GAZETTEER, gazetteer.version),
        links=Links(store=store, graph=name, reader=Reader.over(guard), pause=0.0),
        report=report,
    )


def agreement(meant: SocialGraph, found: SocialGraph) -> dict[str, Any]:
    """How far the topics and places that were found are those that were meant, as shares of users."""
    at = {id: place for place, id in enumerate(found.ids)}
    pairs = [(place, at[id]) for place, id in enumerate(meant.ids)]
    topics = [(_topics(meant, one), _topics(found, other)) for one, other in pairs]
    places = [(_path(meant, one), _path(found, other)) for one, other in pairs]
    placed = [(one, other) for one, other in places if one and other]
    return {
        "users": len(pairs),
        "first_topic": _share(one[:1] == other[:1] for one, other in topics if one),
        "topics": _share(topic in other for one, other in topics for topic in one),
        "placed": _share(bool(other) for one, other in places if one),
        "placed_though_unknown": _share(bool(other) for one, other in places if not one),
        "country": _share(_of(one, "country") == _of(other, "country") for one, other in placed),
        "city": _share(_of(one, "locality") == _of(other, "locality") for one, other in placed if _of(one, "locality")),
    }


def _share(each: Iterable[bool]) -> float | None:
    known = list(each)
    return sum(known) / len(known) if known else None


def _topics(graph: SocialGraph, user: int) -> Sequence[str]:
    return [graph.topic_names[topic] for topic in graph.topics[user].tolist() if topic != EMPTY]


def _path(graph: SocialGraph, user: int) -> Path:
    code = int(graph.location[user])
    return () if code == UNKNOWN else graph.places.path(code)


def _of(path: Path, kind: str) -> str | None:
    return next((name for name, each in path if each == kind), None)
