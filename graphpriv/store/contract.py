"""The contract of every graph store: what is the same for all of them stands here."""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from operator import methodcaller
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.release import Release
from graphpriv.store import crawls, enriched, statements
from graphpriv.store.assembly import mapping_of
from graphpriv.store.crawls import CHARGES, Step
from graphpriv.store.enriched import Linked, Person, Profile
from graphpriv.store.reading import Outline, Source
from graphpriv.store.records import (
    Added,
    Changed,
    Copy,
    Follow,
    Forgotten,
    GraphInfo,
    Post,
    Record,
    Run,
    Unsettled,
    User,
    changed,
    check_name,
    emptied,
    outdated,
    sound_copy,
    sound_follows,
    sound_graph,
    sound_posts,
    sound_posts_of,
    sound_release,
    sound_users,
    taken,
)
from graphpriv.store.seals import OF_NOTES
from graphpriv.store.statements import Head
from graphpriv.store.summary import FIGURES, PIECES, Summary
from graphpriv.store.transaction import Transaction
from graphpriv.store.view import Unsummarised, View
from tabular.errors import FileFailure, InvalidInput, ReportedError, StoreUnavailable
from tabular.loop import Report, silent

T = TypeVar("T")
H = TypeVar("H")


#: How often a summary is made anew of a graph that others change meanwhile.
_SUMMARIES = 5

#: For how long somebody waits for a summary that somebody else makes, in seconds.
_SUMMARY_PATIENCE = 2.0

#: Whose turn it is to make the summary of a graph, by store and name.
_turns: dict[tuple[str, str], threading.Lock] = {}
_lock = threading.Lock()


