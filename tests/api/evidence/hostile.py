"""Files that are made to break whoever reads them: broken, swollen, far too wide, in no encoding, with entities."""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
import zipfile
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MIB = 1 << 20


def bomb(head=b"", fill=b"\0", size=1 << 30, tail=b""):
    """Some kilobytes of gzip that hold so many bytes."""
    packer = zlib.compressobj(9, wbits=31)
    block = fill * (MIB // len(fill))
    parts = [packer.compress(head), *(packer.compress(block) for _ in range(size // MIB)), packer.compress(tail)]
    return b"".join([*parts, packer.flush()])


def slow_bomb():
    """A gzip of 5 MiB that holds a gibibyte: it swells less than a reader of files refuses."""
    noise = random.Random(1).randbytes(4 * MIB).hex().encode()
    return gzip.compress(b'{"nodes": ["' + noise, 6) + bomb(fill=b" ")


def zipped(data, name="t.csv"):
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, data)
    return into.getvalue()


def with_other_directory(data, chance):
    """A zip file with some bytes of its directory, which is at its end, changed."""
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        changed[-1 - chance.randrange(70)] = chance.randrange(256)
    return bytes(changed)


def of_another_version(data):
    """A zip file that says that a version is needed to read it that does not exist."""
    changed = bytearray(data)
    changed[data.rindex(b"PK\1\2") + 6] = 200
    return bytes(changed)


def parquet(rows, columns=1, **options):
    """A Parquet file of one value, over and over."""
    into = io.BytesIO()
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), pa.array(["x"]))
    pq.write_table(pa.table({f"c{n}": column for n in range(columns)}), into, compression="zstd", **options)
    return into.getvalue()


def with_other_footer(data, chance):
    """A Parquet file with some bytes of its footer changed."""
    (length,) = struct.unpack("<I", data[-8:-4])
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        changed[-8 - 1 - chance.randrange(length)] = chance.randrange(256)
    if chance.random() < 0.1:
        changed[-8:-4] = struct.pack("<I", chance.randrange(1 << 32))
    return bytes(changed)


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "ha">'
    + b"".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">'.encode() for n in range(10))
    + b']><graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed"><node id="&k;"/></graph>'
    b"</graphml>"
)
OUTSIDE = (
    b'<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed"><node id="&a;"/></graph>'
    b"</graphml>"
)
SCHEMA_OUTSIDE = (
    b'<?xml version="1.0"?><!DOCTYPE g SYSTEM "http://127.0.0.1:9/g.dtd"><graphml '
    b'xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed"><node id="a"/></graph></graphml>'
)

#: Small ones: what each is, where it is put (graphs have their format after a colon), and its bytes.
SMALL = {
    "nothing": b"",
    "only a byte order mark": b"\xef\xbb\xbf",
    "zero characters": b"a,b\n1,\0\n",
    "an unclosed quote": b'a,b\n1,"2\n3,4\n',
    "rows of unlike length": b"a,b\n1\n1,2,3\n",
    "a zip": zipped(b"a,b\n1,2\n"),
    "a zip of no known version": of_another_version(zipped(b"a,b\n1,2\n")),
    "gzip": gzip.compress(b"a,b\n1,2\n"),
    "the first bytes of gzip": gzip.compress(b"a,b\n1,2\n")[:9],
    "an old spreadsheet": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500,
    "a PDF": b"%PDF-1.7\n" + b"\0" * 99,
    "the ends of a Parquet file": b"PAR1PAR1",
    "a Parquet file whose footer is longer than it": b"PAR1" + struct.pack("<I", 1 << 31) + b"PAR1",
    "half a Parquet file": parquet(100)[:-30],
}
SMALL_GRAPHS = {
    "billion laughs:graphml": LAUGHS,
    "an entity from outside:graphml": OUTSIDE,
    "a document type from outside:gexf": SCHEMA_OUTSIDE,
    "nested too deeply:graphml": b"<a>" * 100_000,
    "half an element:graphml": b"<graphml><gra",
    "deep lists:node-link": b"[" * 200_000,
    "deep objects:node-link": b'{"a":' * 200_000,
    "a list:node-link": b"[]",
    "a node that is a number:node-link": b'{"nodes": [1], "edges": []}',
    "an edge to nobody:node-link": b'{"nodes": [{"id": "a"}], "edges": [{"source": "a", "target": "b"}]}',
    "a number beyond all:node-link": b'{"nodes": [{"id": 1e999}], "edges": []}',
    "no number:node-link": b'{"nodes": [{"id": NaN}], "edges": []}',
    "an id twice:node-link": b'{"nodes": [{"id": "a"}, {"id": "a"}], "edges": []}',
    "half a pair:node-link": b'{"nodes": [{"id": "\\ud800"}], "edges": []}',
    "no topics:node-link": b'{"nodes": [{"id": "a", "topics": {"x": 1}}], "edges": []}',
    "UTF-16:node-link": json.dumps({"nodes": [], "edges": []}).encode("utf-16"),
    "a zip of no known version:edge-list": of_another_version(zipped(b"source,target\na,b\n")),
    "zeros:edge-list": b"\0" * 1000,
    "an unclosed quote:edge-list": b'source,target\n"a,b\n',
}


