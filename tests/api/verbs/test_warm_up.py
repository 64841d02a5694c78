"""`warm-up`: after it, no command compiles."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from graphpriv.layout import lay_out
from graphpriv.layout.layouts import MOST_USERS
from graphpriv.synthetic import synthetic_graph
from tabular.compiling import compile_time

DATA = Path(__file__).parents[2] / "data" / "released_bytes"

#: Runs the commands of a file and names the kernels that were compiled meanwhile.
COMMANDS = """
import json, sys
from numba.core import event
from api.cli import run

compiled = []

class Heard(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event):
        pass

event.register("numba:compile", Heard())
codes = [run(arguments) for arguments in json.load(open(sys.argv[1]))]
print(json.dumps({"codes": codes, "compiled": sorted(set(compiled))}), file=sys.stderr)
"""


def test_after_a_warm_up_neither_another_one_nor_a_layout_compiles(graphpriv):
    graphpriv("warm-up")
    again = graphpriv("warm-up", "--json")
    assert json.loads(again.out)["compiled"] == 0
    before = compile_time.kernels
    rng = np.random.default_rng(1)
    for users in (1, 300, MOST_USERS + 1):
        lay_out(synthetic_graph(max(users, 2), rng=rng).restricted(np.arange(users)))
    assert compile_time.kernels == before


@pytest.mark.heavy
def test_after_a_warm_up_no_command_compiles(tmp_path):
    environment = {**os.environ, "GRAPHPRIV_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", "from api.cli import main; main()", "warm-up", "--json"]
    warmed = json.loads(subprocess.run(command, capture_output=True, env=environment, check=True).stdout)
    assert warmed["compiled"] > 30 and warmed["kept_in"] == str(tmp_path / "cache")

    shutil.copytree(DATA / "inputs", tmp_path / "work")
    lines = [each["line"] for each in tomllib.loads((DATA / "commands.toml").read_text())["command"]]
    (tmp_path / "commands.json").write_text(json.dumps([shlex.split(line) for line in lines]))
    command = [sys.executable, "-c", COMMANDS, str(tmp_path / "commands.json")]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path / "work")
    said = json.loads(ended.stderr.splitlines()[-1])
    assert set(said["codes"]) == {0}
    assert said["compiled"] == []
