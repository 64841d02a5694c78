"""What commands read: sound files of each kind, how they are damaged, and what is done with what was read.

Of what a reader takes nonetheless, the answer must be right: written and read again, it is the same.
"""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from api.verbs import verbs
from api.verbs.contract import Outcome, Work, perform
from api.verbs.values import made, plan_of, read_plan, text_of
from crawler.archives import read_original
from crawler.crawling.prices import Prices
from graphpriv.formats import formats, read_graph, write_graph
from graphpriv.release import read_mapping, write_mapping
from graphpriv.store import open_store
from graphpriv.synthetic import synthetic_graph
from tabular.attributes import Attribute
from tabular.errors import ReportedError
from tabular.evolution.checkpoint import CheckpointFile
from tabular.files.journal import finish_interrupted
from tabular.files.schema import parse_schema, read_schema, schema_of
from tabular.files.table_files import read_file, read_masked, write_table
from tabular.hierarchies import read_hierarchy, write_hierarchy
from tabular.matrices.formulas import Formula
from tabular.matrices.transition import read_matrices, write_matrix
from tests.crawler.archives import test_bluesky_car as bluesky
from tests.crawler.archives import test_mastodon_files as mastodon
from tests.crawler.archives import test_twarc as twarc
from tests.crawler.archives import test_x_archive as x
from tests.crawler.archives.making import lines, repository, zipped
from tests.fuzz import deeper
from tests.fuzz.mutations import STRUCTURES, of_bytes, of_encoding, packed

TESTS = Path(__file__).parents[1]

#: A damage: bytes, and chance.
Damage = Callable[[bytes, random.Random], bytes]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Something that commands read."""

    #: What a folder holds of it, by name; made once.
    files: Callable[[], Mapping[str, bytes]]
    #: What may be damaged: names of files, each with how its structure is.
    damaged: Mapping[str, str | Damage]
    #: Does what commands do with it, in the folder; an error of its own, or nothing is wrong.
    read: Callable[[int], object]
    #: The registered things it stands for: options of verbs, formats, archives.
    of: tuple[str, ...]
    #: Whether it is changed where it lies, as a store is, so that files come and go beside it.
    changes: bool = False
    #: Exit codes beside 2: 3 where sound input may have no solution, 1 for a store that is damaged.
    codes: frozenset[int] = frozenset()
    #: Whether a text in another encoding is a case of it.
    is_text: bool = field(default=True)

    def case(self, number: int, name: str) -> tuple[str, bytes]:
        """The damaged file of a case: which, and what it holds."""
        rng = random.Random(f"{name} {number}")
        which = rng.choice(sorted(self.damaged))
        data = self.files()[which]
        structure = self.damaged[which]
        damage = _or_of_bytes(STRUCTURES[structure] if isinstance(structure, str) else structure)
        how = rng.random()
        if how < 0.55:
            data = damage(data, rng)
        elif how < 0.62 and self.is_text:
            data = of_encoding(data, rng)
        elif how < 0.64:
            data = packed(data, rng)
        elif how < 0.66:
            data = rng.choice((b"", b"\n", b"\0" * 99, b"\xef\xbb\xbf", b"[", b"{", b"<", rng.randbytes(300)))
        elif how < 0.9:
            data = of_bytes(data, rng)
        else:
            data = of_bytes(damage(data, rng), rng)
        return which, data


def _or_of_bytes(damage: Damage) -> Damage:
    """A damage, or one to the bytes where a file is in no state to be damaged so."""

    def damaged(data: bytes, rng: random.Random) -> bytes:
        try:
            return damage(data, rng)
        except Exception:
            return of_bytes(data, rng)

    return damaged


def do(verb: str, **options: Any) -> Outcome:
    """Perform a verb as every door does, in the folder that is the current one."""
    work = Work(store=options.pop("store", "file:s.db"), seed=7, stop=options.pop("stop", lambda: False))
    return perform(made(verbs[verb].method, options), work)


# Tables

TABLE = "age,sex,zip,income\n" + "".join(
    f"{17 + n % 5 * 7},{'fm'[n % 2]},0800{n % 3},{'?' if n == 4 else 900.5 + n}\n" for n in range(14)
)
SCHEMA = """title = "People"
columns = ["age", "sex", "zip", "income"]
delimiter = ","
header = true
missing = ["?", ""]
encoding = "utf-8"
decimal = "."

