"""How long the command line takes to begin: help, version, the list of methods, and a check of a tiny table.

    python -m benchmarks.start

Each command runs as a process of its own, once to warm the caches and then five times; the median and the range of the
wall-clock times are shown.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS = "age,town\n" + "".join(f"{20 + row % 5},{'AB'[row % 2]}\n" for row in range(20))
COMMANDS = {
    "--help": ["--help"],
    "--version": ["--version"],
    "table --help": ["table", "--help"],
    "methods": ["methods"],
    "table check": ["table", "check", "t.csv", "--quasi-identifiers", "age,town"],
}
RUNS = 5


def main() -> None:
    """Time each command and print a line for it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "t.csv").write_text(ROWS)
        for name, arguments in COMMANDS.items():
            command = [str(Path(sys.executable).with_name("graphpriv")), *arguments]
            times = []
            for _ in range(RUNS + 1):
                begun = time.perf_counter()
                subprocess.run(command, cwd=folder, check=True, capture_output=True)
                times.append(time.perf_counter() - begun)
            low, middle, high = min(times[1:]), statistics.median(times[1:]), max(times[1:])
            print(f"{name:14} {middle:.2f} s ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
