"""Topics of interest: the eighteen of the thesis, and any other string after them."""

from __future__ import annotations

from collections.abc import Iterable

#: Mares Soler (2013), section 6.1: what the categoriser of the thesis could answer, in its order.
TOPICS = (
    "Business_Finance",
    "Disaster_Accident",
    "Education",
    "Entertainment_Culture",
    "Environment",
    "Health_Medical_Pharma",
    "Hospitality_Recreation",
    "Human Interest",
    "Labor",
    "Law_Crime",
    "Politics",
    "Religion_Belief",
    "Social Issues",
    "Sports",
    "Technology_Internet",
    "Weather",
    "War_Conflict",
    "Other",
)

#: How many topics a profile has.
RANKS = 3

#: The code of an empty topic.
EMPTY = -1

_POSITION = {name: position for position, name in enumerate(TOPICS)}


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """The distinct *names*, the thesis's topics first in its order, all others after them by name.

    >>> in_order(["Weather", "Chess", "Labor", "Chess"])
    ('Labor', 'Weather', 'Chess')
    """
    return tuple(sorted(set(names), key=lambda name: (_POSITION.get(name, len(TOPICS)), name)))
