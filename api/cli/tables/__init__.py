"""`graphpriv table …`: the commands on tables, one module a command."""

from __future__ import annotations

import click

from api.cli.tables.check import check
from api.cli.tables.describe import describe
from api.cli.tables.hierarchy import hierarchy
from api.cli.tables.measure import measure
from api.cli.tables.protect import protect


@click.group()
def table() -> None:
    """Describe, protect and measure tables."""


for command in (describe, check, hierarchy, protect, measure):
    table.add_command(command)
