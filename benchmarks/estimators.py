"""PRL by several estimates of how often an attribute agrees in records that belong together.

The files are German Credit (eight attributes, and the three of the thesis), Adult (1,000 rows), Solar Flare and Census
(its numbers in twelve classes each), masked by PRAM with less and less kept, by swapping, microaggregation and rank
swapping. `em` is plain EM, `0.9` its start for every attribute, `one-to-one` what the assignment confirms, `held` EM
held to as many pairs as there are records, `0.999` counts agreements above all, `prl` is the best of them, and `true`
knows how often each attribute agrees.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.linkage import GERMAN, adult_rows, census, flare, german_credit, pram, swapping
from tabular.measures.contract import Pairs, paired_columns
from tabular.measures.linkage.agreement import AGREEMENT, agreements, by_em, gains_of, pattern_counts
from tabular.measures.linkage.estimation import assigned_by, best_estimate
from tabular.measures.linkage.nearest import Labels
from tabular.measures.linkage.one_to_one import TwoFiles
from tabular.protections import protect
from tabular.table import Table

KEPT = (0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1)
ESTIMATES = ("em", "0.9", "one-to-one", "held", "0.999", "prl", "true")


def main() -> None:
    """Print shares of right links, a row a file and a masking, then on how many the estimates are how far below."""
    print(f"{'file':>14}{'masked by':>18}" + "".join(f"{name:>12}" for name in ESTIMATES))
    found = []
    for file, original in files().items():
        noisy = []
        for masking, mask in maskings().items():
            shares = by_estimate(original, mask(original, np.random.default_rng(1)))
            found.append(shares)
            print(f"{file:>14}{masking:>18}" + "".join(f"{share:>12.3f}" for share in shares), flush=True)
            noisy += [shares] if masking.startswith("pram") else []
        rising = (np.diff(np.array(noisy), axis=0) > 0).sum(axis=0)
        print(f"{file:>14}{'rises with noise':>18}" + "".join(f"{count:>12}" for count in rising))
    every = np.array(found)
    below = every[:, -1:] - every
    print(f"{'below true by':>14}{'on average':>18}" + "".join(f"{share:>12.3f}" for share in below.mean(axis=0)))
    print(f"{'':>14}{'at most':>18}" + "".join(f"{share:>12.3f}" for share in below.max(axis=0)))


def by_estimate(original: Table, masked: Table) -> list[float]:
    """The share of right links by each estimate."""
    columns = paired_columns(original, masked, original.names)
    pairs, labels = Pairs.of(columns), Labels.of(columns)
    files, records = TwoFiles(pairs, labels, 10**12), len(original)
    counts = pattern_counts(pairs, labels)
    true = agreements(pairs, labels, pairs.origins, pairs.results)
    plain = files.assigned(gains_of(*by_em(counts, records)))
    start = np.full(len(columns), AGREEMENT)
    best = best_estimate(files)
    assert plain is not None and best is not None
    chosen = [start, confirmed(files, start), by_em(counts, records, held=True)[0], np.full(len(columns), 0.999)]
    right = [plain.right, *(right_by(files, each) for each in chosen), best[1].right]
    return [each / records for each in (*right, right_by(files, pairs.records @ true / records))]


def right_by(files: TwoFiles, estimate: np.ndarray) -> float:
    """How many links are right by an estimate."""
    assignment = assigned_by(files, estimate)
    assert assignment is not None
    return assignment.right


def confirmed(files: TwoFiles, estimate: np.ndarray) -> np.ndarray:
    """The estimate that its own assignment confirms, or the last of thirty."""
    for _ in range(30):
        assignment = assigned_by(files, estimate)
        assert assignment is not None
        if np.array_equal(assignment.agreement, estimate):
            break
        estimate = assignment.agreement
    return estimate


def files() -> dict[str, Table]:
    """The originals by name."""
    german = german_credit()
    thesis = ("EXISTACC", "SAVINGS", "PRESEMPLOY")
    three = Table.from_columns(
        {name: german.values(name) for name in thesis}, [german.attribute(each) for each in thesis]
    )
    return {
        f"german {len(GERMAN)}": german,
        "german 3": three,
        "adult": adult_rows(1000),
        "flare": flare(),
        "census": census(),
    }


def maskings() -> dict[str, Callable[[Table, np.random.Generator], Table]]:
    """The ways to mask, by name."""

    def keeping(kept: float) -> Callable[[Table, np.random.Generator], Table]:
        return lambda table, rng: pram(table, rng, kept)

    return {
        **{f"pram {kept}": keeping(kept) for kept in KEPT},
        "swapping": swapping,
        "microaggregation": lambda table, rng: protect(table, "microaggregation", table.names, rng=rng, k=5),
        "rank swapping 15": lambda table, rng: protect(table, "rank-swapping", table.names, rng=rng, percent=15.0),
    }


if __name__ == "__main__":
    main()
