"""The names of scenarios, attackers and measures in reports of graphs."""

from __future__ import annotations

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
