"""Tables that once took too much time or memory: groups of a million records, and labels of long ranges.

    python -m benchmarks.walls [--rows N] [--peer]

Each case is a command as it is typed, in a process of its own. Seconds by the clock and of the processors are shown,
and the peak of the memory. The peer, anonypy, only cuts the records into parts; it gets the shorter tables. The numbers
are drawn from log-normal distributions: whole ones of some 36,000 values, and ones with three decimals, nearly all
distinct.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

#: For each case the table, its rows as a share of the most, its columns, how many of them are masked, and by what.
CASES = (
    ("MDAV, k=3", "decimals", 1.0, 5, 5, ("microaggregation", "--param", "k=3", "--no-measure")),
    ("MDAV, k=10", "decimals", 1.0, 5, 5, ("microaggregation", "--param", "k=10", "--no-measure")),
    ("MDAV, k=3", "decimals", 1.0, 10, 5, ("microaggregation", "--param", "k=3", "--no-measure")),
    ("Mondrian, k=5", "whole", 1.0, 10, 10, ("mondrian", "--param", "k=5", "--no-measure")),
    ("Mondrian, k=5", "decimals", 1.0, 10, 10, ("mondrian", "--param", "k=5", "--no-measure")),
    ("Mondrian, k=5", "decimals", 0.1, 3, 3, ("mondrian", "--param", "k=5", "--no-measure")),
    ("Mondrian, k=5", "decimals", 0.03, 10, 10, ("mondrian", "--param", "k=5", "--no-measure")),
    ("Mondrian, k=5, measured", "decimals", 0.03, 10, 10, ("mondrian", "--param", "k=5")),
)

#: The longest table for the peer.
PEER_ROWS = 100_000


def main() -> None:
    """Run all cases and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the largest tables")
    parser.add_argument("--peer", action="store_true", help="run anonypy on the tables that it ends in minutes")
    asked = parser.parse_args()
    most = asked.rows
    with tempfile.TemporaryDirectory() as folder:
        for name, sort, share, columns, masked, options in CASES:
            rows = int(most * share)
            made = _written(Path(folder), sort, rows, columns)
            names = [f"c{column}" for column in range(columns)]
            kinds = [part for each in names for part in ("--kind", f"{each}=continuous")]
            # A column that stays as it is may have distinct values only if it has a role.
            roles = [part for each in names[masked:] for part in ("--role", f"{each}=insensitive")]
            words = ("table", "protect", made, *kinds, *roles, "--columns", ",".join(names[:masked]), "--method")
            seconds, busy, gigabytes = _measured(folder, (*words, *options, "--out", "out.csv", "--overwrite"))
            case = f"{name}, {sort}, {rows:,} x {columns}, {masked} of them masked"
            print(f"{case}: {seconds:.1f} s, {busy:.1f} s of processors, {gigabytes:.2f} GiB", flush=True)
            if asked.peer and options[0] == "mondrian" and "--no-measure" in options and rows <= PEER_ROWS:
                print(f"    by anonypy {_peer_seconds(Path(folder) / made):.1f} s of processors", flush=True)


def _peer_seconds(path: Path) -> float:
    """Seconds of the processors in which the peer cuts a table into parts of five."""
    import pandas as pd
    from anonypy.mondrian import Mondrian

    frame = pd.read_csv(path)
    begun = time.process_time()
    Mondrian(frame, list(frame.columns)).partition(5)
    return time.process_time() - begun


def _written(folder: Path, sort: str, rows: int, columns: int) -> str:
    """The name of a table of drawn numbers, which is written where it is not there yet."""
    name = f"{sort}-{rows}-{columns}.csv"
    if not (folder / name).exists():
        rng = np.random.default_rng(1)
        numbers = rng.lognormal(8 if sort == "whole" else 10, 1, size=(rows, columns))
        heading = ",".join(f"c{column}" for column in range(columns))
        written = "%d" if sort == "whole" else "%.3f"
        np.savetxt(
            folder / name, np.rint(numbers) if sort == "whole" else numbers, written, ",", header=heading, comments=""
        )
    return name


def _measured(folder: str, words: tuple[str, ...]) -> tuple[float, float, float]:
    """Seconds by the clock and of the processors, and the peak of the memory in GiB, of one command."""
    begun = time.perf_counter()
    command = [sys.executable, "-c", "from api.cli import main; main()", *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as run:
        said = run.stderr.read().decode() if run.stderr else ""
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(said)
    return time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


if __name__ == "__main__":
    main()
