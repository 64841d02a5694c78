"""What can come of asking for a page: one word for the record, one sentence for people."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What came of a link."""

    READ = "read"
    BAD_SCHEME = "bad-scheme"
    BAD_HOST = "bad-host"
    BAD_URL = "bad-url"
    BAD_PORT = "bad-port"
    CREDENTIALS = "credentials"
    PRIVATE = "private-address"
    UNRESOLVED = "unresolved"
    UNREACHABLE = "unreachable"
    UNTRUSTED = "untrusted-certificate"
    ROBOTS = "robots"
    TIMEOUT = "timeout"
    TOO_LARGE = "too-large"
    BOMB = "decompression-bomb"
    BAD_ENCODING = "bad-encoding"
    HEADERS = "headers-too-large"
    REDIRECTS = "too-many-redirects"
    BAD_REDIRECT = "bad-redirect"
    DOWNGRADE = "downgrade"
    STATUS = "status"
    NOT_TEXT = "not-text"
    MALFORMED = "malformed"
    UNREADABLE = "unreadable"
    EMPTY = "empty"

    @property
    def asked_nobody(self) -> bool:
        """Whether it was known without a request to the site."""
        return self in _KNOWN_BEFORE

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        return _SENTENCES[self]


_KNOWN_BEFORE = {
    Outcome.BAD_SCHEME, Outcome.BAD_HOST, Outcome.BAD_URL, Outcome.BAD_PORT, Outcome.CREDENTIALS, Outcome.PRIVATE,
    Outcome.UNRESOLVED,
}  # fmt: skip

_SENTENCES = {
    Outcome.READ: "The page was read.",
    Outcome.BAD_SCHEME: "The link is not one of http or https.",
    Outcome.BAD_HOST: "The link names no host of the public web, or spells it in a way that hides an address.",
    Outcome.BAD_URL: "The link holds characters that no link may hold, or is too long.",
    Outcome.BAD_PORT: "The link names a port other than 80 and 443.",
    Outcome.CREDENTIALS: "The link carries a user name or password.",
    Outcome.PRIVATE: "The host has an address that is not public.",
    Outcome.UNRESOLVED: "The name of the host has no address.",
    Outcome.UNREACHABLE: "No connection to the host came about.",
    Outcome.UNTRUSTED: "The certificate of the host is not valid for it.",
    Outcome.ROBOTS: "The site asks programs not to read this page.",
    Outcome.TIMEOUT: "The site took longer than the time that a page has.",
    Outcome.TOO_LARGE: "The page is larger than a page may be.",
    Outcome.BOMB: "The page is larger than a page may be once it is decompressed.",
    Outcome.BAD_ENCODING: "The page is compressed in a way that was not asked for, or that cannot be undone.",
    Outcome.HEADERS: "The headers of the answer are larger than headers may be.",
    Outcome.REDIRECTS: "The site redirects too often.",
    Outcome.BAD_REDIRECT: "The site redirects without saying where to.",
    Outcome.DOWNGRADE: "The site redirects from https to http.",
    Outcome.STATUS: "The site answered that there is no such page, or that it may not be read.",
    Outcome.NOT_TEXT: "The page is neither HTML nor plain text.",
    Outcome.MALFORMED: "The answer is no HTTP, or was cut short.",
    Outcome.UNREADABLE: "The main text could not be taken out of the page within its time and memory.",
    Outcome.EMPTY: "The page has no main text.",
}


def may_pass(outcome: str, status: int | None) -> bool:
    """Whether a page may be there another day: the site was slow, cut off, overloaded or not there for the moment.

    >>> may_pass("status", 503), may_pass("status", 429), may_pass("timeout", None), may_pass("status", 404)
    (True, True, True, False)
    """
    if outcome in (Outcome.STATUS, Outcome.ROBOTS):
        return status is not None and (status == 429 or status >= 500)
    return outcome in (Outcome.TIMEOUT, Outcome.UNREACHABLE, Outcome.MALFORMED)


class Failed(Exception):
    """A link could not be read; the outcome says why.

    It carries nothing of the link or of the answer, which belong to the person who posted it.
    """

    def __init__(self, outcome: Outcome, status: int | None = None) -> None:
        super().__init__(outcome.sentence)
        self.outcome, self.status = outcome, status
