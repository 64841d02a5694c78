"""The colours of all reports, defined once: told apart by colour-blind eyes, and by their lightness in grey."""

from __future__ import annotations

from collections.abc import Mapping

#: The colours of series in light and dark: neighbours differ in lightness, all have 3:1 against the paper.
SERIES = (
    ("#0b4a77", "#7cc0f2"),
    ("#c97f00", "#f0b13c"),
    ("#00805f", "#3ec79c"),
    ("#b6538f", "#e79ac6"),
    ("#3a8fc4", "#4f8fbd"),
    ("#bf4a1b", "#f08a5d"),
    ("#6f5bb0", "#b3a3ee"),
)

#: Ordered steps, from the worst to the most harmless.
STEPS = (
    ("#062f4d", "#d7ecfb"),
    ("#1d6396", "#8cc4ea"),
    ("#5a9cc8", "#5794bd"),
    ("#9cc6e1", "#35688c"),
    ("#cfe3f0", "#1f4058"),
)

#: The tone of words on each step.
ON_STEPS = (("paper", "paper"), ("paper", "paper"), ("ink", "paper"), ("ink", "ink"), ("ink", "ink"))

#: Ink, quieter ink, hairlines, paper, washed paper, links, warnings.
TONES: Mapping[str, tuple[str, str]] = {
    "ink": ("#182028", "#e9eef3"),
    "soft": ("#4b5764", "#aab6c2"),
    "line": ("#cbd3db", "#3a4753"),
    "paper": ("#ffffff", "#12181e"),
    "wash": ("#f3f6f8", "#1b242d"),
    "accent": ("#0b4a77", "#7cc0f2"),
    "warning": ("#8a2a0b", "#ffb59a"),
    "warning-wash": ("#fdf1ec", "#3a1e14"),
    "rest": ("#8b959f", "#76818c"),
}


def variables(*, dark: bool) -> str:
    """The colours of one scheme as CSS variables."""
    scheme = 1 if dark else 0
    named = {f"series-{position}": pair for position, pair in enumerate(SERIES, 1)}
    named |= {f"step-{position}": pair for position, pair in enumerate(STEPS, 1)}
    named |= {f"on-step-{at}": (TONES[day][0], TONES[night][1]) for at, (day, night) in enumerate(ON_STEPS, 1)}
    named |= TONES
    return "".join(f"--{name}:{pair[scheme]};" for name, pair in named.items())
