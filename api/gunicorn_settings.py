"""Settings of gunicorn, which keeps the service running in a container: gunicorn --config python:api.gunicorn_settings

gunicorn holds the socket and starts the process that answers again if it ends. The process answers by the same server
as `graphpriv serve`. gunicorn's own threads read a request themselves, so 64 connections that send half a request would
keep everybody else waiting.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from gunicorn.workers.base import Worker

from api.cli.terminal import visible
from api.secret_files import read_secret_files
from api.service.settings import Settings, variable
from tabular.errors import ReportedError

if TYPE_CHECKING:
    from api.http.server import Server

#: The exit code by which a process tells gunicorn that starting it again is of no use.
_USELESS = 3


class ServingProcess(Worker):  # type: ignore[misc]
    """The process that answers, and starts the workers that do the jobs."""

    _server: Server | None = None

    def load_wsgi(self) -> None:
        """Prepare the service, or say in one line why that cannot be."""
        # Not imported by gunicorn itself, whose process forks: that has no threads and no open files of ours.
        from api.serving import Serving

        try:
            read_secret_files(os.environ)
            self._serving = Serving.prepared(Settings.of({}, os.environ))
        except ReportedError as error:
            _say(f"error: {error.worded(variable)}")
            sys.exit(_USELESS)
        self.wsgi = self._serving.app

    def run(self) -> None:
        """Answer until gunicorn says that it is time to stop, or is gone."""
        from api.http.server import server_on

        self._server = server_on(self._serving.app, [each.sock for each in self.sockets])
        self._serving.begin(_say)
        try:
            self._server.run(self._beat)
        finally:
            self._serving.end()

    def handle_exit(self, *_: Any) -> None:
        """Stop; what was begun is finished."""
        self.alive = False
        if self._server is not None:
            self._server.stop()

    handle_quit = handle_exit

    def _beat(self) -> None:
        self.notify()
        if os.getppid() != self.ppid:
            self.handle_exit()


def _say(text: str) -> None:
    print(f"graphpriv: {visible(text)}", file=sys.stderr, flush=True)


bind = "0.0.0.0:8000"
worker_class = ServingProcess
#: One process a container: what it counts, and how often an account may ask, is known to it alone.
workers = 1
wsgi_app = "api.app:create_app()"
#: Longer than the server takes to finish what was begun, and its workers to leave.
graceful_timeout = 25
timeout = 60
control_socket_disable = True
