"""Connections to other machines without TLS, or without a check of the certificate: the service makes none.

Its operator can allow them, for a network that encrypts by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from api.jobs import tables
from api.jobs.records import PREFIX, Settings, address_of
from graphpriv.store import addresses
from tabular.errors import InvalidInput, named

#: The variables that lead to a network or a provider of one's own.
_ADDRESS = re.compile(r"GRAPHPRIV_[A-Z]+_URL")


def refuse_plain_connections(settings: Settings, environment: Mapping[str, str]) -> None:
    """Refuse the first address in the *settings* or the *environment* to which such a connection would be made."""
    if settings.plain_connections:
        return
    addresses.refuse_plain(settings.store)
    if settings.database:
        tables.refuse_plain(address_of(settings.database), named("database"))
    if settings.private:
        tables.refuse_plain(address_of(settings.private), f"{PREFIX}_PRIVATE")
    for variable in sorted(filter(_ADDRESS.fullmatch, environment)):
        _refuse_plain_http(variable, environment[variable].strip())


def _refuse_plain_http(variable: str, url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        # Whoever reads it says what is wrong with it.
        return
    if parts.scheme == "http" and not addresses.is_this_machine(host):
        raise InvalidInput(
            f"{variable} leads to another machine in the clear: write https://, or, if the network itself encrypts, "
            f"give {named('plain_connections')}."
        )
