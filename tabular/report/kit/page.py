"""The page of every report, and results as pieces of HTML for notebooks.

A page is made from templates: one file with its style inside, without script and network. The colours of all reports
are told apart by colour-blind eyes, and by their lightness in grey.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup

from tabular.report.kit.figures import cell, clean, element, foreign, join, series, shown

if TYPE_CHECKING:
    from jinja2 import Environment
    from pandas import DataFrame


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


def page(package: str, template: str, **context: object) -> str:
    """A report as HTML, from a template in the folder `templates` of a package."""
    return clean(_environment(package).get_template(template).render(contents=[], **context))


def content_security_policy() -> str:
    """What the page may do: apply its one style sheet. Nothing is fetched, run, framed or sent."""
    digest = base64.b64encode(hashlib.sha256(stylesheet().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def stylesheet() -> str:
    """The style of all reports, with the palette in front."""
    schemes = (
        f":root{{{variables(dark=False)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{variables(dark=True)}}}}}\n"
    )
    return schemes + drawing_style() + _sheet("report.css")


def drawing_style(scope: str = "") -> str:
    """The style of drawings, each rule beginning with *scope*."""
    names = [f"series-{place}" for place in range(1, len(SERIES) + 1)]
    steps = [f"step-{place}" for place in range(1, len(STEPS) + 1)]
    rules = [f"svg .fill-{name}{{fill:var(--{name})}}" for name in (*names, *steps, "rest")]
    rules += [f"svg .line-{name}{{stroke:var(--{name})}}" for name in (*names, "rest")]
    rules += [f"svg .on-{name} text{{fill:var(--on-{name})}}" for name in steps]
    return "".join(f"{scope}{rule}\n" for rule in [*rules, *_sheet("drawing.css").splitlines()])


@cache
def _environment(package: str) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(__package__)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
    )
    made.filters.update(cell=cell, series=series, foreign=foreign)
    made.globals.update(stylesheet=Markup(stylesheet()), policy=content_security_policy())  # noqa: S704 - our own file
    return made


def _sheet(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


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
    style = f"{scope}{{{variables(dark=False)}}}\n{_TABLE.format(scope)}{drawing_style(f'{scope} ')}"
    # Our own style sheet: nothing in it comes from data.
    return str(element("div", element("style", Markup(style)), join(*content), class_=scope[1:]))  # noqa: S704
