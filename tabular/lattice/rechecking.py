"""A released node counted once more, from its cells as they are written and by other means than the evaluator's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

import numpy as np

from tabular.anonymity import Anonymity
from tabular.attributes import ANY, Value, text_of, write_label
from tabular.criteria import criteria
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.space import Flags, Limits
from tabular.table import Table

#: Two ways to add up the same numbers may differ by so much of them.
_EXACT = 1e-9


@dataclass(frozen=True, kw_only=True)
class Recounted:
    """What was counted in the release: k, l and t are over the rows kept."""

    k: int
    l: int | None  # noqa: E741
    t: float | None
    suppressed: int


@dataclass(frozen=True, eq=False)
class WrittenRelease:
    """What is looked at: the *written* table beside its original, and what each cell should be.

    Which rows are *suppressed* is said, for `*` in all quasi-identifiers may be the labels of a row that is kept.
    """

    table: Table
    written: Table
    hierarchies: Mapping[str, Hierarchy]
    levels: Mapping[str, int]
    suppressed: Flags
    as_sets: bool = False

    @property
    def kept(self) -> list[tuple[str | None, ...]]:
        """The rows kept, as they are written."""
        columns = [
            [None if value is None else text_of(value) for value in self.written.values(name)] for name in self.levels
        ]
        rows = zip(*columns, strict=True)
        return [row for row, out in zip(rows, self.suppressed.tolist(), strict=True) if not out]

    def called(self, name: str) -> list[Value]:
        """What stands for each value of the domain at the level of the column, by the rows of its hierarchy."""
        level = self.levels[name]
        rows = self.hierarchies[name].rows()
        return [row[level] for row in rows] if level else list(self.table.attribute(name).domain)


def recheck(
    release: WrittenRelease, limits: Limits, found: Mapping[str, Any], *, sensitive: str | None = None
) -> Recounted:
    """Count k, l, t and the suppressed rows of a *release* anew; anything other than was *found* is a bug.

    *found* are the metrics of the node as the evaluator has them.
    """
    _refuse_wrong_cells(release)
    kept = release.kept
    recounted = Recounted(
        k=min(Counter(kept).values(), default=0),
        l=None if sensitive is None else _distinct(release, kept, sensitive),
        t=None if sensitive is None else _distance(release, sensitive),
        suppressed=len(release.table) - len(kept),
    )
    _refuse_another(recounted, release, limits, found)
    return recounted


def _refuse_wrong_cells(release: WrittenRelease) -> None:
    """Each cell is the label of its value, or `*` where the row goes, and the other columns are as they were."""
    table, written = release.table, release.written
    if written.names != table.names or len(written) != len(table) or len(release.suppressed) != len(table):
        raise RuntimeError("A release does not have the rows and columns of its original.")
    for name in table.names:
        before, after = table.columns[name].astype(np.int64), written.columns[name].astype(np.int64)
        if name not in release.levels:
            same = written.attribute(name) == table.attribute(name) and np.array_equal(before, after)
        else:
            # Each pair of value and label is looked at once, for the rows kept and for those that go.
            size = len(table.attribute(name).domain)
            pairs = np.unique((after * size + before) * 2 + release.suppressed).tolist()
            fits = _set_fits(release, name) if release.as_sets else _label_fits(release, name)
            same = all(fits(pair // 2 // size, pair // 2 % size, bool(pair % 2)) for pair in pairs)
        if not same:
            raise RuntimeError(f"A release has a cell in column {name!r} that is not the label of the original value.")


def _label_fits(release: WrittenRelease, name: str) -> Callable[[int, int, bool], bool]:
    """Whether the text of a cell is what its hierarchy has for the value."""
    called, attribute = release.called(name), release.written.attribute(name)
    words = [*attribute.domain, *(write_label(attribute, each) for each in release.written.sets[name])]
    return lambda label, value, out: words[label] == (ANY if out else called[value])


def _set_fits(release: WrittenRelease, name: str) -> Callable[[int, int, bool], bool]:
    """Whether the label of a cell stands for the values that its hierarchy calls the same, no more and no fewer."""
    called, sets = release.called(name), release.written.sets[name]
    together: defaultdict[Value, list[int]] = defaultdict(list)
    for code, word in enumerate(called):
        together[word].append(code)

    def fits(label: int, value: int, out: bool) -> bool:
        members = (label,) if label < len(called) else sets[label - len(called)]
        return members == (tuple(range(len(called))) if out else tuple(together[called[value]]))

    return fits


def _distinct(release: WrittenRelease, kept: Sequence[tuple[str | None, ...]], sensitive: str) -> int:
    """The fewest distinct sensitive values, as they were, among rows that are written alike and kept."""
    values = zip(release.table.values(sensitive), release.suppressed.tolist(), strict=True)
    found: defaultdict[tuple[str | None, ...], set[Value]] = defaultdict(set)
    for row, value in zip(kept, (value for value, out in values if not out), strict=True):
        found[row].add(value)
    return min(map(len, found.values()), default=0)


def _distance(release: WrittenRelease, sensitive: str) -> float:
    """t; the sensitive values are those of the original, also where the attribute is generalised."""
    if release.suppressed.all():
        return 0.0
    table, written = release.table, release.written
    classes = Anonymity.of(written, tuple(release.levels), suppressed=release.suppressed)
    plain = Table((table.attribute(sensitive),), {sensitive: table.columns[sensitive]})
    whole = Anonymity(plain, classes.quasi_identifiers, classes.kept, classes.classes)
    return float(criteria["t"].method().value(whole, sensitive))


def _lost(release: WrittenRelease) -> float:
    """GLM by the hierarchies: for each cell kept the other values that are called the same, over all others."""
    total = 0.0
    for name in release.levels:
        called = release.called(name)
        alike, others = Counter(called), max(len(called) - 1, 1)
        rows = np.bincount(release.table.columns[name][~release.suppressed], minlength=len(called)).tolist()
        total += sum((alike[word] - 1) * count for word, count in zip(called, rows, strict=True)) / others
    return total + int(release.suppressed.sum()) * len(release.levels)


def _refuse_another(recounted: Recounted, release: WrittenRelease, limits: Limits, found: Mapping[str, Any]) -> None:
    """What was counted is what the search was told, and keeps the limits."""
    for name, value in (*vars(recounted).items(), ("glm", _lost(release))):
        said = found.get(name)
        if said is not None and value is not None and not isclose(said, value, rel_tol=_EXACT, abs_tol=_EXACT):
            raise RuntimeError(f"A release has another {name} than the search found.")
    broken = (
        (limits.k is not None and recounted.k < limits.k)
        or (limits.l is not None and (recounted.l is None or recounted.l < limits.l))
        or (limits.t is not None and (recounted.t is None or recounted.t > limits.t + _EXACT))
        or recounted.suppressed > limits.suppressible(len(release.table))
    )
    if broken:
        raise RuntimeError("A release does not keep the limits it was made for.")
