"""Second factors: an app that shows one-time codes, and recovery codes for whoever has lost it.

A factor counts once a first code has confirmed it. Each code is taken once. The secret has to be there to check a code,
so it lies in the database of the service, which its owner alone can read; of recovery codes the hashes lie there.
"""

from __future__ import annotations

import base64
import secrets
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from api.service.accounts import Account, digest
from api.service.home import Home, now
from api.service.signing.one_time_codes import SECRET_BYTES, step_of
from tabular.errors import InvalidInput, ReportedError

#: So many recovery codes there are at once, each of 120 random bits: they need no slow hash.
RECOVERY_CODES, _RECOVERY_BYTES = 8, 15

#: After so many wrong codes in a row an account waits, a minute at first, twice as long each time, an hour at most.
FREE_TRIES, _FIRST_WAIT, _LONGEST_WAIT = 5, 60.0, 3600.0

#: What a code was that was taken.
Taken = Literal["code", "recovery code"]


class TooManyCodes(ReportedError):
    """So many codes of an account were wrong that it has to wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__("Too many wrong codes came for this account. Wait, or use a recovery code.")
        self.seconds = seconds


@dataclass(frozen=True)
class Factor:
    """What is told of a second factor."""

    confirmed: str
    #: How many recovery codes are left.
    codes: int


class SecondFactors:
    """The second factors of a service."""

    def __init__(self, home: Home, clock: Callable[[], float] = time.time) -> None:
        self._home, self.clock = home, clock

    def of(self, account: Account) -> Factor | None:
        """The second factor of an account, once it counts."""
        with self._home.reading() as db:
            row = db.execute(
                "SELECT confirmed, (SELECT count(*) FROM recovery_codes r WHERE r.account = f.account) "
                "FROM second_factors f WHERE account = ? AND confirmed IS NOT NULL",
                (account.id,),
            ).fetchone()
        return None if row is None else Factor(*row)

    def begin(self, account: Account) -> bytes:
        """A new secret, which counts once a code has confirmed it."""
        secret = secrets.token_bytes(SECRET_BYTES)
        with self._home.writing() as db:
            db.execute("DELETE FROM second_factors WHERE account = ? AND confirmed IS NULL", (account.id,))
            if db.execute("SELECT 1 FROM second_factors WHERE account = ?", (account.id,)).fetchone():
                raise InvalidInput("There is a second factor already; turn it off first.")
            db.execute("INSERT INTO second_factors (account, secret) VALUES (?, ?)", (account.id, secret))
        return secret

    def begun(self, account: Account) -> bytes:
        """The secret that no code has confirmed yet."""
        with self._home.reading() as db:
            row = db.execute(
                "SELECT secret FROM second_factors WHERE account = ? AND confirmed IS NULL", (account.id,)
            ).fetchone()
        if row is None:
            raise InvalidInput("No second factor is being set up; begin again.")
        secret: bytes = row[0]
        return secret

    def confirm(self, account: Account, code: str) -> list[str] | None:
        """Have the factor count from now on, with its recovery codes; None where the *code* is wrong."""
        with self._home.writing() as db:
            step = step_of(self.begun(account), _typed(code), self.clock(), after=0)
            if step is None:
                return None
            db.execute(
                "UPDATE second_factors SET confirmed = ?, last_step = ? WHERE account = ?", (now(), step, account.id)
            )
            return _new_codes(db, account)

    def takes(self, account: Account, code: str) -> Taken | None:
        """Use up a *code* of an account, if it is good; says what it was."""
        typed = _typed(code)
        with self._home.writing() as db:
            if not (typed.isascii() and typed.isdigit()):
                used = db.execute(
                    "DELETE FROM recovery_codes WHERE account = ? AND digest = ?", (account.id, digest(typed))
                )
                return "recovery code" if used.rowcount else None
            row = db.execute(
                "SELECT secret, last_step, wrong, last_wrong FROM second_factors "
                "WHERE account = ? AND confirmed IS NOT NULL",
                (account.id,),
            ).fetchone()
            if row is None:
                return None
            secret, last, wrong, last_wrong = row
            seconds = _wait(wrong) - (self.clock() - last_wrong)
            if seconds > 0:
                raise TooManyCodes(seconds)
            step = step_of(secret, typed, self.clock(), after=last)
            if step is None:
                db.execute(
                    "UPDATE second_factors SET wrong = wrong + 1, last_wrong = ? WHERE account = ?",
                    (self.clock(), account.id),
                )
                return None
            db.execute("UPDATE second_factors SET last_step = ?, wrong = 0 WHERE account = ?", (step, account.id))
            return "code"

    def renew(self, account: Account) -> list[str]:
        """New recovery codes; the old ones are good no more."""
        with self._home.writing() as db:
            return _new_codes(db, account)

    def remove(self, account: Account) -> bool:
        """Let go of a second factor and its recovery codes; whether there was one."""
        with self._home.writing() as db:
            return db.execute("DELETE FROM second_factors WHERE account = ?", (account.id,)).rowcount > 0


def _new_codes(db: sqlite3.Connection, account: Account) -> list[str]:
    codes = [base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower() for _ in range(RECOVERY_CODES)]
    db.execute("DELETE FROM recovery_codes WHERE account = ?", (account.id,))
    db.executemany("INSERT INTO recovery_codes VALUES (?, ?)", [(digest(each), account.id) for each in codes])
    return ["-".join(each[at : at + 4] for at in range(0, len(each), 4)) for each in codes]


def _typed(code: str) -> str:
    """A *code* without what people and apps put between its signs."""
    return "".join(code.split()).replace("-", "").lower()


def _wait(wrong: int) -> float:
    """How many seconds an account waits after so many *wrong* codes in a row."""
    return min(_FIRST_WAIT * 2 ** min(wrong - FREE_TRIES, 10), _LONGEST_WAIT) if wrong >= FREE_TRIES else 0.0
