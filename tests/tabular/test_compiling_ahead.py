"""Kernels that several processes need at once: one compiles each, the others wait for it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tabular
from tabular import compiling
from tabular.compiling import Turns, compile_time

#: A package with kernels, and a program that says how many of them it compiled itself.
ROOM = """
from tabular.kernels import compiled


@compiled
def double(number):
    return 2 * number


@compiled
def wrong(number):
    return number.nothing
"""

NEEDS = """
import sys
import time
from pathlib import Path
from rooms.slow import double, wrong
from tabular.compiling import compile_time

Path(f"ready-{sys.argv[1]}").touch()
while not Path("go").exists():
    time.sleep(0.005)
print(double(%s), compile_time.kernels)
"""

AHEAD = """
from rooms.slow import double
from tabular.compiling import compile_time, compiling_ahead

# Whoever waits for another process is told as whoever compiles.
with compiling_ahead("rooms.run"), compile_time.announced(Path("asked").touch, print):
    while not Path("begun").exists():
        time.sleep(0.005)
    print(double(4), compile_time.kernels, compile_time.seconds > 1)
"""

#: Takes the turn of a kernel, and has it until it ends: so long after somebody else began to wait for it.
HOLDS = """
import time
from pathlib import Path
from rooms.slow import double
from tabular.compiling import turns

file = double._cache._kept_in()[0]
turns.taken(file._index_name, [Path(file._cache_path)])
Path("begun").touch()
while not Path("asked").exists():
    time.sleep(0.005)
time.sleep({seconds})
{then}
"""


@pytest.fixture
def room(tmp_path):
    (tmp_path / "rooms").mkdir()
    (tmp_path / "rooms" / "__init__.py").write_text("")
    (tmp_path / "rooms" / "slow.py").write_text(ROOM)
    return tmp_path


def begin(room: Path, program: str, *arguments: str) -> subprocess.Popen[str]:
    root = Path(tabular.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": f"{room}:{root}", "GRAPHPRIV_CACHE_DIR": str(room / "kept")}
    return subprocess.Popen(
        [sys.executable, "-c", f"import time\nfrom pathlib import Path\n{program}", *arguments],
        cwd=room, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


def wait_for(*files: Path) -> None:
    end = time.monotonic() + 60
    while not all(each.exists() for each in files) and time.monotonic() < end:
        time.sleep(0.005)
    assert all(each.exists() for each in files)


def test_processes_that_need_a_kernel_at_once_compile_it_once(room):
    processes = [begin(room, NEEDS % "4", str(place)) for place in range(3)]
    wait_for(*(room / f"ready-{place}" for place in range(3)))
    (room / "go").touch()
    assert sorted(ended(each) for each in processes) == ["8 0", "8 0", "8 1"]


def test_processes_that_need_it_for_other_arguments_keep_both(room):
    processes = [begin(room, NEEDS % value, str(place)) for place, value in enumerate(("4", "0.5", "1j"))]
    wait_for(*(room / f"ready-{place}" for place in range(3)))
    (room / "go").touch()
    assert [ended(each) for each in processes] == ["8 1", "1.0 1", "2j 1"]
    again = [begin(room, NEEDS % value, "again") for value in ("4", "0.5", "1j")]
    assert [ended(each) for each in again] == ["8 0", "1.0 0", "2j 0"]


def test_what_a_process_beside_compiles_is_waited_for(room):
    (room / "rooms" / "run.py").write_text(HOLDS.format(seconds=1.2, then="double(1)"))
    assert ended(begin(room, AHEAD)) == "8 0 True"


def test_a_kernel_is_compiled_here_if_the_process_that_had_its_turn_ends_without_it(room):
    (room / "rooms" / "run.py").write_text(HOLDS.format(seconds=1.2, then="raise SystemExit(1)"))
    assert ended(begin(room, AHEAD)) == "8 1 True"


def test_a_process_that_is_killed_has_its_turn_no_longer(room):
    holder = begin(room, HOLDS.format(seconds=600, then=""))
    wait_for(room / "begun")
    (room / "go").touch()
    waiting = begin(room, NEEDS % "4", "0")
    wait_for(room / "ready-0")
    time.sleep(0.3)
    assert waiting.poll() is None
    holder.kill()
    assert ended(waiting) == "8 1"
    holder.communicate()


def test_a_process_that_does_not_end_its_turn_is_not_waited_for_for_ever(room, monkeypatch):
    holder = begin(room, HOLDS.format(seconds=600, then=""))
    wait_for(room / "begun")
    name = next((room / "kept").glob("*.lock")).parent
    monkeypatch.setattr(compiling, "PATIENCE", 0.05)
    before = compile_time.seconds
    index = "rooms.slow.double-py" + "".join(map(str, sys.version_info[:2])) + ".nbi"
    assert not Turns._locked(Turns()._open(name), _place(index))
    assert compile_time.seconds - before >= 0.05
    # Others are free.
    Turns().taken("another", [name])()
    holder.kill()
    holder.communicate()


def _place(name: str) -> int:
    import hashlib

    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7])


def test_a_kernel_that_cannot_be_compiled_keeps_no_turn(room):
    fails = "try:\n    wrong(1)\nexcept Exception as error:\n    print(type(error).__name__, wrong._cache._turns)"
    (room / "go").touch()
    assert ended(begin(room, f"{NEEDS % '4'}\n{fails}", "0")).splitlines() == ["8 1", "TypingError []"]


def test_where_nothing_can_be_locked_nobody_waits(tmp_path):
    closed = tmp_path / "file"
    closed.touch()
    Turns().taken("kernel", [closed])()
