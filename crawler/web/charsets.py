"""The bytes of a page as text, in the character set that it names.

Only the character sets of the web are known: what Python calls codecs also unpacks, rotates and escapes.
"""

from __future__ import annotations

import codecs
import re

#: Names as pages write them, and Python's. The web reads several as their supersets, and so do we.
_KNOWN = {
    "utf-8": "utf-8", "utf8": "utf-8", "utf-16": "utf-16-le", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be",
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "latin1": "cp1252", "windows-1252": "cp1252",
    "iso-8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030", "gb18030": "gb18030", "big5": "big5hkscs",
    "euc-jp": "euc_jp", "shift_jis": "cp932", "shift-jis": "cp932", "iso-2022-jp": "iso2022_jp", "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949", "koi8-r": "koi8-r", "koi8-u": "koi8-u", "macintosh": "mac_roman", "ibm866": "cp866",
    **{f"windows-{number}": f"cp{number}" for number in (874, *range(1250, 1259))},
    **{f"iso-8859-{number}": f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
}  # fmt: skip

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_IN_TYPE = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_IN_PAGE = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)

#: Where a page that names its character set must do so.
_BEGINNING = 1024


def text_of(body: bytes, content_type: str) -> str:
    """The text of a body; what cannot be read becomes a mark of its own.

    The mark at the beginning counts first, then the header, then the page itself; without any it is UTF-8, or Windows
    1252 where it cannot be that.

    >>> text_of("Málaga".encode("cp1252"), "text/html; charset=ISO-8859-1")
    'Málaga'
    """
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body.removeprefix(mark).decode(codec, errors="replace")
    in_type, in_page = _IN_TYPE.search(content_type), _IN_PAGE.search(body[:_BEGINNING])
    names = [in_type[1] if in_type else "", in_page[1].decode("ascii", errors="replace") if in_page else ""]
    codecs_named = [_KNOWN[name.lower()] for name in names if name.lower() in _KNOWN]
    if codecs_named:
        return body.decode(codecs_named[0], errors="replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", errors="replace")
