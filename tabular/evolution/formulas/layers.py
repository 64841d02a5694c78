"""Steady-state genetic programming of formulas (Mares Soler 2013, Algorithm 7), in layers of growing depth.

In the thesis deeper trees can end worse than shallower ones (Table 4.15). Here trees of each depth have a layer of
their own with its own chances, from the shallowest up, and the best formula of each layer enters the tournament of the
next. So a run with deeper trees holds the whole run with shallower ones, and cannot end worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tabular.evolution.formulas.grammar import Grammar, Tree
from tabular.evolution.formulas.layer import Breeding, Layer, Member, Worth
from tabular.matrices.formulas import Formula

#: The shallowest layer: the fewest levels that the thesis tries.
SHALLOWEST = 3


class Layers:
    """Formulas that get better from generation to generation; each distinct one is asked for once.

    A generation lies between `ask` and `tell`; the first one is the starting population. Between two generations
    `document` gives all there is to know, and `of_document` goes on from there.
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = tuple(layers)
        self._worths: dict[str, Worth] = {}
        self._trees: list[list[Tree]] = []
        self._losers: list[list[int]] = []
        self._asked: dict[str, Formula] = {}

    @classmethod
    def of(cls, grammar: Grammar, levels: int, breeding: Breeding, rng: np.random.Generator) -> Layers:
        """The layers up to trees of *levels*; the shallower ones draw the same chances whatever *levels* is."""
        seeds = np.random.SeedSequence(rng.integers(0, 2**32, 4).tolist())
        limits = range(min(SHALLOWEST, levels), levels + 1)
        generators = [np.random.default_rng(seed) for seed in seeds.spawn(len(limits))]
        return cls([Layer(grammar, limit, breeding, each) for limit, each in zip(limits, generators, strict=True)])

    @property
    def evaluated(self) -> int:
        """How many distinct formulas were asked for."""
        return len(self._worths)

    @property
    def members(self) -> list[Member]:
        """The formulas of all layers, the best first; of those that are worth the same the shortest."""
        distinct: dict[Worth, Member] = {}
        for member in sorted((each for layer in self.layers for each in layer.members), key=lambda each: each.rank):
            distinct.setdefault(member.worth, member)
        return list(distinct.values())

    def ask(self) -> list[Formula]:
        """The formulas of the next generation that were never seen before."""
        if self.layers[0].members:
            bred = [layer.children() for layer in self.layers]
            self._trees, self._losers = [trees for trees, _ in bred], [losers for _, losers in bred]
        else:
            self._trees = [layer.first_trees() for layer in self.layers]
        formulas = [
            layer.grammar.formula(tree) for layer, each in zip(self.layers, self._trees, strict=True) for tree in each
        ]
        new = {formula.canonical: formula for formula in formulas}
        self._asked = {text: formula for text, formula in new.items() if text not in self._worths}
        return list(self._asked.values())

    def tell(self, worths: Sequence[Worth]) -> None:
        """Take in the worths of what was asked for last; this ends the generation."""
        self._worths.update(zip(self._asked, worths, strict=True))
        born = [
            [self._member(layer, tree) for tree in trees] for layer, trees in zip(self.layers, self._trees, strict=True)
        ]
        if self._losers:
            self._replace(born)
        else:
            for layer, members in zip(self.layers, born, strict=True):
                layer.members = members

    def _replace(self, born: Sequence[Sequence[Member]]) -> None:
        risen: list[Member] = []
        for layer, children, losers in zip(self.layers, born, self._losers, strict=True):
            best = min(layer.members, key=lambda member: member.rank)
            layer.replace(losers, [*children, *risen])
            risen = [best]

    def _member(self, layer: Layer, tree: Tree) -> Member:
        formula = layer.grammar.formula(tree)
        return Member(tree, formula, self._worths[formula.canonical])

    def drop_best(self, percent: float) -> None:
        """Leave out the best of each layer, so many percent of it."""
        for layer in self.layers:
            layer.members.sort(key=lambda member: member.rank)
            del layer.members[: min(int(len(layer.members) * percent / 100), len(layer.members) - 2)]

    def document(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "layers": [layer.document() for layer in self.layers],
            "worths": {text: list(worth) for text, worth in self._worths.items()},
        }

    @classmethod
    def of_document(cls, document: Mapping[str, Any], grammar: Grammar, breeding: Breeding) -> Layers:
        """The layers that `document` gave."""
        layers = cls([Layer.of_document(layer, grammar, breeding) for layer in document["layers"]])
        layers._worths = {text: Worth(*worth) for text, worth in document["worths"].items()}
        return layers
