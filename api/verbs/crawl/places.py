"""`places`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from api.verbs.contract import BUILT_IN, Work, of_engine, verbs
from api.verbs.crawl.lines import LineVerb
from tabular.registry import option

#: The registry of gazetteers.
gazetteers = of_engine("crawler.places", "gazetteers")


@verbs.add("places")
@dataclass(frozen=True, kw_only=True)
class Places(LineVerb):
    """Say where free texts of locations are: one text a line in, one JSON object a line out.

    Each line of the answer is {"path": [[name, type], …], "score", "country", "alternatives"}. The path goes from the
    most specific place to the world; it is empty if the place is unknown. The country is its ISO 3166-1 code, or null.
    With `json` the lines are the same. A line that is no UTF-8, or longer than a megabyte, ends the command; the
    answers to the lines before it stand. Gazetteers on the web are sent the texts.
    """

    places: str = option(BUILT_IN, metavar="GAZETTEER", choices=gazetteers, provider=True, help="What says it.")

    def check(self) -> None:
        super().check()
        # One that lacks its key is refused before anything is read.
        _ = self._gazetteer

    def answered(self, texts: Sequence[str], work: Work) -> Sequence[dict[str, Any]]:
        return [place.document for place in self._gazetteer.locate_all(texts)]

    @cached_property
    def _gazetteer(self) -> Any:
        from crawler.places import gazetteers

        return gazetteers[self.places].make({})
