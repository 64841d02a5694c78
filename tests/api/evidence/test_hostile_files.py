"""Hostile files: each is refused with a documented answer, leaves nothing behind, and takes little memory."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tabular.files.journal import WORKING
from tests.api.evidence.hostile import MIB, SMALL, SMALL_GRAPHS, SOUND_GRAPH, bomb, drawn, large, parquet
from tests.api.evidence.serving import TOP, Served
from tests.api.http.conftest import app, callers, config, custodian, make, service  # noqa: F401 (fixtures)

#: What a spreadsheet would run, and what it would not.
FORMULAS = ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "=cmd|' /C calc'!A0", "'=1")
HARMLESS = ("plain", "a=b", "-5", "3.5")

FEW, MANY = 150, 5_000

#: What reading a hostile file may take beyond what the service takes anyway, in bytes.
MOST = 1_200 * MIB


def address(where, name="x"):
    """Where a file is put: a table, or a graph of a format."""
    kind, _, format = where.partition(":")
    return f"/v1/{kind}/{name}" + (f"?format={format}" if format else "")


def held(service):  # noqa: F811
    """All that a service keeps of what it was sent: files, rows, graphs."""
    files = {str(each.relative_to(service.folder)) for each in service.folder.rglob("*") if ".db" not in each.name}
    files -= {"tables", "uploads"}
    with service.records.home.reading() as db:
        rows = [db.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("tables", "uploads", "answers")]
    return files, rows, service.opened().graphs()


@pytest.mark.parametrize("what", [*SMALL, *SMALL_GRAPHS])
def test_a_broken_file_is_refused_and_leaves_nothing(custodian, service, what):  # noqa: F811
    data = {**SMALL, **SMALL_GRAPHS}[what]
    where = f"graphs:{what.rpartition(':')[2]}" if what in SMALL_GRAPHS else "tables"
    before = held(service)
    answer = custodian.put(address(where), data=data, content_type="text/csv")
    assert 400 <= answer.status_code < 500, answer.text
    assert "root:" not in answer.text
    assert held(service) == before


def cells_of(text):
    return [cell for row in csv.reader(io.StringIO(text)) for cell in row]


def runs(cell):
    """Whether a spreadsheet runs a cell: numbers are numbers."""
    return cell[:1] in "=+-@\t\r" and cell != "" and not cell.removeprefix("-").replace(".", "").isdigit()


def test_no_download_as_csv_holds_a_formula(custodian, make, tmp_path):  # noqa: F811
    """Whatever begins like a formula has an apostrophe in front, which reading takes away again."""
    table = pa.table({"=name": [*FORMULAS, *HARMLESS], "@town": [*FORMULAS, *HARMLESS]})
    pq.write_table(table, tmp_path / "t.parquet")
    assert custodian.put("/v1/tables/t", data=(tmp_path / "t.parquet").read_bytes()).status_code == 201
    # No id or place holds a tab.
    names = [each for each in (*FORMULAS, *HARMLESS) if "\t" not in each]
    nodes = [{"id": each, "location": each, "topics": [each], "handle": each} for each in names]
    places = {each: [[each, "locality"], ["world", "world"]] for each in names}
    graph = {"nodes": nodes, "edges": [{"source": "=1+1", "target": "plain"}], "locations": places}
    answer = custodian.put("/v1/graphs/g", data=json.dumps(graph).encode())
    assert answer.status_code == 201, answer.text
    make("protect", name="g", k=2, into="r")
    paths = ["/v1/tables/t/rows?format=csv", "/v1/tables/t/counts?by=@town&format=csv", "/v1/graphs/r/mapping"]
    paths += [f"/v1/graphs/g/{each}format=csv" for each in ("users?", "counts?by=topic1&", "counts?by=location&")]
    for path in paths:
        answer = custodian.get(path)
        assert answer.status_code == 200, answer.text
        assert cells_of(answer.text) and not [cell for cell in cells_of(answer.text) if runs(cell)], path
    edges = zipfile.ZipFile(io.BytesIO(custodian.get("/v1/graphs/g/file?format=edge-list").data))
    for name in edges.namelist():
        assert not [cell for cell in cells_of(edges.read(name).decode()) if runs(cell)], name
    # And back again.
    text = custodian.get("/v1/tables/t/rows?format=csv").data
    assert custodian.put("/v1/tables/again", data=text).status_code == 201
    both = [custodian.get(f"/v1/tables/{name}/rows").json["rows"] for name in ("t", "again")]
    assert both[0] == both[1]


def fuzz(custodian, service, count, seed):  # noqa: F811
    chance = random.Random(seed)
    refused = 0
    for _ in range(count):
        where, data = drawn(chance)
        before = held(service)
        answer = custodian.put(address(where), data=data, content_type="text/csv")
        assert answer.status_code in (201, 400, 413), (where, data, answer.text)
        if answer.status_code == 201:
            assert custodian.delete(address(where).partition("?")[0]).status_code == 200
        else:
            refused += 1
        assert held(service) == before, (where, data)
    # Some changes hurt nobody.
    assert refused > count / 2


def test_a_packed_file_unpacks_to_no_more_than_may_come_at_once(custodian, service):  # noqa: F811
    before = held(service)
    answer = custodian.put(address("graphs:node-link"), data=bomb(b'{"nodes": [', b" ", 9 * MIB, b"]}"))
    assert (answer.status_code, "upload" in answer.text) == (413, True)
    assert custodian.put(address("graphs:node-link"), data=gzip.compress(SOUND_GRAPH)).status_code == 201
    assert custodian.delete("/v1/graphs/x").status_code == 200
    assert held(service) == before


def test_a_parquet_file_is_read_at_once_only_if_a_csv_file_could_be(custodian, service):  # noqa: F811
    before = held(service)
    answer = custodian.put(address("tables"), data=parquet(5_000_000))
    assert answer.status_code == 413
    assert held(service) == before


def test_files_that_chance_draws_are_refused_or_read(custodian, service):  # noqa: F811
    fuzz(custodian, service, FEW, random.SystemRandom().randrange(10**6))


#: Reads Parquet files with broken footers, within limits as the service does.
READS = """
import random, sys
from pathlib import Path
from tabular.errors import ReportedError
from tabular.files.table_files import read_file
from tests.api.evidence.hostile import parquet, with_other_footer

