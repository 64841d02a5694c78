"""What is alike in how people write: letters in fancy styles, accents, abbreviations; and flags as codes.

`fold` makes the key under which a name stands in the index; `plain` makes a text readable for it.
"""

from __future__ import annotations

import re
import unicodedata

#: Small capitals and squared letters, which Unicode does not see as styles of the plain ones.
_STYLES = {
    **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True)),
    **{chr(first + at): chr(ord("A") + at) for first in (0x1F130, 0x1F150, 0x1F170) for at in range(26)},
}
_APOSTROPHES = "\u2018\u2019\u02bb\u02bc\u00b4`"
_PLAIN = str.maketrans({**_STYLES, **dict.fromkeys(_APOSTROPHES, "'"), "\u00ad": "", "\u200b": ""})
#: Letters that no decomposition takes apart.
_DROPPED = {ord("'"): None, ord("."): None}
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "\u0131": "i", "æ": "ae", "œ": "oe", "ə": "e"}
)
#: Marks that are dropped: accents of Latin, Greek and Cyrillic, the vowels of Hebrew and Arabic.
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u0655\u0670\u0640]")
#: Full stops and apostrophes are dropped within a word, other marks stand between two words.
_ASCII = {code: " " for code in range(128) if not chr(code).isalnum()} | {ord("'"): None, ord("."): None}
_BETWEEN = re.compile(r"[\W_]+")
_ABBREVIATED = {"saint": "st", "sainte": "ste", "mount": "mt", "fort": "ft", "sankt": "st"}
_LONG = re.compile(r"\b(?:saint|sainte|sankt|mount|fort)\b")
#: A letter that is struck through is taken back.
_STRUCK = re.compile("(?:.[\u0335\u0336])+")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}|\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]+\U000e007f")


def fold(name: str) -> str:
    """The key of a name: lower case, without accents and marks, common abbreviations alike.

    >>> fold("Saint-Étienne"), fold("Coeur d'Alene"), fold("U.S.A."), fold("МОСКВА")
    ('st etienne', 'coeur dalene', 'usa', 'москва')
    """
    if name.isascii():
        key = name.lower()
        if not key.isalpha():
            key = " ".join(key.translate(_ASCII).split())
    else:
        key = _BETWEEN.sub(" ", unmarked(name.translate(_PLAIN)).translate(_DROPPED)).strip()
    if "saint" in key or "fort" in key or "mount" in key or "sankt" in key:
        return _LONG.sub(lambda found: _ABBREVIATED[found[0]], key)
    return key


def unmarked(text: str) -> str:
    """A *text* without accents; letters of other scripts stay whole.

    >>> unmarked("Łódź"), unmarked("서울")
    ('lodz', '서울')
    """
    folded = unicodedata.normalize("NFKD", text.casefold()).translate(_LETTERS)
    return unicodedata.normalize("NFC", _MARKS.sub("", folded))


def plain(text: str) -> str:
    """A *text* in plain letters, without what is struck through.

    >>> plain("𝓝𝓮𝔀 Ｙｏｒｋ 🅽🆈")
    'New York NY'
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _STRUCK.sub(" ", text)).translate(_PLAIN)


def flags(text: str) -> list[str]:
    """The flags in a *text*, as codes of countries and of their parts.

    >>> flags("🇺🇸 and 🏴󠁧󠁢󠁳󠁣󠁴󠁿")
    ['US', 'GB-SCT']
    """
    return [_code(found) for found in _FLAG.findall(text)]


def _code(flag: str) -> str:
    if len(flag) == 2:
        return "".join(chr(ord(each) - 0x1F1E6 + ord("A")) for each in flag)
    letters = "".join(chr(ord(each) - 0xE0000) for each in flag[1:-1]).upper()
    return f"{letters[:2]}-{letters[2:]}"
