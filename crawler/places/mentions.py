"""What the words of a passage stand for: whole names first, then a name with its region or country, then parts."""

from __future__ import annotations

import re
from typing import NamedTuple

from crawler.places.building import weight
from crawler.places.folding import fold
from crawler.places.index import Candidates, Index
from crawler.places.passages import Passage

#: How many people make a city whose name is known without a region or country beside it; in two signs, such as 北京.
_LARGE, _HUGE = weight(150_000, 6), weight(1_000_000, 10)
#: Below it a city is little known.
_KNOWN = weight(12_000, 1)
_REGIONAL = frozenset(("country", "administrative_area_level_1", "continent"))
_NOT_TOKENS = re.compile(r"[\W_]+")
_DROPPED = {ord("'"): None, ord("."): None}
_DIGIT = re.compile(r"\d")
_SIGNS = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_LONGEST = 5
#: What makes the likelihood of a code small beside the weights of names: it counts beside its city alone.
_UNLIKELY = 1e-3
#: How likely a code is that people use without anything beside it.
_USED = 4.0
#: After these, what could be a first name is a place.
_PREPOSITIONS = frozenset(("in", "at", "near", "around", "from", "to", "en", "em", "a", "de", "da", "aus", "bei"))
_DRAWN_OUT = re.compile(r"(.)\1{2,}")


class Mention(NamedTuple):
    """A name, and what it can stand for."""

    candidates: Candidates
    #: How sure it is that it stands for a place at all, from 0 to 1.
    sure: float = 1.0
    #: Whether it counts only beside a place that it lies in, or that lies in it.
    needs_context: bool = False
    is_code: bool = False


