"""What the people of a made network write."""

from __future__ import annotations

from collections import Counter

import numpy as np

from crawler.made.writing import FLAGS, IDLE, SHARES, page, phrases, written_place, written_posts
from graphpriv.synthetic import paths
from graphpriv.topics import TOPICS


def test_there_are_sentences_of_every_topic_and_none_stands_twice():
    assert tuple(phrases()) == TOPICS
    said = [sentence for sentences in phrases().values() for sentence in sentences]
    assert len(said) == len(set(said))
    assert min(len(sentences) for sentences in phrases().values()) >= 8


def test_every_place_of_the_made_world_can_be_written_and_has_a_flag():
    rng = np.random.default_rng(0)
    for path in paths():
        written = {written_place(path, rng) for _ in range(40)}
        assert all(text and "{" not in text for text in written)
        # The name, or that of the city around it, or the flag of the country.
        assert any(path[0][0].casefold() in text.casefold() for text in written)
    assert set(FLAGS) == {path[0][0] for path in paths() if path[0][1] == "country"}


def test_who_lives_nowhere_names_no_place():
    rng, names = np.random.default_rng(0), {path[0][0].casefold() for path in paths()}
    written = {written_place(None, rng) for _ in range(100)}
    assert None in written
    assert not {text.casefold() for text in written if text} & names


def test_posts_are_about_the_topics_of_their_author_by_rank():
    topics, of = ["Sports", "Weather", "Politics"], {each: topic for topic, said in phrases().items() for each in said}
    posts = written_posts(topics, 6000, np.random.default_rng(3))
    about = Counter(
        post.page or next(topic for sentence, topic in of.items() if post.text.endswith(sentence)) for post in posts
    )
    assert set(about) == {*topics, "Other"}
    for topic, share in zip(topics, SHARES, strict=True):
        assert abs(about[topic] / len(posts) - share * (1 - IDLE)) < 0.03
    assert any(post.page for post in posts)


def test_who_has_no_topics_says_nothing_in_particular():
    assert {post.page for post in written_posts([], 50, np.random.default_rng(0))} == {None}


def test_the_same_generator_writes_the_same():
    one, other = (written_posts(["Labor"], 20, np.random.default_rng(5)) for _ in range(2))
    assert one == other
    assert page("Labor", np.random.default_rng(5)) == page("Labor", np.random.default_rng(5))
