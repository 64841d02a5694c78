"""The page of every report, made from templates: one file with its style inside, without script and network."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup

from tabular.report.kit import palette
from tabular.report.kit.figures import cell, series
from tabular.report.kit.markup import clean, foreign

if TYPE_CHECKING:
    from jinja2 import Environment


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
        f":root{{{palette.variables(dark=False)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{palette.variables(dark=True)}}}}}\n"
    )
    return schemes + drawing_style() + _sheet("report.css")


def drawing_style(scope: str = "") -> str:
    """The style of drawings, each rule beginning with *scope*."""
    names = [f"series-{place}" for place in range(1, len(palette.SERIES) + 1)]
    steps = [f"step-{place}" for place in range(1, len(palette.STEPS) + 1)]
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
