"""`graphpriv table check`: how anonymous a table is as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from api import fail_if as conditions
from api.cli.common import json_option, show_json, show_table
from api.cli.tables.columns import names_in, require_columns
from api.cli.tables.common import TableOptions, table_options
from tabular.attributes import Attribute, Value
from tabular.criteria import check as check_table
from tabular.criteria import criteria, key_of
from tabular.criteria.anonymity import suppressed_rows
from tabular.errors import InvalidInput, InvalidParameter
from tabular.files.disk import STREAM
from tabular.files.reading import read_file
from tabular.labels import text_of
from tabular.table import Table


@click.command()
@click.argument("file")
@click.option("--quasi-identifiers", required=True, metavar="A,B", help="The columns an attacker may know.")
@click.option("--sensitive", metavar="C,D", help="The columns nobody shall learn of a person.")
@click.option("--population", metavar="FILE", help="All the people FILE was drawn from, masked alike.")
@click.option("--fail-if", metavar="EXPR", help="Exit with 4 if it holds: 'k < 5 or t > 0.2'.")
@table_options
@json_option
def check(
    file: str,
    quasi_identifiers: str,
    sensitive: str | None,
    population: str | None,
    fail_if: str | None,
    reading: TableOptions,
    as_json: bool,
) -> int:
    """Say which k, l, t and risks a table has as it stands.

    A label that stands for a set is a value like others. Rows with * in all quasi-identifiers count as suppressed: k,
    l and the risks are those of the rows kept.
    """
    names = names_in("--quasi-identifiers", quasi_identifiers)
    secret = names_in("--sensitive", sensitive) if sensitive is not None else ()
    if fail_if is not None:
        conditions.check_names(fail_if, _sample(names, secret))
    if file == population == STREAM:
        raise InvalidParameter("FILE and --population cannot both come from standard input.")
    table = reading.read(file).table
    require_columns(table, (*names, *secret), file)
    people = None
    if population is not None:
        people = read_file(population, schema=reading.schema).table
        require_columns(people, names, population)
        table, people = alike(table, people, names)
    if not len(table):
        raise InvalidInput(f"{file}: the table has no rows; there is nothing to say of it.")
    out = suppressed_rows(table, names)
    document = check_table(table, names, secret, suppressed=out, population=people).document()
    if as_json:
        show_json(document)
    else:
        _show(document)
    return 4 if fail_if is not None and conditions.holds(fail_if, document) else 0


def alike(table: Table, population: Table, names: Sequence[str]) -> tuple[Table, Table]:
    """Both tables with the quasi-identifiers *names* in common domains, values compared as they are written."""
    columns: list[dict[str, Any]] = [dict(table.columns), {}]
    attributes: list[list[Attribute]] = [[], []]
    for name in names:
        texts = [[text_of(value) for value in each.values(name)] for each in (table, population)]
        domain: tuple[Value, ...] = tuple(sorted({*texts[0], *texts[1]}))
        attribute = Attribute(name=name, domain=domain)
        for place in (0, 1):
            attributes[place].append(attribute)
            columns[place][name] = [attribute.codes[text] for text in texts[place]]
    others = [attribute for attribute in table.attributes if attribute.name not in names]
    sets = {attribute.name: table.sets[attribute.name] for attribute in others}
    return (
        Table((*attributes[0], *others), columns[0], sets),
        Table(tuple(attributes[1]), columns[1]),
    )


def _sample(names: Sequence[str], secret: Sequence[str]) -> dict[str, Any]:
    """What a document of these columns looks like."""
    row = {name: ["x"] for name in (*names, *secret)}
    attributes = [Attribute(name=name, domain=("x",)) for name in row]
    return check_table(Table.from_columns(row, attributes), names, secret).document()


def _show(document: Mapping[str, Any]) -> None:
    sizes, secret = document["class_sizes"], document["sensitive"]
    title = (
        f"{document['rows']} rows, {document['suppressed']} suppressed, {document['classes']} classes of "
        f"{sizes[0][0]} to {sizes[-1][0]} rows"
    )
    shown = [(entry, key_of(entry.name)) for entry in criteria.entries() if secret or not entry.method.of_values]
    rows = [(entry.name, _number(document[key]), entry.method.safer, entry.summary) for entry, key in shown]
    show_table(title, ("criterion", "value", "safer", "what it says"), rows)
    if len(secret) > 1:
        of_values = [(entry, key) for entry, key in shown if entry.method.of_values]
        by_attribute = document["by_attribute"]
        lines = [(entry.name, *(_number(by_attribute[each][key]) for each in secret)) for entry, key in of_values]
        show_table("By sensitive column", ("criterion", *secret), lines)


def _number(value: float | None) -> float | str:
    return "infinite" if value is None else value
