"""The embedded categoriser on labelled texts, beside a count of keywords and TF-IDF centroids.

    python -m benchmarks.topics

What an answer counts for is written in topic_classes.toml, which was there before any score. No label is used but to
count; nobody of the three has seen a labelled text. AG News: the test part. Reuters-10: all of it. TweetTopicXL: both
parts in English. The least and the greatest difference to the best constant answer come of a paired bootstrap.
"""

from __future__ import annotations

import csv
import json
import math
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.shared import shared_data
from crawler.topics import categorisers
from crawler.topics.lexicon import TOLD, entries, read
from crawler.topics.writing import cleaned, words_of

#: The topics that are right for a class, by set.
CLASSES = tomllib.loads((Path(__file__).parent / "topic_classes.toml").read_text())

#: Gives the best topic of each text.
Answers = Callable[[Sequence[str]], list[str]]


@dataclass(frozen=True)
class Labelled:
    """Texts, the classes of each, and the topics that are right."""

    texts: list[str]
    classes: list[list[str]]
    right: list[set[str]]

    @classmethod
    def of(cls, name: str, rows: Iterator[tuple[str, list[str]]]) -> Labelled:
        """Labelled texts of a set."""
        texts, classes = zip(*rows, strict=True)
        right = [{topic for each in some for topic in CLASSES[name][each]["topics"]} for some in classes]
        return cls(list(texts), list(classes), right)


def table(path: str) -> Iterator[tuple[str, list[str]]]:
    with shared_data(path).open(newline="") as file:
        yield from ((text, [label]) for label, text in csv.reader(file))


def tweets() -> Iterator[tuple[str, list[str]]]:
    for part in ("train", "validation"):
        for line in shared_data(f"tweettopicxl/en_{part}.jsonl").read_text().splitlines():
            row = json.loads(line)
            yield row["text"], [name for name in CLASSES["tweettopicxl"] if row[name]]


def embedded(texts: Sequence[str]) -> list[str]:
    """The first answer of the embedded categoriser."""
    categoriser = categorisers["embedded"].make({})
    return [found[0][0] for at in range(0, len(texts), 512) for found in categoriser.categorise(texts[at : at + 512])]


def keywords(texts: Sequence[str]) -> list[str]:
    """The topic with most words of the lists in the text; the first of the eighteen where none has more."""
    of_word: dict[str, set[int]] = {}
    for word, topic, _ in entries("words_en"):
        of_word.setdefault(word, set()).add(topic)
    counts = ([topic for word in words_of(cleaned(text)) for topic in of_word.get(word, ())] for text in texts)
    return [TOLD[max(range(len(TOLD)), key=Counter(each).__getitem__)] for each in counts]


def centroids(texts: Sequence[str]) -> list[str]:
    """The topic whose examples and lists, as one text, are nearest in TF-IDF."""
    words = {topic: words_of(cleaned(text)) for topic, text in read("examples").items()}
    for word, topic, _ in entries("words_en"):
        words[TOLD[topic]].append(word)
    own = {topic: Counter(words[topic]) for topic in TOLD}
    asked = [Counter(words_of(cleaned(text))) for text in texts]
    seen = Counter(word for each in asked for word in each)
    weight = {word: math.log((1 + len(texts)) / (1 + count)) + 1 for word, count in seen.items()}
    vectors = {
        topic: {word: count * weight[word] for word, count in counts.items() if word in weight}
        for topic, counts in own.items()
    }
    lengths = {topic: math.sqrt(sum(each**2 for each in vector.values())) for topic, vector in vectors.items()}

    def nearest(counts: Counter[str]) -> str:
        def near(topic: str) -> float:
            mine = vectors[topic]
            return sum(n * weight[word] * mine.get(word, 0.0) for word, n in counts.items()) / lengths[topic]

        return max(TOLD, key=near)

    return [nearest(each) for each in asked]


WAYS: dict[str, Answers] = {"embedded": embedded, "keyword count": keywords, "TF-IDF centroid": centroids}


def hits(of: Labelled, answers: Sequence[str]) -> np.ndarray:
    return np.array([answer in right for answer, right in zip(answers, of.right, strict=True)])


def by_class(of: Labelled, right: np.ndarray) -> dict[str, float]:
    names = np.array([each[0] for each in of.classes])
    return {name: float(right[names == name].mean()) for name in sorted(set(names))}


def bootstrap(right: np.ndarray, constant: np.ndarray, draws: int = 10_000) -> tuple[float, float]:
    """The middle 95 % of the difference between two ways over texts drawn with replacement."""
    difference = right.astype(float) - constant
    rng = np.random.default_rng(14)
    means = [difference[rng.integers(0, len(difference), len(difference))].mean() for _ in range(draws)]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def show(name: str, answers: Answers) -> None:
    ag = Labelled.of("ag_news", table("ag_news/test.csv"))
    # Of one processor: what else a machine does is no matter of the categoriser's.
    began = time.process_time()
    found = answers(ag.texts)
    speed = len(ag.texts) / (time.process_time() - began)
    right = hits(ag, found)
    false = np.mean([one == "Business_Finance" for one, each in zip(found, ag.classes, strict=True) if each != ["2"]])
    print(f"{name}: {speed:,.0f} texts a second of one processor")
    classes = ", ".join(f"{CLASSES['ag_news'][each]['name']} {part:.3f}" for each, part in by_class(ag, right).items())
    print(f"  AG News test {right.mean():.4f} ({classes}); not business, told so: {false:.4f}")

    reuters = Labelled.of("reuters10", table("reuters10/reuters10.csv"))
    found = answers(reuters.texts)
    right, strict = hits(reuters, found), np.array([each == "Business_Finance" for each in found])
    for what, some in (("Reuters-10", right), ("  Business_Finance alone", strict)):
        parts = by_class(reuters, some)
        classes = ", ".join(f"{CLASSES['reuters10'][each]['name']} {part:.3f}" for each, part in parts.items())
        print(f"  {what} {some.mean():.4f}, macro {np.mean(list(parts.values())):.4f} ({classes})")

    posts = Labelled.of("tweettopicxl", tweets())
    right = hits(posts, answers(posts.texts))
    constant, topic = max((np.mean([each in right for right in posts.right]), each) for each in TOLD)
    low, high = bootstrap(right, np.array([topic in each for each in posts.right]))
    print(f"  TweetTopicXL {right.mean():.4f}; always {topic}: {constant:.4f}; difference {low:+.4f} to {high:+.4f}")


if __name__ == "__main__":
    embedded(["The model is loaded before the clock runs."])
    for name, answers in WAYS.items():
        show(name, answers)
