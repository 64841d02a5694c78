"""`topics`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from api.verbs.contract import BUILT_IN, Work, of_engine, verbs
from api.verbs.crawl.lines import LineVerb
from tabular.registry import option

if TYPE_CHECKING:
    from crawler.topics import Categoriser

#: The registry of categorisers.
categorisers = of_engine("crawler.topics", "categorisers")


@verbs.add("topics")
@dataclass(frozen=True, kw_only=True)
class Topics(LineVerb):
    """Say what texts are about: one text a line in, one JSON object a line out.

    Each line of the answer is {"topics": [[name, score], …]}, best first. A text that is about none of the topics gets
    Other. With `json` the lines are the same. A line that is no UTF-8, or longer than a megabyte, ends the command; the
    answers to the lines before it stand.
    """

    topics: str = option(BUILT_IN, metavar="CATEGORISER", choices=categorisers, provider=True, help="What says it.")

    def check(self) -> None:
        super().check()
        # One that lacks its token is refused before anything is read.
        _ = self._categoriser

    def answered(self, texts: Sequence[str], work: Work) -> Sequence[dict[str, Any]]:
        return [{"topics": [list(each) for each in found]} for found in self._categoriser.categorise(texts)]

    @cached_property
    def _categoriser(self) -> Categoriser:
        from crawler.topics import categorisers

        return categorisers[self.topics].make({})
