"""Erases what the service has made of a person, a graph or a table, beside the store and the table itself.

Jobs name what they read. Those that read an original, and the uploads that it came from, are found by these names. A
job that only has figures stays, since figures over all of a graph tell of nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from api.service.answers import Answers
from api.service.erasure.searching import may_tell_of
from api.service.home import Home
from api.service.jobs import Job, Jobs
from api.service.tables.tables import HIERARCHIES, SCHEMA, StoredTable
from api.service.uploads.uploads import Uploads
from api.verbs import verbs
from api.verbs.contract import names_with


@dataclass(frozen=True)
class Erased:
    """How much was erased."""

    uploads: int = 0
    jobs: int = 0


@dataclass(frozen=True)
class Erasure:
    """Erases what belongs to somebody or something in the folder of a service."""

    home: Home
    uploads: Uploads
    answers: Answers
    jobs: Jobs

    def person(self, graph: str, person: str) -> Erased:
        """Erase what tells of a *person* of an original, which is called *graph* in the store.

        That is: the uploads that it was imported from and those that hold the id, or may; jobs about the person; of
        the jobs that read the graph or such an upload those that left files, or tell of the person in their result; and
        all kept answers. What runs with the graph is cancelled: it has read the person.
        """
        about = self._with_graph(graph)
        files = [*self._imported(about), *self.uploads.that(lambda file: may_tell_of(file, person))]
        about = _once([*about, *self.jobs.naming(self.uploads.names_of(files))])
        gone = self._remove([each for each in about if self._left_files(each) or self._tells(each, person)])
        return Erased(self._clear(files), gone + self.jobs.forget(person))

    def graph(self, graph: str) -> Erased:
        """Erase what was made from an original that is deleted or replaced: its uploads, and jobs that left files."""
        about = self._with_graph(graph)
        files = self._imported(about)
        return Erased(self._clear(files), self._remove([each for each in about if self._left_files(each)]))

    def replaced(self, graphs: Collection[str]) -> None:
        """Erase what was made from those originals that a job has replaced: as `graph` does, but for what came later.

        It can be asked for again and again: where all of that is gone, nothing happens.
        """
        for job in self.jobs.naming(graphs):
            if job.verb == "graph import" and job.options.get("revision") is not None and job.state == "done":
                before = [each for each in self._with_graph(job.options["graph"]) if _began_before(each, job)]
                own = self._imported([job])
                files = [each for each in self._imported(before) if each not in own and each.exists()]
                jobs = [each for each in before if self._left_files(each)]
                if files or jobs:
                    self._clear(files)
                    self._remove(jobs)

    def table(self, table: StoredTable) -> Erased:
        """Erase what was made from a table that is deleted or replaced, and copies of it: jobs and its upload."""
        names = {table.address, f"{HIERARCHIES}{table.address}", f"{SCHEMA}{table.address}"}
        found = self.jobs.naming([*names, table.name])
        about = [each for each in found if names & _files_of(each) or table.name in _values(each, "becomes")]
        made = [value for each in about if table.name in _values(each, "becomes") for value in _files_of(each)]
        files = [file for name in made for file in self.uploads.behind(name)]
        files += [] if table.source is None else [self.uploads.folder / table.source]
        return Erased(self._clear(files), self._remove(about))

    def _with_graph(self, graph: str) -> list[Job]:
        """The jobs that read or wrote a graph."""
        return [each for each in self.jobs.naming([graph]) if graph in _graphs_of(each)]

    def _imported(self, jobs: Collection[Job]) -> list[Path]:
        """The uploads that *jobs* have imported as graphs."""
        values = [value for each in jobs if each.verb == "graph import" for value in each.options.values()]
        return [file for value in values if isinstance(value, str) for file in self.uploads.behind(value)]

    def _tells(self, job: Job, person: str) -> bool:
        """Whether what a *job* left tells of a person."""
        found = self.jobs.folder(job.id).rglob("*")
        return any(may_tell_of(file, person) for file in found if file.is_file())

    def _left_files(self, job: Job) -> bool:
        """Whether a *job* has left files, or may do so yet."""
        return job.state == "running" or bool(self.jobs.files(job.id))

    def _remove(self, jobs: Sequence[Job]) -> int:
        for each in jobs:
            self.jobs.erase(each.id)
        return len(jobs)

    def _clear(self, files: Collection[Path]) -> int:
        """Erase uploads and all kept answers, also from the log of the database."""
        count = self.uploads.erase(set(files))
        self.answers.clear()
        self.home.settle()
        return count


def _once(jobs: Sequence[Job]) -> list[Job]:
    """Each job once."""
    return list({each.id: each for each in jobs}.values())


def _began_before(job: Job, other: Job) -> bool:
    """Whether a job was at work before another one had ended."""
    return job.id != other.id and (job.began or inf) < (other.ended or 0.0)


def _graphs_of(job: Job) -> set[Any]:
    """The graphs that a *job* names."""
    own = {job.options.get("name"), job.options.get("graph")} if job.verb.startswith("graph ") else set()
    return own | _values(job, "graph")


def _files_of(job: Job) -> set[Any]:
    """The files and tables that a *job* names."""
    texts = [text for value in job.options.values() for text in (value if isinstance(value, list) else [value])]
    # A parameter is KEY=VALUE.
    named = {part for text in texts if isinstance(text, str) for part in (text, text.partition("=")[2])}
    return named - _graphs_of(job)


def _values(job: Job, trait: str) -> set[Any]:
    """The values of those options of a *job* that have a *trait*."""
    if job.verb not in verbs:
        return set()
    return {job.options.get(name) for name in names_with(verbs[job.verb].method, trait)}
