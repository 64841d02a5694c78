"""Topics of users from those of their posts: by hand, and against a plain count."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crawler.enriching.topics import OTHER, SENSITIVE, PostTopics, counted_by_source, folded, profile, sources
from graphpriv.topics import TOPICS

names = st.lists(st.sampled_from(["Sports", "Weather", "Politics", "Education", OTHER]), max_size=4).map(tuple)
posts = st.lists(st.builds(PostTopics, st.uuids().map(str), names, names), max_size=12)


def test_a_topic_of_text_and_page_counts_once():
    both = PostTopics("1", ("Sports",), ("Sports", "Weather"))
    assert both.names == ["Sports", "Weather"]
    assert profile([both, PostTopics("2", ("Weather",))]) == ("Weather", "Sports")


def test_other_counts_only_where_there_is_nothing_else():
    assert PostTopics("1", (OTHER,), ("Sports",)).names == ["Sports"]
    assert PostTopics("1", (OTHER,), (OTHER,)).names == [OTHER]
    assert PostTopics("1", ()).names == []


def test_of_equally_frequent_topics_the_earlier_one_is_first():
    row = [PostTopics(str(at), (name,)) for at, name in enumerate(["Labor", "Sports", "Weather", "Sports", "Weather"])]
    assert profile(row) == ("Sports", "Weather", "Labor")


@given(posts)
def test_profiles_are_the_three_most_frequent(row):
    counted = Counter()
    first = {}
    for at, post in enumerate(row):
        every = set(post.text) | set(post.pages)
        for name in every - {OTHER} or every:
            counted[name] += 1
            first.setdefault(name, (at, post.names.index(name)))
    expected = sorted(counted, key=lambda name: (-counted[name], first[name]))
    assert profile(row) == tuple(expected[:3])


@given(posts)
def test_sources_name_exactly_the_posts_that_were_counted(row):
    found = sources(row, profile(row))
    for name, each in found.items():
        assert set(each["text"]) | set(each["pages"]) == {post.post for post in row if name in post.names}
    assert counted_by_source(found)["text"] <= len(row)


@given(names)
def test_folding_leaves_nothing_sensitive_and_all_else(row):
    assert not set(folded(row)) & SENSITIVE
    assert set(row) - SENSITIVE - {OTHER} == set(folded(row)) - {OTHER}


def test_what_is_sensitive_is_among_the_topics_and_what_is_not_is_not():
    assert set(TOPICS) > SENSITIVE
    assert not SENSITIVE & {"Sports", "Weather", "Business_Finance", "Technology_Internet", OTHER}
