"""The charts of a search: each node where its figures say, what was found told from what is exact, the gap shaded."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from lxml import etree, html

from tabular.report import search_report
from tabular.report.course import Instant, course_chart
from tabular.report.front import Mark, Shades, axis, front_chart
from tests.graphpriv.report.documents import front_document, search_document

SVG = "{http://www.w3.org/2000/svg}"


def drawn(marks, shade=None):
    chart = front_chart(marks, label="Front", across="k", upwards="GLM", shade=shade)
    return etree.fromstring(chart.encode())


def points(chart):
    """By what a point says: its centre, and the classes of what it is made of."""
    found = {}
    for group in chart.iter(f"{SVG}g"):
        title, *circles = group
        centre = {(float(each.get("cx")), float(each.get("cy"))) for each in circles}
        assert len(centre) == 1
        found[re.sub("[\u2068\u2069]", "", title.text)] = (centre.pop(), [each.get("class") for each in circles])
    return found


def test_points_lie_where_their_figures_say():
    found = points(drawn([Mark(0, 0, "low"), Mark(5, 50, "middle"), Mark(10, 100, "high")]))
    (low, _), (middle, _), (high, _) = (found[name] for name in ("low", "middle", "high"))
    assert middle == pytest.approx(((low[0] + high[0]) / 2, (low[1] + high[1]) / 2), abs=0.02)
    # Upwards on the page is a smaller y.
    assert low[0] < high[0] and low[1] > high[1]


def test_numbers_far_apart_lie_on_a_logarithmic_axis():
    found = points(drawn([Mark(1, 1, "a"), Mark(100, 1, "b"), Mark(10_000, 2, "c")]))
    (a, _), (b, _), (c, _) = (found[name] for name in "abc")
    assert b[0] - a[0] == pytest.approx(c[0] - b[0], abs=0.02)
    scale, ticks = axis([3, 40_000], 0, 100)
    assert scale.logarithmic
    assert [words for _, words in ticks] == ["1", "10", "100", "1,000", "10,000", "10⁵"]
    assert not axis([3, 40], 0, 100)[0].logarithmic
    # Where a 0 is among them there is no logarithm.
    assert not axis([0, 40_000], 0, 100)[0].logarithmic


@pytest.mark.parametrize("values", [[], [0.0], [7.0], [0.0, 0.0]])
def test_an_axis_has_room_for_few_numbers_and_for_none(values):
    scale, ticks = axis(values, 0, 100)
    assert len(ticks) >= 2
    for value in values:
        assert 0 <= scale(value) <= 100


def test_what_was_found_is_filled_and_what_is_exact_is_ringed():
    found = points(
        drawn(
            [
                Mark(1, 1, "both", is_found=True, is_exact=True),
                Mark(2, 2, "missed", is_found=False, is_exact=True),
                Mark(3, 3, "wrong", is_found=True, is_exact=False),
            ]
        )
    )
    assert found["both"][1] == ["ring", "fill-series-1 edge"]
    assert found["missed"][1] == ["fill-none", "ring"]
    assert found["wrong"][1] == ["fill-series-1 edge"]
    words = " ".join(drawn([Mark(1, 1, "x", is_exact=True)]).itertext())
    assert "found, exact" in words and "exact, not found" in words and "found, not exact" in words
    assert "exact" not in " ".join(drawn([Mark(1, 1, "x")]).itertext())


def test_the_third_objective_is_a_colour_with_a_key():
    chart = drawn([Mark(place, place, f"{place}", shade=float(place)) for place in range(1, 4)], shade="l")
    fills = [points(chart)[name][1][0] for name in ("1", "2", "3")]
    assert fills == ["fill-step-1 edge", "fill-step-3 edge", "fill-step-5 edge"]
    words = [text.strip() for text in chart.itertext() if text.strip()]
    assert "Colour: l" in words
    keyed = [each.get("class") for each in chart if each.tag == f"{SVG}circle"]
    assert keyed == fills


def test_many_values_share_five_colours_in_their_order():
    shades = Shades.of([float(value) for value in range(12)])
    assert len(shades.bounds) == 5
    assert shades.bounds[0][0] == 0 and shades.bounds[-1][1] == 11
    assert all(before[1] < after[0] for before, after in pairwise(shades.bounds))
    places = [shades.place(value) for value in range(12)]
    assert places == sorted(places) and set(places) == set(range(5))


def course(instants):
    chart = course_chart(instants, label="Course", upwards="GLM")
    return etree.fromstring(chart.encode())


def corners(line):
    return [tuple(map(float, corner.split(","))) for corner in line.get("points").split()]


def test_the_best_falls_in_steps_and_the_gap_to_the_bound_is_shaded():
    chart = course([Instant(0.0, 1, 10.0, None), Instant(1.0, 2, 8.0, 2.0), Instant(2.0, 3, 6.0, 6.0)])
    best, bound = (each for each in chart.iter(f"{SVG}polyline") if len(corners(each)) > 2)
    assert best.get("class") == "curve line-series-1" and bound.get("class") == "curve line-series-2"
    # Each step is level first and then upright, so that nothing is said to be known before it was.
    levels = corners(best)
    assert len(levels) == 5
    for before, after in zip(levels[::2], levels[1::2], strict=False):
        assert before[1] == after[1]
    heights = [y for _, y in levels]
    assert heights == sorted(heights)
    (gap,) = chart.iter(f"{SVG}polygon")
    # Both end at one place: nothing is left between them.
    assert corners(best)[-1] == corners(bound)[-1]
    assert set(corners(bound)) <= set(corners(gap))


def test_without_a_bound_there_is_no_gap_and_none_in_the_key():
    chart = course([Instant(0.5, 1, 10.0, None), Instant(1.0, 2, 8.0, None)])
    assert not list(chart.iter(f"{SVG}polygon"))
    words = " ".join(chart.itertext())
    assert "best found" in words and "bound" not in words and "gap" not in words


@pytest.mark.parametrize("instants", [[], [Instant(0.0, 0, None, None)], [Instant(0.0, 1, 0.0, 0.0)]])
def test_a_course_of_little_is_drawn(instants):
    assert course(instants) is not None


def test_the_report_of_one_node_says_what_is_proven_and_what_was_released():
    page = html.document_fromstring(search_report(search_document()))
    said = " ".join(re.sub("[\u2068\u2069]", "", page.text_content()).replace("\xa0", " ").split())
    assert "By glm, the best is age 1, sex 0." in said
    assert "less than 100.1235; the gap is 11.1235." in said
    assert "was stopped before its end" in said
    assert "Released was place 2 of the list: age 1, sex 0. Counted anew in its cells: k = 21, l = 4" in said
    assert not page.xpath("//section[h2[@id='front']]")
    titles = [each.text for each in page.xpath("//figure//*[local-name()='title']")]
    assert titles == [
        "0.500 s, 11 nodes, bound 50.0000",
        "1.000 s, 12 nodes, best 180.5000, bound 60.5000",
        "1.500 s, 13 nodes, best 111.2469, bound 100.1235",
    ]


def test_the_report_of_a_front_says_levels_at_each_point_and_tells_what_was_missed():
    page = html.document_fromstring(search_report(front_document()))
    titles = [re.sub("[\u2068\u2069]", "", each.text) for each in page.xpath("//figure//*[local-name()='title']")]
    assert "age 1, sex 0: k 21, l 2, GLM 111.2469136, Rows suppressed 11" in titles
    assert "age 2, sex 1: k 33, l 6, GLM 120.5" in titles
    said = " ".join(page.text_content().split())
    assert "The front of k, glm, l has 2 nodes." in said
    assert "51.2\xa0% are occupied (RR)" in page.text_content() or "51.2 % are occupied (RR)" in said
    (section,) = page.xpath("//section[h2[@id='front']]")
    assert [row[-1].text for row in section.xpath(".//tbody/tr")] == ["yes", "no"]


def test_a_list_that_was_cut_says_how_long_it_is():
    document = search_document() | {"solutions_found": 12_960}
    page = html.document_fromstring(search_report(document))
    assert "The first 2 of 12,960; the JSON document has all." in page.text_content()
