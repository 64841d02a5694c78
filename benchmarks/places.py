"""Places of free texts: how many are right by labels written by hand, and how many are read a second.

Reads the shared data, see `CONTRIBUTING.md`; the labels are `tests/data/locations`. `--carmen PYTHON` names the
interpreter of an environment of its own in which carmen is installed; it gets the same texts in the same run. The half
of the labelled strings whose SHA-256 begins with 8 to f was not looked at while rules were made.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.shared import shared_data
from crawler.places import Located, gazetteers
from crawler.places.folding import fold
from crawler.places.index import index

LABELS = Path(__file__).parents[1] / "tests" / "data" / "locations" / "labels.csv"
REPEATS = 5

#: Locations of universities that name no city, or several of which none is the answer.
CITYLESS = frozenset((
    "", "Italia", "United Kingdom", "Regno Unito", "Malaysia", "Scotland", "New Jersey", "COLORADO", "Indiana", "Japan",
    "Israel", "Finland", "Hokkaido, Japan", "Hawaiian Islands", "South East, England", "Tropical North Queensland",
    "Nuova Scozia, Canadà", "Nebraska", "서울/안산", "Uppsala, Umeå, Skara, Alnarp", "Marseille, Aix-en-Provence",
    "Vancouver | Okanagan | Canada",
))  # fmt: skip
#: Where the resolved city is not the one that is named.
WRONG = {"Nishi-ku, Fukuoka, Japan": "Fukuoka", "Dolgoprudny, Russia": "Dolgoprudny"}

#: What carmen says of texts: lines of JSON in, lines of JSON out.
CARMEN = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import carmen
texts = json.load(sys.stdin)
resolver = carmen.get_resolver()
resolver.load_locations()
began = time.process_time()
found = [resolver.resolve_tweet({"user": {"location": text}}) for text in texts]
seconds = time.process_time() - began
places = [None if each is None else [each[1].country, each[1].state, each[1].county, each[1].city] for each in found]
json.dump({"seconds": seconds, "places": places}, sys.stdout)
"""

Answer = tuple[bool, str | None, frozenset[str]]


def main() -> None:
    """Print shares and rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--carmen", metavar="PYTHON", help="an interpreter that has carmen")
    asked = parser.parse_args()
    texts, labels = labelled()
    universities = [(row["location"], city_of(row)) for row in rows("twitter_universities/users.csv")]
    began = time.perf_counter()
    gazetteer = gazetteers["embedded"].method()
    gazetteer.locate("")
    print(f"ready after {time.perf_counter() - began:.2f} s")
    found = {text: gazetteer.locate(text) for text in [*texts, *(text for text, _ in universities)]}
    report("embedded", texts, labels, lambda text: answer(found[text]))
    cities(universities, found)
    print(f"{rate([*texts, *(text for text, _ in universities)]):,.0f} texts a second of one processor, none known")
    if asked.carmen:
        carmen(asked.carmen, texts, labels)


def rows(part: str) -> Iterable[dict[str, str]]:
    """The rows of a file of the shared data."""
    with shared_data(part).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def labelled() -> tuple[list[str], dict[str, dict[str, str]]]:
    """The labelled texts, and the label of each."""
    with LABELS.open(encoding="utf-8", newline="") as file:
        by_digest = {row["sha256"]: row for row in csv.DictReader(file)}
    texts = [row["user_location"] for row in rows("user_locations/locations_dev.csv")]
    return texts, {text: by_digest[hashlib.sha256(text.encode()).hexdigest()] for text in texts}


def answer(place: Located) -> Answer:
    """Whether there is an answer, its country, and the names on its path."""
    return place.is_known, place.country, frozenset(fold(name) for name, _ in place.path)


def report(
    who: str, texts: Sequence[str], labels: Mapping[str, dict[str, str]], answered: Callable[[str], Answer]
) -> None:
    """Print the shares of both halves."""
    for half, digits in (("looked at", "01234567"), ("only counted", "89abcdef")):
        chosen = [text for text in texts if labels[text]["sha256"][0] in digits]
        print(f"{who}, {half}: {told(counted(chosen, labels, answered))}")


def counted(
    texts: Sequence[str], labels: Mapping[str, dict[str, str]], answered: Callable[[str], Answer]
) -> Counter[str]:
    """How many texts there are of each sort, and how many of them are right."""
    counts: Counter[str] = Counter()
    for text in texts:
        label, (is_known, country, names) = labels[text], answered(text)
        if label["place"] == "no":
            counts.update(none=1, false=is_known)
        elif label["place"] == "yes":
            counts.update(named=1, answered=is_known, country=is_known and (country or "") == label["country"])
            for part in ("region", "city") if is_known else ():
                if label[part] and (part == "city" or label["region_named"] == "yes"):
                    counts[part] += 1
                    counts[f"{part} right"] += any(fold(each) in names for each in label[part].split(";"))
    return counts


def told(counts: Counter[str]) -> str:
    """The shares in words."""
    parts = {
        "named, answered": ("answered", "named"),
        "country right": ("country", "answered"),
        "named region right": ("region right", "region"),
        "city right": ("city right", "city"),
        "none, answered": ("false", "none"),
    }
    return ", ".join(
        f"{what} {counts[part]}/{counts[whole]} ({counts[part] / max(counts[whole], 1):.1%})"
        for what, (part, whole) in parts.items()
    )


def city_of(row: Mapping[str, str]) -> str:
    """The city that a university's location names; its encoding was read wrongly once."""
    city = WRONG.get(row["location"], row["resolved_city"])
    try:
        return city.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return city


def cities(universities: Sequence[tuple[str, str]], found: Mapping[str, Located]) -> None:
    """Print how many locations of universities that name a city get it, whatever the gazetteer calls it."""
    named = [(text, city) for text, city in universities if text not in CITYLESS]
    wrong = [text for text, city in named if not is_city(city, found[text])]
    right = len(named) - len(wrong)
    print(f"universities: city right {right}/{len(named)} ({right / len(named):.1%}); not: {'; '.join(wrong)}")


def is_city(city: str, place: Located) -> bool:
    """Whether a place is a city of that name, or lies in one."""
    called = {index().path(each) for each, _ in index().candidates(fold(city))}
    return fold(city) in answer(place)[2] or any(place.path[at:] in called for at in range(2))


def rate(texts: Sequence[str]) -> float:
    """Texts a second of one processor, each read anew; the best of some runs."""
    best = 0.0
    for _ in range(REPEATS):
        gazetteer = gazetteers["embedded"].method()
        gazetteer.locate("")
        began = time.process_time()
        gazetteer.locate_all(texts)
        best = max(best, len(texts) / (time.process_time() - began))
    return best


def carmen(python: str, texts: Sequence[str], labels: Mapping[str, dict[str, str]]) -> None:
    """Print what carmen says of the same texts."""
    done = subprocess.run(
        [python, "-c", CARMEN], input=json.dumps(texts), capture_output=True, text=True, check=True, timeout=600
    )
    said = json.loads(done.stdout[done.stdout.index("{") :])
    by_text = dict(zip(texts, said["places"], strict=True))

    def answered(text: str) -> Answer:
        parts = [part for part in by_text[text] or () if part]
        candidates = index().candidates(fold(parts[0])) if parts else ()
        country = next((index().countries[each] for each, _ in candidates if index().types[each] == "country"), None)
        return bool(parts), country, frozenset(fold(part) for part in parts)

    report("carmen", texts, labels, answered)
    print(f"carmen: {len(texts) / said['seconds']:,.0f} texts a second of one processor")


if __name__ == "__main__":
    main()
