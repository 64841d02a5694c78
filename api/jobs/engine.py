"""The engine that brings jobs to workers: dbos, and what it takes to rely on it.

dbos knows only the id and the account of a job: it queues the id, gives it to one worker and keeps the results of its
steps. The ledger has everything else. Only this module touches the insides of dbos.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, NoReturn

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer
from dbos import _serialization as serialization

from api.jobs.records import Settings

NAME = "graphpriv"
QUEUE = "jobs"
WORKFLOW = "job"

#: To be changed when new workers cannot continue the jobs of old ones. By default dbos uses a hash of the code.
VERSION = "1"

_UNDER_WAY = ("ENQUEUED", "PENDING", "DELAYED")

#: How often a worker looks for jobs, in seconds.
_POLLING = 0.2


def refuse_pickles() -> None:
    """Take its default serializer away from dbos.

    A row in its tables names the serializer that reads it. Even with another one set, anybody who can write the table
    could name pickle and so run code in a worker.
    """

    def refuse(*_: Any) -> NoReturn:
        raise TypeError("Jobs are kept as JSON alone.")

    for method in ("serialize", "deserialize"):
        setattr(serialization.DefaultSerializer, method, refuse)


def prepare(settings: Settings) -> None:
    """Make the tables of dbos, and the queue; several processes may do so at once."""
    refuse_pickles()
    quiet()
    DBOS.migrate(settings.address)


def client(settings: Settings, engine: sa.Engine, *, is_worker: bool = False) -> DBOSClient:
    """What dbos is asked by; it runs nothing. The limits of the queue are those that the last worker came with."""
    refuse_pickles()
    quiet()
    made = DBOSClient(
        system_database_engine=engine, serializer=DBOSPortableJSONSerializer(), application_name=NAME, lazy=True,
        retry_connection_errors=False,
    )  # fmt: skip
    made.register_queue(
        QUEUE,
        worker_concurrency=settings.at_once,
        partition_concurrency=settings.per_account,
        polling_interval_sec=_POLLING,
        on_conflict="always_update" if is_worker else "never_update",
    )
    return made


def enqueue(made: DBOSClient, connection: sa.Connection, id: str, *, account: str, priority: int) -> None:
    """Queue a job within a transaction of the caller; of one account so many run at once as the queue says."""
    made.enqueue_in_transaction(
        connection,
        {
            "workflow_name": WORKFLOW,
            "queue_name": QUEUE,
            "workflow_id": id,
            "app_version": VERSION,
            "priority": priority,
            "queue_partition_key": account,
        },
        id,
    )
    # On SQLite dbos writes whole seconds, which leaves the order of jobs within a second to chance.
    row = made._sys_db.tables.workflow_status
    connection.execute(sa.update(row).where(row.c.workflow_uuid == id).values(created_at=time.time_ns() // 10**6))


def launch(settings: Settings, engine: sa.Engine, executor: str, work: Callable[[str], None]) -> DBOS:
    """Take jobs from the queue from now on, and do *work* for the id of each."""
    refuse_pickles()
    quiet()
    launched = DBOS(
        config={
            "name": NAME,
            "system_database_url": settings.address,
            "system_database_engine": engine,
            "serializer": DBOSPortableJSONSerializer(),
            "executor_id": executor,
            "application_version": VERSION,
            "log_level": "CRITICAL",
            "run_migrations": False,
        }
    )

    @DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)
    def perform(id: str) -> None:
        work(id)

    DBOS.listen_queues([QUEUE])
    DBOS.launch()
    quiet()
    return launched


def step(name: str, function: Callable[[], Any]) -> Any:
    """What *function* gives, or has given if this job was begun before and came past this step; it is kept as JSON."""
    return DBOS.run_step({"name": name}, function)


def take_no_more(launched: DBOS) -> None:
    """Take no further jobs from now on, and wait for nothing."""
    for stop in launched.background_thread_stop_events:
        stop.set()


def held_by(engine: sa.Engine, id: str, executor: str) -> sa.ColumnElement[bool]:
    """The condition that a worker has a job in hand, for a statement on the same database."""
    row = _rows(engine)
    mine = sa.select(row.c.workflow_uuid).where(
        row.c.workflow_uuid == id, row.c.status == "PENDING", row.c.executor_id == executor
    )
    return sa.exists(mine)


def _rows(engine: sa.Engine) -> sa.TableClause:
    """The table in which dbos has what it was given to do."""
    schema = None if engine.dialect.name == "sqlite" else "dbos"
    columns: list[sa.ColumnClause[str]] = [sa.column(name) for name in ("workflow_uuid", "status", "executor_id")]
    return sa.table("workflow_status", *columns, schema=schema)


def known(engine: sa.Engine) -> sa.Select[tuple[str]]:
    """The jobs that wait in the queue or that some worker has in hand, for a statement on the same database."""
    row = _rows(engine)
    return sa.select(row.c.workflow_uuid).where(row.c.status.in_(_UNDER_WAY))


def forget(made: DBOSClient, connection: sa.Connection, id: str) -> None:
    """Let dbos know nothing of a job, within a transaction of the caller."""
    made._sys_db._apply_caller_schema(connection)
    held = made._sys_db.tables
    for table in (held.workflow_input, held.workflow_output, held.operation_outputs, held.workflow_status):
        connection.execute(sa.delete(table).where(table.c.workflow_uuid == id))


def in_hand() -> dict[str, str]:
    """The jobs that some worker has taken and not ended, and which worker that is."""
    taken = DBOS.list_workflows(status="PENDING", name=WORKFLOW, load_input=False, load_output=False)
    return {each.workflow_id: each.executor_id or "" for each in taken}


def requeue(launched: DBOS, id: str, executor: str) -> bool:
    """Queue a job again that is still in the hand of one worker; whether this call has done it.

    It is one statement with the name of the worker in it: of two that take a job over at once, one does.
    """
    return launched._sys_db.reenqueue_for_recovery(id, [executor], QUEUE)


def quiet() -> None:
    """Keep dbos from logging: it logs errors with their texts, and a text may hold what belongs to a person."""
    for name in ("dbos", "dbos.logger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def cancel(made: DBOSClient, id: str) -> None:
    """Take a job out of the queue."""
    made.cancel_workflow(id)


def active(launched: DBOS) -> list[str]:
    """The jobs that a thread of this worker has begun and not ended."""
    return launched._active_workflows_set.activeList()
