"""The store on a Neo4j server: imports under a key of their own, which take the name when all of it is there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import neo4j as driver
import numpy as np
from numpy.typing import NDArray

from graphpriv.store.addresses import ServerAddress
from graphpriv.store.contract import Store
from graphpriv.store.copies import first_usable
from graphpriv.store.neo4j import schema
from graphpriv.store.neo4j.driver import Connection
from graphpriv.store.neo4j.staging import Staged, Staging
from graphpriv.store.neo4j.transaction import ServerTransaction
from graphpriv.store.reading import UNREADABLE, Source
from graphpriv.store.records import Copy, Forgotten, Unsettled, changed, refuse_newer
from graphpriv.store.statements import Key
from graphpriv.store.transaction import Transaction
from tabular.errors import InvalidInput, named
from tabular.files.disk import STREAM, refuse_existing
from tabular.files.working import working_folder

if TYPE_CHECKING:
    from graphpriv.store.sqlite.store import SqliteStore

T = TypeVar("T")
H = TypeVar("H")

#: For how many seconds an import is left alone that gives no sign of life.
LEASE = 120.0

#: How often a graph is read anew that others change while it is being read.
_READINGS = 5


class Neo4jStore(Store):
    """Graphs on a server: readers see whole states, and imports wait for each other with the last step only."""

    def __init__(self, address: ServerAddress, *, create: bool, lease: float = LEASE) -> None:
        self.address = address.shown
        self._connection = Connection(address)
        self._staging = Staging(self._connection, lease)
        try:
            self._prepare(create=create)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, *, create: bool) -> None:
        wanted = len(schema.STEPS)
        present = self._connection.read(schema.version)
        refuse_newer(present, wanted, self.address)
        if not present and not create:
            raise InvalidInput(
                f"{self.address}: there is no graphpriv store here; `graphpriv graph import` makes one, "
                f"or name another with {named('store')} or GRAPHPRIV_STORE."
            )
        if present == wanted:
            return
        for constraint in schema.CONSTRAINTS:
            self._connection.write(partial(schema.ask, query=constraint))

        def migrate(tx: driver.ManagedTransaction) -> None:
            schema.lock_store(tx)
            schema.migrate(tx, schema.version(tx), wanted)

        self._connection.write(migrate)

    def close(self) -> None:
        self._connection.close()

    def _read(self, work: Callable[[ServerTransaction], T]) -> T:
        return self._connection.read(lambda tx: work(ServerTransaction(tx)))

    def _write(self, work: Callable[[ServerTransaction], T]) -> T:
        return self._connection.write(lambda tx: work(ServerTransaction(tx)))

    def _settled(self, look: Callable[[Transaction], H], read: Callable[[Transaction, H], T], name: str) -> T:
        def read_between() -> tuple[H, T, H]:
            before = self._read(look)
            return before, self._read(lambda at: read(at, before)), self._read(look)

        for _ in range(_READINGS):
            before, found, after = read_between()
            # What one transaction reads page by page, others may change in between.
            if before == after:
                return found
        raise Unsettled(self.address, f"graph {name!r}")

    def _clean(self) -> None:
        self._staging.sweep()

    def _put(
        self,
        copies: Iterable[Copy],
        *,
        overwrite: bool,
        source: Source | None = None,
        alone: bool = False,
        secret: bytes | None = None,
    ) -> None:
        # Of each graph that a release may be of, its key and the numbers of its users.
        known: dict[str | None, tuple[Key, NDArray[np.int64]]] = {}
        if source is not None:
            head = source.head
            known[head.name] = head.key, self._read(lambda at: at.numbers(head.key))
            if len(known[head.name][1]) != head.users:
                raise changed(head.name)
        staged: list[Staged] = []
        with contextlib.ExitStack() as begun:
            for copy in copies:
                key = begun.enter_context(self._staging.begun())
                original = known.get(copy.info.original)
                known[copy.info.name] = key, np.arange(len(copy.graph))
                self._staging.send(key, copy, original, waiting=[each.key for each in staged])
                staged.append(Staged(key, copy.info.name, original and original[0], copy.runs))
            self._staging.publish(staged, overwrite=overwrite, unchanged=source, alone=alone, secret=secret)
        self._clean()

    def forget(self, name: str, user: str) -> Forgotten:
        gone = super().forget(name, user)
        self._clean()
        return gone

    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        from graphpriv.store.sqlite.store import SqliteStore

        refuse_existing(path, overwrite=overwrite)
        self.expire()
        self.refuse_changed_content()
        places = [] if str(path) == STREAM else [Path(path).absolute().parent]
        with (
            working_folder(first_usable(*places)) as folder,
            SqliteStore(folder / "copy.db", create=True, called=str(path)) as copy,
        ):
            self._copy_into(copy)
            copy.backup(path, overwrite=overwrite)

    def _copy_into(self, copy: SqliteStore) -> None:
        """Fill a store with what there is at one moment."""
        for _ in range(_READINGS):
            with contextlib.suppress(Unsettled):
                copy.take(self.copies(), secret=self.secret(), overwrite=True)
                return

        def while_nobody_writes(at: ServerTransaction) -> None:
            at.lock_all()
            copy.take(self.copies(lambda work: work(at)), secret=at.secret(), overwrite=True)

        self._write(while_nobody_writes)

    def check(self) -> list[str]:
        try:
            return self._checked()
        except UNREADABLE:
            return [f"{self.address}: records are not as they were made; restore a backup."]

    def _checked(self) -> list[str]:
        self.expire()
        self._clean()
        self.seal()
        problems = self._read(lambda at: [*at.orphans(), *at.problems_of_secret()])
        for name in [head.name for head in self._read(lambda at: at.heads())]:
            problems += self._problems(name)
        return problems

    def _problems(self, name: str) -> list[str]:
        return self._settled(
            lambda at: at.standing(name), lambda at, there: at.problems(there[0]) if there[0] else [], name
        )
