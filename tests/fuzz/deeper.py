"""Files with a format of their own, made and damaged: Parquet, CAR, SQLite, checkpoints, journals."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import random
import sqlite3
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphpriv.graph import SocialGraph
from tabular.files.csv_tables import Dialect, DialectOptions
from tests.crawler.archives import test_bluesky_car as bluesky
from tests.crawler.archives.making import Link, block, car, cbor, repository, varint
from tests.fuzz.mutations import RAW, TEXTS, VALUES, changed_json, of_bytes, of_rows

#: Where cases are tried: in memory, if that is possible.
ROOM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@contextlib.contextmanager
def folder(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder with some files, which is the current one for the time of the block."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(dir=ROOM) as name:
        here = Path(name)
        fill(here, files)
        os.chdir(here)
        try:
            yield here
        finally:
            os.chdir(before)


def fill(here: Path, files: Mapping[str, bytes]) -> None:
    for each, data in files.items():
        (here / each).parent.mkdir(parents=True, exist_ok=True)
        (here / each).write_bytes(data)


def names(here: Path) -> set[str]:
    """The files of a folder, in whatever folders below it."""
    return {str(each.relative_to(here)) for each in here.rglob("*") if each.is_file()}


def held(here: Path) -> dict[str, bytes]:
    return {each: (here / each).read_bytes() for each in sorted(names(here))}


def options(dialect: Dialect | None) -> DialectOptions:
    """How to read again what was written in a dialect: as it says, not by guessing anew."""
    if dialect is None:
        return DialectOptions(delimiter=",", quote='"', header=True, decimal=".", encoding="utf-8")
    return DialectOptions(
        delimiter=dialect.delimiter, quote=dialect.quote or "none", header=dialect.header, decimal=dialect.decimal,
        encoding=dialect.encoding,
    )  # fmt: skip


def are_same(one: SocialGraph, other: SocialGraph) -> bool:
    """Whether two graphs say the same of everybody; where nobody lives, a file says nothing of."""
    lives = [
        [graph.places.path(code) if code >= 0 else None for code in graph.location.tolist()] for graph in (one, other)
    ]
    likes = [
        [[graph.topic_names[code] if code >= 0 else None for code in row] for row in graph.topics.tolist()]
        for graph in (one, other)
    ]
    private = [{key: column for key, column in graph.private.items() if any(column)} for graph in (one, other)]
    return one.ids == other.ids and one.same_links(other) and all(a == b for a, b in (lives, likes, private))


# Parquet


def of_parquet(data: bytes, rng: random.Random) -> bytes:
    """A Parquet file with another footer, or with columns of other kinds."""
    if rng.random() < 0.5:
        return with_other_footer(data, rng)
    columns: dict[str, Any] = {
        "nested": [[1, [2]][0:1], None, [3]], "struct": [{"a": 1}, None, {"a": 2}], "bytes": [b"\xff\0", b"", None],
        "map": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())), "null": pa.nulls(3),
        "big": pa.array([2**63, 0, 2**64 - 1], pa.uint64()),
        "time": pa.array([2**62, -(2**62), None], pa.timestamp("s")),
        "zone": pa.array([1, 2, None], pa.timestamp("us", tz="Nowhere/None" if rng.random() < 0.5 else "UTC")),
        "decimal": pa.array([None, 1, 2], pa.decimal128(38, 9)), "float": [float("inf"), float("nan"), -0.0],
        "half": pa.array(np.array([1, 2, np.nan], np.float16)), "day": pa.array([-(2**31), 2**31 - 1, 0], pa.date32()),
        "long": pa.array([2**62, 5, None], pa.duration("s")), "text": ["\0", "\x1b[31m", "a\ud7ff"],
        "code": pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(["a", "a"])),
        "clock": pa.array([0, 1, None], pa.time64("ns")), "int": [1, 2, 3], "bool": [True, None, False],
    }  # fmt: skip
    chosen = rng.sample(sorted(columns), rng.randint(0, 4))
    names = [
        each if rng.random() < 0.7 else rng.choice(("a", "a", "", "\0", "\x1b[1m", "x" * 3000, "é")) for each in chosen
    ]
    arrays = [columns[each] if isinstance(columns[each], pa.Array) else pa.array(columns[each]) for each in chosen]
    table = pa.Table.from_arrays(arrays, names=names).slice(0, rng.choice((0, 1, 3)))
    into = io.BytesIO()
    try:
        pq.write_table(
            table, into, compression=rng.choice(("none", "snappy", "zstd", "gzip")), version=rng.choice(("1.0", "2.6"))
        )
    except pa.ArrowException:
        return with_other_footer(data, rng)
    made = into.getvalue()
    return made if rng.random() < 0.7 else with_other_footer(made, rng)


def with_other_footer(data: bytes, rng: random.Random) -> bytes:
    """A Parquet file whose footer says something else: of its length, of counts and places."""
    if len(data) < 12:
        return of_bytes(data, rng)
    (length,) = struct.unpack("<I", data[-8:-4])
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        place = len(data) - 8 - 1 - rng.randrange(max(1, min(length, len(data) - 12)))
        changed[place] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    if rng.random() < 0.15:
        changed[-8:-4] = struct.pack("<I", rng.choice((0, 1, length - 1, length + 1, len(data), 2**31, 2**32 - 1)))
    return bytes(changed)


# CAR files


def of_car(data: bytes, rng: random.Random) -> bytes:
    """A repository whose records, commit, tree, blocks or header are not as they should be."""
    how = rng.randrange(6)
    records = json.loads(json.dumps(bluesky.RECORDS))
    if how < 2:
        changed = changed_json(records, rng)
        made = {name: plain(each) for name, each in changed.items()} if isinstance(changed, dict) else {}
        return repository(bluesky.DID, made or records)
    if how == 2:
        key = rng.choice(("did", "version", "data", "rev", "prev", "sig"))
        value = rng.choice(
            (None, 0, 2, -1, 2**64 - 1, "", "did:plc:x", b"", Link(b"\x01\x71\x12\x20" + b"\0" * 32), [], {})
        )
        return repository(bluesky.DID, records, **{key: value}) if key != "did" else repository(str(value), records)
    if how == 3:
        names = [
            rng.choice((name, name.upper(), "a", "", "a/b/c", name + "\0", "app.bsky.feed.post/../x"))
            for name in records
        ]
        return repository(bluesky.DID, dict(zip(names, records.values(), strict=True)))
    odd = cbor(plain(rng.choice((None, [], {}, {"e": 1, "l": 2}, {"e": [{}], "l": None}, {"e": [[]]}, "x", 7))))
    link, body = block(rng.choice(({}, [], None, 5, "x", {"e": [], "l": None})))
    if how == 4:
        return car(link, [(link, body), (b"\x01\x71\x12\x20" + b"\0" * 32, odd), (link, odd)])
    head = rng.choice((b"", b"\0", varint(2**63), b"\xff" * 11, varint(5) + b"\x81" * 5, varint(9000) + b"\x81" * 9000))
    return head + data[rng.randrange(60) :]


def plain(value: Any) -> Any:
    """A value as DAG-CBOR can hold it."""
    if isinstance(value, dict):
        return {str(key).encode("utf-8", "replace").decode(): plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        return str(value)
    return value


# Hierarchies


def of_levels(data: bytes, rng: random.Random) -> bytes:
    return of_rows(data, rng, ";")


# SQLite

_STATEMENTS = (
    "UPDATE {table} SET {column} = {value} WHERE rowid = 1 OR {column} IN (SELECT {column} FROM {table} LIMIT 1)",
    "UPDATE {table} SET {column} = {value}",
    "UPDATE OR REPLACE {table} SET {column} = (SELECT {column} FROM {table} ORDER BY random() LIMIT 1)",
    "DELETE FROM {table}",
    "DELETE FROM {table} WHERE {column} IN (SELECT {column} FROM {table} LIMIT 1)",
    "DROP TABLE {table}",
    "ALTER TABLE {table} RENAME TO other",
    "ALTER TABLE {table} RENAME COLUMN {column} TO other",
    "ALTER TABLE {table} ADD COLUMN other TEXT DEFAULT 'x'",
    "ALTER TABLE {table} DROP COLUMN {column}",
    "CREATE TRIGGER t AFTER INSERT ON {table} BEGIN DELETE FROM graphs; END",
    "CREATE TRIGGER t AFTER UPDATE ON {table} BEGIN SELECT load_extension('x'); END",
    "CREATE VIEW v AS SELECT * FROM {table}",
    "ALTER TABLE {table} RENAME TO hidden; CREATE VIEW {table} AS SELECT * FROM hidden",
    "PRAGMA user_version = {number}",
    "PRAGMA application_id = {number}",
    "UPDATE sqlite_schema SET sql = replace(sql, 'INTEGER', 'TEXT') WHERE name = '{table}'",
    "UPDATE sqlite_schema SET sql = 'CREATE TABLE {table} (x)' WHERE name = '{table}'",
    "UPDATE sqlite_schema SET rootpage = {number} WHERE name = '{table}'",
)
_SQL_VALUES = (
    *(
        "NULL",
        "-1",
        "0",
        "1",
        "9223372036854775807",
        "-9223372036854775808",
        "1e999",
        "0.5",
        "''",
        "'x'",
        "x''",
        "x'00ff'",
    ),
    *("'{{}}'", "'[]'", "'null'", "'[1'", "zeroblob(100000)", "char(0)", "CAST(x'fffe' AS TEXT)", "'{{\"k\": 1e999}}'"),
    "replace(hex(zeroblob(2500)), '00', '[')",
)


def of_database(data: bytes, rng: random.Random) -> bytes:
    """A store in which rows, tables, triggers or its own head are not as they should be."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.deserialize(data)
        db.execute("PRAGMA writable_schema = ON")
        tables = [
            name
            for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        ]
        for _ in range(rng.choice((1, 1, 2))):
            table = rng.choice(tables)
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")] or ["x"]
            statement = rng.choice(_STATEMENTS[:2] if rng.random() < 0.5 else _STATEMENTS).format(
                table=table, column=rng.choice(columns), value=rng.choice(_SQL_VALUES).format(),
                number=rng.choice((0, 1, 5, 7, 8, 99, 2**31 - 1, -1)),
            )  # fmt: skip
            with contextlib.suppress(sqlite3.Error):
                db.executescript(statement)
        return db.serialize()


