"""The page on Python: its code runs, shows what it says, and lists the public names."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

GUIDE = Path(__file__).parent.parent / "docs" / "python.md"

#: Each block of code, and the output below it if there is one.
BLOCKS = re.findall(
    r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL
)


def shown(code, names):
    """What a notebook would print below the cell: its last line, if it is an expression."""
    body = ast.parse(code).body
    last = ast.Expression(body.pop().value) if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "<guide>", "exec"), names)
    return None if last is None else repr(eval(compile(last, "<guide>", "eval"), names))


def test_the_code_of_the_page_shows_what_the_page_says(monkeypatch):
    seeded = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=1: seeded(seed))
    names = {}
    for code, output in BLOCKS:
        assert (shown(code, names) or "") == output.rstrip("\n"), code
    assert "name" not in names["released"] and len(names["released"]) == 1000
    assert names["protected"].number_of_edges() == names["network"].number_of_edges()
    assert not set(names["protected"]) & set(map(str, names["network"]))


def test_a_story_takes_five_lines():
    stories = [code for code, _ in BLOCKS if re.search(r"^from (tabular|graphpriv)", code, flags=re.MULTILINE)]
    assert len(stories) == 4
    assert all(len(re.sub(r"^from .*\n", "", code, flags=re.MULTILINE).strip().splitlines()) <= 5 for code in stories)


def listed_names():
    listing = GUIDE.read_text(encoding="utf-8").split("## Public names")[1]
    return {
        package: re.findall(r"`(\w+)`", " ".join(re.findall(r"^- (.*?):", part, flags=re.MULTILINE)))
        for package, part in re.findall(r"^`([\w.]+)`\n\n((?:- .*\n)+)", listing, flags=re.MULTILINE)
    }


@pytest.mark.parametrize("package", listed_names())
def test_the_page_lists_the_public_names_and_all_are_there(package):
    module, listed = import_module(package), listed_names()[package]
    assert sorted(listed) == sorted(module.__all__)
    assert all(getattr(module, name) is not None for name in listed)


def test_the_page_lists_the_public_packages():
    import tabular

    packages = {f"tabular.{name}" for name in tabular.__all__ if name.islower()}
    assert {"tabular", *packages, "graphpriv", "graphpriv.store", "graphpriv.formats"} <= set(listed_names())
