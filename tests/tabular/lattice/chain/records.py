"""The private record of a history by itself, as a release writes it beside other things."""

from __future__ import annotations

import json
from pathlib import Path

from tabular.files.disk import write_text
from tabular.lattice.chain.history import HISTORY, History, document_of
from tabular.release import version


def write_history(path: str | Path, history: History, *, overwrite: bool = False) -> None:
    """Write the record of a *history*, for its owner's eyes alone."""
    document = {
        "private": "Who has this file can undo the releases. Keep it apart from them.",
        "version": version(),
        HISTORY: document_of(history),
    }
    write_text(path, json.dumps(document, ensure_ascii=False) + "\n", overwrite=overwrite, private=True)
