"""Verbs for the tests of jobs; `entered.py` enters them in the processes that perform them."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from api.verbs.contract import Outcome, Verb, Work, json_output, text_output, verbs
from tabular.errors import InvalidInput, StoreUnavailable
from tabular.files.disk import read_text
from tabular.loop import Values, key_of
from tabular.registry import option


@dataclass(frozen=True, kw_only=True)
class Draw(Verb):
    """Draw numbers, slowly, and write them to a file."""

    draws: ClassVar[bool] = True
    stoppable: ClassVar[bool] = True

    numbers: int = option(20, help="How many.")
    pause: float = option(0.01, help="How long each takes.")
    person: str | None = option(None, personal=True, help="Who wants them.")
    out: str = option("drawn.txt", output=True, help="Where they go.")

    def run(self, work: Work) -> Outcome:
        drawn: list[int] = []
        rng = work.generator()
        while len(drawn) < self.numbers and not work.stop():
            drawn.append(int(rng.integers(1 << 40)))
            work.report("Drawing", len(drawn), self.numbers)
            work.best({"least": min(drawn)})
            time.sleep(self.pause)
        work.note("They are random.")
        text = "".join(f"{number}\n" for number in drawn)
        outputs = [text_output(self.out, "out", text), json_output(f"{self.out}.json", "out", {"rows": drawn})]
        return Outcome(document={"count": len(drawn), "least": min(drawn, default=None)}, outputs=outputs)


@dataclass(frozen=True, kw_only=True)
class Sleep(Verb):
    """Sleep, and listen to nobody."""

    seconds: float = option(60.0, help="How long.")
    mark: str = option("", help="A file that each sleeper adds a line to.", metavar="PLACE")

    def run(self, work: Work) -> Outcome:
        if self.mark:
            with Path(self.mark).open("a") as file:
                file.write(f"{os.getpid()}\n")
        time.sleep(self.seconds)
        return Outcome(document={"slept": self.seconds})


@dataclass(frozen=True, kw_only=True)
class Refuse(Verb):
    """Refuse what it was given, with a text that holds a cell."""

    text: str = option("", personal=True, help="The cell.")
    how: str = option("input", choices=("input", "bug", "memory", "death", "store"), help="How it ends.")
    until: str = option("", help="The file from whose making on it ends well.", metavar="PLACE")

    def run(self, work: Work) -> Outcome:
        if self.how == "death":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.until and Path(self.until).exists():
            return Outcome(document={"ended": "well"})
        if self.how == "store":
            raise StoreUnavailable("The store does not answer.", can_retry=True)
        kinds: dict[str, Any] = {"input": InvalidInput, "bug": ValueError, "memory": MemoryError}
        raise kinds[self.how](f"a.csv, line 3: {self.text!r} is no number.")


@dataclass(frozen=True, kw_only=True)
class Count(Verb):
    """Count the lines of a file."""

    file: str = option(input=True, help="The file.")

    def run(self, work: Work) -> Outcome:
        return Outcome(document={"file": self.file, "lines": len(read_text(self.file).splitlines())})


@dataclass(frozen=True, kw_only=True)
class Share(Verb):
    """Draw a number in each of some parts."""

    draws: ClassVar[bool] = True
    stoppable: ClassVar[bool] = True

    parts: int = option(8, help="How many.")
    mark: str = option("", help="A file to which each part that is begun adds a line.", metavar="PLACE")
    gate: str = option("", help="A file that says how many parts may end.", metavar="PLACE")

    def run(self, work: Work) -> Outcome:
        def done(number: int) -> Values:
            if self.mark:
                with Path(self.mark).open("a") as file:
                    file.write(f"{os.getpid()} {number}\n")
            while self.gate and int(Path(self.gate).read_text() or 0) <= number:
                time.sleep(0.01)
            return {"number": np.random.default_rng([work.seed, number]).integers(1 << 40, size=1)}

        found = work.parts.each(
            key_of("share", work.seed),
            done,
            self.parts,
            stop=work.stop,
            told=lambda done: work.report("Parts", done, self.parts),
        )
        return Outcome(document={"numbers": {str(number): int(values["number"][0]) for number, values in found}})


SAMPLES = {
    "sample share": Share,
    "sample draw": Draw,
    "sample sleep": Sleep,
    "sample refuse": Refuse,
    "sample count": Count,
}


def enter() -> None:
    """Enter them."""
    for name, verb in SAMPLES.items():
        verbs.add(name)(verb)
