"""Secrets of forty kinds, and where they are looked for: as they are, encoded, packed, and in running processes."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

import pyarrow.parquet as pq

#: How many persons there are.
PERSONS = 12

#: Has zlib take its own streams and those of gzip.
_EITHER = 47

#: A seed, a number that no file has by chance.
SEED = 918273645546372819

#: What a table says of a person beyond any doubt, kind by kind; `n` is the person's number, of two digits.
IDENTIFYING = {
    "name": "Name Of Person {n}",
    "email": "person.{n}@mail.planted.example",
    "phone": "+49 151 555 4{n}17",
    "street": "Lane {n} behind the mill",
    "post code and house": "4{n}07-PX/{n}",
    "date of birth": "19{n}-03-2{m} 04:05",
    "social security": "078-05-1{n}7",
    "bank account": "DE89 3704 0044 0532 {n}13 00",
    "card": "4929 1234 5678 {n}90",
    "number plate": "M-PL {n}93",
    "passport": "C01X{n}006HK",
    "driving licence": "B0{n}72RRE2I55",
    "network address": "203.0.113.{n}7",
    "address of a device": "00:1b:44:11:{n}:b7",
    "position": "48.13{n}71, 11.58{n}02",
    "employer": "Mill & Sons No. {n}",
    "login": "planted-login-{n}",
    "password hash": "$2b$12$R9h/cIPz0gi.URNNX3k{n}u",
    "cookie": "sid=s%3Aplanted{n}.Zk9",
    "device": "A{n}00-4A7F-9C1D-PLANT",
    "vehicle": "WVWZZZ1JZ3W{n}6752",
    "booking": "XK7{n}QPL",
    "invoice": "INV-2031-{n}-0092",
    "photograph": "IMG_{n}84-passport.jpeg",
    "spouse": "Spouse Beside Person {n}",
    "teacher": "Teacher Long Ago {n}",
    "diary": "On day {n} I told nobody about the lighthouse",
    "web page": "https://planted.example/~p{n}/?q=ä&x={n}",
    "membership": "club/no. {n}-0451",
    "fingerprint of a finger": "whorl:{n};ridges:1{n}7;delta:2",
}


def columns() -> dict[str, list[str]]:
    """The columns of a table that tell who somebody is, a value a person."""
    return {kind: [form.format(n=f"{n:02}", m=n % 9) for n in range(PERSONS)] for kind, form in IDENTIFYING.items()}


def forms(secret: str) -> set[bytes]:
    """How a secret may stand among other bytes."""
    raw = secret.encode()
    texts = {secret, json.dumps(secret)[1:-1], quote(secret), quote_plus(secret), raw.hex(), raw.hex().upper()}
    found = {each.encode() for each in texts} | {secret.encode("utf-16-le"), secret.encode("utf-16-be")}
    for before, shared in enumerate((0, 2, 3)):
        # What stands before it shifts the digits; the outer ones hang on what is beside it.
        digits = base64.b64encode(bytes(before) + raw).rstrip(b"=")[shared:]
        packed = digits[:-1] if (before + len(raw)) % 3 else digits
        found |= {packed, packed.replace(b"+", b"-").replace(b"/", b"_")}
    return {each for each in found if len(each) >= 6}


def held_in(secrets: Iterable[str], data: bytes) -> list[str]:
    """Which of the *secrets* are in *data*, or in what is packed in it."""
    parts = list(opened(data))
    return [secret for secret in secrets if any(form in part for part in parts for form in forms(secret))]


def opened(data: bytes, depth: int = 3) -> Iterator[bytes]:
    """The bytes, and those packed in them: Parquet, archives, compressed stretches."""
    yield data
    if not depth:
        return
    if data[:4] == b"PAR1":
        table = pq.read_table(io.BytesIO(data))
        yield json.dumps(table.to_pydict(), default=str, ensure_ascii=False).encode()
        yield repr(table.schema).encode()
    elif data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield from opened(archive.read(name), depth - 1)
    for mark in (b"\x1f\x8b\x08", b"\x78\x9c", b"\x78\xda"):
        place = data.find(mark)
        while place >= 0:
            with contextlib.suppress(zlib.error):
                # Most of what looks like a beginning is none; of what is cut, all up to there.
                yield from opened(zlib.decompressobj(_EITHER).decompress(data[place:]), depth - 1)
            place = data.find(mark, place + 1)


def processes(parent: int) -> Mapping[int, bytes]:
    """What the system shows anybody of a process and all below it: names, titles, arguments."""
    below: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        below.setdefault(int(fields[1]), []).append(int(status.parent.name))
    found, waiting = {}, [parent]
    while waiting:
        process = waiting.pop()
        waiting += below.get(process, [])
        folder = Path("/proc") / str(process)
        try:
            threads = b"".join(each.read_bytes() for each in folder.glob("task/*/comm"))
            found[process] = (folder / "cmdline").read_bytes() + b"\n" + threads
        except OSError:
            continue
    return found
