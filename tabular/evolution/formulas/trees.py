"""Trees of a grammar: grown at random, mutated and crossed within a number of levels (Mares Soler 2013, 2.2 and 4.2.2).

The root is on level 1, and a terminal alone has one level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular.evolution.formulas.grammar import Grammar, Tree


@dataclass(frozen=True)
class Node:
    """A node: begin and end of its subtree in postorder, its kind, its level, and how many levels the subtree has."""

    begin: int
    end: int
    kind: str
    level: int
    levels: int

    def part_of(self, tree: Tree) -> Tree:
        """The subtree."""
        return tree[self.begin : self.end]

    def replaced(self, tree: Tree, part: Tree) -> Tree:
        """*tree* with *part* where the subtree was."""
        return tree[: self.begin] + part + tree[self.end :]


def nodes(grammar: Grammar, tree: Tree) -> list[Node]:
    """The nodes of *tree* in postorder; the last one is its root."""
    begins: list[int] = []
    heights: list[int] = []
    children: list[list[int]] = []
    levels = [1] * len(tree)
    for place, name in enumerate(tree):
        below, last = [], place - 1
        for _ in grammar.by_name[name].takes:
            below.append(last)
            last = begins[last] - 1
        children.append(below)
        begins.append(last + 1)
        heights.append(1 + max((heights[child] for child in below), default=0))
    for place in reversed(range(len(tree))):
        for child in children[place]:
            levels[child] = levels[place] + 1
    return [
        Node(begins[place], place + 1, grammar.by_name[name].gives, levels[place], heights[place])
        for place, name in enumerate(tree)
    ]


def levels_of(grammar: Grammar, tree: Tree) -> int:
    """How many levels *tree* has."""
    return nodes(grammar, tree)[-1].levels


def grown(grammar: Grammar, kind: str, levels: int, rng: np.random.Generator, *, full: bool, is_root: bool) -> Tree:
    """A random tree of *kind* with *levels* at most, or in each branch if it is *full*; a root is a function."""
    functions, terminals = grammar.functions[kind], grammar.terminals[kind]
    if levels == 1:
        names = terminals
    elif full or is_root:
        names = functions
    else:
        names = functions + terminals
    name = names[int(rng.integers(len(names)))]
    operands = [grown(grammar, each, levels - 1, rng, full=full, is_root=False) for each in grammar.by_name[name].takes]
    return (*(element for operand in operands for element in operand), name)


def half_and_half(grammar: Grammar, levels: int, count: int, rng: np.random.Generator) -> list[Tree]:
    """*count* trees, as many of 1, 2, … up to *levels* levels each, half full and half of any shape (Koza 1992).

    A tree that is there already is grown again, past some tries with another level; few levels have few trees.
    """
    found: dict[Tree, None] = {}
    for number in range(count):
        depth, full = 1 + number // 2 % levels, number % 2 == 0
        for attempt in range(100):
            limit = min(depth + attempt // 10, levels)
            tree = grown(grammar, grammar.root, limit, rng, full=full, is_root=True)
            if tree not in found:
                break
        found[tree] = None
    return list(found)


def mutated(grammar: Grammar, tree: Tree, levels: int, rng: np.random.Generator) -> Tree:
    """*tree* with one of its subtrees grown anew; the whole has *levels* at most."""
    every = nodes(grammar, tree)
    node = every[int(rng.integers(len(every)))]
    room = levels - node.level + 1
    part = grown(grammar, node.kind, int(rng.integers(1, room + 1)), rng, full=False, is_root=True)
    return node.replaced(tree, part)


def crossed(grammar: Grammar, one: Tree, other: Tree, levels: int, rng: np.random.Generator) -> tuple[Tree, Tree]:
    """Both trees with a subtree of each exchanged, of the same kind, so that neither has more than *levels*.

    Where *other* has no subtree that suits the one drawn in *one*, both stay.
    """
    every = nodes(grammar, one)
    here = every[int(rng.integers(len(every)))]
    fitting = [
        there
        for there in nodes(grammar, other)
        if there.kind == here.kind
        and here.level + there.levels - 1 <= levels
        and there.level + here.levels - 1 <= levels
    ]
    if not fitting:
        return one, other
    there = fitting[int(rng.integers(len(fitting)))]
    return here.replaced(one, there.part_of(other)), there.replaced(other, here.part_of(one))
