"""Compiled loops check no bounds, so that what leaves an array would go unseen; here the same tests run with checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tabular.compiling import CACHE_DIR

TOP = Path(__file__).parents[1]

BEYOND = """
import numpy as np
from tabular.kernels import compiled


@compiled
def read(array, place):
    return array[place]


read(np.zeros(3), 3)
"""


def checked(cache: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command of Python whose kernels are compiled with checks, into a folder of their own."""
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", CACHE_DIR: str(cache), "PYTHONPATH": str(TOP)}
    return subprocess.run([sys.executable, *command], cwd=TOP, env=environment, capture_output=True, text=True)


def test_what_leaves_an_array_is_an_error_with_checks(tmp_path: Path) -> None:
    (tmp_path / "beyond.py").write_text(BEYOND)
    assert "IndexError" in checked(tmp_path / "cache", str(tmp_path / "beyond.py")).stderr


@pytest.mark.heavy
def test_no_compiled_loop_leaves_its_arrays_in_any_test_of_the_engines(tmp_path: Path) -> None:
    # The tests of where compiled code is kept, and of who compiles it, have folders of their own and mind the time.
    folders = ("tests/tabular", "tests/graphpriv", "tests/crawler/topics", "tests/crawler/places")
    found = checked(
        tmp_path / "cache", "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider",
        "--deselect", "tests/tabular/test_kernels.py", "--deselect", "tests/tabular/test_compiling_ahead.py", *folders,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout[-3000:]
