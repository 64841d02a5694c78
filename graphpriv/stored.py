"""Work on the graphs of a store: protect, match, export and take microdata.

Nothing here prints or writes files. Each result carries `notes`: sentences that its reader should see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv import DEFAULT_PROTECTION, protections
from graphpriv.formats import read_graph
from graphpriv.graph import SocialGraph, fingerprint
from graphpriv.microdata import Microdata, Origin, ProtectedMicrodata, microdata, protect_microdata
from graphpriv.release import NOWHERE, Release, mapping_by_id, read_mapping
from graphpriv.store.contract import Store
from graphpriv.store.pages import Pages
from graphpriv.store.records import GraphInfo, Run, changed, check_name, keyed
from graphpriv.trails import Published, kept_clusters
from graphpriv.verification import joint_k, verify_together
from tabular.errors import AlreadyReleased, InvalidInput, InvalidParameter, NoSolution, UnknownName, named
from tabular.loop import Report, silent
from tabular.release import version
from tabular.table import equivalence_classes


@dataclass(frozen=True, eq=False)
class KeptRelease:
    """A release that is now in a store."""

    original: str
    name: str
    release: Release
    #: The live releases of the same original that it was counted together with.
    beside: Sequence[Published]
    #: How many users share the rarest combination of profiles in all of them and this one.
    joint_k: int

    @property
    def document(self) -> dict[str, Any]:
        """How the release was made, and its counts."""
        graph, proven = self.release.graph, self.release.proven
        bound = {} if proven is None else {"loss": proven.loss, "lower_bound": proven.lower_bound, "gap": proven.gap}
        return {
            "graph": self.name,
            "release_of": self.original,
            "k": self.release.k,
            "method": self.release.method,
            "users": len(graph),
            "edges": graph.edge_count,
            "profiles": len(equivalence_classes(list(graph.profiles().T)).sizes),
            "beside": [each.name for each in self.beside],
            "joint_k": self.joint_k,
            "forgotten_beside": sum(each.forgotten for each in self.beside),
            **bound,
        }


def keep_release(
    store: Store,
    original: str,
    name: str,
    k: int,
    *,
    method: str = DEFAULT_PROTECTION,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    seed: int,
    previous: str | None = None,
    accept_combined_risk: bool = False,
    overwrite: bool = False,
    report: Report = silent,
    stop: Callable[[], bool] = lambda: False,
) -> KeptRelease:
    """Protect an *original* with the random numbers of *seed*, and keep the release as *name*.

    Another release of it that stays in the store is an error, unless the clusters of a *previous* one are kept, so that
    all of them together keep *k* (see `graphpriv.trails`), or whoever asks does *accept_combined_risk*.
    """
    check_release_name(name, original)
    store.refuse_taken(name, overwrite)
    there = store.releases_of(original)
    names = [each for each in there if each != name or each == previous]
    if previous is not None and previous not in there:
        raise UnknownName.among(f"release of {original!r}", previous, there)
    if names and previous is None and not accept_combined_risk:
        raise already_released(original, names)
    report("Loading", 0, 0)
    revision = store.revision(original)
    graph = store.load_graph(original)
    held = fingerprint(graph)
    if elsewhere := released_elsewhere(store, held, original, but=name):
        raise uncounted(original, elsewhere[0])
    beside = published(store, original, names, len(graph))
    kept = None if previous is None else _kept_clusters(beside, previous, protections.check_k(k, len(graph)))
    rng = np.random.default_rng(seed)
    release = protections.protect(graph, k, method=method, rng=rng, kept=kept, report=report, stop=stop, **parameters)
    together = [*((each.graph, each.mapping) for each in beside), (release.graph, release.mapping)]
    least = joint_k(together) if previous is None else verify_together(together, k)
    run = protection_run(marked(store, held), release, names)
    store.save_release(
        original, name, release, seed=seed, run=run, overwrite=overwrite, revision=revision, beside=there, report=report
    )
    return KeptRelease(original, name, release, beside, least)


def kept_before(store: Store, original: str, name: str, seed: int) -> KeptRelease | None:
    """The release that a store has as *name*, if it was drawn from *original* with a *seed*; else None.

    It is told beside those that it was made to stand beside, as far as they are still there.
    """
    names = {each.name for each in store.graphs()}
    there = store.releases_of(original) if {original, name} <= names else {}
    if name not in there or store.seed(original, name) != seed:
        return None
    (run,) = (each for each in store.runs(name) if each.verb == "protect")
    made = dict(run.parameters)
    graph, mapping = store.load_graph(name), store.mapping(original, name)
    beside = published(store, original, [each for each in made.pop("beside", []) if each in there], len(mapping))
    k, method = made.pop("k"), made.pop("method")
    clusters = equivalence_classes(list(graph.among(mapping).profiles().T)).labels
    proven = protections.protections[method].make(made).proven(store.load_graph(original), clusters, k)
    release = Release(graph, mapping, k, method, made, proven)
    together = [*((each.graph, each.mapping) for each in beside), (graph, mapping)]
    return KeptRelease(original, name, release, beside, joint_k(together))


def holds(store: Store, name: str, graph: SocialGraph) -> bool:
    """Whether the original *name* of a store holds the same as a *graph*."""
    known = {each.name: each for each in store.graphs()}
    is_original = name in known and not known[name].is_release
    return is_original and fingerprint(store.load_graph(name)) == fingerprint(graph)


def already_released(original: str, names: Sequence[str]) -> AlreadyReleased:
    """The error for an original that has live releases of these *names*."""
    what, whose, deleted = "releases", "one's", "them"
    if len(names) == 1:
        what, whose, deleted = "release", "its", f"it or replace it under its name with {named('overwrite')}"
    return AlreadyReleased(
        f"{original!r} has the live {what} {', '.join(map(repr, names))} already, and links tell which rows of two "
        f"releases are one user, so that together they break k. Keep {whose} clusters with {named('previous')}, "
        f"delete {deleted}, or take the joint k with {named('accept_combined_risk')}. A copy that was exported is live "
        "wherever it is."
    )


def uncounted(original: str, release: GraphInfo) -> AlreadyReleased:
    """The error for a *release* that nothing can count together with a new one."""
    if release.original is not None:
        return AlreadyReleased(
            f"{release.name!r} is a live release of {release.original!r}, which held the same data as {original!r}, "
            f"and links tell which rows of two releases are one user. Make the next one from {release.original!r}, or "
            f"delete {release.name!r}."
        )
    return AlreadyReleased(
        f"{release.name!r} was released from the data that {original!r} holds, before that was imported anew, and is "
        f"live. Its mapping went with the original of then, so nothing can count the two together: delete "
        f"{release.name!r}, or replace it under its name with {named('overwrite')}."
    )


def released_elsewhere(store: Store, held: str, original: str, *, but: str) -> list[GraphInfo]:
    """The releases, *but* for one, of data with the fingerprint *held* that are not releases of this *original*.

    Theirs is gone from the store, or has another name.
    """
    others = [each for each in store.graphs() if each.is_release and each.original != original and each.name != but]
    mark = marked(store, held)
    return [
        each
        for each in others
        if any(run.verb == "protect" and run.input_hash == mark for run in store.runs(each.name))
    ]


def marked(store: Store, fingerprint: str) -> str:
    """The mark of an original with a *fingerprint* in a store."""
    return keyed(store.secret(), fingerprint)


def published(store: Store, original: str, names: Iterable[str], users: int) -> list[Published]:
    """The releases *names* of an original that has so many *users*, with their mappings."""
    found = [Published(name, store.load_graph(name), store.mapping(original, name)) for name in names]
    if any(len(each.mapping) != users for each in found):
        raise changed(original)
    return found


def _kept_clusters(beside: Sequence[Published], previous: str, k: int) -> NDArray[np.int64]:
    """The clusters that users stay in beside live releases, the *previous* one first among them."""
    first, *others = sorted(beside, key=lambda each: each.name != previous)
    return kept_clusters(first, others, k)


def kept_by_k(
    store: Store, original: str, previous: str, ks: Iterable[int], users: int
) -> tuple[dict[int, NDArray[np.int64]], dict[int, str]]:
    """The clusters to keep of a live release for each of *ks*, and for those that cannot be why not."""
    there = store.releases_of(original)
    if previous not in there:
        raise UnknownName.among(f"release of {original!r}", previous, there)
    beside = published(store, original, there, users)
    kept: dict[int, NDArray[np.int64]] = {}
    refused: dict[int, str] = {}
    for k in ks:
        try:
            kept[k] = _kept_clusters(beside, previous, protections.check_k(k, users))
        except NoSolution as error:
            refused[k] = str(error)
    return kept, refused


def check_release_name(name: str, original: str) -> str:
    """The *name* of a release, if it can be one and is not that of its *original*."""
    if check_name(name, "into") == original:
        raise InvalidParameter.wrong("into", must="be another name than that of the original", was=name)
    return name


def protection_run(mark: str, release: Release, beside: Iterable[str] = ()) -> Run:
    """The record of how a *release* was made of an original with a *mark*, and *beside* which live ones."""
    parameters = {"k": release.k, "method": release.method, **release.parameters}
    parameters |= {"beside": list(beside)} if beside else {}
    return Run(verb="protect", parameters=parameters, version=version(), input_hash=mark)


@dataclass(frozen=True, eq=False)
class Matched:
    """An original and a release, with the users put together as far as that can be known."""

    original: SocialGraph
    released: SocialGraph
    mapping: NDArray[np.int64] | None
    notes: tuple[str, ...] = ()


def match_stored(store: Store, original: str, released: str, *, report: Report = silent) -> Matched:
    """Two graphs of a store, by the mapping if the second is a release of the first, else by ids that agree."""
    report("Loading", 0, 0)
    if store.graph(released).original == original:
        return Matched(*store.load_pair(original, released))
    graph, masked = store.load_graph(original), store.load_graph(released)
    note = f"{released!r} is not a release of {original!r} in this store: users are matched by their ids."
    return Matched(graph, masked, mapping_by_id(graph.ids, masked.ids), (note,))


def match_files(original: str, released: str, *, mapping: str | None = None, report: Report = silent) -> Matched:
    """Two graphs of files, by the CSV *mapping* if there is one, else by ids that agree."""
    one, other = (read_graph(file, report=report) for file in (original, released))
    graph, masked, notes = one.graph, other.graph, (*one.notes, *other.notes)
    if mapping is None:
        known = mapping_by_id(graph.ids, masked.ids)
        note = (
            "without a mapping, DBIL, anchored AAMIL and expected success cannot be known."
            if known is None
            else "the released graph keeps the ids of the original; users are matched by them."
        )
        return Matched(graph, masked, known, (*notes, note))
    known = read_mapping(mapping, graph.ids, masked.ids)
    left_out = int((known == NOWHERE).sum())
    if left_out == len(known):
        raise InvalidInput(f"{mapping}: the mapping names nobody; leave out {named('mapping')} to audit without one.")
    if left_out:
        note = f"the mapping leaves out {left_out} of {len(known)} users; figures that need it leave them out."
        notes = (*notes, note)
    return Matched(graph, masked, known, notes)


@dataclass(frozen=True, eq=False)
class Exported:
    """A graph out of a store, and of a release its origin, if that was asked for."""

    graph: SocialGraph | Pages
    info: GraphInfo
    origin: Origin | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings about the files."""
        notes = () if self.info.is_release else (f"{self.info.name!r} is an original; what was written names persons.",)
        leads_back = "the mapping leads from the release back to persons; keep it apart."
        return notes if self.origin is None else (*notes, leads_back)


