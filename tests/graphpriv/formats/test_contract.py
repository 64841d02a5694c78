from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
import pytest

from graphpriv.formats import contract, read_graph, write_graph
from graphpriv.synthetic import synthetic_graph
from tabular.errors import InvalidInput
from tests.moments import killed_at

GRAPH = synthetic_graph(30, rng=np.random.default_rng(8))


@pytest.mark.parametrize("suffix", (".json", ".graphml", ".gexf", ".csv"))
def test_packed_files_are_read_as_if_they_were_not(suffix: str, tmp_path: Path) -> None:
    for file in write_graph(GRAPH, tmp_path / f"graph{suffix}"):
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert read_graph(tmp_path / f"graph{suffix}.gz").graph == GRAPH


def test_a_packed_file_in_several_parts_is_read_whole(tmp_path: Path) -> None:
    data = write_graph(GRAPH, tmp_path / "graph.json")[0].read_bytes()
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(data[:100]) + gzip.compress(data[100:]))
    assert read_graph(packed).graph == GRAPH


def test_a_packed_file_that_was_cut_off_is_an_error(tmp_path: Path) -> None:
    data = write_graph(GRAPH, tmp_path / "graph.json")[0].read_bytes()
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(data)[:-30])
    with pytest.raises(InvalidInput, match="ends too early"):
        read_graph(tmp_path / "cut.json.gz")


def test_a_packed_file_that_is_damaged_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bad.json.gz").write_bytes(b"\x1f\x8b" + b"\x07" * 50)
    with pytest.raises(InvalidInput, match="not a sound gzip file"):
        read_graph(tmp_path / "bad.json.gz")


def test_a_packed_file_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "ALWAYS_ALLOWED", 1 << 20)
    bomb = zlib.compressobj(9, wbits=31)
    data = bomb.compress(b"[" * (50 << 20)) + bomb.flush()
    (tmp_path / "bomb.json.gz").write_bytes(data)
    with pytest.raises(InvalidInput, match="unpacked, the file is more than"):
        read_graph(tmp_path / "bomb.json.gz")


def test_the_files_of_a_graph_are_replaced_together_or_not_at_all(tmp_path: Path) -> None:
    path, other = tmp_path / "graph.csv", synthetic_graph(30, rng=np.random.default_rng(9))
    for moment in range(1, 200, 4):
        write_graph(GRAPH, path, overwrite=True)
        ended = killed_at(moment, lambda: len(write_graph(other, path, overwrite=True)) and 0)
        # Whoever writes beside it next clears up.
        write_graph(GRAPH, tmp_path / "beside.csv", overwrite=True)
        assert read_graph(path).graph in (GRAPH, other)
        assert {each.name.partition(".")[0] for each in tmp_path.iterdir()} == {"graph", "beside"}
        if ended.code is not None:
            break
    assert (ended.code, moment > 30) == (0, True)
