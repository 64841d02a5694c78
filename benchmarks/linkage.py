"""Linking masked records with their originals: beside splink and recordlinkage, then all of Adult.

Part `peers` links masked records with as many originals: 1,000 of German Credit and of Adult by eight attributes, 1,066
of Solar Flare by twelve, 1,080 of Census by eight in twelve classes each. They are masked by PRAM (each value kept with
probability 0.7, else drawn anew) and by swapping within 5 % of the ranks. Every linker gets all pairs. Of splink each
masked record is linked with the originals of greatest match weight, by agreement alone and with the frequencies of
values taken into account; of recordlinkage with those of greatest probability by its EM, and one to one by an optimal
assignment. Of several equally good originals each counts its share. The informed attacker is given the matrices of
PRAM, and for swapping what the two files show. Linkers that are not installed are left out.

Part `nearest` links 30,162 x 30,162 records of Adult, part `large` links 10^5 to 10^6 records drawn from it one to one;
each part runs in a process of its own for its peak of memory.
"""

from __future__ import annotations

import argparse
import csv
import logging
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.shared import SHARED
from tabular.attributes import Attribute
from tabular.measures import measures
from tabular.table import Table

GERMAN = {
    "EXISTACC": 0,
    "HISTORY": 2,
    "PURPOSE": 3,
    "SAVINGS": 5,
    "PRESEMPLOY": 6,
    "PERSONAL": 8,
    "PROPERTY": 11,
    "JOB": 16,
}
ORDERED = ("EXISTACC", "SAVINGS", "PRESEMPLOY", "age")
REPEATS = 5


def main() -> None:
    """Print seconds and shares of right links, a row a linker."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["peers", "nearest", "large", "all"], default="all")
    part = parser.parse_args().part
    for name, work in (("peers", peers), ("nearest", nearest), ("large", large)):
        if part in (name, "all"):
            process = multiprocessing.get_context("spawn").Process(target=work)
            process.start()
            process.join()
            if process.exitcode:
                raise SystemExit(f"{name}: ended with {process.exitcode}")


def peers() -> None:
    """All linkers on all four pairs of files."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    print(f"{'file':>8}{'masked by':>11}{'linker':>28}{'seconds':>10}{'right':>8}{'times as fast as those':>30}")
    originals = {"german": german_credit(), "adult": adult_rows(1000), "flare": flare(), "census": census()}
    for file, original in originals.items():
        for method, mask in (("pram", pram), ("swapping", swapping)):
            masked = mask(original, np.random.default_rng(1))
            known = {"informed": {"matrices": matrices_of(original)}} if method == "pram" else {}
            rows = [
                (name, *timed(measures[name].method(**known.get(name, {})).measure, original, masked)) for name in OURS
            ]
            theirs = [(name, *timed(link, original, masked, repeats=1)) for name, link in installed().items()]
            for name, seconds, right in rows:
                ratios = ", ".join(f"{other / seconds:.0f}" for _, other, _ in theirs)
                print(f"{file:>8}{method:>11}{name:>28}{seconds:>10.4f}{right:>8.3f}{ratios:>30}", flush=True)
            for name, seconds, right in theirs:
                print(f"{file:>8}{method:>11}{name:>28}{seconds:>10.4f}{right:>8.3f}", flush=True)


def nearest() -> None:
    """Linkage to the nearest of all originals of Adult, eight attributes."""
    original = adult_rows(None)
    small = adult_rows(500)
    for name in ("dbrl", "rsrl", "informed"):
        measures[name].method().measure(small, pram(small, np.random.default_rng(1)), small.names)
    for method, mask in (("pram", pram), ("swapping", swapping)):
        masked = mask(original, np.random.default_rng(1))
        for name in ("dbrl", "rsrl", "informed"):
            seconds, right = timed(measures[name].method().measure, original, masked, repeats=1)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / (1 << 30)
            print(f"adult {len(original)} rows, {method:>9}, {name:>9}: {seconds:.2f} s, {right:.3f}, {peak:.2f} GiB")


