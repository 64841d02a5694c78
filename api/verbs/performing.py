"""Performing a verb, whatever the door: everything is checked before it begins, and all files are written or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from api.verbs.contract import STREAM, Outcome, Verb, Work
from tabular.errors import InvalidParameter, named

if TYPE_CHECKING:
    from tabular.files.outputs import Planned


def perform(verb: Verb, work: Work) -> Outcome:
    """Check, run, and write what is to be written; the document gains the id of what was released."""
    from tabular.files.outputs import check_outputs, finish_interrupted, write_outputs

    verb.check()
    planned, reads = verb.planned(), verb.reads()
    # What a killed run left half renamed is finished or undone before anybody reads it or writes beside it.
    for folder in {_folder(path) for path in (*reads, *(str(each.path) for each in planned)) if path != STREAM}:
        finish_interrupted(folder)

    if work.overwrite and not planned and not verb.replaces:
        raise InvalidParameter(f"{named('overwrite')} means nothing without an output.")

    def expect(more: Sequence[Planned]) -> None:
        every = [*planned, *more]
        work.expect(every)
        check_outputs(every, overwrite=work.overwrite, reads=reads, store=work.store)

    expect([])
    outcome = verb.run(replace(work, expect=expect))
    if not outcome.outputs:
        return outcome
    written = write_outputs(outcome.outputs, overwrite=work.overwrite or outcome.replaces)
    if written.release is None:
        return outcome
    return replace(outcome, document={**outcome.document, "release_id": written.release})


def _folder(path: str) -> Path:
    place = Path(path)
    return place if place.is_dir() else place.parent
