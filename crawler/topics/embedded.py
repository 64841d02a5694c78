"""The categoriser that is built in: word vectors and our own lists of words, without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log, sqrt
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.topics.contract import OTHER, Categoriser, Topic, categorisers
from crawler.topics.lexicon import DATA, TOLD, UNIT, lexicon
from crawler.topics.small_talk import is_small_talk
from crawler.topics.vectors import centred
from crawler.topics.writing import Language, cleaned, language_of, words_of

#: Weights are whole numbers, too, in steps of 1/4096.
WEIGHT = 4096

#: How much the lists of words count beside the vectors, and the length below which a text hardly counts as shorter.
_WORDS, _SHORT = 0.3, 8

#: How much the vectors count by language: they were made of English, and of other languages know cognates and names.
_VECTORS: dict[Language, float] = {"en": 1.0, "es": 0.3, "latin": 0.3, "el": 0.0, "ja": 0.0, "script": 0.0}

#: A difference in scores of so much makes a topic 2.7 times as sure: the best fit to examples that were left out.
_STEP = 0.1

#: How often posts and news are about a topic, roughly: our guess, from no count.
_SHARES = {
    "Business_Finance": 0.13, "Disaster_Accident": 0.025, "Education": 0.03, "Entertainment_Culture": 0.13,
    "Environment": 0.02, "Health_Medical_Pharma": 0.045, "Hospitality_Recreation": 0.05, "Human Interest": 0.12,
    "Labor": 0.02, "Law_Crime": 0.05, "Politics": 0.12, "Religion_Belief": 0.02, "Social Issues": 0.03, "Sports": 0.14,
    "Technology_Internet": 0.12, "Weather": 0.02, "War_Conflict": 0.07,
}  # fmt: skip
_PRIOR = [_STEP * log(len(TOLD) * _SHARES[topic]) for topic in TOLD]

#: Less evidence than this is none: in English where a word of the lists occurs, where none does, as in a text of no
#: words, and in other languages, in which the vectors add little: there a plain word in twenty is enough.
EVIDENCE, BY_VECTORS_ALONE, ELSEWHERE = 0.12, 0.3, 0.05

#: A topic less sure than this is not told, and beside the first it must be surer.
SURE, BESIDE = 0.15, 0.2


@categorisers.add(
    "embedded",
    cites="our own word lists and examples; vectors of WordLlama 0.4 (l2_supercat, 256 numbers)",
    limits="English best; Spanish, Greek and Japanese by lists of words alone, other languages by names and emoji; "
    "irony and pictures are not understood; the first 20,000 characters count",
)
@dataclass(frozen=True, kw_only=True)
class Embedded(Categoriser):
    """Compares the words of a text with examples of each topic, on this machine alone."""

    version: ClassVar[str] = "2"

    def categorise(self, texts: Sequence[str]) -> list[list[Topic]]:
        clean = [cleaned(text) for text in texts]
        words = [words_of(text) for text in clean]
        languages = [language_of(*each) for each in zip(clean, words, strict=True)]
        by_vectors = vector_scores(clean, [_VECTORS[each] > 0 for each in languages])
        return [_told(*each) for each in zip(clean, words, languages, by_vectors, strict=True)]


def _told(text: str, words: Sequence[str], language: Language, by_vectors: Sequence[float]) -> list[Topic]:
    """The topics of one text."""
    if is_small_talk(text, words, language):
        return [(OTHER, 1.0)]
    sums = lexicon(language).sums(text, words)
    length = sqrt((len(text) // 3 if language == "ja" else len(words)) + _SHORT)
    share = _VECTORS[language]
    evidence = [share * own + _WORDS * said / UNIT / length for own, said in zip(by_vectors, sums, strict=True)]
    needed = (EVIDENCE if language == "en" else ELSEWHERE) if any(sums) else BY_VECTORS_ALONE
    if max(evidence) < needed:
        return [(OTHER, 1.0)]
    return _answer([own + prior for own, prior in zip(evidence, _PRIOR, strict=True)])


def _answer(scores: Sequence[float]) -> list[Topic]:
    """The topics that are sure enough, best first; equal ones in the order of the eighteen."""
    best = max(scores)
    raised = [exp((score - best) / _STEP) for score in scores]
    whole = sum(raised)
    sure = sorted(((each / whole, -at) for at, each in enumerate(raised)), reverse=True)
    if sure[0][0] < SURE:
        return [(OTHER, round(1 - sure[0][0], 4))]
    return [(TOLD[-at], round(each, 4)) for place, (each, at) in enumerate(sure) if each >= BESIDE or not place]


@dataclass(frozen=True)
class Weights:
    """What was learned of the examples: the centre of all vectors, and weights of each topic."""

    #: In steps of 1/CENTRE.
    centre: NDArray[np.int64]
    #: A row for each number of a vector, and one for what is the same in all texts, in steps of 1/WEIGHT.
    weights: NDArray[np.int64]


def weights_file() -> Path:
    """The file of the weights, which `python -m benchmarks.topic_weights` makes."""
    return DATA / "weights.csv"


@cache
def weights() -> Weights:
    """The weights that were learned: in the file, the centre stands in the first column."""
    rows = np.loadtxt(weights_file(), dtype=np.int64, delimiter=",", skiprows=1)
    return Weights(centre=rows[:-1, 0], weights=rows[:, 1:])


def vector_scores(texts: Sequence[str], wanted: Sequence[bool]) -> list[list[float]]:
    """What the vectors of texts say for each topic; zeros for those that are not *wanted*."""
    scores = np.zeros((len(texts), len(TOLD)))
    rows = [at for at, each in enumerate(wanted) if each and texts[at]]
    if rows:
        learned = weights()
        vectors = centred([texts[at] for at in rows], learned.centre)
        lengths = np.sqrt((vectors * vectors).sum(axis=1).astype(np.float64))
        sums = (vectors @ learned.weights[:-1]).astype(np.float64)
        scores[rows] = (sums / np.maximum(lengths, 1.0)[:, None] + learned.weights[-1]) / WEIGHT
    return [[float(each) for each in row] for row in scores]
