"""`table evolve`."""

from __future__ import annotations

import io
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from api.verbs.contract import (
    STREAM,
    Outcome,
    Work,
    dictionary_beside,
    json_output,
    of_engine,
    text_output,
    verbs,
)
from api.verbs.table.compare import SCORES
from api.verbs.table.files import ReleasingVerb, refuse_repeated, require_columns, writing
from api.verbs.values import parameters_of
from tabular.errors import InvalidInput, InvalidParameter, ReportedError, named
from tabular.files.disk import Output, Planned, read_text, refuse_existing
from tabular.registry import option

if TYPE_CHECKING:
    from tabular.evolution import EvolutionRequest, Evolved
    from tabular.evolution.checkpoint import Checkpoint, CheckpointFile, Keeper
    from tabular.files.table_files import TableFile
    from tabular.release import Package
    from tabular.table import Table

_begins = partial(option, group="What it starts from")
_stops = partial(option, group="When it stops (after 1,000 generations if nothing else is said)")

#: What is said of each member that is written.
_LISTED = ("k", "information_loss", "disclosure_risk", "score_mean", "score_max", "highest_linkage")

evolutions = of_engine("tabular.evolution", "evolutions")


@verbs.add("table evolve")
@dataclass(frozen=True, kw_only=True)
class EvolveTable(ReleasingVerb):
    """Lets protections of a table improve themselves, and writes the best of them for release.

    Records start from a grid of about a hundred protections, matrices from the PRAMs of that grid, formulas from random
    ones; generation by generation the score of loss and risk falls, or what else `param` says. The best is measured
    anew at the end, with attackers that no score counts.
    You can stop at any time (Ctrl-C, `seconds`); a run that was stopped or killed goes on with `resume`.

    `graphpriv methods --json` lists the parameters for `param`.
    """

    draws = True
    action = "protect"
    stoppable = True
    goes_on = True

    file: str = option(help="The table.", positional=True, input=True)
    what: str = option(choices=evolutions, metavar="NAME", help="What evolves.")
    columns: tuple[str, ...] = option(
        metavar="A,B",
        listed=True,
        help="The columns to protect; records evolve numbers or categories, not both (`kind`).",
    )
    score: str = option("max", choices=SCORES, help="Lower the greater of loss and risk (the default), or their mean.")
    param: tuple[str, ...] = option((), metavar="KEY=VALUE", help="A parameter of what evolves (`what`); repeatable.")

    population: str | None = _begins(
        None,
        metavar="DIR",
        input=True,
        folder=True,
        help="A folder to start from instead: for records, masked tables whose rows are in the original's order; for "
        "matrices, one CSV file of each column's matrix. There is none for `what` formula.",
    )
    drop_best: float = _begins(
        0.0, low=0, high=99, metavar="PERCENT", help="Start without the best PERCENT of the population."
    )
    resume: bool = _begins(
        False, local=True, help="Go on with a run that was stopped or killed, from the checkpoint beside `out`."
    )

    generations: int | None = _stops(None, low=0, metavar="N", help="Stop after N generations.")
    seconds: float | None = _stops(None, low=0, metavar="S", help="Stop after S seconds with the best so far.")
    target: float | None = _stops(None, low=0, metavar="SCORE", help="Stop when the best score is SCORE or less.")
    patience: int | None = _stops(
        None, low=1, metavar="N", help="Stop after N generations in which the best did not improve."
    )

    population_out: str | None = writing(
        None,
        metavar="DIR",
        fills=True,
        help="Write every table of the population with its data dictionary, the best first, to choose from: release "
        "one of them, since several together tell more than each alone.",
    )
    html: str | None = writing(
        None, metavar="FILE", output=True, help="Write a report: the scores by generation, and loss against risk."
    )
    accept_unchanged: bool = writing(
        False,
        help="Write what gives nearly everything away, too, such as a table that is the original in 95 % of cells.",
    )

    def check(self) -> None:
        super().check()
        refuse_repeated("columns", self.columns)
        if self.out is None:
            raise InvalidParameter(f"{named('out')} is missing: name the file that the best is written to.")
        if self.resume and self.out == STREAM:
            raise InvalidParameter(
                f"{named('resume')} needs a file as {named('out')}: the checkpoint lies beside it, under its name."
            )
        self._refuse_as_checkpoint()
        self.request.evolution()

    def _refuse_as_checkpoint(self) -> None:
        """Refuse an input or an output in the place of the checkpoint, which is removed at the end."""
        from tabular.evolution.checkpoint import CheckpointFile

        if self.out == STREAM or self.out is None:
            return
        kept = CheckpointFile.beside(self.out).path
        for path in [*self.reads(), *(each.path for each in self.planned())]:
            if path != STREAM and Path(path).resolve() == kept.resolve():
                raise InvalidParameter(
                    f"{path}: a checkpoint is kept under this name, since {named('out')} is {self.out}; give one of "
                    "them another name."
                )

    @property
    def writes_later(self) -> bool:
        return self.population_out is not None

    def planned(self) -> Sequence[Planned]:
        # The first stands for all: how many there are is not known yet.
        first = [] if self.population_out is None else self._planned_members(1)
        return [*super().planned(), *first]

    @cached_property
    def request(self) -> EvolutionRequest:
        """The evolution as the engine takes it."""
        from tabular.evolution import EvolutionRequest

        own = ("what", "columns", "score", "generations", "seconds", "target", "patience", "population", "drop_best",
               "accept_unchanged")  # fmt: skip
        return EvolutionRequest(
            parameters=parameters_of(evolutions()[self.what], self.param),
            identifiers=self.identifiers or "drop",
            shuffle=self.shuffles,
            **{name: getattr(self, name) for name in own},
        )

    def run(self, work: Work) -> Outcome:
        from tabular.evolution import evolve

        earlier = self._earlier_members()
        for path in earlier:
            refuse_existing(path, overwrite=work.overwrite)
        source = self.read(self.file, work, measured=self.columns)
        require_columns(source.table, self.columns, self.file)
        keeper, resumed = self._kept(source.table, work)
        if resumed is not None:
            # All that is drawn comes from the seed of the run that goes on.
            work = replace(work, seed=int(resumed.seed))
        found = evolve(
            self.request, source.table, rng=work.generator(), file=self.file, schema=self.columns_described,
            keeper=keeper, seed=str(work.seed), resumed=resumed, report=work.report, best=work.best, stop=work.stop,
            parts=work.parts,
        )  # fmt: skip
        outcome = self._outcome(found, source, work)
        written = {Path(each.path).resolve() for each in outcome.outputs}
        # Beside new members they would be taken for some of them.
        removed = [real for each in earlier if (real := each.resolve()) not in written]
        outcome = replace(outcome, removed=removed)
        if keeper is None:
            return outcome
        if found.is_unfinished:
            options = f"{named('resume')} {named('overwrite')}"
            work.note(f"{keeper.where} has where it stands, private: {options} goes on from there.")
            return outcome
        return replace(outcome, afterwards=keeper.clear)

    def _kept(self, table: Table, work: Work) -> tuple[Keeper | None, Checkpoint | None]:
        """Where checkpoints are kept, and the one to go on from."""
        from tabular.evolution.checkpoint import CheckpointFile, CheckpointPart
        from tabular.loop import ALONE

        if work.parts is not ALONE:
            part = CheckpointPart(work.parts, self.request.run_of(table), str(work.seed))
            return part, part.recall()
        if self.out is None or self.out == STREAM:
            return None, None
        keeper = CheckpointFile.beside(self.out)
        return keeper, self._recalled(keeper, work)

    def _recalled(self, keeper: CheckpointFile, work: Work) -> Checkpoint | None:
        if not self.resume:
            if not work.overwrite:
                keeper.refuse_existing()
            return None
        found = keeper.recall()
        if found is None:
            raise InvalidInput(f"{keeper.where}: there is no checkpoint to go on from; leave out {named('resume')}.")
        return found

    def _outcome(self, found: Evolved, source: TableFile, work: Work) -> Outcome:
        from tabular.report import evolution_for_report, evolution_report

        members = self._members(found, source, work)
        private = {"population": {each.path: each.leads_back for each in members}} if members else {}
        told, outputs = self.release_outputs(found.release, source, work, private=private)
        about = {"file": Path(source.name).name, "rows": len(source.table), "columns": list(self.columns)}
        document: dict[str, Any] = {**found.document, **about, "written": told}
        if members:
            document["population_files"] = [each.listed for each in members]
            outputs += [output for each in members for output in each.outputs(source)]
        if self.html is not None:
            outputs.append(text_output(self.html, "html", evolution_report(evolution_for_report(document))))
        for remark in document["remarks"]:
            work.note(remark)
        return Outcome(document=document, outputs=outputs)

    def _member_files(self, count: int) -> list[str]:
        """The tables of the *count* best of the population."""
        folder, ending = Path(self.population_out or ""), Path(self.out or "").suffix or ".csv"
        return [str(folder / f"{place:03}{ending}") for place in range(1, count + 1)]

    def _planned_members(self, count: int) -> list[Planned]:
        """The files of the *count* best of the population: each table, and its dictionary."""
        every = [each for path in self._member_files(count) for each in (Planned("", path), *dictionary_beside(path))]
        return [replace(each, parameter="population_out", folder=self.population_out) for each in every]

    def _earlier_members(self) -> list[Path]:
        """The files of the population that an earlier run has left in the folder."""
        folder = Path(self.population_out or "")
        if self.population_out is None or not folder.is_dir():
            return []
        from tabular.release import dictionary_path

        tables = [each for each in sorted(folder.iterdir()) if _MEMBER.fullmatch(each.name) and _is_evolved(each)]
        return [path for table in tables for path in (table, dictionary_path(table))]

    def _members(self, found: Evolved, source: TableFile, work: Work) -> list[_Member]:
        """Every member that may be released, each as a release of its own, its rows in an order of its own."""
        if self.population_out is None:
            return []
        count = len(found.members)
        work.expect(self._planned_members(count)[len(self._planned_members(1)) :])
        streams = work.generator().spawn(2 + count)[2:]
        members, waiting = [], _Waiting()
        for number, (place, individual) in enumerate(found.members):
            work.report("Measuring the population", number, count)
            package = self.packaged(found.released(individual, streams[number]), source, work)
            members.append(_Member(self._member_files(number + 1)[-1], place, package, waiting))
        return members


