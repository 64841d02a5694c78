"""The contract of every graph store: what is the same for all of them stands here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.release import Release
from graphpriv.store.records import (
    Added,
    Copy,
    Follow,
    Forgotten,
    GraphInfo,
    Post,
    Run,
    User,
    check_name,
    emptied,
    taken,
)
from graphpriv.store.soundness import sound_follows, sound_graph, sound_posts, sound_users
from tabular.errors import UnknownName


class Store(ABC):
    """Graphs by name, originals and releases, with all that belongs to them.

    Users keep the order of their import. A change to a whole graph happens completely or not at all, even if the
    process is killed.
    """

    #: The name of the store in messages; it never holds a password.
    address: str

    @property
    def _folder(self) -> Path | None:
        """The folder of the store on this machine, where it has one."""
        return None

    def graph(self, name: str) -> GraphInfo:
        """The row of one graph in the list."""
        known = {each.name: each for each in self.graphs()}
        if name not in known:
            raise UnknownName.among("graph", name, known)
        return known[name]

    @abstractmethod
    def graphs(self) -> list[GraphInfo]:
        """All graphs, by name."""

    def create_graph(self, name: str, *, directed: bool, overwrite: bool = False) -> None:
        """Make an empty original, for a crawl to fill."""
        self.save_graph(name, SocialGraph.empty(directed=directed), overwrite=overwrite)

    def refuse_taken(self, name: str, overwrite: bool) -> None:
        """Refuse a name that is in use before any work is done; the store checks it again at the end."""
        if not overwrite and any(each.name == name for each in self.graphs()):
            raise taken(name)

    def save_graph(self, name: str, graph: SocialGraph, *, overwrite: bool = False) -> None:
        """Keep an original, all or nothing; releases made from one that is replaced stay, without their mapping."""
        check_name(name)
        sound_graph(graph)
        self.refuse_taken(name, overwrite)
        self._keep(name, graph, overwrite)

    @abstractmethod
    def _keep(self, name: str, graph: SocialGraph, overwrite: bool) -> None:
        """Keep a sound graph as an original."""

    @abstractmethod
    def load_graph(self, name: str) -> SocialGraph:
        """The graph as it was saved, in the same order."""

    @abstractmethod
    def revision(self, name: str) -> str:
        """A value that changes with every change to the graph and is never used twice."""

    @abstractmethod
    def load_pair(self, original: str, release: str) -> tuple[SocialGraph, SocialGraph, NDArray[np.int64]]:
        """An original, a release made from it and the mapping, all of one state of the store."""

    @abstractmethod
    def delete_graph(self, name: str) -> None:
        """Remove a graph and all that belongs to it; releases made from it stay, without their mapping."""

    def add_users(self, name: str, batch: Iterable[User]) -> Added:
        """Add users at the end of the order; one that is known keeps its place and takes the new record.

        What the record before held alone is gone from all answers, and leaves the files with the next check.
        """
        return self._add("users", name, sound_users(batch))

    def add_follows(self, name: str, batch: Iterable[Follow]) -> Added:
        """Add follows between users of the graph."""
        return self._add("follows", name, sound_follows(batch))

    def add_posts(self, name: str, batch: Iterable[Post]) -> Added:
        """Add posts by users of the graph; one that is known keeps its place and takes the new record.

        What the record before held leaves the files with the next check.
        """
        return self._add("posts", name, sound_posts(batch))

    @abstractmethod
    def _add(self, kind: str, name: str, records: Sequence[Any]) -> Added:
        """Add records of a kind, found sound, to an original."""

    @abstractmethod
    def users(self, name: str) -> Iterator[User]:
        """The users in their order, page by page; an error where the graph changes before the last page is read."""

    @abstractmethod
    def posts(self, name: str) -> Iterator[Post]:
        """The posts in the order of their import, page by page; an error where the graph changes meanwhile."""

    def save_release(
        self,
        original: str,
        name: str,
        release: Release,
        *,
        seed: int | None,
        run: Run,
        revision: str | None = None,
        overwrite: bool = False,
    ) -> None:
        """Keep a masked graph, and apart from it the mapping and the seed, all or nothing.

        *revision* is that of the original before it was loaded: if it has another one by now, the mapping may lead to
        the wrong persons, and nothing is kept. None is for those alone who have the original from elsewhere.
        """
        check_name(name)
        if name == original:
            raise taken(name)
        self.refuse_taken(name, overwrite)
        self._keep_release(original, name, release, seed, run, revision, overwrite)

    @abstractmethod
    def _keep_release(
        self, original: str, name: str, made: Release, seed: int | None, run: Run, revision: str | None, overwrite: bool
    ) -> None:
        """Keep a release of an original that is still of this revision."""

    @abstractmethod
    def mapping(self, original: str, release: str) -> NDArray[np.int64]:
        """For each user of the original by position its position in the release, -1 where it has none."""

    @abstractmethod
    def seed(self, original: str, release: str) -> int | None:
        """The seed a release was drawn with, for whoever may know the mapping too."""

    @abstractmethod
    def add_run(self, name: str, run: Run) -> None:
        """Write down a piece of work on a graph."""

    @abstractmethod
    def runs(self, name: str, *, with_releases: bool = True) -> list[Run]:
        """The work done on a graph, and on the releases made from it unless told otherwise; oldest first."""

    @abstractmethod
    def forget(self, name: str, user: str) -> Forgotten:
        """Remove a person from an original, with follows, posts and the mappings of its releases."""

    @abstractmethod
    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write all there is, of one moment, to a file, which is an embedded store itself."""

    def restore(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Take over all there is in a backup; what the store held before is gone."""
        from graphpriv.store.copies import opened_backup

        if self.graphs() and not overwrite:
            raise emptied(self.address)
        with opened_backup(path, near=self._folder) as source:
            self.take(source.copies(), overwrite=overwrite)

    @abstractmethod
    def take(self, copies: Iterable[Copy], *, overwrite: bool = False) -> None:
        """Hold what the *copies* hold, and nothing else."""

    def copies(self) -> Iterator[Copy]:
        """All there is while nobody else changes it, one graph at a time, originals before their releases."""
        for info in sorted(self.graphs(), key=lambda each: each.is_release):
            original = info.original
            yield Copy(
                info=info,
                graph=self.load_graph(info.name),
                posts=() if info.is_release else tuple(self.posts(info.name)),
                runs=tuple(self.runs(info.name, with_releases=False)),
                mapping=None if original is None else self.mapping(original, info.name),
                seed=None if original is None else self.seed(original, info.name),
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
