"""`table search`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from api.verbs.contract import Outcome, Work, of_engine, refuse_beside, refuse_without, text_output, verbs
from api.verbs.table.files import ReleasingVerb, writing
from api.verbs.values import parameters_of
from tabular.files.disk import Output
from tabular.registry import option

if TYPE_CHECKING:
    from tabular.lattice.search_request import SearchRequest

#: The labels that name the values which occur.
BY_SETS = "sets"

_keep = partial(option, group="What it must keep")
_minimise = partial(option, group="What it minimises")
_search = partial(option, group="How it searches")


algorithms = of_engine("tabular.lattice.searches", "searches")


losses = of_engine("tabular.lattice.metrics", "LOSSES")
objectives = of_engine("tabular.lattice.metrics", "OBJECTIVES")


#: So many solutions are shown to people.
SHOWN = 20


@verbs.add("table search")
@dataclass(frozen=True, kw_only=True)
class SearchTable(ReleasingVerb):
    """Finds the generalisation that meets `k`, `l` and `t` with the least loss.

    It chooses a level of the hierarchy for each quasi-identifier. With `objectives` it finds the whole front: all
    choices of levels that no other beats. Without `k` and `l`, each choice gets the highest k that suppresses no more
    rows than allowed. A release (`out`) needs a limit (`k`, `l`, `t`) or a chosen node (`choose`); one from a front
    (`out` with `objectives`) always needs `choose`. You can stop a search at any time (Ctrl-C, `seconds`); it then
    gives the best so far.

    `graphpriv methods --json` lists what each algorithm promises, and its parameters for `param`.
    """

    draws = True
    action = "protect"
    stoppable = True

    file: str = option(help="The table.", positional=True, input=True)
    quasi_identifiers: tuple[str, ...] = option(metavar="A,B", listed=True, help="The columns an attacker may know.")
    hierarchies: str = option(
        metavar="DIR",
        input=True,
        folder=True,
        own="hierarchies",
        help="A folder with a hierarchy for each of these columns: A.csv or *_A.csv, a row per value.",
    )

    k: int | None = _keep(None, help="Each class has at least N rows.")
    l: int | None = _keep(None, help="Each class has at least N distinct sensitive values.")  # noqa: E741
    t: float | None = _keep(
        None,
        help="The sensitive values of a class are at most X away from those of the table. Not every `algorithm` takes "
        "it with a `suppression` above 0.",
    )
    sensitive: str | None = _keep(
        None,
        metavar="C",
        help="The column whose value nobody should learn about a person; `l` and `t` need it, also as `objectives`.",
    )
    suppression: float = _keep(0.0, help="Suppress at most this share of the rows.")
    previous: str | None = _keep(
        None,
        metavar="RELEASE",
        input=True,
        release=True,
        help="The release before this one: the released file if it was the first, else the `private` record of the "
        "last. All releases together keep `k`, which must be given.",
    )
    key: str | None = _keep(
        None,
        metavar="COLUMN",
        help="With `previous`, or `private` for a first release: the column that identifies a person in both releases; "
        "without it, row i is the same person.",
    )

    metric: str | None = _minimise(
        None,
        metavar="NAME",
        choices_shown=losses,
        help="The loss; glm if not given. For one node, so not with `objectives`.",
    )
    objectives: tuple[str, ...] = _minimise(
        (), metavar="K,GLM", listed=True, choices_shown=objectives, help="Two or more for a front."
    )
    epsilon: str | None = _minimise(
        None, metavar="5,100", help="For `algorithm` pbg-ea: the size of a box of solutions, by each of `objectives`."
    )
    class_label: str | None = _minimise(
        None,
        metavar="C",
        help="The column to predict from the others; for cm as `metric` or in `objectives`. It is not in "
        "`quasi_identifiers`, nor `sensitive`.",
    )

    algorithm: str | None = _search(
        None,
        metavar="NAME",
        choices=algorithms,
        help="The search; if not given, optimal, with `objectives` pareto, and with `previous` kgen.",
    )
    evaluations: int | None = _search(None, low=1, metavar="N", help="Evaluate at most N distinct nodes.")
    seconds: float | None = _search(None, metavar="S", help="Stop after S seconds with the best so far.")
    generator: str | None = _search(None, metavar="NAME", help="For `algorithm` pbg-ea: how it makes new nodes.")
    param: tuple[str, ...] = _search(
        (),
        metavar="KEY=VALUE",
        help="A parameter of `algorithm` (whose default is another one with `objectives` or `previous`); repeatable.",
    )
    exact: bool | None = _search(
        None,
        help="With `objectives`: also compute the exact front and show how much of it a heuristic found; the "
        "default for `html` if the lattice is small.",
    )

    choose: str | None = writing(
        None,
        metavar="WHICH",
        help="The node to release to `out`: its place in the list, or its levels as in 'age=1,sex=0'. The best if not "
        "given; a front (`objectives`) has no best. It must satisfy the limits, with `suppression`.",
    )
    alone: bool = writing(
        False,
        help="Release to `out` the levels that `choose` gives, without a search, and so without `html`, `exact`, "
        "`seconds` and `evaluations`.",
    )
    labels: str | None = writing(
        None,
        choices=("hierarchy", BY_SETS),
        help="Write to `out` the labels of the hierarchies (the default), or sets of the values under them, such as "
        "[20,34], for `table measure`. Sets disclose more than a release should, and do not go with `previous` "
        "or `key`.",
    )
    suppressed: str | None = writing(
        None,
        choices=("star", "drop"),
        help="Write suppressed rows to `out` with * in all quasi-identifiers (the default), or leave them out (always "
        "so with `previous`).",
    )
    html: str | None = writing(None, metavar="FILE", output=True, help="Also write a report.")

    def check(self) -> None:
        super().check()
        refuse_without(self, "out", "choose", "alone", "private", "shuffle", "suppressed", "labels", "identifiers")
        if self.alone:
            refuse_beside(self, "alone", "html", "exact", "seconds", "evaluations")
        self.request.check()

    @cached_property
    def request(self) -> SearchRequest:
        """The search as the engine takes it."""
        from tabular.lattice.search_request import ReleaseRequest, SearchRequest
        from tabular.lattice.space import Limits

        release = ReleaseRequest(
            choose=self.choose,
            alone=self.alone,
            labels=self.labels or "hierarchy",
            suppressed=self.suppressed,
            identifiers=self.identifiers or "drop",
            shuffle=self.shuffles,
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

        # A distance of sensitive values is asked for by t alone.
        measured = [self.sensitive] if self.sensitive is not None and self.t is not None else []
        source = self.read(self.file, work, measured=measured)
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
            best=work.best,
            stop=work.stop,
            parts=work.parts,
        )
        document = found.document
        outputs: list[Output] = []
        if found.release is not None:
            told, outputs = self.release_outputs(found.release, source, work)
            document = {**document, "written": told}
        if self.html is not None:
            outputs.append(text_output(self.html, "html", search_report(for_report(document))))
        return Outcome(document=document, outputs=outputs, details=found.in_words(SHOWN))