#: How the tables of a population are called.
_MEMBER = re.compile(r"\d{3,}\.\w+")


def _is_evolved(table: Path) -> bool:
    """Whether a table is the release of an evolution, by its data dictionary."""
    from tabular.release import dictionary_path

    with suppress(OSError, ValueError, ReportedError):
        document = json.loads(read_text(dictionary_path(table)))
        return isinstance(document, dict) and str(document.get("method", "")).startswith("evolution of ")
    return False


@dataclass(frozen=True)
class _Waiting:
    """Where tables wait to be copied to their places: one open file, however many they are."""

    file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    def keep(self, content: IO[bytes]) -> Callable[[IO[bytes], str], None]:
        """Take in *content*, and give what writes it."""
        begin = self.file.seek(0, io.SEEK_END)
        shutil.copyfileobj(content, self.file)
        length = self.file.tell() - begin

        def write(file: IO[bytes], release: str) -> None:
            self.file.seek(begin)
            left = length
            while left and (block := self.file.read(min(left, _BLOCK))):
                file.write(block)
                left -= len(block)

        return write


#: So many bytes are copied at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class _Member:
    """One member of the population: its file, its place in the document's list, and its release."""

    path: str
    place: int
    package: Package
    waiting: _Waiting

    @property
    def listed(self) -> dict[str, Any]:
        """What the document says of it."""
        told = self.package.document
        return {"file": self.path, "member": self.place, **{name: told[name] for name in _LISTED}}

    @property
    def leads_back(self) -> dict[str, Any]:
        """What leads back from it to the original."""
        known = self.package.private
        return {name: known[name] for name in ("order", "matrices", "began_as", "formula") if name in known}

    def outputs(self, source: TableFile) -> list[Output]:
        """Its table and its dictionary, which names the id of this table alone."""
        from tabular.files.disk import release_id
        from tabular.files.table_files import write_table_to
        from tabular.release import dictionary_path

        with tempfile.TemporaryFile() as file:
            write_table_to(file, self.package.table, self.path, like=source)
            file.seek(0)
            dictionary = {**self.package.dictionary, "release": release_id(file)}
            file.seek(0)
            write = self.waiting.keep(file)
        return [
            Output(path=self.path, parameter="population_out", write=write),
            json_output(str(dictionary_path(self.path)), "population_out", dictionary),
        ]
