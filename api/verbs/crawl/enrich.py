"""`enrich`: topics and places of the users of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from api.verbs.contract import BUILT_IN, Outcome, Verb, Work, of_engine, verbs
from api.verbs.graph.forget import summarise
from tabular.errors import InvalidParameter, named
from tabular.registry import option

if TYPE_CHECKING:
    from crawler.enriching.enrichment import Enrichment
    from crawler.places import Gazetteer
    from crawler.topics import Categoriser
    from graphpriv.store import GraphInfo, Store

#: The registries of what says topics and of what finds places.
categorisers = of_engine("crawler.topics", "categorisers")
gazetteers = of_engine("crawler.places", "gazetteers")


@verbs.add("enrich")
@dataclass(frozen=True, kw_only=True)
class EnrichGraph(Verb):
    """Find topics in users' posts and the pages they link to, and places in what they wrote as their location.

    A run that was cut off continues when it is started again, with the same result as a single run. After more posts
    were collected, a run does only the users who have them. Topics and places from elsewhere stay. A text that names no
    place, or none for certain, gives none.

    Pages are read from public web addresses only, as far as each site's robots.txt allows, one at a time from each
    site.
    """

    store = "writes"
    stoppable = True
    action = "protect"

    name: str = option(help="The original.", positional=True, graph="any")
    topics: str = option(
        BUILT_IN, metavar="CATEGORISER", choices=categorisers, provider=True, help="What finds the topics."
    )
    places: str = option(
        BUILT_IN, metavar="GAZETTEER", choices=gazetteers, provider=True, help="What finds the places."
    )
    fold_sensitive: bool = option(
        False,
        help="Count health, politics, religion, labor, crime, social issues and war as Other.",
    )
    pages: int = option(
        100, low=0, high=10_000, help="Read at most this many of the pages that each user links to; 0 reads none."
    )
    page_days: int = option(30, low=1, high=3_650, help="Erase the texts of pages after this many days.")
    replace_profiles: bool = option(False, help="Replace topics and places that users have from elsewhere.")

    def check(self) -> None:
        # What lacks its key or address is refused before anything is read.
        self._makers()

    def run(self, work: Work) -> Outcome:
        from graphpriv.store.records import Run
        from tabular.release import version

        with work.opened() as store:
            _refuse_release(store.graph(self.name))
            store.expire()
            enrichment = self._enrichment(store, work)
            try:
                document = enrichment.run()
            finally:
                if enrichment.links is not None:
                    enrichment.links.close()
            if not document["left"]:
                figures = {key: value for key, value in document.items() if key not in ("graph", "left")}
                store.add_run(self.name, Run(verb="enrich", parameters=figures, version=version()))
        work.later(partial(summarise, work, self.name))
        return Outcome(document=document)

    def _enrichment(self, store: Store, work: Work) -> Enrichment:
        from crawler.enriching.enrichment import BLOCK, Enrichment
        from crawler.enriching.links import Links
        from crawler.enriching.terms import remark
        from crawler.web.addresses import Guard
        from crawler.web.pages import Reader

        crawl: dict[str, Any] = store.crawl_of(self.name) or {}
        told = None if self.fold_sensitive else remark(crawl.get("source"), named("fold_sensitive"))
        if told:
            work.note(told)
        categoriser, gazetteer = self._makers()
        ended = sum(each.verb == "enrich" for each in store.runs(self.name, with_releases=False))
        links = Links(store=store, graph=self.name, reader=Reader.over(Guard()), days=self.page_days, run=ended)
        return Enrichment(
            store=store,
            name=self.name,
            categoriser=categoriser,
            gazetteer=gazetteer,
            topics_by=(self.topics, categoriser.version),
            places_by=(self.places, gazetteer.version),
            links=links if self.pages else None,
            most_pages=self.pages,
            fold_sensitive=self.fold_sensitive,
            replace_profiles=self.replace_profiles,
            together=BLOCK if (self.topics, self.places) == (BUILT_IN, BUILT_IN) else 1,
            report=work.report,
            stop=work.stop,
        )

    def _makers(self) -> tuple[Categoriser, Gazetteer]:
        """What says topics, and what finds places."""
        return categorisers()[self.topics].make({}), gazetteers()[self.places].make({})


def _refuse_release(graph: GraphInfo) -> None:
    """Refuse a release, which has neither posts nor what people wrote of themselves."""
    if graph.is_release:
        way_out = "enrich its original" if graph.original is None else f"enrich {graph.original!r}"
        raise InvalidParameter(
            f"{named('name')} {graph.name!r} is a release: nobody's posts and locations are in it; {way_out} and "
            "release that again."
        )
