"""What can be said about a service: options of `graphpriv serve`, and variables GRAPHPRIV_… of the environment."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import Field, dataclass, fields
from typing import Any

from api.verbs.contract import DEFAULT_HOME, DEFAULT_STORE
from tabular.errors import InvalidParameter
from tabular.registry import Method, option


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

    workers: int = option(1, low=0, high=64, help="How many processes of this machine do jobs.")
    database: str = option("", metavar="URL", help="A Postgres that keeps the jobs, where several machines share them.")
    largest_upload: int = option(10**12, low=0, metavar="BYTES", help="How large an upload may be.")
    most_columns: int = option(10_000, low=1, help="How many columns a table may have.")
    most_cells: int = option(10**8, low=1, help="How many cells a table may have, rows times columns.")
    longest_field: int = option(10**6, low=1, high=2**31 - 1, help="How many characters a cell may have.")

    def limit_readers(self, environment: MutableMapping[str, str]) -> None:
        """Tell readers, in this process and in those it starts, what a file may hold."""
        for name in ("most_columns", "most_cells", "longest_field"):
            environment[variable(name)] = str(getattr(self, name))

    @classmethod
    def of(cls, given: Mapping[str, Any], environment: Mapping[str, str]) -> Settings:
        """The settings that are *given* in capitals, and else those of the *environment*."""
        values: dict[str, Any] = {}
        for each in fields(cls):
            text = environment.get(variable(each.name))
            if each.name.upper() in given:
                values[each.name] = given[each.name.upper()]
            elif text is not None:
                values[each.name] = read(each, text)
        return cls(**values)


def variable(name: str) -> str:
    """The variable of the environment that has a setting.

    >>> variable("rate_limit")
    'GRAPHPRIV_RATE_LIMIT'
    """
    return f"GRAPHPRIV_{name.upper()}"


def read(setting: Field[Any], text: str) -> Any:
    """The value of a setting that a *text* stands for, of the kind of its default."""
    kind: Any = type(setting.default)
    try:
        return kind(text)
    except ValueError:
        raise InvalidParameter.wrong(setting.name, must="be a number", was=text) from None
