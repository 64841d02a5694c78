"""Zip files from elsewhere: their parts are read into memory, checked and measured; nothing is unpacked to a disk."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from graphpriv.formats.contract import ALWAYS_ALLOWED, MOST_GROWTH
from tabular.errors import InvalidInput
from tabular.files.disk import STREAM, decode, read_bytes, reason
from tabular.files.zips import BROKEN_ZIP

#: The files of a long account with all its pictures are fewer.
MOST_FILES = 500_000

#: What is at hand of each archive that is a zip file.
TELLTALES = {"x-archive": "data/account.js", "mastodon-archive": "outbox.json"}


@dataclass(frozen=True)
class Zip:
    """A zip file whose names are sound."""

    path: Path
    file: zipfile.ZipFile
    size: int
    parts: dict[str, zipfile.ZipInfo]

    def __contains__(self, name: str) -> bool:
        return name in self.parts

    def text(self, name: str) -> str:
        """The text of one part; an error where there is none."""
        where = f"{self.path}, {name}"
        if name not in self.parts:
            raise InvalidInput(f"{where}: there is no such file in it.")
        info = self.parts[name]
        if info.flag_bits & 1:
            raise InvalidInput(f"{where}: the file is encrypted.")
        most = max(ALWAYS_ALLOWED, MOST_GROWTH * min(info.compress_size, self.size))
        if info.file_size > most:
            raise InvalidInput(f"{where}: unpacked, the file is more than {most >> 20} MiB.")
        try:
            data = self.file.read(info)
        except BROKEN_ZIP:
            raise InvalidInput(f"{where}: the file is damaged, or packed in a way that is not read.") from None
        return decode(data, where, "utf-8-sig")


@contextmanager
def opened(path: Path) -> Iterator[Zip]:
    """A zip file while it is read."""
    try:
        source: Path | BytesIO = BytesIO(read_bytes(path)) if str(path) == STREAM else path
        file = zipfile.ZipFile(source)
    except BROKEN_ZIP as error:
        told = reason(error) if isinstance(error, OSError) and error.errno else "this is not a sound zip file."
        raise InvalidInput(f"{path}: {told}") from None
    with file:
        size = len(source.getbuffer()) if isinstance(source, BytesIO) else path.stat().st_size
        yield Zip(path, file, size, _parts(file, path))


def _parts(file: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    """The parts by their names, without a folder that all of them lie in."""
    infos = [each for each in file.infolist() if not each.filename.endswith("/")]
    if len(infos) > MOST_FILES:
        raise InvalidInput(f"{path}: there are more than {MOST_FILES:,} files in it.")
    for number, info in enumerate(infos, start=1):
        if not _is_sound(info):
            raise InvalidInput(f"{path}: the name of file {number} in it leads out of the archive.")
    names = [each.filename for each in infos]
    if len(set(names)) < len(names):
        raise InvalidInput(f"{path}: two files in it have the same name.")
    tops = {name.partition("/")[0] for name in names if "/" in name}
    wrapped = len(tops) == 1 and all("/" in name for name in names) and tops.isdisjoint({"data"})
    return {name.partition("/")[2] if wrapped else name: info for name, info in zip(names, infos, strict=True)}


def _is_sound(info: zipfile.ZipInfo) -> bool:
    """Whether a part is a file below the top; that of a link is not."""
    name = info.orig_filename
    steps = name.replace("\\", "/").split("/")
    plain = name.isprintable() and not name.startswith(("/", "\\")) and ":" not in steps[0] and ".." not in steps
    return name != "" and plain and not stat.S_ISLNK(info.external_attr >> 16)


def told_apart(path: Path, names: list[str]) -> str:
    """Which of several archives a zip file is."""
    with opened(path) as found:
        fitting = [name for name in names if TELLTALES.get(name, "") in found]
    if len(fitting) != 1:
        wanted = ", ".join(f"{TELLTALES[name]} ({name})" for name in names if name in TELLTALES)
        raise InvalidInput(f"{path}: an archive of a network has one of these files in it: {wanted}.")
    return fitting[0]
