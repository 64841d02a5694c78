"""What damage does to files: to their bytes, and to their structure, so that the damage lies where a reader looks."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

#: What stands in a document where no JSON library would write it.
RAW = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1E400", "-0", "-0.0", "1e-400", "0x10", "01", "1_000", "+1"),
    *("9" * 20, "-" + "9" * 20, "9" * 400, "9" * 5000, "1." + "1" * 400, "inf", "nan", "'a'", "undefined", ""),
    *("[" * 3000 + "]" * 3000, '{"a":' * 3000 + "1" + "}" * 3000, "[" * 120_000, "1979-05-27T07:32:00Z", "07:32:00"),
)
TEXTS = (
    *("", " ", "\0", "a\0b", "\n", "\r", "\t", "\x1b[31m", "\u202e", "\ud800", "\udfff", "\ue000k\ue001", "\ufeff"),
    *(
        "é",
        "e\u0301",
        "\U0001d7d8",
        "٣",
        "*",
        "?",
        "NA",
        "NaN",
        "inf",
        "-inf",
        "1e999",
        "9" * 30,
        "-1",
        "0",
        "1.5",
        "1,5",
    ),
    *("0x1F", "1_0", "true", "null", "..", "../x", "/etc/passwd", "a/b", "-", "--out", "=1+1", "@a", "file:x.db"),
    *("[1,2)", "{a,b}", "a|b", '"', '""', "'", "\\", "%s", "{}", "x" * 300, "x" * 70_000, "💥", "id", "world"),
)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        3,
        2**31,
        2**53 + 1,
        2**63,
        -(2**63) - 1,
        2**128,
        10**300,
        0.5,
        -0.0,
        1e308,
        5e-324,
    ),
    *([], {}, [[]], [{}], {"": None}, [None], [0, 0], {"a": {"a": {}}}, ["a", "a"], [1, "1", 1.0, True]),
)
MARKS = b"\0\n\r\t \",;|'\\<>&{}[]()=:#%*?-+.0159eExX\xff\xfe\xef\xbb\xbf\x80\xc0\xed\xa0\x1b\x1c\x85"
CUTS = (
    b"PAR1",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b\x08",
    b"SQLite format 3\0",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xfe\xff",
)


# Bytes


def of_bytes(data: bytes, rng: random.Random) -> bytes:
    """The *data* with bits turned, bytes put in, taken away, doubled, moved, or cut off."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, other = rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)
        size = rng.choice((1, 1, 2, 4, 9, 40, 300))
        how = rng.randrange(9)
        if how == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif how == 1:
            data = data[:at] + bytes([rng.choice(MARKS)]) + data[at + 1 :]
        elif how == 2:
            data = data[:at] + bytes(rng.choice(MARKS) for _ in range(size)) + data[at:]
        elif how == 3:
            data = data[:at] + data[at + size :]
        elif how == 4:
            data = data[:at]
        elif how == 5:
            data = data[:at] + data[other : other + size] + data[at:]
        elif how == 6:
            data = data[:at] + rng.choice(CUTS) + data[at:]
        elif how == 7:
            number = rng.choice((0, 1, 2**15, 2**16 - 1, 2**31 - 1, 2**32 - 1, rng.getrandbits(32)))
            data = data[:at] + struct.pack(rng.choice("<>") + "I", number) + data[at + 4 :]
        else:
            data = data[:at] + rng.randbytes(size) + data[at + size :]
    return data


def of_encoding(data: bytes, rng: random.Random) -> bytes:
    """A text in another encoding, or with another beginning or end than it should have."""
    text = data.decode("utf-8", "surrogateescape")
    how = rng.randrange(8)
    if how < 4:
        name = ("utf-16", "utf-32-be", "utf-7", "cp1252")[how]
        return text.encode(name, "ignore")
    return (
        b"\xef\xbb\xbf" * rng.randint(1, 2) + data,
        b"\xff\xfe" + data,
        data.replace(b"\n", rng.choice((b"\r", b"\r\n", b"\n\n", b"\x1c", b"\xe2\x80\xa8"))),
        data + rng.choice((b"\0", b"\x1a", b"\n" * 50, b'"', b"\\")),
    )[how - 4]


