"""Words for the evolution of protections."""

from __future__ import annotations

from typing import Any

from api.cli.words import Said, counted_k, note, scores_of, tells
from api.cli.words.tables import ORDER_KEPT, linked
from api.errors import counted
from api.verbs.contract import STREAM, Outcome

#: So many members of the front are shown.
_SHOWN = 20


@tells("table evolve")
def evolved(verb: Any, outcome: Outcome, said: Said) -> None:
    """How far the score fell, the front of the population, and what was written."""
    document = outcome.document
    written = document["written"]
    _front(document, said)
    said.line(
        f"The {_fell(document, verb.score)} in {counted(document['generations'], 'generation')} "
        f"({document['evaluations']:,} evaluations, {document['seconds']:.1f} s)."
    )
    if not document["ended"]:
        said.line("Stopped early: this is the best so far.")
    if document["withheld"]:
        reason = document["withheld"][0]["reason"]
        said.line(f"Withheld: {counted(len(document['withheld']), 'member')}; the first {reason}.")
    what = "standard output" if verb.out == STREAM else verb.out
    said.line(f"Wrote {what}: {counted(written['rows'], 'row')}; it began as {document['began_as']}.")
    said.line(counted_k(written, f"protected columns together have k={written['k']}", "evolution"))
    said.line(f"Highest linkage: {linked(written['highest_linkage'])}.")
    said.line(scores_of(written))
    if verb.population_out is not None:
        said.line(f"Wrote {counted(len(document['population_files']), 'table')} to {verb.population_out}.")
        note("Release one table of a population: several together tell more than each alone.")
    if "read_back" in document:
        _read_back(document, said)
    if "private" in written:
        said.line(
            f"Wrote {written['private']}: the seed and everything that leads back; keep it apart from the release."
        )
    if verb.html not in (None, STREAM):
        said.line(f"Wrote {verb.html}: the report.")
    if not verb.shuffles:
        note(ORDER_KEPT)


def _fell(document: dict[str, Any], score: str) -> str:
    """What was lowered, and how far."""
    if document["fitness"] is not None:
        first, last = document["history"][0][1], document["history"][-1][1]
        which, unit = document["fitness"], ""
    else:
        first, last = (document[when][f"score_{score}"] for when in ("initial", "final"))
        which, unit = "mean of loss and risk" if score == "mean" else "greater of loss and risk", " %"
    moved = "fell" if None not in (first, last) and last < first else "went"
    begin, end = ("no bound" if each is None else f"{each:.2f}" for each in (first, last))
    return f"{which} {moved} from {begin} to {end}{unit}"


def _read_back(document: dict[str, Any], said: Said) -> None:
    """What whoever knows the matrices finds."""
    limits = document["limits"]
    rows = [
        (name, *(round(each[key], 1) for key in ("unchanged", "blind", "percent", "added")))
        for name, each in document["read_back"].items()
    ]
    most = "" if limits is None else f" (at most {limits['added']:g})"
    said.table(
        "What whoever knows the matrices reads back, in percent of the values",
        ["column", "unchanged", "blind guessing", "knowing the matrix", f"added{most}"],
        rows,
    )
    informed = document["final"].get("informed")
    if informed is not None:
        said.line(f"An attacker who knows the matrices links {informed:.2f} % of the records.")


def _front(document: dict[str, Any], said: Said) -> None:
    """The members that no other beats in both loss and risk, from the least risk on."""
    members = [each for each in document["population"]["final"] if each["on_front"]]
    members.sort(key=lambda each: each["disclosure_risk"])
    rows = [
        (each["origin"], round(each["information_loss"], 2), round(each["disclosure_risk"], 2))
        for each in members[:_SHOWN]
    ]
    shown = f"{len(rows)} of {len(members)}" if len(rows) < len(members) else str(len(members))
    said.table(
        f"The front of the population, {shown} of its {len(document['population']['final'])} members, in percent",
        ["began as", "loss", "risk"],
        rows,
    )
