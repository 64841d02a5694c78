"""The commands that are no verbs: the list of methods, the service, and `run`, which runs a plan again."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import click
from click.core import ParameterSource

from api.cli.commands import (
    ReportedFailure,
    VerbCommand,
    VerbOption,
    checked_store,
    door_options,
    flag,
    names_of,
    run_verb,
    work_of,
)
from api.cli.words import Said, note, show_json
from api.errors import InvalidParameter, ReportedError, named, reason
from api.service.settings import Settings, variable
from api.verbs.values import read_plan


def _methods(as_json: bool) -> None:
    from api.reference import method_lists

    lists = method_lists()
    if as_json:
        show_json(lists)
        return
    for sort, entries in lists.items():
        Said().table(sort, ["name", "what it does", "from"], [(e["name"], e["summary"], e["cites"]) for e in entries])


def _serve(host: str, port: int, store: str, **given: Any) -> None:
    from api.http.server import Server, server_at
    from api.serving import Serving

    def listening(app: Any) -> Server:
        try:
            return server_at(app, host, port)
        except (OSError, ValueError) as error:
            why = reason(error) if isinstance(error, OSError) else "this is not an address to listen on."
            raise InvalidParameter(f"{named('host')} {host} {named('port')} {port}: {why}") from None

    try:
        _refuse_password_of_database(given["database"])
        serving = Serving.prepared(Settings(store=checked_store(store), **given))
        server = listening(serving.app)
    except ReportedError as error:
        raise ReportedFailure(error, flag) from None
    # The first process of a container ignores SIGTERM unless it asks for it.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.stop())
    for shown in map(_shown, server.addresses):
        note(f"graphpriv listens on http://{shown}; stop it with Ctrl-C.")
    try:
        serving.begin(note)
        server.run()
    finally:
        serving.end()


def _refuse_password_of_database(url: str) -> None:
    """A password in the address is taken from the environment alone, where no list of processes shows it."""
    if click.get_current_context().get_parameter_source("database") is ParameterSource.COMMANDLINE and url:
        from api.jobs.records import address_of
        from api.jobs.tables import refuse_password

        refuse_password(address_of(url))


def _shown(address: tuple[str, int]) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _settings() -> list[VerbOption]:
    """The settings of the service that not every command has."""
    return [
        VerbOption(
            [flag(each.name)],
            envvar=variable(each.name),
            show_default=each.default != "",
            type=type(each.default),
            is_flag=isinstance(each.default, bool),
            default=each.default,
            metavar=each.metadata.get("metavar") or {int: "N", float: "X"}.get(type(each.default)),
            help=each.metadata["help"],
        )
        for each in fields(Settings)
        if each.name not in ("store", "home")
    ]


methods = VerbCommand(
    "methods",
    callback=_methods,
    params=door_options("json"),
    help="List every method and where it comes from; with --json also its parameters and limits.",
    short_help="List every method and where it comes from.",
)

serve = VerbCommand(
    "serve",
    callback=_serve,
    params=[
        VerbOption(["--host"], default="127.0.0.1", show_default=True, help="The address to listen on."),
        VerbOption(
            ["--port"], default=8000, show_default=True, type=click.IntRange(0, 65535), help="The port to listen on."
        ),
        *_settings(),
        *door_options("store", "home"),
    ],
    help="Serve graphpriv over HTTP until it is stopped.",
)


def _run(plan: str, changes: Sequence[str], **given: Any) -> int:
    verb = None
    try:
        name, verb = read_plan(plan, _changed(changes))
        if given["seed"] is not None and not verb.draws:
            raise InvalidParameter(f"{named('seed')} has no effect here, since {name} draws nothing at random.")
        return run_verb(name, verb, replace(work_of(given, type(verb)), reads=(plan,)), as_json=given["as_json"])
    except ReportedError as error:
        raise ReportedFailure(error, flag if verb is None else names_of(type(verb))) from None


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
        *door_options("overwrite", "store", "home", "seed", "json"),
    ],
    short_help="Run a command from a plan that --plan wrote.",
    help="Run a command from a plan that --plan wrote.\n\nA plan is a TOML or JSON file with a verb and its options.",
)
