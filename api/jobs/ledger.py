"""What stands in the database of each job, and every change of it: the truth about jobs; the engine only runs them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from api.jobs import tables
from api.jobs.records import ENDED, Event, Job, Progress, State, unknown_job
from api.jobs.tables import event, job, moment
from api.verbs.values import meant_at_first

#: How many jobs or events one answer holds unless somebody says otherwise, and at most.
PAGE, MOST = 100, 10_000

#: About how many of the best candidates of a job are remembered.
_REMEMBERED = 1000

_IS_OPEN = job.c.state.not_in(ENDED)


@dataclass(frozen=True)
class Ledger:
    """The rows of all jobs and their events."""

    engine: sa.Engine

    def add(self, connection: sa.Connection, new: Job) -> None:
        """Write down a new job, within a transaction of the caller."""
        row = {name: getattr(new, name) for name in ("id", "account", "verb", "private", "priority", "state")}
        row |= {"options": json.dumps(new.options, ensure_ascii=False), "created": moment(connection)}
        connection.execute(sa.insert(job).values(**row))
        self._note(connection, new.id, "state", {"state": new.state})

    def unfinished(self, connection: sa.Connection, account: str) -> int:
        """How many jobs of an *account* have not ended."""
        mine = sa.select(sa.func.count()).select_from(job).where(job.c.account == account, _IS_OPEN)
        return connection.scalar(mine) or 0

    def get(self, id: str) -> Job:
        """One job."""
        found = self.find(id)
        if found is None:
            raise unknown_job()
        return found

    def find(self, id: str) -> Job | None:
        """One job, or None where there is none."""
        with tables.told(), self.engine.connect() as connection:
            row = connection.execute(sa.select(job).where(job.c.id == id)).one_or_none()
        return None if row is None else _job(row)

    def page(self, *, account: str | None, state: State | None, after: str | None, limit: int) -> Sequence[Job]:
        """The jobs of an *account*, or of all, newest first; *after* is the last one of the page before."""
        asked = sa.select(job).order_by(job.c.created.desc(), job.c.id.desc()).limit(min(limit, MOST))
        if account is not None:
            asked = asked.where(job.c.account == account)
        if state is not None:
            asked = asked.where(job.c.state == state)
        if after is not None:
            last = sa.select(job.c.created).where(job.c.id == after).scalar_subquery()
            asked = asked.where(sa.tuple_(job.c.created, job.c.id) < sa.tuple_(last, sa.literal(after)))
        with tables.told(), self.engine.connect() as connection:
            return [_job(row) for row in connection.execute(asked)]

    def events(self, after: Mapping[str, int], *, limit: int = PAGE) -> Sequence[Event]:
        """The events of some jobs: for each id those after a number, in their order."""
        if not after:
            return []
        newer = [sa.and_(event.c.job == id, event.c.number > number) for id, number in after.items()]
        asked = sa.select(event).where(sa.or_(*newer)).order_by(event.c.job, event.c.number).limit(limit)
        with tables.told(), self.engine.connect() as connection:
            return [
                Event(row.job, row.number, row.at, row.kind, json.loads(row.data)) for row in connection.execute(asked)
            ]

    def begin(self, id: str, attempt: str, *, if_: sa.ColumnElement[bool]) -> Job | None:
        """Begin a job, or begin it again, as an *attempt* that displaces all before.

        None where it has ended, or where the condition *if_* does not hold.
        """
        with tables.told(), self.engine.begin() as connection:
            now = moment(connection)
            begun = {"attempt": attempt, "attempts": job.c.attempts + 1, "state": "running"}
            begun["began"] = sa.func.coalesce(job.c.began, now)
            change = sa.update(job).where(job.c.id == id, _IS_OPEN, if_).values(**begun)
            row = connection.execute(change.returning(job)).one_or_none()
            if row is None:
                return None
            if row.attempts == 1:
                self._note(connection, id, "state", {"state": "running"})
        return _job(row)

    def tell(self, id: str, attempt: str, progress: Progress) -> None:
        """How far an *attempt* is; of one that was displaced nothing is told."""
        self._tell(id, attempt, "progress", progress.document)

    def tell_best(self, id: str, attempt: str, best: Mapping[str, Any]) -> None:
        """The best candidate that an *attempt* has found so far."""
        self._tell(id, attempt, "best", best)

    def _tell(self, id: str, attempt: str, kind: str, data: Mapping[str, Any]) -> None:
        with tables.told(), self.engine.begin() as connection:
            mine = sa.update(job).where(job.c.id == id, job.c.attempt == attempt, _IS_OPEN)
            if connection.execute(mine.values(**{kind: json.dumps(data)})).rowcount == 0:
                return
            # A late listener needs only the last progress, but all of how the best came about; some figures tell that.
            number = self._note(connection, id, kind, data)
            stale = number - (_REMEMBERED if kind == "best" and "history" not in data else 1)
            connection.execute(sa.delete(event).where(event.c.job == id, event.c.kind == kind, event.c.number <= stale))

    def lost(self, known: sa.Select[tuple[str]]) -> set[str]:
        """The jobs that have not ended and are none of those *known* to the engine."""
        with tables.told(), self.engine.connect() as connection:
            return set(connection.scalars(sa.select(job.c.id).where(_IS_OPEN, job.c.id.not_in(known))))

    def lock_lost(self, connection: sa.Connection, id: str, known: sa.Select[tuple[str]]) -> Job | None:
        """A job that is lost, locked until the end of a transaction of the caller; None where it is not lost."""
        connection.execute(sa.update(job).where(job.c.id == id).values(version=job.c.version))
        asked = sa.select(job).where(job.c.id == id, _IS_OPEN, job.c.id.not_in(known))
        row = connection.execute(asked).one_or_none()
        return None if row is None else _job(row)

    def held(self, attempts: Iterable[str]) -> dict[str, bool]:
        """Those of some *attempts* that were not displaced, and whether their jobs are to be cancelled."""
        asked = sa.select(job.c.attempt, job.c.cancelling).where(job.c.attempt.in_(list(attempts)), _IS_OPEN)
        with tables.told(), self.engine.connect() as connection:
            return {row.attempt: row.cancelling for row in connection.execute(asked)}

    def is_of(self, id: str, attempt: str) -> bool:
        """Whether a job that has not ended is in the hands of an *attempt*."""
        asked = sa.select(job.c.id).where(job.c.id == id, job.c.attempt == attempt, _IS_OPEN)
        with tables.told(), self.engine.connect() as connection:
            return connection.scalar(asked) is not None

    def end(self, id: str, attempt: str | None, state: State, error: str | None = None) -> bool:
        """End a job that is in the hands of an *attempt*; whether this call has ended it."""
        with tables.told(), self.engine.begin() as connection:
            mine = sa.update(job).where(job.c.id == id, _IS_OPEN)
            if attempt is not None:
                mine = mine.where(job.c.attempt == attempt)
            ended = mine.values(state=state, error=error, ended=moment(connection), progress=None)
            if connection.execute(ended).rowcount == 0:
                return False
            connection.execute(sa.delete(event).where(event.c.job == id, event.c.kind == "progress"))
            self._note(connection, id, "state", {"state": state, **({"error": error} if error else {})})
        return True

    def cancel(self, id: str) -> bool:
        """Cancel a job that waits, and ask for the end of one that runs; whether it is cancelled by now."""
        with tables.told(), self.engine.begin() as connection:
            asked = sa.update(job).where(job.c.id == id, _IS_OPEN, sa.not_(job.c.cancelling)).values(cancelling=True)
            row = connection.execute(asked.returning(job.c.state)).one_or_none()
            if row is None or row.state != "queued":
                return False
            connection.execute(sa.update(job).where(job.c.id == id).values(state="cancelled", ended=moment(connection)))
            self._note(connection, id, "state", {"state": "cancelled"})
        return True

    def remove(self, connection: sa.Connection, id: str) -> None:
        """Take a job and its events out, within a transaction of the caller."""
        connection.execute(sa.delete(event).where(event.c.job == id))
        connection.execute(sa.delete(job).where(job.c.id == id))

    def ended_before(self, seconds: float) -> Sequence[str]:
        """The jobs that have ended so long ago."""
        with tables.told(), self.engine.connect() as connection:
            is_old = job.c.ended < moment(connection) - seconds
            return connection.scalars(sa.select(job.c.id).where(is_old, job.c.state.in_(ENDED))).all()

    def with_private(self, entries: Iterable[str]) -> Sequence[str]:
        """The jobs of some private entries."""
        asked = sa.select(job.c.id).where(job.c.private.in_(list(entries)))
        with tables.told(), self.engine.connect() as connection:
            return connection.scalars(asked).all()

    def mentioning(self, texts: Iterable[str]) -> Sequence[Job]:
        """The jobs whose options hold one of the *texts* somewhere, newest first."""
        written = [json.dumps(text, ensure_ascii=False)[1:-1] for text in texts]
        asked = sa.select(job).where(
            sa.or_(sa.false(), *(job.c.options.contains(each, autoescape=True) for each in written))
        )
        with tables.told(), self.engine.connect() as connection:
            return [_job(row) for row in connection.execute(asked.order_by(job.c.created.desc()))]

    def privates(self) -> set[str]:
        """The private entries of all jobs."""
        with tables.told(), self.engine.connect() as connection:
            return set(connection.scalars(sa.select(job.c.private)))

    def counts(self) -> dict[str, int]:
        """How many jobs there are in each state."""
        asked = sa.select(job.c.state, sa.func.count()).group_by(job.c.state)
        with tables.told(), self.engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(asked)}

    def _note(self, connection: sa.Connection, id: str, kind: str, data: Mapping[str, Any]) -> int:
        """Write an event and give its number; it locks the row of the job, so that numbers follow their order."""
        counted = sa.update(job).where(job.c.id == id).values(version=job.c.version + 1).returning(job.c.version)
        number = connection.execute(counted).scalar_one()
        written = {"job": id, "number": number, "at": moment(connection), "kind": kind, "data": json.dumps(data)}
        connection.execute(sa.insert(event).values(**written))
        return int(number)


def _job(row: Any) -> Job:
    same = ("id", "account", "verb", "private", "priority", "state", "created", "began", "ended", "attempts", "error",
            "version")  # fmt: skip
    return Job(
        **{name: getattr(row, name) for name in same},
        options={**meant_at_first(row.verb), **json.loads(row.options)},
        is_cancelling=bool(row.cancelling),
        progress=Progress(**json.loads(row.progress)) if row.progress else None,
        best=json.loads(row.best) if row.best else None,
    )
