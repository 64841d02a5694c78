"""Fingerprints: what tells two inputs apart, the same on every backend."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from tabular.labels import text_of, write_label
from tabular.table import Table


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


def fingerprint_of_mapping(mapping: NDArray[np.int64]) -> str:
    """The SHA-256 of a mapping."""
    digest = hashlib.sha256(b"mapping 1\n")
    _add_numbers(digest, mapping)
    return f"sha256:{digest.hexdigest()}"


def fingerprint_of_table(table: Table) -> str:
    """The SHA-256 of all that a table holds, however its file is written."""
    digest = hashlib.sha256(b"table 1\n")
    _add_texts(digest, table.names)
    for attribute in table.attributes:
        values = ["" if value is None else f"={text_of(value)}" for value in attribute.domain]
        labels = [write_label(attribute, members) for members in table.sets[attribute.name]]
        _add_texts(digest, [attribute.kind, *values, *labels])
        _add_numbers(digest, table.columns[attribute.name])
    return f"sha256:{digest.hexdigest()}"


def _add_texts(digest: hashlib._Hash, texts: Iterable[str]) -> None:
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    # With the lengths before them, no two lists of texts read the same.
    _add_numbers(digest, np.array([len(part) for part in parts], dtype=np.int64))
    digest.update(b"".join(parts))


def _add_numbers(digest: hashlib._Hash, numbers: NDArray[np.integer]) -> None:
    digest.update(np.array(numbers.shape, dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(numbers, dtype="<i8").tobytes())
