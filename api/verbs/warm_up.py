"""`warm-up`: compile every kernel, so that no later command has to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path
from typing import Any

from api.verbs.contract import Outcome, Verb, Work, perform, verbs
from api.verbs.values import made
from tabular.errors import NoSolution

Step = tuple[str, dict[str, Any]]

#: The columns of the made table that are protected, and the options that tell what it holds.
_COLUMNS = {"age": "ordinal", "town": "nominal", "health": "ordinal", "income": "continuous"}
_QUASI_IDENTIFIERS = ["age", "town", "health"]
_KINDS = {"kind": ["health=ordinal", "income=continuous"], "role": ["name=identifier", "income=insensitive"]}

#: The parameters with which protections run that need some, or have kernels of their own for some; {folder} stands for
#: where the files are.
_PARAMETERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "full-domain": (("levels=age=1,town=1,health=1", "hierarchies={folder}/levels"),),
    "clustered": (("k=3",), ("clustering=ward", "inner=rank-swapping")),
    "microaggregation": ((), ("sizes=variable", "univariate=true")),
}

#: Options that lead a search through kernels of its own.
_SEARCHES: tuple[dict[str, Any], ...] = (
    {"suppression": 0.2},
    {"sensitive": "income", "l": 2, "t": 0.9, "metric": "precision"},
    {"class_label": "income", "metric": "cm"},
)
_FRONTS: tuple[dict[str, Any], ...] = (
    {"objectives": ["k", "glm"], "suppression": 0.1},
    {"objectives": ["k", "l", "glm"], "sensitive": "income"},
)


@verbs.add("warm-up")
@dataclass(frozen=True, kw_only=True)
class WarmUp(Verb):
    """Compile all code once, so that no later command waits for it.

    For images and for CI: otherwise each command compiles what it needs on first use. It runs every method on small
    made-up data in a temporary folder.
    """

    def run(self, work: Work) -> Outcome:
        from tabular.compiling import compile_time
        from tabular.files.working import working_folder

        before, spent = compile_time.kernels, compile_time.seconds
        with working_folder() as folder:
            (folder / "levels").mkdir()
            _write_tables(folder)
            quiet = Work(store=f"file:{folder / 'store.db'}", seed=1)
            steps = list(_steps(folder))
            for place, (verb, options) in enumerate(steps):
                work.report("Running every method", place, len(steps))
                _perform(verb, options, quiet)
        _draw()
        _index_places()
        folders = sorted(compile_time.folders)
        return Outcome(
            document={
                "compiled": compile_time.kernels - before,
                "seconds": compile_time.seconds - spent,
                "kept_in": commonpath(folders) if folders else None,
            }
        )


def _perform(verb: str, options: Mapping[str, Any], work: Work) -> None:
    # A search that draws nodes may find none that satisfies; its kernels have run all the same.
    with suppress(NoSolution):
        perform(made(verbs[verb].method, dict(options)), work)


def _draw() -> None:
    """Lay out a made graph: its users, and the communities that take their place in large ones."""
    import numpy as np

    from graphpriv.layout import lay_out, lay_out_communities
    from graphpriv.synthetic import synthetic_graph

    graph = synthetic_graph(400, rng=np.random.default_rng(1))
    lay_out(graph)
    lay_out_communities(graph, most=10)


def _index_places() -> None:
    """Make the index of places, which is kept beside the kernels."""
    from crawler.places.index import index

    index()


def _write_tables(folder: Path) -> None:
    import numpy as np

    rng, rows = np.random.default_rng(1), 240
    ages, towns = rng.integers(20, 60, rows), rng.integers(0, 6, rows)
    health, income = rng.integers(0, 4, rows), rng.uniform(900, 5000, rows)
    lines = [f"P{i},{ages[i]},town {towns[i]},{health[i]},{income[i]:.2f}" for i in range(rows)]
    for name, kept in (("table.csv", lines), ("later.csv", lines[20:])):
        (folder / name).write_text("\n".join(["name,age,town,health,income", *kept]) + "\n", encoding="utf-8")


def _steps(folder: Path) -> Iterator[Step]:
    """Verbs with their options, so that together they run every kernel."""
    yield from _graph_steps(folder)
    yield from _table_steps(folder)
    yield from _search_steps(folder)


def _graph_steps(folder: Path) -> Iterator[Step]:
    from graphpriv.protections import protections

    demo = folder / "demo"
    yield "demo", {"out": str(demo), "users": 80, "k": 3}
    for suffix in ("json", "csv"):
        name = f"graph-{suffix}"
        if suffix == "csv":
            yield "graph export", {"name": "graph-json", "out": str(folder / "graph.csv")}
        source = demo / "original.json" if suffix == "json" else folder / "graph.csv"
        yield "graph import", {"file": str(source), "graph": name}
    for method in protections:
        options = {"name": "graph-json", "into": f"by-{method}", "k": 3, "method": method}
        yield "protect", {**options, "accept_combined_risk": True}
        yield "audit", {"original": "graph-json", "released": f"by-{method}"}
    yield "sweep", {"name": "graph-json", "k": ["3"], "runs": 1}


def _table_steps(folder: Path) -> Iterator[Step]:
    from tabular.evolution import evolutions
    from tabular.protections import protections

    table = str(folder / "table.csv")
    for column, by in zip(_QUASI_IDENTIFIERS, ("balanced", "star", "balanced"), strict=True):
        out = str(folder / "levels" / f"{column}.csv")
        yield "table hierarchy", {"file": table, "column": column, "by": by, "out": out}
    yield "table check", {"file": table, "quasi_identifiers": _QUASI_IDENTIFIERS, "sensitive": ["income"], **_KINDS}
    for name, entry in protections.items():
        taken = [column for column, kind in _COLUMNS.items() if kind in entry.method.kinds]
        for place, parameters in enumerate(_PARAMETERS.get(name, ((),))):
            # Numbers alone lead some methods through kernels of their own.
            for columns in ([each for each in taken if each != "income"], [each for each in taken if each == "income"]):
                if columns and not (columns == ["income"] and name == "full-domain"):
                    masked = str(folder / f"{name}-{place}-{len(columns)}.csv")
                    param = [each.format(folder=folder) for each in parameters]
                    chosen = {"method": name, "columns": columns, "param": param, "out": masked}
                    yield "table protect", {"file": table, **chosen, **_KINDS}
                    yield "table measure", {"original": table, "masked": masked, "columns": columns, **_KINDS}
    for what in evolutions:
        out = str(folder / f"evolved-{what}.csv")
        options = {"file": table, "what": what, "columns": _QUASI_IDENTIFIERS, "generations": 3, "out": out}
        yield "table evolve", {**options, **_KINDS}


def _search_steps(folder: Path) -> Iterator[Step]:
    from tabular.lattice.searches import searches

    table = {
        "file": str(folder / "table.csv"),
        "quasi_identifiers": _QUASI_IDENTIFIERS,
        "hierarchies": str(folder / "levels"),
    }
    for algorithm, entry in searches.items():
        ways = (_SEARCHES if entry.method.seeks_one else ()) + (_FRONTS if entry.method.seeks_front else ())
        for options in ways:
            yield "table search", {**table, **_KINDS, "algorithm": algorithm, "k": 3, "evaluations": 40, **options}
    # As if the lattice were too large to list its nodes.
    yield "table search", {**table, **_KINDS, "algorithm": "optimal", "k": 3, "param": ["most=1"]}
    chained = {**table, **_KINDS, "k": 3, "key": "name", "shuffle": True, "suppressed": "drop", "suppression": 0.2}
    first, second = ({"out": str(folder / f"{n}.csv"), "private": str(folder / f"{n}.json")} for n in (1, 2))
    yield "table search", {**chained, **first}
    yield "table search", {**chained, **second, "previous": first["private"], "file": str(folder / "later.csv")}
