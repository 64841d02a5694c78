"""A mixed load on a service that may be killed at any moment, and what it should leave.

A deed is asked for until it is done. Who asks looks first whether it is done already, as a client does whose answer was
lost. What should come out is what the same verbs give with the same seeds, performed in this process.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from api.verbs.contract import Work, perform
from api.verbs.values import made, verbs
from graphpriv.formats import write_graph
from graphpriv.graph import fingerprint
from graphpriv.store import open_store
from graphpriv.synthetic import synthetic_graph
from tabular.files.journal import WORKING
from tests.api.evidence.serving import PATIENCE, Gone
from tests.api.jobs.conftest import until, without_jobs

#: What a document says of time.
CLOCKS = ("seconds", "moments", "version", "compile_seconds")

#: Seeds begin here: long enough to be found wherever they stand.
SEED = 987654321234567898765

#: A piece of an upload.
PIECE = 8_000

ENDED = ("done", "failed", "cancelled")


def write_inputs(folder, rounds):
    """The files that the load is about; no two graphs are protected that hold the same."""
    (folder / "levels").mkdir(parents=True)
    rng = np.random.default_rng(1)
    for name in ("g", *(f"{each}-{number}" for number in range(rounds) for each in ("original", "seen"))):
        write_graph(synthetic_graph(150, rng=rng), folder / f"{name}.json")
    rows = "".join(f"{rng.integers(20, 40)},{'ABCD'[rng.integers(4)]},{'xyz'[rng.integers(3)]}\n" for _ in range(150))
    (folder / "t.csv").write_text(f"age,town,illness\n{rows}")
    (folder / "levels" / "age.csv").write_text(
        "".join(f"{age};{age // 5 * 5};{age // 10 * 10};*\n" for age in range(20, 40))
    )
    (folder / "levels" / "town.csv").write_text("A;AB;*\nB;AB;*\nC;CD;*\nD;CD;*\n")


@dataclass
class Load:
    """Deeds on things of their own, so that their order makes no difference, and what came of those that are done."""

    served: Any
    inputs: Path
    rounds: int
    #: The id of the upload of each deed, and of each job.
    ids: dict[str, str] = field(default_factory=dict)
    done: dict[str, Any] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)
    stopped: bool = False

    def prepare(self):
        """What is there before."""
        for number in range(self.rounds):
            for name in (f"original-{number}", f"seen-{number}", f"old-{number}"):
                self.until_done(f"prepare {name}", self.put_graph, name)
            self.until_done(f"prepare {number}", self.protect, f"seen-{number}", f"before-{number}", SEED + 50 + number)
            for name in (f"rows-{number}", f"old-rows-{number}"):
                self.until_done(f"prepare {name}", self.put_table, name)
        self.done.clear()

    def deeds(self):
        """Each deed with its name."""
        for n in range(self.rounds):
            yield f"put graph {n}", self.put_graph, f"put-{n}"
            yield f"upload graph {n}", self.upload_graph, f"sent-{n}"
            yield f"put table {n}", self.put_table, f"table-{n}"
            yield f"protect {n}", self.protect, f"original-{n}", f"release-{n}", SEED + 100 + n
            yield f"search {n}", self.search, n, SEED + 200 + n
            yield f"mask {n}", self.mask, n, SEED + 300 + n
            yield f"audit {n}", self.audit, n
            yield f"sweep {n}", self.sweep, n, SEED + 400 + n
            yield f"microdata {n}", self.microdata, n, SEED + 500 + n
            yield f"delete graph {n}", self.delete, f"graphs/old-{n}"
            yield f"delete table {n}", self.delete, f"tables/old-rows-{n}"

    def run(self, clients=4):
        """Ask for all deeds, several at once; gives the pool that does it."""
        pool = ThreadPoolExecutor(clients)
        return pool, [pool.submit(self.until_done, *each) for each in self.deeds()]

    def until_done(self, name, deed, *given):
        """Ask for a deed until it is done."""
        until = time.monotonic() + 3 * PATIENCE
        while not self.stopped:
            assert time.monotonic() < until, name
            self.served.is_up.wait(PATIENCE)
            try:
                left = deed(*given)
            except Gone:
                time.sleep(0.05)
                continue
            with self.lock:
                self.done[name] = left
            return

    def file_of(self, name):
        """The file that a graph is made of."""
        return f"{name}.json" if name.startswith(("original", "seen")) else "g.json"

    # Each of these can be called again after its answer was lost.

    def put_graph(self, name):
        answer = self.served.ask("PUT", f"/v1/graphs/{name}", (self.inputs / self.file_of(name)).read_bytes())
        assert answer.status in (201, 409), answer.body
        return self.served.ask("GET", f"/v1/graphs/{name}/file").body

    def put_table(self, name):
        answer = self.served.ask("PUT", f"/v1/tables/{name}", (self.inputs / "t.csv").read_bytes())
        assert answer.status in (201, 409), answer.body
        for column in ("age", "town"):
            levels = (self.inputs / "levels" / f"{column}.csv").read_bytes()
            answer = self.served.ask("PUT", f"/v1/tables/{name}/hierarchies/{column}", levels)
            assert answer.status in (200, 201), answer.body
        return self.served.ask("GET", f"/v1/tables/{name}/file").body

    def upload_graph(self, name):
        data = (self.inputs / "g.json").read_bytes()
        if name not in self.ids:
            self.ids[name] = self.served.ask("POST", "/v1/uploads", {"size": len(data), "name": "g.json"}).json["id"]
        where = f"/v1/uploads/{self.ids[name]}"
        told = self.served.ask("GET", where).json
        while not told["finished"]:
            begin = told["offset"]
            told = self.served.ask("PUT", f"{where}?offset={begin}", data[begin : begin + PIECE]).json
        id = self.job(name, "graph import", "PUT", f"/v1/graphs/{name}", {"upload": self.ids[name]}, graph=name)
        return self.left_by(id)

    def protect(self, name, into, seed):
        body = {"name": name, "k": 5, "into": into, "seed": seed}
        left = self.left_by(self.job(into, "protect", "POST", "/v1/protect", body, into=into))
        held = [self.served.ask("GET", f"/v1/graphs/{into}/{each}").body for each in ("file", "mapping")]
        return {**left, "held": held}

    def search(self, n, seed):
        body = {**SEARCH, "file": f"rows-{n}", "into": f"best-{n}", "seed": seed}
        return self.left_with_table(n, "best", self.job(f"best-{n}", "table search", "POST", "/v1/table/search", body,
                                                        into=f"best-{n}"))  # fmt: skip

    def mask(self, n, seed):
        body = {**MASK, "file": f"rows-{n}", "into": f"masked-{n}", "seed": seed}
        return self.left_with_table(n, "masked", self.job(f"masked-{n}", "table protect", "POST", "/v1/table/protect",
                                                          body, into=f"masked-{n}"))  # fmt: skip

    def microdata(self, n, seed):
        body = {"name": f"before-{n}", "out": "m.csv", "into": f"users-{n}", "seed": seed}
        id = self.job(f"users-{n}", "microdata", "POST", "/v1/microdata", body, into=f"users-{n}")
        return self.left_with_table(n, "users", id)

    def audit(self, n):
        body = {"original": f"seen-{n}", "released": f"before-{n}"}
        return self.left_by(self.job(f"audit-{n}", "audit", "POST", "/v1/audit", body, released=f"before-{n}"))

    def sweep(self, n, seed):
        body = {**SWEEP, "name": f"original-{n}", "seed": seed}
        return self.left_by(self.job(f"sweep-{n}", "sweep", "POST", "/v1/sweep", body, name=f"original-{n}"))

    def delete(self, path):
        answer = self.served.ask("DELETE", f"/v1/{path}")
        assert answer.status in (200, 404), answer.body
        return answer.status in (200, 404)

    def job(self, key, verb, method, path, body, **known):
        """The id of the job of a request, which is sent only if there is no such job yet."""
        if key in self.ids and verb != "graph import":
            return self.ids[key]
        for each in self.served.ask("GET", "/v1/jobs?limit=1000").json["jobs"]:
            if each["verb"] == verb and known.items() <= each["options"].items():
                break
        else:
            each = self.accepted(method, path, body)
        if verb != "graph import":
            self.ids[key] = each["id"]
        return each["id"]

    def accepted(self, method, path, body):
        answer = self.served.ask(method, path, body)
        assert answer.status == 202, answer.body
        return answer.json

    def left_by(self, id):
        """What a job has left, once it has ended."""
        while (state := self.served.ask("GET", f"/v1/jobs/{id}").json["state"]) not in ENDED and not self.stopped:
            time.sleep(0.1)
        answer = self.served.ask("GET", f"/v1/jobs/{id}/result")
        assert (state, answer.status) == ("done", 200), answer.body
        names = [each["name"] for each in self.served.ask("GET", f"/v1/jobs/{id}/files").json["files"]]
        files = {name: self.served.ask("GET", f"/v1/jobs/{id}/files/{name}").body for name in names}
        return {"document": timeless(answer.json), **files}

    def left_with_table(self, n, name, id):
        left = self.left_by(id)
        return {**left, "held": [self.served.ask("GET", f"/v1/tables/{name}-{n}/file").body]}

    def check_finished(self):
        """Whatever was told to be done is there, and what was deleted is not, right after a restart."""
        with self.lock:
            done = set(self.done)
        ask = self.served.ask
        graphs = {each["name"] for each in ask("GET", "/v1/graphs?limit=1000").json["graphs"]}
        tables = {each["name"] for each in ask("GET", "/v1/tables?limit=1000").json["tables"]}
        states = {each["id"]: each["state"] for each in ask("GET", "/v1/jobs?limit=1000").json["jobs"]}
        for n in range(self.rounds):
            made_graphs = {"put graph": "put", "upload graph": "sent", "protect": "release"}
            made_tables = {"put table": "table", "search": "best", "mask": "masked", "microdata": "users"}
            assert {f"{name}-{n}" for deed, name in made_graphs.items() if f"{deed} {n}" in done} <= graphs
            assert {f"{name}-{n}" for deed, name in made_tables.items() if f"{deed} {n}" in done} <= tables
            assert f"delete graph {n}" not in done or f"old-{n}" not in graphs
            assert f"delete table {n}" not in done or f"old-rows-{n}" not in tables
            for deed, key in (("search", "best"), ("mask", "masked"), ("audit", "audit"), ("sweep", "sweep")):
                assert f"{deed} {n}" not in done or states[self.ids[f"{key}-{n}"]] == "done"

    def check_nothing_is_half_written(self):
        """No folder, file, row, seed or job is there that belongs to nothing; store and log are sound."""
        home = self.served.home
        self.served.stop()
        # A service that starts erases what those before it have left an hour ago.
        for path in (*home.glob("tables/*"), *home.glob("tables/*/*")):
            os.utime(path, (time.time() - 7200,) * 2)
        with closing(sqlite3.connect(home / "private.db")) as db, db:
            db.execute("UPDATE private SET created = created - 7200")
        self.served.start()
        checked = perform(made(verbs["store check"].method, {}), Work(store=self.served.store, home=str(home)))
        assert checked.document["problems"] == []
        assert not [*home.glob(f"{WORKING}*"), *home.glob("**/attempt-*")]
        with closing(sqlite3.connect(home / "service.db")) as db:
            rows = {row[0] for row in db.execute("SELECT id FROM tables")}
            uploads = {f"{id}{suffix}" for id, suffix in db.execute("SELECT id, suffix FROM uploads")}
        until(lambda: {each.name for each in (home / "tables").iterdir()} == rows)
        assert {each.name for each in (home / "uploads").iterdir()} == uploads
        until(lambda: not list(home.glob("tables/*/new-*")))
        jobs = self.served.ask("GET", "/v1/jobs?limit=1000").json["jobs"]
        assert {each["state"] for each in jobs} == {"done"}
        assert {each.name for each in (home / "jobs").iterdir()} == {each["id"] for each in jobs}
        assert {each.name for folder in (home / "jobs").iterdir() for each in folder.iterdir()} == {"kept"}
        with closing(sqlite3.connect(home / "private.db")) as db:
            until(lambda: {row[0] for row in db.execute("SELECT seed FROM private")} <= {None})

    def check_the_database_of_jobs(self):
        """It holds ids, names and options, and no token, seed, row, profile or result."""
        raw = self.served.database_of_jobs()
        assert b"table search" in raw and b"best-0" in raw
        rows = (self.inputs / "t.csv").read_bytes().splitlines()
        people = [each["id"].encode() for each in json.loads((self.inputs / "g.json").read_text())["nodes"]]
        assert all(len(each) > 5 for each in (*rows, *people))
        for secret in (str(self.served.token).encode(), str(SEED)[:12].encode(), *rows, *people):
            assert secret not in raw, secret

    def expected(self, folder):
        """What each deed should leave: what the same verbs give in this process."""
        store = f"file:{folder / 'expected.db'}"
        rows = (self.inputs / "t.csv").read_bytes()
        left = {}
        for n in range(self.rounds):
            for name in (f"original-{n}", f"seen-{n}", f"put-{n}", f"sent-{n}"):
                imported = self._plain(folder, store, "graph import", {"file": self.file_of(name), "graph": name}, 0)
                left |= {f"upload graph {n}": imported} if name == f"sent-{n}" else {}
            written = self._plain(folder, store, "graph export", {"name": f"put-{n}", "out": "o.json"}, 0)
            left |= {f"put graph {n}": written["o.json"], f"put table {n}": rows}
            for deed, name, into, seed in (
                ("before", f"seen-{n}", f"before-{n}", SEED + 50 + n),
                (f"protect {n}", f"original-{n}", f"release-{n}", SEED + 100 + n),
            ):
                made_now = self._plain(folder, store, "protect", {"name": name, "k": 5, "into": into}, seed)
                out = {"name": into, "out": "o.json", "mapping": "m.csv"}
                written = self._plain(folder, store, "graph export", out, 0)
                left[deed] = {**made_now, "held": [written["o.json"], written["m.csv"]]}
            del left["before"]
            search = {**SEARCH, "file": f"rows-{n}", "hierarchies": "levels"}
            for deed, verb, options, seed, kept in (
                (f"search {n}", "table search", search, SEED + 200 + n, "best.csv"),
                (f"mask {n}", "table protect", {**MASK, "file": f"rows-{n}"}, SEED + 300 + n, "masked.csv"),
                (f"microdata {n}", "microdata", {"name": f"before-{n}", "out": "m.csv"}, SEED + 500 + n, "m.csv"),
            ):
                found = self._plain(folder, store, verb, options, seed)
                left[deed] = {**found, "held": [found[kept]]}
            audited = {"original": f"seen-{n}", "released": f"before-{n}"}
            left[f"audit {n}"] = self._plain(folder, store, "audit", audited, 0)
            left[f"sweep {n}"] = self._plain(folder, store, "sweep", {**SWEEP, "name": f"original-{n}"}, SEED + 400 + n)
            left |= {f"delete graph {n}": True, f"delete table {n}": True}
        return left

    def _plain(self, folder, store, verb, options, seed):
        at = folder / f"expected-{len(list(folder.glob('expected-*')))}"
        at.mkdir()
        for each in self.inputs.iterdir():
            (at / each.name).symlink_to(each)
        if "file" in options and not options["file"].endswith(".json"):
            (at / options["file"]).symlink_to(self.inputs / "t.csv")
        found = without_jobs(verb, options, seed, at, store)
        return {**found, "document": timeless(found["document"])}

    def held(self, store):
        """What a store holds: each graph, and each mapping."""
        with open_store(store, create=False) as opened:
            assert opened.check() == []
            infos = opened.graphs()
            return {each.name: fingerprint(opened.load_graph(each.name)) for each in infos}


SEARCH = {"quasi_identifiers": ["age", "town"], "k": 3, "shuffle": True, "out": "best.csv"}
MASK = {"columns": ["age", "town"], "method": "pram", "shuffle": True, "out": "masked.csv"}
SWEEP = {"k": ["2", "4"], "runs": 1, "attacker": "ego"}


def timeless(document):
    """A document but for times, as JSON has it."""
    return without_clocks(json.loads(json.dumps(document)))


def without_clocks(value):
    if isinstance(value, dict):
        return {name: without_clocks(each) for name, each in value.items() if name not in CLOCKS}
    return [without_clocks(each) for each in value] if isinstance(value, list) else value
