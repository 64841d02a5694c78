"""The audit: what a release lost, and what it still discloses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, SocialGraph, fingerprint
from graphpriv.measures import Pair, Reading, information_loss, measures
from graphpriv.places import WORLD, PlaceTree
from graphpriv.risk import SCENARIOS, Attacker, Comparison, Disclosure
from graphpriv.risk import attackers as registered
from graphpriv.risk.comparison import ComparedLinks
from graphpriv.risk.disclosure import BUCKETS
from graphpriv.store.records import Run
from graphpriv.structure import structural_change, structure
from graphpriv.topics import RANKS
from tabular.errors import InvalidInput, InvalidParameter
from tabular.loop import ALONE, Parts, Report, silent
from tabular.release import version
from tabular.table import smallest_class

if TYPE_CHECKING:
    from pandas import DataFrame

#: The scenario without labels: only the links are known.
STRUCTURE = "structure"

#: The steps of an audit where none are given: about a minute of two processors where there are hubs.
STEPS = 30_000_000_000

#: The part of them that the search by links alone may take; the scenarios with labels share the rest.
LINKS_SHARE = 0.75

#: The measures whose keys in the document are agreed.
THESIS_MEASURES = ("aamil", "aamil-anchored", "cdil", "dbil")

EDGES_KEPT = (
    "The edges are left as they are. Whoever knows the links around a person, and nothing of the profiles, "
    "finds them in the release as the structure-only risk says; k protects the profile of a user, not the place in "
    "the graph. Profiles that say more let neighbours be recognised more often, too; a protection of edges is what "
    "closes both."
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
    #: The ids of the original users, and where each is in the release.
    users: Sequence[str] = field(repr=False)
    mapping: NDArray[np.int64] | None = field(repr=False)

    def run(self, released: str) -> Run:
        """The record of the audit of the release called *released*."""
        return Run(
            verb="audit",
            parameters={"released": released, **self.document["parameters"]},
            version=self.document["version"],
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
                    bounds |= _bounds(attacker, scenario, found, self.mapping)
        if bounds:
            for name in ("highest", "highest_by_links"):
                least = _highest(self.disclosures, self.mapping, name == "highest_by_links", low=True)
                for measure, found in self.document[name].items():
                    if found["value"] is not None:
                        bounds[f"{name}.{measure}.value"] = (least[measure]["value"], found["value"])
            smallest = self.document["smallest_candidate_set"]
            if smallest is not None:
                sure = _smallest_set(self.disclosures, sure=True)
                bounds["smallest_candidate_set"] = (smallest, len(self.users) if sure is None else sure)
        return bounds

    def at_risk(self) -> DataFrame:
        """All users whom some attacker can name, the surest first, as `at_risk` of the document lists the first ones.

        It names users of the original: keep it private.
        """
        from pandas import DataFrame

        columns = ["user", "expected_success", "attacker", "scenario", "candidates"]
        listed = _most_at_risk(self.users, self.disclosures, len(self.users))
        return DataFrame(listed or [], columns=columns)


def _bounds(
    attacker: str, scenario: str, found: Disclosure, mapping: NDArray[np.int64] | None
) -> dict[str, tuple[float, float]]:
    alone = scenario == STRUCTURE
    above, risk, case = ("structure.", "risk", attacker) if alone else ("", "disclosure_risk", f"{attacker}.{scenario}")
    success = found.success_bounds(mapping)
    return {
        f"{above}{risk}.{case}": found.risk_bounds,
        **({f"{above}expected_success.{case}": success} if success else {}),
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
    shared: SharedFindings | None = None,
    parts: Parts = ALONE,
) -> Audit:
    """Measure what *released* lost against *original* and who can still be found in it.

    The *mapping* gives for each original user the position in the release. Without it, what follows persons (DBIL,
    anchored AAMIL, expected success) cannot be known and is null. *steps* is how many elementary steps all attackers
    may take together; None takes `STEPS`. Users about whom they leave something open are undecided, and `bounds` of
    the document says between what the figures then lie; more steps only narrow that, but where they are too
    few to compare equal neighbourhoods. *report* is told which attacker
    is at work on which scenario, and how many millions of the steps are used up. *shared* is what earlier audits
    found that holds for this one, too. What an attacker found is kept, and its long searches go by *parts*.
    """
    for name, graph in (("original", original), ("released", released)):
        if not len(graph):
            raise InvalidInput(f"The {name} graph has no users; there is nothing to audit.")
    steps = STEPS if steps is None else steps
    if steps < 1:
        raise InvalidParameter.wrong("steps", must="be at least 1", was=steps)
    inputs = {"released": fingerprint(released)}
    if undirected:
        original, released = original.undirected(), released.undirected()
    pair = Pair.of(original, released, mapping)
    shared = SharedFindings() if shared is None else shared
    comparison = shared.comparison(pair.aligned, workers, parts)
    asked = {**scenarios, STRUCTURE: ()}
    found: dict[str, dict[str, Disclosure]] = {name: {} for name in attackers}
    done = 0
    shares = {each: _share(steps, each, len(scenarios)) for each in asked}
    whole = sum(registered[name].method.within(share).steps for name, share in product(attackers, shares.values()))
    in_turn, spare = _in_turn(comparison, scenarios), {name: _Spare(len(scenarios)) for name in attackers}
    for name, scenario in _attacks(attackers, in_turn, from_the_end=parts.helps):
        method, share = registered[name].method, shares[scenario]
        more = 0 if scenario == STRUCTURE else spare[name].taken()
        attacker, own = method.within(share, more), method.within(share).steps
        once = shared.note if scenario == STRUCTURE else ""
        told = _counted_on(report, f"Attacker {name}, {scenario}{once}", (done, own, whole))
        told(0, 0)
        known = comparison.links.disclosures if scenario == STRUCTURE else {}
        if attacker not in known:
            known[attacker] = attacker.found(comparison, asked[scenario], told)
        found[name][scenario] = known[attacker]
        # The links alone hand nothing on, so that it does not matter when they have their turn.
        spare[name].left += 0 if scenario == STRUCTURE else _spared(attacker, known[attacker])
        done += own
    found = {name: {scenario: each[scenario] for scenario in asked} for name, each in found.items()}
    report("Measuring", 0, 0)
    parameters = {
        "attackers": list(attackers),
        "steps": steps,
        "scenarios": list(scenarios),
        "undirected": undirected,
    }
    document = {"version": version(), "inputs": inputs, "parameters": parameters}
    findings = _findings(pair, found, at_risk, comparison.links.structure)
    return Audit({**document, **findings}, found, pair.original.ids, pair.mapping)


class SharedFindings:
    """What holds for several audits: give the same one to each, and it is found once.

    For releases of one original with the same links these are its structure and what the links alone tell. *note*
    says so in reports.
    """

    def __init__(self, note: str = "") -> None:
        self.note = note
        self._links: ComparedLinks | None = None

    def comparison(self, pair: Pair, workers: int | None, parts: Parts = ALONE) -> Comparison:
        """The comparison of a *pair*, which knows what was found by the same links."""
        found = Comparison.of(pair.original, pair.masked, pair.mapping, workers=workers, links=self._links, parts=parts)
        self._links = found.links
        return found


def _attacks(attackers: Sequence[str], in_turn: Sequence[str], *, from_the_end: bool) -> list[tuple[str, str]]:
    """Each attacker in each scenario, in turn; *from_the_end* those who know the links alone come first.

    What they find does not depend on the others, so that two processes can begin with one of these each.
    """
    attacks = list(product(attackers, [*in_turn, STRUCTURE]))
    return sorted(attacks, key=lambda attack: attack[1] != STRUCTURE) if from_the_end else attacks


def _in_turn(comparison: Comparison, scenarios: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Whose labels tell most apart comes first: that takes few steps, and the others can use the rest."""

    def alike(name: str) -> int:
        """How many pairs of masked users have the same label."""
        labels = comparison.labels(scenarios[name])[len(comparison.original) :]
        return int((np.bincount(labels).astype(np.int64) ** 2).sum())

    return sorted(scenarios, key=alike)


