"""All measures and criteria of Adult: 30,162 rows, eight attributes, masked by PRAM and by swapping.

Each is timed alone, the first call having compiled on a few rows; beside the criteria those that pycanon has.
One-to-one linkage stands apart (`--with-prl`): it is exact, and looks at all pairs of combinations.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.linkage import adult_rows, pram, swapping
from tabular.criteria import check
from tabular.measures import NUMERIC, measures
from tabular.measures.transitions import bivariate_difference, chi_square_difference
from tabular.table import Table

QUASI_IDENTIFIERS = ("sex", "race", "education")
SENSITIVE = "occupation"


def main() -> None:
    """Print seconds, a row a measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--with-prl", action="store_true", help="also link all of Adult one to one, about a minute each"
    )
    with_prl = parser.parse_args().with_prl
    warnings.simplefilter("ignore")
    original = adult_rows(None)
    for method, mask in (("pram", pram), ("swapping", swapping)):
        masked = mask(original, np.random.default_rng(1))
        names = [name for name in measures if name not in NUMERIC and name != "prl"]
        total = sum(timed(method, name, measure_by(name), original, masked) for name in names)
        total += timed(method, "count and chi-square differences", differences, original, masked)
        print(f"{method:>10}{'together':>36}{total:>10.3f}")
        if with_prl:
            timed(method, "prl", measure_by("prl"), original, masked)
    for name, criterion in CRITERIA.items():
        timed("adult", name, criterion, original, original)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / (1 << 30)
    print(f"at most {peak:.2f} GiB")


def timed(masked_by: str, name: str, work: Callable[[Table, Table], Any], original: Table, masked: Table) -> float:
    """Print and give the seconds of a piece of work on all rows."""
    few = np.arange(200)
    work(original.rows(few), masked.rows(few))
    begin = time.perf_counter()
    work(original, masked)
    seconds = time.perf_counter() - begin
    print(f"{masked_by:>10}{name:>36}{seconds:>10.3f}", flush=True)
    return seconds


def measure_by(name: str) -> Callable[[Table, Table], Any]:
    return lambda original, masked: measures[name].method().measure(original, masked, original.names)


def differences(original: Table, masked: Table) -> list[float]:
    """Eq 4.5 and 4.8 of two attributes."""
    pair = ("education", "occupation")
    return [bivariate_difference(original, masked, *pair), chi_square_difference(original, masked, *pair)]


def ours(original: Table, masked: Table) -> Any:
    """All criteria, k to risks."""
    return check(original, QUASI_IDENTIFIERS, [SENSITIVE]).document()


def by_pycanon(original: Table, masked: Table) -> Any:
    """The same from pycanon, as far as it has them."""
    from pycanon import report

    frame = original.to_frame()
    return report.base.get_report_values(frame, list(QUASI_IDENTIFIERS), [SENSITIVE])


CRITERIA = {"all criteria": ours, "those of pycanon, by pycanon": by_pycanon}

if __name__ == "__main__":
    main()