def packed(data: bytes, rng: random.Random) -> bytes:
    """The same as gzip: whole, twice, cut, or grown to many megabytes."""
    whole = gzip.compress(data, mtime=0)
    return rng.choice(
        (
            lambda: whole,
            lambda: whole + whole,
            lambda: whole[: rng.randrange(len(whole))],
            lambda: whole + b"\x1f\x8b\x08 nothing",
            lambda: gzip.compress(whole, mtime=0),
            lambda: bomb(data, rng.choice((b" ", b"\n", b"[", b"<a>"))) if rng.random() < 0.1 else whole,
        )
    )()


def bomb(data: bytes, fill: bytes) -> bytes:
    """Some kilobytes of gzip that hold more than a hundred megabytes."""
    packer = zlib.compressobj(1, wbits=31)
    parts = [packer.compress(data), *(packer.compress(fill * (1 << 20)) for _ in range(100))]
    return b"".join([*parts, packer.flush()])


# JSON


def spots(value: Any, found: list[tuple[Any, Any]] | None = None) -> list[tuple[Any, Any]]:
    """All places within a document, as a list or an object and where in it."""
    found = [] if found is None else found
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        found.append((value, key))
        spots(value[key], found)
    return found


def changed_json(document: Any, rng: random.Random) -> Any:
    """A document of which something is gone, doubled, moved, renamed, or of another kind."""
    whole = [document]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        inner, key = rng.choice(spots(whole))
        how = rng.randrange(8)
        if how == 0 and inner is not whole:
            del inner[key]
        elif how == 1:
            inner[key] = rng.choice(VALUES)
        elif how == 2:
            inner[key] = rng.choice(TEXTS)
        elif how == 3:
            inner[key] = f"\ue010{rng.randrange(len(RAW))}\ue011"
        elif how == 4 and isinstance(inner, dict):
            inner[rng.choice(TEXTS) if rng.random() < 0.5 else rng.choice(list(inner))] = inner.pop(key)
        elif how == 5:
            other, its = rng.choice(spots(whole))
            inner[key], other[its] = other[its], json.loads(json.dumps(inner[key]))
        elif how == 6 and isinstance(inner, list):
            inner[key:key] = [inner[key]] * rng.choice((1, 2, 300))
        elif how == 7 and isinstance(inner[key], dict | list):
            inner[key] = [inner[key]] if rng.random() < 0.5 else {"a": inner[key]}
        else:
            inner[key] = str(inner[key]) if rng.random() < 0.5 else [inner[key]]
    return whole[0]


def text_of_json(document: Any, rng: random.Random) -> str:
    """A document as text, in which some things stand that are no JSON, and some keys twice."""
    text = json.dumps(document, ensure_ascii=rng.random() < 0.7)
    text = re.sub(r'"(?:\\ue010|\ue010)(\d+)(?:\\ue011|\ue011)"', lambda found: RAW[int(found[1])], text)
    if rng.random() < 0.1 and (pairs := re.findall(r'"[^"\\]*": (?:"[^"\\]*"|-?\d+|null)', text)):
        one = rng.choice(pairs)
        text = text.replace(
            one, f"{one}, {one.partition(':')[0]}: {rng.choice(('null', '1', '[]', one.partition(': ')[2]))}", 1
        )
    return text


def of_json(data: bytes, rng: random.Random) -> bytes:
    return text_of_json(changed_json(json.loads(data), rng), rng).encode("utf-8", "surrogatepass")


def of_json_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines()
    at = rng.randrange(len(lines))
    how = rng.randrange(5)
    if how < 3:
        lines[at] = of_json(lines[at], rng)
    elif how == 3:
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    else:
        del lines[at]
    return b"\n".join(lines) + b"\n" * rng.randrange(2)


# Tables, settings, XML


