"""Addresses of stores: `file:PATH` and `neo4j://user@host:7687`."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from graphpriv.store.certificates import Certificates
from graphpriv.store.contract import Store
from tabular.errors import InvalidInput, InvalidParameter, named

#: What a server can be spoken to by; `+s` and `+ssc` are encrypted.
SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")

_FORMS = "file:PATH or neo4j://user@host:7687"

#: Where the password of a server comes from: whoever is on the machine can read a command line.
PASSWORD_VARIABLE = "GRAPHPRIV_NEO4J_PASSWORD"  # noqa: S105 (a name)


@dataclass(frozen=True)
class ServerAddress:
    """The address of a server and the login; only `shown` goes into messages."""

    shown: str
    user: str | None
    password: str = field(default="", repr=False)
    certificates: Certificates = field(default_factory=Certificates)


def open_store(
    url: str, *, create: bool, password: str | None = None, certificates: Certificates | None = None
) -> Store:
    """The store at *url*; with *create* an empty one is made where there is none.

    *password* is that of a server, unless one stands in the *url*; *certificates* are those of the connection to it.
    """
    scheme, colon, rest = url.partition(":")
    if colon and scheme == "file":
        if not rest:
            raise InvalidInput(f"The address of a store is {_FORMS}; the path is missing.")
        from graphpriv.store.sqlite.store import SqliteStore

        return _without_overdue(SqliteStore(rest, create=create))
    address = server_address(url, password, certificates)
    # The driver is loaded by those who use a server only.
    from graphpriv.store.neo4j.store import Neo4jStore

    return _without_overdue(Neo4jStore(address, create=create))


def _without_overdue(store: Store) -> Store:
    """The store, after raw answers whose time is over were erased: nobody has to remember to."""
    try:
        store.expire()
    except BaseException:
        store.close()
        raise
    return store


def refuse_password(url: str) -> None:
    """Refuse an address of the command line that holds a password."""
    if url.partition(":")[0] in SCHEMES and server_address(url).password:
        raise InvalidParameter(
            f"{named('store')} must not hold a password, which others could read there; the password belongs in "
            f"{PASSWORD_VARIABLE}."
        )


def refuse_plain(url: str) -> None:
    """Refuse an address that leads to another machine without encryption, or without a check of its certificate."""
    scheme = url.partition(":")[0]
    if scheme not in SCHEMES or scheme.endswith("+s"):
        return
    shown = server_address(url).shown
    if not is_this_machine(urlsplit(shown).hostname or ""):
        lacks = "does not check the certificate of" if scheme.endswith("+ssc") else "does not encrypt what it sends to"
        raise InvalidParameter(
            f"{named('store')} {shown} {lacks} another machine: write {scheme.partition('+')[0]}+s://, or, if the "
            f"network itself encrypts, give {named('plain_connections')}."
        )


def is_this_machine(host: str) -> bool:
    """Whether what is sent to a *host* never leaves this machine; names are not looked up, since answers change.

    >>> [is_this_machine(each) for each in ("localhost", "127.0.0.53", "::1", "db.example", "10.0.0.1")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def server_address(url: str, password: str | None = None, certificates: Certificates | None = None) -> ServerAddress:
    """The parts of a server's address; *password* counts unless the address has one. Errors repeat neither."""
    scheme = url.partition(":")[0]
    if scheme not in SCHEMES:
        raise InvalidInput(f"The address of a store is {_FORMS}, and begins with file: or one of {', '.join(SCHEMES)}.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 7687
    except ValueError:
        raise InvalidInput(
            f"The address of a store is {_FORMS}; this one cannot be read: in user and password, "
            "write %40 for @, %2F for /, %3A for : and %23 for #."
        ) from None
    if not host or parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidInput(f"The address of a store is {_FORMS}; write %40 for @, %2F for / in a password.")
    bracketed = f"[{host}]" if ":" in host else host
    user = unquote(parts.username) if parts.username is not None else None
    known = password or "" if parts.password is None else unquote(parts.password)
    certificates = certificates or Certificates()
    certificates.refuse_for(scheme)
    return ServerAddress(f"{scheme}://{bracketed}:{port}", user, known, certificates)
