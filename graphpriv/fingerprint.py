"""Fingerprints of graphs, the same on every backend."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph


def fingerprint(graph: SocialGraph) -> str:
    """The SHA-256 of all that a graph holds, in the order of its users."""
    digest = hashlib.sha256(b"graph 1\n")
    digest.update(b"directed\n" if graph.directed else b"undirected\n")
    _add_texts(digest, graph.ids)
    for array in (graph.follows.offsets, graph.follows.targets, graph.location, graph.topics):
        _add_numbers(digest, array)
    _add_texts(digest, graph.places.names)
    _add_texts(digest, graph.places.types)
    _add_numbers(digest, graph.places.parents)
    _add_texts(digest, graph.topic_names)
    for key in sorted(graph.private):
        _add_texts(digest, [key])
        _add_texts(digest, ["" if value is None else f"={value}" for value in graph.private[key]])
    return f"sha256:{digest.hexdigest()}"


def _add_texts(digest: hashlib._Hash, texts: Iterable[str]) -> None:
    """Add a list of texts to a *digest*."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    # With the lengths before them, no two lists of texts read the same.
    _add_numbers(digest, np.array([len(part) for part in parts], dtype=np.int64))
    digest.update(b"".join(parts))


def _add_numbers(digest: hashlib._Hash, numbers: NDArray[np.integer]) -> None:
    """Add an array of numbers with its shape to a *digest*."""
    digest.update(np.array(numbers.shape, dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(numbers, dtype="<i8").tobytes())
