"""D-KGEN after one row in a hundred changed, beside searches that begin anew.

100,000 rows of eight columns are drawn with a seed, released once by KGEN (k=5), and then a hundredth of the rows is
changed: a third is taken out, a third gets other values, and as many as went come new. In one run are measured

- the search that goes on: from the record of the first release as it is in memory to the node, with everything it
  needs: who is who, the trails, the evaluator;
- KGEN with the paper's budget on the new table alone, as if nothing had been released before: what it finds may tell,
  together with the first release, of persons by themselves (how many is printed);
- KGEN with the same budget that keeps all releases together, without going on from anything.

Reading and writing the private record is timed apart. The rule is checked by separate code over both releases.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tabular.attributes import Attribute
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.chain.history import History, already_told
from tabular.lattice.chain.previous import read_history
from tabular.lattice.chain.search import DynamicEvaluator, DynamicKgen
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.searches import searches
from tabular.lattice.searching import Question, Result, run
from tabular.lattice.space import Limits
from tabular.table import Table
from tests.tabular.lattice.chain.records import write_history

SIZES = {"age": 74, "sex": 2, "education": 16, "marital": 7, "race": 5, "country": 41, "occupation": 14, "work": 9}
KEY = "person"


def main() -> None:
    """Print seconds, ratios and losses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--share", type=float, default=0.01, help="of the rows that change")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--suppression", type=float, default=0.04)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    limits = Limits(k=options.k, suppression=options.suppression)
    # A small table first: compiling is not what is measured.
    measured(1000, options.share, limits, 99, quietly=True)
    for seed in options.seeds:
        measured(options.rows, options.share, limits, seed)


def measured(rows: int, share: float, limits: Limits, seed: int, *, quietly: bool = False) -> None:
    """One table, its first release, its change, and all searches after it."""
    say: Callable[..., None] = (lambda *words: None) if quietly else print
    rng = np.random.default_rng(seed)
    weights = {name: rng.dirichlet(np.full(size, 0.6)) for name, size in SIZES.items()}
    hierarchies = {name: hierarchy(name, size) for name, size in SIZES.items()}
    people = {number: drawn(weights, rng) for number in range(rows)}
    first = table_of(people)
    evaluator, result = fresh(first, hierarchies, limits, seed)
    node = result.solutions.tuples()[0]
    out = evaluator.suppressed_rows(node)
    history = History.begun(list(hierarchies), KEY).extended(first, hierarchies, node, out)
    say(f"seed {seed}: {rows:,} rows, {evaluator.lattice.size:,} nodes; first release {node}, {out.sum():,} suppressed")
    change(people, weights, round(rows * share), rng)
    second = table_of(people)
    record(history, second, hierarchies, say)
    going_on, (dynamic, found) = timed(lambda: on(second, hierarchies, history, limits, seed, DynamicKgen()))
    anew, (plain, alone) = timed(lambda: fresh(second, hierarchies, limits, seed))
    kgen = searches["kgen"].method()
    together, (_, all_anew) = timed(lambda: on(second, hierarchies, history, limits, seed, kgen))
    say(f"{'':>34}{'seconds':>9}{'nodes':>7}{'loss':>13}{'suppressed':>12}{'told apart':>12}")
    for name, seconds, result, source in (
        ("going on", going_on, found, dynamic),
        ("anew, this release alone", anew, alone, plain),
        ("anew, all releases together", together, all_anew, dynamic),
    ):
        node = result.solutions.tuples()[0]
        out = source.suppressed_rows(node)
        told = already_told(history.extended(second, hierarchies, node, out), limits.k or 1)
        loss = float(result.solutions["glm"][0])
        say(f"{name:>34}{seconds:>9.3f}{result.evaluated:>7}{loss:>13.1f}{out.sum():>12,}{told:>12,}  {node}")
        assert source is plain or told == 0
    say(
        f"anew / going on: {anew / going_on:.1f} alone, {together / going_on:.1f} together; {found.remarks['previous']}"
    )
    if not quietly:
        assert going_on <= anew / 10 and going_on <= together / 10
    assert found.solutions["glm"][0] <= all_anew.solutions["glm"][0] + 1e-6


def fresh(table: Table, hierarchies: dict[str, Hierarchy], limits: Limits, seed: int) -> tuple[Any, Result]:
    """KGEN as if nothing was released before."""
    evaluator = Evaluator(table, hierarchies, limits=limits, metrics=("glm",))
    search = searches["kgen"].method()
    return evaluator, run("kgen", search, Question(evaluator, "glm"), rng=np.random.default_rng(seed))


def on(
    table: Table, hierarchies: dict[str, Hierarchy], history: History, limits: Limits, seed: int, search: Any
) -> tuple[Any, Result]:
    """A search that keeps all releases together."""
    evaluator = DynamicEvaluator(table, hierarchies, history, limits=limits, metrics=("glm",))
    return evaluator, run("kgen", search, Question(evaluator, "glm"), rng=np.random.default_rng(seed))


def record(history: History, table: Table, hierarchies: dict[str, Hierarchy], say: Callable[..., None]) -> None:
    """What the private record takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.json"
        writing, _ = timed(lambda: write_history(path, history))
        reading, _ = timed(lambda: read_history(path, table, hierarchies))
        say(f"private record: {path.stat().st_size / 1e6:.1f} MB, written in {writing:.3f} s, read in {reading:.3f} s")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds of *work*, and what came of it."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def hierarchy(name: str, size: int) -> Hierarchy:
    """Widths of 3, 9, 27 …, then all; of few values 2, 4, 8 …"""
    step, width, levels = (3 if size > 10 else 2), 1, []
    while width * step < size:
        width *= step
        levels.append([f"{width}:{value // width}" for value in range(size)])
    return Hierarchy.of(name, domain(size), [*levels, ["*"] * size])


def domain(size: int) -> list[str]:
    """The values of a column."""
    return [f"v{value:02d}" for value in range(size)]


def drawn(weights: dict[str, Any], rng: np.random.Generator) -> list[int]:
    """The values of one person."""
    return [int(np.searchsorted(np.cumsum(each), rng.random() * each.sum())) for each in weights.values()]


def change(people: dict[int, list[int]], weights: dict[str, Any], count: int, rng: np.random.Generator) -> None:
    """Of so many rows a third goes, a third comes, and a third gets other values."""
    third, last = count // 3, max(people)
    chosen = rng.permutation(sorted(people))[: 2 * third].tolist()
    for number in chosen[:third]:
        del people[number]
    for number in chosen[third:]:
        place = int(rng.integers(len(SIZES)))
        people[number] = [*people[number]]
        people[number][place] = drawn(weights, rng)[place]
    for number in range(count - 2 * third):
        people[last + 1 + number] = drawn(weights, rng)


def table_of(people: dict[int, list[int]]) -> Table:
    """The table of all people."""
    attributes = [
        Attribute(name=KEY, role="identifier"),
        *(Attribute(name=name, domain=tuple(domain(size))) for name, size in SIZES.items()),
    ]
    columns: dict[str, Any] = {KEY: [f"p{number:07d}" for number in people]}
    values = list(people.values())
    for place, (name, size) in enumerate(SIZES.items()):
        words = domain(size)
        columns[name] = [words[min(row[place], size - 1)] for row in values]
    return Table.from_columns(columns, attributes)


if __name__ == "__main__":
    main()
