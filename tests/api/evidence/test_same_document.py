"""Command line and HTTP give the same document for the same input: a test over all verbs.

Both doors begin with copies of the same store and folder, in which tables have the names of files.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from api.app import create_app
from api.http.schema import is_resource, path_of
from api.service.records import Records
from api.service.requests import form_of, offered
from api.service.signing.one_time_codes import code_of, step_at
from api.service.tables.tables import Tables
from api.verbs import verbs
from api.verbs.values import options_of
from graphpriv.formats import write_graph
from graphpriv.store import open_store
from graphpriv.synthetic import synthetic_graph
from tests.api.evidence.mixed_load import timeless
from tests.api.evidence.worlds import Jobs, doer
from tests.api.http.conftest import Caller
from tests.api.jobs.test_every_verb import AGES, OPTIONS, ROWS

#: Verbs and options that the samples of jobs do not have; None where another test has them.
SAMPLES: Mapping[str, Mapping[str, Any] | None] = {
    **OPTIONS,
    "table protect": {**OPTIONS["table protect"], "private": None},
    "table evolve": {**OPTIONS["table evolve"], "population_out": None},
    "table import": {"file": "t.csv", "into": "new"},
    "demo": {"out": "demo", "users": 60, "k": 3},
    # Both ask a network.
    "crawl": None,
    "graph refresh": None,
    "store restore": {"file": "graphs.backup"},
    "account add": {"name": "bob", "role": "auditor"},
    "account list": {},
    "account remove": {"name": "ann"},
    "account reset-factor": {"name": "fay"},
    "token new": {"name": "ann"},
    "token list": {},
    "token revoke": {"id": "0" * 16},
    # The command line shows its lines one by one: tests/api/verbs/crawl/test_topics.py.
    "topics": None,
    "places": None,
    # It compiles for this machine, and says how long that took.
    "warm-up": None,
}

#: What is drawn anew for each who asks, and what tells of the copy alone.
DRAWN = ("id", "token", "expires", "created", "last_used", "hash", "entries")


@dataclass(frozen=True)
class Doors:
    """Two copies of a service, one for each door."""

    folder: Any
    graphpriv: Any
    monkeypatch: Any

    def typed(self, verb, options):
        """What the command line prints."""
        here = self.folder / "typed"
        self.monkeypatch.chdir(here)
        self.monkeypatch.setenv("GRAPHPRIV_STORE", f"file:{here / 'graphs.db'}")
        self.monkeypatch.setenv("GRAPHPRIV_HOME", str(here / "home"))
        seed = ["--seed", "7"] if verbs[verb].method.draws else []
        ended = self.graphpriv(*verb.split(), *words_of(verb, options), *seed, "--json")
        # 4 says that what `fail_if` asks for is so.
        assert ended.code in (0, 4), ended.err
        return ended.document

    def sent(self, verb, options):
        """What the service answers."""
        here = self.folder / "sent"
        store, home = f"file:{here / 'graphs.db'}", here / "home"
        app = create_app({"STORE": store, "HOME": str(home)}, queue=Jobs(store, home))
        service = app.extensions["graphpriv"]
        caller = Caller(app.test_client(), (here / "token").read_text())
        try:
            if is_resource(verb):
                return RESOURCES[verb](caller, here, options)
            seed = {"seed": 7} if verbs[verb].method.draws else {}
            body = {**named_here(verb, options, caller, here), **seed}
            answer = caller.post(path_of(verb), body, headers={"Prefer": "wait=30"})
            assert answer.status_code == 200, answer.text
            return named_as_typed(answer.json, options, body)
        finally:
            service.close()


def words_of(verb, options):
    """Options as they are typed."""
    known = options_of(verbs[verb].method)
    places = [str(options[name]) for name, each in known.items() if name in options and each.metadata.get("positional")]
    words = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is None or known[name].metadata.get("positional"):
            continue
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        elif known[name].metadata.get("listed"):
            words += [flag, ",".join(value)]
        else:
            words += [part for each in (value if isinstance(value, list) else [value]) for part in (flag, each)]
    return [*places, *words]


def named_here(verb, options, caller, here):
    """Options as the service takes them: tables have the names of files, what is a table's own is left out."""
    known = offered(verbs[verb].method)
    given = {
        name: value for name, value in options.items() if value is not None and not known[name].metadata.get("own")
    }
    for name, value in given.items():
        if form_of(known[name]) == "file" and not value.endswith(".csv"):
            given[name] = uploaded(caller, here / value)
    return given


def named_as_typed(document, options, body):
    """A document in which an upload is called what the file is called that was sent."""
    text = json.dumps(document)
    for name, value in body.items():
        if isinstance(value, dict):
            text = text.replace(f"upload-{value['upload']}", options[name])
    return json.loads(text)


def uploaded(caller, path):
    data = path.read_bytes()
    id = caller.post("/v1/uploads", {"size": len(data)}).json["id"]
    assert caller.put(f"/v1/uploads/{id}?offset=0", data=data).json["finished"]
    return {"upload": id}


def imported(caller, here, options):
    return caller.put(f"/v1/graphs/{options['graph']}", data=(here / options["file"]).read_bytes()).json


def exported(caller, here, options):
    """The file itself is what the service gives: it has the bytes of the one that the command line wrote."""
    answer = caller.get(f"/v1/graphs/{options['name']}/file")
    return {"bytes": answer.data.decode()}


def listed(path):
    return lambda caller, here, options: {path: caller.get(f"/v1/{path}").json[path]}


