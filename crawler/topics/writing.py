"""How people write: what is cut out of a text before it is read, its words, and the language it is in."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

#: So many characters of a text are read; what a page is about stands at its beginning.
READ = 20_000

#: English, Spanish, Greek, Japanese, another language in Latin letters, or another script.
Language = Literal["en", "es", "el", "ja", "latin", "script"]

_ADDRESS = re.compile(r"https?://\S+|www\.\S+|\bt\.co/\S+")
_MENTION = re.compile(r"(?<!\w)@[\w.]+(?:@[\w.-]+)?")
_HASHTAG = re.compile(r"[#\uff03](\w+)")
_INNER_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=[A-Z])(?=[A-Z][a-z])|_")
#: What is left of marks of HTML where somebody took the text apart.
_MARK = re.compile(r"\b(?:quot|amp|lt|gt|nbsp) ?;|&#?\w+;|#\d+;")
_KANA_AND_KANJI = r"\u3040-\u30ff\u3400-\u9fff"
_LETTER = rf"[^\W_{_KANA_AND_KANJI}]"
_WORD = re.compile(rf"{_LETTER}+(?:['\-&]{_LETTER}+)*|[{_KANA_AND_KANJI}]+|[^\w\s]")
_ACCENT = re.compile("[\u0300-\u036f]")
_JAPANESE = re.compile(f"[{_KANA_AND_KANJI}]")
_GREEK = re.compile(r"[\u0370-\u03ff]")
_LATIN = re.compile(r"[a-z]")
_OTHER_SCRIPT = re.compile(r"[\u0400-\u06ff\u0900-\u0e7f\uac00-\ud7af]")

#: Short words that stand in nearly every text of a language, without accents.
_COMMON = {
    "en": "the and of to is in you i my for that on with it this was are be not have at just so we but all they he she "
    "what do your if from i'm don't it's can has his her will as an by when who how up out about get like now too said "
    "a me no one or its our their been were had more than some would could should why because don't can't im ur u your",
    "es": "de la que el en los las un una unos unas por con para se es lo su sus mi mis te del al muy pero como mas si "
    "ya esta este eso esa ese todo toda cuando porque hay fue son ser tiene tengo yo tu les nos sin hasta donde ni asi "
    "sobre entre desde a me no y o hoy ayer estoy soy he ha han era voy va vamos quiero puede nada algo otra otro uno",
    "latin": "nao uma voce dos das da do na em com mais eu meu minha isso e et les des une est pas pour dans je vous "
    "sur qui und der die das den dem nicht ist war ich ein eine mit auf von auch noch che di il non sono per della del "
    "con una sei het een van ik niet dan itu ini yang aku ang ng mga sa ko ako bir ve bu cok och att det jag som",
}
#: All of these words.
COMMON = frozenset(word for words in _COMMON.values() for word in words.split())
_LANGUAGES_OF = {word: [each for each, words in _COMMON.items() if word in words.split()] for word in COMMON}


def folded(text: str) -> str:
    """A text in small letters and without accents.

    >>> folded("Ποίηση, Señor’s Café, が")
    "ποιηση, senor's cafe, が"
    """
    plain = _ACCENT.sub("", unicodedata.normalize("NFD", text.lower()))
    return unicodedata.normalize("NFC", plain).replace("\u03c2", "\u03c3").replace("\u2018", "'").replace("\u2019", "'")


def cleaned(text: str) -> str:
    """A text without addresses and names of users, with hashtags as words, folded.

    >>> cleaned("@ann loves #WorldCup2022 &amp; tea https://t.co/x")
    'loves world cup 2022 & tea'
    """
    text = _MENTION.sub(" ", _ADDRESS.sub(" ", html.unescape(text[:READ])))
    text = _HASHTAG.sub(lambda found: f" {_INNER_WORD.sub(' ', found[1])} ", text)
    return " ".join(folded(_MARK.sub(" ", text)).split())


def words_of(text: str) -> list[str]:
    """The words and marks of a cleaned text.

    >>> words_of("it's a k-pop song!"), words_of("新しいiphone")
    (["it's", 'a', 'k-pop', 'song', '!'], ['新しい', 'iphone'])
    """
    return _WORD.findall(text)


def language_of(text: str, words: Sequence[str]) -> Language:
    """The language of a cleaned text with these *words*; without a sign of another it is English.

    >>> [language_of(each, words_of(each)) for each in ("no se que hacer", "gol!", "σημερα", "今日は", "привет")]
    ['es', 'en', 'el', 'ja', 'script']
    """
    if not text.isascii():
        latin = len(_LATIN.findall(text))
        if 3 * len(_JAPANESE.findall(text)) > latin:
            return "ja" if _JAPANESE.search(text) else _by_words(words)
        if len(_GREEK.findall(text)) > latin:
            return "el"
        if len(_OTHER_SCRIPT.findall(text)) > latin:
            return "script"
    return _by_words(words)


def _by_words(words: Sequence[str]) -> Language:
    """Of the languages in Latin letters, the one with most of its common words."""
    counts = dict.fromkeys(_COMMON, 0)
    for word in words:
        if word in _LANGUAGES_OF:
            for language in _LANGUAGES_OF[word]:
                counts[language] += 1
    best = max(counts, key=lambda each: (counts[each], each == "en"))
    return {"en": "en", "es": "es", "latin": "latin"}[best]  # type: ignore[return-value]
