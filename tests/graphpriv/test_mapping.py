"""The private mapping as a file."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.mapping import mapping_by_id, read_mapping, write_mapping
from tabular.errors import InvalidInput

ORIGINAL = ("ann", "bob", "=cid", "'dee", 'e"e,e')
RELEASED = ("r1", "r2", "r3", "r4", "r5")


def write(path, *mapping):
    with path.open("wb") as file:
        write_mapping(file, *mapping)


def test_a_mapping_comes_back_as_it_was_written(tmp_path):
    mapping = np.array([2, 0, 4, 1, 3])
    write(tmp_path / "m.csv", ORIGINAL, RELEASED, mapping)
    assert (tmp_path / "m.csv").read_text().splitlines()[:2] == ["original,released", "ann,r3"]
    assert read_mapping(tmp_path / "m.csv", ORIGINAL, RELEASED).tolist() == mapping.tolist()


def test_a_forgotten_user_has_no_line(tmp_path):
    write(tmp_path / "m.csv", ORIGINAL, RELEASED, np.array([2, -1, 4, 1, 3]))
    assert "bob" not in (tmp_path / "m.csv").read_text()
    assert read_mapping(tmp_path / "m.csv", ORIGINAL, RELEASED).tolist() == [2, -1, 4, 1, 3]


@given(st.lists(st.text(min_size=1), min_size=1, max_size=8, unique=True), st.randoms())
def test_any_id_survives(tmp_path_factory, ids, random):
    # A lone surrogate cannot stand in a UTF-8 file.
    ids = [each for each in ids if each.isprintable()] or ["a"]
    path = tmp_path_factory.mktemp("m") / "m.csv"
    released = [f"r{number}" for number in range(len(ids))]
    order = random.sample(range(len(ids)), len(ids))
    write(path, ids, released, np.array(order))
    assert read_mapping(path, ids, released).tolist() == order


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no line with the names of the columns"),
        ("from,to\n", "line 1: the header"),
        ("original,released\nann\n", "line 2: this line has 1 cells, the header 2"),
        ("original,released\nzoe,r1\n", "line 2: the id under 'original' is not in the original graph"),
        ("original,released\nann,r9\n", "line 2: the id under 'released' is not in the released graph"),
        ("original,released\nann,r1\nann,r2\n", "line 3: a user occurs in the mapping twice"),
        ("original,released\nann,r1\nbob,r1\n", "line 3: a user occurs in the mapping twice"),
    ],
)
def test_a_broken_mapping_is_named_by_its_line(tmp_path, text, words):
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=words) as caught:
        read_mapping(path, ORIGINAL, RELEASED)
    assert "zoe" not in str(caught.value)


def test_a_release_that_keeps_the_ids_maps_itself():
    assert mapping_by_id(["a", "b"], ["b", "c", "a"]).tolist() == [2, 0]
    assert mapping_by_id(["a", "b"], ["b", "c"]) is None
