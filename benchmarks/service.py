"""The service under load: reads while jobs use both cores and many listen, many clients at once, and datasette beside.

Every request goes to this machine, and all of it ends by itself. A read is begun when its moment has come, even
if those before it have no answer, and its time counts from that moment; so a service that stalls cannot hide it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from graphpriv.formats import write_graph
from graphpriv.synthetic import synthetic_graph
from tests.api.evidence.serving import Gone, Served, free_port

HOST = "127.0.0.1"

USERS, ROWS = 7_624, 50_000

#: Jobs that use both cores, who listens to them, who asks again and again, and clients at once.
JOBS, LISTENERS, POLLERS, CLIENTS = 2, 40, 10, 50

#: Reads a second, and how many may be under way.
RATE, AT_ONCE = 200, 64

Headers = dict[str, str]


@dataclass
class Wire:
    """A connection that is kept."""

    port: int
    token: str
    _reader: asyncio.StreamReader | None = None
    _writer: asyncio.StreamWriter | None = None

    async def get(self, path: str, **more: str) -> tuple[int, Headers, bytes]:
        """The status, the headers and the body of an answer."""
        reader = await self.send(path, **more)
        status, headers = await head(reader)
        if headers.get("transfer-encoding") == "chunked":
            body = b"".join([piece async for piece in chunks(reader)])
        else:
            body = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return status, headers, body

    async def send(self, path: str, **more: str) -> asyncio.StreamReader:
        """Ask for a path; gives where the answer comes."""
        if self._reader is None or self._writer is None or self._reader.at_eof():
            self._reader, self._writer = await asyncio.open_connection(HOST, self.port)
        given = {"Host": f"{HOST}:{self.port}", "Authorization": f"Bearer {self.token}", **more}
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items())
        self._writer.write(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
        await self._writer.drain()
        return self._reader

    def close(self) -> None:
        """End it."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def head(reader: asyncio.StreamReader) -> tuple[int, Headers]:
    """The status and the headers of an answer."""
    first = await reader.readline()
    headers: Headers = {}
    while (line := (await reader.readline()).decode().strip()) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return int(first.split()[1]), headers


