"""Data dictionaries: what each field of a release or of its microdata means, and what is not protected.

They are made from what is released alone, so they hold no value of the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.microdata import HEADER, MISSING, Microdata, ProtectedMicrodata
from graphpriv.places import UNKNOWN, PlaceTree
from graphpriv.topics import EMPTY, RANKS
from tabular.release import table_dictionary
from tabular.table import equivalence_classes, smallest_class

if TYPE_CHECKING:
    from graphpriv.release import Release
    from graphpriv.store.pages import Pages
    from graphpriv.store.records import GraphInfo

#: What the fields of a profile mean, in a release and in a table taken from any graph.
RELEASED = (
    "The closest place above the locations of all users of a cluster; `world` stands above every place.",
    "Topic of interest number {rank} of all users of a cluster, as they elect it (Borda's rule).",
)
TAKEN = (
    "Location of the user in the graph that the table was taken from.",
    "Topic of interest number {rank} of the user in the graph that the table was taken from.",
)
DEGREE = "How many users this one is linked with."
UNKNOWN_MEANS = "The location is unknown; a value of its own."
EMPTY_MEANS = "There is no further topic; a value of its own."

PROTECTED = "Each combination of location and topics is shared by at least k users."
EDGES_STAY = (
    "The edges are those of the original. Who knows how a person is linked may find the person by the links, "
    "whatever k is; an audit says how many can be found."
)
KEYS_ANEW = (
    "A location is called by its name, with what lies above it only where several places of this release have that "
    "name: the same place may be called otherwise in the original or in another release. Compare places by their paths."
)
VALUES_SHARED = (
    "Users who share a profile may share a sensitive value: who knows that a person is among them learns the profile."
)
DEGREES_STAY = "The degree of each user is that of the original; who knows it may tell users of one profile apart."


def release_dictionary(graph: SocialGraph | Pages, origin: Release | GraphInfo) -> dict[str, Any]:
    """The dictionary of a released graph."""
    profiles = list(graph.profiles().T)
    direction = "follows" if graph.directed else "is linked with"
    return {
        "describes": "released graph",
        "k": origin.k,
        "smallest_profile": smallest_class(profiles),
        "method": origin.method,
        "parameters": dict(origin.parameters),
        "users": len(graph),
        "edges": graph.edge_count,
        "directed": graph.directed,
        "distinct_profiles": len(equivalence_classes(profiles).sizes),
        "protected": PROTECTED,
        "not_protected": [EDGES_STAY, VALUES_SHARED],
        "fields": [
            _field("id", "nodes", "text", "Drawn at random for this release; it says nothing of the user."),
            *_profile_fields("nodes", graph.places, graph.location, graph.topic_names, graph.topics, RELEASED, None),
            _field("source", "edges", "id", f"The user who {direction} the other."),
            _field("target", "edges", "id", "The other user."),
            _field(
                "locations",
                "graph",
                "paths",
                "For each location the [name, type] of it and of all places above it, up to world. " + KEYS_ANEW,
            ),
        ],
    }


def microdata_dictionary(table: Microdata | ProtectedMicrodata) -> dict[str, Any]:
    """The dictionary of a table of microdata, as it was taken or as it was masked."""
    if isinstance(table, ProtectedMicrodata):
        return _masked(table)
    return {
        "describes": "microdata",
        "k": table.k,
        "k_without_degree": table.k_without_degree,
        "rows": len(table),
        "order": "Rows stand in random order.",
        "protected": f"Each row occurs at least {table.k} times."
        if table.k > 1
        else "Nothing as a table: a row occurs once.",
        "not_protected": [DEGREES_STAY, VALUES_SHARED],
        "fields": [
            {
                **_field("degree", "columns", "whole number", DEGREE),
                "values": _counted(table.degree, {}),
                "missing": None,
            },
            *_profile_fields("columns", table.places, table.location, table.topic_names, table.topics, TAKEN, MISSING),
        ],
    }


def _masked(protected: ProtectedMicrodata) -> dict[str, Any]:
    titles = {"degree": DEGREE, "location": TAKEN[0]}
    titles |= {f"topic{rank}": TAKEN[1].format(rank=rank) for rank in range(1, RANKS + 1)}
    document = table_dictionary(
        protected.table,
        HEADER,
        method=protected.method,
        parameters=protected.parameters,
        findings=protected.findings(),
        shuffled=True,
        titles=titles,
    )
    return {**document, "describes": "protected microdata"}


def _profile_fields(
    where: str,
    places: PlaceTree,
    location: NDArray[np.int32],
    topic_names: Sequence[str],
    topics: NDArray[np.int32],
    meanings: tuple[str, str],
    missing: str | None,
) -> list[dict[str, Any]]:
    """Location and topics, with the values that occur and how often each does."""
    keys = dict(enumerate(places.keys))
    codes = np.unique(location[location >= 0]).tolist()
    values = [{**each, "type": places.types[node]} for each, node in zip(_counted(location, keys), codes, strict=True)]
    unknown = {"code": missing, "means": UNKNOWN_MEANS, "count": int((location == UNKNOWN).sum())}
    fields = [{**_field("location", where, "place", meanings[0]), "values": values, "missing": unknown}]
    for rank in range(RANKS):
        column = topics[:, rank]
        fields.append(
            {
                **_field(f"topic{rank + 1}", where, "topic", meanings[1].format(rank=rank + 1)),
                "values": _counted(column, dict(enumerate(topic_names))),
                "missing": {"code": missing, "means": EMPTY_MEANS, "count": int((column == EMPTY).sum())},
            }
        )
    return fields


def _field(name: str, where: str, kind: str, meaning: str) -> dict[str, Any]:
    return {"name": name, "in": where, "type": kind, "meaning": meaning}


def _counted(column: NDArray[np.integer], names: Mapping[int, str]) -> list[dict[str, Any]]:
    """The values that occur in a column of codes, each with how often it does."""
    codes, counts = np.unique(column[column >= 0], return_counts=True)
    return [
        {"value": names.get(code, code), "count": count}
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
    ]
