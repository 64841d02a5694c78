"""`python -m api.jobs`: one worker."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import click

from api.jobs.jobs import Jobs
from api.jobs.records import PREFIX, Settings
from api.jobs.worker import NICE, Worker
from api.plain_connections import refuse_plain_connections
from api.secret_files import read_secret_files
from tabular.errors import ReportedError, StoreUnavailable

#: How long a worker waits for a database that does not answer when it starts, in seconds.
PATIENCE = 60.0

_HELP = f"Perform jobs until told to leave. {PREFIX}_AT_ONCE and so on in the environment set the options, too."

#: The settings that a service has, too.
_SHARED = ("home", "store", "database", "plain_connections")

_KINDS = {"Path": click.Path(path_type=Path), "int": int, "float": float, "float | None": float, "bool": bool}


def main() -> None:
    """Work until told to leave."""
    try:
        read_secret_files(os.environ)
    except ReportedError as error:
        sys.exit(f"Error: {error}")
    attached = click.Option(["--attached"], is_flag=True, help="Leave when standard input ends.")
    options: list[click.Parameter] = [*map(_option, fields(Settings)), attached]
    click.Command("worker", params=options, callback=_work, help=_HELP)(auto_envvar_prefix=PREFIX)


def _option(setting: Field[Any]) -> click.Option:
    kind, name = _KINDS.get(str(setting.type), str), setting.name
    # Where a service has the same setting, its variable does for both.
    variables = [f"{PREFIX}_{name.upper()}", *([f"GRAPHPRIV_{name.upper()}"] * (name in _SHARED))]
    return click.Option(
        [f"{_flag(name)}/{_flag(f'no_{name}')}" if kind is bool else _flag(name)],
        type=kind,
        envvar=variables,
        # Not False for a flag, which would count before the setting's own.
        default=None,
        required=setting.default is MISSING,
        help=setting.metadata["help"],
    )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _work(attached: bool, **given: Any) -> None:
    os.nice(NICE)
    settings = Settings(**{name: value for name, value in given.items() if value is not None})
    try:
        refuse_plain_connections(settings, os.environ)
        jobs = opened(settings)
        jobs.tidy()
        jobs.close()
        Worker(settings).run(leave_with=sys.stdin if attached else None)
    except ReportedError as error:
        raise click.ClickException(error.worded(_flag)) from None


def opened(settings: Settings) -> Jobs:
    """The jobs, once their database answers; one that is started together with the workers may take a while."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return Jobs.opened(settings)
        except StoreUnavailable:
            if time.monotonic() > until:
                raise
        time.sleep(settings.beat)


if __name__ == "__main__":
    main()
