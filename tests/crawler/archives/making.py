"""Archives for tests, made as their networks make them."""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class Link(bytes):
    """The name of a block, as a link to it."""


def cbor(value: Any) -> bytes:
    """A value as DAG-CBOR: the shortest heads, keys by length and then by their bytes, links with the tag 42."""
    match value:
        case None:
            return b"\xf6"
        case bool():
            return b"\xf5" if value else b"\xf4"
        case int():
            return head(0, value) if value >= 0 else head(1, -1 - value)
        case Link():
            return b"\xd8\x2a" + cbor(b"\0" + bytes(value))
        case bytes():
            return head(2, len(value)) + value
        case str():
            return head(3, len(value.encode())) + value.encode()
        case list() | tuple():
            return head(4, len(value)) + b"".join(map(cbor, value))
        case dict():
            keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
            return head(5, len(value)) + b"".join(cbor(key) + cbor(value[key]) for key in keys)
    raise TypeError(value)


def head(kind: int, size: int) -> bytes:
    if size < 24:
        return bytes([kind << 5 | size])
    for more, form in ((24, ">B"), (25, ">H"), (26, ">I"), (27, ">Q")):
        if size < 1 << 8 * struct.calcsize(form):
            return bytes([kind << 5 | more]) + struct.pack(form, size)
    raise ValueError(size)


def varint(size: int) -> bytes:
    found = b""
    while size >= 0x80:
        found, size = found + bytes([size & 0x7F | 0x80]), size >> 7
    return found + bytes([size])


def block(value: Any) -> tuple[Link, bytes]:
    data = cbor(value)
    return Link(b"\x01\x71\x12\x20" + hashlib.sha256(data).digest()), data


def tree(records: Sequence[tuple[str, Link]], fanout: int = 3) -> tuple[Link, list[tuple[Link, bytes]]]:
    """A search tree over records in order: some keys in this node, and those between them in nodes below."""
    if len(records) <= fanout:
        chosen, below = list(range(len(records))), []
    else:
        step = len(records) // (fanout + 1)
        chosen = [step * (each + 1) for each in range(fanout)]
        below = list(zip([-1, *chosen], [*chosen, len(records)], strict=True))
    blocks: list[tuple[Link, bytes]] = []
    subtrees: list[Link | None] = []
    for low, high in below or [(0, 1)] * (len(chosen) + 1):
        inner = records[low + 1 : high] if below else []
        if inner:
            link, inside = tree(inner, fanout)
            blocks += inside
        subtrees.append(link if inner else None)
    entries, before = [], b""
    for position, chosen_one in enumerate(chosen):
        key = records[chosen_one][0].encode()
        shared = next((n for n, (a, b) in enumerate(zip(key, before)) if a != b), min(len(key), len(before)))  # noqa: B905
        entries.append({"p": shared, "k": key[shared:], "v": records[chosen_one][1], "t": subtrees[position + 1]})
        before = key
    link, data = block({"l": subtrees[0], "e": entries})
    return link, [*blocks, (link, data)]


def car(root: Link, blocks: Sequence[tuple[bytes, bytes]]) -> bytes:
    header = cbor({"version": 1, "roots": [root]})
    sections = (varint(len(cid) + len(data)) + cid + data for cid, data in blocks)
    return varint(len(header)) + header + b"".join(sections)


def repository(did: str, records: Mapping[str, Any], **commit: Any) -> bytes:
    """The CAR file of a repository with records by their keys."""
    named = [(key, *block(value)) for key, value in sorted(records.items())]
    root_of_tree, nodes = tree([(key, link) for key, link, _ in named])
    made = {"did": did, "version": 3, "data": root_of_tree, "rev": "3kabc", "prev": None, "sig": b"\0" * 64, **commit}
    link, data = block(made)
    return car(link, [(link, data), *nodes, *((cid, body) for _, cid, body in named)])


def zipped(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return path


def ytd(name: str, records: Sequence[Any], part: int = 0) -> str:
    """A file of an X archive."""
    return f"window.YTD.{name}.part{part} = {json.dumps(records, indent=2)}"


def lines(*records: Any) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in records).encode()
