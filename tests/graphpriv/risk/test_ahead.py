"""What is compiled ahead of an audit is all that its search for neighbourhoods within others needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphpriv

PROGRAM = """
import numpy as np
from numba.core import event

from graphpriv.auditing import audit
from graphpriv.risk import ahead

named = []


class Names(event.Listener):
    def on_start(self, event):
        named.append(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event):
        pass


event.register("numba:compile", Names())
ahead.compile_the_search()
print(any(each.startswith("graphpriv.risk.containment") for each in named))
named.clear()
graph = ahead.synthetic_graph(120, rng=np.random.default_rng(2))
audit(graph, graph, np.arange(120), steps=10**7)
print([each for each in named if each.startswith("graphpriv.risk.containment")], len(named) > 0)
"""


@pytest.mark.heavy
def test_an_audit_compiles_nothing_of_the_search_after_it(tmp_path):
    root = Path(graphpriv.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root), "GRAPHPRIV_CACHE_DIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    assert ended.stdout == "True\n[] True\n"
