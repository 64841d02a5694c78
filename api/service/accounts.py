"""Accounts, each with one role, and their tokens: hashed, expiring, revoked at once, limited in their rate.

A token opens the pages and the routes. Where its account has a second factor, or must have one, it opens the pages
alone; programs then take a token that was made for them, with which nobody signs in.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from api.service.home import Home, now, written
from tabular.errors import FileFailure, InvalidInput, InvalidParameter, NameTaken, ReportedError, UnknownName

#: What an account may be, and so do: everything; figures, risks and mappings; releases.
ROLES = ("custodian", "auditor", "analyst")

#: What the account is called that the first start makes.
FIRST = "custodian"

#: How long a token is good for unless somebody says otherwise, in days.
DAYS = 90

#: How long the first token of an account is good for, in days: somebody else has seen it. Its owner replaces it.
FIRST_DAYS = 7

#: When a token was last used is written down no more often than this, in seconds: not on each request.
_USE_SHOWN_AFTER = 60

#: Of so many accounts or addresses requests are counted before those are let go of who have not asked for long.
_MOST_COUNTED = 10_000

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")

#: What is asked of the table of accounts, as `a`, for one of them.
ACCOUNT = (
    "a.id, a.name, a.role, a.created, "
    "EXISTS (SELECT 1 FROM second_factors f WHERE f.account = a.id AND f.confirmed IS NOT NULL)"
)


class SecondFactorNeeded(ReportedError):
    """The token of somebody who signs in with a second factor, where nobody can ask for that."""


@dataclass(frozen=True)
class Account:
    """Somebody who asks."""

    #: Drawn at random: a name that is used again is another account. Logs of refusals have it.
    id: str
    name: str
    role: str
    created: str
    #: Whether signing in takes a code, too.
    has_factor: bool = field(default=False, compare=False)

    @property
    def document(self) -> dict[str, Any]:
        """What is told of it."""
        told = {"account": self.name, "role": self.role, "created": self.created}
        return {**told, "second_factor": self.has_factor, "log_id": self.id}

    @classmethod
    def of(cls, row: Sequence[Any]) -> Account:
        """The account in a row of what `ACCOUNT` asks for."""
        id, name, role, created, has_factor = row
        return cls(id, name, role, created, bool(has_factor))


@dataclass(frozen=True, kw_only=True)
class Token:
    """What is known of a token once it has been shown: never the token itself."""

    id: str
    account: str
    created: str
    expires: str
    last_used: str | None = None
    #: Whether it is for programs alone.
    programs: bool = False

    @property
    def has_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires <= now()

    @property
    def document(self) -> dict[str, Any]:
        """What is told of it."""
        return {**vars(self), "expired": self.has_expired}


@dataclass(frozen=True)
class NewToken:
    """A token that was just made; nobody can see it again."""

    token: Token
    secret: str = field(repr=False)


class Accounts:
    """The accounts of a service and their tokens."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def all(self) -> list[Account]:
        """All accounts, by name."""
        with self._home.reading() as db:
            rows = db.execute(f"SELECT {ACCOUNT} FROM accounts a ORDER BY name").fetchall()  # noqa: S608
        return [Account.of(row) for row in rows]

    def named(self, name: str) -> Account:
        """The account called *name*."""
        with self._home.reading() as db:
            return _account(db, name)

    def find(self, id: str) -> Account | None:
        """The account with an *id*, if there still is one."""
        return next((each for each in self.all() if each.id == id), None)

    def add(self, name: str, role: str, *, days: int = FIRST_DAYS) -> tuple[Account, NewToken]:
        """Add an account with a first token."""
        check_account_name(name)
        if role not in ROLES:
            raise InvalidParameter.wrong("role", must=f"be one of {', '.join(ROLES)}", was=role)
        account = Account(secrets.token_hex(8), name, role, now())
        with self._home.writing() as db:
            if db.execute("SELECT 1 FROM accounts WHERE name = ?", (name,)).fetchone():
                raise NameTaken(f"An account is called {name!r} already; take another name.")
            db.execute("INSERT INTO accounts VALUES (?, ?, ?, ?)", (account.id, name, role, account.created))
            return account, _insert_token(db, account, _in_days(days), first=True)

    def add_first(self) -> NewToken | None:
        """The token of a first custodian, where there is no account yet."""
        with self._home.writing() as db:
            if db.execute("SELECT 1 FROM accounts").fetchone():
                return None
            account = Account(secrets.token_hex(8), FIRST, "custodian", now())
            db.execute("INSERT INTO accounts VALUES (?, ?, ?, ?)", (account.id, FIRST, account.role, account.created))
            return _insert_token(db, account, _in_days(FIRST_DAYS), first=True)

    def remove(self, name: str) -> Account:
        """Remove an account; its tokens stop at once. The last custodian stays."""
        with self._home.writing() as db:
            account = _account(db, name)
            (custodians,) = db.execute("SELECT count(*) FROM accounts WHERE role = 'custodian'").fetchone()
            if account.role == "custodian" and custodians == 1:
                raise InvalidInput(f"{name!r} is the last custodian; add another one first.")
            db.execute("DELETE FROM accounts WHERE id = ?", (account.id,))
        return account

    def new_token(self, name: str, *, days: int = DAYS, programs: bool = False) -> NewToken:
        """Make a further token of an account, or one for its *programs* alone."""
        with self._home.writing() as db:
            return _insert_token(db, _account(db, name), _in_days(days), programs=programs)

    def replace(self, token: str, *, session: str) -> NewToken:
        """Make another token in the place of one, by its id; a *session* goes on with it, all others end.

        Only that of a first one ends later: how long the others are good was somebody's decision.
        """
        with self._home.writing() as db:
            row = db.execute(
                f"SELECT t.first, t.expires, {ACCOUNT} FROM tokens t "  # noqa: S608
                "JOIN accounts a ON a.id = t.account WHERE t.id = ?",
                (token,),
            ).fetchone()
            if row is None:
                raise UnknownName(f"No token has the id {token!r}.")
            is_first, expires, *account = row
            made = _insert_token(db, Account.of(account), _in_days(DAYS) if is_first else expires)
            db.execute("UPDATE sessions SET token = ? WHERE id = ? AND token = ?", (made.token.id, session, token))
            db.execute("DELETE FROM tokens WHERE id = ?", (token,))
        return made

    def tokens(self, name: str | None = None) -> list[Token]:
        """The tokens of an account, or of all accounts, those that expire first at the front."""
        if name is not None:
            self.named(name)
        with self._home.reading() as db:
            rows = db.execute(
                "SELECT t.id, a.name, t.created, t.expires, t.last_used, t.programs FROM tokens t JOIN accounts a "
                "ON a.id = t.account WHERE ? IS NULL OR a.name = ? ORDER BY t.expires, t.id",
                (name, name),
            ).fetchall()
        return [_token(row) for row in rows]

    def revoke(self, token: str, *, account: str | None = None) -> Token:
        """Revoke a token by its id; it stops at once. It must belong to *account*, if one is named."""
        known = {each.id: each for each in self.tokens(account)}
        if token not in known:
            raise UnknownName(f"No token has the id {token!r}.")
        with self._home.writing() as db:
            db.execute("DELETE FROM tokens WHERE id = ?", (token,))
        return known[token]

    def of_token(self, secret: str, *, demanded: Collection[str] = ()) -> Account | None:
        """The account that a token opens the routes for, if it is good; the use is written down.

        That of an account with a second factor, or with a role of which one is *demanded*, must be for programs.
        """
        # Looked up by its hash: how long that takes says nothing about the token.
        with self._home.reading() as db:
            row = db.execute(
                f"SELECT t.id, t.last_used, t.programs, {ACCOUNT} FROM tokens t JOIN accounts a "  # noqa: S608
                "ON a.id = t.account WHERE t.digest = ? AND t.expires > ?",
                (digest(secret), now()),
            ).fetchone()
        if row is None:
            return None
        token, last_used, programs, *found = row
        account = Account.of(found)
        if not programs and (account.has_factor or account.role in demanded):
            raise SecondFactorNeeded(
                "This token signs in to the pages, with a second factor; programs need a token that was made for them."
            )
        if last_used is None or last_used < written(datetime.now(UTC) - timedelta(seconds=_USE_SHOWN_AFTER)):
            # On a disk that is full, it is still known who asks: to free it, or to have somebody forgotten.
            with suppress(FileFailure), self._home.writing() as db:
                db.execute("UPDATE tokens SET last_used = ? WHERE id = ?", (now(), token))
        return account


