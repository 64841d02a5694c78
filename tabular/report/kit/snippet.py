"""Results as pieces of HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from tabular.report.kit import palette
from tabular.report.kit.figures import shown
from tabular.report.kit.markup import element, join
from tabular.report.kit.page import drawing_style

if TYPE_CHECKING:
    from pandas import DataFrame

_TABLE = (
    "{0}{{background:var(--paper);color:var(--ink);padding:.5rem;max-width:38rem;overflow-x:auto}}\n"
    "{0} caption,{0} p{{text-align:left;color:var(--soft);margin:0 0 .4rem}}\n"
    "{0} th,{0} td{{padding:.2rem .9rem .2rem 0;text-align:left}}\n"
    "{0} td{{text-align:right;font-variant-numeric:tabular-nums}}\n"
)


def table_snippet(caption: str, heads: Sequence[str], rows: Sequence[Sequence[object]], *, most: int = 12) -> str:
    """A small table as HTML, for the method `_repr_html_` of a result.

    The first entry of each row heads it; numbers are rounded as in the reports, and of more than *most* rows the
    first ones are shown.

    >>> "<td>0.2500</td>" in table_snippet("Losses of the masked table.", ["Measure", "Value"], [["dbil", 0.25]])
    True

    In a result's class::

        def _repr_html_(self) -> str:
            return table_snippet("Losses of the masked table.", ["Measure", "Value"], list(self.losses.items()))
    """
    body = [
        element("tr", element("th", shown(row[0]), scope="row"), [element("td", shown(value)) for value in row[1:]])
        for row in rows[:most]
    ]
    header = element("tr", [element("th", head, scope="col") for head in heads])
    more = element("p", f"The first {most:,} of {len(rows):,} rows.") if len(rows) > most else None
    whole = element("table", element("caption", caption), element("thead", header), element("tbody", body))
    return _snippet(whole, more)


def frame_snippet(caption: str, frame: DataFrame, *, most: int = 12) -> str:
    """The same from a data frame, without its index; missing values are empty cells."""
    cells = frame.astype(object).where(frame.notna(), "")
    return table_snippet(caption, list(map(str, frame.columns)), cells.to_numpy().tolist(), most=most)


def chart_snippet(drawing: Markup, caption: str) -> str:
    """One chart as inline SVG with its style, for the method `_repr_html_` of a result.

    In a result's class::

        def _repr_html_(self) -> str:
            drawn = upright_bars(self.attributes, {"DBIL": self.losses}, label="Bars: DBIL by attribute.")
            return chart_snippet(drawn, "Information loss by attribute. Lower is better.")
    """
    return _snippet(drawing, element("p", caption))


def _snippet(*content: Markup | None) -> str:
    """Content with a style that reaches nothing else on the page; the paper is light, whatever the notebook's."""
    scope = ".graphpriv-result"
    style = f"{scope}{{{palette.variables(dark=False)}}}\n{_TABLE.format(scope)}{drawing_style(f'{scope} ')}"
    # Our own style sheet: nothing in it comes from data.
    return str(element("div", element("style", Markup(style)), join(*content), class_=scope[1:]))  # noqa: S704
