"""Posts that greet, thank, agree or laugh and say no more: they are about nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from crawler.topics.lexicon import TOLD, lexicon, read_flat
from crawler.topics.writing import COMMON, Language, folded

#: The topic of feelings, to which laughter and hearts belong: alone they are small talk as well.
_FEELINGS = TOLD.index("Human Interest")


def is_small_talk(text: str, words: Sequence[str], language: Language) -> bool:
    """Whether a cleaned *text* with these *words* has nothing but small talk in it.

    Pictures beside words of small talk count as decoration; alone they are small talk where they show feelings only.
    """
    said = [word for word in words if word[0].isalnum()]
    if not said:
        sums = lexicon(language).sums(text, words)
        return any(sums) and not any(much for topic, much in enumerate(sums) if topic != _FEELINGS)
    if language == "ja":
        return all(_is_piecewise(word) for word in said)
    known = _known()
    if not all(word in known or word.isdecimal() for word in said):
        return False
    # "Me too" is made of common words, and is not common.
    return all(topic == _FEELINGS for says in lexicon(language).phrases_in(said) for topic, _ in says)


@cache
def _known() -> frozenset[str]:
    """Words of small talk in languages with blanks."""
    every = (word for name, words in read_flat("small_talk").items() if name != "ja" for word in words.split())
    return frozenset(map(folded, every)) | COMMON


@cache
def _pieces() -> frozenset[str]:
    return frozenset(map(folded, read_flat("small_talk")["ja"].split()))


def _is_piecewise(word: str) -> bool:
    """Whether a word without blanks is made of pieces of small talk, the longest first."""
    pieces, at = _pieces(), 0
    longest = max(map(len, pieces))
    while at < len(word):
        sizes = range(min(longest, len(word) - at), 0, -1)
        size = next((size for size in sizes if word[at : at + size] in pieces), 0)
        if not size:
            return word in _known()
        at += size
    return True