def check_account_name(name: str) -> str:
    """The *name* of an account, if it can be one; it stands in addresses."""
    if not _NAME.fullmatch(name):
        must = "be 1 to 64 letters, digits, dots, hyphens, underscores or @, with a letter or digit first"
        raise InvalidParameter.wrong("name", must=must, was=name[:80])
    return name


def _account(db: sqlite3.Connection, name: str) -> Account:
    row = db.execute(f"SELECT {ACCOUNT} FROM accounts a WHERE name = ?", (name,)).fetchone()  # noqa: S608
    if row is None:
        names = [each for (each,) in db.execute("SELECT name FROM accounts")]
        raise UnknownName.among("account", name, names)
    return Account.of(row)


def _in_days(days: int) -> str:
    return written(datetime.now(UTC) + timedelta(days=days))


def _insert_token(
    db: sqlite3.Connection, account: Account, expires: str, *, programs: bool = False, first: bool = False
) -> NewToken:
    secret = f"gp_{secrets.token_urlsafe(32)}"
    token = Token(id=secrets.token_hex(6), account=account.name, created=now(), expires=expires, programs=programs)
    db.execute(
        "INSERT INTO tokens (id, account, digest, created, expires, programs, first) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (token.id, account.id, digest(secret), token.created, token.expires, programs, first),
    )
    return NewToken(token, secret)


