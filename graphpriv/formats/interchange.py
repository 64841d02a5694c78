"""NetworkX graphs in and out of social graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphpriv.formats.contract import Imported
from graphpriv.formats.draft import Draft
from graphpriv.formats.json_text import parsed_json
from graphpriv.formats.sources import places_that_occur
from graphpriv.graph import SocialGraph

if TYPE_CHECKING:
    import networkx as nx


def imported_from_networkx(graph: nx.Graph) -> Imported:
    """The social graph of a NetworkX graph: `location` and `topics` of its nodes, `locations` of the graph.

    It tells of the self-loops and parallel edges that were dropped and the attributes that were not taken.
    """
    draft = Draft("graph", lambda number: f"node {number}", lambda number: f"edge {number}")
    for number, (node, attributes) in enumerate(graph.nodes(data=True)):
        draft.add_user(number, node, {str(name): value for name, value in attributes.items()})
    for number, (source, target, attributes) in enumerate(graph.edges(data=True)):
        draft.add_edge(number, source, target)
        draft.ignored.update(f"{name} (edges)" for name in attributes)
    draft.ignored.update(f"{name} (graph)" for name in graph.graph if name != "locations")
    locations = graph.graph.get("locations")
    if isinstance(locations, str):
        locations = parsed_json(locations, "graph, locations")
    return draft.graph(locations, directed=graph.is_directed(), where="graph, locations")


def to_networkx(graph: SocialGraph) -> nx.Graph:
    """The same graph for NetworkX; a user without a place has the `location` None, an empty topic is None."""
    import networkx as nx

    tree, location = places_that_occur(graph)
    result = nx.DiGraph() if graph.directed else nx.Graph()
    result.graph["locations"] = {key: [list(step) for step in tree.path(node)] for key, node in tree.by_key.items()}
    keys, topics = [*tree.keys, None], [*graph.topic_names, None]
    for user, name in enumerate(graph.ids):
        attributes: dict[str, Any] = {key: column[user] for key, column in graph.private.items()}
        attributes["location"] = keys[location[user]]
        attributes["topics"] = [topics[code] for code in graph.topics[user]]
        result.add_node(name, **attributes)
    sources, targets = graph.edges()
    result.add_edges_from((graph.ids[a], graph.ids[b]) for a, b in zip(sources.tolist(), targets.tolist(), strict=True))
    return result
