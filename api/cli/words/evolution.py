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
    first, last = (document[when][f"score_{verb.score}"] for when in ("initial", "final"))
    which = "mean of loss and risk" if verb.score == "mean" else "greater of loss and risk"
    moved = "fell" if last < first else "went"
    said.line(
        f"The {which} {moved} from {first:.2f} to {last:.2f} % in {counted(document['generations'], 'generation')} "
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
    if "private" in written:
        said.line(f"Wrote {written['private']}: the seed and all that leads back; keep it apart from the release.")
    if verb.html not in (None, STREAM):
        said.line(f"Wrote {verb.html}: the report.")
    if not verb.shuffles:
        note(ORDER_KEPT)


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
