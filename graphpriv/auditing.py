"""The audit: what a release lost, and what it still discloses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, SocialGraph, fingerprint
from graphpriv.measures import Pair, Reading, information_loss, measures
from graphpriv.places import WORLD, PlaceTree
from graphpriv.risk import SCENARIOS, Comparison, Disclosure
from graphpriv.risk import attackers as registered
from graphpriv.risk.disclosure import BUCKETS
from graphpriv.store.records import Run
from graphpriv.structure import structural_change
from graphpriv.topics import RANKS
from tabular.errors import InvalidInput, InvalidParameter
from tabular.loop import Report, silent
from tabular.release import version
from tabular.table import smallest_class

if TYPE_CHECKING:
    from pandas import DataFrame

#: The scenario without labels: only the links are known.
STRUCTURE = "structure"

#: The measures whose keys in the document are agreed.
THESIS_MEASURES = ("aamil", "aamil-anchored", "cdil", "dbil")

EDGES_KEPT = (
    "The edges are left as they are. Whoever knows the links around a person, and nothing of the profiles, "
    "finds them in the release as the structure-only risk says; k protects the profile of a user, not the place in "
    "the graph. A protection of edges can be combined with it."
)
EDGES_UNKNOWN = (
    "Without the mapping it cannot be told whether the edges are those of the original. The structure-only risk says "
    "how many users are found by the links around them alone."
)
EDGES_CHANGED = (
    "The edges of the release differ from those of the original. The structure-only risk says how many users are "
    "still found by the links around them alone."
)


@dataclass(frozen=True)
class Audit:
    """The findings of an audit; `document` holds them ready for JSON."""

    document: dict[str, Any]
    disclosures: Mapping[str, Mapping[str, Disclosure]]
    #: The fingerprint of the original, for the store alone.
    input_hash: str = field(repr=False)

    def run(self, released: str) -> Run:
        """The record of the audit of the release called *released*."""
        return Run(
            verb="audit",
            parameters={"released": released, **self.document["parameters"]},
            version=self.document["version"],
            input_hash=self.input_hash,
        )

    def to_frame(self) -> DataFrame:
        """The losses, and one row for each figure of an attacker in a scenario; what cannot be known is missing.

        Losses are named as in the document, such as `information_loss.cdil.mean`. No user is named.
        """
        from pandas import DataFrame

        known = {name: self.document[name] for name in ("k", "information_loss")}
        rows = [(path, None, None, value) for path, value in _numbers(known)]
        for measure in ("disclosure_risk", "expected_success", "undecided"):
            alone = self.document["structure"]["risk" if measure == "disclosure_risk" else measure]
            for attacker, found in self.document[measure].items():
                figures = {**found, STRUCTURE: alone[attacker]}
                rows += [(measure, attacker, scenario, value) for scenario, value in figures.items()]
        return DataFrame(rows, columns=["measure", "attacker", "scenario", "value"])

    def __repr__(self) -> str:
        # The document names users of the original.
        return f"<Audit of a release with k = {self.document['k']}>"

    def _repr_html_(self) -> str:
        from tabular.report.kit.figures import percent
        from tabular.report.kit.page import frame_snippet

        frame = self.to_frame()
        risks = frame[frame["measure"] == "disclosure_risk"].set_index(["scenario", "attacker"])["value"]
        open_ones = " Some users are undecided, so a risk can be higher." if self.bounds else ""
        caption = f"Release of k = {self.document['k']}: the share of users found, by scenario and attacker.{open_ones}"
        return frame_snippet(caption, risks.unstack(sort=False).map(percent).reset_index())

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The lowest and the highest value of each number that undecided users leave open, by its path."""
        bounds: dict[str, tuple[float, float]] = {}
        for attacker, scenarios in self.disclosures.items():
            for scenario, found in scenarios.items():
                if found.undecided.any():
                    bounds |= _bounds(attacker, scenario, found)
        return bounds


def _bounds(attacker: str, scenario: str, found: Disclosure) -> dict[str, tuple[float, float]]:
    alone = scenario == STRUCTURE
    above, risk, case = ("structure.", "risk", attacker) if alone else ("", "disclosure_risk", f"{attacker}.{scenario}")
    # Who is found for certain stays found; nothing more is known of the candidates.
    return {
        f"{above}{risk}.{case}": (found.risk, min(1.0, found.risk + found.undecided_share)),
        f"{above}expected_success.{case}": (0.0, 1.0),
        **{f"{above}candidates.{case}.{bucket}": (0.0, float(len(found.candidates))) for bucket in BUCKETS},
    }


