"""The outputs that verbs make of documents and texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

from api.verbs.contract import STREAM

if TYPE_CHECKING:
    from tabular.files.disk import Output, Planned


def dictionary_beside(out: str) -> list[Planned]:
    """The data dictionary beside the file *out*; none where that is standard output."""
    from tabular.files.disk import Planned
    from tabular.release import dictionary_path

    return [] if out == STREAM else [Planned("out", str(dictionary_path(out)), what="the data dictionary")]


def json_output(
    path: str, parameter: str, document: Mapping[str, Any], *, private: bool = False, indent: int | None = 2
) -> Output:
    """An output of a JSON document, which gains the id of the release it belongs to."""
    from tabular.files.disk import Output

    def write(file: IO[bytes], release: str) -> None:
        whole = {**document, "release": document.get("release", release)} if release else document
        file.write((json.dumps(whole, ensure_ascii=False, indent=indent) + "\n").encode())

    return Output(path=path, parameter=parameter, write=write, private=private)


def text_output(path: str, parameter: str, text: str, *, private: bool = False) -> Output:
    """An output of a text."""
    from tabular.files.disk import Output

    def write(file: IO[bytes], release: str) -> None:
        file.write(text.encode())

    return Output(path=path, parameter=parameter, write=write, private=private)
