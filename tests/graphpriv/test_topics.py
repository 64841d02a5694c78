from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphpriv.topics import TOPICS, in_order
from tests.strategies import TOPIC_NAMES


def test_section_6_1_eighteen_topics() -> None:
    assert len(set(TOPICS)) == 18
    assert (TOPICS[0], TOPICS[7], TOPICS[-1]) == ("Business_Finance", "Human Interest", "Other")


@given(st.lists(st.sampled_from((*TOPICS, *TOPIC_NAMES))))
def test_topics_of_the_thesis_stand_in_its_order_and_others_after_them_by_name(names: list[str]) -> None:
    ordered = in_order(names)
    assert set(ordered) == set(names)
    assert len(ordered) == len(set(names))
    assert ordered == (
        *(topic for topic in TOPICS if topic in names),
        *sorted(name for name in set(names) if name not in TOPICS),
    )
