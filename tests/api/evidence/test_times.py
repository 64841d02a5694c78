"""What an analyst is answered takes no other way, and no other time, where there is an original.

The calls of our functions and the statements of databases are counted, which no busy machine changes. Clocks are asked
with `-m heavy`: twelve answers whose calls differ most, 200 times each in either world, in turns.
"""

from __future__ import annotations

import gc
import random
import sqlite3
import sys
import time
from collections import Counter

import pytest
from scipy.stats import mannwhitneyu

from tests.api.evidence.serving import TOP
from tests.api.evidence.worlds import answered, questions, world

#: So many answers are looked at closely, and so often each is asked for.
CLOSELY, REPEATS = 12, 200

#: The chance to find a difference in any of the answers where there is none; one that is found is looked at again.
LEVEL = 0.01

#: The plain count is of one in so many answers.
STEP = 7

PACKAGES = tuple(f"{TOP}/{name}/" for name in ("api", "graphpriv", "tabular"))

#: Each call of these in C is a statement.
STATEMENTS = {sqlite3.Connection.execute.__name__, sqlite3.Connection.executemany.__name__}


def calls_of(there, question):
    """How often each of our functions is called for an answer, and how many statements databases are sent."""
    # What is compiled, imported or cached once is none of what is compared.
    answered(there, question)
    calls, statements = Counter(), 0

    def look(frame, event, what):
        nonlocal statements
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGES):
            calls[frame.f_code.co_filename.removeprefix(str(TOP)), frame.f_code.co_qualname] += 1
        elif event == "c_call" and isinstance(getattr(what, "__self__", None), sqlite3.Connection):
            statements += what.__name__ in STATEMENTS

    sys.setprofile(look)
    try:
        answered(there, question)
    finally:
        sys.setprofile(None)
    return calls, statements


@pytest.fixture
def worlds(tmp_path):
    """A world with originals, one without, what may be asked in both, and how many things one of them hides."""
    with world(tmp_path / "with", 3, True) as there, world(tmp_path / "without", 3, False) as bare:
        yield there, bare


def asked_in(worlds, step=1):
    """What is read, and what is refused; a job that is done leaves traces in the list of jobs."""
    asked = list(questions(worlds[0].name))[::step]
    # Both worlds are asked, so that the analyst has as many jobs in one as in the other.
    statuses = {repr(each): [answered(there, each).status_code for there in worlds] for each in asked}
    refused = {each for each, told in statuses.items() if min(told) >= 400}
    return [each for each in asked if each[1] == "GET" or repr(each) in refused]


def hidden_in(there):
    """How many originals a world has."""
    service = there.app.extensions["graphpriv"]
    things = [*service.graphs.visible("custodian"), *service.tables.visible("custodian")]
    return sum(each.kind == "original" for each in things)


def difference(one, other):
    """By how many calls two answers differ."""
    return sum(((one - other) + (other - one)).values())


def test_the_same_functions_answer_with_as_many_statements(worlds):
    there, bare = worlds
    assert hidden_in(there) >= 3 and hidden_in(bare) == 0
    for question in asked_in(worlds, STEP):
        (with_it, said), (without, said_there) = calls_of(there, question), calls_of(bare, question)
        assert with_it == without, (question, with_it - without, without - with_it)
        assert said == said_there > 0 or not question[2].startswith("/v1/"), question


def times_of(worlds, question, repeats, chance):
    """How long an answer takes in either world, asked for in turns that follow no order."""
    taken = ([], [])
    turns = [0, 1] * repeats
    chance.shuffle(turns)
    for place in turns:
        begun = time.perf_counter_ns()
        answered(worlds[place], question)
        taken[place].append(time.perf_counter_ns() - begun)
    return taken


def is_told_apart(worlds, question, level, chance):
    """Whether the times of an answer tell the worlds apart, by the rank test of Mann and Whitney."""
    return mannwhitneyu(*times_of(worlds, question, REPEATS, chance)).pvalue < level


@pytest.mark.heavy
def test_the_times_of_the_twelve_that_differ_most_tell_nothing(worlds):
    there, bare = worlds
    chance = random.Random(1)
    differ = {}
    for question in asked_in(worlds):
        differ[repr(question)] = (difference(calls_of(there, question)[0], calls_of(bare, question)[0]), question)
    closely = sorted(differ.values(), key=lambda each: -each[0])[:CLOSELY]
    gc.collect()
    gc.disable()
    try:
        for calls, question in closely:
            found = is_told_apart(worlds, question, LEVEL / CLOSELY, chance)
            print(calls, question[:3], "told apart" if found else "within noise")
            assert not (found and is_told_apart(worlds, question, LEVEL / CLOSELY, chance)), question
    finally:
        gc.enable()
