"""What a search was told, kept and told again."""

from __future__ import annotations

import numpy as np
import pytest

from tabular.lattice import recalling
from tabular.lattice.metrics import Readings
from tabular.lattice.recalling import Recall
from tests.contracts.parts import Remembered

COUNTS = ((0, 2), (2, 1), (3, 0), (3, 4), (7, 1), (8, 2), (10, 1))
QUESTIONS = [np.arange(start, start + count, dtype=np.int16)[:, None] for start, count in COUNTS]


class Evaluated:
    """Evaluates nodes, each call a second long, and notes them."""

    def __init__(self, monkeypatch):
        self.asked, self.now = [], 0.0
        monkeypatch.setattr(recalling, "perf_counter", lambda: self.now)

    def __call__(self, nodes):
        self.now += 1.0
        self.asked += nodes[:, 0].tolist()
        return Readings(
            nodes, {"glm": nodes[:, 0] / 3, "satisfies": nodes[:, 0] > 4, "k": nodes[:, 0].astype(np.int64)}
        )


def told(recall, questions=QUESTIONS):
    return [{name: array.tolist() for name, array in recall(each).values.items()} for each in questions]


@pytest.fixture
def evaluated(monkeypatch):
    return Evaluated(monkeypatch)


def test_what_was_told_is_kept_every_two_seconds_and_told_again(evaluated):
    parts = Remembered()
    plain = told(Recall(evaluated, Remembered(), "search"))
    evaluated.asked.clear()
    assert told(Recall(evaluated, parts, "search"), QUESTIONS[:4]) == plain[:4]
    # Two calls are kept; the third one was cut off before the next two seconds were over.
    evaluated.asked.clear()
    later = Recall(evaluated, parts, "search")
    recalls = []
    for number, question in enumerate(QUESTIONS):
        assert told(later, [question]) == [plain[number]]
        recalls.append(later.is_at_it)
    assert evaluated.asked == list(range(3, 11))
    assert recalls == [True, *[False] * 6]
    evaluated.asked.clear()
    assert told(Recall(evaluated, parts, "another")) == plain
    assert evaluated.asked == list(range(11))


def test_what_takes_too_much_room_is_evaluated_again_and_what_follows_is_not(evaluated, monkeypatch):
    parts = Remembered()
    monkeypatch.setattr(recalling, "_MOST", 100)
    plain = told(Recall(evaluated, parts, "search"))
    evaluated.asked.clear()
    assert told(Recall(evaluated, parts, "search")) == plain
    assert evaluated.asked == [3, 4, 5, 6, 7]


def test_other_questions_than_those_that_were_kept_are_evaluated(evaluated):
    parts = Remembered()
    told(Recall(evaluated, parts, "search"), QUESTIONS[:2])
    evaluated.asked.clear()
    recall = Recall(evaluated, parts, "search")
    assert told(recall, QUESTIONS[3:]) == told(Recall(evaluated, Remembered(), ""), QUESTIONS[3:])
    assert evaluated.asked == [*range(3, 11)] * 2
