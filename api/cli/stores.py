"""The store itself: backup, restore, check."""

from __future__ import annotations

import click

from api.cli.common import (
    json_option,
    may_write,
    note,
    opened,
    overwrite_option,
    refuse_two_documents,
    show_json,
    store_option,
)
from graphpriv.store.copies import check_backup
from tabular.errors import ReportedError
from tabular.files.disk import STREAM


@click.group()
def store() -> None:
    """Back up, restore and check the store."""


@store.command()
@click.argument("file")
@overwrite_option
@store_option
@json_option
def backup(file: str, overwrite: bool, store: str, as_json: bool) -> None:
    """Write all that the store holds to FILE, which any backend can restore."""
    refuse_two_documents(as_json, file=file)
    may_write(file, store, overwrite=overwrite)
    with opened(store) as source:
        source.backup(file, overwrite=overwrite)
    if file == STREAM:
        note("The backup holds originals and mappings.")
        return
    _say({"backup": file}, f"Wrote {file}; it holds originals and mappings.", as_json)


@store.command()
@click.argument("file")
@overwrite_option
@store_option
@json_option
def restore(file: str, overwrite: bool, store: str, as_json: bool) -> None:
    """Put back what FILE holds; a store with graphs in it is replaced only with --overwrite."""
    check_backup(file, into=store)
    with opened(store, create=True) as target:
        target.restore(file, overwrite=overwrite)
        names = [info.name for info in target.graphs()]
    _say({"restored": file, "graphs": names}, f"Restored {len(names)} graphs.", as_json)


@store.command()
@store_option
@json_option
def check(store: str, as_json: bool) -> None:
    """Read the whole store and name what is not sound; exit code 1 where anything is."""
    with opened(store) as source:
        problems = source.check()
    _say({"sound": not problems, "problems": problems}, "\n".join(problems) or "The store is sound.", as_json)
    if problems:
        raise ReportedError(f"The store is not sound; problems found: {len(problems)}.")


def _say(document: dict[str, object], text: str, as_json: bool) -> None:
    if as_json:
        show_json(document)
    else:
        click.echo(text)
