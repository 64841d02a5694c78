"""The workers of one machine: a number of processes, each restarted when it ends by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import fields

from api.jobs.records import PREFIX, Settings

#: How often the workers are checked, and how long to wait before one is restarted, in seconds.
_LOOKING, _PAUSE = 0.5, 2.0

#: How long a worker may take to leave, in seconds.
_LEAVING = 10.0


#: These may hold a password, and everybody on the machine can read a command line.
_SECRET = ("database", "private", "store")


class Workers:
    """Keeps workers running until it is told to stop, or until this process ends, however it does."""

    def __init__(self, settings: Settings, count: int) -> None:
        self._settings = settings
        self._stopping = threading.Event()
        self._processes = [self._started() for _ in range(count)]
        self._due = [0.0] * count
        self._watching = threading.Thread(target=self._watch, name="workers", daemon=True)
        self._watching.start()

    def stop(self) -> None:
        """Let the workers leave: what they are at is free for others."""
        self._stopping.set()
        self._watching.join()
        for process in self._processes:
            process.terminate()
            if process.stdin is not None:
                process.stdin.close()
        until = time.monotonic() + _LEAVING
        for process in self._processes:
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _watch(self) -> None:
        while not self._stopping.wait(_LOOKING):
            for place, process in enumerate(self._processes):
                if process.poll() is None:
                    self._due[place] = time.monotonic() + _PAUSE
                elif time.monotonic() >= self._due[place]:
                    self._processes[place] = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        secret = {f"{PREFIX}_{name.upper()}": getattr(self._settings, name) for name in _SECRET}
        environment = os.environ | {name: value for name, value in secret.items() if value is not None}
        # The end of their input tells them that this process has ended.
        command = [*command_of(self._settings), "--attached"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)  # noqa: S603 (it is ours)


def command_of(settings: Settings) -> list[str]:
    """The command of a worker with these settings; an address of a database is left to the environment.

    >>> from pathlib import Path
    >>> command_of(Settings(home=Path("/srv/home"), at_once=2, spare=False))[1:]
    ['-P', '-m', 'api.jobs', '--home', '/srv/home', '--at-once', '2', '--no-spare']
    """
    command = [sys.executable, "-P", "-m", "api.jobs"]
    for each in fields(Settings):
        value = getattr(settings, each.name)
        if value != each.default and each.name not in _SECRET:
            name = each.name.replace("_", "-")
            if isinstance(value, bool):
                command.append(f"--{name}" if value else f"--no-{name}")
            else:
                command += [f"--{name}", str(value)]
    return command
