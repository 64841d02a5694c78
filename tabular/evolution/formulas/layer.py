"""Formulas of limited depth: one tournament, its winners' children, and what they replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tabular.evolution.contract import generator_document, generator_of
from tabular.evolution.formulas.grammar import Grammar, Tree
from tabular.evolution.formulas.trees import crossed, half_and_half, mutated
from tabular.matrices.formulas import Formula


class Worth(NamedTuple):
    """What a formula is worth: the loss that is made small, and the loss of information and the risk behind it.

    One that may not be released is worth less than any that may, whatever it loses.
    """

    loss: float
    information_loss: float
    disclosure_risk: float
    refused: bool = False


@dataclass(frozen=True)
class Member:
    """A formula with the tree that it was made of, and its worth."""

    tree: Tree
    formula: Formula
    worth: Worth

    @property
    def rank(self) -> tuple[bool, float, int, str]:
        """The better, the lower: of two that are worth the same the shorter is better."""
        return self.worth.refused, self.worth.loss, len(self.formula.elements), self.formula.canonical


@dataclass(frozen=True, kw_only=True)
class Breeding:
    """How formulas are bred: how many there are, how many meet in a tournament, and how often winners are crossed."""

    size: int = 100
    tournament: int = 16
    crossover: float = 0.5


@dataclass
class Layer:
    """Formulas of *levels* at most, and the generator that all their chances are drawn from."""

    grammar: Grammar
    levels: int
    breeding: Breeding
    rng: np.random.Generator
    members: list[Member] = field(default_factory=list)

    def first_trees(self) -> list[Tree]:
        """The trees to begin with."""
        return half_and_half(self.grammar, self.levels, self.breeding.size, self.rng)

    def children(self) -> tuple[list[Tree], list[int]]:
        """The children of a tournament's winners, and the places of its losers."""
        taking_part = self.rng.choice(
            len(self.members), size=min(self.breeding.tournament, len(self.members)), replace=False
        )
        by_rank = sorted(taking_part.tolist(), key=lambda place: self.members[place].rank)
        half = (len(by_rank) + 1) // 2
        winners = [self.members[place].tree for place in by_rank[:half]]
        return self._offspring(winners), by_rank[half:]

    def _offspring(self, winners: Sequence[Tree]) -> list[Tree]:
        """Algorithm 7 crosses all winners or mutates them all; one that is left over is mutated."""
        if self.rng.random() >= self.breeding.crossover:
            return [mutated(self.grammar, tree, self.levels, self.rng) for tree in winners]
        pairs = zip(winners[::2], winners[1::2], strict=False)
        children = [child for pair in pairs for child in crossed(self.grammar, *pair, self.levels, self.rng)]
        left_over = winners[len(winners) - len(winners) % 2 :]
        return [*children, *(mutated(self.grammar, tree, self.levels, self.rng) for tree in left_over)]

    def replace(self, losers: Sequence[int], children: Sequence[Member]) -> None:
        """Put the best child in the place of the worst loser if it is better, and so on.

        A child that is worth exactly what a member is worth says nothing new: it can only replace that one, if it is
        shorter.
        """
        worst_first = sorted(losers, key=lambda place: self.members[place].rank, reverse=True)
        for child in sorted(children, key=lambda each: each.rank):
            place = self._same(child)
            if place is None:
                place = worst_first.pop(0) if worst_first else None
            if place is not None and child.rank < self.members[place].rank:
                self.members[place] = child
                worst_first = [other for other in worst_first if other != place]

    def _same(self, child: Member) -> int | None:
        """The place of a member that is worth what *child* is."""
        return next((place for place, member in enumerate(self.members) if member.worth == child.worth), None)

    def document(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "levels": self.levels,
            "rng": generator_document(self.rng),
            "members": [[list(member.tree), *member.worth] for member in self.members],
        }

    @classmethod
    def of_document(cls, document: Mapping[str, Any], grammar: Grammar, breeding: Breeding) -> Layer:
        """The layer that `document` gave."""
        members = [
            Member(tuple(tree), grammar.formula(tuple(tree)), Worth(*worth)) for tree, *worth in document["members"]
        ]
        return cls(grammar, document["levels"], breeding, generator_of(document["rng"]), members)
