"""`demo`: the whole chain on a synthetic graph."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.verbs.contract import (
    Outcome,
    Verb,
    Work,
    json_output,
    verbs,
)
from api.verbs.graph.protect import k_option
from tabular.errors import NameTaken, named
from tabular.files.disk import Output, failure
from tabular.registry import option


@verbs.add("demo")
@dataclass(frozen=True, kw_only=True)
class RunDemo(Verb):
    """Run the whole chain offline: crawl a made-up network, then protect, audit and release the graph.

    The network runs on this machine and speaks the interface of X. Its users and follows come from a synthetic graph;
    they write places in their own words and post about their interests.

    You can recompute everything it prints from the files in DIR. The store demo.db keeps the seed with the mapping:
    `graphpriv protect original --accept-combined-risk --seed` with it makes the same release again, and
    `graphpriv demo --seed` the whole demo.
    """

    draws = True
    replaces = True

    # No output that is planned: files of an earlier demo are replaced unasked, and looked at when the work begins.
    out: str = option("graphpriv-demo", metavar="DIR", fills=True, help="The folder for the files.")
    users: int = option(1638, low=2, help="The number of users.")
    follows: int | None = option(
        None,
        low=1,
        help="The number of follows, at most one from each of `users` to each other; about 2.8 per user if not given.",
    )
    k: int = k_option(5, "; not more than `users`")

    def check(self) -> None:
        from graphpriv.protections import check_k

        check_k(self.k, self.users)

    def run(self, work: Work) -> Outcome:
        import numpy as np

        from crawler.demonstration import collect
        from graphpriv.demonstration import FILES, PRIVATE, demonstrate
        from graphpriv.risk.ahead import compiling_the_search
        from graphpriv.store import open_store
        from graphpriv.synthetic import synthetic_graph
        from tabular.files.working import working_folder

        folder = Path(self.out)
        there = [name for name in FILES.values() if (folder / name).exists()]
        if there and not work.overwrite and not (folder / FILES["store"]).exists():
            raise NameTaken(
                f"{folder / there[0]}: this file exists, but not from an earlier demo; give {named('overwrite')} to "
                "replace it."
            )
        _refuse_closed(folder)
        work.report(f"Drawing {self.users:,} users", 0, 0)
        drawing, _ = np.random.default_rng(work.seed).spawn(2)
        made = synthetic_graph(self.users, self.follows, rng=drawing)
        with compiling_the_search():
            with working_folder() as scratch, open_store(f"file:{scratch}/{FILES['store']}", create=True) as store:
                collection = collect(store, "original", made, seed=work.seed, report=work.report)
                (collected,) = store.copies()
            found = demonstrate(
                collected.graph,
                k=self.k,
                seed=work.seed,
                collection=collection,
                collected=collected,
                report=work.report,
            )
        work.report("Writing", 0, 0)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise failure(error, folder) from None

        def keep() -> None:
            with open_store(f"file:{folder / FILES['store']}", create=True) as store:
                found.keep(store)

        def output(name: str, write: Any) -> Output:
            traits = {"private": name in PRIVATE, "released": name == "released"}
            return Output(path=files[name], parameter="out", write=lambda file, _: write(file), **traits)

        files = {name: str(folder / file) for name, file in FILES.items()}
        beside = [json_output(files[name], "out", each) for name, each in found.dictionaries().items()]
        return Outcome(
            document={
                "files": files,
                "collection": collection,
                "microdata": found.microdata.document,
                "audit": found.audit.document,
            },
            outputs=[*(output(name, write) for name, write in found.writers().items()), *beside],
            replaces_unasked=True,
            afterwards=keep,
        )


def _refuse_closed(folder: Path) -> None:
    """Refuse a folder in which nothing can be written, before the work is done for nothing."""
    nearest = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    reason = errno.ENOTDIR if not nearest.is_dir() else 0 if os.access(nearest, os.W_OK | os.X_OK) else errno.EACCES
    if reason:
        raise failure(OSError(reason, os.strerror(reason)), folder)