def tokens_of_all(caller, here, options):
    names = [each["account"] for each in caller.get("/v1/accounts").json["accounts"]]
    return {"tokens": [each for name in names for each in caller.get(f"/v1/accounts/{name}/tokens").json["tokens"]]}


def revoked(caller, here, options):
    (token,) = caller.get("/v1/accounts/ann/tokens").json["tokens"]
    return caller.delete(f"/v1/accounts/ann/tokens/{token['id']}").json


#: How the verbs that are resources are asked for.
RESOURCES = {
    "graph import": imported,
    "graph export": exported,
    "graph list": listed("graphs"),
    "graph show": lambda caller, here, options: caller.get(f"/v1/graphs/{options['name']}").json,
    "graph delete": lambda caller, here, options: caller.delete(f"/v1/graphs/{options['name']}").json,
    "graph forget": lambda caller, here, options: (
        caller.delete(f"/v1/graphs/{options['name']}/users/{options['user']}").json
    ),
    "account add": lambda caller, here, options: caller.post("/v1/accounts", options).json,
    "account list": listed("accounts"),
    "account remove": lambda caller, here, options: caller.delete(f"/v1/accounts/{options['name']}").json,
    "account reset-factor": lambda caller, here, options: (
        caller.delete(f"/v1/accounts/{options['name']}/second-factor").json
    ),
    "token new": lambda caller, here, options: caller.post(f"/v1/accounts/{options['name']}/tokens").json,
    "token list": tokens_of_all,
    "token revoke": revoked,
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with a store, the folder of a service with tables, and the files of both."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "levels").mkdir()
    (folder / "levels" / "age.csv").write_text(AGES)
    (folder / "levels" / "town.csv").write_text("A;*\nB;*\nC;*\n")
    for name in ("t.csv", "masked.csv"):
        (folder / name).write_text(ROWS)
    write_graph(synthetic_graph(80, rng=np.random.default_rng(1)), folder / "g.json")
    do = doer(f"file:{folder / 'graphs.db'}", 0)
    write_graph(synthetic_graph(80, rng=np.random.default_rng(2)), folder / "other.json")
    for name, file in (("g", "g"), ("other", "other"), ("old", "g")):
        do("graph import", file=str(folder / f"{file}.json"), graph=name)
    do("protect", name="g", k=4, into="r")
    do("store backup", file=str(folder / "graphs.backup"))
    records = Records.at(str(folder / "home"), create=True)
    (folder / "token").write_text(records.accounts.add("keeper", "custodian")[1].secret)
    records.accounts.add("ann", "analyst")
    fay, _ = records.accounts.add("fay", "auditor")
    records.factors.confirm(fay, code_of(records.factors.begin(fay), step_at(time.time())))
    tables = Tables(records.home)
    for name in ("t.csv", "masked.csv"):
        table = tables.add(name, "original", folder / name)
        for column in ("age", "town"):
            tables.put_hierarchy(table, column, (folder / "levels" / f"{column}.csv").read_bytes())
    records.home.close()
    return folder


@pytest.fixture
def doors(prepared, tmp_path, graphpriv, monkeypatch):
    for name in ("typed", "sent"):
        shutil.copytree(prepared, tmp_path / name)
    return Doors(tmp_path, graphpriv, monkeypatch)


def same(document):
    """A document without what two runs differ in."""
    return without_drawn(timeless(document))


def without_drawn(value):
    if isinstance(value, dict):
        return {name: without_drawn(each) for name, each in value.items() if name not in DRAWN}
    return [without_drawn(each) for each in value] if isinstance(value, list) else value


def test_every_verb_has_a_sample():
    assert set(SAMPLES) == set(verbs)
    assert set(RESOURCES) == {name for name in verbs if is_resource(name)}


@pytest.mark.parametrize("verb", [name for name, options in SAMPLES.items() if options is not None])
def test_both_doors_give_the_same_document(doors, verb):
    options = dict(SAMPLES[verb])
    if verb == "graph forget":
        options["user"] = json.loads((doors.folder / "sent" / "g.json").read_text())["nodes"][0]["id"]
    if verb == "token revoke":
        with_home = Records.at(str(doors.folder / "typed" / "home"))
        options["id"] = with_home.accounts.tokens("ann")[0].id
        with_home.home.close()
    if verb == "store restore":
        for name in ("sent", "typed"):
            (doors.folder / name / "graphs.db").unlink()
            open_store(f"file:{doors.folder / name / 'graphs.db'}", create=True).close()
    sent, typed = doors.sent(verb, options), doors.typed(verb, options)
    if verb == "graph export":
        assert sent["bytes"] == (doors.folder / "typed" / options["out"]).read_text()
        return
    if verb == "token list":
        # The service lists them by account.
        typed["tokens"].sort(key=lambda each: each["account"])
    assert same(sent) == same(typed)


def test_files_and_mappings_of_both_doors_have_the_same_bytes(doors):
    here = doors.folder / "sent"
    app = create_app({"STORE": f"file:{here / 'graphs.db'}", "HOME": str(here / "home")})
    get = Caller(app.test_client(), (here / "token").read_text()).get
    doors.typed("graph export", {"name": "r", "out": "r.json", "mapping": "m.csv"})
    doors.typed("graph export", {"name": "g", "out": "g.graphml"})
    for path, name in (("r/file", "r.json"), ("r/mapping", "m.csv"), ("g/file?format=graphml", "g.graphml")):
        assert get(f"/v1/graphs/{path}").data == (doors.folder / "typed" / name).read_bytes()
    app.extensions["graphpriv"].close()
