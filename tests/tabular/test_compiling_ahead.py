"""Kernels that another process compiles, while this one does something else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tabular

#: A package with one kernel, and a program that says how many kernels it compiled itself.
SLOW = """
from tabular.kernels import compiled


@compiled
def double(number):
    return 2 * number
"""

RUN = """
import os
import time
from rooms.slow import double

open("began-" + str(os.getpid()), "w").close()
time.sleep(0.5)
{work}
"""

PROGRAM = """
from rooms.slow import double
from tabular.compiling import compile_time, compiling_ahead
from tabular.kernels import is_kept

before = is_kept(double)
with compiling_ahead("{package}", "{package}.run"):
    print(before, double(4), compile_time.kernels, compile_time.seconds > 0.4, is_kept(double))
"""


def run_beside(folder: Path, work: str, package: str = "rooms") -> str:
    for name in ("rooms", package):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "__init__.py").write_text("")
    (folder / "rooms" / "slow.py").write_text(SLOW)
    (folder / package / "run.py").write_text(RUN.format(work=work))
    root = Path(tabular.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{root}", "GRAPHPRIV_CACHE_DIR": str(folder / "kept")}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(package=package)],
        cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return ended.stdout


def test_a_kernel_that_another_process_compiles_is_waited_for_and_not_compiled_twice(tmp_path):
    assert run_beside(tmp_path, "double(1)") == "False 8 0 True True\n"
    assert len(list(tmp_path.glob("began-*"))) == 1


def test_what_the_other_process_could_not_compile_is_compiled_here(tmp_path):
    assert run_beside(tmp_path, "raise RuntimeError") == "False 8 1 True True\n"


def test_kernels_of_other_packages_are_not_waited_for(tmp_path):
    # The other process is ended with the block; what it began is of no use to anybody.
    assert run_beside(tmp_path, "time.sleep(600)", package="elsewhere").startswith("False 8 1 ")
