"""`graphpriv table hierarchy`: the hierarchy of a column as a file."""

from __future__ import annotations

import json
from typing import Any

import click

from api.cli.common import (
    json_option,
    may_write,
    overwrite_option,
    param_option,
    parameters_of,
    refuse_two_documents,
    show_json,
)
from api.cli.tables.common import TableOptions, table_options
from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter
from tabular.files.disk import STREAM, read_text
from tabular.hierarchies import build, hierarchies, read_hierarchy, write_hierarchy
from tabular.hierarchy import Hierarchy


@click.command()
@click.argument("file")
@click.option("--column", required=True, metavar="A", help="The column whose values are generalised.")
@click.option("--kind", required=True, type=click.Choice(list(hierarchies)), help="What the hierarchy is made of.")
@click.option("--out", required=True, metavar="FILE", help="The CSV, one row a value, one column a level; - is stdout.")
@param_option
@overwrite_option
@table_options
@json_option
def hierarchy(
    file: str,
    column: str,
    kind: str,
    out: str,
    params: tuple[str, ...],
    overwrite: bool,
    reading: TableOptions,
    as_json: bool,
) -> None:
    """Write the hierarchy of a column: from each value to one label for all, level by level.

    The kinds csv and places take --param file=FILE: a hierarchy to check and to cut to the values of the column, or
    JSON with the places above each value.
    """
    refuse_two_documents(as_json, out=out)
    may_write(out, "", overwrite=overwrite)
    attribute = reading.read(file).table.attribute(column)
    made = _built(attribute, kind, params)
    write_hierarchy(out, made, overwrite=overwrite)
    document = {
        "hierarchy": out,
        "column": column,
        "kind": kind,
        "values": len(made.domain),
        "levels": [{"level": number, "labels": len(level.labels)} for number, level in enumerate(made.levels)],
    }
    if as_json:
        show_json(document)
    elif out != STREAM:
        sizes = " > ".join(str(len(level.labels)) for level in made.levels)
        click.echo(f"Wrote {out}: {len(made.domain)} values of {column}, levels 0 to {made.height} of {sizes} labels.")


def _built(attribute: Attribute, kind: str, params: tuple[str, ...]) -> Hierarchy:
    if kind not in ("csv", "places"):
        return build(attribute, kind, **parameters_of(hierarchies[kind], params))
    path = params[0].removeprefix("file=") if len(params) == 1 and params[0].startswith("file=") else ""
    if not path:
        raise InvalidParameter(f"--kind {kind} takes one parameter, --param file=FILE.")
    if kind == "csv":
        return read_hierarchy(path, attribute)
    try:
        paths: Any = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: this is no JSON: {error}.") from None
    return build(attribute, kind, paths=paths)
