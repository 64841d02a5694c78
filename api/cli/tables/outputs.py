"""The files of one command: all of them or none."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from api.cli.common import may_write
from tabular.errors import InvalidInput, InvalidParameter
from tabular.files.disk import STREAM, place_of, refuse_existing


class Outputs:
    """The files that a command is about to write; each is checked before the work begins."""

    def __init__(self, *, overwrite: bool, store: str = "") -> None:
        self.overwrite, self.store = overwrite, store
        self._new: list[Path] = []
        self._folders: list[Path] = []
        self._known: dict[Path, str] = {}

    def announce(self, option: str, path: str | Path | None) -> None:
        """Refuse a *path* that cannot be written, or that another option names too."""
        if path is None or str(path) == STREAM:
            return
        target = place_of(path)
        if target.parent in self._folders:
            refuse_existing(path, overwrite=self.overwrite)
        else:
            may_write(path, self.store, overwrite=self.overwrite)
        if target in self._known:
            raise InvalidParameter(f"{option} {path}: {self._known[target]} writes to this file, too.")
        self._known[target] = option
        if not target.exists():
            self._new.append(target)

    def announce_folder(self, path: str | Path) -> None:
        """Refuse a folder that can be none; one that is not there yet is made with its first file."""
        folder = place_of(path)
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(f"{path}: this is no folder.")
        if not folder.parent.is_dir():
            raise InvalidInput(f"{path}: there is no folder {Path(path).parent} to make it in.")
        if not folder.exists() and folder not in self._folders:
            self._folders.append(folder)

    def read_from(self, path: str | None) -> None:
        """Refuse outputs in the place of a file that is read, or in a folder whose files are."""
        if path is None or path == STREAM or not Path(path).exists():
            return
        read = place_of(path)
        for target, option in self._known.items():
            if target == read:
                raise InvalidParameter(f"{option} {path}: this is a file that is read; give the output another name.")
            if read.is_dir() and target.parent == read:
                raise InvalidParameter(f"{option} {target.name}: the files of {path} are read; name another folder.")

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Whatever fails while they are written, those that are new go again."""
        try:
            yield
        except BaseException:
            for target in self._new:
                target.unlink(missing_ok=True)
            for folder in self._folders:
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise
