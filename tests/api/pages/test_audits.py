"""What the page of an audit says of its figures."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from api.pages import audits
from api.pages.audits import Known, holds, knowledge
from tests.api.http.conftest import (  # noqa: F401 (fixtures)
    app,
    auditor,
    callers,
    config,
    custodian,
    graphs,
    make,
    service,
)


@pytest.mark.parametrize(
    ("counted", "promised", "said"),
    [
        (10, 10, "Holds for k 10."),
        (12, 10, "Holds for k 12."),
        (4, 5, "Does not hold for k 5: some profile is shared by 4 only."),
        (1, None, "Does not hold for k 2: some profile is shared by 1 only."),
        (None, 5, "The number of users who share each profile is not known."),
    ],
)
def test_the_verdict_counts_again_what_was_promised(counted, promised, said):
    assert holds(counted, promised) == said


def test_of_several_attackers_the_worst_counts():
    document = {
        "k": 3,
        "users": 200,
        "parameters": {"attackers": ["ego", "subgraph"], "scenarios": ["all"]},
        "undecided": {"ego": {"all": 0.0}, "subgraph": {"all": 0.01}},
        "candidates": {"ego": {"all": {"0": 190, "2-4": 10}},
                       "subgraph": {"all": {"0": 199, "1": 0, "11-20": 1}}},
        "bounds": {"one_candidate": {"ego": {"all": [0.0, 0.0], "structure": [0.25, 0.5]},
                                     "subgraph": {"all": [0.0, 0.01]}}},
        "structure": {"undecided": {"ego": 0.25, "subgraph": None}, "candidates": {"ego": {"1": 50, "0": 150}}},
    }  # fmt: skip
    assert knowledge(document) == [
        Known("Place and topics, no links", 0.0, "3", 0),
        Known("Place and topics, and links", 0.0, "2\u20134", 2),
        Known("Links alone", 0.25, "1", 50),
    ]


def test_what_is_not_known_is_not_said():
    document = {
        "k": None,
        "users": 10,
        "parameters": {"attackers": ["ego"], "scenarios": ["all"]},
        "undecided": {"ego": {"all": 0.0}},
        "candidates": None,
        "bounds": {},
        "structure": {"undecided": {"ego": 0.0}},
    }
    assert knowledge(document) == [
        Known("Place and topics, and links", None, "not known", 0),
        Known("Links alone", None, "not known", 0),
    ]


def test_a_page_that_names_exposed_persons_is_in_the_log(graphs, make, auditor, service, monkeypatch):  # noqa: F811
    document = make("audit", original="people", released="people-v1", at_risk=5)
    document["at_risk"] = [
        {"user": "ann", "attacker": "ego", "scenario": "all", "candidates": 1, "expected_success": 1.0}
    ]
    found = SimpleNamespace(document=document, id="job0", files=())
    monkeypatch.setattr(audits, "latest_audits", lambda: {"people-v1": found})
    monkeypatch.setattr(audits.jobs, "newest", list)
    assert "ann" in auditor.get("/releases/people-v1/audit").text
    (entry,) = service.log.entries(limit=1)
    assert (entry.account, entry.action, entry.object) == ("auditor", "exposed users", "people")
    document["at_risk"] = []
    auditor.get("/releases/people-v1/audit")
    assert service.log.end()[0] == entry.number
