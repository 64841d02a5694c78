"""`graphpriv table search`: the best levels for each quasi-identifier, or the front of what can be had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from api.cli.common import (
    json_option,
    overwrite_option,
    param_option,
    refuse_two_documents,
    seed_option,
    show_json,
)
from api.cli.interrupts import stoppable
from api.cli.progress import progress
from api.cli.tables.chosen import (
    check_choice,
    check_release,
    chosen,
    done_of,
    levels_in,
    release_of,
    require_limits,
)
from api.cli.tables.columns import names_in
from api.cli.tables.common import TableOptions, identifiers_option, table_options
from api.cli.tables.outputs import Outputs
from api.cli.tables.search_document import document_of, for_report
from api.cli.tables.search_words import tell
from api.cli.tables.sought import (
    Sought,
    algorithm_of,
    epsilon_of,
    parameters_for,
    ranks_of,
    refuse_rest,
    refuse_unnamed,
)
from api.cli.tables.writing import Asked, announced, written
from graphpriv.report import search_report
from tabular.errors import InvalidParameter
from tabular.files import STREAM, write_text
from tabular.hierarchies import read_hierarchies
from tabular.lattice.evaluator import Evaluator
from tabular.lattice.limits import Limits
from tabular.lattice.metrics import LOSSES, OBJECTIVES
from tabular.lattice.reachable import refuse_unreachable
from tabular.lattice.searches import searches
from tabular.lattice.searching import Progress, Question, Result, run
from tabular.progress import Report
from tabular.reading import TableFile

_SOUGHT = (
    click.option("--quasi-identifiers", required=True, metavar="A,B", help="The columns an attacker may know."),
    click.option(
        "--hierarchies",
        required=True,
        metavar="DIR",
        help="A folder with a hierarchy for each of them, ARX style: A.csv or *_A.csv, one row a value.",
    ),
    click.option(
        "--algorithm",
        metavar="NAME",
        help=f"How: {', '.join(searches)}. If not given: optimal, and pareto with --objectives.",
    ),
    click.option("--metric", metavar="NAME", help=f"Seek the node that loses least by: {', '.join(LOSSES)}. [glm]"),
    click.option("--objectives", metavar="K,GLM", help=f"Seek the front of two or more of: {', '.join(OBJECTIVES)}."),
    click.option("--epsilon", metavar="5,100", help="With a front: the size of a box of solutions in each objective."),
    click.option("--sensitive", metavar="C", help="The column nobody shall learn of a person."),
    click.option("--class-label", metavar="C", help="The column that is predicted from the others; for cm."),
    click.option("--k", type=int, help="Rows of a class, at least."),
    click.option("--l", "l_", type=int, help="Distinct sensitive values of a class, at least."),
    click.option("--t", type=float, help="Distance of a class's sensitive values from all, at most, from 0 to 1."),
    click.option(
        "--suppression", type=float, default=0.0, show_default=True, help="Share of the rows that may be suppressed."
    ),
    click.option("--evaluations", type=click.IntRange(min=1), metavar="N", help="Look at N distinct nodes at most."),
    click.option(
        "--seconds", type=click.FloatRange(min=0), metavar="S", help="Stop after S seconds with the best so far."
    ),
    click.option("--generator", metavar="NAME", help="Of pbg-ea: how new nodes are made; see `graphpriv methods`."),
    param_option,
)

_RELEASED = (
    click.option("--out", metavar="FILE", help="The table at the chosen node, CSV or Parquet; - is standard output."),
    click.option(
        "--choose",
        metavar="WHICH",
        help="With --out: the place of the node in the list, or its levels, as in 'age=1,sex=0'. The best if not "
        "given; of a front none is chosen for you.",
    ),
    identifiers_option,
    click.option(
        "--suppressed",
        type=click.Choice(["star", "drop"]),
        default="star",
        show_default=True,
        help="What becomes of suppressed rows: * in all quasi-identifiers, or left out. What stands in their other "
        "columns stays.",
    ),
    click.option("--shuffle", is_flag=True, help="Put the rows in random order: else it links each with its original."),
    click.option(
        "--private", metavar="FILE", help="Keep, as JSON for the owner's eyes alone, what leads back: seed and order."
    ),
    click.option("--html", metavar="FILE", help="A report: the front, or best and bound over time, and all figures."),
)


def with_options(command: Any) -> Any:
    """Add what is sought and what is released."""
    for option in reversed((*_SOUGHT, *_RELEASED)):
        command = option(command)
    return command


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is to be written."""

    out: str | None
    choose: str | None
    html: str | None
    private: str | None
    identifiers: str
    suppressed: str
    shuffle: bool
    overwrite: bool

    def check(self, sought: Sought, *, as_json: bool) -> None:
        """Refuse outputs that do not fit together."""
        refuse_two_documents(as_json, out=self.out, html=self.html)
        if self.out == self.html == STREAM:
            raise InvalidParameter("--out - and --html - both want standard output; give one of them a file.")
        if self.out is not None:
            check_choice(self.choose, sought.objectives)
            return
        for name in ("choose", "private", "shuffle"):
            if getattr(self, name):
                raise InvalidParameter(f"--{name} says nothing without --out.")

    def asked(self, sought: Sought) -> Asked:
        """The release as what writes it takes it."""
        return Asked(
            file=sought.file,
            out=self.out or "",
            columns=sought.quasi_identifiers,
            method="full-domain",
            seed=sought.seed,
            identifiers=self.identifiers,
            shuffle=self.shuffle,
            private=self.private,
            overwrite=self.overwrite,
        )


