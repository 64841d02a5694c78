"""Fingerprints of graphs, the same on every backend."""

from __future__ import annotations

import hashlib

from graphpriv.graph import SocialGraph
from tabular.release.fingerprint import add_numbers, add_texts


def fingerprint(graph: SocialGraph) -> str:
    """The SHA-256 of all that a graph holds, in the order of its users."""
    digest = hashlib.sha256(b"graph 1\n")
    digest.update(b"directed\n" if graph.directed else b"undirected\n")
    add_texts(digest, graph.ids)
    for array in (graph.follows.offsets, graph.follows.targets, graph.location, graph.topics):
        add_numbers(digest, array)
    add_texts(digest, graph.places.names)
    add_texts(digest, graph.places.types)
    add_numbers(digest, graph.places.parents)
    add_texts(digest, graph.topic_names)
    for key in sorted(graph.private):
        add_texts(digest, [key])
        add_texts(digest, ["" if value is None else f"={value}" for value in graph.private[key]])
    return f"sha256:{digest.hexdigest()}"
