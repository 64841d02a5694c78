"""Accounts and tokens."""

from __future__ import annotations

import hashlib
import sqlite3
from datetime import datetime, timedelta

import pytest

from api.service.accounts import DAYS, FIRST_DAYS, Accounts, RateLimit
from api.service.home import Home
from tabular.errors import InvalidInput, InvalidParameter, NameTaken, UnknownName


@pytest.fixture
def accounts(tmp_path):
    return Accounts(Home(tmp_path / "home", create=True))


def test_a_token_leads_to_its_account(accounts):
    account, made = accounts.add("ann", "auditor")
    found = accounts.of_token(made.secret)
    assert found == account
    assert (found.name, found.role) == ("ann", "auditor")
    assert accounts.of_token("gp_wrong") is None
    assert accounts.of_token("") is None
    assert accounts.of_token("\ud800") is None


def test_only_the_hash_of_a_token_is_kept(accounts, tmp_path):
    _, made = accounts.add("ann", "auditor")
    assert made.secret not in repr(made)
    held = b"".join(path.read_bytes() for path in (tmp_path / "home").iterdir())
    assert made.secret.encode() not in held
    assert hashlib.sha256(made.secret.encode()).digest() in held


def test_a_revoked_token_stops_at_once_and_others_go_on(accounts):
    _, first = accounts.add("ann", "auditor")
    second = accounts.new_token("ann")
    accounts.revoke(first.token.id)
    assert accounts.of_token(first.secret) is None
    assert accounts.of_token(second.secret).name == "ann"
    with pytest.raises(UnknownName, match="No token has the id"):
        accounts.revoke(first.token.id)


def test_a_token_is_revoked_only_under_its_account(accounts):
    _, made = accounts.add("ann", "auditor")
    accounts.add("bob", "analyst")
    with pytest.raises(UnknownName):
        accounts.revoke(made.token.id, account="bob")
    assert accounts.of_token(made.secret) is not None


def test_a_token_expires(accounts, tmp_path):
    _, made = accounts.add("ann", "auditor")
    assert not accounts.tokens()[0].has_expired
    with sqlite3.connect(tmp_path / "home" / "service.db") as db:
        db.execute("UPDATE tokens SET expires = '2026-01-01T00:00:00.000Z'")
    assert accounts.of_token(made.secret) is None
    assert accounts.tokens()[0].has_expired


def test_the_use_of_a_token_is_shown(accounts):
    _, made = accounts.add("ann", "auditor")
    assert accounts.tokens("ann")[0].last_used is None
    accounts.of_token(made.secret)
    assert accounts.tokens("ann")[0].last_used is not None


def test_the_first_account_is_made_once(accounts):
    first = accounts.add_first()
    assert accounts.of_token(first.secret).role == "custodian"
    assert accounts.add_first() is None


def days_of(made):
    """How many days a token is good for."""
    created, expires = (datetime.fromisoformat(each) for each in (made.token.created, made.token.expires))
    assert abs(expires - created - timedelta(days=(expires - created + timedelta(hours=1)).days)) < timedelta(minutes=1)
    return (expires - created + timedelta(hours=1)).days


@pytest.mark.parametrize("days", [1, 7, 30, 365])
def test_who_replaces_a_token_gets_no_longer_life_than_somebody_decided(accounts, days):
    accounts.add("ann", "analyst")
    made = accounts.new_token("ann", days=days)
    for _ in range(3):
        later = accounts.replace(made.token.id, session="none")
        assert later.token.expires == made.token.expires and later.secret != made.secret
        made = later


def test_the_first_token_of_an_account_is_short_lived(accounts):
    """Somebody else has seen it; whoever it is for replaces it, or gets another."""
    firsts = [accounts.add_first(), accounts.add("ann", "analyst")[1]]
    assert [days_of(each) for each in firsts] == [FIRST_DAYS] * 2 == [7] * 2
    replaced = accounts.replace(firsts[0].token.id, session="none")
    assert days_of(replaced) == days_of(accounts.new_token("ann")) == DAYS
    assert accounts.of_token(replaced.secret).name == "custodian"
    assert accounts.of_token(firsts[0].secret) is None
    with pytest.raises(UnknownName):
        accounts.replace(firsts[0].token.id, session="none")


def test_a_removed_account_is_gone_with_its_tokens_and_a_later_one_is_another(accounts):
    accounts.add_first()
    before, made = accounts.add("ann", "analyst")
    accounts.remove("ann")
    assert accounts.of_token(made.secret) is None
    after, _ = accounts.add("ann", "analyst")
    assert after.id != before.id


def test_the_last_custodian_stays(accounts):
    accounts.add_first()
    with pytest.raises(InvalidInput, match="last custodian"):
        accounts.remove("custodian")
    accounts.add("ann", "custodian")
    accounts.remove("custodian")
    assert [each.name for each in accounts.all()] == ["ann"]


@pytest.mark.parametrize("name", ["", " ann", "a/b", "-x", "a" * 65, "ann\n", "é"])
def test_a_name_that_cannot_stand_in_an_address_is_refused(accounts, name):
    with pytest.raises(InvalidParameter):
        accounts.add(name, "analyst")


def test_names_and_roles_are_checked(accounts):
    accounts.add("ann", "analyst")
    with pytest.raises(NameTaken):
        accounts.add("ann", "auditor")
    with pytest.raises(InvalidParameter, match="be one of"):
        accounts.add("bob", "boss")
    with pytest.raises(UnknownName):
        accounts.new_token("bob")
    with pytest.raises(UnknownName):
        accounts.tokens("bob")


def test_a_burst_passes_and_then_so_many_a_second(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("api.service.accounts.time.monotonic", lambda: clock[0])
    limit = RateLimit(5)
    assert [limit.wait("ann") for _ in range(10)] == [0.0] * 10
    assert limit.wait("ann") == pytest.approx(0.2)
    assert limit.wait("bob") == 0.0
    clock[0] += 0.2
    assert limit.wait("ann") == 0.0
    assert limit.wait("ann") > 0


def test_who_has_not_asked_for_long_is_let_go_of(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("api.service.accounts.time.monotonic", lambda: clock[0])
    monkeypatch.setattr("api.service.accounts._MOST_COUNTED", 3)
    limit = RateLimit(1, burst=2)
    for address in ("a", "b", "c"):
        limit.wait(address)
    clock[0] += 60
    assert [limit.wait("d"), limit.wait("d")] == [0.0, 0.0]
    assert set(limit._left) == {"d"}
    assert limit.seconds("d") == pytest.approx(1.0) and limit.seconds("a") == 0.0
