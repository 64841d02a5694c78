"""Bodies of requests: a JSON object, read strictly; a packed file, which may hold no more than one that is not."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import zipfile
import zlib
from typing import IO, Any, NoReturn

from flask import request

from api.http.gate import LARGEST_BODY, service
from api.http.problems import HttpProblem
from api.service.uploads.scanner import TooLarge
from tabular.files.zips import BROKEN_ZIP


def json_object() -> dict[str, Any]:
    """The JSON object that the request carries; none at all is an empty one."""
    data = request.get_data(cache=True)
    if not data:
        return {}
    if request.mimetype != "application/json":
        raise HttpProblem(415, "Unsupported media type", "Send JSON, with Content-Type: application/json.")
    try:
        document = json.loads(data, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
        # A half of a pair of surrogates is no text, and cannot be kept or answered.
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise HttpProblem(400, "Invalid input", "The body is not JSON in UTF-8, or has a key twice.") from None
    if not isinstance(document, dict):
        raise HttpProblem(400, "Invalid input", "The body must be a JSON object.")
    return document


def scanned(data: bytes) -> bytes:
    """What somebody sent as a file, if the scanner of the service, where there is one, finds nothing in it."""
    scanner = service().uploads.scanner
    if scanner is not None:
        scanner.check(io.BytesIO(data))
    return data


def refuse_swelling(file: IO[bytes]) -> None:
    """Refuse a packed file that unpacks to more than one request may carry, before it is read in this process."""
    too_large = TooLarge("Unpacked, this file has more than 8 MiB; import it as an upload.")
    # No more is read of a part of a zip file than it says that it has; a broken one is for its reader to refuse.
    with contextlib.suppress(*BROKEN_ZIP), zipfile.ZipFile(file) as parts:
        if sum(each.file_size for each in parts.infolist()) > LARGEST_BODY:
            raise too_large
    file.seek(0)
    left = LARGEST_BODY
    # What is no gzip file, or a broken one, is for its reader to refuse.
    with contextlib.suppress(OSError, EOFError, zlib.error), gzip.GzipFile(fileobj=file) as packed:
        while piece := packed.read(1 << 16):
            left -= len(piece)
            if left < 0:
                raise too_large


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a key twice")
    return document
