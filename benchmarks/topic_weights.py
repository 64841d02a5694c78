"""Learns the weights of the embedded categoriser from our own examples and word lists.

`python -m benchmarks.topic_weights` writes crawler/topics/data/weights.csv anew. No text or label of others is used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crawler.topics.embedded import WEIGHT, Weights, weights_file
from crawler.topics.lexicon import TOLD, entries, read
from crawler.topics.vectors import CENTRE, VECTOR, model
from crawler.topics.writing import cleaned

#: How much a word of the lists counts beside an example, by what it says.
_WORD = {120: 0.4, 40: 0.16}

#: How strongly weights are held near zero: the best for examples that were left out.
_HELD = 1.0


def learned(examples: dict[str, str] | None = None) -> Weights:
    """The weights that come of *examples*, texts by topic; ours if none are given."""
    texts, topics, counts = _material(_own_examples() if examples is None else examples)
    pieces = model().pieces(texts)
    lengths = np.array([max(len(each), 1) for each in pieces])
    means = model().sums(pieces) / VECTOR / lengths[:, None]
    # That of the examples: lists of words are no texts.
    centre = np.rint(means[counts == 1.0].mean(axis=0) * CENTRE).astype(np.int64)
    vectors = means - centre / CENTRE
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1), 1e-9)[:, None]
    weights = _ridge(np.c_[vectors, np.ones(len(vectors))], topics, counts)
    return Weights(centre=centre, weights=np.rint(weights * WEIGHT).astype(np.int64))


def _own_examples() -> dict[str, str]:
    return read("examples")  # type: ignore[return-value]


def _material(examples: dict[str, str]) -> tuple[list[str], NDArray[np.int64], NDArray[np.float64]]:
    """Texts to learn from, the topic of each, and how much each counts."""
    rows = [(text, TOLD.index(topic), 1.0) for topic, texts in examples.items() for text in texts.strip().splitlines()]
    rows += [(word, topic, _WORD[says]) for name in ("words_en", "names_en") for word, topic, says in entries(name)]
    texts, topics, counts = zip(*rows, strict=True)
    return [cleaned(text) for text in texts], np.array(topics), np.array(counts)


def _ridge(vectors: NDArray[np.float64], topics: NDArray[np.int64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights whose sums come nearest to 1 for the right topic; topics with more to learn from count less a text."""
    many = len(TOLD)
    wanted = np.full((len(topics), many), -1 / (many - 1))
    wanted[np.arange(len(topics)), topics] = 1
    of_topic = np.bincount(topics, weights=counts, minlength=many)
    weighed = vectors * (counts / np.sqrt(of_topic[topics]))[:, None]
    return np.linalg.solve(weighed.T @ vectors + _HELD * np.eye(vectors.shape[1]), weighed.T @ wanted)


def main() -> None:
    """Write the file of the weights."""
    made = learned()
    rows = np.c_[np.append(made.centre, 0), made.weights]
    np.savetxt(weights_file(), rows, fmt="%d", delimiter=",", header=",".join(["centre", *TOLD]), comments="")


if __name__ == "__main__":
    main()
