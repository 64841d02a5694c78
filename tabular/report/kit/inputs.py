"""The last section of every report: the inputs, the version, the parameters, and whatever else the document holds."""

from __future__ import annotations

from tabular.report.kit.figures import Figures, Step, pointer
from tabular.report.kit.markup import Markup, element, foreign, join
from tabular.report.kit.page import paragraphs, table


def inputs(figures: Figures) -> Markup:
    """Fingerprints, version and parameters, then every value that no other section has shown."""
    told = [
        ("version",),
        ("users",),
        ("edges",),
        ("directed",),
        ("released_users",),
        ("released_edges",),
        ("unmapped",),
    ]
    hashes = [("inputs", name) for name in figures.keys("inputs", known=("original", "released", "mapping"))]
    present = [path for path in (*hashes, *told, *_parameters(figures, "parameters")) if _holds(figures, path)]
    rows = [[_name(path), figures.cell(*path)] for path in present]
    parts = [
        paragraphs(
            "The figures belong to exactly these inputs: the same inputs and parameters give the same figures. Each "
            "figure carries its unrounded value, which is the one of the JSON document."
        ),
        element("div", table("Inputs, version and parameters.", ["What", "Value"], rows), class_="text"),
    ]
    rest = figures.rest()
    if rest:
        further = [[foreign(pointer(path)), figures.cell(*path)] for path in rest]
        caption = "Further values of the document."
        parts.append(element("div", table(caption, ["Where", "Value"], further), class_="text"))
    return join(parts)


def _parameters(figures: Figures, *path: Step) -> list[tuple[Step, ...]]:
    """Where the parameters stand; those of one attacker lie below its name."""
    below = figures.keys(*path)
    return [each for key in below for each in _parameters(figures, *path, key)] if below else [path]


def _holds(figures: Figures, path: tuple[Step, ...]) -> bool:
    return path[0] == "inputs" or (figures.get(*path) is not None and not isinstance(figures.get(*path), dict))


def _name(path: tuple[Step, ...]) -> object:
    known: dict[tuple[Step, ...], str] = {
        ("version",): "Version of graphpriv",
        ("inputs", "original"): "Original, fingerprint",
        ("inputs", "released"): "Release, fingerprint",
        ("inputs", "mapping"): "Mapping, fingerprint",
        ("users",): "Users of the original",
        ("edges",): "Links of the original",
        ("directed",): "Links have a direction",
        ("released_users",): "Users of the release",
        ("released_edges",): "Links of the release",
        ("unmapped",): "Users of the release without an original",
    }
    return known.get(path) or join("Parameter ", foreign(", ".join(str(step) for step in path[1:])))
