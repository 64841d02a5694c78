"""Performing a verb, whatever the door: everything is checked before it begins, and all files are written or none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from api.verbs.contract import STREAM, Outcome, Verb, Work
from tabular.errors import InvalidInput, InvalidParameter, named

if TYPE_CHECKING:
    from tabular.files.disk import Planned


def perform(verb: Verb, work: Work) -> Outcome:
    """Check, run, and write what is to be written; the document gains the id of what was released."""
    from tabular.compiling import check_cache_folder, compile_time
    from tabular.files.disk import check_outputs, write_outputs

    verb.check()
    planned, reads = verb.planned(), [*verb.reads(), *work.reads]
    _put_right([*reads, *(each.path for each in planned)], work)

    if work.overwrite and not (planned or verb.replaces or verb.writes_later):
        raise InvalidParameter(f"{named('overwrite')} means nothing without an output.")

    def expect(more: Sequence[Planned]) -> None:
        every = [*planned, *more]
        _put_right([each.path for each in more], work)
        work.expect(every)
        check_outputs(every, overwrite=work.overwrite, reads=reads, store=work.store)

    expect([])
    for files in verb.releases():
        _refuse_mix(files)
    check_cache_folder()
    with compile_time.announced(lambda: work.report("Compiling for this machine, once", compile_time.kernels, 0)):
        outcome = verb.run(replace(work, expect=expect))
    if outcome.outputs:
        _put_right([each.path for each in outcome.outputs], work)
        release = write_outputs(outcome.outputs, overwrite=work.overwrite or outcome.replaces_unasked)
        if release is not None:
            outcome = replace(outcome, document={**outcome.document, "release_id": release})
    outcome.afterwards()
    return outcome


def check_plan(verb: Verb, work: Work, path: str) -> None:
    """Refuse to write a plan where a file of the verb or the store stands, or where it cannot be written."""
    from tabular.files.disk import Planned, check_outputs

    files = [*verb.reads(), *(each.path for each in verb.planned())]
    check_outputs([Planned("plan", path)], overwrite=work.overwrite, reads=files, store=work.store)


def _refuse_mix(files: Sequence[str]) -> None:
    """Refuse a release whose dictionary was written with another one: a part of it was replaced, or changed since."""
    from tabular.files.disk import check_release_id, read_text
    from tabular.release import dictionary_path

    beside = dictionary_path(files[0])
    if files[0] == STREAM or not beside.exists() or not all(Path(file).is_file() for file in files):
        return
    try:
        document = json.loads(read_text(beside))
    except ValueError:
        raise InvalidInput(f"{beside}: this is no data dictionary, since it is no JSON.") from None
    if isinstance(document, dict):
        check_release_id(files, document.get("release"), record=beside)


def _put_right(paths: Sequence[str], work: Work) -> None:
    """Finish or undo what a killed run left half done, before anybody reads it or writes beside it."""
    from tabular.files.disk import put_right

    for text in put_right(paths):
        work.note(text)
