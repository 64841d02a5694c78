"""A seal beside each graph: a digest of all that it holds, by which a content that changed behind the store is noticed.

A disk that turns a bit in a handle leaves a file that every count fits. The digest is keyed with a salt of its own,
so that no two seals of one graph are alike and it is no fingerprint of persons. It goes with every change of the graph;
whoever puts a graph in whole makes it, and so does the next check, or backup, where there is none. What leads from a
release back to its original has a seal of its own, since a person who is forgotten goes from there; and so has what is
noted of a graph (its name, the k of a release, the work done on it), since every run adds to that.

What is kept of a crawl changes at every step. Its seal is a sum of marks, one a record, from which each change takes
out the marks of what goes and puts in those of what comes; so it is there at all times.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.places import PlaceTree
from graphpriv.store.crawls import ONLY, SEAL
from graphpriv.store.records import Copy, Post, Record, Run
from graphpriv.store.summary import Piece

#: The pieces that hold the seals of a graph with its posts, of what leads back from it, of what is noted of it, and of
#: its figures; beside those of a summary.
OF_GRAPH, OF_LINKS_BACK, OF_NOTES, OF_FIGURES = 1, 2, 3, 4

_SALT, _SUM = 16, 32


def seal(content: bytes) -> bytes:
    """The seal of a *content*, given as a digest; another one each time."""
    salt = secrets.token_bytes(_SALT)
    return salt + hmac.digest(salt, content, "sha256")


def fits(sealed: bytes, content: bytes) -> bool:
    """Whether a seal is of this *content*."""
    return hmac.compare_digest(sealed[_SALT:], hmac.digest(sealed[:_SALT], content, "sha256"))


def sealed(copy: Copy) -> Piece:
    """The seal of a graph on its way into a store."""
    return OF_GRAPH, seal(content_of(copy.graph, copy.posts))


def content_of(graph: SocialGraph, posts: Iterable[Post]) -> bytes:
    """A digest of a graph and its posts, the same however places and topics are numbered."""
    digest = hashlib.sha256(b"directed" if graph.directed else b"undirected")
    places, topics = [*_paths(graph.places)], [*graph.topic_names]
    columns = [("ids", graph.ids), *((key, graph.private[key]) for key in sorted(graph.private))]
    for name, texts in (*columns, ("places", sorted(places)), ("topics", sorted(topics))):
        digest.update(f"\n{name} {len(texts)}\n".encode())
        digest.update(json.dumps(list(texts)).encode())
    for numbers in (graph.follows.offsets, graph.follows.targets, _codes(places)[graph.location]):
        _add(digest, numbers)
    _add(digest, _codes(topics)[graph.topics])
    for post in posts:
        digest.update(json.dumps([post.id, post.user, post.text, post.links, post.created]).encode() + b"\n")
    return digest.digest()


def content_of_links_back(matches: NDArray[np.int64] | Sequence[Sequence[int]], seed: int | None) -> bytes:
    """A digest of a mapping, as numbers of users and positions in the release, and of the seed."""
    digest = hashlib.sha256(str(seed).encode())
    rows = np.array(matches, dtype=np.int64).reshape(-1, 2)
    _add(digest, rows[np.argsort(rows[:, 0], kind="stable")])
    return digest.digest()


def content_of_notes(noted: Sequence[object], runs: Iterable[Run]) -> bytes:
    """A digest of what is noted of a graph, and of the work done on it."""
    # What is damaged may be no text.
    content = json.dumps([list(noted), [run.record for run in runs]], default=repr)
    return hashlib.sha256(content.encode()).digest()


def content_of_figures(figures: bytes) -> bytes:
    """A digest of the figures of a graph as they are kept."""
    return hashlib.sha256(figures).digest()


def _add(digest: hashlib._Hash, numbers: NDArray[np.integer]) -> None:
    digest.update(repr(numbers.shape).encode() + np.ascontiguousarray(numbers, dtype="<i8").tobytes())


def sealed_links_back(mapping: NDArray[np.int64], numbers: NDArray[np.int64], seed: int | None) -> Piece:
    """The seal of a *mapping*, which leads users with these *numbers* to positions, and of the seed."""
    kept = mapping >= 0
    matches = np.stack([numbers[kept], mapping[kept]], axis=1)
    return OF_LINKS_BACK, seal(content_of_links_back(matches, seed))


#: No count that a store can hold is less.
_LEAST = -(2**63)


def sealed_records(records: Iterable[Record]) -> list[Record]:
    """The seal of the records of a crawl; none where there are none."""
    made = resealed(None, (), records)
    return [made] if made.number else []


def resealed(before: Record | None, gone: Iterable[Record], come: Iterable[Record]) -> Record:
    """The seal of records of which some are *gone* and others have *come* since the one *before*."""
    data = before.data if before else secrets.token_bytes(_SALT) + bytes(_SUM)
    salt, total, count = data[:_SALT], int.from_bytes(data[_SALT : _SALT + _SUM]), before.number if before else 0
    for records, step in ((gone, -1), (come, 1)):
        for each in records:
            total ^= int.from_bytes(_mark(salt, each))
            count += step
    # A count that somebody damaged stays wrong, and one that a store can hold.
    return Record(SEAL, ONLY, salt + total.to_bytes(_SUM), max(count, _LEAST))


def fit(before: Record | None, records: Iterable[Record]) -> bool:
    """Whether a seal is of these *records* and no others."""
    left = resealed(before, records, ())
    return left.number == 0 and not any(left.data[_SALT:])


def _mark(salt: bytes, record: Record) -> bytes:
    named = json.dumps([record.kind, record.id, record.number]).encode()
    return hmac.digest(salt, named + b"\n" + record.data, "sha256")


def _codes(names: Sequence[str]) -> NDArray[np.int64]:
    """A number for each name that depends on the name alone; the last one, for -1, is for none."""
    parts = [hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8] for name in names]
    return np.frombuffer(b"".join([*parts, bytes(8)]), dtype="<i8")


def _paths(tree: PlaceTree) -> Iterator[str]:
    """The path of each place, as one text."""
    found: list[str] = []
    for parent, name, kind in zip(tree.parents.tolist(), tree.names, tree.types, strict=True):
        above = found[parent] if parent >= 0 else ""
        found.append(json.dumps([name, kind]) + above)
        yield found[-1]
