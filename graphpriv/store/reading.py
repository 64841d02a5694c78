"""What is read within one transaction, the same for all backends: graphs, all that belongs to one, what is wrong."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.store import crawls, seals, statements
from graphpriv.store.assembly import Parts, PlaceRow, Profiles, mapping_of, place_problems
from graphpriv.store.records import GraphInfo, Post, Record, Run, changed, released_meanwhile
from graphpriv.store.statements import Head, Key, Matches, Statements
from graphpriv.store.summary import FIGURES, Piece, columns_of, pieces_of
from tabular.errors import InvalidInput, UnknownName

#: A secret has no fewer bytes.
_SECRET = 16

#: What reading ends in where a record is not what it was made as.
UNREADABLE = (LookupError, ValueError, TypeError, ArithmeticError, AttributeError, RecursionError)

#: All that belongs to a graph: parts, posts, runs, mapping, seed, and the records of its crawl.
Content = tuple[Parts, tuple[Post, ...], tuple[Run, ...], Matches, int | None, tuple[Record, ...]]


@dataclass(frozen=True)
class Outline:
    """A graph as a store holds it, without its users and follows."""

    head: Head
    info: GraphInfo
    places: Sequence[PlaceRow]
    topics: Mapping[int, str]

    @classmethod
    def of(cls, at: Reading, head: Head) -> Outline:
        """The outline of a graph within a transaction."""
        return cls(head, at.info(head), at.places(head.key), at.topics(head.key))


@dataclass(frozen=True)
class Source:
    """What an original was when a release was made of it, and the revisions of its releases then, if they matter."""

    head: Head
    beside: Mapping[str, str] | None = None


class Reading(Statements):
    """Reading the graphs of a store as far as one transaction goes."""

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

    def all_records(self, key: Key, kinds: Iterable[str] = crawls.KINDS) -> Iterator[Record]:
        """The records of a crawl, kind by kind."""
        for kind in kinds:
            after = ""
            while page := self.records(key, kind, after, statements.PAGE):
                yield from page
                after = page[-1].id

    def seal_of_records(self, key: Key) -> Record | None:
        """The seal of what is kept of a crawl."""
        return next(iter(self.records_of(key, crawls.SEAL, [crawls.ONLY])), None)

    def knows(self, head: Head, user: str) -> bool:
        """Whether the graph has a user, or what is kept of its crawl tells of one."""
        if self.known(head.key, "users", [user]):
            return True
        users, names, secret = frozenset({user}), crawls.names_of(user, None), self.secret()
        found = self.all_records(head.key, crawls.TELLING)
        return any(crawls.erased(each, users, names, secret) is not each for each in found)

    # What is wrong

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

    def _figures_fit(self, key: Key) -> bool:
        """Whether the figures of the summary are those that were computed; earlier versions did not seal them."""
        held = self.pieces(key, [FIGURES, seals.OF_FIGURES])
        sealed = held.get(seals.OF_FIGURES)
        return sealed is None or seals.fits(sealed, seals.content_of_figures(held[FIGURES]))

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
            found[seals.OF_NOTES] = self.content_of_notes(head)
        return found

    def content_of_notes(self, head: Head) -> bytes:
        """What the seal of the notes on a graph is of."""
        return seals.content_of_notes(head.noted, self.runs([head.key]))

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
