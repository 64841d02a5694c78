"""`table search`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from api.verbs.contract import Outcome, Work, refuse_without, verbs
from api.verbs.outputs import text_output
from api.verbs.table.releasing import ReleasingVerb
from api.verbs.values import parameters_of
from tabular.registry import option

if TYPE_CHECKING:
    from tabular.files.disk import Output
    from tabular.lattice.search_request import SearchRequest

#: The labels that name the values which occur.
BY_SETS = "sets"

_KEEP, _MINIMISE = "What it must keep", "What it minimises"
_SEARCH, _WRITE = "How it searches", "What it writes"


def algorithms() -> Any:
    """The searches."""
    from tabular.lattice.searches import searches

    return searches


def losses() -> tuple[str, ...]:
    """The metrics that a search can minimise."""
    from tabular.lattice.metrics import LOSSES

    return tuple(LOSSES)


def objectives() -> tuple[str, ...]:
    """The objectives of a front."""
    from tabular.lattice.metrics import OBJECTIVES

    return tuple(OBJECTIVES)


def levels_as_text(names: Iterable[str], levels: Iterable[int]) -> str:
    """The levels of columns as `choose` takes them."""
    from tabular.lattice.search_outcome import levels_as_text as text

    return text(names, levels)


def nodes_in_words(count: int) -> str:
    """A number of nodes, as a power of ten where it is huge."""
    from tabular.lattice.searches.contract import count_in_words

    return count_in_words(count)


@verbs.add("table search")
@dataclass(frozen=True, kw_only=True)
class SearchTable(ReleasingVerb):
    """Finds the generalisation that meets `k`, `l` and `t` with the least loss.

    It chooses one level of its hierarchy for each quasi-identifier. With `objectives` it finds the whole front: all
    choices of levels that no other beats. Without `k` and `l`, each choice gets the greatest k that costs no more rows
    than may be suppressed. You can stop a search at any time (Ctrl-C, `seconds`); it then gives the best so far.

    `graphpriv methods --json` lists what each algorithm promises, and its parameters for `param`.
    """

    draws: ClassVar[bool] = True
    stoppable: ClassVar[bool] = True

    file: str = option(help="The table.", positional=True, input=True)
    quasi_identifiers: tuple[str, ...] = option(metavar="A,B", listed=True, help="The columns an attacker may know.")
    hierarchies: str = option(
        metavar="DIR", input=True, help="A folder with a hierarchy for each of them: A.csv or *_A.csv, a row per value."
    )

    k: int | None = option(None, group=_KEEP, help="Each class has at least N rows.")
    l: int | None = option(None, group=_KEEP, help="Each class has at least N distinct sensitive values.")  # noqa: E741
    t: float | None = option(
        None, group=_KEEP, help="The sensitive values of a class are at most X away from those of the table."
    )
    sensitive: str | None = option(
        None, metavar="C", group=_KEEP, help="The column whose value nobody should learn about a person."
    )
    suppression: float = option(0.0, group=_KEEP, help="Suppress at most this share of the rows.")
    previous: str | None = option(
        None,
        metavar="RELEASE",
        group=_KEEP,
        input=True,
        release=True,
        help="The release before this one: the released file if it was the first, else the `private` record of the "
        "last. All releases together keep k.",
    )
    key: str | None = option(
        None,
        metavar="COLUMN",
        group=_KEEP,
        help="The column that identifies a person in both releases; without it, row i is the same person.",
    )

    metric: str | None = option(
        None, metavar="NAME", group=_MINIMISE, choices_shown=losses, help="The loss; glm if not given."
    )
    objectives: tuple[str, ...] = option(
        (),
        metavar="K,GLM",
        listed=True,
        group=_MINIMISE,
        choices_shown=objectives,
        help="Two or more for a front.",
    )
    epsilon: str | None = option(
        None, metavar="5,100", group=_MINIMISE, help="For a front: the size of a box of solutions, by objective."
    )
    class_label: str | None = option(
        None, metavar="C", group=_MINIMISE, help="The column to be predicted from the others; for cm."
    )

    algorithm: str | None = option(
        None,
        metavar="NAME",
        group=_SEARCH,
        choices=algorithms,
        help="The search; optimal if not given, and pareto with `objectives`.",
    )
    evaluations: int | None = option(None, low=1, metavar="N", group=_SEARCH, help="Evaluate at most N distinct nodes.")
    seconds: float | None = option(None, metavar="S", group=_SEARCH, help="Stop after S seconds with the best so far.")
    generator: str | None = option(None, metavar="NAME", group=_SEARCH, help="For pbg-ea: how it makes new nodes.")
    param: tuple[str, ...] = option(
        (), metavar="KEY=VALUE", group=_SEARCH, help="A parameter of the algorithm; repeatable."
    )
    exact: bool | None = option(
        None,
        group=_SEARCH,
        help="Also compute the exact front and say how much of it a heuristic found; the default for `html` if the "
        "lattice is small.",
    )

    choose: str | None = option(
        None,
        metavar="WHICH",
        group=_WRITE,
        help="The node to release: its place in the list, or its levels as in 'age=1,sex=0'. The best if not given; a "
        "front has no best.",
    )
    labels: str | None = option(
        None,
        group=_WRITE,
        choices=("hierarchy", BY_SETS),
        help="Write the labels of the hierarchies (the default), or sets of the values under them, such as [20,34], "
        "for `table measure`. Sets disclose more than a release should.",
    )
    suppressed: str | None = option(
        None,
        group=_WRITE,
        choices=("star", "drop"),
        help="Write suppressed rows with * in all quasi-identifiers (the default), or leave them out (always so with "
        "`previous`).",
    )
    html: str | None = option(None, metavar="FILE", group=_WRITE, output=True, help="Also write a report.")

    def check(self) -> None:
        super().check()
        refuse_without(self, "out", "choose", "private", "shuffle", "suppressed", "labels", "identifiers")
        self.request.check()

    @cached_property
    def request(self) -> SearchRequest:
        """The search as the engine takes it."""
        from tabular.lattice.search_request import ReleaseRequest, SearchRequest
        from tabular.lattice.space import Limits

        release = ReleaseRequest(
            choose=self.choose,
            labels=self.labels or "hierarchy",
            suppressed=self.suppressed,
            identifiers=self.identifiers or "drop",
            shuffle=self.shuffle,
            record=self.private is not None,
        )
        own = ("algorithm", "metric", "objectives", "epsilon", "generator", "evaluations", "seconds", "sensitive",
               "class_label", "previous", "key", "exact")  # fmt: skip
        request = SearchRequest(
            quasi_identifiers=self.quasi_identifiers,
            limits=Limits(k=self.k, l=self.l, t=self.t, suppression=self.suppression),
            for_report=self.html is not None,
            release=release if self.out is not None else None,
            **{name: getattr(self, name) for name in own},
        )
        return replace(request, parameters=parameters_of(request.entry, self.param))

    def run(self, work: Work) -> Outcome:
        from tabular.hierarchies import read_hierarchies
        from tabular.lattice.chain.previous import read_history
        from tabular.lattice.search_outcome import find_generalisation, for_report
        from tabular.release import dictionary_path
        from tabular.report import search_report

        source = self.read(self.file, work)
        request = self.request
        table = request.fitted(source.table, file=self.file)
        hierarchies = read_hierarchies(self.hierarchies, table, self.quasi_identifiers, whole=True)
        history = None
        if self.previous is not None:
            history = read_history(
                self.previous, table, hierarchies, key=self.key, dictionary=dictionary_path(self.previous)
            )
        found = find_generalisation(
            request,
            table,
            hierarchies,
            rng=work.generator(),
            history=history,
            file=self.file,
            report=work.report,
            stop=work.stop,
        )
        document = found.document
        outputs: list[Output] = []
        if found.release is not None:
            told, outputs = self.release_outputs(found.release, source, work)
            document = {**document, "written": told}
        if self.html is not None:
            outputs.append(text_output(self.html, "html", search_report(for_report(document))))
        return Outcome(document=document, outputs=outputs)
