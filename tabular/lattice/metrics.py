"""The metrics of a node, which way is better, and what was found of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidParameter, UnknownName, named
from tabular.lattice.space import Flags, Floats, Node, Nodes, as_tuples
from tabular.registry import Parameter

#: What a metric needs to be computed.
CLASSES, SENSITIVE, CLASS_LABEL = "classes", "sensitive", "class label"


@dataclass(frozen=True)
class Metric:
    """A number that each node has; listed beside the methods of the registries, as an entry without parameters."""

    name: str
    summary: str
    cites: str
    limits: str
    is_loss: bool = True
    needs: str = CLASSES
    parameters: tuple[Parameter, ...] = ()


class MetricTable(dict[str, Metric]):
    """The metrics by name, with their entries as a registry has them."""

    sort = "metric"

    def entries(self) -> tuple[Metric, ...]:
        """All metrics, in their order."""
        return tuple(self.values())


_DEWRI = "Dewri, Ray, Ray and Whitley (2010)"
_IYENGAR = "Iyengar (2002)"
_MACHANAVAJJHALA = "Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam (2007)"
_OF_ROWS_KEPT = "suppressed rows do not count"

METRICS = MetricTable(
    (each.name, each)
    for each in (
        Metric("k", "Rows of the smallest class.", "Samarati (2001); Sweeney (2002)", _OF_ROWS_KEPT, is_loss=False),
        Metric("s_k", "Size of its class, summed over the rows.", _DEWRI, _OF_ROWS_KEPT, is_loss=False),
        Metric(
            "l",
            "Fewest distinct sensitive values in a class.",
            _MACHANAVAJJHALA,
            "a value counts however rare it is in the class; a missing value is one",
            is_loss=False,
            needs=SENSITIVE,
        ),
        Metric(
            "l_entropy",
            "Least exponential of the entropy of a class's sensitive values.",
            _MACHANAVAJJHALA,
            "not rounded down to a whole number",
            is_loss=False,
            needs=SENSITIVE,
        ),
        Metric(
            "l_recursive",
            "Least c of recursive (c, l)-diversity.",
            _MACHANAVAJJHALA,
            "the table has recursive (c, l)-diversity for every c above it; its l is 2",
            needs=SENSITIVE,
        ),
        Metric(
            "t",
            "Greatest earth mover's distance of a class's sensitive values from those of all rows kept.",
            "Li, Li and Venkatasubramanian (2007)",
            "nominal values are all at the same distance; ordinal ones at the distance of their ranks",
            needs=SENSITIVE,
        ),
        Metric(
            "s_l",
            "How often its sensitive value occurs in its class, summed over the rows.",
            _DEWRI,
            _OF_ROWS_KEPT,
            is_loss=False,
            needs=SENSITIVE,
        ),
        Metric(
            "glm",
            "General loss: the share of the other values that a label covers, summed over the cells.",
            _IYENGAR,
            "counts the values under a label, however often they occur; a suppressed cell costs 1",
        ),
        Metric(
            "cm",
            "Classification loss: rows whose label is not the commonest one of their class.",
            _IYENGAR,
            "a suppressed row counts; of several commonest labels one is taken",
            needs=CLASS_LABEL,
        ),
        Metric(
            "precision",
            "Mean share of its hierarchy's height by which each attribute is generalised.",
            "Sweeney (2002); KGEN, eq 1 and 2",
            "1 less what Sweeney calls precision; looks at the levels alone, not at suppressed rows",
        ),
        Metric(
            "discernibility",
            "Rows that a row cannot be told from, summed over the rows.",
            "Bayardo and Agrawal (2005)",
            "a suppressed row cannot be told from any row of the table",
        ),
        Metric(
            "normalized_average_class_size",
            "Mean number of rows of a class, divided by k.",
            "LeFevre, DeWitt and Ramakrishnan (2006), C_AVG",
            "of the rows kept; without a limit k it is not divided. The criterion average-class-size never is",
        ),
        Metric(
            "non_uniform_entropy",
            "Bits needed to tell each original value from the others under its label, summed over the cells.",
            "Gionis and Tassa (2009)",
            "by the frequencies in the table; a suppressed cell stands for all values",
        ),
    )
)

#: Metrics that are no less than a sum of what the levels cost, whatever is suppressed.
ADDITIVE = ("glm", "precision", "non_uniform_entropy")

#: What a front can be asked for, and what one optimum.
OBJECTIVES = ("k", "l", "s_k", "s_l", "glm", "cm", "precision")
LOSSES = tuple(each.name for each in METRICS.entries() if each.is_loss and each.needs != SENSITIVE)

#: Metrics that had another name, and why they have not any more.
_RENAMED = {
    "average_class_size": "normalized_average_class_size, for it is divided by k (the criterion average-class-size is "
    "not)"
}


def checked_objectives(names: Sequence[str]) -> tuple[str, ...]:
    """The objectives of a front, or an error where one is unknown or stands twice."""
    for name in names:
        if name not in OBJECTIVES:
            raise UnknownName.among("objective", name, OBJECTIVES)
    if len(set(names)) < len(names) or not names:
        must = "be one or more, none of them twice"
        text = f"The {named('objectives')} must {must}, not {','.join(names)!r}."
        raise InvalidParameter(text, must=must, was=tuple(names))
    return tuple(names)


def checked_loss(name: str) -> str:
    """The metric of an optimum, or an error where there is none of that name."""
    if name in _RENAMED:
        raise UnknownName(f"No metric is called {name!r}; it is now {_RENAMED[name]}.")
    if name not in LOSSES:
        raise UnknownName.among("metric", name, LOSSES)
    return name


@dataclass(frozen=True, eq=False)
class Readings:
    """The metrics of nodes, with `suppressed` rows and whether each `satisfies` the limits.

    All are of the release that suppresses those rows, also where they are more than may be.
    """

    nodes: Nodes
    values: Mapping[str, NDArray[Any]]

    @classmethod
    def together(cls, parts: Sequence[Readings]) -> Readings:
        """All of the *parts*, one after the other."""
        return cls(
            np.concatenate([part.nodes for part in parts]),
            {name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values},
        )

    @classmethod
    def gathered(cls, places: Sequence[tuple[Readings, int]]) -> Readings:
        """Single readings put together: of each pair the one at that place."""
        return cls(
            np.stack([found.nodes[place] for found, place in places]),
            {name: np.array([found[name][place] for found, place in places]) for name in places[0][0].values},
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.values[name]

    def __contains__(self, name: object) -> bool:
        return name in self.values

    @property
    def satisfying(self) -> Flags:
        """Which nodes satisfy the limits."""
        return self.values["satisfies"]

    def take(self, places: NDArray[np.integer] | Flags | Sequence[int]) -> Readings:
        """The readings at *places*, in that order."""
        chosen = np.asarray(places)
        if not chosen.size:
            chosen = np.zeros(0, dtype=np.int64)
        return Readings(self.nodes[chosen], {name: array[chosen] for name, array in self.values.items()})

    def tuples(self) -> list[Node]:
        """The nodes as tuples."""
        return as_tuples(self.nodes)

    def costs(self, names: Sequence[str]) -> Floats:
        """The objectives *names* with lower numbers for what is better, one column each.

        Sums of squares, up to 10^18, are rounded above 2^53, which is reached from 94 million rows on: two of them can
        be the same cost then. To compare nodes without that take `places`.
        """
        return np.stack(self._columns(names), axis=1).astype(np.float64)

    def places(self, names: Sequence[str]) -> Floats:
        """As `costs`, but by each objective the place of a node among all of them, the same for equal ones."""
        found = [np.unique(column, return_inverse=True)[1] for column in self._columns(names)]
        return np.stack(found, axis=1).astype(np.float64)

    def _columns(self, names: Sequence[str]) -> list[NDArray[Any]]:
        return [self[name] if METRICS[name].is_loss else -self[name] for name in names]

    def ordered(self, names: Sequence[str]) -> Readings:
        """Sorted, the best by the first of the objectives *names* first; ties by the others, then by the levels."""
        return self.take(np.lexsort([*self.nodes.T[::-1], *self._columns(names)[::-1]]))

    def document(self, place: int) -> dict[str, Any]:
        """One node as plain values; None stands for what cannot be had, such as an infinite number."""
        found: dict[str, Any] = {"node": self.nodes[place].tolist()}
        for name, array in self.values.items():
            value = array[place].item()
            found[name] = value if not isinstance(value, float) or isfinite(value) else None
        return found
