"""What reading a zip file that is broken, or packed in a way that is not read, can end in."""

from __future__ import annotations

import lzma
import zipfile
import zlib

#: A file of a newer version of the format, and one that is encrypted, are not "bad" ones to the library.
BROKEN_ZIP = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(NotImplementedError, RuntimeError, OSError, ValueError),
)
