"""From the topics of texts to the three topics of a user (Mares Soler 2013, section 6.1).

The text of a post and the pages it links to are categorised apart from each other. All their topics are joined, and
each counts once a post. `Other` counts only where a post has no other topic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from crawler.topics.contract import OTHER
from graphpriv.topics import RANKS, TOPICS

#: Topics from which somebody might infer what X's developer policy forbids to infer of its users: health, political or
#: religious views, ethnic origin and sexual life (which the news has under social issues), membership of a trade
#: union, and crimes. Which side of a war somebody writes about tells of political views as well.
SENSITIVE = frozenset(
    {"Health_Medical_Pharma", "Labor", "Law_Crime", "Politics", "Religion_Belief", "Social Issues", "War_Conflict"}
)


@dataclass(frozen=True)
class PostTopics:
    """What a post is about: the topics of its text, and those of the pages it links to, each best first."""

    post: str
    text: tuple[str, ...]
    pages: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All topics of the post, each once, those of the text first."""
        every = list(dict.fromkeys((*self.text, *self.pages)))
        return [name for name in every if name != OTHER] or every[:1]


def folded(names: Iterable[str]) -> tuple[str, ...]:
    """Topics with `Other` in place of the sensitive ones.

    >>> folded(["Politics", "Sports", "Labor"])
    ('Other', 'Sports')
    """
    return tuple(dict.fromkeys(OTHER if name in SENSITIVE else name for name in names))


def profile(posts: Sequence[PostTopics]) -> tuple[str, ...]:
    """The topics of most posts, in order; of equally frequent ones the one that appeared first.

    >>> profile([PostTopics("1", ("Sports",)), PostTopics("2", ("Weather",), ("Sports", "Other"))])
    ('Sports', 'Weather')
    """
    counts: dict[str, int] = {}
    for post in posts:
        for name in post.names:
            counts[name] = counts.get(name, 0) + 1
    # Sorting keeps the order of those that are equal, which is that of their first appearance.
    return tuple(sorted(counts, key=lambda name: -counts[name])[:RANKS])


def sources(posts: Sequence[PostTopics], names: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """For each topic the posts whose text is about it, and those that link to a page about it."""
    return {
        name: {
            "text": [each.post for each in posts if name in each.names and name in each.text],
            "pages": [each.post for each in posts if name in each.names and name in each.pages],
        }
        for name in names
    }


def counted_by_source(note: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, int]:
    """How many posts gave topics by their text, and how many by a page; a post may do both."""
    return {
        source: len({post for found in note.values() for post in found.get(source, ())}) for source in ("text", "pages")
    }


# Whoever adds a topic to the eighteen must decide whether it is sensitive.
_UNKNOWN = SENSITIVE - set(TOPICS)
if _UNKNOWN:
    raise ValueError(f"No topics are called {sorted(_UNKNOWN)}.")
