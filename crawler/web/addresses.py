"""Which addresses may be asked: those of the public internet, by a list of our own.

A stranger who posts a link must not make this machine talk to its own network. So a host is looked up once, all its
addresses are checked, and the connection goes to one of these very addresses: a name server that gives another answer
later on changes nothing. One address that is not public refuses the host, whatever its others are.

The networks are those of the special purpose registries of IANA (RFC 6890 and its successors), those that carry the
address of another network inside (and so could lead into a private one), and addresses at which providers of virtual
machines answer with secrets.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from crawler.web.outcomes import Failed, Outcome

Address = IPv4Address | IPv6Address

#: Takes a host, a port and a time in seconds; gives all addresses of the host as texts.
Resolve = Callable[[str, int, float], Sequence[str]]

#: What IPv4 has that is not public.
_REFUSED_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network, and unspecified
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # behind the translation of a provider (CGNAT); Alibaba's metadata
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # Azure's metadata, at an address that is public otherwise
            "169.254.0.0/16",  # link-local; the metadata of most providers
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # IETF protocols; Oracle's metadata
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # automatic multicast tunnels
            "192.88.99.0/24",  # relays of 6to4
            "192.168.0.0/16",  # private
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)

#: Where all public addresses of IPv6 lie. Outside are loopback, unspecified, those with an IPv4 address inside
#: (mapped, compatible, NAT64), unique local, link-local, site-local and multicast.
_PUBLIC_6 = IPv6Network("2000::/3")

#: What of it is not public.
_REFUSED_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # IETF protocols: Teredo, benchmarks, ORCHID
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4, which holds an IPv4 address
            "2620:4f:8000::/48",  # AS112
            "3ffe::/16",  # the 6bone, given back
            "3fff::/20",  # documentation
        ),
    )
)


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet, and of no other network.

    >>> is_public(ip_address("93.184.216.34")), is_public(ip_address("169.254.169.254"))
    (True, False)
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _REFUSED_4)
    if address.scope_id is not None or address not in _PUBLIC_6:
        return False
    return not any(address in network for network in _REFUSED_6)


def resolve(host: str, port: int, seconds: float) -> list[str]:
    """All addresses of a host, in the order of the system; none where it has none.

    The system offers no limit of time. So a thread asks, and is left to its own end where it takes too long.
    """
    found: list[str] = []

    def ask() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        except (OSError, UnicodeError):
            return
        found.extend(str(answer[4][0]) for answer in answers)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(max(seconds, 0.0))
    if asking.is_alive():
        raise Failed(Outcome.TIMEOUT)
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Endpoint:
    """One host and port, exactly as a link must spell it."""

    host: str
    port: int


@dataclass(frozen=True)
class Guard:
    """Says to which addresses a connection to a host may go.

    *exempt* is one endpoint that may be asked although it is not public: that of the pages which the demonstration
    serves beside its made network. Nobody but the demonstration passes it, and no option, setting or variable sets it.
    """

    resolve: Resolve = resolve
    exempt: Endpoint | None = None

    def is_exempt(self, host: str, port: int) -> bool:
        """Whether this is the endpoint that may be asked whatever its address is."""
        return self.exempt is not None and self.exempt == Endpoint(host, port)

    def addresses(self, host: str, port: int, seconds: float) -> list[str]:
        """The addresses of a host, all of them public, or a failure."""
        if self.is_exempt(host, port):
            return [host]
        literal = _literal(host)
        found = [host] if literal is not None else self.resolve(host, port, seconds)
        if not found:
            raise Failed(Outcome.UNRESOLVED)
        known = [_literal(each) for each in found]
        if not all(address is not None and is_public(address) for address in known):
            raise Failed(Outcome.PRIVATE)
        return [str(address) for address in known]


def _literal(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