def of_rows(data: bytes, rng: random.Random, mark: str = ",") -> bytes:
    """A table in which cells, columns, headers, quotes or rows are not as they should be."""
    rows = [line.split(mark) for line in data.decode("utf-8", "surrogateescape").splitlines()] or [[""]]
    for _ in range(rng.choice((1, 1, 2, 3))):
        row = rng.choice(rows)
        at = rng.randrange(len(row)) if row else 0
        how = rng.randrange(12)
        if how == 0 and row:
            row[at] = rng.choice(TEXTS).replace("\ue000", "")
        elif how == 1 and row:
            row[at] = rng.choice(('"', '"a', 'a"b', '"a\nb"', '"a""', '""""', "'a", '"' + "a\n" * 300))
        elif how == 2 and row:
            del row[at]
        elif how == 3:
            row.insert(at, rng.choice(TEXTS))
        elif how == 4 and len(rows) > 1:
            rows.remove(row)
        elif how == 5:
            rows.insert(rng.randrange(len(rows) + 1), list(row))
        elif how == 6 and len(rows[0]) > 1:
            rows[0][rng.randrange(len(rows[0]))] = rng.choice(rows[0])
        elif how == 7:
            rng.shuffle(rows[0] if rng.random() < 0.5 else rows)
        elif how == 8:
            rows = [each[:at] + each[at + 1 :] for each in rows]
        elif how == 9:
            rows = [[*each, each[at] if at < len(each) else ""] for each in rows]
        elif how == 10:
            rows = rows[:1] if rng.random() < 0.5 else [[*each, *[""] * 3000] for each in rows[:2]]
        elif row:
            row[at] = rng.choice(RAW[:22])
        rows = rows or [[""]]
    other = rng.choice((mark, mark, mark, ";", "\t", "|", " ", ""))
    return "\n".join(other.join(each) for each in rows).encode("utf-8", "surrogatepass")[: 4 << 20]


def of_toml(data: bytes, rng: random.Random) -> bytes:
    """Settings with lines gone, doubled or moved, and values of other kinds."""
    lines = data.decode().splitlines()
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(lines))
        how = rng.randrange(6)
        if how == 0 and len(lines) > 1:
            del lines[at]
        elif how == 1:
            lines.insert(rng.randrange(len(lines) + 1), lines[at])
        elif how == 2:
            rng.shuffle(lines)
        else:
            name, equals, _ = lines[at].partition(" = ")
            value = rng.choice((*RAW, *(json.dumps(each) for each in (*VALUES, *TEXTS))))
            if equals:
                name = name if rng.random() < 0.8 else json.dumps(rng.choice(TEXTS))
                lines[at] = f"{name} = {value}"
            else:
                lines[at] = rng.choice(
                    ("[a]", "[[a]]", f"[{json.dumps(rng.choice(TEXTS))}]", f"x = {value}", f"[{'a.' * 999}a]")
                )
    return "\n".join(lines).encode("utf-8", "surrogatepass")


ENTITIES = (
    b'<!DOCTYPE g [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(10))
    + b"]>",
    b'<!DOCTYPE g [<!ENTITY k SYSTEM "file:///etc/passwd">]>',
    b'<!DOCTYPE g SYSTEM "http://127.0.0.1:9/g.dtd">',
    b'<!DOCTYPE g [<!ENTITY % k SYSTEM "http://127.0.0.1:9/g.dtd"> %k;]>',
    b'<!DOCTYPE g [<!ATTLIST node id CDATA "&k;"><!ENTITY k "' + b"x" * 9999 + b'">]>',
)


