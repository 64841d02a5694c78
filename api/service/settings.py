"""What can be said about a service: options of `graphpriv serve`, and variables GRAPHPRIV_… of the environment."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, fields
from typing import Any

from api.service.accounts import ROLES
from api.verbs.contract import BUILT_IN, DEFAULT_HOME, DEFAULT_STORE
from tabular.errors import InvalidParameter, UnknownName, named
from tabular.registry import Entry, Method, option


@dataclass(frozen=True, kw_only=True)
class Settings(Method):
    """The settings of one service."""

    store: str = option(DEFAULT_STORE, help="Where the graphs are.")
    home: str = option(DEFAULT_HOME, help="The folder of the service.")
    rate_limit: float = option(
        100.0,
        low=0.001,
        high=1e9,
        help="How many requests a second an account may make, after a burst of twice as many.",
    )

    workers: int = option(1, low=0, high=64, help="How many processes on this machine run jobs.")
    database: str = option("", metavar="URL", help="A Postgres database for the jobs, if several machines share them.")
    plain_connections: bool = option(
        False,
        help="Allow connections to databases, scanners and providers on other machines without TLS: for networks that "
        "encrypt by themselves.",
    )
    hosts: str = option(
        "",
        metavar="NAMES",
        help="The service's own host names, separated by commas; if not set, any name is accepted.",
    )
    proxies: str = option(
        "",
        metavar="ADDRESSES",
        help="The proxies whose X-Forwarded-For and -Proto are trusted: addresses or networks, separated by commas.",
    )
    second_factor: str = option(
        "optional",
        choices=("optional", "custodians", "all"),
        metavar="WHO",
        help="Who signs in with a second factor: optional (whoever set one up), custodians or all.",
    )
    access_log: str = option(
        "", metavar="FILE", help="The file of the access log; - is standard error. Without it, refusals go there alone."
    )
    log_addresses: bool = option(False, help="Whether the access log and the audit log hold the callers' addresses.")
    scanner: str = option(
        "",
        metavar="ADDRESS",
        help="A ClamAV daemon that each file is sent to before anything reads it: unix:PATH or tcp:HOST:PORT.",
    )
    keep_jobs: float = option(
        30.0,
        low=0,
        high=100_000,
        metavar="DAYS",
        help="Erase a finished job with everything it left after this many days; 0 keeps jobs.",
    )
    providers: str = option(
        "",
        metavar="NAMES",
        help="The categorisers and gazetteers, besides the embedded ones, that requests may choose, separated by "
        "commas. They receive people's texts; some bill the service.",
    )
    largest_upload: int = option(10**12, low=0, metavar="BYTES", help="How large an upload may be.")
    most_columns: int = option(10_000, low=1, help="How many columns a table may have.")
    most_cells: int = option(10**8, low=1, help="How many cells a table may have, rows times columns.")
    longest_field: int = option(10**6, low=1, high=2**31 - 1, help="How many characters a cell may have.")

    def limit_readers(self, environment: MutableMapping[str, str]) -> None:
        """Tell readers, in this process and in those it starts, what a file may hold."""
        for name in ("most_columns", "most_cells", "longest_field"):
            environment[variable(name)] = str(getattr(self, name))

    @property
    def demanded(self) -> tuple[str, ...]:
        """The roles that must have a second factor."""
        return {"optional": (), "custodians": ("custodian",)}.get(self.second_factor, ROLES)

    @property
    def offered(self) -> frozenset[str]:
        """The providers that requests may choose."""
        return frozenset(each.strip() for each in self.providers.split(",") if each.strip()) | {BUILT_IN}

    def refuse_unknown_providers(self) -> None:
        """Refuse providers that there are not."""
        from crawler.places import gazetteers
        from crawler.topics import categorisers

        known = {*gazetteers, *categorisers}
        for name in sorted(self.offered - known):
            raise InvalidParameter(f"{named('providers')}: {UnknownName.among('provider', name, known)}")

    @classmethod
    def of(cls, given: Mapping[str, Any], environment: Mapping[str, str]) -> Settings:
        """The settings that are *given* in capitals, and else those of the *environment*."""
        values: dict[str, Any] = {}
        for each in fields(cls):
            text = environment.get(variable(each.name))
            if each.name.upper() in given:
                values[each.name] = given[each.name.upper()]
            elif text is not None:
                values[each.name] = _PARAMETERS[each.name].read(text)
        return cls(**values)


def variable(name: str) -> str:
    """The variable of the environment that has a setting.

    >>> variable("rate_limit")
    'GRAPHPRIV_RATE_LIMIT'
    """
    return f"GRAPHPRIV_{name.upper()}"


#: The settings by name, each of which can read its value from a text.
_PARAMETERS = {each.name: each for each in Entry("serve", Settings, "", "").parameters}
