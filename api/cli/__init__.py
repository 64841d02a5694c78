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

from api.cli import audits, demo, graphs, protection, service, stores, sweeps
from api.cli.tables import table
from api.errors import outcome_of
from tabular.errors import ReportedError
from tabular.files.disk import reason

#: `--fail-if` holds.
CONDITION_HOLDS = 4

_INTERRUPTED = "interrupted; nothing more was written."


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="graphpriv")
def cli() -> None:
    """Protect, audit and release social graphs.

    Exit codes: 0 done; 1 failed; 2 bad usage or input; 3 sound input, but no solution; 4 done, but --fail-if holds.
    """


for command in (
    demo.demo,
    graphs.graph,
    protection.protect,
    audits.audit,
    sweeps.sweep,
    protection.microdata,
    stores.store,
    table,
    service.methods,
    service.serve,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line; every failure is one line and an exit code."""
    # What the driver logs of a failure is said in one line of ours.
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    # Whoever ends the process by a signal interrupts it as from the keyboard: what is half written goes.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code."""
    try:
        result = cli.main(arguments, prog_name="graphpriv", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        return _failed(error.format_message(), error.exit_code)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _failed(_INTERRUPTED, 1)
    except ReportedError as error:
        return _failed(str(error), outcome_of(error).exit_code)
    except BrokenPipeError:
        # Whoever read the output has gone away; what is still buffered for it must not raise again on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _failed(f"{reason(error)} What was asked for is not complete.", 1)
    except Exception as error:
        # A kernel that is interrupted says so by an error of its own.
        was_interrupted = isinstance(error.__cause__ or error.__context__, KeyboardInterrupt)
        return _failed(_INTERRUPTED if was_interrupted else _internal(error), 1)


def _failed(text: str, code: int) -> int:
    click.echo(f"graphpriv: error: {' '.join(text.split())}", err=True)
    return code


def _internal(error: Exception) -> str:
    """A bug: its place is told, its text is not, since that may hold what belongs to a person."""
    if os.environ.get("GRAPHPRIV_DEBUG"):
        traceback.print_exc()
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    return (
        f"internal error {secrets.token_hex(4)} ({type(error).__name__} at {place}); this is a bug. "
        "GRAPHPRIV_DEBUG=1 shows where it came from."
    )