async def chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The chunks of a body."""
    while size := int((await reader.readline()).split(b";")[0], 16):
        yield await reader.readexactly(size)
        await reader.readline()
    await reader.readline()


@dataclass
class Taken:
    """How long answers took, in milliseconds, and what they were."""

    times: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def row(self, title: str, seconds: float) -> str:
        """A line of a table."""
        p50, p99 = np.percentile(self.times, [50, 99])
        statuses = ", ".join(f"{count:,} of {status}" for status, count in sorted(self.statuses.items()))
        rate = len(self.times) / seconds
        return f"| {title} | {rate:.0f} | {p50:.1f} | {p99:.1f} | {max(self.times):.0f} | {statuses} |"


async def at_a_rate(port: int, token: str, paths: list[str], rate: float, seconds: float) -> Taken:
    """Read *paths* in turn, so many a second; each is timed from the moment at which it was due."""
    taken, idle = Taken(), [Wire(port, token) for _ in range(AT_ONCE)]
    free = asyncio.Semaphore(AT_ONCE)

    async def read(path: str, due: float) -> None:
        async with free:
            wire = idle.pop()
            try:
                status, _, _ = await wire.get(path)
            except (OSError, asyncio.IncompleteReadError, IndexError, ValueError):
                # A connection that said nothing for a while is closed by the service; a client opens another.
                wire.close()
                status, _, _ = await wire.get(path)
            idle.append(wire)
        taken.statuses[status] += 1
        taken.times.append((time.perf_counter() - due) * 1000)

    begun, reads = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        due = begun + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        reads.append(asyncio.create_task(read(paths[number % len(paths)], due)))
    await asyncio.gather(*reads)
    for wire in idle:
        wire.close()
    return taken


async def listen(port: int, token: str, job: str, heard: Counter[str]) -> None:
    """Hold a stream of events, and take it up again when it ends."""
    last = "0"
    while True:
        wire = Wire(port, token)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, IndexError, ValueError):
            reader = await wire.send(f"/v1/jobs/{job}/events", Last_Event_ID=last)
            status, _ = await head(reader)
            heard[str(status)] += 1
            while status == 200 and (line := await reader.readline()):
                if line.startswith(b"id: "):
                    last = line[4:].decode().strip()
                    heard["events"] += 1
        wire.close()
        await asyncio.sleep(0.5)


async def poll(port: int, token: str, job: str, seen: Counter[str]) -> None:
    """Ask how a job stands, with the tag of what is known."""
    wire, tag = Wire(port, token), ""
    while True:
        try:
            status, headers, _ = await wire.get(f"/v1/jobs/{job}", If_None_Match=tag)
            seen[str(status)] += 1
            tag = headers.get("etag", tag)
        except (OSError, asyncio.IncompleteReadError, IndexError, ValueError):
            wire.close()
        await asyncio.sleep(1)


async def clients(port: int, token: str, paths: list[str], seconds: float) -> Taken:
    """Ask without a pause, each client one thing after another."""
    taken, until = Taken(), time.perf_counter() + seconds

    async def client(chance: random.Random) -> None:
        wire = Wire(port, token)
        while time.perf_counter() < until:
            begun = time.perf_counter()
            try:
                status, _, _ = await wire.get(chance.choice(paths))
            except (OSError, asyncio.IncompleteReadError, IndexError, ValueError):
                wire.close()
                status = 0
            taken.statuses[status] += 1
            taken.times.append((time.perf_counter() - begun) * 1000)
        wire.close()

    await asyncio.gather(*(client(random.Random(number)) for number in range(CLIENTS)))
    return taken


class Busy:
    """Keeps jobs running that use both cores: each that ends is asked for again."""

    def __init__(self, served: Served) -> None:
        self._served, self._over = served, threading.Event()
        self.jobs = [self._begin(number) for number in range(JOBS)]
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _begin(self, number: int) -> str:
        body = {"name": "people", "k": ["2", "3", "5", "8", "13"], "runs": 25, "seed": number}
        answer = self._served.ask("POST", "/v1/sweep", body)
        assert answer.status == 202, answer.body
        return str(answer.json["id"])

    def _watch(self) -> None:
        while not self._over.wait(1):
            for place, job in enumerate(self.jobs):
                with contextlib.suppress(Gone):
                    if self._served.ask("GET", f"/v1/jobs/{job}").json["state"] not in ("queued", "running"):
                        self.jobs[place] = self._begin(place)

    def end(self) -> None:
        self._over.set()
        self._thread.join()
        for job in self.jobs:
            self._served.ask("POST", f"/v1/jobs/{job}/cancel")


def done(served: Served, path: str, body: dict[str, object]) -> str:
    """The id of a job that is done."""
    job = str(served.ask("POST", f"/v1/{path}", body).json["id"])
    while (state := served.ask("GET", f"/v1/jobs/{job}").json["state"]) in ("queued", "running"):
        time.sleep(0.5)
    assert state == "done", served.ask("GET", f"/v1/jobs/{job}/result").body
    return job


def filled(served: Served) -> tuple[str, str]:
    """Put a graph, its release and a table there; gives the ids of a job and of an audit."""
    rng = np.random.default_rng(1)
    path = served.folder / "people.json"
    write_graph(synthetic_graph(USERS, rng=rng), path)
    answer = served.ask("PUT", "/v1/graphs/people", path.read_bytes())
    assert answer.status == 201, answer.body
    lines = "".join(f"{number},{rng.integers(90)},{rng.integers(500)},{'xyz'[rng.integers(3)]}\n"
                    for number in range(ROWS))  # fmt: skip
    (served.folder / "rows.csv").write_text(f"number,age,town,illness\n{lines}")
    assert served.ask("PUT", "/v1/tables/rows", (served.folder / "rows.csv").read_bytes()).status == 201
    job = done(served, "protect", {"name": "people", "k": 5, "into": "people-v1"})
    return job, done(served, "audit", {"original": "people", "released": "people-v1", "attacker": "ego"})


@contextlib.contextmanager
def datasette(served: Served) -> Iterator[int]:
    """A datasette that serves the same table; gives its port."""
    file, port = served.folder / "rows.db", free_port()
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, age INTEGER, town INTEGER, illness TEXT)")
        lines = (served.folder / "rows.csv").read_text().splitlines()[1:]
        db.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", (line.split(",") for line in lines))
    command = [sys.executable, "-m", "datasette", "serve", str(file), "--host", HOST, "--port", str(port),
               "--setting", "suggest_facets", "off"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            asyncio.run(answers(port))
            yield port
        finally:
            process.terminate()


async def answers(port: int) -> None:
    """Wait until somebody answers at a port."""
    while True:
        with contextlib.suppress(OSError):
            await Wire(port, "").get("/")
            return
        await asyncio.sleep(0.2)


async def under_load(served: Served, busy: Busy, reads: list[str], seconds: float) -> tuple[Taken, Counter[str]]:
    """Reads while jobs run, many listen and some ask again and again."""
    port, heard = int(served.url.rpartition(":")[2]), Counter[str]()
    others = [
        asyncio.create_task(each(port, str(served.token), busy.jobs[number % JOBS], heard))
        for count, each in ((LISTENERS, listen), (POLLERS, poll))
        for number in range(count)
    ]
    await asyncio.sleep(2)
    taken = await at_a_rate(port, str(served.token), reads, RATE, seconds)
    for each in others:
        each.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    return taken, heard


def documented(served: Served, paths: list[str]) -> set[int]:
    """The statuses that the document of the service has for all of these paths."""
    described = served.ask("GET", "/openapi.json").json["paths"]
    found = set()
    for path in paths:
        bare = path.partition("?")[0]
        for template, operations in described.items():
            if re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", template), bare):
                found |= {int(status) for status in operations["get"]["responses"]}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each part takes")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as name:
        served = Served(Path(name))
        served.start()
        try:
            measure(served, seconds)
        finally:
            served.kill()


def measure(served: Served, seconds: float) -> None:
    """Print a table of all parts."""
    job, audit = filled(served)
    port, token = int(served.url.rpartition(":")[2]), str(served.token)
    reads = ["/v1/graphs", f"/v1/jobs/{job}", f"/v1/jobs/{audit}/result"]
    print("| what | a second | p50, ms | p99, ms | longest, ms | answers |\n|---|---|---|---|---|---|")
    quiet = asyncio.run(at_a_rate(port, token, reads, RATE, seconds / 3))
    print(quiet.row("reads, nothing else", seconds / 3), flush=True)
    busy = Busy(served)
    taken, heard = asyncio.run(under_load(served, busy, reads, seconds))
    print(taken.row(f"reads, {JOBS} jobs, {LISTENERS} listeners, {POLLERS} who poll", seconds), flush=True)
    everything = [*reads, "/v1/jobs", "/v1/tables", "/v1/tables/rows/rows?limit=50", "/v1/tables/rows/counts?by=age",
                  "/v1/graphs/people-v1/users?limit=50", "/v1/graphs/people-v1/counts?by=topic1", "/v1/graphs/none",
                  "/v1/jobs?limit=0", "/healthz", "/readyz"]  # fmt: skip
    many = asyncio.run(clients(port, token, everything, seconds))
    print(many.row(f"{CLIENTS} clients at once, {JOBS} jobs", seconds), flush=True)
    undocumented = set(many.statuses) - documented(served, everything)
    with datasette(served) as other:
        for title, where, path in (("a page of 100 rows", port, "/v1/tables/rows/rows?limit=100"),
                                   ("the same, datasette", other, "/rows/rows.json?_size=100")):  # fmt: skip
            page = asyncio.run(at_a_rate(where, token, [path], 20, seconds / 3))
            print(page.row(f"{title}, {JOBS} jobs", seconds / 3), flush=True)
    busy.end()
    print(
        f"\nlisteners and those who poll were answered: {dict(heard)}; undocumented: {sorted(undocumented) or 'none'}"
    )
    print(json.dumps({"p99": float(np.percentile(taken.times, 99)), "rows": ROWS, "users": USERS}))


if __name__ == "__main__":
    main()
