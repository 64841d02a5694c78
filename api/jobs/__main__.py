"""`python -m api.jobs`: one worker. Options are those of `Settings`, or GRAPHPRIV_JOBS_… of the environment."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from api.jobs.jobs import Jobs
from api.jobs.records import PREFIX, Settings
from api.jobs.worker import NICE, Worker
from tabular.errors import ReportedError, StoreUnavailable

#: How long a worker waits for a database that does not answer when it starts, in seconds.
PATIENCE = 60.0

_KINDS = {"Path": click.Path(path_type=Path), "int": int, "float": float, "float | None": float, "bool": bool}


def main() -> None:
    """Work until told to leave."""
    options: list[click.Parameter] = [
        click.Option([f"--{name.replace('_', '-')}"], type=_KINDS.get(kind, str), required=name == "home")
        for name, kind in ((each.name, str(each.type)) for each in fields(Settings))
    ]
    options.append(click.Option(["--attached"], is_flag=True))
    click.Command("worker", params=options, callback=_work, help=__doc__)(auto_envvar_prefix=PREFIX)


def _work(attached: bool, **given: Any) -> None:
    os.nice(NICE)
    settings = Settings(**{name: value for name, value in given.items() if value is not None})
    try:
        jobs = _opened(settings)
        jobs.tidy()
        jobs.close()
        Worker(settings).run(leave_with=sys.stdin if attached else None)
    except ReportedError as error:
        raise click.ClickException(str(error)) from None


def _opened(settings: Settings) -> Jobs:
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
