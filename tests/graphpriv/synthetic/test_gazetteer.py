from __future__ import annotations

from graphpriv.places import check_paths
from graphpriv.synthetic.gazetteer import paths


def test_the_world_of_the_generator_is_sound() -> None:
    found = paths()
    assert len(set(found)) == len(found) > 300
    assert len(check_paths({str(number): path for number, path in enumerate(found)})) == len(found)
