"""What a link must look like to be followed; whatever can be read in two ways is refused.

Programs differ in how they read odd links, and what one takes for a name another takes for an address. So a link is
taken apart here by one strict pattern, its host is spelled in one way only, and the connection is made from the parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote, urljoin

import idna

from crawler.web.addresses import Guard
from crawler.web.outcomes import Failed, Outcome

#: The longest link that is followed; browsers and servers take about as much.
LONGEST = 4_096

#: The ports of the web.
PORTS = (80, 443)

_SCHEMES = {"http": 80, "https": 443}
_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?([^#]*)(?:#.*)?", re.DOTALL)
_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]*\]|[^\[\]:]*)(?::(\d{0,5}))?", re.ASCII)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)

#: What ends like an address: programs read hexadecimal, octal and short forms as one.
_NUMBER = re.compile(r"(0x[0-9a-f]*|\d+)", re.ASCII)

#: Names that only a network of one's own answers (RFC 6761, 6762, 7686, 8375, and what ICANN keeps free).
_LOCAL = ("localhost", "local", "internal", "intranet", "private", "corp", "home", "lan", "localdomain", "onion",
          "home.arpa", "in-addr.arpa", "ip6.arpa", "test", "invalid")  # fmt: skip

#: What the path of a link may hold as it is; all else is written in percents.
_SAFE = "%/:=&?~+!$,;'@()*[]"


@dataclass(frozen=True)
class Target:
    """A link that may be followed, taken apart."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, url: str, guard: Guard) -> Target:
        """The parts of a link, or a failure that says why it is not followed."""
        parts = _PARTS.fullmatch(_sound(url))
        if parts is None:
            raise Failed(Outcome.BAD_URL)
        scheme, authority, rest = parts[1].lower(), parts[2] or "", parts[3]
        if scheme not in _SCHEMES:
            raise Failed(Outcome.BAD_SCHEME)
        host, port = _host_and_port(authority, _SCHEMES[scheme], guard)
        return cls(scheme, host, port, quoted(rest if rest.startswith("/") else f"/{rest}"))

    def joined(self, location: str, guard: Guard) -> Target:
        """Where a redirect from here leads."""
        try:
            # What is wrong with it must be seen before it is joined: joining drops line breaks.
            return Target.of(urljoin(self.url, _sound(location)), guard)
        except ValueError:
            raise Failed(Outcome.BAD_URL) from None

    @property
    def origin(self) -> str:
        """Scheme, host and port, by which a site is known."""
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """Host and port as the `Host` header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _SCHEMES[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The link in its one spelling."""
        return self.origin + self.path


def quoted(path: str) -> str:
    """A path in ASCII; what is written in percents stays so."""
    return quote(path, safe=_SAFE)


def _sound(url: str) -> str:
    """A link without anything that programs drop, take for a slash, or cannot send."""
    odd = any(ord(char) <= 32 or ord(char) == 127 or char == "\\" for char in url)
    if odd or len(url) > LONGEST or not url.isprintable():
        raise Failed(Outcome.BAD_URL)
    return url


def _host_and_port(authority: str, usual: int, guard: Guard) -> tuple[str, int]:
    """The host in its one spelling, and the port."""
    if "@" in authority:
        raise Failed(Outcome.CREDENTIALS)
    parts = _HOST_AND_PORT.fullmatch(authority)
    if parts is None:
        raise Failed(Outcome.BAD_HOST)
    port = int(parts[2]) if parts[2] else usual
    if guard.is_exempt(parts[1], port):
        return parts[1], port
    if port not in PORTS:
        raise Failed(Outcome.BAD_PORT)
    return _host(parts[1]), port


def _host(text: str) -> str:
    """A host in its one spelling: an address, or a name with a dot in it."""
    if text.startswith("["):
        return _address_6(text[1:-1])
    host = text.lower() if text.isascii() else _to_ascii(text)
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise Failed(Outcome.BAD_HOST)
    if _NUMBER.fullmatch(labels[-1]):
        return _address_4(host)
    if len(labels) < 2 or any(host.endswith(f".{name}") for name in _LOCAL):
        raise Failed(Outcome.BAD_HOST)
    return host


def _to_ascii(host: str) -> str:
    """A name in other letters as name servers know it.

    One that turns out to have had ASCII letters or digits in disguise is refused: nobody writes those but to hide them.
    """
    try:
        plain = idna.encode(host, uts46=True).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError):
        raise Failed(Outcome.BAD_HOST) from None
    if not any(label.startswith("xn--") for label in plain.split(".")):
        raise Failed(Outcome.BAD_HOST)
    return plain


def _address_4(host: str) -> str:
    """An address in four decimal numbers without leading zeros; there is no other spelling."""
    try:
        return str(IPv4Address(host))
    except AddressValueError:
        raise Failed(Outcome.BAD_HOST) from None


def _address_6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except AddressValueError:
        raise Failed(Outcome.BAD_HOST) from None
