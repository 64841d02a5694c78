"""Google's Geocoding API as a gazetteer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from crawler.places.asking import Again, Asking, Stop
from crawler.places.contract import UNKNOWN_PLACE, Located, gazetteers
from crawler.places.types import path_of
from graphpriv.places import LEVELS, Path, Step
from tabular.errors import InvalidInput

#: The variables of the environment with the key, and with the address if it is another one.
KEY, URL = "GRAPHPRIV_GOOGLE_KEY", "GRAPHPRIV_GOOGLE_URL"
#: Types that Table 6.1 does not have.
_ALSO = {"postal_town": "locality", "street_address": "route", "airport": "point_of_interest"}
#: How sure the first result is: alone and matched in full; of several, or matched in part; both.
_SURE, _DOUBTFUL, _UNSURE = 0.9, 0.6, 0.4
_ALTERNATIVES = 5


@gazetteers.add(
    "google",
    cites="Google Geocoding API",
    limits="Sends each text to Google, which bills it; its terms limit what may be kept and for how long (30 days).",
)
@dataclass(frozen=True, kw_only=True)
class Google(Asking):
    """Asks Google's Geocoding API, with the key in GRAPHPRIV_GOOGLE_KEY."""

    called: ClassVar[str] = "Google Geocoding"
    gap: ClassVar[float] = 1 / 50
    days: ClassVar[float] = 30

    def __post_init__(self) -> None:
        super().__post_init__()
        if not os.environ.get(KEY):
            raise InvalidInput(f"The gazetteer google needs a key; put it into {KEY}.")

    @property
    def base(self) -> str:
        return os.environ.get(URL) or "https://maps.googleapis.com"

    @property
    def hint(self) -> str:
        return f"; look at the key in {KEY}"

    def request(self, text: str) -> tuple[str, Mapping[str, str], Mapping[str, str]]:
        return "/maps/api/geocode/json", {"address": text, "language": "en", "key": os.environ[KEY]}, {}

    def read(self, answer: Any) -> Located:
        status = answer["status"]
        if status in ("ZERO_RESULTS", "INVALID_REQUEST"):
            return UNKNOWN_PLACE
        if status == "OVER_QUERY_LIMIT":
            raise Again("it was asked too often, and did not answer after waiting (OVER_QUERY_LIMIT)")
        if status == "UNKNOWN_ERROR":
            raise Again("the server failed again and again (UNKNOWN_ERROR)")
        if status in ("REQUEST_DENIED", "OVER_DAILY_LIMIT"):
            raise Stop(f"it refuses to answer ({status}){self.hint}")
        if status != "OK":
            raise Stop("it gave an answer that is none (another status than is documented)")
        return _place(answer["results"])


def _place(results: list[dict[str, Any]]) -> Located:
    """The first result, with the others as alternatives."""
    read = [(*_read(each), bool(each.get("partial_match"))) for each in results]
    known = [(path, country, in_part) for path, country, in_part in read if path]
    if not known:
        return UNKNOWN_PLACE
    path, country, in_part = known[0]
    others = dict.fromkeys(each for each, _, _ in known[1:] if each != path)
    score = (_SURE, _DOUBTFUL, _UNSURE)[in_part + bool(others)]
    share = (1 - score) / len(others) if others else 0.0
    return Located(path, score, country, tuple((each, share) for each in list(others)[:_ALTERNATIVES]))


def _read(result: dict[str, Any]) -> tuple[Path, str | None]:
    """The path of a result, and its country."""
    components = result["address_components"]
    country = next((each["short_name"] for each in components if "country" in each["types"]), None)
    steps = [step for each in components if (step := _step(each)) is not None]
    return path_of(steps, country), country


def _step(component: dict[str, Any]) -> Step | None:
    """The name of a component with its type in Table 6.1; None where it has none there."""
    # Every component above streets is political; that alone says nothing of it.
    for kind in (*component["types"], *(_ALSO.get(each, "") for each in component["types"])):
        if kind in LEVELS and kind != "political":
            return component["long_name"], kind
    return None
