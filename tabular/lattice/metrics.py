"""What is said of a node, and which way is better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tabular.errors import InvalidParameter, UnknownName

#: What a metric needs to be computed.
CLASSES, SENSITIVE, CLASS_LABEL = "classes", "sensitive", "class label"


@dataclass(frozen=True)
class Metric:
    """A number said of each node."""

    name: str
    summary: str
    is_loss: bool
    needs: str = CLASSES


_ALL = (
    Metric("k", "rows of the smallest class", False),
    Metric("s_k", "sum over the rows of the size of their class", False),
    Metric("l", "fewest distinct sensitive values in a class", False, SENSITIVE),
    Metric("l_entropy", "least exponential of the entropy of a class's sensitive values", False, SENSITIVE),
    Metric("l_recursive", "least c of recursive (c, l)-diversity", True, SENSITIVE),
    Metric(
        "t",
        "greatest earth mover's distance of a class's sensitive values from all rows kept",
        True,
        SENSITIVE,
    ),
    Metric("s_l", "sum over the rows of how often their sensitive value stands in their class", False, SENSITIVE),
    Metric("glm", "general loss: leaves under the labels, summed over cells", True),
    Metric("cm", "classification loss: rows that are not of their class's commonest label", True, CLASS_LABEL),
    Metric("precision", "mean share of its height that each attribute is generalised by", True),
    Metric("discernibility", "sum over the rows of the rows they cannot be told from", True),
    Metric("average_class_size", "mean rows of a class over k; without k, over 1", True),
    Metric("non_uniform_entropy", "bits needed to tell the original values from those of their labels", True),
)

METRICS: dict[str, Metric] = {each.name: each for each in _ALL}

#: What a front can be asked for, and what one optimum.
OBJECTIVES = ("k", "l", "s_k", "s_l", "glm", "cm", "precision")
LOSSES = tuple(each.name for each in _ALL if each.is_loss and each.needs != SENSITIVE)


def checked_objectives(names: Sequence[str]) -> tuple[str, ...]:
    """The objectives of a front, or an error where one is unknown or stands twice."""
    for name in names:
        if name not in OBJECTIVES:
            raise UnknownName.among("objective", name, OBJECTIVES)
    if len(set(names)) < len(names) or not names:
        raise InvalidParameter(f"The objectives must be one or more, none of them twice, not {','.join(names)!r}.")
    return tuple(names)


def checked_loss(name: str) -> str:
    """The metric of an optimum, or an error where there is none of that name."""
    if name not in LOSSES:
        raise UnknownName.among("metric", name, LOSSES)
    return name


def needed(metrics: Iterable[str]) -> frozenset[str]:
    """What has to be given for the *metrics*."""
    return frozenset(METRICS[name].needs for name in metrics)
