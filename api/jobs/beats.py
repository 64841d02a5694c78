"""Beats: a worker that is alive says so, and the jobs of one that is silent go to whoever notices first."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from api.jobs import tables
from api.jobs.tables import beat, moment

#: A worker is forgotten after so many times the silence.
_FORGOTTEN = 100


@dataclass(frozen=True)
class Beats:
    """When each worker has last said that it is alive, by the clock of the database."""

    engine: sa.Engine
    #: How long a worker may be silent, in seconds.
    silence: float

    def beat(self, executor: str) -> None:
        """Say that a worker is alive."""
        with tables.told(), self.engine.begin() as connection:
            now = moment(connection)
            if connection.execute(sa.update(beat).where(beat.c.executor == executor).values(at=now)).rowcount == 0:
                connection.execute(sa.insert(beat).values(executor=executor, at=now))
            connection.execute(sa.delete(beat).where(beat.c.at < now - _FORGOTTEN * self.silence))

    def leave(self, executor: str) -> None:
        """Say that a worker is going: its jobs are free at once."""
        with tables.told(), self.engine.begin() as connection:
            connection.execute(sa.delete(beat).where(beat.c.executor == executor))

    def alive(self) -> set[str]:
        """The workers that are not silent."""
        with tables.told(), self.engine.connect() as connection:
            lately = beat.c.at >= moment(connection) - self.silence
            return set(connection.scalars(sa.select(beat.c.executor).where(lately)))
