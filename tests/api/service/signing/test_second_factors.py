"""Second factors: what is taken, how often, and what is kept of it."""

from __future__ import annotations

import pytest

from api.service.accounts import Accounts, SecondFactorNeeded
from api.service.home import Home
from api.service.signing.one_time_codes import SECONDS, code_of, step_at
from api.service.signing.second_factors import FREE_TRIES, RECOVERY_CODES, SecondFactors, TooManyCodes
from api.service.signing.sessions import HalfWay, Sessions
from tabular.errors import InvalidInput


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home", create=True)


@pytest.fixture
def accounts(home):
    return Accounts(home)


@pytest.fixture
def ann(accounts):
    return accounts.add("ann", "custodian")[0]


@pytest.fixture
def clock():
    return [1_800_000_000.0]


@pytest.fixture
def factors(home, clock):
    return SecondFactors(home, lambda: clock[0])


@pytest.fixture
def app(factors, ann, clock):
    """An app that shows codes of the factor of ann, which is on."""
    secret = factors.begin(ann)

    def shown():
        return code_of(secret, step_at(clock[0]))

    shown.codes = factors.confirm(ann, shown())
    clock[0] += SECONDS
    return shown


def test_it_counts_once_a_first_code_has_confirmed_it(factors, ann, accounts, clock):
    secret = factors.begin(ann)
    assert factors.of(ann) is None and not accounts.named("ann").has_factor
    assert factors.confirm(ann, "000000" if code_of(secret, step_at(clock[0])) != "000000" else "111111") is None
    assert factors.takes(ann, code_of(secret, step_at(clock[0]))) is None
    assert len(factors.confirm(ann, code_of(secret, step_at(clock[0])))) == RECOVERY_CODES
    assert factors.of(ann).codes == RECOVERY_CODES and accounts.named("ann").has_factor
    with pytest.raises(InvalidInput, match="already"):
        factors.begin(ann)


def test_a_secret_that_was_not_confirmed_is_replaced_by_the_next(factors, ann, clock):
    first = factors.begin(ann)
    assert factors.begun(ann) == first
    second = factors.begin(ann)
    assert second != first and factors.begun(ann) == second and len(second) == 20


def test_each_code_is_taken_once(factors, ann, app, clock):
    code = app()
    assert factors.takes(ann, f" {code[:3]} {code[3:]}\n") == "code"
    assert factors.takes(ann, code) is None
    clock[0] += SECONDS
    assert factors.takes(ann, code) is None
    assert factors.takes(ann, app()) == "code"


def test_the_code_that_confirmed_it_is_used_up(factors, ann, clock):
    code = code_of(factors.begin(ann), step_at(clock[0]))
    factors.confirm(ann, code)
    assert factors.takes(ann, code) is None


def test_an_earlier_code_is_not_taken_after_a_later_one(factors, ann, app, clock):
    earlier = app()
    clock[0] += SECONDS
    assert factors.takes(ann, app()) == "code"
    assert factors.takes(ann, earlier) is None


def test_a_recovery_code_is_taken_once_however_it_is_typed(factors, ann, app):
    first, second, *_ = app.codes
    assert len(set(app.codes)) == RECOVERY_CODES and len(first.replace("-", "")) == 24
    assert factors.takes(ann, f" {first.upper()} ") == "recovery code"
    assert factors.takes(ann, first) is None
    assert factors.takes(ann, second.replace("-", "")) == "recovery code"
    assert factors.of(ann).codes == RECOVERY_CODES - 2


def test_a_code_of_somebody_else_is_none(factors, ann, app, accounts):
    bob, _ = accounts.add("bob", "analyst")
    assert factors.takes(bob, app()) is None and factors.takes(bob, app.codes[0]) is None
    assert factors.takes(ann, app.codes[0]) == "recovery code"


def test_new_recovery_codes_replace_the_old_ones(factors, ann, app):
    new = factors.renew(ann)
    assert factors.takes(ann, app.codes[0]) is None
    assert factors.takes(ann, new[0]) == "recovery code"


