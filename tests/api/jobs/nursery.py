"""Starts workers for tests by forking, so that not each of them imports everything anew.

Run as a script: for each JSON line with the settings of a worker and the file of its errors it tells a process id.
With such a line as its argument it is that worker.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from api.jobs import worker
from api.jobs.__main__ import opened
from api.jobs.records import Settings
from tabular.errors import StoreUnavailable


def main() -> None:
    """Fork until standard input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _work(line)
        print(child, flush=True)


def _work(line: str) -> None:
    """Be a worker, but one that does not stand back: tests wait for it."""
    task = json.loads(line)
    settings = Settings(**task["settings"] | {"home": Path(task["settings"]["home"])})
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(task["errors"], os.O_CREAT | os.O_WRONLY | os.O_APPEND), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        opened(settings).close()
        worker.Worker(settings).run()
    except StoreUnavailable:
        # The database went away while this worker started; `Workers` starts another then.
        os.execv(sys.executable, [sys.executable, "-m", "tests.api.jobs.nursery", line])
    except BaseException as error:
        os.write(2, f"Traceback of a worker: {error!r}\n".encode())
    os._exit(1)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _work(sys.argv[1])
    main()
