"""The options of `graphpriv table search`, and which files they ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from api.cli.common import param_option, refuse_two_documents
from api.cli.tables.chosen import check_choice
from api.cli.tables.common import identifiers_option
from api.cli.tables.exact_front import check_exact
from api.cli.tables.sought import Sought
from api.cli.tables.writing import Asked
from tabular.errors import InvalidParameter
from tabular.files.disk import STREAM
from tabular.lattice.metrics import LOSSES, OBJECTIVES
from tabular.lattice.release.node import BY_HIERARCHY, LABELS
from tabular.lattice.searches import searches

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
    click.option(
        "--t", type=float, help="Distance of a class's sensitive values from those of all rows kept, at most."
    ),
    click.option(
        "--suppression", type=float, default=0.0, show_default=True, help="Share of the rows that may be suppressed."
    ),
    click.option("--evaluations", type=click.IntRange(min=1), metavar="N", help="Look at N distinct nodes at most."),
    click.option("--seconds", type=float, metavar="S", help="Stop after S seconds with the best so far."),
    click.option("--generator", metavar="NAME", help="Of pbg-ea: how new nodes are made; see `graphpriv methods`."),
    click.option(
        "--previous",
        metavar="RELEASE",
        help="The first release of this table, or the --private record of the last one: all releases together are to "
        "keep k. From its file alone no more than one earlier release is known.",
    ),
    click.option(
        "--key",
        metavar="COLUMN",
        help="The column that says which rows of two releases are one person's; without it row i is row i.",
    ),
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
        "--labels",
        type=click.Choice(LABELS),
        default=BY_HIERARCHY,
        show_default=True,
        help="What is written in the cells: the labels of the hierarchies, or sets of the values that occur under "
        "them, such as [20,34], which `table measure` reads; those tell more than a release should.",
    ),
    click.option(
        "--suppressed",
        type=click.Choice(["star", "drop"]),
        help="What becomes of suppressed rows: * in all quasi-identifiers, with their other columns as they were, or "
        "left out. Star if not given; with --previous they are left out.",
    ),
    click.option("--shuffle", is_flag=True, help="Put the rows in random order: else it links each with its original."),
    click.option(
        "--private", metavar="FILE", help="Keep, as JSON for the owner's eyes alone, what leads back: seed and order."
    ),
    click.option("--html", metavar="FILE", help="A report: the front, or best and bound over time, and all figures."),
    click.option(
        "--exact/--no-exact",
        default=None,
        help="Beside a front that a heuristic found, compute the exact one and say how much of it was found; for "
        "--html and lattices that are not large it is done if not given.",
    ),
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
    labels: str
    suppressed: str | None
    shuffle: bool
    exact: bool | None
    overwrite: bool

    def drops_suppressed(self, sought: Sought) -> bool:
        """Whether suppressed rows are left out: together with earlier releases a `*` would say who is among them."""
        return self.suppressed == "drop" or sought.before.previous is not None

    def check(self, sought: Sought, *, as_json: bool) -> None:
        """Refuse outputs that do not fit together."""
        if self.suppressed == "star" and sought.before.previous is not None:
            raise InvalidParameter(
                "--suppressed star: together with an earlier release a row of * can say whose it is; with --previous "
                "such rows are left out."
            )
        check_exact(sought, self.exact)
        sought.before.check(sought.limits, is_recorded=self.private is not None)
        refuse_two_documents(as_json, out=self.out, html=self.html)
        if self.out == self.html == STREAM:
            raise InvalidParameter("--out - and --html - both want standard output; give one of them a file.")
        if self.out is not None:
            check_choice(self.choose, sought, self.labels)
            return
        # Identifiers have a default, which nobody typed.
        typed = click.get_current_context().get_parameter_source("identifiers") is ParameterSource.COMMANDLINE
        for name in ("choose", "private", "shuffle", "suppressed", *(["identifiers"] if typed else [])):
            if getattr(self, name):
                raise InvalidParameter(f"--{name} says nothing without --out.")
        if self.overwrite and self.html is None:
            raise InvalidParameter("--overwrite says nothing without --out or --html.")

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
