"""Accounts and tokens of the service, as typed."""

from __future__ import annotations

import sqlite3
import time

import pytest

from api.service.records import Records
from api.service.signing.one_time_codes import code_of, step_at


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHPRIV_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_an_account_comes_with_a_token_that_works(graphpriv, home):
    added = graphpriv("account", "add", "ann", "--role", "auditor", "--json").document
    assert {"account": "ann", "role": "auditor"}.items() <= added.items()
    with Records.at(str(home)) as records:
        assert records.accounts.of_token(added["token"]).name == "ann"
    (listed,) = graphpriv("account", "list", "--json").document["accounts"]
    assert (listed["account"], listed["role"]) == ("ann", "auditor")


def test_people_are_shown_the_token_alone_on_standard_output(graphpriv, home):
    ended = graphpriv("account", "add", "ann", "--role", "analyst")
    assert ended.out.startswith("gp_") and len(ended.out.splitlines()) == 1
    assert "once" in ended.err
    made = graphpriv("token", "new", "ann", "--days", 3)
    assert made.out.startswith("gp_")
    assert "ann" in graphpriv("token", "list").out
    assert made.out.strip() not in graphpriv("token", "list", "--json").out


def test_a_token_is_listed_and_revoked_by_its_id(graphpriv, home):
    graphpriv("account", "add", "ann", "--role", "analyst")
    made = graphpriv("token", "new", "ann", "--json").document
    listed = graphpriv("token", "list", "--json").document["tokens"]
    assert [each["account"] for each in listed] == ["ann", "ann"]
    assert made["id"] in [each["id"] for each in listed]
    assert graphpriv("token", "revoke", made["id"], "--json").document == {"revoked": made["id"]}
    assert graphpriv("token", "revoke", made["id"]).code == 2
    with Records.at(str(home)) as records:
        assert records.accounts.of_token(made["token"]) is None


def test_an_account_is_removed(graphpriv, home):
    graphpriv("account", "add", "ann", "--role", "analyst")
    assert graphpriv("account", "remove", "ann").code == 0
    assert graphpriv("account", "list", "--json").document == {"accounts": []}


def test_wrong_use_is_told(graphpriv, home):
    assert "no folder here" in graphpriv("account", "list").error
    assert graphpriv("account", "add", "ann", "--role", "boss").code == 2
    assert "name" in graphpriv("account", "add", "a/b", "--role", "analyst").error.lower()
    assert not home.exists()
    graphpriv("account", "add", "ann", "--role", "analyst")
    assert "already" in graphpriv("account", "add", "ann", "--role", "analyst").error
    assert graphpriv("token", "new", "ann", "--days", 0).code == 2


def test_the_check_of_the_store_proves_the_audit_log(graphpriv, small, home):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("account", "add", "ann", "--role", "analyst")
    graphpriv("account", "remove", "ann")
    document = graphpriv("store", "check", "--json").document
    assert document["sound"] and document["audit_log"]["entries"] == 2
    assert document["audit_log"]["hash"] in graphpriv("store", "check").out
    with sqlite3.connect(home / "service.db") as db:
        db.execute("DROP TRIGGER audit_log_is_not_changed")
        db.execute("UPDATE audit_log SET object = 'bob' WHERE number = 1")
    ended = graphpriv("store", "check", "--json")
    assert ended.code == 1
    assert ended.document["problems"] == ["Audit log, entry 1: it does not fit the entry before it."]


def test_the_way_back_for_who_lost_the_second_factor(graphpriv, home):
    token = graphpriv("account", "add", "ann", "--role", "custodian", "--json").document["token"]
    assert "no second factor" in graphpriv("account", "reset-factor", "ann").error
    with Records.at(str(home)) as records:
        ann = records.accounts.named("ann")
        records.factors.confirm(ann, code_of(records.factors.begin(ann), step_at(time.time())))
    (listed,) = graphpriv("account", "list", "--json").document["accounts"]
    assert listed["second_factor"] and "yes" in graphpriv("account", "list").out
    assert "ann is off" in graphpriv("account", "reset-factor", "ann").out
    with Records.at(str(home)) as records:
        assert records.accounts.of_token(token).name == "ann"
        assert (records.log.entries()[0].action, records.log.entries()[0].object) == ("reset", "ann")
    assert graphpriv("account", "reset-factor", "bob").code == 2


def test_a_token_for_programs_is_listed_as_one(graphpriv, home):
    graphpriv("account", "add", "ann", "--role", "analyst")
    assert graphpriv("token", "new", "ann", "--programs", "--json").document["programs"]
    assert [each["programs"] for each in graphpriv("token", "list", "--json").document["tokens"]].count(True) == 1
    assert "programs" in graphpriv("token", "list").out


def test_a_change_that_no_entry_tells_of_does_not_happen(graphpriv, home):
    for name, role in (("ann", "custodian"), ("bob", "custodian")):
        graphpriv("account", "add", name, "--role", role)
    token = graphpriv("token", "list", "--json").document["tokens"][0]["id"]

    def known():
        return [graphpriv(kind, "list", "--json").document for kind in ("account", "token")]

    before = known()
    with Records.at(home) as records, records.home.writing() as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'full'); END")
    for words in ("account add eve --role custodian", "account remove bob", "token new ann", f"token revoke {token}"):
        assert graphpriv(*words.split()).code == 1
        assert known() == before
    with Records.at(home) as records, records.home.writing() as db:
        db.execute("DROP TRIGGER full")
    assert graphpriv("token", "revoke", token).code == 0
    assert known() != before
    with Records.at(home) as records:
        (last,) = records.log.entries(limit=1)
        assert (last.action, last.object) == ("revoke", token)
        assert records.log.problems() == []
