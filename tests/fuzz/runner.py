"""Tries cases apart from whoever asks: everything is imported once, and each batch of cases is a process of its own.

    python -m tests.fuzz.runner                         a request a line from standard input: KIND BEGIN COUNT
    python -m tests.fuzz.runner KIND NUMBER             one case, here, with what went wrong in full

A batch may take so much memory, and each case so many seconds of a processor, or six times as many in which it gets
none: how busy the machine is makes no fault. A process that dies or stalls is a fault of the case
that it was at; the next process goes on behind it.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from api.errors import outcome_of
from tabular.errors import ReportedError
from tests.fuzz.deeper import folder, names
from tests.fuzz.kinds import KINDS

#: The memory of a process, in bytes, and the seconds of a case.
MEMORY, SECONDS = 2 << 30, 20.0
BATCH = 500


def outcome(name: str, number: int) -> tuple[str, str]:
    """What came of a case: `read`, `refused`, `memory` or `fault`, and what was said."""
    kind = KINDS[name]
    which, data = kind.case(number, name)
    with folder({**kind.files(), which: data}) as here:
        before = names(here)
        try:
            kind.read(number)
        except ReportedError as error:
            text, code = str(error), outcome_of(error).exit_code
            left = set() if kind.changes else names(here) - before
            left = {each for each in left if not each.startswith("again")}
            if code not in {2, *kind.codes} or "\n" in text.strip() or len(text) > 3000 or "Traceback" in text or left:
                return "fault", f"exit {code}, {type(error).__name__}: {text[:500]!r}, left {sorted(left)}"
            return "refused", text[:200]
        except MemoryError:
            return "memory", ""
        except BaseException as error:
            return "fault", f"{type(error).__name__}: {str(error)[:300]!r} at {_place(error)}"
    return "read", ""


def _place(error: BaseException) -> str:
    frames = [each for each in traceback.extract_tb(error.__traceback__) if "/tests/" not in each.filename]
    ours = [
        each
        for each in frames
        if any(f"/{top}/" in each.filename for top in ("tabular", "graphpriv", "crawler", "api"))
    ]
    return " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in reversed((ours or frames)[-3:]))


def batch(name: str, begin: int, end: int, told: int) -> None:
    """Try cases, and tell of each."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    # A case may name standard input; the requests that come there are none of its business.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in range(begin, end):
        os.write(told, f"{number}\n".encode())
        at = time.monotonic()
        what, text = outcome(name, number)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        line = json.dumps([number, what, text, round(time.monotonic() - at, 3), peak])
        os.write(told, line.encode() + b"\n")


def tried(name: str, begin: int, count: int) -> dict[str, Any]:
    """Try *count* cases; how many came to what, the slowest, the most memory, and the faults."""
    counts, faults, end = Counter[str](), list[tuple[int, str]](), begin + count
    slowest, peak, at = (0.0, begin), 0, begin
    compile_for(name)
    while at < end:
        for number, what, text, seconds, memory in _batch(name, at, min(at + BATCH, end)):
            counts[what] += 1
            at, peak, slowest = number + 1, max(peak, memory), max(slowest, (seconds, number))
            if what == "fault":
                faults.append((number, text))
    return {"kind": name, **counts, "slowest": slowest, "peak_mib": peak, "faults": faults}


def compile_for(name: str) -> None:
    """Read what is sound once, in no measured time: on a new machine that compiles, or waits for who does."""
    child = os.fork()
    if not child:
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            for each in (0, 1):
                os.dup2(nothing, each)
            with folder(KINDS[name].files()):
                KINDS[name].read(0)
        except BaseException:
            # What is wrong with it, the cases tell.
            os._exit(1)
        os._exit(0)
    os.waitpid(child, 0)


def _batch(name: str, begin: int, end: int) -> list[Any]:
    receiving, telling = os.pipe()
    child = os.fork()
    if not child:
        os.close(receiving)
        try:
            batch(name, begin, end, telling)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(telling)
    found, at, waiting = [], begin, b""
    stalled = False
    worked, since = _worked(child), time.monotonic()
    while True:
        if not select.select([receiving], [], [], 1.0)[0]:
            stalled = _worked(child) - worked > SECONDS or time.monotonic() - since > 6 * SECONDS
            if not stalled:
                continue
            os.kill(child, signal.SIGKILL)
            break
        worked, since = _worked(child), time.monotonic()
        data = os.read(receiving, 1 << 16)
        if not data:
            break
        *lines, waiting = (waiting + data).split(b"\n")
        for line in lines:
            told = json.loads(line)
            if isinstance(told, list):
                found.append(told)
            else:
                at = told
    os.close(receiving)
    _, status = os.waitpid(child, 0)
    if not found or found[-1][0] < end - 1:
        stall = f"took more than {SECONDS:g} s of a processor, or waited as if for ever"
        why = stall if stalled else f"the process ended with {status}"
        found.append([at, "fault", why, SECONDS if stalled else 0.0, 0])
    return found


def _worked(process: int) -> float:
    """The seconds of a processor that a process has had."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def main(words: list[str]) -> None:
    if len(words) == 2:
        kind = KINDS[words[0]]
        which, data = kind.case(int(words[1]), words[0])
        print(which, data[:3000])
        with folder({**kind.files(), which: data}):
            kind.read(int(words[1]))
        return
    for each in KINDS.values():
        each.files()
    # What is compiled, or loaded, once is there for all.
    for each in KINDS.values():
        with folder(each.files()):
            each.read(0)
    print(json.dumps(sorted(KINDS)), flush=True)
    for line in sys.stdin:
        name, begin, count = json.loads(line)
        print(json.dumps(tried(name, begin, count)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