def of_xml(data: bytes, rng: random.Random) -> bytes:
    """XML with elements gone, doubled, swapped or nested, other attributes and texts, and entities."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        tags = [each.span() for each in re.finditer(rb"<[^>]*>", data)]
        (low, high), (begin, end) = rng.choice(tags or [(0, 0)]), rng.choice(tags or [(0, 0)])
        how = rng.randrange(10)
        if how == 0:
            data = data[:low] + data[high:]
        elif how == 1:
            data = data[:high] + data[low:high] + data[high:]
        elif how == 2:
            data = data[:low] + data[begin:end] + data[high:]
        elif how == 3:
            low, high = min(low, begin), max(high, end)
            data = data[:high] + data[low:high] + data[high:]
        elif how == 4:
            low, high = min(low, begin), max(high, end)
            data = data[:low] + data[high:]
        elif how in (5, 6):
            quoted = [each.span(1) for each in re.finditer(rb'="([^"]*)"', data)] or [(0, 0)]
            (low, high), (begin, end) = rng.choice(quoted), rng.choice(quoted)
            text = data[begin:end] if how == 5 else rng.choice(TEXTS).encode("utf-8", "ignore")
            data = data[:low] + text.replace(b'"', b"&quot;") + data[high:]
        elif how == 7:
            head = data.find(b"?>") + 2
            data = data[:head] + rng.choice(ENTITIES) + data[head:].replace(b">", b">&k;", rng.randrange(2))
        elif how == 8:
            text = rng.choice(
                (
                    "<![CDATA[",
                    "]]>",
                    "<!--",
                    "&#0;",
                    "&#xD800;",
                    "&lt;",
                    "&x;",
                    "<?php ?>",
                    "<a>" * 5000,
                    " a='1' a='2'",
                )
            )
            data = data[:high] + text.encode() + data[high:]
        else:
            encoding = rng.choice((b"utf-16", b"latin-1", b"utf-7", b"none", b"cp1252"))
            data = re.sub(rb"encoding=.[\w-]+.", b'encoding="%s"' % encoding, data, count=1)
    return data


def of_words(data: bytes, rng: random.Random) -> bytes:
    """A text with words gone, doubled or other ones."""
    words = re.findall(rb"\w+|\s+|.", data, flags=re.DOTALL) or [b""]
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(words))
        how = rng.randrange(5)
        if how == 0 and len(words) > 1:
            del words[at]
        elif how == 1:
            words[at:at] = [words[at]] * rng.choice((1, 2, 2000))
        elif how == 2:
            words[at] = rng.choice(words)
        elif how == 3:
            words[at] = rng.choice(TEXTS).encode("utf-8", "surrogatepass")
        else:
            words[at] = rng.choice(RAW).encode()[:9000]
    return b"".join(words)


# Files of files


def of_zip(
    data: bytes, rng: random.Random, *, inner: Callable[[str, bytes, random.Random], bytes] | None = None
) -> bytes:
    """A zip file whose parts are gone, doubled, renamed, damaged, encrypted, swollen, or packed in odd ways."""
    with zipfile.ZipFile(io.BytesIO(data)) as read:
        parts = [(each.filename, read.read(each)) for each in read.infolist()]
    at = rng.randrange(len(parts))
    name, content = parts[at]
    method, how = zipfile.ZIP_DEFLATED, rng.randrange(9)
    if how < 4:
        parts[at] = name, (inner or of_part)(name, content, rng)
    elif how == 4:
        parts[at] = (
            rng.choice(("../" + name, "/" + name, "a/" + name, name.upper(), name + "\0x", "", "x" * 60000)),
            content,
        )
    elif how == 5:
        del parts[at]
    elif how == 6:
        parts.append((name, content if rng.random() < 0.5 else (inner or of_part)(name, content, rng)))
    elif how == 7:
        parts[at] = name, content + b" " * (120 << 20) if rng.random() < 0.05 else content + b" " * (1 << 20)
    else:
        method = rng.choice((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_STORED))
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", method) as packed:
        for each, text in parts:
            # A plain name would be taken apart by the library.
            told = zipfile.ZipInfo("x")
            told.filename, told.compress_type = each, method
            packed.writestr(told, text)
    made = into.getvalue()
    if rng.random() < 0.25:
        made = _with_other_head(made, rng)
    return made


def of_part(name: str, content: bytes, rng: random.Random) -> bytes:
    """A part of an archive, damaged as what its name says it is."""
    if name.endswith(".json"):
        return of_json(content, rng)
    if name.endswith(".js"):
        head, equals, body = content.partition(b"= ")
        with_body = body or head
        return head + equals + of_json(with_body, rng) if equals else of_bytes(content, rng)
    return of_bytes(content, rng)


def _with_other_head(data: bytes, rng: random.Random) -> bytes:
    """A zip file with another number in the head of a part, in the list of parts, or at the end."""
    mark, size = rng.choice(((b"PK\x03\x04", 30), (b"PK\x01\x02", 46), (b"PK\x05\x06", 22)))
    at = rng.choice([each.start() for each in re.finditer(re.escape(mark), data)] or [0])
    place = at + 4 + 2 * rng.randrange((size - 4) // 2)
    number = rng.choice((0, 1, 9, 12, 99, 2**15, 2**16 - 1))
    return data[:place] + struct.pack("<H", number) + data[place + 2 :]


STRUCTURES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "json": of_json,
    "json lines": of_json_lines,
    "rows": of_rows,
    "tab rows": partial(of_rows, mark="\t"),
    "toml": of_toml,
    "xml": of_xml,
    "words": of_words,
    "zip": of_zip,
}
