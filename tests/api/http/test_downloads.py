"""Downloads take no memory, however large they are."""

from __future__ import annotations

import threading
import time
import urllib.request

import numpy as np
import psutil
import pytest

from api.service.home import Home
from api.service.tables.tables import Tables
from graphpriv.store import open_store
from graphpriv.synthetic import synthetic_graph
from tests.api.test_new_user import serving

MEGABYTE = 10**6


def read_slowly_counted(ask, path):
    """How many bytes came, and the most memory that the service had meanwhile and before, in bytes."""
    process, peak, ended = psutil.Process(ask.process.pid), [], threading.Event()

    def watch():
        while not ended.is_set():
            peak.append(process.memory_info().rss)
            time.sleep(0.01)

    before = process.memory_info().rss
    watcher = threading.Thread(target=watch)
    watcher.start()
    count = 0
    asked = urllib.request.Request(ask.url + path, headers={"Authorization": f"Bearer {ask.token}"})
    with urllib.request.urlopen(asked, timeout=300) as answer:
        while piece := answer.read(1 << 20):
            count += len(piece)
    ended.set()
    watcher.join()
    return count, max(peak), before


def kept(folder, name, file, *, is_read):
    home = Home(folder / "home", create=True)
    table = Tables(home).add(name, "release", file, is_read=False)
    if is_read:
        Tables(home).describe(table, at_most=None)
    home.close()


@pytest.mark.xdist_group("service")
def test_a_file_and_all_rows_are_streamed(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHPRIV_WORKERS", "0")
    line = b"12345,Barcelona,67890,some words of a column\n"
    (tmp_path / "rows.csv").write_bytes(b"a,b,c,d\n" + line * 300_000)
    kept(tmp_path, "rows", tmp_path / "rows.csv", is_read=True)
    (tmp_path / "t.csv").write_bytes(b"a,b,c,d\n" + line * 2_000_000)
    kept(tmp_path, "large", tmp_path / "t.csv", is_read=False)
    with serving(tmp_path) as ask:
        ask("GET", "/v1/tables/rows/rows")
        count, peak, before = read_slowly_counted(ask, "/v1/tables/large/file")
        assert count == (tmp_path / "t.csv").stat().st_size > 80 * MEGABYTE
        # The server holds some of what is on its way.
        assert peak - before < 30 * MEGABYTE
        count, peak, before = read_slowly_counted(ask, "/v1/tables/rows/rows?limit=all")
        assert count > 20 * MEGABYTE
        assert peak - before < 40 * MEGABYTE


@pytest.mark.heavy
@pytest.mark.xdist_group("service")
def test_500_megabytes_go_through_300(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHPRIV_WORKERS", "0")
    with (tmp_path / "t.csv").open("wb") as file:
        for _ in range(500):
            file.write(b"0123456789abcde\n" * (MEGABYTE // 16))
    kept(tmp_path, "large", tmp_path / "t.csv", is_read=False)
    with serving(tmp_path) as ask:
        count, peak, _ = read_slowly_counted(ask, "/v1/tables/large/file")
    assert count == 500 * MEGABYTE
    assert peak < 300 * 1024 * 1024
    print(peak)


@pytest.mark.heavy
@pytest.mark.xdist_group("service")
def test_a_graph_of_400_megabytes_goes_through_300_in_each_format(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHPRIV_WORKERS", "0")
    with open_store(f"file:{tmp_path / 'served.db'}", create=True) as store:
        store.save_graph("people", synthetic_graph(500_000, mean_degree=26, rng=np.random.default_rng(1)))
    with serving(tmp_path) as ask:
        for format, size in (("node-link", 400), ("graphml", 500), ("gexf", 700), ("edge-list", 50)):
            count, peak, before = read_slowly_counted(ask, f"/v1/graphs/people/file?format={format}")
            print(format, count, peak, before)
            assert count > size * MEGABYTE
            # Half a gigabyte is the promise; 744 MB take 293 MiB.
            assert peak < 300 * 1024 * 1024