def audit(
    original: SocialGraph,
    released: SocialGraph,
    mapping: NDArray[np.int64] | None = None,
    *,
    attackers: Sequence[str] = ("ego", "subgraph"),
    scenarios: Mapping[str, tuple[str, ...]] = SCENARIOS,
    undirected: bool = False,
    steps: int | None = None,
    at_risk: int = 20,
    workers: int | None = None,
    report: Report = silent,
) -> Audit:
    """Measure what *released* lost against *original* and who can still be found in it.

    The *mapping* gives for each original user the position in the release. Without it, what follows persons (DBIL,
    anchored AAMIL, expected success) cannot be known and is null. *steps* is how many steps each attacker may take for
    one match; None leaves its own number. Users about whom the steps leave something open are undecided. *report* is
    told which attacker is at work on which scenario.
    """
    for name, graph in (("original", original), ("released", released)):
        if not len(graph):
            raise InvalidInput(f"The {name} graph has no users; there is nothing to audit.")
    given = {} if steps is None else {"steps": steps}
    known = {name: registered[name].method(**given) for name in attackers}
    hashes = {"original": fingerprint(original), "released": fingerprint(released)}
    if undirected:
        original, released = original.undirected(), released.undirected()
    pair = Pair.of(original, released, mapping)
    comparison = Comparison.of(pair.original, pair.masked, pair.mapping, workers=workers)
    asked = {**scenarios, STRUCTURE: ()}
    found: dict[str, dict[str, Disclosure]] = {name: {} for name in known}
    for done, (name, scenario) in enumerate(product(known, asked)):
        report(f"Attacker {name}, {scenario}", done, len(known) * len(asked))
        found[name][scenario] = known[name].disclosed(comparison, asked[scenario])
    report("Measuring", 0, 0)
    parameters = {
        "attackers": {name: asdict(attacker) for name, attacker in known.items()},
        "scenarios": list(scenarios),
        "undirected": undirected,
    }
    document = {"version": version(), "inputs": {"released": hashes["released"]}, "parameters": parameters}
    return Audit({**document, **_findings(pair, found, at_risk)}, found, hashes["original"])


def figure_paths(
    attackers: Sequence[str] = ("ego", "subgraph"), scenarios: Mapping[str, tuple[str, ...]] = SCENARIOS
) -> tuple[str, ...]:
    """The path of every number that an audit by these *attackers* will have, such as `disclosure_risk.ego.all`.

    No attack is made: the paths are those of a graph of two users whom nobody found.
    """
    users = np.arange(2, dtype=np.int32)
    nowhere, nobody = np.zeros(2, dtype=np.int32), np.zeros(2, dtype=np.bool_)
    world = PlaceTree.from_paths([(WORLD,)])
    graph, _ = SocialGraph.build(
        ("a", "b"), users, users[::-1], directed=True, places=world, location=nowhere, topics=((None,) * RANKS,) * 2
    )
    nothing = Disclosure(nobody, nobody, nowhere.astype(np.int64), nobody)
    found = {attacker: dict.fromkeys([*scenarios, STRUCTURE], nothing) for attacker in attackers}
    findings = _findings(Pair.of(graph, graph, users.astype(np.int64)), found, 0)
    return tuple(path for path, _ in _numbers(findings))