def _token(row: tuple[Any, ...]) -> Token:
    id, account, created, expires, last_used, programs = row
    return Token(id=id, account=account, created=created, expires=expires, last_used=last_used, programs=bool(programs))


def digest(secret: str) -> bytes:
    """What is kept of a secret."""
    # A token is 256 random bits, which nobody can guess: it needs no slow hash.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class RateLimit:
    """So many requests a second for each account or address, after a burst; counted by each process."""

    def __init__(self, per_second: float, *, burst: float | None = None) -> None:
        self.per_second, self.burst = per_second, max(1.0, 2 * per_second if burst is None else burst)
        self._lock = threading.Lock()
        #: By account how many requests it has left, and when that was counted.
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, account: str) -> float:
        """Count a request; 0 if it may pass, else after how many seconds one may."""
        with self._lock:
            left, moment = self._now(account)
            passes = left >= 1
            self._left[account] = (left - passes, moment)
            if len(self._left) > _MOST_COUNTED:
                self._forget_full()
        return 0.0 if passes else (1 - left) / self.per_second

    def seconds(self, account: str) -> float:
        """After how many seconds a request may pass, without counting one."""
        with self._lock:
            left, _ = self._now(account)
        return 0.0 if left >= 1 else (1 - left) / self.per_second

    def _now(self, account: str) -> tuple[float, float]:
        """How many requests an account has left at this moment."""
        moment = time.monotonic()
        left, before = self._left.get(account, (self.burst, moment))
        return min(self.burst, left + (moment - before) * self.per_second), moment

    def _forget_full(self) -> None:
        """Let go of who has a whole burst left: nothing is known of them either way."""
        self._left = {each: held for each, held in self._left.items() if self._now(each)[0] < self.burst}
