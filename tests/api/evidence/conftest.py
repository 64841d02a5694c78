"""What the tests of evidence share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def top() -> Iterator[Path]:
    """A folder, in memory where that is possible: a kill loses nothing that was handed over to the system."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)
