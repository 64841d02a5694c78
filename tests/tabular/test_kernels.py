"""Kernels that are kept on disk between runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tabular

KERNEL = """
from shapes import make
from tabular.kernels import compiled


@compiled
def area(shape):
    return shape.width * shape.height


print(area(make(3, 4)))
"""

SHAPES = """
from typing import NamedTuple


class {name}(NamedTuple):
    width: int
    height: int


make = {name}
"""


def test_a_kernel_kept_for_a_type_that_has_another_name_now_is_compiled_anew(tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL)
    for name in ("Shape", "Shape", "Oblong", "Oblong"):
        (tmp_path / "shapes.py").write_text(SHAPES.format(name=name))
        assert run_in(tmp_path, "import kernel").stdout == "12\n"
    assert list(tmp_path.glob("__pycache__/*.nbi"))


CALLER = """
from tabular.kernels import compiled
from callee import part


@compiled
def whole(number):
    return 10 * part(number)


print(whole(2))
"""

CALLEE = """
from tabular.kernels import compiled

STEP = {step}


@compiled
def part(number):
    return number + STEP
"""


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    for step, answer in ((1, "30"), (2, "40")):
        (tmp_path / "callee.py").write_text(CALLEE.format(step=step))
        assert run_in(tmp_path, "import caller").stdout == f"{answer}\n"


def test_a_kernel_is_compiled_anew_when_its_table_or_its_way_of_compiling_has_changed(tmp_path):
    table = "import numpy as np\nfrom tabular.compiling import compile_time\nfrom tabular.kernels import {way}\n\n"
    body = "TABLE = np.array([{value}])\n\n\n@{way}\ndef first(number):\n    return TABLE[0] + number\n\n\n"
    shown = "print(first(1), compile_time.kernels)\n"
    for way, value, kernels in (
        ("compiled", 5, 1),
        ("compiled", 5, 0),
        ("compiled", 6, 1),
        ("lean", 6, 1),
        ("lean", 6, 0),
    ):
        (tmp_path / "kernel.py").write_text((table + body + shown).format(way=way, value=value))
        assert run_in(tmp_path, "import kernel").stdout == f"{value + 1} {kernels}\n"


def test_kernels_are_read_from_a_folder_that_cannot_be_written_and_run_without_any(tmp_path):
    (tmp_path / "callee.py").write_text(CALLEE.format(step=1))
    kept, count = (
        tmp_path / "kept",
        "import callee, tabular.compiling as c; callee.part(1); print(c.compile_time.kernels)",
    )
    outcomes = []
    for mode in (0o700, 0o500):
        kept.mkdir(exist_ok=True)
        kept.chmod(mode)
        outcomes.append(run_in(tmp_path, count, GRAPHPRIV_CACHE_DIR=str(kept)).stdout)
    kept.chmod(0o700)
    assert outcomes == ["1\n", "0\n"]
    nowhere = tmp_path / "callee.py" / "below"
    assert run_in(tmp_path, count, GRAPHPRIV_CACHE_DIR=str(nowhere)).stdout == "1\n"


def run_in(folder, code, **variables):
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{Path(tabular.__file__).parents[1]}", **variables}
    ended = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=folder, capture_output=True, text=True, env=environment
    )
    assert ended.returncode == 0, ended.stderr
    return ended
