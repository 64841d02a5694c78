"""The contract and registry of categorisers, which say what texts are about."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from tabular.registry import Method, Registry

#: A name among `graphpriv.topics.TOPICS`, and how sure the categoriser is, from 0 to 1.
Topic: TypeAlias = tuple[str, float]

#: The topic of a text that is about none of the others.
OTHER = "Other"


@dataclass(frozen=True, kw_only=True)
class Categoriser(Method):
    """Something that says what texts are about; address and credentials it takes from the environment."""

    #: Another one stands for other answers to the same texts.
    version: ClassVar[str]

    @abstractmethod
    def categorise(self, texts: Sequence[str]) -> list[list[Topic]]:
        """The topics of each text, best first; `Other` alone where none is sure enough."""


categorisers: Registry[Categoriser] = Registry("categoriser")
