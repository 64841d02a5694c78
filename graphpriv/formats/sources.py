"""The bytes of a graph file, unpacked if they are packed, and what goes into one."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.places import UNKNOWN, PlaceTree
from tabular.errors import InvalidInput
from tabular.files.disk import read_bytes

GZIP = b"\x1f\x8b"

#: Text shrinks to a tenth or so; what grows a thousandfold is made to fill the memory.
MOST_GROWTH = 300
ALWAYS_ALLOWED = 1 << 26


def content(path: Path) -> bytes:
    """The content of a file, unpacked if it is a gzip file; a file that is empty is none."""
    data = read_bytes(path)
    if data[:2] == GZIP:
        data = _unpacked(data, path)
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InvalidInput(f"{path}: the file is empty.")
    return data


def _unpacked(data: bytes, path: Path) -> bytes:
    most = max(ALWAYS_ALLOWED, MOST_GROWTH * len(data))
    parts: list[bytes] = []
    size = 0
    try:
        # A gzip file may have several members, one after the other.
        while data[:2] == GZIP:
            member = zlib.decompressobj(wbits=31)
            parts.append(member.decompress(data, most - size + 1))
            size += len(parts[-1])
            if size > most:
                raise InvalidInput(f"{path}: unpacked, the file is more than {most >> 20} MiB; unpack it first.")
            if not member.eof:
                raise InvalidInput(f"{path}: the gzip file ends too early.")
            data = member.unused_data
    except zlib.error as error:
        raise InvalidInput(f"{path}: this is not a sound gzip file ({error}).") from None
    return b"".join(parts)


def places_that_occur(graph: SocialGraph) -> tuple[PlaceTree, NDArray[np.int32]]:
    """The tree of the places that users have and what lies above them, and the users' places in it.

    A place of nobody, say of a person who was forgotten, does not go into a file.
    """
    tree, moved = graph.places.restricted(np.unique(graph.location).tolist())
    return tree, np.append(moved, np.int32(UNKNOWN))[graph.location]