class Reader:
    """Reads passages by an index."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def mentions(self, passage: Passage | str) -> list[Mention]:
        """What a passage stands for, in its order; nothing if it names no place."""
        text = passage if isinstance(passage, str) else passage.text
        key = fold(text)
        if not key:
            return []
        lower = key.split(" ")
        words = _NOT_TOKENS.sub(" ", text.translate(_DROPPED)).split()
        if len(words) != len(lower):
            words = lower
        if _DIGIT.search(key) and not self.index.candidates(key):
            kept = [at for at, word in enumerate(lower) if not _DIGIT.search(word)]
            lower, words = [lower[at] for at in kept], [words[at] for at in kept]
        if 1 < len(lower) == len(key.replace(" ", "")) <= 4:
            # U S A
            lower, words = ["".join(lower)], ["".join(words)]
        found = self._read(lower, words) if lower else []
        if not found and _DRAWN_OUT.search(key):
            return self.mentions(_DRAWN_OUT.sub(r"\1", key))
        return found

    def whole(self, key: str) -> Mention | None:
        """What a whole text stands for, if it is a name."""
        found = self.index.candidates(key)
        return self._named(key, found) if key and found else None

    def _named(self, key: str, found: Candidates, sure: float = 1.0) -> Mention:
        if key in self.index.words:
            return Mention(found, sure, needs_context=True)
        types = self.index.types
        is_known = any(likely >= _KNOWN or types[place] in _REGIONAL for place, likely in found)
        return Mention(found, sure if is_known else 0.6 * sure)

    def _read(self, lower: list[str], words: list[str]) -> list[Mention]:
        found = self._exact(lower, words) or self._stripped(lower, words)
        if found is not None:
            return [found]
        if " ".join(lower) in self.index.words:
            return []
        if len(lower) > 1:
            split = self._with_context(lower, words)
            if split:
                return split
        if any(_SIGNS.match(word) for word in lower):
            return self._by_signs("".join(lower))
        return self._scanned(lower, words) if len(lower) > 1 else []

    def _exact(self, lower: list[str], words: list[str]) -> Mention | None:
        """What all words together stand for."""
        if len(lower) == 1 and len(lower[0]) <= 3:
            code = self._code(lower[0], words[0])
            if code is not None:
                return code
        key = " ".join(lower)
        found = self.index.candidates(key)
        if not found:
            return None
        named = self._named(key, found)
        return named._replace(needs_context=True) if len(key) <= 2 and key.isascii() else named

    def _code(self, key: str, word: str) -> Mention | None:
        """What a code stands for; one that is a word, too, needs capitals or a place beside it."""
        found = self.index.codes.get(key)
        if found is None:
            return None
        is_word, is_used = key in self.index.words, max(each[1] for each in found) >= _USED
        if not word.isupper() and not is_word:
            named = self.index.candidates(key)
            # "pa" is rather the state than a village, but "Ulm" is no code.
            if named and (not is_used or self._is_known(named, _LARGE)):
                both = (*named, *((n, likely * _UNLIKELY) for n, likely in found if n not in dict(named)))
                return self._named(key, named)._replace(candidates=both)
        # Codes of two letters in other countries than those that use them need a place beside.
        needs_context = not is_used or (is_word and (key in self.index.before or not word.isupper()))
        return Mention(found, 0.95, needs_context, is_code=True)

    def _stripped(self, lower: list[str], words: list[str]) -> Mention | None:
        """What is left without words such as "near" and "area"."""
        begin, end = 0, len(lower)
        while end - begin > 1:
            if lower[begin] in self.index.before:
                begin += 1
            elif lower[end - 1] in self.index.after:
                end -= 1
            else:
                break
            found = self._exact(lower[begin:end], words[begin:end])
            if found is not None and not (found.needs_context and end - begin == 1 and len(lower[begin]) <= 2):
                return found._replace(sure=found.sure * 0.95)
        return None

    def _with_context(self, lower: list[str], words: list[str]) -> list[Mention]:
        """A name that is followed by a region or country, or that follows one, without a mark between."""
        for size in range(min(4, len(lower) - 1), 0, -1):
            context = self._regional(lower[-size:], words[-size:])
            if context is None:
                continue
            before = self._read(lower[:-size], words[:-size])
            if before and self._are_related(before[-1], context):
                return [*before, context]
            if before and self._is_regional(before[-1]):
                # "California Texas": two places; "Cheltenham PA": a village that is not known there.
                return [*before, context]
            is_person = self._is_doubtful(lower, len(lower) - size, size) and not self._is_region(context)
            is_clear = (size > 1 or len(lower[-1]) > 3 or words[-1].isupper()) and not is_person
            if is_clear and not context.needs_context:
                return [context._replace(sure=context.sure * 0.85)]
            # "Ellenwood ga": a village that nobody knows here.
            is_village = len(lower) == 2 and context.is_code and not context.needs_context
            if is_village or all(word in self.index.before for word in lower[:-size]):
                return [context._replace(needs_context=False)]
        for size in range(min(4, len(lower) - 1), 0, -1):
            context = self._regional(lower[:size], words[:size])
            if context is not None and not context.needs_context:
                after = self._exact(lower[size:], words[size:])
                if after is not None and self._are_related(after, context):
                    return [context, after]
        return []

    def _are_related(self, name: Mention, context: Mention) -> bool:
        """Whether something that a name stands for lies in something that another one stands for, or around it."""
        goes_with = self.index.goes_with
        return any(
            goes_with(place, other) or goes_with(other, place)
            for place, _ in name.candidates
            for other, _ in context.candidates
        )

    def _is_region(self, mention: Mention) -> bool:
        return any(self.index.types[place] == "administrative_area_level_1" for place, _ in mention.candidates)

    def _is_regional(self, mention: Mention) -> bool:
        return any(self.index.types[place] in _REGIONAL for place, _ in mention.candidates)

    def _regional(self, lower: list[str], words: list[str]) -> Mention | None:
        """A region, a country or a continent, but no city alone."""
        found = self._exact(lower, words)
        return found if found is not None and self._is_regional(found) else None

    def _scanned(self, lower: list[str], words: list[str]) -> list[Mention]:
        """The well-known names among other words, from the left, the longest first."""
        found, at = [], 0
        while at < len(lower):
            for size in range(min(_LONGEST, len(lower) - at), 0, -1):
                is_doubtful = self._is_doubtful(lower, at, size)
                mention = None if is_doubtful else self._known(lower[at : at + size], words[at : at + size])
                if mention is not None:
                    found.append(mention._replace(sure=0.75))
                    at += size - 1
                    break
            at += 1
        return found

    def _is_doubtful(self, lower: list[str], at: int, size: int) -> bool:
        """Whether words are as likely a first name, such as in "Team Jordan", and nothing says where."""
        is_named = " ".join(lower[at : at + size]) in self.index.doubtful
        return is_named and (not at or lower[at - 1] not in _PREPOSITIONS)

    def _known(self, lower: list[str], words: list[str]) -> Mention | None:
        """A name that is known without anything beside it."""
        key = " ".join(lower)
        if key in self.index.words:
            return None
        if len(key) <= 3:
            code = self._code(key, words[0])
            return code if code is not None and not code.needs_context and words[0].isupper() else None
        found = self.index.candidates(key)
        return Mention(found) if found and self._is_known(found, _LARGE) else None

    def _is_known(self, found: Candidates, least: float) -> bool:
        types = self.index.types
        return any(
            likely >= least and (types[place] != "administrative_area_level_1" or self.index.weights[place] >= _LARGE)
            for place, likely in found
        )

    def _by_signs(self, text: str) -> list[Mention]:
        """The well-known names in a text of a script that has no blanks, the longest first."""
        found, at = [], 0
        while at < len(text):
            for size in range(min(8, len(text) - at), 1, -1):
                named = self.index.candidates(text[at : at + size])
                if named and self._is_known(named, _HUGE if size == 2 else _LARGE):
                    found.append(Mention(named, 0.8))
                    at += size - 1
                    break
            at += 1
        return found
