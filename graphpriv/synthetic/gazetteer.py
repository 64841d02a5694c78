"""The world of the synthetic graphs: a few hundred well-known places, from the file `gazetteer.txt` beside this one.

A line is `code name`; two spaces more than the line above it mean that the place lies inside that one.
"""

from __future__ import annotations

from importlib.resources import files

from graphpriv.places import WORLD, Path, Step

#: What the codes at the head of a line stand for.
TYPES = {
    "K": "continent",
    "C": "country",
    "1": "administrative_area_level_1",
    "2": "administrative_area_level_2",
    "3": "administrative_area_level_3",
    "l": "locality",
    "a": "colloquial_area",
    "n": "neighborhood",
    "s": "sublocality",
    "p": "point_of_interest",
    "f": "natural_feature",
    "r": "route",
}


def paths() -> list[Path]:
    """All places, each as its path to `world`, in the order of the list."""
    found: list[Path] = []
    above: list[Step] = []
    for line in files(__package__).joinpath("gazetteer.txt").read_text(encoding="utf-8").splitlines():
        code, name = line.split(maxsplit=1)
        depth = (len(line) - len(line.lstrip())) // 2
        above[depth:] = [(name, TYPES[code])]
        found.append((*reversed(above), WORLD))
    return found
