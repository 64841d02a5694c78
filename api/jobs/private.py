"""The private store: the seed and the personal options of a job, under a random id that stands in their place."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from api.jobs import tables
from api.jobs.tables import moment

_metadata = sa.MetaData()

_entry = sa.Table(
    "private",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    # As text: it may have 128 bits. None once nobody needs it any more.
    sa.Column("seed", sa.Text),
    sa.Column("options", sa.Text, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)


@dataclass(frozen=True)
class Private:
    """What one entry holds."""

    seed: int | None
    options: Mapping[str, Any]


@dataclass(frozen=True)
class PrivateStore:
    """Entries by their ids."""

    engine: sa.Engine

    def create(self) -> None:
        """Make the store where there is none."""
        tables.create(self.engine, _metadata)

    def put(self, seed: int, options: Mapping[str, Any]) -> str:
        """Keep a seed and options; gives their id."""
        id = secrets.token_hex(16)
        with tables.told(), self.engine.begin() as connection:
            row = {"id": id, "seed": str(seed), "options": json.dumps(options), "created": moment(connection)}
            connection.execute(sa.insert(_entry).values(**row))
        return id

    def get(self, id: str) -> Private | None:
        """An entry, or None where it was deleted."""
        with tables.told(), self.engine.connect() as connection:
            row = connection.execute(sa.select(_entry).where(_entry.c.id == id)).one_or_none()
        if row is None:
            return None
        return Private(None if row.seed is None else int(row.seed), json.loads(row.options))

    def forget_seed(self, id: str) -> None:
        """Let go of a seed, since whoever knows it can draw a release again."""
        with tables.told(), self.engine.begin() as connection:
            connection.execute(sa.update(_entry).where(_entry.c.id == id).values(seed=None))

    def remove(self, id: str) -> None:
        """Delete an entry."""
        with tables.told(), self.engine.begin() as connection:
            connection.execute(sa.delete(_entry).where(_entry.c.id == id))

    def older_than(self, seconds: float) -> list[str]:
        """The entries that were made so long ago."""
        with tables.told(), self.engine.connect() as connection:
            return list(
                connection.scalars(sa.select(_entry.c.id).where(_entry.c.created < moment(connection) - seconds))
            )

    def about(self, person: str) -> list[str]:
        """The entries with a personal option of this value."""
        with tables.told(), self.engine.connect() as connection:
            rows = connection.execute(sa.select(_entry.c.id, _entry.c.options)).all()
        return [row.id for row in rows if person in json.loads(row.options).values()]
