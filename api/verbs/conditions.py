"""Conditions on the numbers of a result, such as `fail_if` takes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, cast

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
    expression: str, document: Mapping[str, Any], doubts: Mapping[str, tuple[float, float]] | None = None
) -> bool:
    """Whether *expression* is true of the numbers of *document*.

    Numbers are named by their path, a part that is no plain word in brackets (`candidates.ego.all["2-4"]`);
    comparisons are joined by `and`, `or`, `not`. Of numbers that are not known exactly *doubts* says between what they
    lie; where the answer hangs on that, it is an error.

    >>> holds("disclosure_risk.ego.all > 0.05 or k < 5", {"k": 5, "disclosure_risk": {"ego": {"all": 0.2}}})
    True
    """
    tree = parse(expression)
    doubtful = sorted({path for path in _named(tree) if path in (doubts or {})})
    answers = {
        _evaluate(tree, expression, _with(document, dict(zip(doubtful, values, strict=True))))
        for values in product(*((doubts or {})[path] for path in doubtful))
    }
    if len(answers) > 1:
        low, high = (doubts or {})[doubtful[0]]
        raise InvalidParameter(
            f"{named('fail_if')} {expression!r}: it is not known whether this holds. {doubtful[0]} is between "
            f"{low:.4f} and {high:.4f}, since some users were left undecided. Raise {named('steps')}."
        )
    return answers.pop()


def _named(node: ast.expr) -> Iterator[str]:
    for each in ast.walk(node):
        path = _path(each) if isinstance(each, ast.expr) else None
        if path is not None:
            yield ".".join(path)


def _with(document: Mapping[str, Any], values: Mapping[str, float], above: str = "") -> dict[str, Any]:
    """The *document* with other *values* at some paths."""
    return {
        key: _with(value, values, f"{above}{key}.")
        if isinstance(value, Mapping)
        else values.get(f"{above}{key}", value)
        for key, value in document.items()
    }


def check_names(expression: str, paths: Iterable[str | Sequence[str]]) -> None:
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
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(expression) from None
    _check(tree, expression)
    return tree


def _check(node: ast.expr, expression: str) -> None:
    match node:
        case ast.BoolOp(values=parts):
            for part in parts:
                _check(part, expression)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            _check(operand, expression)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(each) in _COMPARISONS for each in ops):
            for part in (left, *others):
                if _number(part) is None and _path(part) is None:
                    raise _unreadable(expression)
        case _:
            raise _unreadable(expression)


def _evaluate(node: ast.expr, expression: str, document: Mapping[str, Any]) -> bool:
    if isinstance(node, ast.BoolOp):
        join = all if isinstance(node.op, ast.And) else any
        # Every part is read, so that a name that does not exist is an error and not a matter of order.
        return join([_evaluate(part, expression, document) for part in node.values])
    if isinstance(node, ast.UnaryOp):
        return not _evaluate(node.operand, expression, document)
    # `_check` lets nothing else through.
    comparison = cast(ast.Compare, node)
    values = [_value(part, expression, document) for part in (comparison.left, *comparison.comparators)]
    return all(_COMPARISONS[type(op)](*two) for op, two in zip(comparison.ops, pairwise(values), strict=True))


def _value(node: ast.expr, expression: str, document: Mapping[str, Any]) -> float:
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
    if isinstance(found, bool) or not isinstance(found, int | float):
        what = "cannot be known here" if found is None else "is no number"
        raise InvalidParameter(f"{named('fail_if')} {expression!r}: {'.'.join(path)} {what}.")
    return found


def _number(node: ast.expr) -> float | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return sign * node.value
    return None


def _path(node: ast.expr) -> list[str] | None:
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


def _unreadable(expression: str) -> InvalidParameter:
    return InvalidParameter(
        f"{named('fail_if')} {expression!r} cannot be read; compare numbers of the result, as in 'k < 5', with dots in "
        "nested names, as in 'disclosure_risk.ego.all > 0.05', and join comparisons by and, or, not."
    )
