"""The service and the list of methods."""

from __future__ import annotations

import signal
import sys

import click

from api.cli.common import json_option, note, opened, show_json, show_table, store_option
from api.methods import method_lists
from tabular.errors import InvalidParameter
from tabular.files.disk import reason


@click.command()
@json_option
def methods(as_json: bool) -> None:
    """List every registered method with its parameters, citation and limits."""
    lists = method_lists()
    if as_json:
        show_json(lists)
        return
    for sort, entries in lists.items():
        show_table(sort, ["name", "what it does", "from"], [(e["name"], e["summary"], e["cites"]) for e in entries])


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="The port to listen on.")
@store_option
def serve(host: str, port: int, store: str) -> None:
    """Serve the service over HTTP until it is stopped."""
    from waitress import create_server

    from api.app import create_app

    # Made here if it is not there yet; from then on a store that is gone is an error.
    opened(store, create=True).close()
    try:
        server = create_server(create_app({"STORE": store}), host=host, port=port)
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else "this is no address to listen on."
        raise InvalidParameter(f"--host {host} --port {port}: {why}") from None
    # As the first process of a container, it would not be ended by SIGTERM unless it asked for it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    note(f"graphpriv listens on http://{server.effective_host}:{server.effective_port}; stop it with Ctrl-C.")
    server.run()