def large() -> None:
    """One-to-one linkage of many records drawn from Adult with replacement, masked by PRAM."""
    original = adult_rows(None)
    for rows in (100_000, 300_000, 1_000_000):
        drawn = original.rows(np.random.default_rng(3).choice(len(original), rows))
        masked = pram(drawn, np.random.default_rng(1))
        begin = time.process_time()
        reading = measures["prl"].method().measure(drawn, masked, drawn.names)
        seconds = time.process_time() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / (1 << 30)
        least = reading.percent - reading.bound
        print(f"{rows} rows: {least:.3f} to {reading.percent:.3f} %, {seconds:.1f} s, {peak:.2f} GiB", flush=True)


def timed(link: Callable[..., Any], original: Table, masked: Table, repeats: int = REPEATS) -> tuple[float, float]:
    """The least seconds of a few runs, the first of which compiles, and the share of right links."""
    if repeats > 1:
        link(original, masked, original.names)
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        right = link(original, masked, original.names)
        found.append(time.perf_counter() - begin)
    return min(found), right if isinstance(right, float) else right.raw / len(original)


def by_splink(original: Table, masked: Table, names: tuple[str, ...], *, by_frequency: bool = False) -> float:
    """The share of right links of splink: all pairs, EM with the share of matches fixed."""
    import pandas as pd
    import splink.comparison_library as comparisons
    from splink import DuckDBAPI, Linker, SettingsCreator

    frames = []
    for table in (original, masked):
        frame = pd.DataFrame(table.to_columns())
        frame["unique_id"] = np.arange(len(frame))
        frames.append(frame)
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[comparisons.ExactMatch(name).configure(term_frequency_adjustments=by_frequency) for name in names],
        blocking_rules_to_generate_predictions=["1=1"],
        probability_two_random_records_match=1 / len(original),
        retain_matching_columns=False,
    )
    database = DuckDBAPI()
    tables = [
        database.register(frame, dataset_display_name=name) for frame, name in zip(frames, ("a", "b"), strict=True)
    ]
    linker = Linker(tables, settings, log_level=logging.ERROR)
    linker.training.estimate_u_using_random_sampling(max_pairs=len(original) ** 2, seed=1)
    linker.training.estimate_parameters_using_expectation_maximisation(
        "1=1", fix_probability_two_random_records_match=True, max_pairs=len(original) ** 2
    )
    found = linker.inference.predict(threshold_match_weight=-1000).as_pandas_dataframe()
    return best_share(
        found["unique_id_r"].to_numpy(), found["unique_id_l"].to_numpy(), found["match_weight"].to_numpy()
    )


def by_recordlinkage(original: Table, masked: Table, names: tuple[str, ...], *, one_to_one: bool = False) -> float:
    """The share of right links of recordlinkage: all pairs, exact comparisons, its EM."""
    import pandas as pd
    import recordlinkage

    frames = [pd.DataFrame(table.to_columns()) for table in (original, masked)]
    index = recordlinkage.Index()
    index.full()
    pairs = index.index(*frames)
    compare = recordlinkage.Compare()
    for name in names:
        compare.exact(name, name, label=name)
    vectors = compare.compute(pairs, *frames)
    classifier = recordlinkage.ECMClassifier(binarize=None)
    classifier.fit(vectors)
    weights = classifier.prob(vectors)
    rows, others = weights.index.get_level_values(0).to_numpy(), weights.index.get_level_values(1).to_numpy()
    if not one_to_one:
        return best_share(others, rows, weights.to_numpy())
    from scipy.optimize import linear_sum_assignment

    # In an order of its own, or ties would be settled in favour of the truth.
    order = np.random.default_rng(3).permutation(len(masked))
    matrix = np.zeros((len(original), len(masked)))
    matrix[rows, others] = weights.to_numpy()
    found = linear_sum_assignment(-matrix[:, order])
    return float((found[0] == order[found[1]]).mean())


def best_share(masked: np.ndarray, original: np.ndarray, weights: np.ndarray) -> float:
    """The expected share of masked records linked rightly, each with the originals of its greatest weight."""
    best = np.full(masked.max() + 1, -np.inf)
    np.maximum.at(best, masked, weights)
    tied = weights >= best[masked] - 1e-9
    count = np.bincount(masked[tied], minlength=len(best))
    right = masked[tied & (masked == original)]
    return float((1 / count[right]).sum() / len(best))


