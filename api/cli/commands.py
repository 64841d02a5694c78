"""The command line: `graphpriv`, with a command made from every verb of the registry."""

from __future__ import annotations

import inspect
import logging
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import Field, replace
from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from api.cli.progress import progress, stoppable
from api.cli.terminal import say
from api.cli.words import Said, note, show_json, tell, write_line
from api.errors import InvalidParameter, ReportedError, bug_of, named, outcome_of, reason, worded
from api.secret_files import read_secret_files
from api.verbs import verbs
from api.verbs.contract import DEFAULT_HOME, DEFAULT_STORE, STREAM, Outcome, Verb, Work, perform, refuse_password
from api.verbs.values import is_required, kind_of, names_in, options_of, write_plan

#: The variable of the environment that names the folder of compiled code.
CACHE_DIR = "GRAPHPRIV_CACHE_DIR"

NOT_ENOUGH_MEMORY = "not enough memory: take fewer rows or columns, or a machine with more memory."
_INTERRUPTED = "interrupted; nothing more was written."

#: What each first word of several commands is about.
GROUPS = {
    "graph": "Import, export, list, show and delete graphs, or forget a person.",
    "table": "Describe, check, protect and measure tables, and find the best generalisation.",
    "store": "Back up, restore and check the store.",
    "account": "Add, list and remove accounts of the service.",
    "token": "Make, list and revoke tokens of the service.",
}


def command_line() -> click.Group:
    """The command line with a command for every verb of the registry."""
    from api.cli import service

    top = click.Group(
        "graphpriv",
        help="Protect, audit and release social graphs and tables.\n\n"
        "No output takes the place of an input, of another output or of the store. One of them may be -, standard "
        "output, and then without --json. --overwrite needs an output.\n\n"
        "Exit codes: 0 done; 1 failed; 2 wrong usage or input; 3 no solution exists; 4 done, and --fail-if holds.",
        context_settings={"help_option_names": ["-h", "--help"]},
        params=[_cache_dir()],
        callback=lambda cache_dir: os.environ.update({CACHE_DIR: cache_dir} if cache_dir else {}),
    )
    click.version_option(package_name="graphpriv")(top)
    for entry in verbs.entries():
        above, _, _ = entry.name.rpartition(" ")
        group = _group(top, above) if above else top
        group.add_command(command_for(entry.name, entry.method))
    for command in (service.methods, service.serve, service.run_plan):
        top.add_command(command)
    return top


def _cache_dir() -> click.Option:
    return click.Option(
        ["--cache-dir"],
        metavar="DIR",
        help=f"Where compiled code is kept; {CACHE_DIR} sets it for all commands. Without either it is kept beside the "
        "program, else in the user's cache, else in the temporary directory.",
    )


def _group(top: click.Group, word: str) -> click.Group:
    """The group of commands that begin with a *word*, made when it is first asked for."""
    group = top.commands.get(word)
    if not isinstance(group, click.Group):
        group = click.Group(word, help=GROUPS.get(word), short_help=GROUPS.get(word))
        top.add_command(group)
    return group


