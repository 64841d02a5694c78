"""Random and damaged table files, schemas and hierarchies: a table, or an error written for whoever asked."""

import random
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tabular.errors import ReportedError
from tabular.files.csv_tables import DialectOptions
from tabular.files.description import described_columns
from tabular.files.schema import parse_schema, read_schema
from tabular.files.table_files import read_file, read_masked, write_table
from tabular.hierarchies import read_hierarchy
from tabular.release import release_table

pytestmark = pytest.mark.usefixtures("both_readers")

BYTES = b",;\t| \"'\n\r=+-@#a1.0?*[]{}\x00\xff\xc3\xa9\xe9\x85\x1c\x0b"
PIECES = [*(bytes([byte]) for byte in BYTES), b"\xef\xbb\xbf", b"\r\n", b'""', b"NA", b"1e999"]

SOUND = (
    b"age,sex,zip\n17,f,08001\n25,m,08002\n31,?,28013\n",
    b'a;b\r\n"x;1";1,5\r\n"y\n2";2,25\r\n',
    b'A11 6 A34 "x y"\nA12 48 A32 z\n',
    "name, b\nÉva, 1\nBo, 2\n".encode("utf-16"),
    b"1;0-4;*\n2;0-4;*\n3;5-9;*\n",
    b'[attributes.age]\nkind = "ordinal"\nrole = "sensitive"\norder = [17, 25, 31]\n',
)


def parquet_bytes():
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [1, 2, None], "b": ["x", None, "y"], "c": [1.5, 2.5, None]}), sink)
    return sink.getvalue().to_pybytes()


def damaged(data, rng):
    """*data* with bytes put in, taken away, doubled, cut."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        place = rng.randrange(len(data) + 1)
        action = rng.randrange(5)
        piece = rng.choice(PIECES)
        if action == 0:
            data[place:place] = piece
        elif action == 1:
            del data[place : place + rng.randint(1, 4)]
        elif action == 2:
            data[place : place + 1] = piece
        elif action == 3:
            data[place:place] = data[place : place + rng.randint(1, 20)]
        else:
            del data[place + 5 :]
    return bytes(data)


def random_bytes(rng):
    return b"".join(rng.choice(PIECES) for _ in range(rng.randint(0, 40)))


def random_options(rng):
    return DialectOptions(
        delimiter=rng.choice([None, None, ",", ";", "blanks"]),
        quote=rng.choice([None, None, "none", "single"]),
        header=rng.choice([None, True, False]),
        decimal=rng.choice([None, ".", ","]),
        missing=rng.choice([None, None, (), ("?", "")]),
        encoding=rng.choice([None, None, None, "utf-8", "latin-1", "utf-16"]),
    )


def outcome_of(function):
    """What a function gives, or None where it says what is wrong."""
    try:
        return function()
    except ReportedError as error:
        assert str(error)
        assert "\n" not in str(error).strip()
        return None


def try_all(path, rng):
    """Everything that reads a file, and writes what was read."""
    data = path.read_bytes()
    schema = outcome_of(lambda: parse_schema(data.decode("latin-1"), "x"))
    known = rng.choice([None, schema, read_schema("adult")])
    found = outcome_of(lambda: read_file(path, schema=known, options=random_options(rng)))
    if found is None:
        return 0
    described_columns(found)
    outcome_of(lambda: release_table(found.table))
    copy = path.with_name("copy.csv")
    if outcome_of(lambda: write_table(found.table, copy, like=found, overwrite=True) or True):
        outcome_of(lambda: read_masked(copy, found.table))
    outcome_of(lambda: write_table(found.table, path.with_name("copy.parquet"), like=found, overwrite=True))
    for attribute in found.table.attributes:
        outcome_of(partial(read_hierarchy, path, attribute))
    return 1


def run(count, tmp_path, seed):
    rng = random.Random(seed)
    path = tmp_path / "x.csv"
    sound = (*SOUND, parquet_bytes())
    read = 0
    for number in range(count):
        path.write_bytes(random_bytes(rng) if number % 4 == 0 else damaged(rng.choice(sound), rng))
        try:
            read += try_all(path, rng)
        except Exception:
            print(number, path.read_bytes())
            raise
    return read


def test_a_damaged_file_is_a_table_or_a_reported_error(tmp_path):
    assert run(200, tmp_path, seed=1) > 20


@pytest.mark.heavy
def test_thousands_of_damaged_files_are_tables_or_reported_errors(tmp_path):
    assert run(6000, tmp_path, seed=int(np.random.default_rng().integers(2**31))) > 600
