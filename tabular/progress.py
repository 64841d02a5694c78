"""How far a long piece of work is: told to whoever asks, by a function that is handed in."""

from __future__ import annotations

from collections.abc import Callable

#: Takes what is being done, how many parts of it are done, and how many there are (0: that is not known).
Report = Callable[[str, int, int], None]


def silent(phase: str, done: int, of: int) -> None:
    """Tell nobody."""
