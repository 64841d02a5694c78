"""Colours can be read and told apart."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from tabular.report.kit.palette import ON_STEPS, SERIES, STEPS, TONES

schemes = pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2.2, from 1 to 21.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@schemes
def test_text_has_the_contrast_of_wcag_aa(scheme):
    for ink in ("ink", "soft", "accent"):
        for paper in ("paper", "wash"):
            assert contrast(TONES[ink][scheme], TONES[paper][scheme]) >= 4.5
    assert contrast(TONES["warning"][scheme], TONES["warning-wash"][scheme]) >= 4.5


@schemes
def test_marks_have_the_contrast_of_wcag_aa(scheme):
    for colour in [*SERIES, TONES["rest"]]:
        assert contrast(colour[scheme], TONES["paper"][scheme]) >= 3


@schemes
def test_words_on_steps_can_be_read(scheme):
    for step, tone in zip(STEPS, ON_STEPS, strict=True):
        assert contrast(step[scheme], TONES[tone[scheme]][scheme]) >= 4.5, step


@schemes
def test_steps_fade_into_the_paper(scheme):
    against = [contrast(step[scheme], TONES["paper"][scheme]) for step in STEPS]
    assert against == sorted(against, reverse=True)
    assert all(before / after > 1.2 for before, after in pairwise(against))


def test_the_two_attackers_differ_in_grey():
    assert contrast(SERIES[0][0], SERIES[1][0]) >= 2


def seen_by(colour: str, kind: str) -> tuple[float, float, float]:
    """The colour as eyes without red or green cones see it (Vienot, Brettel and Mollon 1999)."""
    red, green, blue = (((int(colour[at : at + 2], 16) / 255) ** 2.2) for at in (1, 3, 5))
    matrix = {
        "protan": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
        "deutan": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
    }[kind]
    return tuple(max(a * red + b * green + c * blue, 0) ** (1 / 2.2) for a, b, c in matrix)


@schemes
@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_series_are_told_apart_by_colour_blind_eyes(scheme, kind):
    seen = [seen_by(each[scheme], kind) for each in SERIES[:6]]
    for one, other in combinations(seen, 2):
        assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 0.1