@click.command()
@click.argument("file")
@with_options
@overwrite_option
@table_options
@seed_option
@json_option
def search(
    file: str,
    quasi_identifiers: str,
    hierarchies: str,
    algorithm: str | None,
    metric: str | None,
    objectives: str | None,
    epsilon: str | None,
    sensitive: str | None,
    class_label: str | None,
    k: int | None,
    l_: int | None,
    t: float | None,
    suppression: float,
    evaluations: int | None,
    seconds: float | None,
    generator: str | None,
    params: tuple[str, ...],
    seed: int,
    reading: TableOptions,
    as_json: bool,
    **wanted: Any,
) -> None:
    """Find to which level of its hierarchy each quasi-identifier is best generalised.

    Sought is the node of the lattice that satisfies --k, --l and --t and loses least by --metric, or, with
    --objectives, all nodes that no other is better than. Without --k and --l each node has a k of its own: the greatest
    that costs no more rows than may be suppressed. A search can be stopped at any time (Ctrl-C, --seconds) and then
    gives the best so far.

    What an algorithm takes by --param and what it promises stands under `graphpriv methods`.
    """
    names = names_in("--quasi-identifiers", quasi_identifiers)
    limits = Limits(k=k, l=l_, t=t, suppression=suppression)
    sought_metric, sought_objectives = ranks_of(metric, objectives)
    entry = algorithm_of(algorithm, objectives)
    sizes = epsilon_of(epsilon, sought_objectives)
    parameters, rest = parameters_for(entry, params, epsilon=sizes, generator=generator, evaluations=evaluations)
    budget = rest.pop("evaluations", None)
    refuse_rest(entry, rest)
    refuse_unnamed(sought_objectives or (sought_metric,), limits, sensitive, class_label, names)
    sought = Sought(
        file=file,
        quasi_identifiers=names,
        hierarchies=hierarchies,
        algorithm=entry.name,
        metric=sought_metric,
        objectives=sought_objectives,
        limits=limits,
        parameters=parameters,
        sensitive=sensitive,
        class_label=class_label,
        evaluations=budget,
        seconds=seconds,
        seed=seed,
    )
    find(sought, Wanted(**wanted), reading, as_json=as_json)


def find(sought: Sought, wanted: Wanted, reading: TableOptions, *, as_json: bool) -> None:
    """Search, write what was asked for, and say what came of it."""
    wanted.check(sought, as_json=as_json)
    sought.search()
    asked, outputs = wanted.asked(sought), Outputs(overwrite=wanted.overwrite)
    if wanted.out is not None:
        announced(outputs, asked)
    outputs.announce("--html", wanted.html)
    for path in (sought.file, reading.schema.source, sought.hierarchies):
        outputs.read_from(path)
    with progress() as report:
        report("Reading", 0, 0)
        source = reading.read(sought.file)
        evaluator = evaluator_of(sought, source)
        node = levels_in(wanted.choose, evaluator.lattice)
        if wanted.out is not None:
            check_release(source.table, evaluator.hierarchies, wanted.identifiers)
        if node is not None:
            require_limits(node, evaluator)
        rng = np.random.default_rng(sought.seed)
        result = searched(sought, evaluator, rng, report)
        report("Reading all figures of the solutions", 0, 0)
        solutions = evaluator.in_full(result.solutions.nodes)
        document = document_of(sought, source, evaluator, result, solutions)
        done = None
        if wanted.out is not None:
            which = chosen(wanted.choose, node, solutions, evaluator)
            release = release_of(which, sought, source, evaluator)
            done = done_of(
                release, sought, source, rng, shuffle=wanted.shuffle, drop_suppressed=wanted.suppressed == "drop"
            )
            document["release"] = {"place": None if which.place is None else which.place + 1, **release.document()}
        report("Writing", 0, 0)
        with outputs.together():
            if wanted.html is not None:
                write_text(wanted.html, search_report(for_report(document)), overwrite=wanted.overwrite)
            if done is not None:
                document["written"] = written(asked, done)
    if as_json:
        show_json(document)
    else:
        tell(document, out=wanted.out, html=wanted.html, shuffle=wanted.shuffle)


def evaluator_of(sought: Sought, source: TableFile) -> Evaluator:
    """What says of nodes what they are worth; the table, its columns and its hierarchies are checked."""
    table = source.table
    sought.check_columns(table)
    refuse_unreachable(table, sought.limits, sought.sensitive)
    hierarchies = read_hierarchies(sought.hierarchies, table, sought.quasi_identifiers)
    return Evaluator(
        table,
        hierarchies,
        limits=sought.limits,
        sensitive=sought.sensitive,
        class_label=sought.class_label,
        metrics=sought.ranks,
    )


def searched(sought: Sought, evaluator: Evaluator, rng: np.random.Generator, report: Report) -> Result:
    """What the search finds, until it ends or is stopped."""
    search = sought.search()
    most = sought.evaluations or getattr(search, "evaluations", 0) or 0

    def told(progress: Progress) -> None:
        report("Searching", progress.evaluated, max(most, progress.evaluated) if most else 0)

    question = Question(evaluator, sought.metric, sought.objectives)
    with stoppable() as is_interrupted:
        report("Searching", 0, most)
        return run(sought.algorithm, search, question, rng=rng, stop=sought.stop(is_interrupted), report=told)
