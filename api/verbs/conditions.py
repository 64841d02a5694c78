"""Conditions on the numbers of a result, such as `fail_if` takes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any

from tabular.errors import InvalidParameter, UnknownName, named

_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def holds(
    expression: str | None, document: Mapping[str, Any], doubts: Mapping[str, tuple[float, float]] | None = None
) -> bool:
    """Whether *expression* is true of the numbers of *document*; none never is.

    Numbers are named by their path, a part that is no plain word in brackets (`candidates.ego.all["2-4"]`);
    comparisons are joined by `and`, `or`, `not`. Of numbers that are not known exactly *doubts* says between what they
    lie: the condition holds if it holds at one of these ends, since it names what must not be.

    >>> holds("disclosure_risk.ego.all > 0.05 or k < 5", {"k": 5, "disclosure_risk": {"ego": {"all": 0.2}}})
    True
    """
    return expression is not None and True in _answers(expression, document, doubts)


def hangs_on(
    expression: str | None, document: Mapping[str, Any], doubts: Mapping[str, tuple[float, float]]
) -> str | None:
    """The first number whose *doubts* leave open whether *expression* is true; none if it is known."""
    if expression is None or len(_answers(expression, document, doubts)) < 2:
        return None
    return _doubtful(parse(expression), doubts)[0]


def _doubtful(tree: ast.expr, doubts: Mapping[str, tuple[float, float]]) -> list[str]:
    return sorted({".".join(_path(each) or ()) for each in ast.walk(tree)} & set(doubts))


def _answers(
    expression: str, document: Mapping[str, Any], doubts: Mapping[str, tuple[float, float]] | None
) -> set[bool]:
    tree, bounds = parse(expression), doubts or {}
    doubtful = _doubtful(tree, bounds)
    answers = set()
    for values in product(*(bounds[path] for path in doubtful)):
        number_of = partial(_value, expression, document, dict(zip(doubtful, values, strict=True)))
        answers.add(_truth(tree, number_of))
    return answers


def check_names(expression: str | None, paths: Iterable[str | Sequence[str]]) -> None:
    """Refuse, before any work is done, what cannot be read, and numbers that are at none of the *paths*.

    A path is a list of keys, or a text with dots between them.
    """
    sample: dict[str, Any] = {}
    for path in (each.split(".") if isinstance(each, str) else each for each in paths):
        part = sample
        for step in path[:-1]:
            part = part.setdefault(step, {})
        part[path[-1]] = 0.0
    holds(expression, sample)


def parse(expression: str) -> ast.expr:
    """The expression as a tree; refused before any work is done where it cannot be read."""
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
        _truth(tree, _readable)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidParameter(
            f"{named('fail_if')} {expression!r} cannot be read; compare numbers of the result, as in 'k < 5', with "
            "dots in nested names, as in 'disclosure_risk.ego.all > 0.05', and join comparisons by and, or, not."
        ) from None
    return tree


def _truth(node: ast.expr, number_of: Callable[[ast.expr], float]) -> bool:
    match node:
        case ast.BoolOp(op=op, values=parts):
            # Every part is read, so that a name that does not exist is an error and not a matter of order.
            answers = [_truth(part, number_of) for part in parts]
            return all(answers) if isinstance(op, ast.And) else any(answers)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _truth(operand, number_of)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(each) in _COMPARISONS for each in ops):
            numbers = [number_of(each) for each in (left, *others)]
            return all(_COMPARISONS[type(op)](*two) for op, two in zip(ops, pairwise(numbers), strict=True))
    raise SyntaxError


def _readable(node: ast.expr) -> float:
    if _number(node) is None and _path(node) is None:
        raise SyntaxError
    return 0.0


def _value(expression: str, document: Mapping[str, Any], instead: Mapping[str, float], node: ast.expr) -> float:
    """The number that a *node* is, or that stands at its path in the document; *instead* has others for some paths."""
    number = _number(node)
    if number is not None:
        return number
    found: Any = document
    path = _path(node) or []
    for depth, part in enumerate(path):
        if not isinstance(found, Mapping) or part not in found:
            known = map(str, found) if isinstance(found, Mapping) else ()
            above = ".".join(path[:depth])
            raise UnknownName.among(f"number of the result{' under ' + above if above else ''}", part, known)
        found = found[part]
    found = instead.get(".".join(path), found)
    if isinstance(found, bool) or not isinstance(found, int | float):
        what = "is not known here" if found is None else "is not a number"
        raise InvalidParameter(f"{named('fail_if')} {expression!r}: {'.'.join(path)} {what}.")
    return found


def _number(node: ast.expr) -> float | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return sign * node.value
    return None


def _path(node: ast.AST) -> list[str] | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        elif isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            parts.append(node.slice.value)
        else:
            return None
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else None
