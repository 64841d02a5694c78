"""`graphpriv run`: a plan, run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from api.cli.commands import ReportedFailure, VerbCommand, VerbOption, door_options, names_of, run_verb, work_of
from api.errors import InvalidParameter, ReportedError, named
from api.verbs.plans import read_plan


def _run(plan: str, changes: Sequence[str], **given: Any) -> int:
    verb = None
    try:
        name, verb = read_plan(plan, _changed(changes))
        if given["seed"] is not None and not verb.draws:
            raise InvalidParameter(f"{named('seed')} means nothing here, since {name} draws nothing at random.")
        return run_verb(name, verb, replace(work_of(given, type(verb)), reads=(plan,)), as_json=given["as_json"])
    except ReportedError as error:
        raise ReportedFailure(error, _plain if verb is None else names_of(type(verb))) from None


def _plain(parameter: str) -> str:
    return f"--{parameter}"


def _changed(texts: Sequence[str]) -> dict[str, str]:
    changes = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidParameter(f"{named('set')} {text!r}: write OPTION=VALUE, such as file=next.csv.")
        changes[name.strip().replace("-", "_")] = value
    return changes


run_plan = VerbCommand(
    "run",
    callback=_run,
    params=[
        click.Argument(["plan"], metavar="PLAN"),
        VerbOption(
            ["--set", "changes"],
            multiple=True,
            metavar="OPTION=VALUE",
            help="Change an option of the plan, such as file=next.csv; repeat it for more.",
        ),
        *door_options(store=True, seed=True, overwrite=True),
    ],
    short_help="Run a command from a plan that --plan wrote.",
    help="Run a command from a plan that --plan wrote.\n\nA plan is a TOML or JSON file with a verb and its options.",
)
