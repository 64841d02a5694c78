"""A graph that is to be released: its candidates come from the registry of protections of graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from api.http.gate import account, service
from api.pages.commands import Ways, ways_of
from api.pages.releases.candidates import Candidate, Promise, Words
from api.pages.releases.drafts import Draft, choice_in, choice_of, number
from api.service.graphs import Graph, split
from api.verbs.graph.protect import graph_protections
from graphpriv import DEFAULT_PROTECTION
from tabular.errors import counted

#: What must stay useful, as the losses measure it.
_USES = {
    "places": ("Places", "How many users are at each place, and how near each user's place stays to the true one."),
    "topics": ("Topics", "How many users have each topic, and how near each user's topics stay to the true ones."),
    "links": ("Who is linked with whom", "How links run between places and between topics."),
}


@dataclass(frozen=True)
class GraphRelease:
    """An original graph on its way to a release."""

    graph: Graph
    kind = "graph"
    words = Words(
        alike="At least this many users share each profile",
        why="The more people can look, and the less you know of them, the more users must share each profile.",
        risk="Identified correctly, with profiles",
        other_risk="By links alone",
        note="Losses go from 0 to 1. Links are released as they are: no candidate changes what they reveal.",
    )
    columns: Sequence[tuple[str, bool]] = ()

    @classmethod
    def called(cls, name: str) -> GraphRelease:
        """The original graph of that name."""
        return cls(service().graphs.find(f"original:{name}", account().role, "protect", kinds=("original",)))

    @property
    def name(self) -> str:
        """What it is called."""
        return self.graph.name

    @property
    def size(self) -> str:
        """Its users and links."""
        return f"{counted(self.graph.info.users, 'user')}, {counted(self.graph.info.edges, 'link')}"

    @property
    def most(self) -> int:
        """One profile for all users."""
        return self.graph.info.users

    @cached_property
    def releases(self) -> list[str]:
        """Its releases, the newest first."""
        every = [each for each in service().graphs.visible(account().role) if each.kind == "release"]
        own = [each for each in every if each.info.original and split(each.info.original)[1] == self.name]
        return [each.name for each in sorted(own, key=lambda each: each.info.created, reverse=True)]

    def uses(self, draft: Draft) -> Mapping[str, tuple[str, str]]:
        """Places, topics and links."""
        return _USES

    def completed(self, draft: Draft) -> Draft:
        """With a free name, and the release whose groups are kept."""
        taken = {each.name for each in service().graphs.visible(account().role) if each.kind == "release"}
        free = (f"{self.name}-v{place}" for place in range(1, 10_000))
        previous = draft.previous if draft.previous in self.releases else next(iter(self.releases), None)
        return replace(
            draft,
            into=draft.into or next(each for each in free if each not in taken),
            previous=previous,
            chosen=draft.chosen or choice_of(DEFAULT_PROTECTION, {"k": draft.k}),
        )

    def asks(self, draft: Draft) -> list[tuple[str, dict[str, Any]]]:
        """Three values of k for a single method, else each method at the k that was asked for."""
        methods = list(graph_protections())
        ks = [draft.k] if len(methods) > 1 else sorted({max(2, draft.k // 2), draft.k, 2 * draft.k})
        steps = [str(k) for k in ks if k <= max(self.graph.info.users // 2, 2)] or [str(ks[0])]
        previous = self.completed(draft).previous
        options = {"name": f"original:{self.name}", "k": steps, "runs": 1}
        beside = {} if previous is None else {"previous": f"release:{previous}"}
        return [("sweep", {**options, **beside, "method": method}) for method in methods]

    def candidates(self, draft: Draft, result: Mapping[str, Any]) -> list[Candidate]:
        """One for each k of a sweep."""
        method = result["parameters"]["method"]
        several = len(graph_protections()) > 1
        return [
            Candidate(
                id=choice_of(method, {"k": row["k"]}),
                title=f"{method}, k {row['k']}" if several else f"k {row['k']}",
                note="as requested" if row["k"] == draft.k and not several else "",
                risk=row["highest"]["expected_success"]["mean"],
                other_risk=row["highest_by_links"]["expected_success"]["mean"],
                losses=_losses(row),
            )
            for row in result["rows"]
        ]

    def left_out(self, result: Mapping[str, Any]) -> list[str]:
        """Each k that live releases do not allow."""
        return [f"k {each['k']}: {each['reason']}" for each in result.get("left_out", ())]

    def hindrance(self, draft: Draft) -> str | None:
        """Too few users."""
        k = self._k(draft)
        if k <= self.most:
            return None
        return f"k is {k}, and the graph has {counted(self.most, 'user')}. Lower k."

    def promise(self, draft: Draft) -> Promise:
        """How many share each profile; and that links are no part of it."""
        k, users, links = self._k(draft), self.graph.info.users, self.graph.info.edges
        others = counted(k - 1, "other")
        return Promise(
            headline=f"Each of {users:,} users will share their place and topics with at least {others}.",
            others=(
                f"All {links:,} links stay as they are, between users with new ids in a new order. Whoever knows "
                "a person's links may still find that person; k does not change that.",
            ),
        )

    def release(self, draft: Draft) -> tuple[str, dict[str, Any]]:
        """`protect`, with the names of the service."""
        verb, options = self.plan(draft)
        previous = {"previous": f"release:{draft.previous}"} if draft.previous else {}
        return verb, {**options, "name": f"original:{self.name}", **previous}

    def plan(self, draft: Draft) -> tuple[str, dict[str, Any]]:
        """`protect`."""
        draft = self.completed(draft)
        method, parameters = choice_in(draft.chosen or "")
        k = number("k", parameters.pop("k", str(draft.k)))
        options: dict[str, Any] = {"name": self.name, "k": k, "into": draft.into}
        if method != DEFAULT_PROTECTION:
            options["method"] = method
        if parameters:
            options["param"] = [f"{name}={value}" for name, value in parameters.items()]
        return "protect", options | ({"previous": draft.previous} if draft.previous else {})

    def ways(self, draft: Draft) -> Ways:
        """`protect` in the words of each door."""
        return ways_of(*self.plan(draft))

    def _k(self, draft: Draft) -> int:
        return int(self.plan(draft)[1]["k"])


def _losses(row: Mapping[str, Any]) -> dict[str, float | None]:
    """What was lost of places and of topics, as frequencies and user by user, and of who is linked with whom."""
    lost = row["loss_by_attribute"]
    by_use: dict[str, list[float | None]] = {"places": [], "topics": []}
    for name, measured in lost.items():
        use = "places" if name == "location" else "topics"
        by_use[use] += [measured[measure]["mean"] for measure in ("cdil", "dbil")]
    return {**{use: _mean(values) for use, values in by_use.items()}, "links": row["information_loss"]["aamil"]["mean"]}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
