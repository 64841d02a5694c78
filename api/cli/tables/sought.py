"""What `graphpriv table search` is asked for: from its options to a search, its question and when to stop."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, TypeVar

from api.cli.common import parameters_of
from api.cli.tables.chain import Before
from api.cli.tables.columns import require_columns
from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter
from tabular.lattice.chain import DynamicKgen
from tabular.lattice.chain.history import keys_of
from tabular.lattice.fronts.front import checked_epsilon
from tabular.lattice.limits import Limits
from tabular.lattice.metrics import CLASS_LABEL, LOSSES, METRICS, SENSITIVE, checked_loss, checked_objectives
from tabular.lattice.searches import searches
from tabular.lattice.searches.contract import front_only, no_front
from tabular.lattice.searching import Progress, Search, Stop, after_evaluations, after_seconds
from tabular.registry import Entry
from tabular.release.identifiers import IDENTIFIER
from tabular.table import Table

#: What is sought where nothing is said.
DEFAULT_METRIC = "glm"
#: Who seeks where nobody is named: for one node, and for a front.
DEFAULT_ALGORITHMS = ("optimal", "pareto")
#: Who goes on from the node of an earlier release.
DYNAMIC = "kgen"
#: The role of the columns that --quasi-identifiers names.
_QUASI_IDENTIFIER = "quasi-identifier"

T = TypeVar("T")


@dataclass(eq=False)
class Ending:
    """When a search ends though it could go on, each with the words for it; it keeps those that applied."""

    stops: Sequence[tuple[str, Stop]]
    said: str | None = None

    def __call__(self, progress: Progress) -> bool:
        self.said = next((words for words, stop in self.stops if stop(progress)), None)
        return self.said is not None


@dataclass(frozen=True, kw_only=True)
class Sought:
    """What the options of a search say."""

    file: str
    quasi_identifiers: tuple[str, ...]
    hierarchies: str
    algorithm: str
    metric: str
    objectives: tuple[str, ...]
    limits: Limits
    parameters: Mapping[str, Any]
    sensitive: str | None
    class_label: str | None
    evaluations: int | None
    seconds: float | None
    seed: int
    before: Before
    #: The parameters of the search that come from options of their own.
    own_options: tuple[str, ...] = ()

    @property
    def ranks(self) -> tuple[str, ...]:
        """By what solutions are put in order."""
        return self.objectives or (self.metric,)

    @property
    def entry(self) -> Entry[Search]:
        """The search as it is registered."""
        return searches[self.algorithm]

    def search(self) -> Search:
        """The search with its parameters."""
        goes_on = self.before.previous is not None and self.algorithm == DYNAMIC
        method = DynamicKgen if goes_on else self.entry.method
        return with_options_named(lambda: method(**self.parameters), self.own_options)

    def ending(self, is_interrupted: Callable[[], bool]) -> Ending:
        """When it ends though it could go on."""
        stops: list[tuple[str, Stop]] = [("The search was interrupted.", lambda progress: is_interrupted())]
        if self.seconds is not None:
            words = f"The time limit ended the search, --seconds {self.seconds:g}: give it more."
            stops.append((words, after_seconds(self.seconds)))
        if self.evaluations is not None:
            # That more evaluations can help is said wherever nothing is found.
            stops.append(("", after_evaluations(self.evaluations)))
        return Ending(stops)

    def check_columns(self, table: Table) -> None:
        """Refuse columns that the table lacks, and those that cannot be what they are named for."""
        others = [name for name in (self.sensitive, self.class_label, self.before.key) if name is not None]
        require_columns(table, (*self.quasi_identifiers, *others), self.file)
        for name in self.quasi_identifiers:
            _refuse_identifier(table.attribute(name))
        if self.before.key is not None and self.before.previous is None:
            try:
                keys_of(table, self.before.key)
            except InvalidInput as error:
                raise InvalidInput(f"--key: {error}") from None

    def with_roles(self, table: Table) -> Table:
        """The *table*, in which the quasi-identifiers have that role unless they were given one."""
        attributes = tuple(
            replace(each, role=_QUASI_IDENTIFIER) if each.role is None and each.name in self.quasi_identifiers else each
            for each in table.attributes
        )
        return Table(attributes, table.columns, table.sets)


def with_options_named(made: Callable[[], T], options: Sequence[str]) -> T:
    """What is *made*, or an error that names the *options*, and not the class whose parameters they are."""
    try:
        return made()
    except InvalidParameter as error:
        found = re.fullmatch(r"\w+: (\w+) (must .*)", str(error), re.DOTALL)
        if found is None:
            raise
        option = f"--{found[1]}" if found[1] in options else f"--param {found[1]}:"
        raise InvalidParameter(f"{option} {found[2]}") from None


def limits_of(**limits: Any) -> Limits:
    """What is to be kept, as the options say."""
    return with_options_named(lambda: Limits(**limits), tuple(limits))


def checked_seconds(seconds: float | None) -> float | None:
    """The time a search may take, or an error where that is no time."""
    if seconds is not None and not (isfinite(seconds) and seconds >= 0):
        raise InvalidParameter(f"--seconds must be a number of seconds, at least 0, not {seconds:g}.")
    return seconds


def algorithm_of(name: str | None, objectives: str | None, previous: str | None) -> Entry[Search]:
    """The search called *name*, or the one that is taken where none is named."""
    default = DYNAMIC if previous is not None and objectives is None else DEFAULT_ALGORITHMS[objectives is not None]
    return searches[name or default]


def refuse_pairing(entry: Entry[Search], objectives: Sequence[str]) -> None:
    """Refuse a front of a search of one node, and one node of a search of a front, before anything is read."""
    if objectives and not entry.method.seeks_front:
        raise no_front(entry.name)
    if not objectives and not entry.method.seeks_one:
        raise front_only(entry.name)


def ranks_of(metric: str | None, objectives: str | None) -> tuple[str, tuple[str, ...]]:
    """The metric of an optimum and the objectives of a front: one of both is sought."""
    if objectives is None:
        return checked_loss(metric or DEFAULT_METRIC), ()
    if metric is not None:
        raise InvalidParameter("--metric says nothing beside --objectives: one node is sought, or a front.")
    names = checked_objectives([each.strip() for each in objectives.split(",")])
    if len(names) < 2:
        raise InvalidParameter(
            f"--objectives {objectives}: a front is of two or more; for the best node by one metric give --metric, one "
            f"of {', '.join(LOSSES)}."
        )
    return DEFAULT_METRIC, names


def parameters_for(
    entry: Entry[Search], params: Sequence[str], **options: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of a search, from `--param` and from *options* that have its parameters' names; and the rest."""
    known = {each.name for each in entry.parameters}
    values, rest = parameters_of(entry, params), {}
    for name, value in options.items():
        if value is None:
            continue
        if name not in known:
            rest[name] = value
        elif name in values:
            raise InvalidParameter(f"--{name} and --param {name}=… say the same; give one of them.")
        else:
            values[name] = value
    return values, rest


