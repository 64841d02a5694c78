"""One-time passwords from a shared secret: counted (RFC 4226) and by the clock (RFC 6238), as authenticator apps do."""

from __future__ import annotations

import base64
import hmac
from urllib.parse import quote

#: What authenticator apps take without being told: six digits, another code every 30 seconds, HMAC-SHA-1.
DIGITS, SECONDS = 6, 30

#: The bytes of a secret, as many as RFC 4226 advises.
SECRET_BYTES = 20


def code_of(secret: bytes, counter: int, *, digits: int = DIGITS) -> str:
    """The code of a *counter* (RFC 4226, section 5.3).

    >>> code_of(b"12345678901234567890", 0)
    '755224'
    """
    made = hmac.digest(secret, counter.to_bytes(8), "sha1")
    at = made[-1] & 0xF
    number = int.from_bytes(made[at : at + 4]) & 0x7FFFFFFF
    return f"{number % 10**digits:0{digits}}"


def step_at(moment: float) -> int:
    """The counter of a *moment* in seconds since 1970 (RFC 6238, section 4.2)."""
    return int(moment // SECONDS)


def step_of(secret: bytes, code: str, moment: float, *, after: int) -> int | None:
    """The counter of a *moment*, if the *code* belongs to it and it is *after* the last one that was taken."""
    # RFC 6238 lets codes of before be taken, too; here none counts for longer than an app shows it.
    step = step_at(moment)
    return step if step > after and hmac.compare_digest(code_of(secret, step).encode(), code.encode()) else None


def spelled(secret: bytes) -> str:
    """A *secret* as somebody types it into an app."""
    return base64.b32encode(secret).decode().rstrip("=")


def address_of(secret: bytes, account: str) -> str:
    """What an app reads from a QR code: the secret, and under which names it keeps it."""
    return f"otpauth://totp/graphpriv:{quote(account, safe='@')}?secret={spelled(secret)}&issuer=graphpriv"
