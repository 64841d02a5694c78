"""The store on a Neo4j server: imports under a key of their own, which take the name when all of it is there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import neo4j as driver
import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.release import Release
from graphpriv.store.addresses import ServerAddress
from graphpriv.store.assembly import Parts, Profiles, mapping_of
from graphpriv.store.contract import Store
from graphpriv.store.neo4j import additions, heads, imports, inspection, reading, schema
from graphpriv.store.neo4j.driver import Connection
from graphpriv.store.neo4j.staging import Staged, Staging
from graphpriv.store.records import (
    Added,
    Copy,
    Forgotten,
    GraphInfo,
    Post,
    Run,
    Unsettled,
    User,
    changed,
    refuse_newer,
)
from graphpriv.store.soundness import (
    count_problems,
    place_problems,
    sound_copy,
    sound_release,
)
from graphpriv.store.working import first_usable, working_folder
from tabular.errors import InvalidInput, named
from tabular.files.disk import STREAM, refuse_existing

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
        self._read, self._write = self._connection.read, self._connection.write
        self._staging = Staging(self._connection, lease)
        try:
            self._prepare(create=create)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, *, create: bool) -> None:
        wanted = len(schema.STEPS)
        present = self._read(schema.version)
        refuse_newer(present, wanted, self.address)
        if not present and not create:
            raise InvalidInput(
                f"{self.address}: there is no graphpriv store here; `graphpriv graph import` makes one, "
                f"or name another by {named('store')} or GRAPHPRIV_STORE."
            )
        if present == wanted:
            return
        for constraint in schema.CONSTRAINTS:
            self._write(partial(schema.ask, query=constraint))

        def migrate(tx: driver.ManagedTransaction) -> None:
            schema.lock_store(tx)
            schema.migrate(tx, schema.version(tx), wanted)

        self._write(migrate)

    def close(self) -> None:
        self._connection.close()

    def graphs(self) -> list[GraphInfo]:
        return self._read(heads.infos)

    def _keep(self, name: str, graph: SocialGraph, overwrite: bool) -> None:
        with self._staging.begun() as key:
            self._staging.send_graph(key, graph)
            self._staging.publish([Staged(key, name)], overwrite=overwrite)
        self._staging.sweep()

    def load_graph(self, name: str) -> SocialGraph:
        return self._settled(partial(self._head, name), self._parts, name).assemble()

    def revision(self, name: str) -> str:
        return self._head(name).moment

    def load_pair(self, original: str, release: str) -> tuple[SocialGraph, SocialGraph, NDArray[np.int64]]:
        def both() -> tuple[heads.Head, heads.Head]:
            self._read(lambda tx: heads.release_of(tx, original, release))
            return self._head(original), self._head(release)

        def read(found: tuple[heads.Head, heads.Head]) -> tuple[Parts, Parts, schema.Rows]:
            matches = self._read(partial(reading.matches, key=found[1].key))
            return self._parts(found[0]), self._parts(found[1]), matches

        source, made, matches = self._settled(both, read, original)
        return source.assemble(), made.assemble(), mapping_of(source.numbers, matches)

    def _parts(self, head: heads.Head) -> Parts:
        return self._read(partial(reading.parts_of, head=head))

    def _settled(self, look: Callable[[], H], read: Callable[[H], T], name: str) -> T:
        for _ in range(_READINGS):
            before = look()
            found = read(before)
            # What one transaction reads page by page, others may change in between.
            if look() == before:
                return found
        raise Unsettled(self.address, f"graph {name!r}")

    def delete_graph(self, name: str) -> None:
        def delete(tx: driver.ManagedTransaction) -> None:
            schema.lock_store(tx)
            imports.take_name(tx, heads.known(tx, name).key)

        self._write(delete)
        self._staging.sweep()

    def _add(self, kind: str, name: str, records: Sequence[Any]) -> Added:
        return self._write(lambda tx: additions.ADD[kind](tx, heads.original(tx, name, lock=True), records))

    def users(self, name: str) -> Iterator[User]:
        head = self._head(name)
        profiles = self._read(lambda tx: Profiles(reading.places(tx, head.key), reading.topics(tx, head.key)))
        for low in range(0, head.numbers, schema.BATCH):
            for row in self._page(head, partial(reading.users, key=head.key, low=low, high=low + schema.BATCH)):
                yield profiles.user(row[1], row[2], row[3], row[4:7])

    def posts(self, name: str) -> Iterator[Post]:
        head, last = self._head(name), -1
        while page := self._page(head, partial(reading.posts, key=head.key, after=last)):
            yield from (post for _, post in page)
            last = page[-1][0]

    def _page(self, head: heads.Head, read: Callable[[driver.ManagedTransaction], list[T]]) -> list[T]:
        """A page read from a graph, or an error if the graph changed meanwhile."""
        page, now = self._read(lambda tx: (read(tx), heads.head_of(tx, str(head.name))))
        if now != head:
            raise Unsettled(self.address, f"graph {head.name!r}")
        return page

    def _keep_release(
        self, original: str, name: str, made: Release, seed: int | None, run: Run, revision: str | None, overwrite: bool
    ) -> None:
        source = self._read(partial(heads.original, name=original))
        if revision is not None and revision != source.moment:
            raise changed(original)
        numbers = self._read(partial(reading.numbers_of, key=source.key))
        sound_release(made, len(numbers), original)
        with self._staging.begun() as key:
            self._staging.send_release(key, made, source.key, numbers, seed)
            staged = Staged(key, name, source.key, (run,))
            self._staging.publish([staged], overwrite=overwrite, unchanged=source)
        self._staging.sweep()

    def mapping(self, original: str, release: str) -> NDArray[np.int64]:
        def read(tx: driver.ManagedTransaction) -> NDArray[np.int64]:
            source, key = heads.release_of(tx, original, release)
            return mapping_of(reading.numbers_of(tx, source), reading.matches(tx, key))

        return self._read(read)

    def seed(self, original: str, release: str) -> int | None:
        return self._read(lambda tx: reading.seed(tx, heads.release_of(tx, original, release)[1]))

    def add_run(self, name: str, run: Run) -> None:
        self._write(lambda tx: reading.add_run(tx, heads.known(tx, name).key, run))

    def runs(self, name: str, *, with_releases: bool = True) -> list[Run]:
        def read(tx: driver.ManagedTransaction) -> list[Run]:
            key = heads.known(tx, name).key
            made = [head.key for head in heads.heads(tx) if with_releases and head.original == key]
            return reading.runs(tx, [key, *made])

        return self._read(read)

    def forget(self, name: str, user: str) -> Forgotten:
        return self._write(lambda tx: additions.forget(tx, heads.original(tx, name, lock=True), user))

    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        from graphpriv.store.sqlite.store import SqliteStore

        refuse_existing(path, overwrite=overwrite)
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
                copy.take(self._copies(self._read), overwrite=True)
                return

        def while_nobody_writes(tx: driver.ManagedTransaction) -> None:
            heads.lock_all(tx)
            copy.take(self._copies(lambda work: work(tx)), overwrite=True)

        self._write(while_nobody_writes)

    def _copies(self, read: Callable[[Callable[[driver.ManagedTransaction], Any]], Any]) -> Iterator[Copy]:
        """All there is, originals before their releases, as long as nothing changes."""
        before = read(heads.state)
        numbers: dict[str, NDArray[np.int64]] = {}
        names = {head.key: head.name for head in before[0]}
        for head in sorted(before[0], key=lambda each: each.k is not None):
            parts, posts, runs, matches, seed = read(partial(reading.all_of, head=head))
            if read(heads.state) != before:
                raise Unsettled(self.address, "the store")
            numbers[head.key] = parts.numbers
            linked = head.original in names
            yield Copy(
                info=head.info(names.get(head.original or "")),
                graph=parts.assemble(),
                posts=posts,
                runs=runs,
                mapping=mapping_of(numbers[str(head.original)], matches) if linked else None,
                seed=seed if linked else None,
            )

    def take(self, copies: Iterable[Copy], *, overwrite: bool = False) -> None:
        staged: list[Staged] = []
        keys: dict[str, str] = {}
        with contextlib.ExitStack() as begun:
            for copy in map(sound_copy, copies):
                key = keys[copy.info.name] = begun.enter_context(self._staging.begun())
                original = keys.get(copy.info.original or "")
                self._staging.send_copy(key, copy, original, waiting=[each.key for each in staged])
                staged.append(Staged(key, copy.info.name, original, copy.runs))
            self._staging.publish(staged, overwrite=overwrite, alone=True)
        self._staging.sweep()

    def check(self) -> list[str]:
        self._staging.sweep()
        problems = self._read(inspection.orphans)
        for name in [str(head.name) for head in self._read(heads.heads)]:
            look = partial(self._read, partial(heads.head_of, name=name))
            found = self._settled(look, self._problems, name)
            problems += [f"Graph {name!r}: {problem}" for problem in found]
        return problems

    def _problems(self, head: heads.Head | None) -> list[str]:
        if head is None:
            return []
        users, edges = self._read(partial(imports.counted, key=head.key))
        found = count_problems([("users", users, head.users), ("follows", edges, head.edges)])
        found += self._read(partial(inspection.wrong_counts, head=head))
        return found + place_problems(self._read(partial(reading.places, key=head.key)))

    def _head(self, name: str) -> heads.Head:
        return self._read(partial(heads.known, name=name))
