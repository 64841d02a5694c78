"""PRAM and rank swapping of one column of 10^6 records; PRAM beside drawing each record by NumPy's `choice`.

Times are the best of three, the compiled kernels warm. `choice` is timed on a hundredth of the records, since it takes
one call a record, and its seconds are scaled up.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from tabular.attributes import Attribute
from tabular.protections import protect
from tabular.protections.pram import PRAM
from tabular.table import Table

COLUMNS = ("categories", "PRAM", "invariant", "choice", "swap 5 %", "swap 100 %")


def main() -> None:
    """Print seconds, a row a size of the domain."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--categories", type=int, nargs="+", default=[2, 8, 25, 100, 1000])
    arguments = parser.parse_args()
    print("".join(f"{column:>12}" for column in COLUMNS))
    for size in arguments.categories:
        cells = [f"{seconds:.3f}" for seconds in measured(arguments.records, size)]
        print("".join(f"{cell:>12}" for cell in [str(size), *cells]), flush=True)


def measured(records: int, size: int) -> list[float]:
    """The seconds of each way to mask a column of so many categories, the lower ones the more frequent."""
    rng = np.random.default_rng(1)
    weights = 1 / np.arange(1, size + 1)
    codes = rng.choice(size, size=records, p=weights / weights.sum())
    table = Table((Attribute(name="x", kind="ordinal", domain=tuple(range(size))),), {"x": codes})
    matrix = PRAM(retain=0.8).matrices(table, ["x"])["x"]
    few = codes[: max(records // 100, 1)]

    def by_choice() -> None:
        for code in few:
            rng.choice(size, p=matrix[code])

    def masking(method: str, **parameters: object) -> Callable[[], object]:
        return lambda: protect(table, method, ["x"], rng=rng, **parameters)

    return [
        best(masking("pram", retain=0.8)),
        best(masking("pram", retain=0.8, invariant=True)),
        best(by_choice) * records / len(few),
        best(masking("rank-swapping", percent=5)),
        best(masking("rank-swapping", percent=100)),
    ]


def best(run: Callable[[], object]) -> float:
    """The least seconds of three runs."""
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


if __name__ == "__main__":
    main()
