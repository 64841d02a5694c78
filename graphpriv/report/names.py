"""The names of scenarios, attackers and measures in reports of graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SCENARIOS = {
    "location": "Place",
    "topic1": "First topic",
    "topic2": "Second topic",
    "topic3": "Third topic",
    "topics": "All three topics",
    "all": "Place and topics",
}
ATTRIBUTES = {**{name: SCENARIOS[name] for name in ("location", "topic1", "topic2", "topic3")}, "mean": "Mean"}
ATTACKERS = {"ego": "Whole neighbourhood", "subgraph": "Part of it"}
LINKS_ALONE = "Links alone"
BUCKETS = ("1", "2-4", "5-10", "11-20", "more", "0")
STRUCTURE = {
    "degree": "Mean degree",
    "clustering": "Clustering",
    "path_length": "Mean path length",
    "diameter": "Diameter",
}
#: Each kind of risk: where it stands, where it stands for links alone, its name and what it says.
RISKS = (
    ("disclosure_risk", "risk", "Disclosure risk", "share of users for whom the attacker finds a match"),
    ("expected_success", "expected_success", "Expected success", "how often a guess among the matches is right"),
    ("undecided", "undecided", "Undecided", "share of users for whom the search used up its budget"),
)

#: What can lie between two bounds.
BOUNDS = {
    "disclosure_risk": "Disclosure risk",
    "expected_success": "Expected success",
    "one_candidate": "Share of users with one candidate",
}

#: Why a lower loss may come with a higher risk.
TELLING = "Profiles that say more let neighbours be recognised more often; a protection of edges is what closes that."


def ways_of(document: Mapping[str, Any]) -> list[tuple[str, Sequence[Any]]]:
    """The methods that a sweep has tried, by name, with the rows of each; one tried twice is told by its parameters.

    >>> ways_of({"parameters": {"method": "a"}, "rows": [], "beside": [{"method": "b", "rows": []}]})
    [('a', []), ('b', [])]
    """
    own = document["parameters"]
    tried = [(own["method"], own.get("method_parameters"), document["rows"])]
    tried += [(each["method"], each.get("method_parameters"), each["rows"]) for each in document.get("beside", ())]
    names = [name for name, _, _ in tried]
    return [
        (f"{name}, {' '.join(map(str, given.values()))}" if given and names.count(name) > 1 else name, rows)
        for name, given, rows in tried
    ]


def scenario(name: str) -> str:
    """The name of a scenario; attributes joined by `+` are named one by one."""
    return SCENARIOS.get(name) or " + ".join(SCENARIOS.get(each, each) for each in name.split("+"))


def shorter(shown: str) -> str:
    """The name of a scenario for the head of a narrow column.

    >>> shorter("First topic + Place")
    'Topic 1 + Place'
    """
    for number, ordinal in enumerate(("First", "Second", "Third"), 1):
        shown = shown.replace(f"{ordinal} topic", f"Topic {number}")
    return shown


def knowing(name: str) -> str:
    """What a scenario tells an attacker beside the links."""
    return LINKS_ALONE if name == "structure" else scenario(name)


def attacker(name: str) -> str:
    """The name of an attacker, with its name on the command line."""
    return f"{ATTACKERS[name]} ({name})" if name in ATTACKERS else name


def neighbourhood(name: str) -> str:
    """What an attacker knows of the links around a person."""
    return {"ego": "the whole neighbourhood", "subgraph": "part of the neighbourhood"}.get(name, name)


def bucket(key: str) -> str:
    """A range of how many candidates there are."""
    return {"0": "none", "more": "over 20"}.get(key, key.replace("-", "\u2013"))