def large():
    """Large ones, or ones that swell: made when they are needed."""
    yield "tables", "a million columns", b",".join(b"c%d" % n for n in range(700_000)) + b"\n"
    yield "tables", "a million columns and a row", (b"a" + b"," * 999_999 + b"\n") * 2
    yield "tables", "an open quote of 7 MiB", b'a,b\n1,"' + b"x" * 7 * MIB
    yield "tables", "a cell of 7 MiB", b"a,b\n1," + b"x" * 7 * MIB + b"\n"
    yield "tables", "four million rows", b"a\n" + b"1\n" * (4 * MIB - 10)
    yield "tables", "a Parquet file of 90 million rows", parquet(90_000_000)
    yield "tables", "a Parquet file of 9,000 columns of 10,000 rows", parquet(10_000, 9_000)
    yield "tables", "a Parquet file of a billion rows", parquet(1_000_000_000, row_group_size=1 << 30)
    yield "tables", "a gzip of a gibibyte", bomb(b"a,b\n", b"1,2\n")
    yield "graphs:node-link", "a gzip of a gibibyte of blanks", bomb(b'{"nodes": [', b" ", tail=b"]}")
    yield (
        "graphs:node-link",
        "a gzip of 40 million nodes",
        bomb(b'{"edges": [], "nodes": [{"id": "a"}', b',{"id":"a"}     '),
    )
    yield "graphs:node-link", "a gzip that swells two hundredfold", slow_bomb()
    yield "graphs:edge-list", "a gzip of edges", bomb(b"source,target\n", b"a,b\n")
    yield "graphs:edge-list", "a million columns", b"source,target" + b",x" * 1_000_000
    yield "graphs:node-link", "7 MiB of deep lists", b"[" * 7 * MIB
    yield "graphs:node-link", "7 MiB of short lists", b'{"nodes": [' + b"[]," * (2 * MIB) + b"[]]}"
    yield "graphs:graphml", "7 MiB of open elements", b"<a>" * (7 * MIB // 3)


def drawn(chance):
    """A small file that nobody has made before, and where it is put."""
    where = chance.choice(("tables", *(f"graphs:{each}" for each in ("node-link", "graphml", "gexf", "edge-list"))))
    how = chance.randrange(5)
    if how == 0:
        return where, chance.randbytes(chance.randrange(3000))
    if how == 1:
        return "tables", with_other_footer(parquet(50, 3), chance)
    if how == 2:
        return where, with_other_directory(zipped(b"source,target\na,b\n"), chance)
    known = {**SMALL, **SMALL_GRAPHS, "sound": SOUND, "sound graph": SOUND_GRAPH}
    data = bytearray(chance.choice(list(known.values()))[:3000])
    for _ in range(chance.randrange(1, 20)):
        if data:
            data[chance.randrange(len(data))] = (
                chance.choice(b'\0\xff",;\n\r<>{}[]&%0123\t') if how == 3 else chance.randrange(256)
            )
    return where, bytes(data)


SOUND = b"age,town\n" + b"".join(b"%d,%s\n" % (20 + n % 9, b"AB"[n % 2 : n % 2 + 1]) for n in range(60))
SOUND_GRAPH = json.dumps(
    {"nodes": [{"id": str(n), "topics": ["x"]} for n in range(9)], "edges": [{"source": "0", "target": "1"}]}
).encode()

chance_of = random.Random