def test_after_wrong_codes_an_account_waits_longer_each_time_and_recovers(factors, ann, app, clock):
    wrong = "000000" if app() != "000000" else "111111"
    for _ in range(FREE_TRIES):
        assert factors.takes(ann, wrong) is None
    for seconds in (60, 120, 240):
        with pytest.raises(TooManyCodes) as caught:
            factors.takes(ann, app())
        assert caught.value.seconds == pytest.approx(seconds)
        clock[0] += seconds
        assert factors.takes(ann, "000000" if app() != "000000" else "111111") is None
    for _ in range(12):
        clock[0] += 3600
        assert factors.takes(ann, "000000" if app() != "000000" else "111111") is None
    # Whoever guesses keeps nobody from a recovery code, and a good code ends it.
    assert factors.takes(ann, app.codes[0]) == "recovery code"
    clock[0] += 3600
    assert factors.takes(ann, app()) == "code"
    assert factors.takes(ann, "000000" if app() != "000000" else "111111") is None


def test_recovery_codes_are_kept_as_hashes(factors, ann, app, home):
    home.settle()
    held = b"".join(path.read_bytes() for path in home.folder.iterdir())
    for code in app.codes:
        assert code.encode() not in held and code.replace("-", "").encode() not in held


def test_it_goes_with_its_account_and_when_it_is_removed(factors, ann, app, accounts, home):
    accounts.add("bob", "custodian")
    assert factors.remove(ann) and not factors.remove(ann)
    factors.begin(ann)
    accounts.remove("ann")
    with home.reading() as db:
        left = [
            db.execute(f"SELECT count(*) FROM {each}").fetchone()[0] for each in ("second_factors", "recovery_codes")
        ]
    assert left == [0, 0]


def test_a_token_alone_begins_no_session_and_opens_no_route(home, factors, accounts, ann, app):
    secret, sessions = accounts.new_token("ann").secret, Sessions(home)
    half_way = sessions.begin(secret)
    assert isinstance(half_way, HalfWay) and half_way.secret not in repr(half_way)
    assert sessions.find(half_way.secret) is None
    with pytest.raises(SecondFactorNeeded):
        accounts.of_token(secret)
    session = sessions.finish(sessions.half_way(half_way.secret))
    assert sessions.find(session.secret).account == ann
    assert sessions.finish(half_way) is None and sessions.half_way(half_way.secret) is None


def test_a_factor_that_is_turned_on_meanwhile_counts(home, accounts, ann, factors, clock, monkeypatch):
    sessions, token = Sessions(home), accounts.new_token("ann").secret
    begin = sessions._begin

    def begin_later(*given, **more):
        """Somebody else is slow: the factor comes on between the look at the account and the session."""
        factors.confirm(ann, code_of(factors.begin(ann), step_at(clock[0])))
        return begin(*given, **more)

    monkeypatch.setattr(sessions, "_begin", begin_later)
    assert sessions.begin(token) is None
    assert sessions.of(ann) == []


def test_who_is_half_way_for_too_long_begins_again(home, accounts, ann, app):
    sessions = Sessions(home)
    half_way = sessions.begin(accounts.new_token("ann").secret)
    with home.writing() as db:
        db.execute("UPDATE half_sessions SET began = '2026-01-01T00:00:00.000Z'")
    assert sessions.half_way(half_way.secret) is None


def test_a_token_for_programs_opens_routes_and_signs_nobody_in(home, accounts, ann, app):
    made = accounts.new_token("ann", programs=True)
    assert made.token.programs
    assert accounts.of_token(made.secret, demanded=("custodian",)) == ann
    assert Sessions(home).begin(made.secret) is None


def test_where_a_role_must_have_one_its_other_tokens_open_no_route(accounts, ann):
    _, bob = accounts.add("bob", "analyst")
    token = accounts.new_token("ann")
    assert accounts.of_token(token.secret) == ann
    with pytest.raises(SecondFactorNeeded):
        accounts.of_token(token.secret, demanded=("custodian",))
    assert accounts.of_token(bob.secret, demanded=("custodian",)).name == "bob"
