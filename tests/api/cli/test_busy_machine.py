"""Commands on a machine that is busy: each ends with its own exit code, whatever the threads of its libraries do."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from itertools import cycle, islice

import pandas
import pytest

MAIN = [sys.executable, "-c", "from api.cli import main; main()"]

#: Commands with the exit codes they end with; people.parquet is made from people.csv.
COMMANDS = (
    (["table", "check", "people.csv", "--quasi-identifiers", "age,town"], 0),
    (["table", "describe", "people.csv"], 0),
    (["table", "describe", "people.parquet"], 0),
    (["table", "check", "people.csv", "--quasi-identifiers", "height"], 2),
)


@contextmanager
def busy_processes(count):
    """So many processes that do nothing but compute."""
    spin = [sys.executable, "-c", "while True: pass"]
    spinning = [subprocess.Popen(spin) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
        for process in spinning:
            process.wait()


@pytest.mark.parametrize("times", [10, pytest.param(100, marks=pytest.mark.heavy)])
def test_commands_end_with_their_exit_codes(tmp_path, times):

    rows = [(str(20 + i % 40), f"town {i % 7}", str(i)) for i in range(2000)]
    people = pandas.DataFrame(rows, columns=["age", "town", "number"])
    people.to_csv(tmp_path / "people.csv", index=False)
    people.to_parquet(tmp_path / "people.parquet")
    with busy_processes(6):
        for arguments, code in islice(cycle(COMMANDS), times):
            ended = subprocess.run([*MAIN, *arguments], cwd=tmp_path, capture_output=True, text=True)
            assert ended.returncode == code, (arguments, ended.returncode, ended.stderr)
            assert ended.stdout if code == 0 else "graphpriv: error: " in ended.stderr
