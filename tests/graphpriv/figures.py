"""The worked example of the thesis: the graph of Figures 6.5 to 6.8 and the tree of Figure 6.2."""

from __future__ import annotations

import numpy as np

from graphpriv.graph import SocialGraph
from graphpriv.places import WORLD, Path, PlaceTree

ABOVE: Path = (("North America", "continent"), WORLD)
UNITED_STATES: Path = (("United States", "country"), *ABOVE)
WASHINGTON: Path = (("Washington DC", "locality"), *UNITED_STATES)
NEW_YORK_STATE: Path = (("New York", "administrative_area_level_1"), *UNITED_STATES)
NEW_YORK_CITY: Path = (("New York City", "locality"), *NEW_YORK_STATE)
BROOKLYN: Path = (("Brooklyn", "sublocality"), *NEW_YORK_CITY)
MANHATTAN: Path = (("Manhattan", "sublocality"), *NEW_YORK_CITY)
CENTRAL_PARK: Path = (("Central Park", "natural_feature"), *NEW_YORK_CITY)

PLACES = PlaceTree.from_paths([WASHINGTON, BROOKLYN, MANHATTAN, CENTRAL_PARK])

TOPICS_OF_FIGURE = (
    ("Politics", "Technology_Internet", "Entertainment_Culture"),
    ("Technology_Internet", "Sports", "Religion_Belief"),
    ("Technology_Internet", "Politics", "Weather"),
)


def figure_6_5(*, masked: bool = False) -> SocialGraph:
    """u1, u2 and u3 of Figure 6.5 with the edges u2-u1 and u2-u3, before and after."""
    places = [UNITED_STATES] * 3 if masked else [WASHINGTON, UNITED_STATES, NEW_YORK_CITY]
    topics = [("Technology_Internet", "Politics", "Sports")] * 3 if masked else TOPICS_OF_FIGURE
    graph, _ = SocialGraph.build(
        ["u1", "u2", "u3"],
        np.array([1, 1], dtype=np.int32),
        np.array([0, 2], dtype=np.int32),
        directed=False,
        places=PLACES,
        location=np.array([PLACES.node(path) for path in places], dtype=np.int32),
        topics=topics,
    )
    return graph
