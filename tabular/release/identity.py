"""The release id: the SHA-256 of the released bytes, which tells what belongs together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from tabular.errors import InvalidInput

_BLOCK = 1 << 20


def release_id(*parts: bytes | str | Path | IO[bytes]) -> str:
    """The id of released bytes or files: that of one file with all of them in their order.

    >>> release_id(b"degree\\n1\\n")
    'sha256:f83583aaf798d68499e0efdce954bc5682f811b427f4287ad41d9637de89fe51'
    """
    digest = hashlib.sha256()
    for part in parts:
        for block in _blocks(part):
            digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def check_release_id(files: Sequence[str | Path], expected: str | None, *, record: str | Path) -> None:
    """Refuse released *files* that do not have the id that a *record* of them *expected*.

    Records of earlier versions have no id, and expect none.
    """
    if expected is not None and release_id(*files) != expected:
        raise InvalidInput(
            f"{files[0]}: this is not the release that {record} belongs to; take both from the same run."
        )


def _blocks(part: bytes | str | Path | IO[bytes]) -> Iterable[bytes]:
    if isinstance(part, bytes):
        yield part
    elif isinstance(part, str | Path):
        try:
            with Path(part).open("rb") as file:
                yield from iter(lambda: file.read(_BLOCK), b"")
        except OSError as error:
            raise InvalidInput(f"{part}: {error.strerror}.") from None
    else:
        yield from iter(lambda: part.read(_BLOCK), b"")
