"""The metrics of a node, which way is better, and where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabular.errors import InvalidParameter, UnknownName, named
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
            "How often its sensitive value stands in its class, summed over the rows.",
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
            "Mean share of its height that each attribute is generalised by.",
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
            "Bits that tell the original values from the others of their labels, summed over the cells.",
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
