from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given

from graphpriv.graph import common_codes
from graphpriv.release import anonymous
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
