"""Secrets in files, as containers are handed them: GRAPHPRIV_…_FILE names the file with the value of GRAPHPRIV_…"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path

from tabular.errors import InvalidInput
from tabular.files.disk import reason

#: The password of a Postgres whose address has none, and where its client looks for that.
_POSTGRES, _CLIENT = "GRAPHPRIV_POSTGRES_PASSWORD", "PGPASSWORD"

#: The variables that may hold a secret.
SECRETS = (
    "GRAPHPRIV_STORE",
    "GRAPHPRIV_NEO4J_PASSWORD",
    "GRAPHPRIV_DATABASE",
    _POSTGRES,
    "GRAPHPRIV_JOBS_DATABASE",
    "GRAPHPRIV_JOBS_PRIVATE",
    "GRAPHPRIV_X_TOKEN",
    "GRAPHPRIV_TAGGING_TOKEN",
    "GRAPHPRIV_GOOGLE_KEY",
)


def read_secret_files(environment: MutableMapping[str, str]) -> None:
    """Take over what the files hold that the *environment* names, for this process and those that it starts.

    >>> environment = {"GRAPHPRIV_POSTGRES_PASSWORD": "x"}
    >>> read_secret_files(environment)
    >>> environment["PGPASSWORD"]
    'x'
    """
    for name in SECRETS:
        file = environment.get(f"{name}_FILE")
        if file:
            environment[name] = _text(name, file)
    if environment.get(_POSTGRES):
        environment.setdefault(_CLIENT, environment[_POSTGRES])


def _text(name: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InvalidInput(f"{name}_FILE: {file}: {reason(error)}") from None
    except ValueError:
        raise InvalidInput(f"{name}_FILE: {file}: This is not text in UTF-8.") from None
