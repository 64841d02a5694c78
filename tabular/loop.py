"""Long work: one loop of steps, several threads, parts that others can do, and how far it is.

The loop asks for candidates, tells what became of them, reports, and stops when it is time. It does not know what the
candidates are: a search of a lattice asks for nodes, an evolution for masked files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tabular.compiling import working_clock

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Takes what is being done, how many parts of it are done, and how many there are (0: that is not known).
Report = Callable[[str, int, int], None]

Asked = TypeVar("Asked")
Told = TypeVar("Told")

T = TypeVar("T")
R = TypeVar("R")


def silent(phase: str, done: int, of: int) -> None:
    """Tell nobody."""


class Enough(Exception):
    """Raised by what evaluates candidates to stop the loop at once: the means are spent."""


@dataclass(frozen=True)
class Standing:
    """Where work stands: distinct candidates evaluated, the best so far, and a bound that none can pass."""

    evaluated: int = 0
    best: float | None = None
    lower_bound: float | None = None


@dataclass(frozen=True)
class Progress(Standing):
    """Where work stands at one moment."""

    seconds: float = 0.0


Stop = Callable[[Progress], bool]


def never(progress: Progress) -> bool:
    """Go on until the work ends by itself."""
    return False


def after_evaluations(count: int) -> Stop:
    """Stop when *count* distinct candidates are evaluated."""
    return lambda progress: progress.evaluated >= count


def after_seconds(seconds: float) -> Stop:
    """Stop when so much time has passed."""
    return lambda progress: progress.seconds >= seconds


@dataclass(frozen=True)
class Trace:
    """How a run went: whether it ended by itself, and the moments at which the best or the bound changed."""

    ended: bool
    seconds: float
    moments: tuple[Progress, ...]


def run(
    steps: Generator[Asked, Told, None],
    evaluate: Callable[[Asked], Told],
    standing: Callable[[], Standing],
    *,
    stop: Stop = never,
    report: Callable[[Progress], None] = lambda progress: None,
    clock: Callable[[], float] = working_clock,
) -> Trace:
    """Ask *steps* for candidates and tell it what *evaluate* says of them, until it ends or *stop* says so.

    >>> def halving():
    ...     low, high = 0, 100
    ...     while low < high:
    ...         middle = (low + high) // 2
    ...         low, high = (low, middle) if (yield middle) else (middle + 1, high)
    ...     print(low)
    >>> run(halving(), lambda number: number**2 >= 1000, Standing).ended
    32
    True
    """
    began, progress = clock(), Progress()
    moments: list[Progress] = []
    ended = False

    def now() -> Progress:
        stands = standing()
        return Progress(stands.evaluated, stands.best, stands.lower_bound, clock() - began)

    try:
        asked = next(steps)
        while not stop(progress):
            asked = steps.send(evaluate(asked))
            progress = now()
            _note(moments, progress)
            report(progress)
    except StopIteration:
        ended = True
        _note(moments, now())
    except Enough:
        pass
    finally:
        steps.close()
    return Trace(ended, clock() - began, tuple(moments))


def _note(moments: list[Progress], progress: Progress) -> None:
    """Keep a moment where the best or the bound is other than before; and the last one."""
    same = len(moments) > 1 and all(
        (each.best, each.lower_bound) == (progress.best, progress.lower_bound) for each in moments[-2:]
    )
    if same:
        moments[-1] = progress
    else:
        moments.append(progress)


def processors() -> int:
    """How many threads of this process can run at the same time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def threads(workers: int | None = None) -> Iterator[Callable[[Callable[[T], R], Iterable[T]], Iterable[R]]]:
    """A `map` on several threads that stay: for calls so many and so short that starting some for each takes long.

    >>> with threads(3) as each:
    ...     list(each(lambda number: number**2, range(5)))
    [0, 1, 4, 9, 16]
    """
    workers = processors() if workers is None else workers
    if workers <= 1:
        yield map
        return
    with ThreadPoolExecutor(workers) as pool:
        yield pool.map


def on_threads(work: Callable[[T], R], items: Iterable[T], workers: int | None = None) -> Iterator[R]:
    """What *work* makes of each of *items*, in their order; it writes nothing that another call reads or writes.

    >>> list(on_threads(lambda number: number**2, range(5), workers=3))
    [0, 1, 4, 9, 16]
    """
    with threads(workers) as each:
        yield from each(work, items)


#: What a part gives: arrays of numbers by name.
Values: TypeAlias = "Mapping[str, NDArray[Any]]"

#: The name of the array that holds a document.
_DOCUMENT = "document"


def untold(done: int) -> None:
    """Tell nobody."""


class Parts:
    """Does long work in parts, each a function of its number and of what is known before the first of them begins.

    Here every part is done in this process, and nothing is kept. A job hands in another one, which keeps what each part
    gives, so that work that was cut off goes on from there, and which lets several processes share the parts. All of
    them do the same work from its beginning, and only what is done in parts is done once. So a part must give the same
    arrays wherever it is done.
    """

    #: Whether another process leads: who helps had better begin with what that one comes to last.
    helps: bool = False

    def each(
        self,
        key: str,
        work: Callable[[int], Values],
        count: int,
        *,
        workers: int = 1,
        stop: Callable[[], bool] = lambda: False,
        told: Callable[[int], None] = untold,
    ) -> Iterator[tuple[int, Values]]:
        """What *work* gives for each number below *count*, in their order.

        *key* names all that the work depends on; see `key_of`. When *stop* says so, no further part is begun, and
        those that are not done are left out. *told* is told how many are done.
        """
        told(0)
        found = on_threads(lambda number: None if stop() else work(number), range(count), workers)
        for number, values in enumerate(found):
            if values is not None:
                told(number + 1)
                yield number, values

    def kept(self, key: str, work: Callable[[], Values]) -> Values:
        """What *work* gives; where it is kept, it is not done again."""
        return work()

    def recall(self, key: str) -> Values | None:
        """What was kept under *key*, if anything was."""
        return None

    def keep(self, key: str, values: Values) -> None:
        """Keep *values* for later, where anything is kept."""


#: Parts that are done here and now.
ALONE = Parts()


def key_of(*things: object) -> str:
    """A digest of *things* that are arrays, or whose representation says all there is to know of them.

    >>> key_of("a", 1) == key_of("a", 1), key_of("a", 1) == key_of("a1")
    (True, False)
    """
    import numpy as np

    digest = hashlib.sha256()
    for thing in things:
        is_array = isinstance(thing, np.ndarray)
        shown = f"{thing.dtype.str} {thing.shape}" if isinstance(thing, np.ndarray) else repr(thing)
        digest.update(f"{'array' if is_array else 'value'} {len(shown)} {shown}".encode())
        if isinstance(thing, np.ndarray):
            digest.update(np.ascontiguousarray(thing).view(np.uint8).data)
    return digest.hexdigest()


def of_document(document: Mapping[str, Any]) -> Values:
    """A document of plain values as arrays.

    >>> document_of(of_document({"k": 2, "mean": 0.1}))
    {'k': 2, 'mean': 0.1}
    """
    import numpy as np

    return {_DOCUMENT: np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)}


def document_of(values: Values) -> dict[str, Any]:
    """The document that a part has given as arrays."""
    document: dict[str, Any] = json.loads(values[_DOCUMENT].tobytes())
    return document
