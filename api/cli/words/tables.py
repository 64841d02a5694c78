"""Words for the verbs on tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.cli.words import Said, counted_k, note, scores_of, tells
from api.errors import counted
from api.verbs.contract import STREAM, Outcome
from api.verbs.table.search import BY_SETS

_COLUMNS = ["name", "kind", "role", "holds", "values", "missing", "most frequent", "range (3+ rows)"]


@tells("table describe")
def described(verb: Any, outcome: Outcome, said: Said) -> None:
    """How the file is written, a line a column, and what is a guess."""
    document = outcome.document
    columns = document["columns"]
    size = f"{counted(document['rows'], 'row')}, {counted(len(columns), 'column')}"
    dialect = document["dialect"]
    if dialect is None:
        said.line(f"{document['file']}: Parquet, {size}.")
    else:
        spaced = " and a space" if dialect["space_after_delimiter"] else ""
        header = "a header" if dialect["header"] else "no header"
        decimal = ", decimal comma" if dialect["decimal"] == "," else ""
        said.line(
            f"{document['file']}: CSV, {size}; cells separated by {dialect['delimiter']}{spaced}, quotes "
            f"{dialect['quote']}, {dialect['encoding']}, lines end in {dialect['line_end']}, {header}{decimal}."
        )
    said.table("Columns", _COLUMNS, [_column(each) for each in columns])
    doubts: dict[str, list[str]] = {}
    for column in columns:
        for doubt in column["doubts"]:
            doubts.setdefault(doubt, []).append(column["name"])
    for doubt, names in doubts.items():
        said.line(f"{', '.join(names)}: {doubt}.")
    if document["absent"]:
        said.line(
            f"{outcome.details['schema']} describes columns that the file lacks: {', '.join(document['absent'])}."
        )
    if any(column["proposed"] for column in columns):
        note("A role with ? is a proposal; set it with --role NAME=ROLE or in a schema.")


@tells("table import")
def imported(verb: Any, outcome: Outcome, said: Said) -> None:
    """What was found, and what it is called now."""
    described(verb, outcome, said)
    said.line(f"Saved as the original {outcome.document['file']!r}.")


def _column(column: dict[str, Any]) -> list[object]:
    proposed = f"{column['proposed']}?" if column["proposed"] else "-"
    missing = f"{column['missing']} ({column['missing_marker'] or 'empty'})" if column["missing"] else "0"
    frequent = column["most_frequent"]
    return [
        column["name"],
        column["kind"],
        column["role"] or proposed,
        column["holds"],
        column["values"],
        missing,
        "-" if frequent is None else f"{frequent} ({column['most_frequent_rows']})",
        "-" if column["lowest"] is None else f"{column['lowest']} to {column['highest']}",
    ]


@tells("table hierarchy")
def built(verb: Any, outcome: Outcome, said: Said) -> None:
    """Where the hierarchy is, and how many labels each level has."""
    if verb.out != STREAM:
        levels = outcome.document["levels"]
        sizes = " > ".join(str(each["labels"]) for each in levels)
        values = f"{outcome.document['values']} values of {verb.column}"
        said.line(f"Wrote {verb.out}: {values}, levels 0 to {len(levels) - 1} of {sizes} labels.")


@tells("table check")
def checked(verb: Any, outcome: Outcome, said: Said) -> None:
    """Each criterion with its value, and by column if several are sensitive."""
    document, secret = outcome.document, outcome.document["sensitive"]
    sizes = document["class_sizes"]
    title = (
        f"{counted(document['rows'], 'row')}, {document['suppressed']:,} suppressed, "
        f"{counted(document['classes'], 'class', 'classes')} of {sizes[0][0]:,} to {counted(sizes[-1][0], 'row')}"
    )
    criteria = outcome.details["criteria"]
    shown = {key: each for key, each in criteria.items() if secret or not each.method.of_values}
    rows = [(each.name, _number(document[key]), each.method.safer, each.summary) for key, each in shown.items()]
    said.table(title, ["criterion", "value", "safer", "meaning"], rows)
    if len(secret) > 1:
        found = document["by_attribute"]
        lines = [
            (each.name, *(_number(found[name][key]) for name in secret))
            for key, each in shown.items()
            if each.method.of_values
        ]
        said.table("By sensitive column", ["criterion", *secret], lines)


def _number(value: float | None) -> float | str:
    return "infinite" if value is None else value


#: What the scores are.
_SCORES = {
    "information_loss": "Mean of CTBIL, DBIL and EBIL; for numbers, PIL.",
    "disclosure_risk": "Mean of ID and the better linkage, DBRL or PRL; for numbers, of ID and the mean linkage.",
    "score_mean": "Mean of loss and risk.",
    "score_max": "Greater of loss and risk.",
    "score_mean_em": "The mean as in the thesis, with prl_em.",
    "score_max_em": "The greater as in the thesis, with prl_em.",
}


@tells("table measure")
def measured(verb: Any, outcome: Outcome, said: Said) -> None:
    """The attacker who links most, each measure in percent and raw, then the scores."""
    document = outcome.document
    _highest(document, said)
    summaries = outcome.details["summaries"]
    rows = [(key, document[key], raw, summaries[key]) for key, raw in document["raw"].items() if raw is not None]
    kind = "numbers" if document["numeric"] else "categories"
    title = f"{counted(document['records'], 'record')}, {counted(len(document['columns']), 'column')}, read as {kind}"
    said.table(title, ["measure", "percent", "raw", "meaning"], rows)
    scores = [(key, document[key], text) for key, text in _SCORES.items() if document[key] is not None]
    if scores:
        said.table("Scores", ["score", "percent", "meaning"], scores)


#: What the attackers go by.
_ATTACKERS = {
    "dbrl": "by distance (DBRL)",
    "prl": "by agreement one to one (PRL)",
    "rsrl": "by distance within the reach of a swap (RSRL)",
    "informed": "knowing the method (informed)",
}


def _highest(document: dict[str, Any], said: Said) -> None:
    """Which attacker links most, and how much less it can be."""
    highest = document["highest_linkage"]
    if highest["measure"] is None:
        return
    upper = "at most " if document["bounds"]["highest_linkage"] else ""
    said.line(f"Highest linkage: {upper}{linked(highest)}.")
    informed = document["informed"]
    if informed is not None and informed > highest["value"]:
        note(
            f"Somebody who knows the method links {informed:.2f} %; if the method is PRAM, give the matrices to count "
            "this."
        )


def linked(highest: dict[str, Any]) -> str:
    """How many records the strongest attacker links rightly, and how."""
    attacker = _ATTACKERS[highest["measure"]]
    return f"{highest['value']:.2f} % of the records are linked correctly, {attacker}"


@tells("table protect")
def protected(verb: Any, outcome: Outcome, said: Said) -> None:
    """The masked table, or the best of the grid."""
    (_grid if verb.grid else _masked)(verb, outcome, said)


def _masked(verb: Any, outcome: Outcome, said: Said) -> None:
    document = outcome.document
    dropped = f" Dropped: {', '.join(document['dropped'])}." if document["dropped"] else ""
    what = "standard output" if verb.out == STREAM else verb.out
    parameters = ", ".join(
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in document["parameters"].items()
    )
    said.line(
        f"Wrote {what}: {counted(document['rows'], 'row')}; {', '.join(verb.columns)} masked by {verb.method} "
        f"({parameters}).{dropped}"
    )
    said.line(counted_k(document, f"protected columns together have k={document['k']}", verb.method))
    for name, labels in document.get("joined", {}).items():
        joined = " and ".join(f"{label} ({counted(rows, 'row')})" for label, rows in labels.items())
        said.line(f"Joined in {name}: {joined or 'nothing, since no record has such values'}.")
    if "joined" not in document and (exact := {name: rows for name, rows in document["exact_values"].items() if rows}):
        kept = ", ".join(f"{name} in {counted(rows, 'row')}" for name, rows in exact.items())
        said.line(f"Exact values kept beside the labels: {kept}.")
    if verb.measure:
        said.line(f"Highest linkage: {linked(document['highest_linkage'])}.")
        said.line(scores_of(document))
    if "disclosure_risk_bound" in document:
        bound = document["disclosure_risk_bound"]
        said.line(f"PRL was not solved exactly: the true risk lies within {bound:.2f} of this one.")
    for key, words in (("private", "the seed and everything that leads back"), ("matrices", "the transition matrices")):
        if key in document:
            said.line(f"Wrote {document[key]}: {words}; private, keep it apart from the release.")
    if not verb.shuffles:
        note(ORDER_KEPT)


#: What is said of a table whose rows are in the order of its original.
ORDER_KEPT = "The rows are in the original's order, which links them with it; add --shuffle before you release."

#: So many of the best protections are shown, with the best of each method.
_SHOWN = 10


def _grid(verb: Any, outcome: Outcome, said: Said) -> None:
    compared(verb, outcome, said)
    if verb.out_dir is not None:
        said.line(f"Wrote {len(outcome.document['protections'])} masked tables to {verb.out_dir}.")
        note("Their rows are in the original's order, which links them with it: use them for measuring only.")


@tells("table compare")
def compared(verb: Any, outcome: Outcome, said: Said) -> None:
    """The best protections with k, loss and risk, and those that were left out."""
    document, names = outcome.document, outcome.details["names"]
    every = document["protections"]
    first = {each["method"]: place for place, each in reversed(list(enumerate(every)))}
    shown = sorted({*range(min(_SHOWN, len(every))), *first.values()})
    keys = ("information_loss", "disclosure_risk", "score_max", "score_mean")
    rows = [
        (
            place + 1,
            names[place],
            every[place]["k"],
            *(round(every[place][key], 2) for key in keys),
            "yes" if every[place]["on_front"] else "",
        )
        for place in shown
    ]
    which = "mean of loss and risk" if verb.score == "mean" else "greater of loss and risk"
    said.table(
        f"{document['file']}: {len(every)} protections of {', '.join(verb.columns)} by the {which}, in percent",
        ["place", "protection", "k", "loss", "risk", "greater", "mean", "on front"],
        rows,
    )
    if len(shown) < len(every):
        said.line(f"The best {min(_SHOWN, len(every))} and the best of each method; --json and --html have all.")
    for each in document["left_out"]:
        said.line(f"Left out: {each['method']}: {each['reason']}.".replace("..", "."))
    if verb.html not in (None, STREAM):
        said.line(f"Wrote {verb.html}: the map of risk against loss.")


#: A gap so small beside the bound is none: both were added up in another order.
_EXACT = 1e-9


@tells("table search")
def found(verb: Any, outcome: Outcome, said: Said) -> None:
    """The best solutions, how they were found and what is proven of them, and what was released."""
    document, words = outcome.document, outcome.details
    _solutions(document, words["levels"], said)
    for sentence in sentences(document, words["lattice_nodes"]):
        said.line(sentence)
    if document["metric"] is not None and all(document["limits"][name] is None for name in ("k", "l", "t")):
        note("Without --k, --l or --t every node qualifies: the best one loses least, however small its k.")
    if "release" in document:
        _losses(document, said)
        _release(document, words["released_levels"], said, shuffle=verb.shuffles)
    if verb.html not in (None, STREAM):
        said.line(f"Wrote {verb.html}: the report.")


def _solutions(document: Mapping[str, Any], levels: Sequence[str], said: Said) -> None:
    found, cells = document["solutions"], document["rows"] * len(document["quasi_identifiers"])
    ranks = document["objectives"] or [document["metric"]]
    of_values = ["l", "t"] if document["sensitive"] is not None else []
    columns = list(dict.fromkeys(["k", *of_values, "suppressed", *ranks, "glm", "precision"]))
    rows = [
        (place, text, *(each[name] for name in columns), 100 * each["glm"] / cells)
        for place, (text, each) in enumerate(zip(levels, found, strict=False), start=1)
    ]
    what = f"the front of {', '.join(ranks)}" if document["objectives"] else f"best by {ranks[0]}"
    shown = f"{len(rows)} of {len(found):,} nodes" if len(found) > len(rows) else _nodes(len(found))
    said.table(
        f"{document['file']}: {shown}, {what}, found by {document['algorithm']}",
        ["place", "levels", *columns, "glm %"],
        rows,
    )
    if len(found) > len(rows):
        said.line(f"The first {len(rows)} by {ranks[0]}; --json has all {len(found):,}.")


def sentences(document: Mapping[str, Any], nodes: str) -> Iterator[str]:
    """How large the lattice is, how much of it was looked at, and what is proven."""
    size, evaluated = document["lattice_nodes"], document["evaluated"]
    share = f" ({100 * evaluated / size:.1f} %)" if evaluated < size < 10**12 and evaluated / size >= 0.001 else ""
    looked = f"The lattice has {nodes} nodes; {evaluated:,}{share} were evaluated"
    first = f"{looked} in {document['seconds']:.2f} s."
    if document["satisfying"] is not None:
        first += f" {_nodes(document['satisfying'])} satisfy {limits_of(document['limits'])}."
    yield first
    if not document["ended"]:
        yield "Stopped early: this is the best so far."
    if document["metric"] is not None:
        yield _proof(document)
    if "comparison" in document:
        yield _compared(document["comparison"], len(document["exact_front"]))
    if "previous" in document:
        yield _before(document["previous"])


def _proof(document: Mapping[str, Any]) -> str:
    """What is proven of the best solution, in words."""
    metric, bound, gap = document["metric"], document["lower_bound"], document["gap"]
    if bound is None:
        return f"No proof: another node may lose less by {metric}."
    proven = f"Proven: no node that satisfies the limits loses less by {metric}"
    if gap <= _EXACT * max(1.0, bound):
        return f"{proven}."
    above = f", {100 * gap / bound:.2f} % of it" if bound > 0 else ""
    return f"{proven} than {bound:,.4f}; the gap is {gap:,.4f}{above}."


def _compared(found: Mapping[str, Any], nodes: int) -> str:
    """How near the front found is to the exact one."""
    return (
        f"The exact front has {_nodes(nodes)}: {100 * found['representation_ratio']:.1f} % of its boxes are occupied "
        f"(RR); the distance from it (CE) is {found['convergence_error']:.3g} in sum and "
        f"{found['mean_convergence_error']:.3g} a solution."
    )


def _before(before: Mapping[str, Any]) -> str:
    """What was released before."""
    many = "1 earlier release" if before["releases"] == 1 else f"{before['releases']} earlier releases"
    changes = [f"{counted(before[name], 'row')} {name}" for name in ("added", "removed", "changed") if name in before]
    said = f" ({', '.join(changes)})" if changes else ""
    return f"All limits are kept together with {many}{said}, rows matched {before['matched']}."


def limits_of(limits: Mapping[str, Any]) -> str:
    """The limits in words."""
    asked = [f"{name}={limits[name]}" for name in ("k", "l", "t") if limits[name] is not None]
    many = limits["suppressible"]
    rows = f"at most {many:,} row{'' if many == 1 else 's'} suppressed" if many else "no row suppressed"
    return f"{', '.join(asked)} with {rows}" if asked else f"the limits ({rows}; each has a k of its own)"


def _losses(document: Mapping[str, Any], said: Said) -> None:
    rows = [
        (
            each["name"],
            f"{each['level']} of {each['height']}",
            each["values_before"],
            each["values_after"],
            100 * each["general_loss"],
            100 * each["precision"],
            each["non_uniform_entropy"],
            each["cells_suppressed"],
        )
        for each in document["release"]["attributes"]
    ]
    said.table(
        "What each attribute lost",
        ["attribute", "level", "values before", "after", "glm %", "precision %", "bits per row", "suppressed"],
        rows,
    )


def _release(document: Mapping[str, Any], levels: str, said: Said, *, shuffle: bool) -> None:
    done, release = document["written"], document["release"]
    dropped = f" Dropped: {', '.join(done['dropped'])}." if done["dropped"] else ""
    what = "standard output" if done["table"] == STREAM else done["table"]
    said.line(f"Wrote {what}: {counted(done['rows'], 'row')} at {levels}.{dropped}")
    of_values = "" if release["l"] is None else f", l={release['l']}, t={release['t']:.4f}"
    gone = release["suppressed"]
    how = "are left out" if done["left_out"] else "have * in all quasi-identifiers"
    rows = f"; {gone:,} suppressed rows {how}" if gone else ""
    said.line(f"Recounted from the released table: k={release['k']}{of_values}{rows}.")
    if "private" in done:
        said.line(
            f"Wrote {done['private']}: the seed and everything that leads back; private, keep it apart from the "
            "release."
        )
    # A quasi-identifier is `*` there, also one that is sensitive.
    is_kept = document["sensitive"] is not None and document["sensitive"] not in release["levels"]
    if gone and not done["left_out"] and is_kept:
        note(
            f"Suppressed rows keep their values of {document['sensitive']!r}: whoever knows that a person is among the "
            f"{gone:,} may learn it. --suppressed drop leaves these rows out."
        )
    if release["labels"] == BY_SETS:
        note(
            "The label of a set, such as {A|B}, lists the values under it: measure this table, but release one with "
            "the labels of the hierarchies."
        )
    if not shuffle:
        note(ORDER_KEPT)


def _nodes(count: int) -> str:
    return f"{count:,} node{'' if count == 1 else 's'}"
