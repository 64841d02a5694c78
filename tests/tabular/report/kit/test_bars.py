"""Bars draw what they are given: lengths, labels and tooltips agree with the values."""

from __future__ import annotations

import pytest

from tabular.report.kit import bars as charts
from tabular.report.kit.marks import WIDTH
from tests.tabular.report.kit.drawings import SVG, parsed, tooltips, words


def bars(drawing, kind="fill-series"):
    return [each for each in parsed(drawing).iter(f"{SVG}rect") if each.find(f"{SVG}title") is not None
            and each.get("class").startswith(kind)]  # fmt: skip


def test_lying_bars_are_as_long_as_their_values():
    drawing = charts.lying_bars(["a", "b"], {"one": [0.5, 0.25], "two": [1.0, 0.0]}, label="Bars")
    lengths = [float(bar.get("width")) for bar in bars(drawing)]
    assert lengths[0] == pytest.approx(2 * lengths[2], abs=0.02)
    assert lengths[1] == pytest.approx(2 * lengths[0], abs=0.02)
    assert "a, two: 1.0000" in tooltips(drawing)
    assert {"0.5000", "0.2500", "1.0000", "0.0000"} <= set(words(drawing))


def test_what_is_undecided_is_added_to_the_bar():
    drawing = charts.lying_bars(["a"], {"one": [0.5]}, undecided={"one": [0.25]}, label="Bars")
    (decided,), (undecided,) = bars(drawing), bars(drawing, "open")
    assert float(undecided.get("x")) == pytest.approx(float(decided.get("x")) + float(decided.get("width")), abs=0.02)
    assert float(undecided.get("width")) == pytest.approx(float(decided.get("width")) / 2, abs=0.02)
    assert "a, one: 0.5000, undecided 0.2500" in tooltips(drawing)


def test_upright_bars_are_as_high_as_their_values():
    drawing = charts.upright_bars(["a", "b"], {"one": [0.4, 0.1]}, label="Bars")
    high, low = (float(bar.get("height")) for bar in bars(drawing))
    assert high == pytest.approx(4 * low, abs=0.05)


def test_a_value_that_is_not_known_gets_no_bar():
    drawing = charts.upright_bars(["a", "b"], {"one": [None, 0.1]}, label="Bars")
    assert len(bars(drawing)) == 1
    assert "?" in words(drawing)
    assert "not known" in words(charts.lying_bars(["a"], {"one": [None]}, label="Bars"))


def test_parts_of_a_whole_fill_the_bar():
    counts = {"1": 10, "2-4": 30, "none": 0, "over 20": 60}
    drawing = charts.stacked_shares({"all": counts}, what="candidates", units="users", label="Parts")
    lengths = [float(bar.get("width")) for bar in bars(drawing, "fill-")]
    assert sum(lengths) == pytest.approx(WIDTH - 4, abs=0.05)
    assert lengths[1] == pytest.approx(3 * lengths[0], abs=0.05)
    starts = [float(bar.get("x")) for bar in bars(drawing, "fill-")]
    for (start, length), after in zip(zip(starts, lengths, strict=True), starts[1:], strict=False):
        assert after == pytest.approx(start + length, abs=0.02)
    assert "all, candidates 2-4: 30 users (30.0%)" in tooltips(drawing)


def test_nobody_at_all_draws_no_parts():
    assert (
        bars(charts.stacked_shares({"all": {"1": 0}}, what="candidates", units="users", label="Parts"), "fill-") == []
    )
    assert charts.stacked_shares({}, what="candidates", units="users", label="Parts")


def test_dots_stand_where_the_shares_are():
    drawing = charts.before_after([("Politics", 0.1, 0.3), ("Sports", 0.2, None)], label="Dots")
    first, second = (float(each.get("cx")) for each in list(parsed(drawing).iter(f"{SVG}circle"))[:2])
    assert second > first
    assert tooltips(drawing) == ["Politics: 10.0% before, 30.0% after", "Sports: 20.0% before"]
    assert {"0%", "10%", "30%"} <= set(words(drawing))


def test_names_are_cut_in_labels_and_whole_in_tooltips():
    name = "a very long place name " * 20
    drawing = charts.before_after([(name, 0.1, 0.3)], label="Dots")
    assert max(len(each) for each in words(drawing)) <= 21
    assert tooltips(drawing)[0].startswith(name)


def test_everything_stays_inside_the_drawing():
    drawing = charts.lying_bars(["a"], {"one": [3.0]}, label="Bars")
    for bar in bars(drawing):
        assert float(bar.get("x")) + float(bar.get("width")) <= WIDTH