@dataclass
class _Spare:
    """The steps that scenarios of an attacker did not need, for so many that are still to come."""

    to_come: int
    left: int = 0

    def taken(self) -> int:
        """Take the part of the next scenario."""
        part = self.left // self.to_come
        self.left, self.to_come = self.left - part, self.to_come - 1
        return part


def _spared(attacker: Attacker, found: Disclosure) -> int:
    """How many of its steps an attacker did not need; none where it does not count them."""
    return 0 if found.steps is None else max(attacker.steps - found.steps, 0)


def _share(steps: int, scenario: str, scenarios: int) -> int:
    """The part of an audit's *steps* that each attacker has for a scenario, one of so many with labels."""
    return int(steps * (LINKS_SHARE if scenario == STRUCTURE else (1 - LINKS_SHARE) / scenarios))


def _counted_on(report: Report, phase: str, at: tuple[int, int, int]) -> Callable[[int, int], None]:
    """Tell how many millions of an audit's steps are behind it.

    *at* has the steps before this attack, those that are its own, and those of all attacks. What it takes of the
    steps that others spared was told with theirs.
    """
    done, own, whole = at
    return lambda more, of: report(phase, (done + own * more // max(of, 1)) // 10**6, max(whole // 10**6, 1))


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
    none = nowhere.astype(np.int64)
    nothing = Disclosure(none, none, nobody, none + 1)
    found = {attacker: dict.fromkeys([*scenarios, STRUCTURE], nothing) for attacker in attackers}
    findings = _findings(Pair.of(graph, graph, users.astype(np.int64)), found, 0, structure(graph))
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


def _findings(
    pair: Pair, found: Mapping[str, Mapping[str, Disclosure]], at_risk: int, before: dict[str, Any]
) -> dict[str, Any]:
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
        "bounds": {
            "disclosure_risk": _of_all(found, lambda each: list(each.risk_bounds)),
            "expected_success": _of_all(found, lambda each: _listed(each.success_bounds(pair.mapping))),
            "one_candidate": _of_all(found, lambda each: list(each.one_candidate)),
        },
        "highest": _highest(found, pair.mapping, False),
        "highest_by_links": _highest(found, pair.mapping, True),
        "smallest_candidate_set": _smallest_set(found),
        "structure": _structure(pair, found, before),
        "at_risk": _most_at_risk(original.ids, found, at_risk),
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


def _of_all(found: Mapping[str, Mapping[str, Disclosure]], value: Any) -> dict[str, dict[str, Any]]:
    return {attacker: {name: value(each) for name, each in scenarios.items()} for attacker, scenarios in found.items()}


def _listed(bounds: tuple[float, float] | None) -> list[float] | None:
    return None if bounds is None else list(bounds)


def _highest(
    found: Mapping[str, Mapping[str, Disclosure]], mapping: NDArray[np.int64] | None, by_links: bool, low: bool = False
) -> dict[str, dict[str, Any]]:
    """The greatest risk and the greatest success over attackers and scenarios, and whose they are.

    What the steps left open counts as if it were found, as a risk must not read too low; *low* asks for the least that
    the greatest can be.
    """
    ways = [
        (attacker, scenario, each)
        for attacker, scenarios in found.items()
        for scenario, each in scenarios.items()
        if (scenario == STRUCTURE) == by_links
    ]
    end = 0 if low else 1
    risks = [each.risk_bounds[end] for *_, each in ways]
    successes = [bounds[end] for *_, each in ways if (bounds := each.success_bounds(mapping)) is not None]
    values = {"disclosure_risk": risks, "expected_success": successes if len(successes) == len(ways) else []}
    highest: dict[str, dict[str, Any]] = {}
    for measure, figures in values.items():
        best = int(np.argmax(figures)) if figures else None
        attacker, scenario = (None, None) if best is None else ways[best][:2]
        value = None if best is None else figures[best]
        highest[measure] = {"attacker": attacker, "scenario": scenario, "value": value}
    return highest


def _smallest_set(found: Mapping[str, Mapping[str, Disclosure]], sure: bool = False) -> int | None:
    """The least number of candidates that the right user is among, over all users and scenarios with labels.

    It is the least that it can be, or, if *sure*, the most.
    """
    sets = [
        each.smallest_sets[int(sure)]
        for scenarios in found.values()
        for name, each in scenarios.items()
        if name != STRUCTURE
    ]
    return min((each for each in sets if each is not None), default=None)


def _structure(pair: Pair, found: Mapping[str, Mapping[str, Disclosure]], before: dict[str, Any]) -> dict[str, Any]:
    alone = {attacker: scenarios[STRUCTURE] for attacker, scenarios in found.items()}
    change = structural_change(pair.original, pair.masked, pair.mapping, before=before)
    return {
        **change,
        "risk": {attacker: each.risk for attacker, each in alone.items()},
        "expected_success": {attacker: each.expected_success(pair.mapping) for attacker, each in alone.items()},
        "undecided": {attacker: each.undecided_share for attacker, each in alone.items()},
        "candidates": {attacker: each.buckets for attacker, each in alone.items()},
        "note": {True: EDGES_KEPT, False: EDGES_CHANGED, None: EDGES_UNKNOWN}[change["edges_unchanged"]],
    }


def _most_at_risk(
    users: Sequence[str], found: Mapping[str, Mapping[str, Disclosure]], count: int
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
            "user": users[user],
            "expected_success": float(surest[user]),
            "attacker": ways[best[user]][0],
            "scenario": ways[best[user]][1],
            "candidates": _least(ways[best[user]][2], user),
        }
        for user in order
        if surest[user] > 0
    ]


def _least(found: Disclosure, user: int) -> int:
    """How many candidates at least the right one of a user is among."""
    return 0 if found.true_least is None else int(found.true_least[user])