def main() -> None:
    """Run the command line; every failure is one line and an exit code."""
    # One line of ours says what the driver would log of a failure.
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    # A signal that ends the process interrupts it as the keyboard does: half-written files go.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code."""
    try:
        read_secret_files(os.environ)
        result = command_line().main(arguments, prog_name="graphpriv", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except ReportedFailure as error:
        return _failed(error.format_message(), error.code)
    except click.ClickException as error:
        return _failed(error.format_message(), error.exit_code)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _failed(_INTERRUPTED, 1)
    except ReportedError as error:
        return _failed(str(error), outcome_of(error).exit_code)
    except BrokenPipeError:
        # Nobody reads the output any more; what is still buffered for it must not raise again on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        return _failed(NOT_ENOUGH_MEMORY, 2)
    except OSError as error:
        return _failed(f"{reason(error)} The command did not finish.", 1)
    except Exception as error:
        # An interrupted kernel raises an error of its own.
        was_interrupted = isinstance(error.__cause__ or error.__context__, KeyboardInterrupt)
        return _failed(_INTERRUPTED if was_interrupted else _internal(error), 1)


def _failed(text: str, code: int) -> int:
    say(f"graphpriv: error: {' '.join(text.split())}", err=True)
    return code


def _internal(error: Exception) -> str:
    """Say where a bug is; its text is not shown, since it may hold personal data."""
    if os.environ.get("GRAPHPRIV_DEBUG"):
        for line in traceback.format_exc().splitlines():
            say(line, err=True)
    reference, place = bug_of(error)
    return f"internal error {reference} ({place}); this is a bug. GRAPHPRIV_DEBUG=1 shows where it came from."


#: The exit code where the condition of `--fail-if` holds.
CONDITION_HOLDS = 4

#: What the door itself offers beside a verb's own options.
_DOOR = ("store", "home", "seed", "overwrite", "plan", "json")
_LAST = "How it runs"


class ReportedFailure(click.ClickException):
    """An error of the product in the words of the command line."""

    def __init__(self, error: ReportedError, name_of: Callable[[str], str | None]) -> None:
        super().__init__(error.worded(name_of))
        self.code = outcome_of(error).exit_code


class VerbOption(click.Option):
    """An option that stands under a heading, and whose choices are listed only when somebody looks."""

    def __init__(self, *args: Any, heading: str = "Options", choices: Any = None, **given: Any) -> None:
        super().__init__(*args, **given)
        self.heading, self._choices = heading, choices

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        choices, self._choices = self._choices, None
        if choices is not None:
            names = ", ".join(choices() if callable(choices) else choices)
            self.help = f"{self.help} One of: {names}."
        return super().get_help_record(ctx)


class VerbArgument(click.Argument):
    """An argument that the help explains."""

    heading = "Arguments"

    def __init__(self, *args: Any, help: str, choices: Any = None, **given: Any) -> None:
        super().__init__(*args, **given)
        self._help, self._choices = help, choices

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        if self._choices is None:
            return self.make_metavar(ctx), self._help
        names = self._choices() if callable(self._choices) else self._choices
        return self.make_metavar(ctx), f"{self._help} One of: {', '.join(names)}."


class VerbCommand(click.Command):
    """A command whose help groups its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(parameter, "heading", _LAST), []).append(record)
        # The door's own options last, after those of the verb.
        for heading in sorted(sections, key=lambda each: each == _LAST):
            with formatter.section(heading):
                formatter.write_dl(sections[heading])


def command_for(name: str, verb: type[Verb]) -> click.Command:
    """The command of a registered verb."""

    def call(**given: Any) -> int:
        return _call(name, verb, given)

    words = worded_help(inspect.cleandoc(verb.__doc__ or ""), verb)
    options = [each for each in options_of(verb).values() if not each.metadata.get("positional")]
    arguments = [each for each in options_of(verb).values() if each.metadata.get("positional")]
    parameters = [
        *(_argument(each, verb) for each in arguments),
        *(_option(each, verb) for each in options),
        *(VerbOption([flag(old), old], hidden=True) for old in verb.renamed),
        *door_options("overwrite", *_places(verb), *["seed"] * verb.draws, "json", "plan"),
    ]
    return VerbCommand(
        name.split()[-1], params=list(parameters), callback=call, help=words, short_help=words.splitlines()[0]
    )


def _places(verb: type[Verb]) -> list[str]:
    """The options that say where the things are that a verb works on."""
    return ["store"] * (verb.store is not None) + ["home"] * (verb.home is not None)


def door_options(*names: str) -> list[click.Parameter]:
    """The options with these *names*, which belong to the command line and not to a verb."""
    store = "file:PATH, or neo4j://user@host:7687 with the password in GRAPHPRIV_NEO4J_PASSWORD."
    given: dict[str, dict[str, Any]] = {
        "overwrite": {"is_flag": True, "help": "Replace files or graphs that already exist."},
        "store": {"envvar": "GRAPHPRIV_STORE", "default": DEFAULT_STORE, "show_default": True, "metavar": "URL",
                  "help": store},
        "home": {"envvar": "GRAPHPRIV_HOME", "default": DEFAULT_HOME, "show_default": True, "metavar": "DIR",
                 "help": "The folder of the service."},
        "seed": {"metavar": "N", "type": click.IntRange(min=0), "help": "Fix the random draws; for tests only."},
        "json": {"is_flag": True, "help": "Print one JSON document."},
        "plan": {"metavar": "FILE", "help": "Write this command to FILE as a plan; run nothing."},
    }  # fmt: skip
    return [VerbOption([flag(name), f"as_{name}" if name == "json" else name], heading=_LAST, **given[name])
            for name in names]  # fmt: skip


def worded_help(text: str, verb: type[Verb]) -> str:
    """A *text* with the verb's options under the names they have here: `k` becomes --k."""
    name_of = names_of(verb)
    return re.sub(r"`(\w+)`", lambda found: name_of(found[1], strict=True) or found[0], text)


def names_of(verb: type[Verb]) -> Callable[..., str | None]:
    """What the parameters of a verb are called on the command line."""
    known = options_of(verb)

    def name_of(parameter: str, *, strict: bool = False) -> str | None:
        if parameter in known:
            option = known[parameter]
            return _metavar(option) if option.metadata.get("positional") else flag(parameter)
        if parameter in (*_DOOR, *verb.renamed):
            return flag(parameter)
        # What is no option of the verb is a parameter of the method it was given.
        return f"--param {parameter}" if "param" in known and not strict else None

    return name_of


def run_verb(name: str, verb: Verb, work: Work, *, as_json: bool) -> int:
    """Perform a verb, show what came of it, and give the exit code."""
    streams: list[str] = []

    def expect(planned: Sequence[Any]) -> None:
        streams[:] = [each.parameter for each in planned if each.path == STREAM]
        _refuse_two_on_standard_output(streams, as_json=as_json)

    work = replace(work, expect=expect, line=write_line)
    with progress() as report:
        if verb.stoppable:
            with stoppable() as stop:
                outcome = perform(verb, replace(work, report=report, stop=stop))
        else:
            outcome = perform(verb, replace(work, report=report))
    if outcome.lines is not None:
        sys.stdout.flush()
    elif as_json:
        show_json(outcome.document)
    else:
        tell(name, verb, outcome, Said(err=bool(streams)))
    return _exit_code(verb, outcome)


def _refuse_two_on_standard_output(streams: Sequence[str], *, as_json: bool) -> None:
    if as_json and streams:
        stream = named(streams[0])
        raise InvalidParameter(f"{named('json')} and {stream} - both write to standard output; give {stream} a file.")
    if len(streams) > 1:
        both = " and ".join(f"{named(each)} -" for each in streams)
        raise InvalidParameter(f"{both} both write to standard output; give one of them a file.")


def _call(name: str, verb: type[Verb], given: Mapping[str, Any]) -> int:
    name_of = names_of(verb)
    try:
        made, work = verb(**_values(verb, given)), work_of(given, verb)
        if given["plan"] is not None:
            return _write_plan(name, made, work, given["plan"], as_json=given["as_json"])
        return run_verb(name, made, work, as_json=given["as_json"])
    except ReportedError as error:
        raise ReportedFailure(error, name_of) from None


def work_of(given: Mapping[str, Any], verb: type[Verb]) -> Work:
    """The work with what the options of the door say."""
    name_of = names_of(verb)
    chosen: dict[str, Any] = {
        "overwrite": bool(given.get("overwrite")),
        "note": lambda text: note(worded(text, name_of)),
    }
    if given.get("store") is not None:
        chosen["store"] = checked_store(given["store"])
    if given.get("home") is not None:
        chosen["home"] = given["home"]
    if given.get("seed") is not None:
        note(
            "warning: a fixed seed can undo a release, since whoever knows it can repeat the draws; use it for tests "
            "only."
        )
        chosen["seed"] = given["seed"]
    work = Work(**chosen)
    return replace(work, elsewhere=partial(_forget_in_service, work)) if work.has_service_home else work


def _forget_in_service(work: Work, graph: str, person: str) -> Mapping[str, int]:
    """Erase what the service on this machine has of a person of a graph; tells how much."""
    from api.app import job_settings
    from api.jobs.jobs import Jobs
    from api.service.service import Service
    from api.service.settings import Settings

    settings = Settings.of({"STORE": work.store, "HOME": work.home}, os.environ)
    with closing(Jobs.opened(job_settings(settings))) as jobs, closing(Service.at(settings, jobs=jobs)) as service:
        return service.forget_person(graph, person)


def _write_plan(name: str, verb: Verb, work: Work, path: str, *, as_json: bool) -> int:
    _refuse_two_on_standard_output(["plan"] if path == STREAM else [], as_json=as_json)
    write_plan(name, verb, work, path)
    if as_json:
        show_json({"plan": path})
    elif path != STREAM:
        say(f"Wrote {path}: the plan; run it with: graphpriv run {path}")
    return 0


def _exit_code(verb: Verb, outcome: Outcome) -> int:
    if outcome.failure is not None:
        raise ReportedError(outcome.failure)
    if outcome.condition_holds:
        expression, doubt = getattr(verb, "fail_if", ""), outcome.condition_doubt
        note(f"--fail-if may hold: {expression}; {doubt}" if doubt else f"--fail-if holds: {expression}")
        return CONDITION_HOLDS
    return 0


def _values(verb: type[Verb], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a verb from what was typed; what was not typed keeps its default."""
    verb.refuse_old({name: value for name, value in given.items() if value not in (None, ())})
    values = {}
    for name, option in options_of(verb).items():
        value = given[name]
        if option.metadata.get("listed") and value is not None:
            value = names_in(name, value)
        if value is not None and value != ():
            values[name] = value
        elif is_required(option):
            raise InvalidParameter(f"{named(name)} is missing.", must="be given")
    return values


def _argument(option: Field[Any], verb: type[Verb]) -> click.Argument:
    traits = option.metadata
    told = worded_help(traits["help"], verb)
    return VerbArgument([option.name], metavar=_metavar(option), help=told, choices=traits["choices"])


def _option(option: Field[Any], verb: type[Verb]) -> click.Option:
    kind, traits = kind_of(option), option.metadata
    few = traits["choices"] if isinstance(traits["choices"], tuple) else None
    given: dict[str, Any] = {
        "help": worded_help(traits["help"], verb),
        "heading": traits.get("group", "Options"),
        "hidden": bool(traits.get("served")),
        "choices": None if few else traits["choices"] or traits.get("choices_shown"),
        "metavar": traits.get("metavar") or ("|".join(few) if few else {"int": "N", "float": "X"}.get(kind)),
    }
    if is_required(option):
        given["help"] += " [required]"
    long = flag(option.name)
    if kind == "bool":
        is_plain = option.default is False
        declared = long if is_plain else f"{long}/{flag(traits.get('off') or f'no-{option.name}')}"
        del given["metavar"]
        return VerbOption([declared, option.name], is_flag=True, default=None, **given)
    if kind == "tuple[str, ...]" and not traits.get("listed"):
        return VerbOption([long, option.name], multiple=True, **given)
    types = {"int": click.INT, "float": click.FLOAT}
    if not is_required(option) and option.default not in (None, ()):
        default: Any = option.default
        shown = ",".join(default) if isinstance(default, tuple) else f"{default:g}" if kind == "float" else default
        given["help"] += f" [default: {shown}]"
    return VerbOption([long, option.name], type=types.get(kind, click.STRING), **given)


def flag(name: str) -> str:
    """What an option is called on the command line."""
    return f"--{name.replace('_', '-')}"


def _metavar(option: Field[Any]) -> str:
    return str(option.metadata.get("metavar") or option.name.upper())


def checked_store(url: str) -> str:
    """The address of the store; a password in it is taken from the environment alone, where no list of processes is."""
    source = click.get_current_context().get_parameter_source("store")
    if source is ParameterSource.COMMANDLINE:
        refuse_password(url)
    return url
