"""What networks forbid to make of what they gave, as far as enrichment is concerned."""

from __future__ import annotations

#: By source: what is said to whoever enriches a graph of it without folding sensitive topics.
_FORBIDDEN = {
    "x": "X does not allow anybody to infer of its users their health, political or religious views, origin, sexual "
    "life, membership of a trade union, or crimes; {way} keeps such topics out.",
}


def remark(source: str | None, way: str) -> str | None:
    """What is said once of a graph that came from *source*, where sensitive topics are kept; *way* avoids them."""
    text = _FORBIDDEN.get(source or "")
    return text and text.format(way=way)
