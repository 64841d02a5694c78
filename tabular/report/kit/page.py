"""The page of every report: one file that asks for nothing, runs nothing and prints well."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tabular.report.kit import palette
from tabular.report.kit.markup import Markup, element, join, text

#: Tables of at most so many rows are kept on one page in print.
_SHORT = 24


@dataclass(frozen=True)
class Section:
    """One section of a report; a confidential one is printed on pages of its own that say so."""

    anchor: str
    heading: str
    content: Markup
    confidential: bool = False


def page(title: str, *, lead: object, sections: Sequence[Section], confidential: bool = False) -> str:
    """A whole report as HTML."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=content_security_policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex"),
        element("title", title),
        element("style", Markup(stylesheet())),
    )
    contents = element(
        "nav",
        element("ol", [element("li", element("a", each.heading, href=f"#{each.anchor}")) for each in sections]),
        aria_label="Contents",
    )
    mark = element("p", "Confidential: for the custodian and the auditor", class_="mark") if confidential else None
    body = element(
        "body",
        element("a", "Skip to the content", href=f"#{sections[0].anchor}", class_="skip"),
        element("header", mark, element("h1", text(title)), lead),
        contents,
        element("main", [_section(each) for each in sections]),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def content_security_policy() -> str:
    """What the page may do: apply its one style sheet. Nothing is fetched, run, framed or sent."""
    digest = base64.b64encode(hashlib.sha256(stylesheet().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def stylesheet() -> str:
    """The style of all reports, with the palette in front."""
    schemes = (
        f":root{{{palette.variables(dark=False)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{palette.variables(dark=True)}}}}}\n"
    )
    series = [f"series-{position}" for position in range(1, len(palette.SERIES) + 1)]
    steps = [f"step-{position}" for position in range(1, len(palette.STEPS) + 1)]
    classes = "".join(f".fill-{name}{{fill:var(--{name})}}\n" for name in (*series, *steps, "rest"))
    classes += "".join(f".line-{name}{{stroke:var(--{name})}}\n" for name in (*series, "rest"))
    # More specific than the rule for all words of a drawing.
    classes += "".join(f"svg .on-{name} text{{fill:var(--on-{name})}}\n" for name in steps)
    return schemes + classes + files(__package__).joinpath("report.css").read_text(encoding="utf-8")


def table(caption: str, head: Sequence[object], rows: Sequence[Sequence[object]], *, wide: bool = False) -> Markup:
    """A table whose first column heads its rows; the other cells come as `td` elements."""
    header = element("tr", [element("th", each, scope="col") for each in head])
    body = [element("tr", element("th", row[0], scope="row"), row[1:]) for row in rows]
    whole = element("table", element("caption", caption), element("thead", header), element("tbody", body))
    # What is wider than a narrow screen scrolls by itself, also by the keyboard.
    reached = {"tabindex": "0", "role": "group", "aria_label": f"{caption} Scrolls sideways."} if wide else {}
    return element("div", whole, class_="scroll short" if len(rows) <= _SHORT else "scroll", **reached)


def figure(drawing: Markup, caption: object, *, large: bool = False) -> Markup:
    """A drawing with its caption; a *large* one takes more of a wide screen."""
    return element("figure", drawing, element("figcaption", caption), class_="large" if large else None)


def side_by_side(*parts: Markup | None) -> Markup:
    """Parts beside each other where there is room."""
    return element("div", *parts, class_="beside")


def paragraphs(*sentences: object) -> Markup:
    """One paragraph each."""
    return join([element("p", each) for each in sentences if each is not None])


def _section(section: Section) -> Markup:
    mark = element("p", "Confidential: for the custodian and the auditor", class_="mark")
    return element(
        "section",
        element("h2", section.heading, id=section.anchor),
        mark if section.confidential else None,
        section.content,
        class_="confidential" if section.confidential else None,
    )
