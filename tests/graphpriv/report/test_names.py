"""Scenarios, attackers and ranges have names that people read; what is not known keeps its own."""

from __future__ import annotations

import pytest

from graphpriv.report import names


@pytest.mark.parametrize(
    ("scenario", "name"),
    [("all", "Place and topics"), ("location+topic1", "Place + First topic"), ("mood+topic2", "mood + Second topic")],
)
def test_a_scenario_is_named_by_its_attributes(scenario, name):
    assert names.scenario(scenario) == name


def test_an_attacker_without_attributes_knows_the_links_alone():
    assert names.knowing("structure") == "Links alone"
    assert names.knowing("topics") == "All three topics"


def test_an_attacker_is_named_with_its_option():
    assert names.attacker("ego") == "Whole neighbourhood (ego)"
    assert names.attacker("later") == names.neighbourhood("later") == "later"


def test_ranges_of_candidates_are_named_from_the_worst_to_none():
    shown = [names.bucket(key) for key in names.BUCKETS]
    assert shown == ["1", "2\u20134", "5\u201310", "11\u201320", "over 20", "none"]