def installed() -> dict[str, Callable[..., float]]:
    """The other linkers that are there."""
    return {name: link for name, link in PEERS.items() if find_spec(name.split(",")[0])}


OURS = ("dbrl", "prl", "prl-em", "rsrl", "informed")
PEERS: dict[str, Callable[..., float]] = {
    "splink": by_splink,
    "splink, by frequency": lambda *tables: by_splink(*tables, by_frequency=True),
    "recordlinkage": by_recordlinkage,
    "recordlinkage, one to one": lambda *tables: by_recordlinkage(*tables, one_to_one=True),
}


def german_credit() -> Table:
    """Eight attributes of German Credit."""
    rows = [line.split() for line in (SHARED / "german_credit" / "german.data").read_text().splitlines()]
    return table_of({name: [row[place] for row in rows] for name, place in GERMAN.items()})


def flare() -> Table:
    """The second part of Solar Flare, without constant columns."""
    lines = (SHARED / "solar_flare" / "flare.data2").read_text().splitlines()
    rows = [line.split() for line in lines if len(line.split()) == 13]
    columns = {f"attribute {place}": list(cells) for place, cells in enumerate(zip(*rows, strict=True))}
    return table_of({name: cells for name, cells in columns.items() if len(set(cells)) > 1})


def census() -> Table:
    """Eight numbers of Census, each in twelve classes of about as many records."""
    with (SHARED / "sdc_census" / "census.csv").open(newline="") as file:
        header, *rows = list(csv.reader(file))
    columns = {}
    for place in (1, 2, 3, 5, 6, 8, 9, 12):
        numbers = np.array([float(row[place]) for row in rows])
        ends = np.unique(np.quantile(numbers, np.linspace(0, 1, 13)[1:-1]))
        columns[header[place]] = np.searchsorted(ends, numbers, side="right").tolist()
    return table_of(columns)


def adult_rows(count: int | None) -> Table:
    """Eight attributes of Adult; of so many rows drawn at random, or of all."""
    with (SHARED / "adult" / "arx" / "adult.csv").open(newline="") as file:
        header, *rows = list(csv.reader(file, delimiter=";"))
    columns: dict[str, list[Any]] = {name: [row[place] for row in rows] for place, name in enumerate(header)}
    columns = {name.replace("-", "_"): cells for name, cells in columns.items() if name != "salary-class"}
    columns["age"] = [int(age) for age in columns["age"]]
    table = table_of(columns)
    if count is None:
        return table
    return table.rows(np.random.default_rng(7).choice(len(table), count, replace=False))


def table_of(columns: dict[str, list[Any]]) -> Table:
    """The table of plain columns, some of them in the order of their values."""
    kinds = [
        Attribute(name=name, kind="ordinal", domain=tuple(sorted(set(cells))))
        if name in ORDERED
        else Attribute(name=name)
        for name, cells in columns.items()
    ]
    return Table.from_columns(columns, kinds)


def pram(table: Table, rng: np.random.Generator, kept: float = 0.7) -> Table:
    """Each value *kept* with that probability, else drawn from the column."""
    drawn = {}
    for name, codes in table.columns.items():
        drawn[name] = np.where(rng.random(len(codes)) < kept, codes, rng.permutation(codes))
    return table.with_codes(**drawn)


def matrices_of(table: Table) -> dict[str, np.ndarray]:
    """The matrices of `pram`."""
    shares = {
        name: np.bincount(codes, minlength=len(table.attribute(name).domain)) / len(codes)
        for name, codes in table.columns.items()
    }
    return {name: 0.7 * np.eye(len(share)) + 0.3 * share for name, share in shares.items()}


def swapping(table: Table, rng: np.random.Generator) -> Table:
    """Values exchanged with others that are at most about 5 % of the records away in rank."""
    swapped = {}
    for name, codes in table.columns.items():
        ranked = np.lexsort((rng.random(len(codes)), codes))
        moved = np.argsort(np.arange(len(codes)) + rng.uniform(-0.025, 0.025, len(codes)) * len(codes))
        swapped[name] = np.empty_like(codes)
        swapped[name][ranked] = codes[ranked][moved]
    return table.with_codes(**swapped)


if __name__ == "__main__":
    main()
