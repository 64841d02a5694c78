"""A service with jobs and a worker, made data where they are wanted, and browsers that are signed in to it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import expect

from api.app import create_app
from api.jobs.jobs import Jobs
from api.jobs.records import Settings
from api.jobs.workers import Workers
from api.service.accounts import ROLES
from api.service.service import Service
from graphpriv import connect
from graphpriv.formats import formats
from graphpriv.formats.contract import write_pieces
from graphpriv.remote import Refused
from graphpriv.store import Follow, User, open_store
from graphpriv.store.crawls import CRAWL, ONLY, document
from graphpriv.synthetic import synthetic_graph
from tests.api.http.conftest import running

#: What the made data are called.
GRAPH, RELEASE, LATER = "follows", "follows-v1", "follows-v2"
TABLE, TABLE_RELEASE = "visits.csv", "visits-v1"
WARDS = ("A1", "A2", "A3", "B1", "B2", "Day care")
PATIENTS = "patients"
CRAWLED = "town"


@dataclass
class Served:
    """A service at an address, with a token for each role."""

    address: str
    tokens: dict[str, str]
    store: str
    service: Service


@dataclass
class Reader:
    """A browser of one role."""

    page: Any
    address: str
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def go(self, path):
        """Open a page; its status."""
        return self.page.goto(self.address + path).status

    def sign_in(self, token):
        """Sign in as somebody does."""
        self.page.goto(self.address)
        self.type_in("Your token", token)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(f"{self.address}/")

    def type_in(self, label, text):
        """Fill in the field that a page begins with, once it is drawn: the browser remarks on who types earlier."""
        field = self.page.get_by_label(label, exact=True)
        expect(field).to_be_focused()
        field.fill(text)

    def keep_ears_open(self):
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(f"{self.page.url}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"{self.page.url}: {error}"))

    def has_kept_still(self):
        """Whether nothing left the machine and nothing was said."""
        away = [url for url in self.asked if not url.startswith(self.address)]
        return (away, self.said) == ([], [])

    @property
    def width_over(self):
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """A service that keeps its things in a *folder*."""
    home, store = folder / "home", f"file:{folder / 'store.db'}"
    home.mkdir(mode=0o700)
    open_store(store, create=True).close()
    settings = Settings(home=home, store=store, files="api.service.files:files_of", beat=0.2)
    with contextlib.closing(Jobs.opened(settings)) as jobs:
        app = create_app({"STORE": store, "HOME": str(home), "RATE_LIMIT": 100_000}, queue=jobs)
        service = app.extensions["graphpriv"]
        tokens = {role: service.accounts.add(role, role)[1].secret for role in ROLES}
        workers = Workers(settings, 1)
        try:
            with running(app) as (host, port):
                yield Served(f"http://{host}:{port}", tokens, store, service)
        finally:
            workers.stop()
            service.close()


def fill(served: Served, folder: Path, *, users: int = 240, seed: int = 1) -> dict[str, str]:
    """Make data as a custodian does: two graphs, two releases, an audit, a sweep, tables; what pages are named by."""
    service = connect(served.address, served.tokens["custodian"])
    fill_crawl(served)
    for name in (GRAPH, "colleagues"):
        size = users if name == GRAPH else 60
        service.put(f"graphs/{name}", graph_file(folder / f"{name}.json", size, seed))
    service.run("protect", name=f"original:{GRAPH}", k=5, into=f"release:{RELEASE}", seed=seed)
    # As the pages ask for it.
    audit = service.start(
        "audit", original=f"original:{GRAPH}", released=f"release:{RELEASE}", at_risk=50, html="audit.html",
        at_risk_out="at-risk.csv",
    )  # fmt: skip
    service.result(audit)
    service.run("sweep", name=f"original:{GRAPH}", k=["2", "3", "5", "10", "20", "50"], runs=1, seed=seed)
    failed = service.start("protect", name=f"original:{GRAPH}", k=4 * users, into="release:too-much", seed=seed)
    with contextlib.suppress(Refused):
        service.result(failed)
    upload = service.upload(graph_file(folder / "friends.json", 40, seed + 1))["upload"]
    return {
        "audit": audit,
        "failed": failed,
        "upload": upload,
        "table": fill_tables(served, folder),
        **fill_patients(served, folder),
    }


def fill_crawl(served: Served) -> None:
    """Leave a crawl as it is when its budget is used up."""
    kept = {"source": "x", "wanted": 1638, "posts": 100, "follows": 400, "budget": 900_000, "spent": 899_960}
    kept |= {"users": {"kept": 184, "locked": 9}, "ended": "budget", "told": 71_000, "seen": 63_900}
    with open_store(served.store, create=False) as store:
        store.begin_crawl(CRAWLED, [document(CRAWL, ONLY, {**kept, "last": 1_768_471_200.0})])
        graph = synthetic_graph(184, rng=np.random.default_rng(3))
        store.add_users(CRAWLED, [User(id=id) for id in graph.ids])
        ends = zip(*(each.tolist() for each in graph.edges()), strict=True)
        store.add_follows(CRAWLED, [Follow(graph.ids[a], graph.ids[b]) for a, b in ends])


def fill_tables(served: Served, folder: Path) -> str:
    """Make an original table that is half described, and its release; the id of an upload of a table."""
    service = connect(served.address, served.tokens["custodian"])
    path = folder / "visits.csv"
    path.write_text(table_text())
    service.put(f"tables/{TABLE}", path)
    roles = {"age": "quasi-identifier", "ward": "quasi-identifier", "illness": "sensitive", "visit": "identifier"}
    service.ask("PUT", f"tables/{TABLE}/schema", {"attributes": {name: {"role": role} for name, role in roles.items()}})
    wards = "".join(f"{ward};{ward[0]};*\n" for ward in WARDS)
    service.ask("PUT", f"tables/{TABLE}/hierarchies/ward", wards.encode())
    service.run(
        "table protect", file=TABLE, columns=["age", "ward"], method="mondrian", param=["k=3"], out="m.csv",
        into=TABLE_RELEASE, seed=1,
    )  # fmt: skip
    return service.upload(path)["upload"]


def table_text(rows: int = 240) -> str:
    """A made-up table of visits to wards."""
    rng = np.random.default_rng(2)
    lines = ["visit,age,ward,illness,cost"]
    for row in range(rows):
        ward, illness = WARDS[rng.integers(len(WARDS))], ("flu", "cold", "asthma")[rng.integers(3)]
        lines.append(f"{1000 + row},{rng.integers(20, 60)},{ward},{illness},{rng.gamma(2, 40):.2f}")
    return "\n".join(lines) + "\n"


def fill_patients(served: Served, folder: Path, *, rows: int = 300, seed: int = 1) -> dict[str, str]:
    """Make a table with hierarchies, a search of its front and a comparison of protections."""
    service = connect(served.address, served.tokens["custodian"])
    ages, rng = range(20, 60), np.random.default_rng(seed)
    lines = [f"n{row},{rng.choice(ages)},{rng.choice(list('ABCDEF'))},{rng.choice(['x', 'y'])}" for row in range(rows)]
    path = folder / f"{PATIENTS}.csv"
    path.write_text("\n".join(["name,age,zip,illness", *lines]) + "\n")
    service.put(f"tables/{PATIENTS}", path)
    for column, levels in (
        ("age", "".join(f"{age};{age // 5 * 5}s;{age // 20 * 20}s;*\n" for age in ages)),
        ("zip", "".join(f"{area};{'near' if area < 'D' else 'far'};*\n" for area in "ABCDEF")),
    ):
        (folder / f"{column}.csv").write_text(levels)
        service.put(f"tables/{PATIENTS}/hierarchies/{column}", folder / f"{column}.csv")
    names = {"file": f"original:{PATIENTS}", "columns": ["age", "zip"]}
    compared = service.start("table compare", **names, k=5, sample=10, html="protections.html")
    front = service.start(
        "table search", file=names["file"], quasi_identifiers=names["columns"], objectives=["k", "glm"]
    )
    for id in (compared, front):
        service.result(id)
    return {"compared": compared, "front": front}


def graph_file(path: Path, users: int, seed: int) -> Path:
    """A made-up graph of so many users in a file."""
    with path.open("wb") as file:
        graph = synthetic_graph(users, rng=np.random.default_rng(seed))
        write_pieces(file, formats["node-link"].method().text(graph))
    return path
