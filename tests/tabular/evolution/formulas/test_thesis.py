"""The files of the thesis: formulas beat classical matrices and the thesis's finals (Tables 4.12, 4.13 and 4.15)."""

from __future__ import annotations

import numpy as np
import pytest

from tabular.evolution import Task
from tabular.evolution.formulas.evolving import EvolvedFormulas
from tabular.evolution.matrices.expectation import Expectation
from tabular.files.schema import read_schema
from tabular.files.table_files import read_file
from tabular.measures import summary
from tabular.protections.pram import PRAM

FILES = {
    "german": ("german_credit/german.data", "german-credit", ("EXISTACC", "SAVINGS", "PRESEMPLOY")),
    "flare": ("solar_flare/flare.data2", "solar-flare", ("CLASS", "LARGSPOT", "SPOTDIST")),
}

#: The thesis's finals for the greater of loss and risk.
FINALS = {"german": 34.33, "flare": 37.03}


def evolved(table, columns, score, generations, seed=1, **given):
    task = Task(table=table, columns=columns, score=score, workers=1, **given)
    population = EvolvedFormulas().begin(task, np.random.default_rng(seed))
    for _ in range(generations):
        population.tell(population.evaluate(population.ask()))
    return population


def classical(table, columns, score):
    expectation = Expectation.of(table, columns)
    ways = [{name: tenths / 10} for name in ("retain", "theta") for tenths in range(1, 10)]
    return min(expectation.measured(PRAM(**way).matrices(table, columns)).score(score) for way in ways)


def measured(table, columns, individual):
    found = summary(table, individual.masked(), columns, parameters={"informed": {"matrices": individual.matrices}})
    return found.document()


@pytest.mark.heavy
@pytest.mark.parametrize("file", FILES)
def test_formulas_beat_both_classical_matrices_and_the_thesis(shared_folder, file):
    path, schema, columns = FILES[file]
    table = read_file(shared_folder / path, schema=read_schema(schema)).table
    drawn = []
    for seed in (1, 2, 3):
        population = evolved(table, columns, "max", 1500, seed)
        best = population.individual(0)
        assert best.withheld is None
        assert population.scores[0] < min(classical(table, columns, "max"), FINALS[file])
        drawn.append(measured(table, columns, best))
        depths = [min(each.rank for each in layer.members)[:2] for layer in population.layers.layers]
        assert depths == sorted(depths, reverse=True)
        # The default limit of what knowing the matrices adds holds.
        assert all(each["added"] <= 10 + 1e-6 for each in best.about["read_back"].values())
    # On drawn files, with the linkage that the expectation does not have; one of them can be unlucky.
    assert np.mean([each["score_max"] for each in drawn]) < min(classical(table, columns, "max"), FINALS[file])
    assert np.mean([each["score_max_em"] for each in drawn]) < FINALS[file]


@pytest.mark.heavy
def test_the_mean_score_of_flare_ends_at_the_original_unless_guarded(shared_folder):
    path, schema, columns = FILES["flare"]
    table = read_file(shared_folder / path, schema=read_schema(schema)).table
    shut, open_ = (evolved(table, columns, "mean", 600, accept_unchanged=each) for each in (False, True))
    # Table 4.13 has 26.10, a loss of 0.03 and a risk of 52.19.
    assert open_.scores[0] == pytest.approx(26.10, abs=0.1)
    assert open_.points()[0, 0] < 1
    assert shut.individual(0).withheld is None
    assert shut.points()[0, 0] > 1
