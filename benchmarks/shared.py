"""Where the shared data are: real files that are not part of the repository."""

from __future__ import annotations

import os
from pathlib import Path

#: The folder that `GRAPHPRIV_SHARED_DATA` names, else the one beside the repository.
SHARED = Path(os.environ.get("GRAPHPRIV_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))


def shared_data(part: str) -> Path:
    """A part of the shared data."""
    if not (SHARED / part).exists():
        raise SystemExit(f"{part} is not there; name the folder of the shared data in GRAPHPRIV_SHARED_DATA.")
    return SHARED / part
