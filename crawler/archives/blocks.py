"""CAR files (content addressable archives): blocks of DAG-CBOR that are called by the hash of their bytes.

Every block is hashed again before it is believed, so nothing in a repository is read that its first block does not
stand for. A repository keeps its records in a search tree; it is walked without recursion, and no block twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tabular.errors import InvalidInput

#: A CID of version 1, with SHA-256 of 32 bytes: of DAG-CBOR, or of bytes of any sort.
_CBOR, _RAW = b"\x01\x71\x12\x20", b"\x01\x55\x12\x20"
_CID = 36

#: Keys of a tree are no longer, by the rules of the protocol.
_LONGEST_KEY = 1024


@dataclass(frozen=True)
class Blocks:
    """The blocks of a file, by their CIDs."""

    file: str
    root: bytes
    data: bytes = field(repr=False)
    places: dict[bytes, tuple[int, int]] = field(repr=False)

    @classmethod
    def of(cls, file: str, data: bytes) -> Blocks:
        """The blocks of a CAR file."""
        begin, end = _span(data, 0, f"{file}, header")
        header = _decoded(data[begin:end], f"{file}, header")
        roots = header.get("roots") if isinstance(header, dict) else None
        if not isinstance(header, dict) or header.get("version") != 1 or not isinstance(roots, list) or not roots:
            raise InvalidInput(f"{file}, header: this is no CAR file of version 1 with a root.")
        if not _is_cid(roots[0]):
            raise InvalidInput(f"{file}, header: the root is called in a way that is not known.")
        places: dict[bytes, tuple[int, int]] = {}
        while end < len(data):
            where = f"{file}, block {len(places) + 1}"
            begin, end = _span(data, end, where)
            cid = data[begin : begin + _CID]
            if end - begin < _CID or not _is_cid(cid):
                raise InvalidInput(f"{where}: the block is called in a way that is not known.")
            if hashlib.sha256(data[begin + _CID : end]).digest() != cid[4:]:
                raise InvalidInput(f"{where}: the block is not what its name says.")
            places[cid] = begin + _CID, end
        return cls(file, roots[0], data, places)

    def block(self, cid: Any, what: str) -> dict[str, Any]:
        """The object of a block; *what* it is comes into the error where it is not there."""
        self.refuse_missing(cid, what)
        begin, end = self.places[cid]
        found = _decoded(self.data[begin:end], f"{self.file}, {what}")
        if not isinstance(found, dict):
            raise InvalidInput(f"{self.file}, {what}: the block is no object.")
        return found

    def refuse_missing(self, cid: Any, what: str) -> None:
        """Refuse a file in which a block is missing, though nobody needs it."""
        if not isinstance(cid, bytes) or cid not in self.places:
            raise InvalidInput(f"{self.file}: {what} is missing; the file is not whole.")

    def records(self, tree: Any) -> Iterator[tuple[str, Any]]:
        """The keys of a tree in their order, each with the CID of its record."""
        seen: set[bytes] = set()
        before = ""
        waiting: list[tuple[str, Any]] = [("", tree)]
        while waiting:
            key, cid = waiting.pop()
            if key:
                if key <= before:
                    raise InvalidInput(f"{self.file}: the tree of the records is not in order.")
                before = key
                yield key, cid
                continue
            node = self.block(cid, "a part of the tree of the records")
            if cid in seen:
                raise InvalidInput(f"{self.file}: the tree of the records leads in a circle.")
            seen.add(cid)
            waiting += reversed(self._entries(node))

    def _entries(self, node: dict[str, Any]) -> list[tuple[str, Any]]:
        """What a node of the tree holds in order: records by their keys, and other nodes without."""
        found: list[tuple[str, Any]] = [("", node["l"])] if node.get("l") is not None else []
        key = b""
        try:
            for entry in node["e"]:
                key = key[: entry["p"]] + entry["k"]
                if not 0 < len(key) <= _LONGEST_KEY:
                    raise ValueError
                found.append((key.decode("ascii"), entry["v"]))
                if entry.get("t") is not None:
                    found.append(("", entry["t"]))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidInput(f"{self.file}: the tree of the records is not sound.") from None
        return found


def _is_cid(value: Any) -> bool:
    return isinstance(value, bytes) and len(value) == _CID and value.startswith((_CBOR, _RAW))


def _decoded(data: bytes, where: str) -> Any:
    import libipld

    try:
        return libipld.decode_dag_cbor(data)
    except (ValueError, RecursionError):
        raise InvalidInput(f"{where}: this is no DAG-CBOR.") from None


def _span(data: bytes, begin: int, where: str) -> tuple[int, int]:
    """Where something begins and ends whose length stands before it."""
    size = shift = 0
    # Seven bits a byte; no length here takes more than nine bytes.
    for position in range(begin, min(begin + 9, len(data))):
        size |= (data[position] & 0x7F) << shift
        shift += 7
        if data[position] < 0x80:
            end = position + 1 + size
            if end > len(data) or not size:
                break
            return position + 1, end
    raise InvalidInput(f"{where}: the file is cut off, or no CAR file.")