[attributes.age]
kind = "ordinal"
role = "quasi-identifier"
order = [17, 24, 31, 38, 45]
[attributes.sex]
values = ["f", "m"]
title = "Sex"
[attributes.income]
kind = "continuous"
role = "sensitive"
bounds = [0, 5000]
"""
AGES = "17;[17,24];*\n24;[17,24];*\n31;[31,45];*\n38;[31,45];*\n45;[31,45];*\n"
SEXES = "f;*\nm;*\n"


def written_again(name: str) -> None:
    """A table is written and read again, and is the same."""
    found = read_file(name)
    write_table(found.table, "again.csv", like=found, overwrite=True)
    again = read_masked("again.csv", found.table, schema=found.schema, options=deeper.options(found.dialect))
    assert again.names == found.table.names
    for column in again.names:
        assert np.array_equal(again.columns[column], found.table.columns[column]), column


def read_table(name: str, number: int) -> None:
    do("table describe", file=name)
    if number % 4 == 3:
        names = read_file(name).table.names
        do("table check", file=name, quasi_identifiers=list(names[:2]))
    written_again(name)


def parquet_file() -> bytes:
    sink = io.BytesIO()
    columns = {
        "age": pa.array([17, 24, None, 31] * 5, pa.int16()),
        "town": pa.array(["a", "b", None, "é"] * 5).dictionary_encode(),
        "income": [1.5, float("nan"), 2.5, None] * 5, "ok": [True, None] * 10,
        "day": pa.array([1, 2, None, 3] * 5, pa.date32()),
    }  # fmt: skip
    pq.write_table(pa.table(columns), sink, row_group_size=7)
    return sink.getvalue()


def schema_again(name: str) -> None:
    do("table describe", file="t.csv", schema=name)
    known = read_schema(name)
    again = schema_of(json.loads(json.dumps(known.document())), "again")
    assert again.document() == known.document()


def hierarchy_again(number: int) -> None:
    column = Attribute(name="age", kind="ordinal", domain=(17, 24, 31, 38, 45))
    found = read_hierarchy("h/age.csv", column)
    write_hierarchy("again.csv", found)
    again = read_hierarchy("again.csv", column)
    assert [each.labels for each in again.levels] == [each.labels for each in found.levels]
    assert all(np.array_equal(a.groups, b.groups) for a, b in zip(again.levels, found.levels, strict=True))
    do("table hierarchy", file="t.csv", column="age", by="csv", param=["file=h/age.csv"], out="h.csv")
    if number % 25 == 24:
        do("table search", file="t.csv", hierarchies="h", quasi_identifiers=["age", "sex"], k=2, algorithm="exhaustive")


PLACES = {"08001": ["Town", "Land"], "08002": ["Town", "Land"], "08000": ["Village", "Land"]}


def matrix(labels: list[str], stay: float) -> bytes:
    rest = (1 - stay) / (len(labels) - 1)
    rows = [",".join([one, *(str(stay if one == other else rest) for other in labels)]) for one in labels]
    return ("original," + ",".join(labels) + "\n" + "\n".join(rows) + "\n").encode()


def matrices_again(number: int) -> None:
    columns = read_file("t.csv", schema=read_schema("s.toml")).table.attributes[:2]
    found = read_matrices("m", columns)
    for each in columns:
        if each.name in found:
            write_matrix("again/" + each.name + ".csv", each, found[each.name])
    again = read_matrices("again", columns)
    assert all(np.allclose(again[name], found[name], rtol=0, atol=1e-12) for name in found)
    if number % 100 == 99:
        given = {"original": "t.csv", "masked": "t.csv", "schema": "s.toml", "columns": ["age", "sex"], "matrices": "m"}
        do("table measure", **given)


def formula_again(number: int) -> None:
    text = Path("formula.txt").read_bytes().decode("utf-8", "replace")
    given = {"file": "t.csv", "schema": "s.toml", "columns": ["sex"], "method": "pram", "out": "masked.csv"}
    formula = Formula.read(text.strip())
    assert Formula.read(str(formula)) == formula
    found = formula.matrix(np.array([5, 0, 3]))
    assert np.isfinite(found).all() and np.allclose(found.sum(axis=1), 1)
    if number % 50 == 49:
        do("table protect", param=[f"formula={text.strip()}"], **given)


OUTPUTS = ("best.csv", "best.csv.dictionary.json")
EVOLVED = {"file": "t.csv", "schema": "s.toml", "what": "records", "columns": ["age", "sex"], "out": "best.csv"}


def evolve(number: int) -> None:
    table = read_file("t.csv", schema=read_schema("s.toml"))
    found = read_masked("p/1.csv", table.table, names=["age", "sex"], schema=table.schema)
    assert len(found) >= 0 and set(found.names) == {"age", "sex"}
    if number % 20 == 19:
        do("table evolve", **EVOLVED, population="p", generations=2)


def go_on(number: int) -> None:
    # Whether it is read at all is the matter; then the run goes on with it.
    CheckpointFile(Path("best.csv.checkpoint")).recall()
    if number % 2:
        do("table evolve", **EVOLVED, population="p", generations=4, resume=True)


def search_on(number: int) -> None:
    limits = {"quasi_identifiers": ["age", "sex"], "k": 2, "suppression": 0.5, "algorithm": "exhaustive"}
    do("table search", file="t.csv", hierarchies="h", previous="one.json", schema="s.toml", **limits)


def measure_release(number: int) -> None:
    if number % 100 == 99:
        do("table measure", original="t.csv", masked="one.csv", schema="s.toml", columns=["age", "sex"])
    else:
        limits = {"quasi_identifiers": ["age", "sex"], "k": 2, "suppression": 0.5, "algorithm": "exhaustive"}
        do("table search", file="t.csv", hierarchies="h", previous="one.csv", schema="s.toml", **limits)


TABLES = {
    "t.csv": TABLE.encode(), "s.toml": SCHEMA.encode(), "h/age.csv": AGES.encode(), "h/sex.csv": SEXES.encode(),
    "again/.keep": b"",
}  # fmt: skip


@cache
def released() -> Mapping[str, bytes]:
    """A release with its dictionary and its private record."""
    with deeper.folder(TABLES) as here:
        do(
            "table search", file="t.csv", hierarchies="h", schema="s.toml", quasi_identifiers=["age", "sex"], k=2,
            algorithm="exhaustive", out="one.csv", private="one.json", suppression=0.5,
        )  # fmt: skip
        return {**TABLES, **deeper.held(here)}


@cache
def members() -> Mapping[str, bytes]:
    """A table, and protected versions of it."""
    return {**TABLES, **{f"p/{n}.csv": TABLE.replace("f,", "m,", n + 1).encode() for n in range(4)}}


@cache
def evolving() -> Mapping[str, bytes]:
    """The same with the checkpoint of a run that was cut off."""
    with deeper.folder(members()) as here:
        deeper.cut_off(partial(do, "table evolve", **EVOLVED, population="p", generations=3, stop=lambda: True))
        return {name: data for name, data in deeper.held(here).items() if name not in OUTPUTS}


# Graphs

GRAPH = synthetic_graph(9, 16, rng=np.random.default_rng(1))


@cache
def graph_files(suffix: str) -> Mapping[str, bytes]:
    with deeper.folder({}) as here:
        write_graph(GRAPH, here / f"g{suffix}")
        return deeper.held(here)


def import_graph(name: str, number: int, **options: Any) -> None:
    found = read_original(name, **options)
    graph = found.imported.graph
    for suffix in {".json", Path(name).suffix if Path(name).suffix in (".csv", ".graphml", ".gexf") else ".json"}:
        try:
            write_graph(graph, f"again{suffix}")
        except ReportedError:
            # XML cannot hold every character.
            assert suffix != ".json"
            continue
        assert deeper.are_same(read_graph(f"again{suffix}").graph, graph), suffix
    if number % 25 == 24:
        do("graph import", file=name, graph="g", **options)
        with open_store("file:s.db", create=False) as store:
            assert store.load_graph("g") == graph and tuple(store.posts("g")) == found.posts
            assert store.check() == []


def graph_kind(name: str) -> Kind:
    suffix = formats[name].method.suffixes[0]
    structure = {"edge-list": "rows", "node-link": "json"}.get(name, "xml")

    def read(number: int) -> None:
        beside = {"attributes": "g.users.csv", "places": "g.places.csv"} if name == "edge-list" else {}
        import_graph(f"g{suffix}", number, **beside if number % 2 else {})

    files = partial(graph_files, suffix)
    verb = ("graph import attributes", "graph import places") if name == "edge-list" else ()
    return Kind(
        files=files, damaged=dict.fromkeys(files(), structure), read=read,
        of=(f"graph format {name}", "graph import file", *verb),
    )  # fmt: skip


def archive_kind(name: str, file: str, data: Callable[[], bytes], structure: str | Damage) -> Kind:
    return Kind(
        files=lambda: {file: data()}, damaged={file: structure}, is_text=not file.endswith((".zip", ".car")),
        read=lambda number: import_graph(file, number, format=name), of=(f"graph format {name}", "graph import also"),
    )  # fmt: skip


@cache
def zip_of(parts: tuple[tuple[str, str], ...]) -> bytes:
    with deeper.folder({}) as here:
        return zipped(here / "a.zip", dict(parts)).read_bytes()


@cache
def pair() -> Mapping[str, bytes]:
    """An original, a release and its mapping."""
    with deeper.folder({}) as here:
        write_graph(GRAPH, here / "g.json")
        with open_store("file:s.db", create=True) as store:
            store.save_graph("g", GRAPH)
        do("protect", name="g", k=3, into="r")
        do("graph export", name="r", out="r.json", mapping="m.csv")
        return {name: data for name, data in deeper.held(here).items() if not name.startswith("s.db")}


def _options(verb: str) -> set[str]:
    return set(verbs[verb].method.__dataclass_fields__)


def audit(number: int) -> None:
    original, release = (read_graph(each).graph for each in ("g.json", "r.json"))
    found = read_mapping("m.csv", original.ids, release.ids)
    into = io.BytesIO()
    write_mapping(into, original.ids, release.ids, found)
    Path("again.csv").write_bytes(into.getvalue())
    assert np.array_equal(read_mapping("again.csv", original.ids, release.ids), found)
    if number % 500 == 499:
        do("audit", original="g.json", released="r.json", files=True, mapping="m.csv", attacker="ego")


# Stores


@cache
def stored() -> Mapping[str, bytes]:
    """A store with an original, a release and a crawl, and a backup of it."""
    crawled = gzip.decompress((TESTS / "graphpriv" / "store" / "sqlite" / "version-7.sqlite.gz").read_bytes())
    with deeper.folder({"s.db": crawled}) as here:
        with open_store("file:s.db", create=False) as store:
            store.save_graph("g", GRAPH)
        do("protect", name="g", k=3, into="r")
        with open_store("file:s.db", create=False) as store:
            store.backup("s.bak")
        return {"s.bak": (here / "s.bak").read_bytes()}


def read_store(number: int) -> None:
    do("graph list")
    # A store without seals may be an earlier one: it is sealed as it is.
    sealed = deeper.has_seal("s.db")
    sound = do("store check").failure is None
    for each in ("g", "town", "r"):
        do("graph show", name=each)
    do("graph export", name="g", out="again.json")
    # Where the check finds nothing wrong, everything is what it was.
    assert not (sound and sealed) or deeper.are_same(read_graph("again.json").graph, GRAPH)


def restore(number: int) -> None:
    do("store restore", file="s.bak", store="file:new.db")
    with open_store("file:new.db", create=False) as store:
        assert store.check() == []
        assert not deeper.has_seal("s.bak") or store.load_graph("g") == GRAPH


@cache
def journals() -> Mapping[str, bytes]:
    """What a killed command leaves: a journal, and what it names."""
    return deeper.journal()


def put_right(number: int) -> None:
    finish_interrupted(".")
    finish_interrupted("other")
    # Whatever a journal says: what nobody has named is as it was.
    assert Path("bystander.txt").read_bytes() == b"mine"


PLAN = {
    "plan": 2,
    "verb": "table check",
    "options": {"file": "t.csv", "quasi_identifiers": ["age", "sex"], "schema": "s.toml"},
}
PLAN_LINES = 'plan = 2\nverb = "table check"\n[options]\nfile = "t.csv"\nquasi_identifiers = ["age", "sex"]\n'


def plan_again(name: str) -> None:
    called, verb = read_plan(name)
    # A name of a file may be no text.
    text = text_of(plan_of(called, verb), "again.toml").encode("utf-8", "replace").decode()
    Path("again.toml").write_text(text, encoding="utf-8", newline="")
    assert "?" in text or read_plan("again.toml") == (called, verb)
    if called == "table check":
        perform(verb, Work(reads=(name,)))
    else:
        verb.check()


PRICES = """date = "2026-01-02"
[following]
low = 50
likely = 200
high = 900
[x]
user = 0.01
followed = 0.001
post = 0.005
"""


def read_prices(number: int) -> None:
    from crawler.crawling.limits import Limits

    prices = Prices.read("x", "p.toml", charges=True)
    assert prices.cost(user=3, post=2) >= 0
    prices.estimate(Limits(users=10, posts=10))


def read_lines(verb: str, number: int) -> None:
    outcome = do(verb, file="x.txt")
    told = outcome.document["lines"]
    assert json.loads(json.dumps(told)) == told


PLACED = "I live in Graz, Austria\nNYC \u2764\nKyoto, Japan; Lyon\n40.7,-74.0\nhere and there\nthe moon\n"

TABLE_FILES = tuple(
    f"table {verb} file"
    for verb in ("check", "compare", "describe", "evolve", "hierarchy", "import", "protect", "search")
)

KINDS: dict[str, Kind] = {
    "csv": Kind(
        files=lambda: TABLES, damaged={"t.csv": "rows"}, read=partial(read_table, "t.csv"),
        of=(*TABLE_FILES, "table check population", "table measure original"),
    ),
    "parquet": Kind(
        files=lambda: {"t.parquet": parquet_file()}, damaged={"t.parquet": deeper.of_parquet}, is_text=False,
        read=partial(read_table, "t.parquet"), of=("table describe file", "table measure masked"),
    ),
    "schema as TOML": Kind(
        files=lambda: TABLES, damaged={"s.toml": "toml"}, read=lambda number: schema_again("s.toml"),
        of=tuple(f"{name} schema" for name in verbs if "schema" in _options(name)),
    ),
    "schema as JSON": Kind(
        files=lambda: {**TABLES, "s.json": json.dumps(parse_schema(SCHEMA, "s.toml").document()).encode()},
        damaged={"s.json": "json"}, read=lambda number: schema_again("s.json"), of=("table describe schema",),
    ),
    "hierarchy": Kind(
        files=lambda: TABLES, damaged={"h/age.csv": deeper.of_levels}, read=hierarchy_again, codes=frozenset({3}),
        of=("table compare hierarchies", "table search hierarchies", "hierarchy csv"),
    ),
    "hierarchy of places": Kind(
        files=lambda: {**TABLES, "p.json": json.dumps(PLACES).encode()}, damaged={"p.json": "json"},
        read=lambda number: do(
            "table hierarchy", file="t.csv", column="zip", by="places", param=["file=p.json"], out="h.csv",
            schema="s.toml",
        ),
        of=("hierarchy places",),
    ),
    "plan as TOML": Kind(
        files=lambda: {**TABLES, "p.toml": PLAN_LINES.encode()}, damaged={"p.toml": "toml"},
        read=lambda number: plan_again("p.toml"), of=("run plan",),
    ),
    "plan as JSON": Kind(
        files=lambda: {**TABLES, "p.json": json.dumps(PLAN).encode()}, damaged={"p.json": "json"},
        read=lambda number: plan_again("p.json"), of=("run plan",),
    ),
    **{f"graph as {name}": graph_kind(name) for name in formats},
    "graph as bluesky-car": archive_kind(
        "bluesky-car", "a.car", cache(lambda: repository(bluesky.DID, bluesky.RECORDS)), deeper.of_car
    ),
    "graph as mastodon-csv": archive_kind("mastodon-csv", "f.csv", lambda: mastodon.CSV.encode(), "rows"),
    "graph as mastodon-archive": archive_kind(
        "mastodon-archive", "m.zip", lambda: zip_of(tuple(mastodon.PARTS.items())), "zip"
    ),
    "graph as twarc2": archive_kind("twarc2", "t.jsonl", lambda: lines(*twarc.RAW, *twarc.FLAT), "json lines"),
    "graph as x-archive": archive_kind("x-archive", "x.zip", lambda: zip_of(tuple(x.PARTS.items())), "zip"),
    "mapping": Kind(files=pair, damaged={"m.csv": "rows"}, read=audit, of=("audit mapping",)),
    "original and release": Kind(
        files=pair, damaged={"g.json": "json", "r.json": "json"}, read=audit, of=("audit original", "audit released")
    ),
    "private record": Kind(
        files=released, damaged={"one.json": "json"}, read=search_on, codes=frozenset({3}),
        of=("table search previous",),
    ),
    "released table": Kind(
        files=released, damaged={"one.csv": "rows"}, read=measure_release, codes=frozenset({3}),
        of=("table measure masked", "table search previous"),
    ),
    "data dictionary": Kind(
        files=released, damaged={"one.csv.dictionary.json": "json"}, read=measure_release, codes=frozenset({3}),
        of=("table measure masked", "table search previous"),
    ),
    "matrices": Kind(
        files=lambda: {
            **TABLES, "m/age.csv": matrix(["17", "24", "31", "38", "45"], 0.6), "m/sex.csv": matrix(["f", "m"], 0.9)
        },
        damaged={"m/age.csv": "rows", "m/sex.csv": "rows"}, read=matrices_again, of=("table measure matrices",),
        codes=frozenset({3}),
    ),
    "formula": Kind(
        files=lambda: {**TABLES, "formula.txt": b"(freq_j - freq_min) / (N + freq_i) + (i=j)"},
        damaged={"formula.txt": "words"}, read=formula_again, of=("formula",), codes=frozenset({3}),
    ),
    "population": Kind(
        files=members, damaged={"p/1.csv": "rows"}, read=evolve, of=("table evolve population",), codes=frozenset({3})
    ),
    "checkpoint": Kind(
        files=evolving, damaged={"best.csv.checkpoint": deeper.of_checkpoint}, read=go_on, of=("checkpoint",),
        changes=True, is_text=False,
    ),
    "journal": Kind(
        files=journals, damaged={name: "json lines" for name in journals() if name.endswith(".journal")},
        read=put_right, changes=True, of=("journal",),
    ),
    "store": Kind(
        files=lambda: {"s.db": stored()["s.bak"]}, damaged={"s.db": deeper.of_database}, read=read_store, changes=True,
        of=("store",), codes=frozenset({1}), is_text=False,
    ),
    "backup": Kind(
        files=stored, damaged={"s.bak": deeper.of_database}, read=restore, of=("store restore file",), is_text=False,
    ),
    "prices": Kind(
        files=lambda: {"p.toml": PRICES.encode()}, damaged={"p.toml": "toml"}, read=read_prices,
        of=("crawl prices", "graph refresh prices"),
    ),
    "places of texts": Kind(
        files=lambda: {"x.txt": PLACED.encode()}, damaged={"x.txt": "words"}, read=partial(read_lines, "places"),
        of=("places file",),
    ),
    "topics of texts": Kind(
        files=lambda: {"x.txt": PLACED.encode()}, damaged={"x.txt": "words"}, read=partial(read_lines, "topics"),
        of=("topics file",),
    ),
}  # fmt: skip
