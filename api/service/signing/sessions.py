"""Browsers that are signed in: who sent a good token, and the code of a second factor if the account has one.

A browser keeps the secret of a session, never the token. A session ends with its token, and a form carries a mark that
only a page of the same session can know.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from api.service.accounts import ACCOUNT, Account, digest
from api.service.home import Home, now, written
from tabular.errors import FileFailure

#: When a session was last used is written down no more often than this, in seconds: not on each request.
_USE_SHOWN_AFTER = 60

#: How long somebody stays signed in, and how long without doing anything.
LONGEST, IDLE = timedelta(hours=12), timedelta(hours=1)

#: How long a browser may wait between a good token and a code.
PATIENCE = timedelta(minutes=5)

#: Accounts and sessions are changed only so soon after signing in.
FRESH = timedelta(minutes=10)


#: So long before a token ends its owner is told on each page.
SOON = timedelta(days=3)


@dataclass(frozen=True, kw_only=True)
class Session:
    """One browser that is signed in."""

    id: str
    account: Account
    began: str
    used: str
    #: The id of the token that was used, when that ends, and whether it is the first of its account.
    token: str
    token_ends: str
    token_is_first: bool
    secret: str = field(repr=False)

    @property
    def mark(self) -> str:
        """What a form of this session carries."""
        return mark_of(self.secret)

    @property
    def token_ends_soon(self) -> bool:
        """Whether it is time to get another token."""
        return self.token_ends < written(datetime.now(UTC) + SOON)

    @property
    def is_fresh(self) -> bool:
        """Whether it began so recently that accounts may be changed."""
        return self.began > written(datetime.now(UTC) - FRESH)


@dataclass(frozen=True, kw_only=True)
class HalfWay:
    """A browser that sent a good token, and still has to send a code."""

    account: Account
    token: str
    secret: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class SignedIn:
    """What is told of a session."""

    id: str
    #: The id of the token that was used.
    token: str
    began: str
    used: str


class Sessions:
    """The sessions of a service."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def begin(self, token: str, *, before: str = "") -> Session | HalfWay | None:
        """A new session for who has a *token*, or the way to one where a code is needed; None for no good token.

        The session that the browser had *before* ends with the new one.
        """
        with self._home.reading() as db:
            row = db.execute(
                f"SELECT t.id, {ACCOUNT} FROM tokens t JOIN accounts a ON a.id = t.account "  # noqa: S608
                "WHERE t.digest = ? AND t.expires > ? AND NOT t.programs",
                (digest(token), now()),
            ).fetchone()
        if row is None:
            return None
        id, *found = row
        account = Account.of(found)
        if not account.has_factor:
            return self._begin(id, before, with_code=False)
        secret = secrets.token_urlsafe(32)
        with self._home.writing() as db:
            db.execute("DELETE FROM half_sessions WHERE began <= ?", _too_long())
            db.execute("INSERT INTO half_sessions VALUES (?, ?, ?)", (digest(secret), id, now()))
        return HalfWay(account=account, token=id, secret=secret)

    def half_way(self, secret: str) -> HalfWay | None:
        """Who sent a good token a moment ago from a browser with this *secret*."""
        with self._home.reading() as db:
            row = db.execute(
                f"SELECT t.id, {ACCOUNT} FROM half_sessions h JOIN tokens t ON t.id = h.token "  # noqa: S608
                "JOIN accounts a ON a.id = t.account WHERE h.digest = ? AND h.began > ? AND t.expires > ?",
                (digest(secret), *_too_long(), now()),
            ).fetchone()
        return None if row is None else HalfWay(account=Account.of(row[1:]), token=row[0], secret=secret)

    def finish(self, half_way: HalfWay, *, before: str = "") -> Session | None:
        """The session of who was *half way* and then sent a good code; once."""
        with self._home.writing() as db:
            ended = db.execute("DELETE FROM half_sessions WHERE digest = ?", (digest(half_way.secret),))
        return self._begin(half_way.token, before, with_code=True) if ended.rowcount else None

    def _begin(self, token: str, before: str, *, with_code: bool) -> Session | None:
        """A session by the id of a *token*, if that still is good, and still is enough where no code was sent."""
        secret, moment = secrets.token_urlsafe(32), now()
        with self._home.writing() as db:
            added = db.execute(
                "INSERT INTO sessions SELECT ?, ?, t.id, ?, ? FROM tokens t WHERE t.id = ? AND expires > ? AND (? OR "
                "NOT EXISTS (SELECT 1 FROM second_factors f WHERE f.account = t.account AND f.confirmed IS NOT NULL))",
                (secrets.token_hex(6), digest(secret), moment, moment, token, moment, with_code),
            )
            if not added.rowcount:
                return None
            db.execute("DELETE FROM sessions WHERE began <= ? OR used <= ?", _too_old())
            db.execute("DELETE FROM sessions WHERE digest = ?", (digest(before),))
        return self.find(secret)

    def find(self, secret: str) -> Session | None:
        """The session with a *secret*, if it and its token are still good; the use is written down."""
        with self._home.reading() as db:
            row = db.execute(
                f"SELECT s.id, s.began, s.used, t.id, t.expires, t.first, {ACCOUNT} FROM sessions s JOIN tokens t "  # noqa: S608
                "ON t.id = s.token JOIN accounts a ON a.id = t.account "
                "WHERE s.digest = ? AND s.began > ? AND s.used > ? AND t.expires > ?",
                (digest(secret), *_too_old(), now()),
            ).fetchone()
        if row is None:
            return None
        id, began, used, token, ends, is_first, *account = row
        if used < written(datetime.now(UTC) - timedelta(seconds=_USE_SHOWN_AFTER)):
            with suppress(FileFailure), self._home.writing() as db:
                db.execute("UPDATE sessions SET used = ? WHERE id = ?", (now(), id))
        return Session(
            id=id, account=Account.of(account), began=began, used=used, token=token, token_ends=ends,
            token_is_first=bool(is_first), secret=secret,
        )  # fmt: skip

    def of(self, account: Account) -> list[SignedIn]:
        """The sessions of an account that are still good, the newest first."""
        with self._home.reading() as db:
            rows = db.execute(
                "SELECT s.id, s.token, s.began, s.used FROM sessions s JOIN tokens t ON t.id = s.token "
                "WHERE t.account = ? AND s.began > ? AND s.used > ? AND t.expires > ? ORDER BY s.began DESC, s.id",
                (account.id, *_too_old(), now()),
            ).fetchall()
        return [SignedIn(id=id, token=token, began=began, used=used) for id, token, began, used in rows]

    def end(self, secret: str) -> None:
        """End a session."""
        with self._home.writing() as db:
            db.execute("DELETE FROM sessions WHERE digest = ?", (digest(secret),))

    def end_others(self, account: Account, kept: str | None = None) -> None:
        """End all sessions of an account but the one with an id that is *kept*."""
        with self._home.writing() as db:
            db.execute(
                "DELETE FROM sessions WHERE id IS NOT ? AND token IN (SELECT id FROM tokens WHERE account = ?)",
                (kept, account.id),
            )


def _too_old() -> tuple[str, str]:
    """Sessions that began, or were last used, no later than this are over."""
    moment = datetime.now(UTC)
    return written(moment - LONGEST), written(moment - IDLE)


def _too_long() -> tuple[str]:
    """Who sent a token no later than this begins again."""
    return (written(datetime.now(UTC) - PATIENCE),)


def mark_of(secret: str) -> str:
    """What the forms of a page carry that was shown to the holder of a *secret*; it does not lead back to that."""
    return hashlib.sha256(f"form\n{secret}".encode()).hexdigest()


def is_mark(text: str, secret: str) -> bool:
    """Whether a *text* is the mark that belongs to a *secret*."""
    return hmac.compare_digest(text.encode(), mark_of(secret).encode())
