"""Whatever a command reads, damaged in its bytes and in its structure: refused in one line, or read right.

Each case is tried by a process of its own kind (`tests.fuzz.runner`), with at most 2 GiB and 20 seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from api.verbs import verbs
from crawler.archives import readable
from tests.fuzz.kinds import KINDS

#: The same cases each time.
FEW, MANY = 40, 20_000

#: What is read beside options of verbs: plans, formulas, what killed runs left, the store itself, files of builders.
BESIDE = {"run plan", "formula", "checkpoint", "journal", "store", "hierarchy csv", "hierarchy places"}

pytestmark = pytest.mark.xdist_group("fuzz")


class Trying:
    """A process that tries cases."""

    def __init__(self) -> None:
        limits = {"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.fuzz.runner"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=os.environ | limits, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert self._answer() == sorted(KINDS)

    def _answer(self) -> object:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def tried(self, kind: str, count: int) -> dict[str, int]:
        assert self.process.stdin is not None
        print(json.dumps([kind, 0, count]), file=self.process.stdin, flush=True)
        found = self._answer()
        assert isinstance(found, dict)
        print(found)
        assert found["faults"] == [], f"python -m tests.fuzz.runner '{kind}' NUMBER shows one"
        assert sum(found.get(what, 0) for what in ("read", "refused", "memory")) == count
        return found


@pytest.fixture(scope="module")
def trying() -> Iterator[Trying]:
    found = Trying()
    yield found
    found.process.kill()
    found.process.wait()


def inputs() -> set[str]:
    """All that commands read, as the registries have it."""
    traits = ("input", "shipped", "or_file", "release")
    found = {f"{name} {each.name}" for name, entry in verbs.items() for each in fields(entry.method)
             if any(each.metadata.get(trait) for trait in traits)}  # fmt: skip
    return found | {f"graph format {name}" for name in readable} | {"graph import also"} | BESIDE


def test_whatever_a_command_reads_is_damaged_here() -> None:
    """A new input of a verb, format or archive fails this test until there is a kind for it."""
    assert {of for kind in KINDS.values() for of in kind.of} == inputs()


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_in_one_line_or_read_right(trying: Trying, kind: str) -> None:
    found = trying.tried(kind, FEW)
    # What lies in the folder but is not ours is left alone, without a word.
    assert kind == "journal" or found["refused"] > 0


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
def test_twenty_thousand_damaged_files_are_refused_in_one_line_or_read_right(trying: Trying, kind: str) -> None:
    found = trying.tried(kind, MANY)
    assert kind == "journal" or found["refused"] > found.get("memory", 0)
    assert found.get("read", 0) > 0
