"""Fixtures of the doors: the command line run in this process, on a store of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from api.cli import run


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line an error is, or a failure of the test."""
        lines = [line for line in self.err.splitlines() if line.startswith("graphpriv: error: ")]
        assert len(lines) == 1, self.err
        return lines[0].removeprefix("graphpriv: error: ")


@pytest.fixture
def graphpriv(tmp_path, monkeypatch, capsys):
    """Run `graphpriv …` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRAPHPRIV_STORE", raising=False)

    def call(*arguments: object) -> Ended:
        capsys.readouterr()
        code = run([str(each) for each in arguments])
        said = capsys.readouterr()
        return Ended(code, said.out, said.err)

    return call


#: Three users of the thesis's Figure 6.5 and one far away.
SMALL = {
    "directed": True,
    "nodes": [
        {"id": "ann", "location": "Washington DC", "topics": ["Politics", "Technology", "Culture"], "handle": "@ann_x"},
        {"id": "bob", "location": "United States", "topics": ["Technology", "Sports", "Religion"], "handle": "@bob_x"},
        {"id": "cid", "location": "New York City", "topics": ["Technology", "Politics", "Weather"], "handle": "@cid_x"},
        {"id": "dee", "location": None, "topics": ["Sports"], "handle": "@dee_x"},
    ],
    "edges": [
        {"source": "bob", "target": "ann"},
        {"source": "bob", "target": "cid"},
        {"source": "dee", "target": "bob"},
    ],
    "locations": {
        "Washington DC": [
            ["Washington DC", "locality"],
            ["United States", "country"],
            ["North America", "continent"],
            ["world", "world"],
        ],
        "New York City": [
            ["New York City", "locality"],
            ["New York", "administrative_area_level_1"],
            ["United States", "country"],
            ["North America", "continent"],
            ["world", "world"],
        ],
        "United States": [["United States", "country"], ["North America", "continent"], ["world", "world"]],
    },
}


@pytest.fixture
def small(tmp_path):
    """A file with a graph of four users."""
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL))
    return path
