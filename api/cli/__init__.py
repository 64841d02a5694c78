"""The command line: `graphpriv`."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import sys
import traceback
from pathlib import Path

import click

from api.cli import service
from api.cli.commands import ReportedFailure, command_for
from api.cli.plans import run_plan
from api.errors import ReportedError, outcome_of, reason
from api.verbs import verbs

#: The variable of the environment that names the folder of compiled code.
CACHE_DIR = "GRAPHPRIV_CACHE_DIR"

_INTERRUPTED = "interrupted; nothing more was written."

#: What each first word of several commands is about.
GROUPS = {
    "graph": "Import, export, list, show and delete graphs, or forget a person.",
    "table": "Describe, check, protect and measure tables, and find the best generalisation.",
    "store": "Back up, restore and check the store.",
}


def command_line() -> click.Group:
    """The command line with a command for every verb of the registry."""
    top = click.Group(
        "graphpriv",
        help="Protect, audit and release social graphs and tables.\n\n"
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
    for command in (service.methods, service.serve, run_plan):
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
    except OSError as error:
        return _failed(f"{reason(error)} The command did not complete.", 1)
    except Exception as error:
        # An interrupted kernel raises an error of its own.
        was_interrupted = isinstance(error.__cause__ or error.__context__, KeyboardInterrupt)
        return _failed(_INTERRUPTED if was_interrupted else _internal(error), 1)


def _failed(text: str, code: int) -> int:
    click.echo(f"graphpriv: error: {' '.join(text.split())}", err=True)
    return code


def _internal(error: Exception) -> str:
    """Say where a bug is; its text is not shown, since it may hold personal data."""
    if os.environ.get("GRAPHPRIV_DEBUG"):
        traceback.print_exc()
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    return (
        f"internal error {secrets.token_hex(4)} ({type(error).__name__} at {place}); this is a bug. "
        "GRAPHPRIV_DEBUG=1 shows where it came from."
    )
