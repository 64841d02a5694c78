"""What verbs share that answer each line of a file with one line."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from api.verbs.contract import STREAM, Outcome, Verb, Work
from tabular.errors import InvalidInput
from tabular.files.disk import reason
from tabular.registry import option

#: The longest line, in bytes: no post and no location comes near it.
LONGEST_LINE = 1 << 20

#: So many lines are answered together.
TOGETHER = 512


@dataclass(frozen=True, kw_only=True)
class LineVerb(Verb):
    """A verb that answers each line of a file with one JSON object on a line."""

    action = "read"

    file: str = option(help="The texts, one a line, in UTF-8; - is standard input.", positional=True, input=True)

    def answered(self, texts: Sequence[str], work: Work) -> Sequence[dict[str, Any]]:
        """The answers to *texts*, in their order."""
        raise NotImplementedError

    def run(self, work: Work) -> Outcome:
        return Outcome(document={}, lines=self._lines(work))

    def _lines(self, work: Work) -> Iterator[dict[str, Any]]:
        """The answers, made as they are taken, so that a file of any length can be answered."""
        with opened(self.file) as file:
            texts, done = texts_of(file, self.file), 0
            while some := list(islice(texts, TOGETHER)):
                yield from self.answered(some, work)
                done += len(some)
                work.report("Answering", done, 0)


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """A file of bytes, or standard input for `-`."""
    if path == STREAM:
        yield sys.stdin.buffer
        return
    try:
        file = Path(path).open("rb")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise InvalidInput(f"{path}: {reason(error)}") from None
    with file:
        yield file


def texts_of(file: IO[bytes], name: str) -> Iterator[str]:
    """The lines of a *file* as texts, without their ends; *name* says, for errors, which file it is."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise InvalidInput(
                f"{name}, line {number}: it has more than {LONGEST_LINE:,} bytes; write one text a line."
            )
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise InvalidInput(f"{name}, line {number}: this is not UTF-8 text; convert the file.") from None
        yield text.removesuffix("\n").removesuffix("\r")
