"""What the people of a made network write: places in their own words, posts about what interests them, pages.

Nobody in it exists. The sentences are in `phrases.txt` beside this module, by topic; what is written of a user hangs on
the user's profile and a generator alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from types import MappingProxyType

from numpy.random import Generator

from graphpriv.places import Path
from graphpriv.topics import TOPICS

#: How people write the place they live in, by the level of the place.
OF_A_CITY = (
    "{name}",
    "{name}, {country}",
    "{name}, {region}",
    "{name} {flag}",
    "{name} / {country}",
    "📍 {name}, {country}",
    "{shout}",
    "{name}, {region}, {country}",
)
INSIDE_A_CITY = ("{name}, {city}", "{name}, {city}, {country}", "{city} ({name})", "{city}, {country}")
OF_A_REGION = ("{name}, {country}", "somewhere in {name}", "{name} {flag}", "{name}")
OF_A_COUNTRY = ("{name}", "{name} {flag}", "{flag}", "{shout}")
OF_MORE = ("{name}",)

#: What people write who do not say where they live.
NOWHERE = (
    None,
    None,
    "everywhere",
    "she/her",
    "the internet",
    "ask me again tomorrow",
    "in between trains",
    "they/them",
)

#: The flags of the countries that the made world has.
FLAGS: Mapping[str, str] = MappingProxyType(
    {
        "Argentina": "AR",
        "Australia": "AU",
        "Brazil": "BR",
        "Canada": "CA",
        "Chile": "CL",
        "Colombia": "CO",
        "Egypt": "EG",
        "France": "FR",
        "Germany": "DE",
        "Greece": "GR",
        "India": "IN",
        "Indonesia": "ID",
        "Ireland": "IE",
        "Italy": "IT",
        "Japan": "JP",
        "Kenya": "KE",
        "Mexico": "MX",
        "Netherlands": "NL",
        "New Zealand": "NZ",
        "Nigeria": "NG",
        "Philippines": "PH",
        "Poland": "PL",
        "Portugal": "PT",
        "Singapore": "SG",
        "South Africa": "ZA",
        "South Korea": "KR",
        "Spain": "ES",
        "Sweden": "SE",
        "Turkey": "TR",
        "United Kingdom": "GB",
        "United States": "US",
    }
)

#: How a user's posts are shared out among the three topics, by rank, and how many say nothing of any.
SHARES = (0.5, 0.3, 0.2)
IDLE = 0.1

#: How many posts say little themselves and link to a page that does.
LINKING = 0.3

OPENINGS = ("", "", "", "So: ", "Just read this. ", "It is true. ", "Well, ", "Friends, ")
POINTERS = ("Worth reading:", "This one:", "Saved for later:", "See for yourself:", "More here:")


@dataclass(frozen=True)
class Written:
    """A post, and the topic of the page it links to, if it links to one."""

    text: str
    page: str | None = None


@cache
def phrases() -> Mapping[str, tuple[str, ...]]:
    """The sentences by topic."""
    found: dict[str, list[str]] = {}
    topic = ""
    for line in files(__package__).joinpath("phrases.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            found[topic].append(line.strip())
        else:
            topic = line
            found[topic] = []
    return MappingProxyType({topic: tuple(sentences) for topic, sentences in found.items()})


def written_place(path: Path | None, rng: Generator) -> str | None:
    """How a person who lives at *path* writes it in a profile; None writes nothing, or nothing useful."""
    if path is None:
        return NOWHERE[int(rng.integers(len(NOWHERE)))]
    named = {kind: name for name, kind in reversed(path)}
    (name, kind), country = path[0], named.get("country", "")
    forms = _forms(kind, named)
    text = forms[int(rng.integers(len(forms)))].format(
        name=name,
        shout=name.upper(),
        country=country,
        region=named.get("administrative_area_level_1", country),
        city=named.get("locality", ""),
        flag=_flag(country),
    )
    return text.strip()


def _forms(kind: str, named: Mapping[str, str]) -> Sequence[str]:
    if kind == "locality":
        return OF_A_CITY
    if kind == "country":
        return OF_A_COUNTRY
    if "country" not in named:
        return OF_MORE
    inside = "locality" in named and not kind.startswith("administrative")
    return INSIDE_A_CITY if inside else OF_A_REGION


def _flag(country: str) -> str:
    """The flag of a country: two regional indicators."""
    return "".join(chr(0x1F1E6 + ord(letter) - ord("A")) for letter in FLAGS.get(country, ""))


def written_posts(topics: Sequence[str], count: int, rng: Generator) -> list[Written]:
    """*count* posts of a person with these *topics*, the first one the most frequent."""
    shares = SHARES[: len(topics)]
    bounds = [sum(shares[: rank + 1]) / sum(shares) * (1 - IDLE) for rank in range(len(shares))]
    return [_post(_drawn(topics, bounds, float(rng.random())), rng) for _ in range(count)]


def _drawn(topics: Sequence[str], bounds: Sequence[float], at: float) -> str:
    return next((topic for topic, bound in zip(topics, bounds, strict=False) if at < bound), TOPICS[-1])


def _post(topic: str, rng: Generator) -> Written:
    opening, pointer, sentence = (int(rng.integers(1 << 30)) for _ in range(3))
    if topic != TOPICS[-1] and rng.random() < LINKING:
        return Written(POINTERS[pointer % len(POINTERS)], topic)
    said = phrases()[topic]
    return Written(OPENINGS[opening % len(OPENINGS)] + said[sentence % len(said)])


def page(topic: str, rng: Generator) -> str:
    """A page about a topic, with all that stands around the text of a page."""
    said = phrases()[topic]
    order = rng.permutation(len(said))
    title, *rest = (escape(said[place]) for place in order[:7])
    paragraphs = "".join(f"<p>{' '.join(rest[at : at + 2])}</p>" for at in range(0, len(rest), 2))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
        '<nav><a href="/">Home</a> <a href="/about">About us</a> <a href="/contact">Contact</a></nav>'
        f"<main><article><h1>{title}</h1>{paragraphs}</article></main>"
        "<footer>All rights reserved. Cookies, terms, privacy.</footer></body></html>"
    )
