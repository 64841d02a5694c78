"""No file makes a reader fail in another way than by a reported error that shows nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphpriv.formats import read_graph, write_graph
from graphpriv.formats.node_link import from_document
from graphpriv.synthetic import synthetic_graph
from tabular.errors import ReportedError

GRAPH = synthetic_graph(8, 12, rng=np.random.default_rng(1))
SECRETS = (*GRAPH.ids, *(text for column in GRAPH.private.values() for text in column if text))
SUFFIXES = (".json", ".graphml", ".gexf", ".csv", ".txt")
TOKENS = (
    *(bytes([byte]) for byte in b"\"'<>{}[],:;|\n\r\t\x00\xff\xc3=-#"),
    *(b"null", b"NaN", b"1e999", b"\\ud800", b"&#0;", b"&x;", b"<!DOCTYPE a>", b"<![CDATA[", b"true", b"world"),
    *(b"<node>", b"</node>", b"<data>", b"<graph edgedefault='directed'>", b"9" * 30),
)


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """The *data* with a few bytes deleted, put in, changed or repeated."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        begin = int(rng.integers(len(data) + 1))
        end = min(len(data), begin + int(rng.choice([1, 1, 2, 8, 40])))
        token = TOKENS[int(rng.integers(len(TOKENS)))]
        data = (
            data[:begin] + data[end:],
            data[:begin] + token + data[begin:],
            data[:begin] + bytes([int(rng.integers(256))]) + data[begin + 1 :],
            data[:begin] + token + data[end:],
            data[:begin] + data[max(0, begin - 60) : begin] + data[begin:],
        )[int(rng.integers(5))]
    return data


def damage(suffix: str, times: int, folder: Path) -> tuple[int, int]:
    """Read *times* damaged files; how many were refused and how many were read nonetheless."""
    rng = np.random.default_rng(SUFFIXES.index(suffix))
    files = write_graph(GRAPH, folder / f"graph{suffix}")
    sound = [file.read_bytes() for file in files]
    refused = 0
    for _ in range(times):
        chosen = int(rng.integers(len(files)))
        files[chosen].write_bytes(damaged(sound[chosen], rng))
        try:
            write_graph(read_graph(files[0]).graph, folder / "again.json", overwrite=True)
        except ReportedError as error:
            refused += 1
            assert "\n" not in str(error)
            assert not any(secret in str(error) for secret in SECRETS)
        files[chosen].write_bytes(sound[chosen])
    return refused, times - refused


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_damaged_file_is_read_or_refused(suffix: str, tmp_path: Path) -> None:
    refused, taken = damage(suffix, 300, tmp_path)
    assert refused > taken > 0


@pytest.mark.heavy
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_twenty_thousand_damaged_files_are_read_or_refused(suffix: str, tmp_path: Path) -> None:
    refused, taken = damage(suffix, 20_000, tmp_path)
    assert refused > taken > 0


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.sampled_from(["", "world", "a", "\ud800"])
)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "world", "a"]), inner)
)


@settings(max_examples=300)
@given(st.data(), ANYTHING)
def test_a_document_with_anything_anywhere_is_read_or_refused(data: st.DataObject, anything: Any) -> None:
    document = from_graph()
    spot: Any = document
    while True:
        key = data.draw(st.sampled_from(sorted(spot) if isinstance(spot, dict) else range(len(spot))))
        if not isinstance(spot[key], dict | list) or not spot[key] or data.draw(st.booleans()):
            break
        spot = spot[key]
    if data.draw(st.booleans()):
        spot[key] = anything
    else:
        del spot[key]
    try:
        found = from_document(document, "graph.json")
    except ReportedError as error:
        assert not any(secret in str(error) for secret in SECRETS)
    else:
        assert 0 < len(found.graph) <= len(GRAPH) + 3


def from_graph() -> dict[str, Any]:
    """The document of the graph, fresh each time."""
    tree = GRAPH.to_networkx()
    nodes = [{"id": user, **attributes} for user, attributes in tree.nodes(data=True)]
    edges = [{"source": source, "target": target} for source, target in tree.edges]
    return json.loads(
        json.dumps({"directed": True, "nodes": nodes, "edges": edges, "locations": tree.graph["locations"]})
    )
