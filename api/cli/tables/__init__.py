"""`graphpriv table …`: the commands on tables, one module a command."""

from __future__ import annotations

import click

from api.cli.tables.check import check
from api.cli.tables.describe import describe
from api.cli.tables.hierarchy import hierarchy
from api.cli.tables.measure import measure
from api.cli.tables.protect import protect
from api.cli.tables.search import search


@click.group()
def table() -> None:
    """Describe, protect and measure tables, and search for the best generalisation."""


for command in (describe, check, hierarchy, protect, measure, search):
    table.add_command(command)
