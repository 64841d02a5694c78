"""The release id: the SHA-256 of the released bytes, which tells what belongs together."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from tabular.errors import InvalidInput


def release_id(*parts: bytes | str | Path | IO[bytes]) -> str:
    """The id of released bytes or files: that of one file with all of them in their order.

    >>> release_id(b"degree\\n1\\n")
    'sha256:f83583aaf798d68499e0efdce954bc5682f811b427f4287ad41d9637de89fe51'
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, bytes):
            digest.update(part)
        elif isinstance(part, str | Path):
            try:
                with Path(part).open("rb") as file:
                    hashlib.file_digest(file, lambda: digest)
            except OSError as error:
                raise InvalidInput(f"{part}: {error.strerror}.") from None
        else:
            hashlib.file_digest(part, lambda: digest)  # type: ignore[arg-type]
    return f"sha256:{digest.hexdigest()}"


def check_release_id(files: Sequence[str | Path], expected: str | None, *, record: str | Path) -> None:
    """Refuse released *files* that do not have the id that a *record* of them *expected*.

    Records of earlier versions have no id, and expect none.
    """
    if expected is not None and release_id(*files) != expected:
        raise InvalidInput(
            f"{files[0]}: this is not the release that {record} belongs to; take both from the same run."
        )
