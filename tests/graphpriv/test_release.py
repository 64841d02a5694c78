from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.graph import common_codes
from graphpriv.release import anonymous, mapping_by_id, read_mapping, write_mapping
from tabular.errors import InvalidInput
from tabular.release import Stream
from tests.strategies import generators, graphs, random_graph


@given(graph=graphs(private=True), rng=generators)
def test_the_mapping_leads_back_to_the_same_graph(graph, rng):
    released, mapping = anonymous(graph, graph, rng)
    restored = replace(released.restricted(mapping), ids=graph.ids)
    original, restored = common_codes(graph, restored)
    assert restored == replace(original, private={})


def test_ids_hold_no_digit_and_no_vowel_and_every_letter_comes_up_anywhere():
    released, _ = anonymous(graph := random_graph(1, 3000, 10), graph, np.random.default_rng(1))
    assert {len(user) for user in released.ids} == {12}
    for position in range(12):
        letters = Counter(user[position] for user in released.ids)
        assert set(letters) == set("bcdfghjklmnpqrstvwxz")
        # 150 each on average, with a standard deviation of 12.
        assert max(abs(count - 150) for count in letters.values()) < 72


def test_every_user_is_as_likely_at_every_place():
    graph = random_graph(1, 4, 3)
    rng = np.random.default_rng(1)
    drawn = Counter(tuple(anonymous(graph, graph, rng)[1].tolist()) for _ in range(2400))
    assert len(drawn) == 24
    # 100 each on average, with a standard deviation of 10.
    assert max(abs(count - 100) for count in drawn.values()) < 60


def test_a_stream_depends_on_key_and_label_and_never_repeats():
    def drawn(key, label):
        stream = Stream(key, label)
        return [stream.bytes(16).tobytes() for _ in range(3)]

    assert drawn(b"key", b"ids") == drawn(b"key", b"ids")
    blocks = drawn(b"key", b"ids") + drawn(b"key", b"order") + drawn(b"yek", b"ids")
    assert len(set(blocks)) == 9


def test_a_stream_gives_every_order_alike():
    counts = Counter(tuple(Stream(str(key).encode(), b"order").permutation(3).tolist()) for key in range(1200))
    assert len(counts) == 6
    # 200 each on average, with a standard deviation of 13.
    assert max(abs(count - 200) for count in counts.values()) < 78


def test_nothing_that_is_published_comes_from_the_generator_itself():
    class OnlyBytes:
        """A generator of which nothing but a key can be asked."""

        def __init__(self):
            self.asked = []

        def bytes(self, length):
            self.asked.append(length)
            return b"k" * length

    rng = OnlyBytes()
    graph = random_graph(1, 30, 40)
    anonymous(graph, graph, rng)
    assert rng.asked == [32]


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
