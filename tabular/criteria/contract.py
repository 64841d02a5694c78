"""The base class of criteria of a table, and their registry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from tabular.criteria.anonymity import Anonymity
from tabular.registry import Method, Registry

HIGHER, LOWER = "higher", "lower"


@dataclass(frozen=True, kw_only=True)
class Criterion(Method):
    """A number that tells how safe a table is, given the classes of its rows."""

    #: Whether it looks at a sensitive attribute.
    of_values: ClassVar[bool] = False
    #: Which values are the safer ones.
    safer: ClassVar[str] = HIGHER

    @abstractmethod
    def value(self, anonymity: Anonymity, sensitive: str) -> float:
        """The value of the criterion; the *sensitive* attribute counts if the criterion is `of_values`."""


criteria: Registry[Criterion] = Registry("criterion")


def define(
    name: str,
    summary: str,
    value: Callable[[Anonymity, str], float],
    *,
    cites: str,
    limits: str,
    safer: str = HIGHER,
    of_values: bool = False,
) -> None:
    """Enter a criterion without parameters; *summary* is the sentence that lists and help texts show."""
    body = {
        "__doc__": summary,
        "__module__": __name__,
        "safer": safer,
        "of_values": of_values,
        "value": lambda self, anonymity, sensitive: value(anonymity, sensitive),
    }
    criteria.add(name, cites=cites, limits=limits)(type(name, (Criterion,), body))


def key_of(name: str) -> str:
    """The key a criterion has in a document."""
    return name.replace("-", "_")
