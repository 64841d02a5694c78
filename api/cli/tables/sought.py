"""What `graphpriv table search` is asked for: from its options to a search, its question and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.cli.common import parameters_of
from api.cli.tables.chain import Before
from api.cli.tables.columns import require_columns
from tabular.attributes import Attribute
from tabular.errors import InvalidParameter
from tabular.lattice.dynamic import DynamicKgen
from tabular.lattice.front import checked_epsilon
from tabular.lattice.limits import Limits
from tabular.lattice.metrics import CLASS_LABEL, METRICS, SENSITIVE, checked_loss, checked_objectives
from tabular.lattice.searches import searches
from tabular.lattice.searching import Search, Stop, after_evaluations, after_seconds, any_of
from tabular.registry import Entry
from tabular.release import IDENTIFIER
from tabular.table import Table

#: What is sought where nothing is said.
DEFAULT_METRIC = "glm"
#: Who seeks where nobody is named: for one node, and for a front.
DEFAULT_ALGORITHMS = ("optimal", "pareto")
#: Who goes on from the node of an earlier release.
DYNAMIC = "kgen"


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
        return (DynamicKgen if goes_on else self.entry.method)(**self.parameters)

    def stop(self, is_interrupted: Callable[[], bool]) -> Stop:
        """When it ends though it could go on."""
        stops: list[Stop] = [lambda progress: is_interrupted()]
        if self.seconds is not None:
            stops.append(after_seconds(self.seconds))
        if self.evaluations is not None:
            stops.append(after_evaluations(self.evaluations))
        return any_of(*stops)

    def check_columns(self, table: Table) -> None:
        """Refuse columns that the table lacks, and those that cannot be what they are named for."""
        others = [name for name in (self.sensitive, self.class_label, self.before.key) if name is not None]
        require_columns(table, (*self.quasi_identifiers, *others), self.file)
        for name in self.quasi_identifiers:
            _refuse_identifier(table.attribute(name))


def algorithm_of(name: str | None, objectives: str | None, previous: str | None) -> Entry[Search]:
    """The search called *name*, or the one that is taken where none is named."""
    default = DYNAMIC if previous is not None and objectives is None else DEFAULT_ALGORITHMS[objectives is not None]
    return searches[name or default]


def ranks_of(metric: str | None, objectives: str | None) -> tuple[str, tuple[str, ...]]:
    """The metric of an optimum and the objectives of a front: one of both is sought."""
    if objectives is None:
        return checked_loss(metric or DEFAULT_METRIC), ()
    if metric is not None:
        raise InvalidParameter("--metric says nothing beside --objectives: one node is sought, or a front.")
    return DEFAULT_METRIC, checked_objectives([each.strip() for each in objectives.split(",")])


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
