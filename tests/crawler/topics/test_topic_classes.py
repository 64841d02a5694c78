"""The written mapping from classes of labelled texts to the eighteen topics."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from graphpriv.topics import TOPICS

SETS = tomllib.loads((Path(__file__).parents[3] / "benchmarks" / "topic_classes.toml").read_text())


@pytest.mark.parametrize(("name", "classes"), [("ag_news", 4), ("reuters10", 10), ("tweettopicxl", 19)])
def test_every_class_has_one_to_three_topics_and_a_reason(name, classes):
    assert len(SETS[name]) == classes
    for each in SETS[name].values():
        assert 1 <= len(each["topics"]) <= 3
        assert set(each["topics"]) <= set(TOPICS) - {"Other"}
        assert each["because"]
