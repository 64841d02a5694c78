"""Room on a disk that is kept for the day on which it is full."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path


class Reserve:
    """A file that takes up room, to be given up for what must not wait for any: that somebody is forgotten.

    >>> from tempfile import mkdtemp
    >>> reserve = Reserve(Path(mkdtemp()) / "reserve")
    >>> reserve.keep(4096), reserve.size, reserve.give_up(), reserve.give_up()
    (None, 4096, True, False)
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return self.path.stat().st_size if self.path.exists() else 0

    def keep(self, size: int) -> None:
        """Hold so many bytes, if the disk has them; a larger reserve is left as it is."""
        with contextlib.suppress(OSError):
            held = self.size
            if held < size:
                file = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
                try:
                    os.posix_fallocate(file, 0, size)
                except OSError:
                    # There is no room for a whole one; what it had stays.
                    os.ftruncate(file, held)
                    if not held:
                        self.path.unlink()
                finally:
                    os.close(file)

    def give_up(self) -> bool:
        """Free the room; whether there was any."""
        try:
            had_any = self.path.stat().st_size > 0
            self.path.unlink()
        except OSError:
            return False
        return had_any

    def make_room(self, size: int) -> None:
        """Free the room where the disk has less than *size* bytes left."""
        with contextlib.suppress(OSError):
            if shutil.disk_usage(self.path.parent).free < size:
                self.give_up()
