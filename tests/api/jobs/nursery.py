"""Starts workers for tests by forking, so that not each of them imports everything anew.

Run as a script: for each JSON line with the settings of a worker and the file of its errors it tells a process id.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from api.jobs import jobs, worker
from api.jobs.records import Settings


def main() -> None:
    """Fork until standard input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        task = json.loads(line)
        child = os.fork()
        if child == 0:
            _work(Settings(**task["settings"] | {"home": Path(task["settings"]["home"])}), task["errors"])
        print(child, flush=True)


def _work(settings: Settings, errors: str) -> None:
    """Be a worker, but one that does not stand back: tests wait for it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(errors, os.O_CREAT | os.O_WRONLY | os.O_APPEND), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        jobs.Jobs.opened(settings).close()
        worker.Worker(settings).run()
    except BaseException as error:
        os.write(2, f"Traceback of a worker: {error!r}\n".encode())
    os._exit(1)


if __name__ == "__main__":
    main()