def refuse_rest(entry: Entry[Search], rest: Mapping[str, Any]) -> None:
    """Refuse options that are a parameter of other searches."""
    for name in rest:
        able = [each.name for each in searches.entries() if name in {one.name for one in each.parameters}]
        takes = f"; it is for {', '.join(able)}" if able else ""
        raise InvalidParameter(f"--{name} is nothing that {entry.name} takes{takes}.")


def check_epsilon(epsilon: str | None, objectives: Sequence[str]) -> None:
    """Refuse sides of boxes that do not fit the objectives."""
    if epsilon is None:
        return
    if not objectives:
        raise InvalidParameter("--epsilon is of the objectives of a front; give --objectives.")
    checked_epsilon(epsilon, objectives)


def refuse_unnamed(
    ranks: Sequence[str], limits: Limits, sensitive: str | None, class_label: str | None, columns: Sequence[str]
) -> None:
    """Refuse what is asked of a sensitive column or a class label that is not named, or not as it can be."""
    asked = [f"--{name}" for name in ("l", "t") if getattr(limits, name) is not None]
    asked += [name for name in ranks if METRICS[name].needs == SENSITIVE]
    if asked and sensitive is None:
        raise InvalidParameter(f"{asked[0]} is of a sensitive column; name it by --sensitive.")
    if class_label is None and any(METRICS[name].needs == CLASS_LABEL for name in ranks):
        raise InvalidParameter("cm is of a class label; name its column by --class-label.")
    if class_label is not None and class_label == sensitive:
        raise InvalidParameter(f"--class-label {class_label!r}: this column is sensitive; it cannot be both.")
    if class_label in columns:
        raise InvalidParameter(f"--class-label {class_label!r}: this column is a quasi-identifier; it cannot be both.")


def _refuse_identifier(attribute: Attribute) -> None:
    if attribute.role == IDENTIFIER:
        raise InvalidParameter(
            f"--quasi-identifiers: {attribute.name!r} is an identifier; it is dropped or starred, and not generalised."
        )
