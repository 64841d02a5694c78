"""Protections that form groups of k records: microaggregation beside anonypyx, Mondrian beside anonypy.

Peers are run in the same process, on the same records. They are timed for forming their groups; ours as well, and
from the table to the masked table.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from anonypy.mondrian import Mondrian as PeerMondrian
from anonypyx.microaggregation import MDAVGeneric

from benchmarks.shared import SHARED
from tabular.anonymity import Anonymity
from tabular.attributes import CONTINUOUS, Attribute
from tabular.grouping.group_sizes import loss_of
from tabular.grouping.mdav import mdav
from tabular.grouping.points import points_of
from tabular.protections import protect
from tabular.protections.mondrian import parts_of
from tabular.table import Table
from tests.tabular.lattice.class_losses import general_loss

COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "class"),
)
ADULT = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")


def main() -> None:
    """Run the parts asked for."""
    parts: dict[str, Callable[[], None]] = {"mdav": mdav_beside_peer, "large": mdav_alone, "mondrian": mondrian}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=[*parts, "all"], default="all")
    chosen = parser.parse_args().part
    for name, part in parts.items():
        if chosen in (name, "all"):
            print(f"\n== {name}")
            part()


def mdav_beside_peer() -> None:
    """5,000 x 13, k = 3: independent normal numbers, and Census drawn anew with some noise."""
    rng = np.random.default_rng(1)
    census = _census()
    drawn = census[rng.integers(0, len(census), 5000)] + rng.normal(size=(5000, 13)) * census.std(axis=0) / 20
    for case, numbers in (("normal", rng.normal(size=(5000, 13))), ("census", drawn)):
        table = _numeric(numbers)
        _warm(table.rows(np.arange(100)), "microaggregation")
        groups, peer_groups = [], []
        peer = _seconds(lambda numbers=numbers, found=peer_groups: found.append(_peer_groups(numbers, 3)))
        alone = _seconds(lambda table=table, found=groups: found.append(mdav(points_of(table, table.names), 3)), 3)
        whole = _seconds(lambda table=table: _masked(table, "microaggregation", k=3), 3)
        loss, peer_loss = (_percent_lost(numbers, each[-1]) for each in (groups, peer_groups))
        print(
            f"{case}: anonypyx {peer:.2f} s, groups {alone:.3f} s ({peer / alone:.0f} times), whole protection "
            f"{whole:.3f} s ({peer / whole:.0f} times); lost {loss:.3f} %, by anonypyx {peer_loss:.3f} %"
        )


def mdav_alone() -> None:
    """100,000 x 5 and 1,000,000 x 5."""
    rng = np.random.default_rng(2)
    for rows, sizes in ((100_000, (3, 10)), (1_000_000, (3, 10))):
        table = _numeric(rng.normal(size=(rows, 5)))
        _warm(table.rows(np.arange(100)), "microaggregation")
        for k in sizes:
            points = points_of(table, table.names)
            alone = _seconds(lambda points=points, k=k: mdav(points, k))
            line = f"{rows} x 5, k={k}: groups {alone:.2f} s"
            if rows <= 100_000:
                whole = _seconds(lambda table=table, k=k: _masked(table, "microaggregation", k=k))
                varied = _seconds(lambda table=table, k=k: _masked(table, "microaggregation", k=k, sizes="variable"))
                line += f", whole protection {whole:.2f} s, with variable sizes {varied:.2f} s"
            print(line, flush=True)


def mondrian() -> None:
    """Adult, 30,162 x 8, k = 5."""
    table, frame = _adult()
    _warm(table.rows(np.arange(100)), "mondrian")
    parts: list[Any] = []
    alone = _seconds(lambda: parts_of(table, ADULT, 5, relaxed=False), 3)
    whole = _seconds(lambda: parts.append(_masked(table, "mondrian", k=5)), 3)
    peer_parts: list[Any] = []
    peer = _seconds(lambda: peer_parts.extend(PeerMondrian(frame, list(ADULT)).partition(5)))
    masked = parts[-1]
    print(
        f"anonypy {peer:.1f} s, {len(peer_parts)} parts; parts {alone:.3f} s ({peer / alone:.0f} times), whole "
        f"protection {whole:.3f} s ({peer / whole:.0f} times), {len(Anonymity.of(masked, ADULT).classes.sizes)} "
        f"classes, GLM {general_loss(masked, ADULT):.0f}"
    )


def _seconds(run: Callable[[], object], times: int = 1) -> float:
    """The least of several runs."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def _masked(table: Table, method: str, **parameters: Any) -> Table:
    return protect(table, method, table.names, rng=np.random.default_rng(0), **parameters)


def _warm(table: Table, method: str) -> None:
    """Compile before anything is timed."""
    _masked(table, method, k=3)
    if method == "microaggregation":
        loss_of(points_of(table, table.names), mdav(points_of(table, table.names), 3))
        _masked(table, method, k=3, sizes="variable")


def _numeric(numbers: np.ndarray) -> Table:
    columns = {f"column {place}": numbers[:, place] for place in range(numbers.shape[1])}
    return Table.from_columns(columns, [Attribute(name=name, kind=CONTINUOUS) for name in columns])


def _peer_groups(numbers: np.ndarray, k: int) -> np.ndarray:
    frame = pd.DataFrame(numbers, columns=[f"column {place}" for place in range(numbers.shape[1])])
    groups = np.empty(len(numbers), dtype=np.int64)
    for group, rows in enumerate(MDAVGeneric(frame, list(frame.columns)).partition(k)):
        groups[np.asarray(rows)] = group
    return groups


def _percent_lost(numbers: np.ndarray, groups: np.ndarray) -> float:
    """100 x SSE / SST on standardised columns."""
    standard = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    means = np.zeros((int(groups.max()) + 1, numbers.shape[1]))
    np.add.at(means, groups, standard)
    means /= np.bincount(groups)[:, None]
    return float(100 * ((standard - means[groups]) ** 2).sum() / (standard**2).sum())


def _census() -> np.ndarray:
    rows = list(csv.reader((SHARED / "sdc_census/census.csv").open()))
    return np.array(rows[1:], dtype=np.float64)


def _adult() -> tuple[Table, pd.DataFrame]:
    rows = [[cell.strip() for cell in row] for row in csv.reader((SHARED / "adult/adult.data").open()) if row]
    kept = [row for row in rows if "?" not in row]
    columns: dict[str, list[Any]] = {name: [row[COLUMNS.index(name)] for row in kept] for name in ADULT}
    columns["age"] = [int(age) for age in columns["age"]]
    frame = pd.DataFrame(columns)
    for name in ADULT[1:]:
        frame[name] = frame[name].astype("category")
    return Table.from_columns(columns), frame


if __name__ == "__main__":
    main()
