"""`python -m api.jobs`: one worker. Options are those of `Settings`, or GRAPHPRIV_JOBS_… of the environment."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from api.jobs.jobs import Jobs
from api.jobs.records import Settings
from api.jobs.worker import NICE, Worker

#: What the variables of the environment begin with.
PREFIX = "GRAPHPRIV_JOBS"

_KINDS = {"Path": click.Path(path_type=Path), "int": int, "float": float, "float | None": float}


def main() -> None:
    """Work until told to leave."""
    options: list[click.Parameter] = [
        click.Option([f"--{name.replace('_', '-')}"], type=_KINDS.get(kind, str), required=name == "home")
        for name, kind in ((each.name, str(each.type)) for each in fields(Settings))
    ]
    click.Command("worker", params=options, callback=_work, help=__doc__)(auto_envvar_prefix=PREFIX)


def _work(**given: Any) -> None:
    os.nice(NICE)
    settings = Settings(**{name: value for name, value in given.items() if value is not None})
    jobs = Jobs.opened(settings)
    jobs.tidy()
    jobs.close()
    Worker(settings).run()


if __name__ == "__main__":
    main()
