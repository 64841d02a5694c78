"""Imports into a Neo4j server: parts sent under a key that nobody reads until it takes a name, and cleaning up."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import LiteralString
from uuid import uuid4

import numpy as np
from neo4j import ManagedTransaction
from numpy.typing import NDArray

from graphpriv.graph import PRIVATE
from graphpriv.store.assembly import or_none
from graphpriv.store.neo4j import schema
from graphpriv.store.neo4j.driver import Connection
from graphpriv.store.neo4j.schema import ask
from graphpriv.store.neo4j.transaction import PUT, ServerTransaction, homes, interests
from graphpriv.store.reading import Source
from graphpriv.store.records import Copy, Run, emptied, taken, written
from graphpriv.store.seals import sealed, sealed_links_back, sealed_records
from graphpriv.store.statements import Key
from graphpriv.store.summary import PIECES
from tabular.errors import ReportedError, StoreUnavailable


@dataclass(frozen=True)
class Staged:
    """A graph that was sent and waits for its name."""

    key: str
    name: str
    original: Key | None = None
    runs: tuple[Run, ...] = ()


class Staging:
    """Imports over one connection; each shows signs of life, and is given up when they stay away for the *lease*."""

    def __init__(self, connection: Connection, lease: float) -> None:
        self._connection = connection
        self._lease = int(lease * 1000)

    @contextlib.contextmanager
    def begun(self) -> Iterator[str]:
        """The key of an import, which is given up if the block fails."""
        key = uuid4().hex
        try:
            yield key
        except BaseException:
            # The server may be gone: then the lease runs out, and the next one cleans up.
            with contextlib.suppress(ReportedError):
                self._connection.write(partial(give_up, key=key))
                self.sweep()
            raise

    def send(
        self,
        key: str,
        copy: Copy,
        original: tuple[Key, NDArray[np.int64]] | None = None,
        waiting: Sequence[str] = (),
    ) -> None:
        """Send a graph with all that belongs to it; imports that are *waiting* live on meanwhile.

        Of the *original* of a release it takes the key and the numbers of the users.
        """
        info = copy.info
        head: dict[str, object] = {
            "key": key,
            "directed": info.directed,
            "private": [column for column in PRIVATE if column in copy.graph.private],
            "users": info.users,
            "edges": info.edges,
            "forgotten": 0,
            "posts": len(copy.posts),
            "revision": 0,
            "created": info.created,
        }
        if info.is_release:
            head.update(k=info.k, method=info.method, parameters=written(info.parameters))
        begin: LiteralString = "CREATE (g:Graph) SET g = $head, g.lease = timestamp() + $lease"
        self._write(waiting, partial(ask, query=begin, head=head, lease=self._lease))
        kinds = chain(rows_of(copy), () if original is None else rows_apart(copy, *original))
        for batch in schema.batches((kind, list(row)) for kind, rows in kinds for row in rows):
            parcel = [(kind, [row for _, row in rows]) for kind, rows in groupby(batch, key=itemgetter(0))]
            self._write((*waiting, key), partial(_deliver, key=key, parcel=parcel))
        seals = [sealed(copy)]
        if original is not None and copy.mapping is not None:
            seals.append(sealed_links_back(copy.mapping, original[1], copy.seed))
        pieces = chain(seals, copy.summary.pieces())
        for kind, large in (("pieces", pieces), ("records", chain(copy.records, sealed_records(copy.records)))):
            while some := [list(each) for each in islice(large, PIECES)]:
                self._write((*waiting, key), partial(_deliver, key=key, parcel=[(kind, some)]))

    def _write(self, alive: Sequence[str], work: Callable[[ManagedTransaction], object]) -> None:
        """Do *work* in one transaction, which shows of all imports that depend on it that they are alive."""

        def show_life_and_work(tx: ManagedTransaction) -> None:
            for key in alive:
                self._show_life(tx, key)
            work(tx)

        self._connection.write(show_life_and_work)

    def _show_life(self, tx: ManagedTransaction, key: str) -> None:
        if not renew(tx, key, self._lease):
            raise StoreUnavailable(
                f"{self._connection.address.shown}: the import stalled for too long and was abandoned. "
                "Nothing was changed; try again.",
                can_retry=True,
            )

    def publish(
        self,
        staged: Sequence[Staged],
        *,
        overwrite: bool,
        unchanged: Source | None = None,
        alone: bool = False,
        secret: bytes | None = None,
    ) -> None:
        """Give imports their names, all in one step; with *alone* every other graph goes.

        A *secret* takes the place of the store's own.
        """
        keys = [each.key for each in staged]
        for key in keys:
            self._write(keys, partial(self._confirm, key=key))

        def name_all(tx: ManagedTransaction) -> None:
            schema.lock_store(tx)
            # Not before: others see an old lease for as long as this one waits.
            for key in keys:
                self._show_life(tx, key)
            at = ServerTransaction(tx)
            if unchanged is not None:
                at.lock(unchanged.head.key)
                at.refuse_changed(unchanged)
            present = at.heads()
            names = [each.name for each in staged]
            gone = [head.name for head in present if alone or head.name in names]
            if gone and not overwrite:
                raise emptied(self._connection.address.shown) if alone else taken(gone[0])
            for name in gone:
                at.remove(name)
            if secret is not None:
                at.put_secret(secret)
            for each in staged:
                give_name(tx, each.key, each.name, each.original)
                for run in each.runs:
                    at.add_run(each.key, run)
                at.seal_notes(each.name)

        self._connection.write(name_all)

    def _confirm(self, tx: ManagedTransaction, key: str) -> None:
        """Count once more what was sent."""
        ((users, edges),) = ask(tx, "MATCH (g:Graph {key: $key}) RETURN g.users, g.edges", key=key)
        if ServerTransaction(tx).counted(key) != (users, edges):
            raise StoreUnavailable(
                f"{self._connection.address.shown}: some records did not arrive. Nothing was changed; try again.",
                can_retry=True,
            )

    def sweep(self) -> None:
        """Delete what was given up, what imports that died have left, and summaries of how graphs were before."""
        for key in self._connection.write(give_up_dead):
            while self._connection.write(partial(delete_some, key=key)):
                pass
        while self._connection.write(lambda tx: ServerTransaction(tx).delete_stale()):
            pass


def rows_of(copy: Copy) -> Iterator[tuple[str, Iterable[Sequence[object]]]]:
    """The rows of a graph and its posts by kind, in an order in which they can be put in."""
    graph, nothing = copy.graph, (None,) * len(copy.graph)
    tree, numbers = graph.places, range(len(graph))
    parents = [None if parent < 0 else parent for parent in tree.parents.tolist()]
    placed = list(zip(range(len(tree)), parents, tree.names, tree.types, strict=True))
    yield "places", placed
    yield "below", placed[1:]
    yield "topics", enumerate(graph.topic_names)
    yield "users", zip(numbers, graph.ids, *(graph.private.get(column, nothing) for column in PRIVATE), strict=True)
    yield "homes", homes(zip(numbers, or_none(graph.location), strict=True))
    yield "interests", interests(zip(numbers, map(or_none, graph.topics), strict=True))
    yield "follows", zip(*(ends.tolist() for ends in graph.edges()), strict=True)
    yield (
        "posts",
        (
            (number, post.id, graph.index[post.user], post.text, list(post.links), post.created)
            for number, post in enumerate(copy.posts)
        ),
    )


def rows_apart(
    copy: Copy, original: Key, numbers: NDArray[np.int64]
) -> Iterator[tuple[str, Iterable[Sequence[object]]]]:
    """The rows of what leads from a release back to its original."""
    if copy.mapping is not None:
        kept = copy.mapping >= 0
        matched = zip(numbers[kept].tolist(), copy.mapping[kept].tolist(), strict=True)
        yield "matches", ((number, original, released) for number, released in matched)
        # As text: a seed may have more than the 63 bits of a number there.
        yield "seeds", [] if copy.seed is None else [(str(copy.seed),)]


def _deliver(tx: ManagedTransaction, key: str, parcel: Sequence[tuple[str, schema.Rows]]) -> None:
    for kind, rows in parcel:
        ask(tx, PUT[kind], key=key, rows=rows)


def renew(tx: ManagedTransaction, key: str, lease: int) -> bool:
    """Show that an import is alive; False if it was taken for dead."""
    # What a statement looks for, it looks for before it waits for a lock.
    ServerTransaction(tx).lock(key)
    return bool(
        ask(
            tx,
            "MATCH (g:Graph {key: $key}) WHERE g.lease > 0 SET g.lease = timestamp() + $lease RETURN true",
            key=key,
            lease=lease,
        )
    )


def give_name(tx: ManagedTransaction, key: str, name: str, original: Key | None) -> None:
    """Make an imported graph the one of its name."""
    name_it: LiteralString = "MATCH (g:Graph {key: $key}) SET g.name = $name, g.original = $original REMOVE g.lease"
    ask(tx, name_it, key=key, name=name, original=original)
    link: LiteralString = "MATCH (g:Graph {key: $key}) MATCH (o:Graph {key: $original}) MERGE (g)-[:MADE_FROM]->(o)"
    ask(tx, link, key=key, original=original)


def give_up(tx: ManagedTransaction, key: str) -> None:
    """Give up an import that failed, unless it has its name already: nobody may know that the last step was done."""
    ServerTransaction(tx).lock(key)
    tx.run("MATCH (g:Graph {key: $key}) WHERE g.name IS NULL SET g.lease = 0", key=key).consume()


def give_up_dead(tx: ManagedTransaction) -> list[str]:
    """The keys of graphs to be deleted: given up, or imports that gave no sign of life until their lease was over."""
    dead: LiteralString = "MATCH (g:Graph) WHERE g.name IS NULL AND g.lease < timestamp() "
    seen = ask(tx, dead + "RETURN g.key ORDER BY g.key")
    for (key,) in seen:
        # It may have shown life, or taken its name, while we waited.
        ServerTransaction(tx).lock(key)
    keys = [key for (key,) in seen]
    found = ask(tx, dead + "AND g.key IN $keys SET g.lease = 0 RETURN g.key ORDER BY g.key", keys=keys)
    return [key for (key,) in found]


#: Statements that delete some nodes of an abandoned graph and return how many.
DELETE: tuple[LiteralString, ...] = (
    "MATCH (n:Match) WHERE n.original = $key AND n.number >= 0 WITH n LIMIT $size DETACH DELETE n RETURN count(*)",
    *(
        f"MATCH (n:{part}) WHERE n.graph = $key AND n.number >= 0 WITH n LIMIT $size DETACH DELETE n RETURN count(*)"
        for part in schema.PARTS
    ),
    "MATCH (n:Graph {key: $key}) WITH n LIMIT $size DETACH DELETE n RETURN count(*)",
)


DELETE_PIECES: LiteralString = (
    "MATCH (n:Piece) WHERE n.graph = $key AND n.number >= 0 WITH n LIMIT $size DELETE n RETURN count(*)"
)


def delete_some(tx: ManagedTransaction, key: str) -> bool:
    """Delete a batch of what was given up; True if there may be more."""
    # Few of them: their bytes count, and a transaction holds what it deletes.
    if ask(tx, DELETE_PIECES, key=key, size=PIECES)[0][0]:
        return True
    room = schema.BATCH
    for statement in DELETE:
        room -= int(ask(tx, statement, key=key, size=room)[0][0])
        if not room:
            return True
    return False
