"""Nominatim, the geocoder of OpenStreetMap, as a gazetteer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

from crawler.places.asking import Asking
from crawler.places.contract import UNKNOWN_PLACE, Located, gazetteers
from crawler.places.types import path_of
from graphpriv.places import Path

#: The variable of the environment with the address of a server of one's own.
URL = "GRAPHPRIV_NOMINATIM_URL"
#: The types of Table 6.1 of the parts of an address.
_TYPES = {
    **dict.fromkeys(("amenity", "tourism", "historic", "building", "aeroway"), "point_of_interest"),
    **dict.fromkeys(("natural", "water", "peak"), "natural_feature"),
    **dict.fromkeys(("road", "pedestrian", "square"), "route"),
    **dict.fromkeys(("neighbourhood", "quarter", "allotments"), "neighborhood"),
    **dict.fromkeys(("suburb", "borough", "city_district", "subdivision", "district"), "sublocality"),
    **dict.fromkeys(("city", "town", "village", "hamlet", "isolated_dwelling"), "locality"),
    "municipality": "administrative_area_level_3",
    **dict.fromkeys(("county", "state_district"), "administrative_area_level_2"),
    **dict.fromkeys(("state", "province", "region"), "administrative_area_level_1"),
    "country": "country",
}
#: What counts as a place; texts of profiles that are names of shops and bars are seldom places.
_PLACES = ("place", "boundary")
#: Regions that have a code of their own in ISO 3166-1.
_OWN_CODES = frozenset(("HK", "MO", "PR", "GU", "VI", "AS", "MP"))
#: How sure a single result is, and how far the lead over the second one makes one of several so.
_SURE, _LEAST_SURE, _LED = 0.9, 0.45, 0.45
_ALTERNATIVES = 5


@gazetteers.add(
    "nominatim",
    cites="Nominatim, data of OpenStreetMap (ODbL)",
    limits="Sends each text to the server, one a second; the public server is for small numbers of texts.",
)
@dataclass(frozen=True, kw_only=True)
class Nominatim(Asking):
    """Asks Nominatim, the public one or that of GRAPHPRIV_NOMINATIM_URL, at most once a second."""

    called: ClassVar[str] = "Nominatim"
    gap: ClassVar[float] = 1.0
    days: ClassVar[float] = 180

    @property
    def base(self) -> str:
        return os.environ.get(URL) or "https://nominatim.openstreetmap.org"

    def request(self, text: str) -> tuple[str, Mapping[str, str], Mapping[str, str]]:
        parameters = {"q": text, "format": "jsonv2", "addressdetails": "1", "limit": "5", "accept-language": "en"}
        return "/search", parameters, {"User-Agent": _agent()}

    def read(self, answer: Any) -> Located:
        found: dict[Path, tuple[float, str | None]] = {}
        for each in answer:
            if each["category"] in _PLACES:
                path, country = _read(each["address"])
                found.setdefault(path, (float(each["importance"]), country))
        found.pop((), None)
        if not found:
            return UNKNOWN_PLACE
        ranked = sorted(found.items(), key=lambda each: -each[1][0])
        path, (importance, country) = ranked[0]
        second = ranked[1][1][0] if len(ranked) > 1 else 0.0
        lead = (importance - second) / importance if importance > 0 else 0.0
        score = _SURE if len(ranked) == 1 else _LEAST_SURE + _LED * lead
        total = sum(each for _, (each, _) in ranked[1:]) or 1.0
        others = tuple((each, (1 - score) * its / total) for each, (its, _) in ranked[1 : _ALTERNATIVES + 1])
        return Located(path, score, country, others)


def _read(address: Mapping[str, str]) -> tuple[Path, str | None]:
    """The path of an address, and its country."""
    country: str | None = address.get("country_code", "").upper() or None
    steps = [(name, _TYPES[kind]) for kind, name in address.items() if kind in _TYPES]
    codes = {address.get(f"ISO3166-2-lvl{level}", "").partition("-")[2] for level in (3, 4)} & _OWN_CODES
    if codes:
        # Hong Kong and the like come as regions of a country, and have codes of their own.
        country = codes.pop()
        own = {"administrative_area_level_1": "country", "country": ""}
        steps = [(name, own.get(kind, kind)) for name, kind in steps]
    return path_of(steps, country), country


def _agent() -> str:
    """Who asks, as the server's rules demand."""
    try:
        return f"graphpriv/{version('graphpriv')} (places of profile texts)"
    except PackageNotFoundError:
        return "graphpriv (places of profile texts)"