def has_seal(path: str) -> bool:
    """Whether the graph `g` of a store has the seal that it was made with."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as db:
        query = "SELECT length(data) FROM summaries JOIN graphs ON graph = key WHERE name = 'g' AND number = 1"
        return db.execute(query).fetchone() == (48,)
    return False


# Checkpoints

_HEAD = b"graphpriv checkpoint 1\n"


def of_checkpoint(data: bytes, rng: random.Random) -> bytes:
    """A checkpoint with other arrays or none, and a digest that fits: so much for those who write one by hand."""
    body = data[len(_HEAD) + 32 :]
    if rng.random() < 0.3:
        return signed(of_bytes(body, rng))
    with np.load(io.BytesIO(body)) as read:
        arrays = {name: read[name] for name in read.files}
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(sorted(arrays))
        how = rng.randrange(9)
        array = arrays[name]
        if how == 0 and len(arrays) > 1:
            del arrays[name]
        elif how == 1:
            arrays[name] = array[:-1] if array.ndim and len(array) else np.zeros(3)
        elif how == 2:
            arrays[name] = array.astype(rng.choice(("f8", "i8", "u1", "U5")))
        elif how == 3:
            arrays[name] = np.full_like(array, rng.choice((0, 1, 100)))
        elif how == 4 and array.size:
            arrays[name] = array.reshape(-1)
        elif how == 5:
            arrays[rng.choice(("other", "population x", ""))] = array
        elif how == 6:
            arrays[name] = arrays[rng.choice(sorted(arrays))]
        elif how == 7 and array.dtype == np.uint8 and array.ndim == 1:
            arrays[name] = np.frombuffer(_of_document(array.tobytes(), rng), np.uint8)
        elif array.dtype.kind == "f":
            arrays[name] = np.full_like(array, rng.choice((np.nan, np.inf, -1.0)))
    into = io.BytesIO()
    np.savez_compressed(into, **{name or "empty": array for name, array in arrays.items()})
    return signed(into.getvalue())


def _of_document(data: bytes, rng: random.Random) -> bytes:
    try:
        return json.dumps(changed_json(json.loads(data), rng)).encode()
    except ValueError:
        return of_bytes(data, rng)


def signed(body: bytes) -> bytes:
    return _HEAD + hashlib.sha256(body).digest() + body


def cut_off(run: Callable[[], object]) -> None:
    """Do a run and leave its last checkpoint."""
    from tabular.evolution.checkpoint import CheckpointFile

    clear = CheckpointFile.clear
    CheckpointFile.clear = lambda self: None  # type: ignore[method-assign]
    try:
        run()
    finally:
        CheckpointFile.clear = clear  # type: ignore[method-assign]


# Journals


def journal() -> dict[str, bytes]:
    """A folder as a killed command leaves it."""
    from tabular.files.journal import Replacement

    with folder({"bystander.txt": b"mine", "other/x": b"x", "a.csv": b"old"}) as here:
        begun = Replacement([Path("a.csv").resolve(), Path("other/b.csv").resolve()])
        begun.begin()
        begun.close()
        # The paths of this folder are gone with it.
        return {name: data.replace(str(here).encode(), b".") for name, data in held(here).items()}


__all__ = ["RAW", "TEXTS", "VALUES"]