class Store(ABC):
    """Graphs by name, originals and releases, with all that belongs to them.

    Users keep the order of their import. A change to a whole graph happens completely or not at all, even if the
    process is killed.
    """

    #: The name of the store in messages; it never holds a password.
    address: str
    #: Does work beside whoever asks, who is told to ask again if a summary takes long; None has them make it and wait.
    later: Callable[[Callable[[], None]], None] | None = None

    @property
    def _folder(self) -> Path | None:
        """The folder of the store on this machine, where it has one."""
        return None

    def graph(self, name: str) -> GraphInfo:
        """The row of one graph in the list."""
        return self._read(lambda at: at.info(at.head(name)))

    def has(self, name: str) -> bool:
        """Whether there is a graph of that name."""
        return self._read(lambda at: at.find(name) is not None)

    def graphs(self) -> list[GraphInfo]:
        """All graphs, by name."""
        return self._read(lambda at: at.infos())

    def releases(self) -> list[GraphInfo]:
        """The releases, sorted by name, for those who must not know of originals: nothing of these is read."""
        return self._read(lambda at: at.releases())

    @abstractmethod
    def _read(self, work: Callable[[Transaction], T]) -> T:
        """What *work* reads in one transaction."""

    @abstractmethod
    def _write(self, work: Callable[[Transaction], T]) -> T:
        """Do *work* in one transaction; it may be called again where the first one failed."""

    def _write_less(self, work: Callable[[Transaction], T]) -> T:
        """The same for *work* that only takes out, and must not wait until there is room on a full disk."""
        return self._write(work)

    def _remove(self, at: Transaction, name: str) -> None:
        """Take out a graph within the transaction of `_write_less`."""
        at.remove(name)

    def _settled(self, look: Callable[[Transaction], H], read: Callable[[Transaction, H], T], name: str) -> T:
        """What is read of the graphs that *look* finds, all of one moment."""
        return self._read(lambda at: read(at, look(at)))

    @abstractmethod
    def _clean(self) -> None:
        """Take out of the store what nobody can reach any more."""

    def create_graph(self, name: str, *, directed: bool, overwrite: bool = False) -> None:
        """Make an empty original, for a crawl to fill."""
        self.save_graph(name, SocialGraph.empty(directed=directed), overwrite=overwrite)

    def refuse_taken(self, name: str, overwrite: bool) -> None:
        """Refuse a name that is in use before any work is done; the store checks it again at the end."""
        if not overwrite and any(each.name == name for each in self.graphs()):
            raise taken(name)

    def save_graph(
        self,
        name: str,
        graph: SocialGraph,
        *,
        posts: Iterable[Post] = (),
        overwrite: bool = False,
        revision: str | None = None,
        report: Report = silent,
    ) -> None:
        """Keep an original with its posts, all or nothing.

        Releases made from one that is replaced stay, without their mapping. *revision* is that of the graph that is
        replaced: if it has another one by then, nothing is kept.
        """
        check_name(name)
        sound_graph(graph)
        self.refuse_taken(name, overwrite)
        source = None if revision is None else Source(self._in_state(name, revision))
        copy = replace(Copy.of(name, graph), posts=tuple(sound_posts_of(posts, name, graph)))
        report("Computing figures", 0, 0)
        copy.summary  # noqa: B018 (made here, while nobody waits for the store)
        report("Storing", 0, 0)
        try:
            self._put([copy], overwrite=overwrite, source=source)
        except Changed:
            raise outdated(name) from None

    def _in_state(self, name: str, revision: str) -> Head:
        """The graph of a name, which must have a revision."""
        head = self._read(lambda at: at.find(name))
        if head is None or head.revision != revision:
            raise outdated(name)
        return head

    @abstractmethod
    def _put(
        self,
        copies: Iterable[Copy],
        *,
        overwrite: bool,
        source: Source | None = None,
        alone: bool = False,
        secret: bytes | None = None,
    ) -> None:
        """Keep what is sound, originals before their releases, all or nothing.

        The *source* of releases must still be what it was; with *alone* every other graph goes. A *secret* takes the
        place of the store's own.
        """

    def load_graph(self, name: str) -> SocialGraph:
        """The graph as it was saved, in the same order."""
        return self._settled(lambda at: at.head(name), lambda at, head: at.parts(head), name).assemble()

    def answer(self, name: str, question: Callable[[View], T]) -> T:
        """The answer to a *question* about a graph, all of one state of it.

        Where no summary of the graph is kept, because records were added one by one or an earlier version stored it, it
        is made and kept first. Of several who ask at once in this process one makes it; the others wait for a moment,
        and are told to ask again. With `later` all of them do.
        """
        made: dict[str, Mapping[int, bytes]] = {}

        def ask(at: Transaction, head: Head) -> T:
            return question(View(at, head, made.get(head.revision)))

        with contextlib.suppress(Unsummarised):
            return self._settled(lambda at: at.head(name), ask, name)
        if self.later is not None:
            self._wait_for_summary(name, self.later)
        with self._alone_summarising(name):
            for _ in range(_SUMMARIES):
                # Whoever was first has made it by now.
                with contextlib.suppress(Unsummarised):
                    return self._settled(lambda at: at.head(name), ask, name)
                made.clear()
                made.update(self._summarise(name))
        raise Unsettled(self.address, f"graph {name!r}")

    def _wait_for_summary(self, name: str, later: Callable[[Callable[[], None]], None]) -> None:
        """Have the summary made beside whoever asks, and wait for it for a moment."""
        ended = threading.Event()

        def make() -> None:
            try:
                # Whoever asks finds out what is wrong.
                with contextlib.suppress(ReportedError), self._alone_summarising(name):
                    if not self._read(lambda at: at.pieces(at.head(name).key, [FIGURES])):
                        self._summarise(name)
            finally:
                ended.set()

        later(make)
        if not ended.wait(_SUMMARY_PATIENCE):
            raise self._summarising(name)

    def _summarising(self, name: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self.address}: the figures of graph {name!r} are being computed after a change; ask again.",
            can_retry=True,
        )

    @contextlib.contextmanager
    def _alone_summarising(self, name: str) -> Iterator[None]:
        """Make sure that nobody else in this process makes the summary; who waits for it too long is refused."""
        with _lock:
            turn = _turns.setdefault((self.address, name), threading.Lock())
        if not turn.acquire(timeout=_SUMMARY_PATIENCE):
            raise self._summarising(name)
        try:
            yield
        finally:
            turn.release()

    def summarise(self, name: str) -> None:
        """Make the summary of a graph that has changed, so that nobody has to wait for it who asks."""
        self.figures(name)

    def figures(self, name: str) -> Mapping[str, Any]:
        """The figures of `graphpriv.structure.describe`, computed when the graph was stored."""
        return self.answer(name, lambda view: cast(Mapping[str, Any], view.figures["description"]))

    def _summarise(self, name: str) -> dict[str, Mapping[int, bytes]]:
        """Make the summary of a graph and keep it, if the graph stays as it is; its pieces by the revision."""
        head, parts = self._settled(lambda at: at.head(name), lambda at, head: (head, at.parts(head, bare=True)), name)
        pieces = dict(Summary.of(parts.assemble(), parts.numbers).pieces())
        # Whoever asked has the answer even where nothing can be written.
        with contextlib.suppress(StoreUnavailable, FileFailure):
            rows = iter(pieces.items())
            while batch := list(islice(rows, PIECES)):
                if not self._write(partial(Transaction.keep, head=head, pieces=batch)):
                    break
        return {head.revision: pieces}

    def revision(self, name: str) -> str:
        """A value that changes with every change to the graph and is never used twice."""
        return self._read(lambda at: at.head(name).revision)

    def load_pair(self, original: str, release: str) -> tuple[SocialGraph, SocialGraph, NDArray[np.int64]]:
        """An original, a release made from it and the mapping, all of one state of the store."""
        source, made, matches = self._settled(
            lambda at: at.release_of(original, release),
            lambda at, found: (at.parts(found[0]), at.parts(found[1]), at.matches(found[1].key)),
            original,
        )
        return source.assemble(), made.assemble(), mapping_of(source.numbers, matches)

    def delete_graph(self, name: str, *, revision: str | None = None) -> None:
        """Remove a graph and all that belongs to it; releases made from it stay, without their mapping.

        One that must have a *revision* and has another one stays.
        """

        def remove(at: Transaction) -> None:
            if revision is not None:
                at.lock(at.head(name).key)
                if at.head(name).revision != revision:
                    raise outdated(name)
            self._remove(at, name)

        self._write_less(remove)
        self._clean()

    def add_users(self, name: str, batch: Iterable[User]) -> Added:
        """Add users at the end of the order; one that is known keeps its place and takes the new record.

        What the record before held alone is gone from all answers, and leaves the files with the next check.
        """
        users = sound_users(batch)
        return self._write(lambda at: at.add_users(name, users))

    def add_follows(self, name: str, batch: Iterable[Follow]) -> Added:
        """Add follows between users of the graph."""
        follows = sound_follows(batch)
        return self._write(lambda at: at.add_follows(name, follows))

    def add_posts(self, name: str, batch: Iterable[Post]) -> Added:
        """Add posts by users of the graph; one that is known keeps its place and takes the new record.

        What the record before held leaves the files with the next check.
        """
        posts = sound_posts(batch)
        return self._write(lambda at: at.add_posts(name, posts))

    def users(self, name: str) -> Iterator[User]:
        """The users in their order, page by page; an error where the graph changes before the last page is read."""
        head, profiles = self._read(lambda at: ((found := at.head(name)), at.profiles(found.key)))
        for row in self.user_rows(head):
            yield profiles.user(row[1], row[2], row[3:6], row[6:9])

    def outline(self, name: str) -> Outline:
        """A graph without its users and follows."""
        return self._read(lambda at: Outline.of(at, at.head(name)))

    def user_rows(self, head: Head) -> Iterator[Sequence[Any]]:
        """The users as `Transaction.users` gives them, page by page; an error where the graph changes meanwhile."""
        for low in range(0, self._end(head), statements.PAGE):
            yield from self._page(head, low, lambda at, low: at.users(head.key, low, low + statements.PAGE))

    def follow_rows(self, head: Head) -> Iterator[NDArray[np.int64]]:
        """Pages of follows, as `Transaction.follows` gives them; an error where the graph changes meanwhile."""
        for low in range(0, self._end(head), statements.FOLLOWERS):
            yield self._page(head, low, lambda at, low: at.follows(head.key, low, low + statements.FOLLOWERS))

    def _end(self, head: Head) -> int:
        """One past the highest number of a user; what is noted may be damaged, and billions of pages be empty."""
        numbers = self._read(lambda at: at.numbers(head.key))
        return int(numbers[-1]) + 1 if len(numbers) else 0

    def posts(self, name: str) -> Iterator[Post]:
        """The posts in the order of their import, page by page; an error where the graph changes meanwhile."""
        head, last = self._read(lambda at: at.head(name)), -1
        while page := self._page(head, last, lambda at, last: at.posts(head.key, last)):
            yield from (post for _, post in page)
            last = page[-1][0]

    def _page(self, head: Head, begin: int, read: Callable[[Transaction, int], T]) -> T:
        """What is read of a graph from the number *begin* on, or an error if the graph changed meanwhile."""
        # A transaction for each page: one for all of them would be left open by whoever stops half way.
        page, now = self._read(lambda at: (read(at, begin), at.find(head.name)))
        if now != head:
            raise Unsettled(self.address, f"graph {head.name!r}")
        return page

    def save_release(
        self,
        original: str,
        name: str,
        release: Release,
        *,
        seed: int | None,
        run: Run,
        revision: str | None = None,
        beside: Mapping[str, str] | None = None,
        overwrite: bool = False,
        report: Report = silent,
    ) -> None:
        """Keep a masked graph, and apart from it the mapping and the seed, all or nothing.

        *revision* is that of the original before it was loaded: if it has another one by now, the mapping may lead to
        the wrong persons, and nothing is kept. None is for those alone who have the original from elsewhere. *beside*
        are the `releases_of` the original that this one was made to stand beside: if there are others by now, nothing
        is kept either. None keeps a release whatever others there are; `graphpriv.stored.keep_release` is the way that
        looks at them.
        """
        check_name(name)
        if name == original:
            raise taken(name)
        self.refuse_taken(name, overwrite)
        source = self._read(lambda at: at.original(original))
        if revision is not None and revision != source.revision:
            raise changed(original)
        sound_release(release, source.users, original)
        copy = Copy.of_release(original, name, release, run=run, seed=seed)
        report("Computing figures", 0, 0)
        copy.summary  # noqa: B018 (as above)
        report("Storing", 0, 0)
        self._put([copy], overwrite=overwrite, source=Source(source, beside))

    def releases_of(self, original: str) -> dict[str, str]:
        """The releases of an original that are in the store: their revisions by name."""
        return self._read(lambda at: at.releases_of(at.original(original)))

    def mapping(self, original: str, release: str) -> NDArray[np.int64]:
        """For each user of the original by position its position in the release, -1 where it has none."""
        return self._read(lambda at: at.mapping(*at.release_of(original, release)))

    def seed(self, original: str, release: str) -> int | None:
        """The seed a release was drawn with, for whoever may know the mapping too."""
        return self._read(lambda at: at.seed(at.release_of(original, release)[1].key))

    def add_run(self, name: str, run: Run) -> None:
        """Write down a piece of work on a graph."""
        self._write(lambda at: at.note_run(name, run))

    def runs(self, name: str, *, with_releases: bool = True) -> list[Run]:
        """The work done on a graph, and on the releases made from it unless told otherwise; oldest first."""

        def read(at: Transaction) -> list[Run]:
            key = at.head(name).key
            return at.runs([key, *(head.key for head in at.heads() if with_releases and head.original == key)])

        return self._read(read)

    def check_person(self, name: str, user: str) -> None:
        """Refuse a graph that is no original, and an id of nobody in it."""
        if not self._read(lambda at: at.knows(at.original(name), user)):
            raise InvalidInput(f"Graph {name!r} has no user with that id.")

    def forget(self, name: str, user: str) -> Forgotten:
        """Remove a person from an original, with follows, posts and the mappings of its releases."""
        return self._write_less(lambda at: at.forget(name, user))

    def begin_crawl(self, name: str, records: Sequence[Record]) -> None:
        """Make an empty original for a crawl to fill, with the first records of the crawl, all or nothing."""
        check_name(name)
        empty = Copy.of(name, SocialGraph.empty(directed=True))
        self._put([replace(empty, records=tuple(records))], overwrite=False)

    def claim_crawl(self, name: str, owner: Mapping[str, Any], may_take: Callable[[Mapping[str, Any]], bool]) -> int:
        """Make somebody the owner of a crawl unless another one is, from whom it may not be taken.

        *owner* has a `token` of its own. Tells how often somebody was forgotten so far.
        """

        def claim(at: Transaction) -> int:
            key = at.original(name).key
            at.lock(key)
            before = at.owner_of(key)
            if before and before.get("token") != owner["token"] and not may_take(before):
                raise crawls.in_use(name)
            at.put_records(key, [crawls.document(crawls.OWNER, crawls.ONLY, dict(owner))])
            return at.erasures(key)

        return self._write(claim)

    def leave_crawl(self, name: str, token: str) -> None:
        """Let others take a crawl over, if it is still that of the owner with this *token*."""

        def leave(at: Transaction) -> None:
            key = at.head(name).key
            if at.owner_of(key).get("token") == token:
                at.drop_records(key, crawls.OWNER, [crawls.ONLY])

        self._write(leave)

    def advance(self, name: str, step: Step, *, owner: str, erasures: int = 0) -> None:
        """Do one step of a crawl in one transaction; `Disturbed` if somebody was forgotten since its owner looked."""
        if not self._write(lambda at: at.advance(name, step, owner, erasures)):
            raise crawls.Disturbed(self.address)
        if step.erase:
            self._clean()

    def records(self, name: str, kind: str) -> Iterator[Record]:
        """The records of one kind of the crawl of a graph, by id; those of the moment at which each page is read."""
        key, after = self._read(lambda at: at.head(name).key), ""
        while page := self._read(lambda at, after=after: at.records(key, kind, after, statements.PAGE)):  # type: ignore[misc]
            yield from page
            after = page[-1].id

    def records_of(self, name: str, kind: str, ids: Iterable[str]) -> list[Record]:
        """Those of the records that are there, by id."""
        return self._read(lambda at: at.records_of(at.head(name).key, kind, ids))

    def crawl_of(self, name: str) -> dict[str, Any] | None:
        """What a crawl says of itself; None for a graph that comes from elsewhere."""
        found = self.records_of(name, crawls.CRAWL, [crawls.ONLY])
        return dict(found[0].document) if found else None

    def people(self, name: str, low: int, size: int) -> tuple[list[Person], int]:
        """The users whose numbers lie from *low* on, with posts and notes, and one past the highest number of all."""
        return self._read(lambda at: enriched.people(at, name, low, size))

    def put_profiles(self, name: str, profiles: Mapping[str, Profile], notes: Mapping[str, Mapping[str, Any]]) -> None:
        """Give users new profiles, and notes, by their ids, all or nothing; whoever is gone meanwhile stays gone."""
        sound_users(User(id=id, location=location, topics=topics) for id, (location, topics) in profiles.items())
        self._write(lambda at: enriched.put_profiles(at, name, profiles, notes))

    def linked(self, name: str, users_of: Mapping[str, Iterable[str]]) -> dict[str, Linked]:
        """The pages that are kept of links, which from now on belong to these users, too."""
        found = self._read(lambda at: enriched.linked(at, name, users_of))
        if found:
            self._write(lambda at: enriched.join(at, name, {url: users_of[url] for url in found}))
        return found

    def put_linked(
        self, name: str, pages: Mapping[str, Linked], users_of: Mapping[str, Iterable[str]], until: int
    ) -> None:
        """Keep pages until a moment, in seconds since 1970; each belongs to the users who link to it."""
        self._write(lambda at: enriched.put_linked(at, name, pages, users_of, until))

    def expire(self, moment: float | None = None) -> int:
        """Erase the raw answers whose time is over; tells how many."""
        now = int(time.time() if moment is None else moment)
        if not self._read(lambda at: at.overdue(now)):
            return 0
        gone = self._write(lambda at: at.expire(now))
        self._clean()
        return gone

    def finish_erasing(self) -> None:
        """Take out of the files what was deleted while somebody read them."""
        self._clean()

    def seal(self) -> None:
        """Seal every graph that has changed since it was put in, so that it is noticed if its content changes."""
        for head in self._read(lambda at: at.heads()):
            if not self._read(lambda at, head=head: at.pieces(head.key, [OF_NOTES])):  # type: ignore[misc]
                with contextlib.suppress(StoreUnavailable, FileFailure):
                    self._write(partial(Transaction.note_seal, head=head))
            if self._read(lambda at, head=head: at.find(head.name) == head and at.unsealed(head)):  # type: ignore[misc]
                found, made = self._settled(
                    lambda at, name=head.name: at.find(name),  # type: ignore[misc]
                    lambda at, head: (head, at.missing_seals(head) if head else []),
                    head.name,
                )
                # What cannot be written now is sealed by the next one.
                with contextlib.suppress(StoreUnavailable, FileFailure):
                    if found is not None and made:
                        self._write(partial(Transaction.keep, head=found, pieces=made))

    def refuse_changed_content(self) -> None:
        """Refuse to go on with a store whose content is not what was put into it."""
        self.seal()
        for head in self._read(lambda at: at.heads()):
            # Somebody may change it meanwhile, and be seen in half: twice the same is no chance.
            if not any(self._is_as_sealed(head.name) for _ in range(2)):
                raise InvalidInput(
                    f"{self.address}: the records of graph {head.name!r} are not those that were stored: the disk, or "
                    "another program, changed them. Nothing was written; keep your earlier backups, and restore one."
                )

    def _is_as_sealed(self, name: str) -> bool:
        return self._settled(
            lambda at: at.standing(name), lambda at, there: there[0] is None or at.is_as_sealed(there[0]), name
        )

    @abstractmethod
    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write all there is, of one moment, to a file, which is an embedded store itself."""

    def restore(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Take over all there is in a backup; what the store held before is gone."""
        from graphpriv.store.copies import opened_backup

        if self.graphs() and not overwrite:
            raise emptied(self.address)
        with opened_backup(path, near=self._folder) as source:
            self.take(source.copies(), secret=source.secret(), overwrite=overwrite)

    def adopt(self, copy: Copy, *releases: Copy, overwrite: bool = False) -> None:
        """Hold an original beside what there is, with its posts and what is kept of its crawl, and its *releases*.

        All of them come in, or nothing does. Marks of what was paid for stay behind: another store's secret made them.
        """
        for each in (copy, *releases):
            self.refuse_taken(each.info.name, overwrite)
        kept = tuple(each for each in copy.records if each.kind != CHARGES)
        self._put([sound_copy(each) for each in (replace(copy, records=kept), *releases)], overwrite=overwrite)

    def take(self, copies: Iterable[Copy], *, secret: bytes, overwrite: bool = False) -> None:
        """Hold what the *copies* hold, and nothing else; the *secret* is that of their store, which marked them."""
        self._put(map(sound_copy, copies), overwrite=overwrite, alone=True, secret=secret)
        self.expire()

    def secret(self) -> bytes:
        """What the marks of originals are made with; drawn at random when the store was made."""
        return self._read(lambda at: at.secret())

    def copies(self, read: Callable[[Callable[[Transaction], Any]], Any] | None = None) -> Iterator[Copy]:
        """All there is, one graph at a time, originals before their releases; an error where anything changes.

        *read* does what is read, each time in a transaction of its own unless told otherwise.
        """
        read = read or self._read
        before, heads = read(lambda at: (at.state(), at.heads()))
        numbers: dict[Any, NDArray[np.int64]] = {}
        names = {head.key: head.name for head in heads}
        for head in sorted(heads, key=lambda each: each.k is not None):
            parts, posts, runs, matches, seed, records = read(methodcaller("content", head))
            if read(lambda at: at.state()) != before:
                raise Unsettled(self.address, "the store")
            numbers[head.key] = parts.numbers
            linked = head.original in names
            yield Copy(
                info=head.info(names),
                graph=parts.assemble(),
                posts=posts,
                runs=runs,
                mapping=mapping_of(numbers[head.original], matches) if linked else None,
                seed=seed if linked else None,
                records=records,
            )

    @abstractmethod
    def check(self) -> list[str]:
        """The problems of the store, in sentences; clears what killed runs left and replaced records first."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address})"
