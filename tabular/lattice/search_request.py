"""What a search of the lattice is asked for, checked before any table is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from tabular.errors import InvalidInput, InvalidParameter, UnknownName, named
from tabular.lattice.chain.history import keys_of
from tabular.lattice.chain.search import DynamicKgen
from tabular.lattice.front import checked_epsilon
from tabular.lattice.metrics import CLASS_LABEL, LOSSES, METRICS, SENSITIVE, checked_loss, checked_objectives
from tabular.lattice.release import BY_HIERARCHY, BY_SETS, LABELS, refuse_starred_values
from tabular.lattice.searches import searches
from tabular.lattice.searches.contract import Search
from tabular.lattice.space import Limits, refuse_unreachable
from tabular.registry import Entry, check
from tabular.release import IDENTIFIER
from tabular.table import Table

#: The metric of the best node where none is named.
DEFAULT_METRIC = "glm"

#: The algorithms where none is named: for the best node, for a front, and where there is an earlier release.
OPTIMUM, FRONT, NEXT_RELEASE = "optimal", "pareto", "kgen"

#: Options of a search that are parameters of some algorithms.
_OWN = ("epsilon", "generator", "evaluations")

#: What becomes of suppressed rows.
STAR, DROP = SUPPRESSED = ("star", "drop")

_QUASI_IDENTIFIER = "quasi-identifier"


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """How the table of one node is released.

    *choose* is the place of the node in the list of solutions, from 1 on, or its levels, as in 'age=1,sex=0'; without
    it the best node is released. *record* asks for the part of a private record that the next release is read from.
    *alone* releases the levels of *choose* without a search, as after one that found them.
    """

    choose: str | None = None
    labels: str = BY_HIERARCHY
    suppressed: str | None = None
    identifiers: str = "drop"
    shuffle: bool = False
    record: bool = False
    alone: bool = False

    def __post_init__(self) -> None:
        check("ReleaseRequest", "labels", self.labels, {"choices": LABELS})
        check("ReleaseRequest", "suppressed", self.suppressed or STAR, {"choices": SUPPRESSED})


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A search for the best generalisation of a table, or for the front of several *objectives*.

    *parameters* are those of the algorithm. *previous* names the last release of the same table or its private record;
    whoever asks reads it with `read_history` and hands the history in. *exact* asks for the exact front beside the one
    that a heuristic finds; if None it is computed *for_report*, where the lattice is small.
    """

    quasi_identifiers: tuple[str, ...]
    algorithm: str | None = None
    metric: str | None = None
    objectives: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    epsilon: str | None = None
    generator: str | None = None
    evaluations: int | None = None
    seconds: float | None = None
    sensitive: str | None = None
    class_label: str | None = None
    previous: str | Path | None = None
    key: str | None = None
    exact: bool | None = None
    for_report: bool = False
    release: ReleaseRequest | None = None

    @property
    def loss(self) -> str:
        """The metric by which one node is the best."""
        return self.metric or DEFAULT_METRIC

    @property
    def ranks(self) -> tuple[str, ...]:
        """What the solutions are sorted by."""
        return self.objectives or (self.loss,)

    @cached_property
    def entry(self) -> Entry[Search]:
        """The algorithm as it is registered."""
        default = FRONT if self.objectives else OPTIMUM if self.previous is None else NEXT_RELEASE
        return searches[self.algorithm or default]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(each.name for each in self.entry.parameters)

    @cached_property
    def _own(self) -> dict[str, Any]:
        return {name: value for name in _OWN if (value := getattr(self, name)) is not None}

    @cached_property
    def algorithm_parameters(self) -> dict[str, Any]:
        """The parameters of the algorithm, with those that are options of the search."""
        return {**self.parameters, **{name: value for name, value in self._own.items() if name in self._known}}

    @property
    def budget(self) -> int | None:
        """How many nodes are evaluated at most, where that is no parameter of the algorithm."""
        return None if "evaluations" in self._known else self.evaluations

    @property
    def drops_suppressed(self) -> bool:
        """Whether suppressed rows are left out: beside earlier releases a `*` would tell who is among them."""
        return self.release is not None and (self.release.suppressed == DROP or self.previous is not None)

    def search(self) -> Search:
        """The algorithm with its parameters."""
        goes_on = self.previous is not None and self.entry.name == NEXT_RELEASE
        method = DynamicKgen if goes_on else self.entry.method
        return method(**self.algorithm_parameters)

    def check(self) -> None:
        """Refuse what is wrong whatever the table holds."""
        self._check_ranks()
        self._check_algorithm()
        self._check_columns()
        if self.seconds is not None and not (isfinite(self.seconds) and self.seconds >= 0):
            must = "be a number of seconds, at least 0"
            raise InvalidParameter(
                f"{named('seconds')} must {must}, not {self.seconds:g}.", must=must, was=self.seconds
            )
        if self.exact and not self.objectives:
            raise InvalidParameter(f"{named('exact')} compares fronts; give {named('objectives')}.")
        self._check_earlier_releases()
        if self.release is not None:
            self._check_release(self.release)
        self.search()

    def fitted(self, table: Table, *, file: str = "") -> Table:
        """The *table* with its quasi-identifiers in that role; refused where it cannot be searched.

        *file* is where it was read, for errors.
        """
        others = [name for name in (self.sensitive, self.class_label, self.key) if name is not None]
        for name in (*self.quasi_identifiers, *others):
            if name not in table.names:
                unknown = UnknownName.among("column", name, table.names)
                raise UnknownName(f"{file}: {unknown}") if file else unknown
        for name in self.quasi_identifiers:
            if table.attribute(name).role == IDENTIFIER:
                raise InvalidParameter(
                    f"{named('quasi_identifiers')}: {name!r} is an identifier; it is dropped or starred, and not "
                    "generalised."
                )
        if self.key is not None and self.previous is None:
            try:
                keys_of(table, self.key)
            except InvalidInput as error:
                raise InvalidInput(f"{named('key')}: {error}") from None
        refuse_unreachable(table, self.limits, self.sensitive)
        refuse_starred_values(table, self.quasi_identifiers)
        attributes = tuple(
            replace(each, role=_QUASI_IDENTIFIER) if each.role is None and each.name in self.quasi_identifiers else each
            for each in table.attributes
        )
        return Table(attributes, table.columns, table.sets)

    def _check_ranks(self) -> None:
        if not self.objectives:
            checked_loss(self.loss)
            return
        if self.metric is not None:
            raise InvalidParameter(
                f"{named('metric')} has no effect with {named('objectives')}: a search finds one node, or a front."
            )
        if len(checked_objectives(self.objectives)) < 2:
            raise InvalidParameter(
                f"{named('objectives')} {self.objectives[0]}: a front needs two or more; for the best node by one "
                f"metric give {named('metric')}, one of {', '.join(LOSSES)}."
            )

    def _check_algorithm(self) -> None:
        entry = self.entry
        entry.method.refuse_other_aims(entry.name, self.objectives)
        if self.epsilon is not None:
            if not self.objectives:
                raise InvalidParameter(
                    f"{named('epsilon')} is for the objectives of a front; give {named('objectives')}."
                )
            checked_epsilon(self.epsilon, self.objectives)
        for name in self.parameters:
            if name not in self._known:
                raise UnknownName.among(f"parameter of {entry.name}", name, self._known)
            if name in self._own:
                raise InvalidParameter(f"{named(name)} is given twice: also as a parameter of {entry.name}.")
        for name in self._own:
            if name not in self._known and name != "evaluations":
                able = [each.name for each in searches.entries() if name in {one.name for one in each.parameters}]
                raise InvalidParameter(f"{entry.name} does not take {named(name)}; it is for {', '.join(able)}.")

    def _check_columns(self) -> None:
        """Refuse columns that are lacking, and a class label that is another column already."""
        names = self.quasi_identifiers
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None or not names:
            what = f"{twice!r} appears twice" if names else "name one or more columns"
            raise InvalidParameter(f"{named('quasi_identifiers')}: {what}.")
        asked = [named(name) for name in ("l", "t") if getattr(self.limits, name) is not None]
        asked += [name for name in self.ranks if METRICS[name].needs == SENSITIVE]
        if asked and self.sensitive is None:
            raise InvalidParameter(f"{asked[0]} needs a sensitive column; name it with {named('sensitive')}.")
        label = self.class_label
        if label is None and any(METRICS[name].needs == CLASS_LABEL for name in self.ranks):
            raise InvalidParameter(f"cm needs a class label; name its column with {named('class_label')}.")
        if label is not None and (label == self.sensitive or label in names):
            what = "sensitive" if label == self.sensitive else "a quasi-identifier"
            raise InvalidParameter(f"{named('class_label')} {label!r}: this column is {what}; it cannot be both.")

    def _check_earlier_releases(self) -> None:
        """Refuse what cannot be said of several releases."""
        release = self.release
        if self.previous is not None and release is not None and release.suppressed == STAR:
            raise InvalidParameter(
                f"{named('suppressed')} star: together with an earlier release a row of * can reveal whose it is; with "
                f"{named('previous')} such rows are left out."
            )
        if self.previous is not None and self.limits.k is None:
            raise InvalidParameter(
                f"{named('previous')} needs {named('k')}: all releases together must hide each person among that many."
            )
        if self.key is not None and self.previous is None and not (release is not None and release.record):
            raise InvalidParameter(
                f"{named('key')} has no effect without {named('previous')}, or {named('private')} for a first release."
            )

    def _check_release(self, release: ReleaseRequest) -> None:
        """Refuse to choose for the user what only the user can, and labels that tell too much."""
        if release.alone and (release.choose is None or release.choose.strip().isdecimal()):
            raise InvalidParameter(
                f"{named('alone')} does not search: give the levels in {named('choose')}, as in 'age=1,sex=0'."
            )
        if release.alone and self.exact:
            raise InvalidParameter(f"{named('exact')} has no effect with {named('alone')}; leave one of them out.")
        if release.labels == BY_SETS and (self.previous is not None or self.key is not None):
            raise InvalidParameter(
                f"{named('labels')} sets: such labels name the values that occur, so two releases show who came and "
                f"went between them; with {named('previous')} or {named('key')}, use the labels of the hierarchies."
            )
        if release.choose is None and self.objectives:
            raise InvalidParameter(
                f"A release needs one node, and a front has many: pick one with {named('choose')}, by its place in the "
                "list or by its levels, as in 'age=1,sex=0'."
            )
        if release.choose is None and all(getattr(self.limits, name) is None for name in ("k", "l", "t")):
            raise InvalidParameter(
                "Without a limit the table would be released unchanged, since that loses nothing: give "
                f"{named('k')} (or {named('l')}, {named('t')}), or pick a node with {named('choose')}."
            )
