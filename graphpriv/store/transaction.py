"""What a store does within one transaction: each backend brings the primitives, and the rest is the same for all."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import PRIVATE, SocialGraph
from graphpriv.store import crawls, seals
from graphpriv.store.assembly import Parts, PlaceRow, Profiles, mapping_of, place_problems
from graphpriv.store.crawls import Step
from graphpriv.store.records import (
    Added,
    Follow,
    Forgotten,
    GraphInfo,
    Post,
    Record,
    Run,
    User,
    changed,
    dangling,
    released_meanwhile,
)
from graphpriv.store.summary import FIGURES, Piece, columns_of, pieces_of
from tabular.errors import InvalidInput, UnknownName

#: How many records are read at a time.
PAGE = 5_000

#: A secret has no fewer bytes.
_SECRET = 16

#: How many records are taken out at a time; each is read before, and may be large.
_AT_A_TIME = 500

#: Of how many users the follows are read at a time: some of them follow very many.
FOLLOWERS = 500

#: What reading ends in where a record is not what it was made as.
UNREADABLE = (LookupError, ValueError, TypeError, ArithmeticError, AttributeError, RecursionError)

#: Of a graph; each is given once only.
Key = int | str
#: Users by number and position in a release.
Matches = NDArray[np.int64] | Sequence[Sequence[int]]


#: All that belongs to a graph: parts, posts, runs, mapping, seed, and the records of its crawl.
Content = tuple[Parts, tuple[Post, ...], tuple[Run, ...], Matches, int | None, tuple[Record, ...]]


@dataclass(frozen=True)
class Head:
    """What a store notes of a graph."""

    key: Key
    name: str
    directed: bool
    private: tuple[str, ...]
    users: int
    edges: int
    #: How many users are gone, whose numbers nobody else gets.
    forgotten: int
    #: One past the highest number that a post may have.
    posts: int
    revision: str
    created: str
    original: Key | None
    k: int | None
    method: str | None
    parameters: str | None

    @property
    def noted(self) -> tuple[object, ...]:
        """What is said of the graph wherever it is named, and changes with nobody who comes or goes."""
        return self.name, self.directed, self.private, self.created, self.k, self.method, self.parameters

    @property
    def numbers(self) -> int:
        """One past the highest number that a user may have."""
        return self.users + self.forgotten

    def info(self, names: Mapping[Key | None, str]) -> GraphInfo:
        """The row of the graph in the list, given the *names* of all keys."""
        parameters = json.loads(self.parameters or "{}")
        if not isinstance(parameters, dict):
            raise TypeError("what is noted of a release are its parameters by name")
        return GraphInfo(
            name=self.name,
            kind="original" if self.k is None else "release",
            directed=self.directed,
            users=self.users,
            edges=self.edges,
            created=self.created,
            original=names.get(self.original),
            k=self.k,
            method=self.method,
            parameters=parameters,
        )


@dataclass(frozen=True)
class Outline:
    """A graph as a store holds it, without its users and follows."""

    head: Head
    info: GraphInfo
    places: Sequence[PlaceRow]
    topics: Mapping[int, str]

    @classmethod
    def of(cls, at: Transaction, head: Head) -> Outline:
        """The outline of a graph within a transaction."""
        return cls(head, at.info(head), at.places(head.key), at.topics(head.key))


@dataclass(frozen=True)
class Source:
    """What an original was when a release was made of it, and the revisions of its releases then, if they matter."""

    head: Head
    beside: Mapping[str, str] | None = None


class Transaction(ABC):
    """Reading and changing the graphs of a store as far as one transaction goes."""

    #: Counts of a graph that must be 0: what is wrong, and the query.
    none_of: ClassVar[Mapping[str, Any]]

    @abstractmethod
    def heads(self, *, name: str | None = None, key: Key | None = None, released: bool = False) -> list[Head]:
        """All graphs, sorted by name; or the one of a *name* or *key*, or the releases, and no others are read then.

        Who must not know of originals could tell them by the time that reading them takes.
        """

    @abstractmethod
    def state(self) -> object:
        """A value that differs after every change of the store."""

    @abstractmethod
    def secret(self) -> bytes:
        """The secret of the store."""

    @abstractmethod
    def put_secret(self, secret: bytes) -> None:
        """Give the store another secret."""

    def note_erasure(self) -> None:  # noqa: B027 (a server keeps its own logs)
        """Write down that something was deleted or replaced which must leave the files, where they are ours."""

    @abstractmethod
    def touch(self, name: str) -> None:
        """Give a graph a revision that no graph ever had, so that nobody finds the summary of how it was before.

        Nobody else changes it to the end of this transaction.
        """

    @abstractmethod
    def note(self, key: Key, **changes: Any) -> None:
        """Set what is noted of a graph."""

    @abstractmethod
    def places(self, key: Key) -> Sequence[PlaceRow]:
        """The places of a graph."""

    @abstractmethod
    def topics(self, key: Key) -> dict[int, str]:
        """The topics of a graph."""

    @abstractmethod
    def parts(self, head: Head, *, bare: bool = False) -> Parts:
        """All that is needed to put a graph together; a *bare* one has no ids and no private columns."""

    @abstractmethod
    def ids(self, key: Key, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of users by their numbers."""

    @abstractmethod
    def pieces(self, key: Key, numbers: Sequence[int]) -> Mapping[int, bytes]:
        """Those of the pieces of a summary that are there."""

    @abstractmethod
    def put_pieces(self, key: Key, pieces: Iterable[Piece]) -> None:
        """Insert pieces of a summary; one that is there is replaced."""

    @abstractmethod
    def drop_piece(self, key: Key, number: int) -> None:
        """Take out one piece."""

    @abstractmethod
    def lock(self, key: Key) -> None:
        """Wait until nobody else changes a graph, to the end of this transaction."""

    @abstractmethod
    def users(self, key: Key, low: int, high: int) -> Sequence[Sequence[Any]]:
        """Users in a range of numbers: number, id, place, three topics, the private columns, and maybe more."""

    @abstractmethod
    def follows(self, key: Key, low: int, high: int) -> NDArray[np.int64]:
        """Sorted numbers of those who follow and of whom they follow, for users in a range of numbers."""

    @abstractmethod
    def posts(self, key: Key, after: int) -> list[tuple[int, Post]]:
        """A page of posts with their numbers, in the order of their import."""

    @abstractmethod
    def posts_of(self, key: Key, low: int, high: int) -> list[Post]:
        """The posts of users in a range of numbers, in the order of their import."""

    @abstractmethod
    def numbers(self, key: Key) -> NDArray[np.int64]:
        """The numbers of the users of a graph, in order."""

    @abstractmethod
    def matches(self, key: Key) -> Matches:
        """The mapping of a release, as numbers of users and positions in the release."""

    @abstractmethod
    def seed(self, key: Key) -> int | None:
        """The seed of a release."""

    @abstractmethod
    def add_run(self, key: Key, run: Run) -> None:
        """Write down a piece of work."""

    @abstractmethod
    def runs(self, keys: Sequence[Key]) -> list[Run]:
        """The work done on graphs, oldest first."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Take out a graph with its parts; releases made from it lose mapping and seed, and stay."""

    @abstractmethod
    def known(self, key: Key, kind: str, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of those of the *ids*, of users or of posts, that are there."""

    @abstractmethod
    def put(self, key: Key, kind: str, rows: Iterable[Sequence[Any]]) -> None:
        """Insert places, topics, or posts; a post that is there is replaced."""

    @abstractmethod
    def put_follows(self, key: Key, rows: Sequence[Sequence[int]]) -> int:
        """Insert follows; tells how many were not there."""

    @abstractmethod
    def put_users(self, key: Key, rows: Sequence[Sequence[Any]]) -> tuple[Iterable[int], Iterable[int]]:
        """Insert or replace users: number, id, place, three topics, private columns.

        Tells the places and the topics that the replaced ones had.
        """

    @abstractmethod
    def prune(self, key: Key, places: Iterable[int], topics: Iterable[int]) -> None:
        """Take out those of the topics that nobody has, and places with those above as far as nobody lives there."""

    @abstractmethod
    def take_out(self, key: Key, number: int) -> tuple[Forgotten, Iterable[int], Iterable[int]]:
        """Take a user out; tells what went along, and the places and topics the user had."""

    @abstractmethod
    def records(self, key: Key, kind: str, after: str, limit: int) -> list[Record]:
        """A page of the records of a crawl, by id."""

    @abstractmethod
    def records_of(self, key: Key, kind: str, ids: Iterable[str]) -> list[Record]:
        """Those of the records that are there."""

    @abstractmethod
    def write_records(self, key: Key, records: Iterable[Record]) -> None:
        """Insert records as they are; one that is there is replaced."""

    @abstractmethod
    def delete_records(self, key: Key, kind: str, ids: Sequence[str]) -> None:
        """Delete records of one kind."""

    @abstractmethod
    def overdue(self, moment: int) -> list[tuple[Key, str]]:
        """The pages of all journals that were to be erased before a *moment*: key of the graph, and id."""

    @abstractmethod
    def counted(self, key: Key) -> tuple[int, int]:
        """How many users and follows a graph has."""

    @abstractmethod
    def count(self, query: Any, head: Head) -> int:
        """The answer to one query of `none_of`."""

    # From here on the same for all

    def infos(self) -> list[GraphInfo]:
        """The list of graphs, sorted by name."""
        heads = self.heads()
        names: dict[Key | None, str] = {head.key: head.name for head in heads}
        return [head.info(names) for head in heads]

    def info(self, head: Head) -> GraphInfo:
        """The row of one graph in the list; as much is read where a release has no original any more."""
        originals = self.heads(key=head.key if head.original is None else head.original)
        return head.info({each.key: each.name for each in originals})

    def releases(self) -> list[GraphInfo]:
        """The list of releases, without the names of their originals."""
        return [head.info({}) for head in self.heads(released=True)]

    def find(self, name: str) -> Head | None:
        """The graph of a name."""
        return next(iter(self.heads(name=name)), None)

    def head(self, name: str) -> Head:
        """The same for a graph that must be there."""
        found = self.find(name)
        if found is None:
            raise UnknownName.among("graph", name, [head.name for head in self.heads()])
        return found

    def original(self, name: str) -> Head:
        """The same for a graph that must be an original."""
        head = self.head(name)
        if head.k is not None:
            raise InvalidInput(f"{name!r} is a release: it holds no persons, so nothing can be added or removed.")
        return head

    def release_of(self, original: str, release: str) -> tuple[Head, Head]:
        """An original, and a release that must have been made from it."""
        source, made = self.head(original), self.head(release)
        if made.original != source.key:
            releases = [head.name for head in self.heads() if head.original == source.key]
            hint = f"there is {', '.join(releases)}" if releases else "none is kept"
            raise InvalidInput(f"{release!r} is not a release of {original!r}; {hint}.")
        return source, made

    def releases_of(self, source: Head) -> dict[str, str]:
        """The releases of an original that are there: their revisions by name."""
        return {head.name: head.revision for head in self.heads() if head.original == source.key}

    def refuse_changed(self, source: Source) -> None:
        """Refuse an original that is not what it was, or that has other releases by now, where those matter."""
        if self.find(source.head.name) != source.head:
            raise changed(source.head.name)
        if source.beside is not None and self.releases_of(source.head) != dict(source.beside):
            raise released_meanwhile(source.head.name)

    def mapping(self, source: Head, made: Head) -> NDArray[np.int64]:
        """The mapping of a release by the present positions of the users of its original."""
        return mapping_of(self.numbers(source.key), self.matches(made.key))

    def profiles(self, key: Key) -> Profiles:
        """The places and topics of a graph as they stand."""
        return Profiles(self.places(key), self.topics(key))

    def content(self, head: Head) -> Content:
        """All that belongs to a graph: its parts, posts, runs, mapping, seed, and the records of its crawl."""
        posts = tuple(self.all_posts(head.key))
        matches, seed = self.matches(head.key), self.seed(head.key)
        return self.parts(head), posts, tuple(self.runs([head.key])), matches, seed, tuple(self.all_records(head.key))

    def all_posts(self, key: Key) -> Iterator[Post]:
        """The posts of a graph in the order of their import."""
        last = -1
        while page := self.posts(key, last):
            yield from (post for _, post in page)
            last = page[-1][0]

    def keep(self, head: Head, pieces: Iterable[Piece]) -> bool:
        """Keep pieces of the summary of a graph that must still be what it was; False if it is not."""
        self.lock(head.key)
        unchanged = self.find(head.name) == head
        if unchanged:
            self.put_pieces(head.key, pieces)
        return unchanged

    def problems(self, head: Head) -> list[str]:
        """What is wrong with a graph, in sentences."""
        try:
            found = self._problems(head)
        except UNREADABLE:
            found = ["its records cannot be read: the disk, or another program, changed them; restore a backup."]
        return [f"Graph {head.name!r}: {each}" for each in found]

    def _problems(self, head: Head) -> list[str]:
        # What is noted of it, and of the work on it, must be legible.
        head.info({}), self.runs([head.key]), self.seed(head.key)
        if not all(isinstance(each, int) for each in (head.users, head.edges, head.forgotten)):
            raise TypeError
        counted = zip(("users", "follows"), self.counted(head.key), (head.users, head.edges), strict=True)
        found = [f"it has {number} {what} and {noted} are noted." for what, number, noted in counted if number != noted]
        for what, query in self.none_of.items():
            if count := self.count(query, head):
                found.append(f"{count} {what}.")
        found += place_problems(self.places(head.key))
        # What does not fit together cannot be put together.
        found = found or self._problems_of_content(head)
        return found + self._problems_of_crawl(head)

    def problems_of_secret(self) -> list[str]:
        """Whether the secret of the store can be one."""
        try:
            fits = len(self.secret()) >= _SECRET
        except UNREADABLE:
            fits = False
        return [] if fits else ["The secret of the store is not what was stored; restore a backup."]

    def _problems_of_crawl(self, head: Head) -> list[str]:
        """Whether the records of a crawl are those that were stored, and the users it has kept are in its graph."""
        if not self._fit(head):
            return [
                "what is kept of its crawl is not what was stored: the disk, or another program, changed it; restore a "
                "backup."
            ]
        visited = self.all_records(head.key, [crawls.VISITED])
        kept = [each.id for each in visited if each.document.get("state") == "kept"]
        gone = len(kept) - len(self.known(head.key, "users", kept))
        return [f"{gone} users whom its crawl has kept are not in it."] if gone else []

    def _problems_of_content(self, head: Head) -> list[str]:
        """Whether the summary and the seals, where there are some, say what the rows say."""
        parts = self.parts(head)
        graph = parts.assemble()
        found = [] if self._fits(head, graph) else [
            "its records are not those that were stored: the disk, or another program, changed them; restore a backup."
        ]  # fmt: skip
        if differing := self._differing(head.key, graph, parts):
            found.append(f"the summary says something else of {', '.join(differing)} than the records.")
        return found

    def _differing(self, key: Key, graph: SocialGraph, parts: Parts) -> list[str]:
        """The columns of the summary, where there is one, that are not those of the graph, and its figures."""
        if not self.pieces(key, [FIGURES]):
            return []
        columns = columns_of(graph, parts.numbers)
        found = [column for column in columns if not self._agrees(key, column, columns[column])]
        return found if self._figures_fit(key) else [*found, "figures"]

    def _fits(self, head: Head, graph: SocialGraph) -> bool:
        """Whether the seals that there are fit what is there."""
        held = self.pieces(head.key, [seals.OF_GRAPH, seals.OF_LINKS_BACK, seals.OF_NOTES])
        contents = self._contents(head, graph, held)
        return all(seals.fits(held[number], content) for number, content in contents.items())

    def _fit(self, head: Head) -> bool:
        """Whether the records of a crawl fit their seal."""
        return seals.fit(self.seal_of_records(head.key), self.all_records(head.key))

    def _contents(self, head: Head, graph: SocialGraph, wanted: Container[int]) -> dict[int, bytes]:
        """The contents that are wanted for seals of these numbers."""
        found = {}
        if seals.OF_GRAPH in wanted:
            found[seals.OF_GRAPH] = seals.content_of(graph, self.all_posts(head.key))
        if seals.OF_LINKS_BACK in wanted and head.original is not None:
            found[seals.OF_LINKS_BACK] = seals.content_of_links_back(self.matches(head.key), self.seed(head.key))
        if seals.OF_NOTES in wanted:
            found[seals.OF_NOTES] = self._notes(head)
        return found

    def _notes(self, head: Head) -> bytes:
        return seals.content_of_notes(head.noted, self.runs([head.key]))

    def note_seal(self, head: Head) -> None:
        """Seal what is noted of a graph, and its figures, where it is still there and has no such seals."""
        if (found := self.find(head.name)) is None:
            return
        held = self.pieces(found.key, [seals.OF_NOTES, seals.OF_FIGURES, FIGURES])
        if seals.OF_NOTES not in held:
            # What cannot be read is no content to be sealed; a check says so.
            with suppress(*UNREADABLE):
                self.seal_notes(found.name)
        if FIGURES in held and seals.OF_FIGURES not in held:
            self.put_pieces(found.key, [(seals.OF_FIGURES, seals.seal(seals.content_of_figures(held[FIGURES])))])

    def seal_notes(self, name: str) -> None:
        """Seal what is noted of a graph."""
        head = self.head(name)
        self.put_pieces(head.key, [(seals.OF_NOTES, seals.seal(self._notes(head)))])

    def note_run(self, name: str, run: Run) -> None:
        """Write down a piece of work on a graph; what was noted before stays sealed as it was, or changed behind it."""
        head = self.head(name)
        self.lock(head.key)
        held = self.pieces(head.key, [seals.OF_NOTES])
        was_sound = all(seals.fits(sealed, self._notes(head)) for sealed in held.values())
        self.add_run(head.key, run)
        if held and was_sound:
            self.seal_notes(name)

    def _figures_fit(self, key: Key) -> bool:
        """Whether the figures of the summary are those that were computed; earlier versions did not seal them."""
        held = self.pieces(key, [FIGURES, seals.OF_FIGURES])
        sealed = held.get(seals.OF_FIGURES)
        return sealed is None or seals.fits(sealed, seals.content_of_figures(held[FIGURES]))

    def is_as_sealed(self, head: Head) -> bool:
        """Whether the content of a graph fits the seals that it has, and its summary fits the content."""
        try:
            parts = self.parts(head)
            graph = parts.assemble()
            return self._fits(head, graph) and self._fit(head) and not self._differing(head.key, graph, parts)
        except UNREADABLE:
            # It cannot even be put together.
            return False

    def unsealed(self, head: Head) -> set[int]:
        """The seals of its content that a graph lacks; what is noted of it is sealed at once."""
        wanted = {seals.OF_GRAPH} if head.original is None else {seals.OF_GRAPH, seals.OF_LINKS_BACK}
        return wanted - self.pieces(head.key, sorted(wanted)).keys()

    def missing_seals(self, head: Head) -> list[Piece]:
        """Seals of what is there, where there are none."""
        if not (wanted := self.unsealed(head)):
            return []
        try:
            contents = self._contents(head, self.parts(head).assemble(), wanted)
        except UNREADABLE:
            # A check says what is wrong with it.
            return []
        return [(number, seals.seal(content)) for number, content in contents.items()]

    def _agrees(self, key: Key, column: str, values: NDArray[np.integer[Any]]) -> bool:
        """Whether a column of the summary holds these *values*."""
        expected = pieces_of(column, values)
        return all(self.pieces(key, [number]).get(number) == data for number, data in expected)

    def changing(self, name: str) -> Head:
        """An original that this transaction changes."""
        self.touch(name)
        return self.original(name)

    def add_users(self, name: str, users: Sequence[User]) -> Added:
        """Add users after those that are there."""
        return self._add_users(self.changing(name), users)

    def _add_users(self, head: Head, users: Sequence[User]) -> Added:
        known = self.known(head.key, "users", [user.id for user in users])
        # A crawl adds users one by one who have none yet.
        bare = all(user.location is None and not user.topics for user in users)
        profiles = Profiles((), {}) if bare else self.profiles(head.key)
        number_of = dict(known)
        held = set(head.private)
        rows: list[list[Any]] = []
        for user in users:
            number = number_of.setdefault(user.id, head.numbers + len(number_of) - len(known))
            private = {column: getattr(user, column) for column in PRIVATE}
            held.update(column for column, value in private.items() if value is not None)
            rows.append([number, user.id, *profiles.numbers(user), *private.values()])
        self.put(head.key, "places", profiles.added_places)
        self.put(head.key, "topics", profiles.added_topics)
        # Not before all users of the batch have their places and topics.
        self.prune(head.key, *self.put_users(head.key, rows))
        new = len(users) - len(known)
        self.note(head.key, users=head.users + new, private=[column for column in PRIVATE if column in held])
        return Added(new, len(known))

    def add_follows(self, name: str, follows: Sequence[Follow]) -> Added:
        """Add follows between users that are there."""
        return self._add_follows(self.changing(name), follows)

    def _add_follows(self, head: Head, follows: Sequence[Follow]) -> Added:
        known = self.known(head.key, "users", {end for follow in follows for end in (follow.source, follow.target)})
        pairs = []
        for position, follow in enumerate(follows):
            for end in ("source", "target"):
                if getattr(follow, end) not in known:
                    raise dangling("Follow", position, end, head.name)
            pairs.append((known[follow.source], known[follow.target]))
        apart = [pair if head.directed else tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]]
        new = self.put_follows(head.key, sorted(set(apart)))
        self.note(head.key, edges=head.edges + new)
        return Added(new, len(apart) - new, len(pairs) - len(apart))

    def add_posts(self, name: str, posts: Sequence[Post]) -> Added:
        """Add posts after those that are there."""
        return self._add_posts(self.changing(name), posts)

    def _add_posts(self, head: Head, posts: Sequence[Post]) -> Added:
        authors = self.known(head.key, "users", {post.user for post in posts})
        known = self.known(head.key, "posts", [post.id for post in posts])
        number_of = dict(known)
        rows: list[list[Any]] = []
        for position, post in enumerate(posts):
            if post.user not in authors:
                raise dangling("Post", position, "user", head.name)
            number = number_of.setdefault(post.id, head.posts + len(number_of) - len(known))
            rows.append([number, post.id, authors[post.user], post.text, list(post.links), post.created])
        self.put(head.key, "posts", rows)
        new = len(posts) - len(known)
        self.note(head.key, posts=head.posts + new)
        return Added(new, len(known))

    def all_records(self, key: Key, kinds: Iterable[str] = crawls.KINDS) -> Iterator[Record]:
        """The records of a crawl, kind by kind."""
        for kind in kinds:
            after = ""
            while page := self.records(key, kind, after, PAGE):
                yield from page
                after = page[-1].id

    def put_records(self, key: Key, records: Iterable[Record]) -> None:
        """Insert records, and seal them; one that is there is replaced."""
        come = {each[:2]: each for each in records}
        kinds = sorted({kind for kind, _ in come})
        self._reseal(key, [(kind, [id for of, id in come if of == kind]) for kind in kinds], come.values())
        self.write_records(key, come.values())

    def drop_records(self, key: Key, kind: str, ids: Iterable[str]) -> None:
        """Take records out, and out of the seal."""
        waiting = iter(dict.fromkeys(ids))
        while some := [*islice(waiting, _AT_A_TIME)]:
            self._reseal(key, [(kind, some)], ())
            self.delete_records(key, kind, some)

    def _reseal(self, key: Key, replaced: Iterable[tuple[str, Sequence[str]]], come: Collection[Record]) -> None:
        # What is read here nobody else may change before it is written.
        self.lock(key)
        gone = [each for kind, ids in replaced for each in self.records_of(key, kind, ids)]
        if gone or come:
            sealed = seals.resealed(self.seal_of_records(key), gone, come)
            if sealed.number:
                self.write_records(key, [sealed])
            else:
                self.delete_records(key, crawls.SEAL, [crawls.ONLY])

    def seal_of_records(self, key: Key) -> Record | None:
        """The seal of what is kept of a crawl."""
        return next(iter(self.records_of(key, crawls.SEAL, [crawls.ONLY])), None)

    def standing(self, name: str) -> tuple[Head | None, Record | None, Mapping[int, bytes]]:
        """What differs after every change of a graph, of what is kept of its crawl, or of what is noted of it."""
        head = self.find(name)
        if head is None:
            return None, None, {}
        return head, self.seal_of_records(head.key), self.pieces(head.key, [seals.OF_NOTES])

    def advance(self, name: str, step: Step, owner: str, erasures: int) -> bool:
        """Do one step of a crawl; False where somebody was forgotten since its *owner* looked."""
        head = self.changing(name)
        found = {each.id: each for each in self.records_of(head.key, crawls.OWNER, [crawls.ONLY, crawls.ERASURES])}
        if crawls.ONLY not in found or found[crawls.ONLY].document.get("token") != owner:
            raise crawls.in_use(name)
        if crawls.ERASURES in found and found[crawls.ERASURES].number != erasures:
            return False
        if step.erase:
            self._take_out(head, step.erase)
            head = self.head(name)
        # Each of the three changes another part of the head.
        if step.users:
            self._add_users(head, step.users)
        if step.follows:
            self._add_follows(head, step.follows)
        if step.posts:
            self._add_posts(head, step.posts)
        for kind in sorted({kind for kind, _ in step.drop}):
            self.drop_records(head.key, kind, [id for each, id in step.drop if each == kind])
        self.put_records(head.key, step.put)
        return True

    def owner_of(self, key: Key) -> dict[str, Any]:
        """Who is at work on the crawl of a graph; empty where nobody is."""
        found = self.records_of(key, crawls.OWNER, [crawls.ONLY])
        return dict(found[0].document) if found else {}

    def erasures(self, key: Key) -> int:
        """How often somebody was forgotten since the crawl began."""
        found = self.records_of(key, crawls.OWNER, [crawls.ERASURES])
        return found[0].number if found else 0

    def expire(self, moment: int) -> int:
        """Erase the raw answers that were to be kept until a *moment* at most; tells how many."""
        found = self.overdue(moment)
        for key in sorted({key for key, _ in found}, key=str):
            self.drop_records(key, crawls.PAGE, [id for each, id in found if each == key])
        return len(found)

    def knows(self, head: Head, user: str) -> bool:
        """Whether the graph has a user, or what is kept of its crawl tells of one."""
        if self.known(head.key, "users", [user]):
            return True
        users, names, secret = frozenset({user}), crawls.names_of(user, None), self.secret()
        found = self.all_records(head.key, _TELLING)
        return any(crawls.erased(each, users, names, secret) is not each for each in found)

    def _take_out(self, head: Head, users: Sequence[str]) -> Forgotten:
        """Take persons out of a graph and of what is kept of its crawl."""
        gone, names = Forgotten(follows=0, posts=0, mappings=0), frozenset[str]()
        known = self.known(head.key, "users", users)
        for user in users:
            handle = self.users(head.key, known[user], known[user] + 1)[0][6] if user in known else None
            names |= crawls.names_of(user, handle)
        for number in known.values():
            gone = self._take_out_of_graph(self.head(head.name), number)
        if not self._erase(head.key, frozenset(users), names) and not known:
            # The id is not repeated: it is that of a person.
            raise InvalidInput(f"Graph {head.name!r} has no user with that id.")
        return gone

    def _take_out_of_graph(self, head: Head, number: int) -> Forgotten:
        gone, places, topics = self.take_out(head.key, number)
        for each in self.heads():
            if each.original == head.key:
                self.drop_piece(each.key, seals.OF_LINKS_BACK)
            if head.key in (each.key, each.original):
                # The mark of the original went from their runs.
                self.drop_piece(each.key, seals.OF_NOTES)
        self.prune(head.key, places, topics)
        self.note(head.key, users=head.users - 1, forgotten=head.forgotten + 1, edges=head.edges - gone.follows)
        return gone

    def _erase(self, key: Key, users: frozenset[str], names: frozenset[str]) -> int:
        """Take persons of these *names* out of the records of a crawl; tells how many changed."""
        secret, changed = self.secret(), 0
        for record in self.all_records(key, _TELLING):
            left = crawls.erased(record, users, names, secret)
            changed += left is not record
            if left is None:
                self.drop_records(key, record.kind, [record.id])
            elif left is not record:
                self.put_records(key, [left])
        if changed:
            self.note_erasure()
        return changed

    def forget(self, name: str, user: str) -> Forgotten:
        """Take a person out, and what nobody else has: a place or a topic can tell who it was.

        A crawl of the graph gets a mark by which it does not collect the person again.
        """
        head = self.changing(name)
        told, at_hand = self._told_of(head.key, user)
        gone = self._take_out(head, [user])
        if crawl := self.records_of(head.key, crawls.CRAWL, [crawls.ONLY]):
            if told is not None:
                self._uncount(head.key, crawl[0].document, told)
            if at_hand:
                pages = [each.id for each in self.all_records(head.key, [crawls.LISTED])]
                self.drop_records(head.key, crawls.LISTED, pages)
            kept_out = Record(crawls.FORGOTTEN, crawls.person_mark(self.secret(), user), b"")
            times = Record(crawls.OWNER, crawls.ERASURES, b"{}", self.erasures(head.key) + 1)
            self.put_records(head.key, [kept_out, times])
        return gone

    def _told_of(self, key: Key, user: str) -> tuple[dict[str, Any] | None, bool]:
        """What a crawl has counted of a user, and whether it is the one at hand."""
        found = self.records_of(key, crawls.CRAWL, [crawls.ONLY])
        crawl = dict(found[0].document) if found else {}
        records = (each for kind in (crawls.VISITED, crawls.SEEN) for each in self.records_of(key, kind, [user]))
        return crawls.noted(crawl, user, records), (crawl.get("current") or {}).get("user") == user

    def _uncount(self, key: Key, crawl: Mapping[str, Any], told: Mapping[str, Any]) -> None:
        """Count a user as forgotten, and as nothing else: another one may take the place."""
        changed = crawls.uncounted(crawl, told)
        users = changed.get("users", {})
        changed["users"] = {**users, "forgotten": users.get("forgotten", 0) + 1}
        self.put_records(key, [crawls.document(crawls.CRAWL, crawls.ONLY, {**crawl, **changed})])


#: The kinds of records that may tell of a person.
_TELLING = (crawls.CRAWL, crawls.SEEN, crawls.VISITED, crawls.LISTED, crawls.PAGE, crawls.CHARGES, crawls.NOTE)
