"""What formulas are grown from: symbols of several kinds, and how a tree of them is written as a formula.

A tree is a tuple of symbols in postorder. In the plain grammar it is the formula itself. In the normalised one a symbol
can stand for several elements, and every tree gives rows of probabilities without being divided by their sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from tabular.matrices.formulas import FUNCTIONS, SAME, TERMINALS, Formula

#: Symbols in postorder, each behind its operands.
Tree: TypeAlias = tuple[str, ...]

VALUE, ROW, WEIGHT = "value", "row", "weight"


@dataclass(frozen=True)
class Symbol:
    """A function or a terminal: the kind that it gives, the kinds of its operands, and how it is written.

    It is written as elements of a formula in postorder, in which a number stands for that operand.
    """

    name: str
    gives: str
    takes: tuple[str, ...]
    written: tuple[str | int, ...]


@dataclass(frozen=True)
class Grammar:
    """The symbols of trees, and the kind that a whole tree has.

    >>> str(NORMALISED.formula(("i=j", "freq_j / N", "N", "freq_i", "mean")))
    '(N * (i=j) + freq_i * (freq_j / N)) / (N + freq_i)'
    """

    root: str
    symbols: tuple[Symbol, ...]

    @cached_property
    def by_name(self) -> dict[str, Symbol]:
        """The symbols by their names."""
        return {symbol.name: symbol for symbol in self.symbols}

    @cached_property
    def functions(self) -> dict[str, tuple[str, ...]]:
        """The functions that give each kind."""
        return {kind: tuple(each.name for each in self._giving(kind) if each.takes) for kind in self._kinds}

    @cached_property
    def terminals(self) -> dict[str, tuple[str, ...]]:
        """The terminals that give each kind."""
        return {kind: tuple(each.name for each in self._giving(kind) if not each.takes) for kind in self._kinds}

    @property
    def _kinds(self) -> set[str]:
        return {symbol.gives for symbol in self.symbols}

    def _giving(self, kind: str) -> list[Symbol]:
        return [symbol for symbol in self.symbols if symbol.gives == kind]

    def formula(self, tree: Tree) -> Formula:
        """The formula that *tree* stands for."""
        stack: list[tuple[str, ...]] = []
        for name in tree:
            symbol = self.by_name[name]
            operands = stack[len(stack) - len(symbol.takes) :]
            del stack[len(stack) - len(symbol.takes) :]
            stack.append(
                tuple(
                    element
                    for part in symbol.written
                    for element in (operands[part] if isinstance(part, int) else (part,))
                )
            )
        return Formula(stack.pop())


def _functions(kind: str, names: str) -> tuple[Symbol, ...]:
    return tuple(Symbol(name, kind, (kind, kind), (0, 1, name)) for name in names)


def _terminals(kind: str, names: tuple[str, ...]) -> tuple[Symbol, ...]:
    return tuple(Symbol(name, kind, (), (name,)) for name in names)


#: Functions and terminals of the thesis.
PLAIN = Grammar(VALUE, (*_functions(VALUE, "".join(FUNCTIONS)), *_terminals(VALUE, TERMINALS)))

#: The same with the diagonal as a terminal.
EXTENDED = Grammar(VALUE, (*PLAIN.symbols, *_terminals(VALUE, (SAME,))))

#: Means of rows that sum to 1, by weights that are positive and the same in a whole row, so that they sum to 1 again:
#: a record keeps its category, or takes one as frequent as that is, and how often it does depends on its own.
NORMALISED = Grammar(
    ROW,
    (
        Symbol("mean", ROW, (ROW, ROW, WEIGHT, WEIGHT), (2, 0, "*", 3, 1, "*", "+", 2, 3, "+", "/")),
        *_terminals(ROW, (SAME,)),
        Symbol("freq_j / N", ROW, (), ("freq_j", "N", "/")),
        *_functions(WEIGHT, "+*/"),
        *_terminals(WEIGHT, tuple(name for name in TERMINALS if name != "freq_j")),
    ),
)

#: The grammars by the names of an option.
GRAMMARS = {"plain": PLAIN, "diagonal": EXTENDED, "normalised": NORMALISED}
