"""`graphpriv table search`: the best levels for each quasi-identifier, or the front of what can be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np

from api.cli.common import (
    json_option,
    overwrite_option,
    seed_option,
    show_json,
)
from api.cli.interrupts import stoppable
from api.cli.progress import progress
from api.cli.tables.chain import AnyEvaluator, Before, Chain
from api.cli.tables.chosen import (
    check_release,
    chosen,
    done_of,
    levels_in,
    release_of,
    require_limits,
)
from api.cli.tables.columns import names_in
from api.cli.tables.common import TableOptions, table_options
from api.cli.tables.exact_front import compared, is_wanted
from api.cli.tables.outputs import Outputs
from api.cli.tables.search_document import document_of, for_report
from api.cli.tables.search_options import Wanted, with_options
from api.cli.tables.search_words import tell
from api.cli.tables.sought import (
    Sought,
    algorithm_of,
    check_epsilon,
    checked_seconds,
    limits_of,
    parameters_for,
    ranks_of,
    refuse_pairing,
    refuse_rest,
    refuse_unnamed,
)
from api.cli.tables.writing import Done, announced, written
from tabular.errors import NoSolution
from tabular.files.disk import write_text
from tabular.files.reading import TableFile
from tabular.lattice.limits import refuse_unreachable
from tabular.lattice.searching import Progress, Question, Result, run
from tabular.progress import Report
from tabular.report import search_report


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
    previous: str | None,
    key: str | None,
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
    limits = limits_of(k=k, l=l_, t=t, suppression=suppression)
    sought_metric, sought_objectives = ranks_of(metric, objectives)
    entry = algorithm_of(algorithm, objectives, previous)
    refuse_pairing(entry, sought_objectives)
    check_epsilon(epsilon, sought_objectives)
    own = {"epsilon": epsilon, "generator": generator, "evaluations": evaluations}
    parameters, rest = parameters_for(entry, params, **own)
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
        seconds=checked_seconds(seconds),
        seed=seed,
        before=Before(previous=previous, key=key),
        own_options=tuple(name for name, value in own.items() if value is not None),
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
    for path in (sought.file, reading.schema.source, sought.hierarchies, sought.before.previous):
        outputs.read_from(path)
    with progress() as report:
        report("Reading", 0, 0)
        source = reading.read(sought.file)
        found = found_in(source, sought, wanted, report)
        report("Writing", 0, 0)
        with outputs.together():
            document = found.document
            if wanted.html is not None:
                write_text(wanted.html, search_report(for_report(document)), overwrite=wanted.overwrite)
            if found.done is not None:
                document = {**document, "written": written(asked, found.done)}
    if as_json:
        show_json(document)
    else:
        tell(document, out=wanted.out, html=wanted.html, shuffle=wanted.shuffle)


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What a search found, as a document, and what is to be written of it."""

    document: Mapping[str, Any]
    done: Done | None


def found_in(source: TableFile, sought: Sought, wanted: Wanted, report: Report) -> Found:
    """Search a table, and make the release that is wanted; nothing is written yet."""
    sought.check_columns(source.table)
    source = replace(source, table=sought.with_roles(source.table))
    refuse_unreachable(source.table, sought.limits, sought.sensitive)
    chain = Chain.of(sought.before, sought.hierarchies, source.table, sought.quasi_identifiers)
    evaluator = evaluator_of(sought, source, chain)
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
    if chain.history.releases:
        document["previous"] = chain.document() | document.get("previous", {})
    if is_wanted(sought, evaluator.lattice.size, exact=wanted.exact, for_report=wanted.html is not None):
        report("Computing the exact front", 0, 0)
        document |= compared(sought, evaluator, result.solutions)
    if wanted.out is None:
        return Found(document=document, done=None)
    which = chosen(wanted.choose, node, solutions, evaluator)
    release = release_of(which, sought, source, evaluator, chain, labels=wanted.labels)
    done = done_of(
        release,
        sought,
        source,
        rng,
        chain,
        shuffle=wanted.shuffle,
        drop_suppressed=wanted.drops_suppressed(sought),
    )
    document["release"] = {"place": None if which.place is None else which.place + 1, **release.document()}
    return Found(document=document, done=done)


def evaluator_of(sought: Sought, source: TableFile, chain: Chain) -> AnyEvaluator:
    """What says of nodes what they are worth."""
    return chain.evaluator(
        source.table,
        limits=sought.limits,
        sensitive=sought.sensitive,
        class_label=sought.class_label,
        metrics=sought.ranks,
    )


def searched(sought: Sought, evaluator: AnyEvaluator, rng: np.random.Generator, report: Report) -> Result:
    """What the search finds, until it ends or is stopped."""
    search = sought.search()
    most = sought.evaluations or getattr(search, "evaluations", 0) or 0

    def told(progress: Progress) -> None:
        report("Searching", progress.evaluated, max(most, progress.evaluated) if most else 0)

    question = Question(evaluator, sought.metric, sought.objectives)
    with stoppable() as is_interrupted:
        report("Searching", 0, most)
        ending = sought.ending(is_interrupted)
        try:
            return run(
                sought.algorithm,
                search,
                question,
                rng=rng,
                stop=ending,
                most=sought.evaluations,
                report=told,
            )
        except NoSolution as error:
            raise NoSolution(f"{error} {ending.said}" if ending.said else str(error)) from None