chance, whole, path = random.Random(2), parquet(50, 3), Path(sys.argv[1])
for _ in range(2000):
    path.write_bytes(with_other_footer(whole, chance))
    try:
        read_file(path)
    except ReportedError:
        pass
"""


def test_no_broken_footer_ends_the_process(tmp_path):
    limits = {"GRAPHPRIV_MOST_COLUMNS": "10000", "GRAPHPRIV_MOST_CELLS": "100000000", "PYTHONPATH": str(TOP)}
    command = [sys.executable, "-c", READS, str(tmp_path / "t.parquet")]
    ended = subprocess.run(command, env=os.environ | limits, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.heavy
def test_thousands_of_files_that_chance_draws_are_refused_or_read(custodian, service):  # noqa: F811
    fuzz(custodian, service, MANY, 1)


@pytest.fixture
def served(tmp_path):
    started = Served(tmp_path, "--workers", "1")
    started.start()
    yield started
    started.kill()


def peak(served):
    """The most memory that the process of the service has ever held, in bytes."""
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


@pytest.mark.heavy
def test_large_files_take_little_memory_and_leave_nothing(served):
    before = psutil.Process(served.process.pid).memory_info().rss
    for where, what, data in large():
        assert len(data) < 8 * MIB, what
        answer = served.ask("PUT", address(where), data)
        print(f"{what}: {answer.status}, {(peak(served) - before) >> 20} MiB, {answer.body[:150]}")
        assert 400 <= answer.status < 500 or what == "four million rows", (what, answer.status)
        assert peak(served) - before < MOST, what
        if answer.status == 201:
            assert served.ask("DELETE", address(where)).status == 200
    lists = [served.ask("GET", f"/v1/{each}").json[each] for each in ("graphs", "jobs")]
    assert lists == [[], []]
    assert not list(served.home.glob(f"{WORKING}*"))
