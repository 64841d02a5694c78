"""Secrets of forty kinds planted in graphs, tables and settings, and every byte of what leaves the house searched."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import json
import signal
import zlib
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from graphpriv.formats import write_graph
from graphpriv.store import open_store
from graphpriv.synthetic import synthetic_graph
from tests.api.evidence.secrets_of_persons import PERSONS, SEED, columns, held_in, processes
from tests.api.test_new_user import serving, until

#: What settings hold, by the variables of the environment that hold it.
SETTINGS = {
    "GRAPHPRIV_X_TOKEN": "AAAAplantedXtoken%3D0123456789",
    "GRAPHPRIV_GOOGLE_KEY": "AIzaPlantedKeyOfPlaces-0123",
    "GRAPHPRIV_TAGGING_TOKEN": "planted-tagging-token-0123",
    "GRAPHPRIV_POSTGRES_PASSWORD": "planted postgres password",
}
#: And a store, which nobody may name with its password.
PASSWORD = "planted-neo4j-password"


def planted() -> dict[str, list[str]]:
    """What belongs to each person of the graph: id, handle, name, where they say they live."""
    return {
        f"id-of-person-{n:02}-4711": [f"@handle_of_{n:02}", f"Name Of Person {n:02}", f"Lane {n:02} behind the mill"]
        for n in range(PERSONS)
    }


def written(folder: Path) -> dict[str, list[str]]:
    """A graph and a table of these persons; gives all that is secret of them, kind by kind."""
    persons, told = planted(), columns()
    ids = list(persons)
    nodes = [
        {"id": id, "handle": handle, "name": name, "location_text": lane, "location": "t", "topics": [f"Topic{n % 2}"]}
        for n, (id, (handle, name, lane)) in enumerate(persons.items())
    ]
    path = [["Town", "locality"], ["Land", "country"], ["Europe", "continent"], ["world", "world"]]
    edges = [{"source": one, "target": other} for one, other in zip(ids, ids[1:] + ids[:1], strict=True)]
    graph = {"directed": True, "nodes": nodes, "edges": edges, "locations": {"t": path}}
    (folder / "graph.json").write_text(json.dumps(graph))
    incomes = [f"{90000 + 7 * n}.{n:02}5" for n in range(PERSONS)]
    with (folder / "people.csv").open("w", newline="") as file:
        rows = [
            [id, 20 + n % 4, f"T{n % 2}", incomes[n], *(told[kind][n] for kind in told)] for n, id in enumerate(ids)
        ]
        csv.writer(file).writerows([["person", "age", "town", "income", *told], *rows])
    handles, names, lanes = (list(each) for each in zip(*persons.values(), strict=True))
    files = [(folder / name).read_bytes() for name in ("graph.json", "people.csv")]
    return {
        "id": ids,
        "handle": handles,
        "display name": names,
        "place as it was written": lanes,
        "income": incomes,
        **told,
        "fingerprint of an original": [hashlib.sha256(each).hexdigest() for each in files],
        "seed": [str(SEED)],
        "folder": [str(folder)],
        **{name: [value] for name, value in SETTINGS.items()},
        "password": [PASSWORD],
    }


def test_no_release_report_error_or_store_after_a_forget_holds_what_was_planted(graphpriv, tmp_path, monkeypatch):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    kinds = written(tmp_path)
    assert len(kinds) >= 40
    secrets = [secret for each in kinds.values() for secret in each]
    kept = [each for each in secrets if each != str(tmp_path)]
    roles = [f"--role={kind}=identifier" for kind in ("person", *columns())] + ["--role=income=sensitive"]
    told = [
        graphpriv("graph", "import", "graph.json", "--graph", "g", "--json"),
        graphpriv("protect", "g", "--k", 3, "--into", "r", "--seed", SEED, "--json"),
        graphpriv("audit", "g", "r", "--attacker", "ego", "--at-risk", 0, "--html", "audit.html", "--json"),
        graphpriv("sweep", "g", "--k", "2", "--runs", 1, "--attacker", "ego", "--seed", SEED, "--html", "sweep.html"),
        graphpriv("graph", "export", "r", "--out", "released.json", "--json"),
        graphpriv("graph", "export", "r", "--out", "released.graphml"),
        graphpriv("microdata", "r", "--out", "microdata.csv", "--seed", SEED, "--json"),
        graphpriv("graph", "export", "r", "--out", "released.gexf"),
        graphpriv("graph", "show", "g", "--json"),
        graphpriv("graph", "list"),
        graphpriv("table", "check", "people.csv", "--quasi-identifiers", "age,town", *roles, "--json"),
        graphpriv("table", "protect", "people.csv", "--method", "mondrian", "--columns", "age,town,income", "--param",
                  "k=3", "--shuffle", "--private", "back.private.json", "--out", "masked.csv", *roles, "--seed", SEED,
                  "--json"),
        graphpriv("table", "protect", "people.csv", "--method", "mondrian", "--columns", "age,town,income", "--param",
                  "k=3", "--out", "masked.parquet", *roles, "--seed", SEED),
        graphpriv("table", "measure", "people.csv", "masked.parquet", "--columns", "age,town", *roles, "--json"),
        graphpriv("table", "compare", "people.csv", "--columns", "age,town", "--k", 3, *roles, "--html", "ways.html",
                  "--seed", SEED),
    ]  # fmt: skip
    assert [each.code for each in told] == [0] * len(told), [each.error for each in told if each.code]
    refused = [
        graphpriv("graph", "forget", "r", "id-of-person-03-4711"),
        graphpriv("table", "hierarchy", "people.csv", "--column", "person", "--by", "date", "--out", "h.csv", *roles),
        graphpriv("table", "hierarchy", "people.csv", "--column", "person", "--by", "range", "--out", "h.csv", *roles),
        graphpriv("store", "restore", "people.csv", "--overwrite"),
        graphpriv("graph", "list", "--store", f"neo4j://neo4j:{PASSWORD}@127.0.0.1:7687"),
    ]
    assert [each.code for each in refused] == [2] * len(refused), [each.err for each in refused]
    said = b"".join((each.out + each.err).encode() for each in (*told, *refused))
    # A warning about fixed seeds does not repeat one.
    assert held_in(kept, said) == []
    private = {"graph.json", "people.csv", "back.private.json"}
    files = [
        each for each in tmp_path.iterdir() if each.name not in private and not each.name.startswith("graphpriv.db")
    ]
    assert len(files) >= 14
    for each in files:
        assert held_in(secrets, each.read_bytes()) == [], each.name
    # The store holds them, and nothing of who was forgotten; nor does a backup that is made later.
    gone, mine = "id-of-person-05-4711", planted()["id-of-person-05-4711"]
    assert graphpriv("graph", "forget", "g", gone).code == 0
    assert graphpriv("store", "backup", "later.bak").code == 0
    store = b"".join(each.read_bytes() for each in tmp_path.glob("graphpriv.db*"))
    for held in (store, (tmp_path / "later.bak").read_bytes()):
        assert held_in([gone, *mine], held) == []
        assert held_in(["@handle_of_06"], held)


@pytest.mark.xdist_group("service")
def test_no_process_title_log_or_file_of_a_service_tells_a_secret(tmp_path, monkeypatch):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    write_graph(synthetic_graph(120, rng=np.random.default_rng(1)), tmp_path / "g.json")
    document = json.loads((tmp_path / "g.json").read_text())
    persons = [f"id-of-person-{n:03}-4711" for n in range(120)]
    called = dict(zip((node["id"] for node in document["nodes"]), persons, strict=True))
    for node in document["nodes"]:
        node.update(id=called[node["id"]], handle=f"@handle_{called[node['id']]}")
    for edge in document["edges"]:
        edge.update(source=called[edge["source"]], target=called[edge["target"]])
    data = json.dumps(document).encode()
    (tmp_path / "g.json").unlink()
    gone = persons[7]
    with serving(tmp_path) as ask:
        upload = ask("POST", "/v1/uploads", {"size": len(data)})["id"]
        ask("PUT", f"/v1/uploads/{upload}?offset=0", data)
        ask("PUT", "/v1/graphs/people", {"upload": upload}, Prefer="wait=30")
        ask("POST", "/v1/protect", {"name": "people", "k": 4, "into": "v1", "seed": SEED}, Prefer="wait=30")
        job = ask("POST", "/v1/audit", {"original": "people", "released": "v1", "html": "audit.html"})["id"]
        titles = []

        def has_ended():
            titles.append(processes(ask.process.pid))
            return ask("GET", f"/v1/jobs/{job}")["state"] not in ("queued", "running")

        until(has_ended)
        assert max(map(len, titles)) >= 2
        ask("DELETE", f"/v1/graphs/people/users/{gone}")
        shown = b"\n".join(title for each in titles for title in each.values())
        assert b"api.jobs" in shown
        assert held_in([*persons, *SETTINGS.values(), ask.token, str(SEED)], shown) == []
        ask.process.send_signal(signal.SIGTERM)
        log = ask.process.stderr.read().encode()
        assert held_in([*persons, *SETTINGS.values(), ask.token, str(SEED)], log) == []
    for path in tmp_path.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert held_in([gone, f"@handle_{gone}", ask.token, *SETTINGS.values()], held) == [], path.name
    with open_store(f"file:{tmp_path / 'served.db'}", create=False) as store:
        assert persons[8] in store.load_graph("people").ids


@pytest.mark.parametrize(
    "hide",
    [
        str.encode,
        lambda text: base64.b64encode(b"ab" + text.encode() + b"c"),
        lambda text: base64.urlsafe_b64encode(b"a" + text.encode()),
        lambda text: text.encode().hex().encode(),
        lambda text: json.dumps(text).encode(),
        lambda text: quote(text).encode(),
        lambda text: text.encode("utf-16"),
        lambda text: b"before" + gzip.compress(text.encode()) + b"after",
        lambda text: b"before" + zlib.compress(gzip.compress(text.encode())),
    ],
)
def test_the_search_finds_what_is_encoded_or_packed(hide):
    secrets = [each[3] for each in columns().values()]
    for secret in secrets:
        assert secret in held_in(secrets, hide(f"x {secret} y"))
    assert held_in(secrets, hide("nothing of anybody")) == []
