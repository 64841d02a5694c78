"""The page on Python: its code runs, shows what it says, and lists the public names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

TOP = Path(__file__).parent.parent
GUIDE = TOP / "docs" / "python.md"

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


@pytest.mark.parametrize("package", ["tabular", "graphpriv", "tabular.lattice"])
def test_a_package_is_quick_to_import_and_offers_its_names_for_completion(package):
    code = (
        "import sys; from importlib import import_module; module = import_module(sys.argv[1]); "
        "assert sorted(module.__all__) == dir(module); print(*{name.partition('.')[0] for name in sys.modules})"
    )
    ended = subprocess.run([sys.executable, "-c", code, package], capture_output=True, text=True, cwd=TOP)
    assert ended.returncode == 0, ended.stderr
    assert not {"numpy", "pandas", "networkx", "numba", "pyarrow", "jinja2"} & set(ended.stdout.split())


@pytest.mark.parametrize("package", ["tabular", "graphpriv", "tabular.lattice"])
def test_a_name_that_a_package_lacks_is_said_to_be_lacking(package):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Tables'"):
        import_module(package).Tables  # noqa: B018


def test_frames_are_made_only_when_somebody_asks():
    code = (
        "import sys, numpy; from tabular import Masking, Table; table = Table.from_columns({'a': [1, 2] * 50}); "
        "found = Masking(method='rank-swapping', columns=('a',)).run(table, rng=numpy.random.default_rng()); "
        "assert 'pandas' not in sys.modules; found.to_frame(); assert 'pandas' in sys.modules"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=TOP)
    assert ended.returncode == 0, ended.stderr


def test_types_are_known_to_who_uses_the_library():
    command = [sys.executable, "-m", "mypy", "--strict", "tests/notebook_with_types.py"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=TOP)
    assert ended.returncode == 0, ended.stdout
