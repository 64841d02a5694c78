"""The version of the product, as its documents say it."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """The version that is installed."""
    return metadata.version("graphpriv")
