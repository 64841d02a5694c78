"""What every measure in the reports means, with its equation in Mares Soler (2013), chapter 6."""

from __future__ import annotations

from tabular.report.kit.markup import Markup, element, join

_PRIME = "\u2032"


def _sub(letter: str, below: str) -> Markup:
    return join(element("i", letter), element("sub", below))


_LINKS, _LINKS_AFTER = _sub("x", "ij"), join(element("i", f"x{_PRIME}"), element("sub", "ij"))

#: Name, where it stands, what it says.
MEASURES: tuple[tuple[str, str, object], ...] = (
    (
        "k",
        "section 6.2.1, Algorithms 13 and 14",
        "The size of the smallest group of users of the release whose profiles (place and three topics, in order) are "
        "equal. It says nothing about links.",
    ),
    (
        "AAMIL, attributes adjacency matrices information loss",
        "eq 6.3 and 6.4",
        join(
            "For each attribute, the links are counted from every value to every value, in the original (",
            _LINKS, ") and in the release (", _LINKS_AFTER, "): Σ|", _LINKS, " \u2212 ", _LINKS_AFTER,
            "| / (2 Σ ", _LINKS, "). A link without direction counts both ways. 0: who is linked with "
            "whom, by value, is as it was.",
        ),
    ),
    (
        "AAMIL, anchored",
        "Figure 6.6",
        "The same with the release's links counted from the user's original value to the neighbour's released value, "
        "as the worked example of the source does. It needs the mapping.",
    ),
    (
        "CDIL, categories distribution information loss",
        "eq 6.5 and 6.6",
        "For each attribute, the differences between how often each value occurs before and after, summed and divided "
        "by twice the number of users.",
    ),
    (
        "DBIL, distance-based information loss",
        "eq 6.7, with the distances of eq 6.1 and 6.2",
        "The mean distance between a user's original and released profile. Places: 0 if equal, the difference of their "
        "levels divided by 7 if one contains the other, else 1. Topics: 0 if equal at the same position, else 1. It "
        "needs the mapping.",
    ),
    ("Mean information loss", "eq 6.8", "The mean of AAMIL, CDIL and DBIL."),
    (
        "Disclosure risk",
        "eq 6.9 and 6.10",
        "The share of users whose original neighbourhood is found around at least one user of the release: the user, "
        "everyone linked with the user, and all links among them, with the attributes of the scenario equal. A match "
        "need not be the true person.",
    ),
    (
        "Whole neighbourhood (ego)",
        "a reading of eq 6.10",
        "The attacker knows the neighbourhood completely: the one in the release must be the same, no more, no less.",
    ),
    (
        "Part of it (subgraph)",
        "a reading of eq 6.10",
        "The attacker knows some of it: the user in the release may have further neighbours.",
    ),
    (
        "Links alone",
        "eq 6.9 without attributes",
        "The same risk when the attacker knows links only.",
    ),
    (
        "Candidates",
        "beyond the source",
        "How many users of the release match one original user. One candidate singles a person out.",
    ),
    (
        "Expected success",
        "beyond the source",
        "The mean over all users of 1 / candidates where the true user is among them, else 0: how often a guess is "
        "right. It needs the mapping.",
    ),
    (
        "Undecided",
        "beyond the source",
        "The share of users whose search ended at the budget of steps. They count neither as found nor as not found; "
        "the true risk lies between the risk and the sum of both.",
    ),
    (
        "Degree, clustering, path length, diameter",
        "section 6.5",
        "Links a user; how often two neighbours of a user are linked; steps between two users who reach each other, on "
        "average and at most.",
    ),
)  # fmt: skip


def definitions() -> Markup:
    """All of them as a list."""
    return element(
        "dl",
        [
            element(
                "div", element("dt", name, " ", element("span", f"({where})", class_="unknown")), element("dd", what)
            )
            for name, where, what in MEASURES
        ],
        class_="definitions",
    )