def _numbers(document: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a document, each with its path."""
    for key, value in document.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{above}{key}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{above}{key}", value


def scenarios_named(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The scenarios called *names*: of the thesis, or any attributes joined by `+`.

    >>> scenarios_named(["all", "location+topic1"])
    {'all': ('location', 'topic1', 'topic2', 'topic3'), 'location+topic1': ('location', 'topic1')}
    """
    chosen = {}
    for name in names:
        attributes = SCENARIOS.get(name) or tuple(name.split("+"))
        wrong = [each for each in attributes if each not in ATTRIBUTES]
        if wrong or len(set(attributes)) < len(attributes):
            raise InvalidParameter.wrong(
                "scenario",
                must=f"be one of {', '.join(SCENARIOS)}, or distinct attributes joined by '+' "
                f"({', '.join(ATTRIBUTES)})",
                was=name,
            )
        chosen[name] = attributes
    return chosen


def _findings(pair: Pair, found: Mapping[str, Mapping[str, Disclosure]], at_risk: int) -> dict[str, Any]:
    original, released = pair.original, pair.masked
    mapped = None if pair.mapping is None else int((pair.mapping >= 0).sum())
    return {
        "k": smallest_class(list(released.profiles().T)),
        "users": len(original),
        "edges": original.edge_count,
        "directed": original.directed,
        "released_users": len(released),
        "released_edges": released.edge_count,
        "unmapped": None if mapped is None else len(released) - mapped,
        "information_loss": _losses(pair),
        "disclosure_risk": _by_scenario(found, lambda each: each.risk),
        "expected_success": _by_scenario(found, lambda each: each.expected_success(pair.mapping)),
        "undecided": _by_scenario(found, lambda each: each.undecided_share),
        "candidates": _by_scenario(found, lambda each: each.buckets),
        "structure": _structure(pair, found),
        "at_risk": _most_at_risk(original, found, at_risk),
    }


def _losses(pair: Pair) -> dict[str, Any]:
    """AAMIL, CDIL and DBIL with their mean (eq 6.8); a mean of what cannot be known is null."""
    read = {name: measures[name].method().measure(pair) for name in measures}
    dbil = read["dbil"]
    # What else is registered stands beside the measures of the thesis under its own name.
    others = {name: _reading(reading) for name, reading in read.items() if name not in THESIS_MEASURES}
    return {
        **others,
        "aamil": {**(_reading(read["aamil"]) or {}), "anchored": _reading(read["aamil-anchored"])},
        "cdil": _reading(read["cdil"]),
        "dbil": None if dbil is None else dbil.mean,
        "dbil_by_attribute": None if dbil is None else dict(dbil.by_attribute),
        "mean": information_loss(pair),
    }


def _reading(reading: Reading | None) -> dict[str, float] | None:
    return None if reading is None else {**reading.by_attribute, "mean": reading.mean}


def _by_scenario(found: Mapping[str, Mapping[str, Disclosure]], value: Any) -> dict[str, dict[str, Any]]:
    return {
        attacker: {name: value(each) for name, each in scenarios.items() if name != STRUCTURE}
        for attacker, scenarios in found.items()
    }


def _structure(pair: Pair, found: Mapping[str, Mapping[str, Disclosure]]) -> dict[str, Any]:
    alone = {attacker: scenarios[STRUCTURE] for attacker, scenarios in found.items()}
    change = structural_change(pair.original, pair.masked, pair.mapping)
    return {
        **change,
        "risk": {attacker: each.risk for attacker, each in alone.items()},
        "expected_success": {attacker: each.expected_success(pair.mapping) for attacker, each in alone.items()},
        "undecided": {attacker: each.undecided_share for attacker, each in alone.items()},
        "candidates": {attacker: each.buckets for attacker, each in alone.items()},
        "note": {True: EDGES_KEPT, False: EDGES_CHANGED, None: EDGES_UNKNOWN}[change["edges_unchanged"]],
    }


def _most_at_risk(
    original: SocialGraph, found: Mapping[str, Mapping[str, Disclosure]], count: int
) -> list[dict[str, Any]] | None:
    """The users whom some attacker finds most surely in some scenario; null without a mapping.

    Ties go to the user found in more ways, then to the one imported earlier.
    """
    ways = [
        (attacker, scenario, each, each.chances)
        for attacker, scenarios in found.items()
        for scenario, each in scenarios.items()
    ]
    chances = [chance for *_, chance in ways if chance is not None]
    if len(chances) < len(ways):
        return None
    table = np.stack(chances)
    surest, best = table.max(axis=0), table.argmax(axis=0)
    order = np.lexsort((-table.sum(axis=0), -surest))[:count]
    return [
        {
            "user": original.ids[user],
            "expected_success": float(surest[user]),
            "attacker": ways[best[user]][0],
            "scenario": ways[best[user]][1],
            "candidates": int(ways[best[user]][2].candidates[user]),
        }
        for user in order
        if surest[user] > 0
    ]
