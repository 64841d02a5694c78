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
    source = Path(tabular.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{source}"}

    def run(name):
        (tmp_path / "shapes.py").write_text(SHAPES.format(name=name))
        command = [sys.executable, "-B", "-c", "import kernel"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)

    for name in ("Shape", "Shape", "Oblong", "Oblong"):
        ended = run(name)
        assert (ended.returncode, ended.stdout) == (0, "12\n"), ended.stderr
    assert list(tmp_path.glob("__pycache__/*.nbi"))
