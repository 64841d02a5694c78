"""The fitness on the files of the thesis, and where EM is blind."""

from __future__ import annotations

import numpy as np
import pytest

from tabular.attributes import Attribute
from tabular.evolution.fitness import Fitness
from tabular.files.schema import read_schema
from tabular.files.table_files import read_file
from tabular.measures import measures
from tabular.table import Table
from tests.tabular.evolution.fitness.slow_fitness import slow_measures
from tests.tabular.evolution.fitness.test_contract import walk

FILES = {
    "german-credit": ("german_credit/german.data", ["EXISTACC", "SAVINGS", "PRESEMPLOY"]),
    "solar-flare": ("solar_flare/flare.data2", ["CLASS", "LARGSPOT", "SPOTDIST"]),
    "adult": ("adult/arx/adult.csv", ["education", "marital-status", "occupation"]),
}


def masked(codes, kept, rng):
    """Each value *kept* with that probability, else drawn from its column."""
    return np.where(rng.random(codes.shape) < kept, codes, rng.permuted(codes, axis=0))


def fitness_of(shared_folder, name, rng):
    """The fitness of a real file with weights over three masked ones, and these."""
    file, columns = FILES[name]
    fitness = Fitness.of(read_file(shared_folder / file, schema=read_schema(name)).table, columns)
    files = [masked(fitness.codes, kept, rng) for kept in (0.9, 0.5, 0.2)]
    return fitness.held(files), files


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["german-credit", "solar-flare"])
def test_the_files_of_the_thesis_are_measured_as_the_measures_do(shared_folder, name):
    rng = np.random.default_rng(1)
    fitness, files = fitness_of(shared_folder, name, rng)
    for codes, found in zip(files, fitness.measured(np.stack(files)), strict=True):
        assert found.tolist() == pytest.approx(slow_measures(fitness, codes), abs=1e-9)
    walk(fitness, files[1], rng, steps=2000, checked=40)


@pytest.mark.heavy
@pytest.mark.shared_data
def test_all_of_adult_is_measured_as_the_measures_do(shared_folder):
    rng = np.random.default_rng(1)
    fitness, files = fitness_of(shared_folder, "adult", rng)
    for codes, found in zip(files, fitness.measured(np.stack(files)), strict=True):
        assert found.tolist() == pytest.approx(slow_measures(fitness, codes), abs=1e-9)
    walk(fitness, files[0], rng, steps=100, checked=5)


def test_the_fitness_sees_links_to_which_em_is_blind():
    """EM gives agreement a negative weight and links 0.2 % of these records; by true pairs they are 14 %."""
    rng = np.random.default_rng(60)
    shares = {"account": [0.7, 0.1, 0.1, 0.1], "savings": [0.4, 0.3, 0.2, 0.1], "employed": [0.4, 0.3, 0.3]}
    columns = {name: rng.choice(len(share), 120, p=share).tolist() for name, share in shares.items()}
    kinds = [Attribute(name=name, domain=tuple(range(len(share)))) for name, share in shares.items()]
    fitness = Fitness.of(Table.from_columns(columns, kinds), list(shares))
    codes = fitness.codes
    for place, (kept, share) in enumerate(zip(rng.uniform(0.3, 0.95, 3), shares.values(), strict=True)):
        changed = rng.random(120) > kept
        codes[changed, place] = rng.integers(0, len(share), changed.sum())
    fitness = fitness.held([codes])
    by_em = measures["prl-em"].method().measure(fitness.original, fitness.table_of(codes), fitness.attributes)
    assert by_em.percent < 1
    assert fitness.full(codes).prl > 14
