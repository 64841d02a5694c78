"""Words that tell topics: our own lists in several languages, and how much the words of a text say for each topic."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from crawler.topics.writing import folded
from graphpriv.topics import TOPICS

DATA = Path(__file__).parent / "data"

#: The topics that can be told: all but `Other`.
TOLD = TOPICS[:-1]

#: How much a word says, by the section it stands in; whole numbers, so that sums are the same in every order.
_SAYS = {"strong": 120, "plain": 40}

#: What one `plain` word says counts as so much of a logit, before the length of the text comes in.
UNIT = 40

#: The files of each language. Names, emoji and what is English by now are read in all.
_FILES = {
    "en": ("words_en", "names_en", "signs"),
    "es": ("words_es", "names_en", "signs"),
    "el": ("words_el", "names_en", "signs"),
    "ja": ("words_ja", "names_en", "signs"),
    "latin": ("words_latin", "names_en", "signs"),
    "script": ("signs",),
}

#: Endings of words by language, and what stands instead in the list.
_ENDINGS = {
    "en": (("'s", ""), ("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e")),
    "es": (("s", ""), ("es", ""), ("as", "o"), ("a", "o"), ("ito", "o"), ("ita", "a"), ("itos", "o"), ("itas", "a")),
}

#: The shortest stem.
_STEM = 4

#: The shortest beginning of a word, the longest piece of Japanese, in characters.
_BEGINNING, _PIECE = 3, 10

#: So many words are kept with what they say.
_KNOWN = 1 << 16

Says = tuple[tuple[int, int], ...]


#: What was found in a text: an entry, what it says, and how many tenths of that.
Found = tuple[str, Says, int]


@dataclass(frozen=True)
class Lexicon:
    """What is said by whole words and phrases, by beginnings of words, and by pieces of texts without blanks."""

    words: dict[str, Says]
    #: By its first word, how many words the longest phrase has.
    phrases: dict[str, int]
    beginnings: dict[str, Says]
    pieces: dict[str, Says]
    endings: tuple[tuple[str, str], ...]
    #: Words that were looked up; a language has few that come again and again.
    _known: dict[str, Found | None] = field(default_factory=dict, compare=False)

    def sums(self, text: str, words: Sequence[str]) -> list[int]:
        """What a cleaned *text* with these *words* says for each of the topics that can be told.

        Each entry counts once, and a phrase counts instead of its words.
        """
        found = self._in_words(words)
        if self.pieces and not text.isascii():
            found += self._in_pieces(text)
        sums, seen = [0] * len(TOLD), set()
        for entry, says, share in found:
            if entry not in seen:
                seen.add(entry)
                for topic, much in says:
                    sums[topic] += much * share // 10
        return sums

    def phrases_in(self, words: Sequence[str]) -> list[Says]:
        """What the phrases of several of these *words* say."""
        return [says for entry, says, _ in self._in_words(words) if " " in entry]

    def _in_words(self, words: Sequence[str]) -> list[Found]:
        found: list[Found] = []
        phrases, known, after = self.phrases, self._known, 0
        for at, word in enumerate(words):
            if at < after:
                continue
            one = self._phrase_at(words, at) if word in phrases else None
            if one is not None:
                after = at + one[0].count(" ") + 1
            else:
                one = known[word] if word in known else self._of_word(word)
            if one is not None:
                found.append(one)
        return found

    def _phrase_at(self, words: Sequence[str], at: int) -> Found | None:
        """The longest phrase that begins with a word."""
        for count in range(self.phrases[words[at]], 1, -1):
            phrase = " ".join(words[at : at + count])
            if phrase in self.words and at + count <= len(words):
                return phrase, self.words[phrase], 13
        return None

    def _of_word(self, word: str) -> Found | None:
        """What a word that is looked up for the first time says, itself or by its stem."""
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[word] = found = self._looked_up(word)
        return found

    def _looked_up(self, word: str) -> Found | None:
        if word in self.words:
            return word, self.words[word], 10
        for ending, instead in self.endings:
            stem = word[: -len(ending)]
            if len(stem) >= _STEM and word.endswith(ending) and stem + instead in self.words:
                return stem + instead, self.words[stem + instead], 8
        for length in range(len(word), _BEGINNING - 1, -1) if self.beginnings else ():
            if word[:length] in self.beginnings:
                return word[:length], self.beginnings[word[:length]], 10
        return None

    def _in_pieces(self, text: str) -> list[Found]:
        """The pieces of a text, from its beginning, the longest first."""
        found, at = [], 0
        while at < len(text):
            piece = self._piece_at(text, at) if text[at : at + 2] > "\u02ff" else None
            if piece is not None:
                found.append((piece, self.pieces[piece], 10))
            at += 1 if piece is None else len(piece)
        return found

    def _piece_at(self, text: str, at: int) -> str | None:
        """The longest piece that begins at a place."""
        every = (text[at : at + length] for length in range(_PIECE, 0, -1))
        return next((each for each in every if each in self.pieces), None)


@cache
def lexicon(language: str) -> Lexicon:
    """The lexicon of a language."""
    said: dict[str, dict[int, int]] = {}
    for name in _FILES[language]:
        for entry, topic, much in entries(name):
            of_entry = said.setdefault(entry, {})
            of_entry[topic] = max(of_entry.get(topic, 0), much)
    every = {entry: _shared(says) for entry, says in said.items()}
    pieces = {entry for entry in every if any(each > "\u203b" for each in entry)}
    beginnings = {entry for entry in every if entry.endswith("*")}
    words = {entry: says for entry, says in every.items() if entry not in pieces | beginnings}
    phrases: dict[str, int] = {}
    for entry in words:
        first, *rest = entry.split(" ")
        if rest:
            phrases[first] = max(phrases.get(first, 0), len(rest) + 1)
    return Lexicon(
        words=words,
        phrases=phrases,
        beginnings={entry[:-1]: every[entry] for entry in beginnings},
        pieces={entry: every[entry] for entry in pieces},
        endings=_ENDINGS.get(language, ()),
    )


def entries(name: str) -> Iterator[tuple[str, int, int]]:
    """The entries of a file: word or phrase, topic, and how much it says."""
    for topic, sections in read(name).items():
        for section, words in sections.items():
            for word in words.split():
                yield folded(word.replace("_", " ").strip()), TOLD.index(topic), _SAYS[section]


def read(name: str) -> dict[str, dict[str, str]]:
    """A file of our own data, by topic."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


def read_flat(name: str) -> dict[str, str]:
    """A file of our own data without topics, by language."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


def _shared(says: dict[int, int]) -> Says:
    """What an entry says; one that stands with several topics says less for each."""
    of_each: Iterable[tuple[int, int]] = says.items()
    if len(says) > 1:
        of_each = ((topic, much * 2 // 3) for topic, much in says.items())
    return tuple(of_each)
