"""What a killed process leaves of a working folder, for tests of those who clear up."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[3]

WORKER = """
import sys
from pathlib import Path
from tabular.files.working import working_folder
with working_folder(Path(sys.argv[1])) as folder:
    (folder / "backup.db").write_text("@ana_of_the_test")
    print(folder, flush=True)
    input()
"""


def worker(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process at work in a folder, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(place)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def left_behind(place: Path, then: Callable[[], object]) -> Path:
    """What a killed process left in a folder, after something else was done."""
    killed, left = worker(place)
    killed.kill()
    killed.communicate()
    assert left.exists()
    assert not then()
    return left