def export(opened: Callable[[], AbstractContextManager[Store]], name: str, *, with_origin: bool = False) -> Exported:
    """A graph of a store that is *opened* when it is read; *with_origin* asks for the original of a release, too."""
    if not with_origin:
        pages = Pages.of(opened, name)
        return Exported(pages, pages.info)
    with opened() as store:
        info = store.graph(name)
        if info.original is None:
            raise InvalidParameter(f"{named('mapping')}: {name!r} is not a release of a graph in this store.")
        graph, origin = _with_origin(store, info)
        return Exported(graph, info, origin)


@dataclass(frozen=True, eq=False)
class TakenMicrodata:
    """The microdata of a graph in a store."""

    table: Microdata | ProtectedMicrodata
    info: GraphInfo

    @property
    def is_private(self) -> bool:
        """Whether the table shows persons as they are, so that only its owner may read it."""
        return not self.info.is_release and self.table.k < 2

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings about the table."""
        return (f"{self.info.name!r} is an original; its microdata are not protected.",) if self.is_private else ()


def take_microdata(
    store: Store,
    name: str,
    *,
    k: int | None = None,
    method: str | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    alone: bool = False,
    rng: np.random.Generator,
    report: Report = silent,
) -> TakenMicrodata:
    """The table of a graph's users, masked by a *method* of tables if one is given; `NoSolution` if *k* does not hold.

    A masked table is measured against the original if the graph is a release and its original is there, and nothing
    but the graph is read if it is taken *alone*.
    """
    report("Loading", 0, 0)
    info = store.graph(name)
    if method is None:
        table = microdata(store.load_graph(name), rng=rng)
        return TakenMicrodata(table if k is None else table.require(k), info)
    graph, origin = (store.load_graph(name), None) if alone else _with_origin(store, info)
    report("Protecting and measuring", 0, 0)
    masked = protect_microdata(graph, method=method, k=k, parameters=parameters, origin=origin, rng=rng)
    return TakenMicrodata(masked, info)


def _with_origin(store: Store, info: GraphInfo) -> tuple[SocialGraph, Origin | None]:
    if info.original is None:
        return store.load_graph(info.name), None
    original, graph, mapping = store.load_pair(info.original, info.name)
    return graph, Origin(original, mapping)
