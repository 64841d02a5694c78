from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from graphpriv.formats import format_of, formats, read_graph, write_graph
from graphpriv.graph import SocialGraph
from graphpriv.synthetic import synthetic_graph
from tabular.errors import InvalidInput, InvalidParameter, InvalidRecord, NameTaken, UnknownName
from tests.strategies import graphs

SUFFIXES = (".json", ".graphml", ".gexf", ".csv", ".tsv", ".txt")


def without_idle_places(graph: SocialGraph) -> SocialGraph:
    """The same graph with the places that occur; no others go into files."""
    return graph.restricted(np.arange(len(graph)))


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(graph=graphs())
def test_what_is_written_is_read_again(
    graph: SocialGraph, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("round") / f"graph{suffix}"
    write_graph(graph, path)
    read = read_graph(path)
    assert read.graph == without_idle_places(graph)
    assert (read.dropped.self_loops, read.dropped.parallel, read.ignored) == (0, 0, {})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_synthetic_graph_with_its_private_columns_comes_back(suffix: str, tmp_path: Path) -> None:
    graph = synthetic_graph(200, rng=np.random.default_rng(4))
    write_graph(graph, tmp_path / f"graph{suffix}")
    assert read_graph(tmp_path / f"graph{suffix}").graph == graph


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_graph_gives_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    graph = synthetic_graph(60, rng=np.random.default_rng(4))
    one = [file.read_bytes() for file in write_graph(graph, tmp_path / f"one{suffix}")]
    other = [file.read_bytes() for file in write_graph(graph, tmp_path / f"other{suffix}")]
    assert one == other


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_holds_the_places_that_occur_and_those_above_them_only(suffix: str, tmp_path: Path) -> None:
    graph = synthetic_graph(40, rng=np.random.default_rng(4))
    few = SocialGraph(
        ids=graph.ids,
        directed=True,
        follows=graph.follows,
        places=graph.places,
        location=np.full(len(graph), graph.location.max(), dtype=np.int32),
        topic_names=graph.topic_names,
        topics=graph.topics,
    )
    write_graph(few, tmp_path / f"graph{suffix}")
    kept = read_graph(tmp_path / f"graph{suffix}").graph.places
    assert set(kept.names) == {name for name, _ in graph.places.path(int(graph.location.max()))}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_edges_can_be_read_without_their_direction(suffix: str, tmp_path: Path) -> None:
    graph = synthetic_graph(50, rng=np.random.default_rng(4))
    write_graph(graph, tmp_path / f"graph{suffix}")
    read = read_graph(tmp_path / f"graph{suffix}", directed=False)
    assert read.graph == graph.undirected()
    # A follow and its answer are one edge then.
    assert read.dropped.parallel == graph.edge_count - read.graph.edge_count > 0


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.json", "node-link"),
        ("a.GRAPHML", "graphml"),
        ("a.gexf", "gexf"),
        ("a.csv.gz", "edge-list"),
        ("a.b.txt", "edge-list"),
        ("-", "node-link"),
    ],
)
def test_the_ending_says_the_format(name: str, format: str) -> None:
    assert format_of(name) == format


def test_an_unknown_ending_is_told_the_known_ones() -> None:
    with pytest.raises(
        InvalidInput, match=r"graph\.docx: no graph format .*'\.docx'; name one: .*node-link \(\.json\)"
    ):
        format_of("graph.docx")


def test_an_unknown_format_is_told_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'graphml'"):
        read_graph("graph.xml", format="grafml")


def test_every_format_says_where_it_comes_from_and_what_it_cannot() -> None:
    assert list(formats) == ["edge-list", "gexf", "graphml", "node-link"]
    for entry in formats.entries():
        assert entry.cites
        assert entry.limits
        assert entry.summary.startswith("Keep a graph")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_is_an_error(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"empty{suffix}"
    path.write_bytes(b"\xef\xbb\xbf\n")
    with pytest.raises(InvalidInput, match=f"empty{suffix}: the file is empty"):
        read_graph(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file_is_an_error(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        read_graph(tmp_path / f"none{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_existing_file_is_kept_unless_it_may_be_overwritten(suffix: str, tmp_path: Path) -> None:
    graph = synthetic_graph(5, rng=np.random.default_rng(4))
    path = tmp_path / f"graph{suffix}"
    path.write_text("mine")
    with pytest.raises(NameTaken, match="give overwrite to replace it"):
        write_graph(graph, path)
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]
    write_graph(graph, path, overwrite=True)
    assert read_graph(path).graph == graph


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".json", '{"directed": true, "nodes": [], "edges": []}'),
        (".graphml", '<graphml><graph edgedefault="directed"></graph></graphml>'),
        (".gexf", '<gexf><graph defaultedgetype="directed"></graph></gexf>'),
        (".csv", "source,target\n"),
    ],
)
def test_a_graph_without_users_is_an_error(suffix: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="there are no users"):
        read_graph(path)


@pytest.mark.parametrize(
    ("suffix", "text", "where"),
    [
        (".json", '{"nodes": [{"id": "a"}], "edges": [{"source": "a", "target": "secret"}]}', r"edges\[0\]"),
        (
            ".graphml",
            '<graphml><graph edgedefault="directed"><node id="a"/>\n'
            '<edge source="a" target="secret"/></graph></graphml>',
            "line 2",
        ),
        (
            ".gexf",
            '<gexf><graph><nodes><node id="a"/></nodes>\n'
            '<edges><edge source="a" target="secret"/></edges></graph></gexf>',
            "line 2",
        ),
    ],
)
def test_a_dangling_edge_is_named_by_its_position(suffix: str, text: str, where: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    path.write_text(text)
    with pytest.raises(InvalidRecord, match=f"{where}: the target of this edge is not a user") as caught:
        read_graph(path)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("suffix", "text", "where"),
    [
        (".json", '{"nodes": [{"id": "b"}, {"id": "secret"}, {"id": "secret"}], "edges": []}', r"nodes\[2\]"),
        (
            ".graphml",
            '<graphml><graph edgedefault="directed"><node id="b"/><node id="secret"/>\n\n'
            '<node id="secret"/></graph></graphml>',
            "line 3",
        ),
        (
            ".gexf",
            '<gexf><graph><nodes><node id="b"/><node id="secret"/>\n<node id="secret"/></nodes></graph></gexf>',
            "line 2",
        ),
    ],
)
def test_a_repeated_id_is_named_by_its_position(suffix: str, text: str, where: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    path.write_text(text)
    with pytest.raises(InvalidRecord, match=f"{where}: this id occurs before, at user 1") as caught:
        read_graph(path)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_text_that_is_not_utf8_is_an_error_with_its_line(suffix: str, tmp_path: Path) -> None:
    graph = synthetic_graph(5, rng=np.random.default_rng(4))
    path = write_graph(graph, tmp_path / f"graph{suffix}")[0]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n\xff", 1))
    with pytest.raises(InvalidInput, match="line 2"):
        read_graph(path)


def test_files_beside_go_with_edge_lists_only(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="attributes and places are for edge lists"):
        read_graph(tmp_path / "graph.json", attributes=tmp_path / "users.csv")


def test_a_graph_comes_from_standard_input_and_goes_to_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic_graph(9, rng=np.random.default_rng(4))
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", pipe)
    write_graph(graph, "-", format="graphml")
    pipe.buffer.seek(0)
    monkeypatch.setattr(sys, "stdin", pipe)
    assert read_graph("-", format="graphml").graph == graph


def test_several_files_do_not_go_to_standard_output() -> None:
    with pytest.raises(InvalidInput, match="several files"):
        write_graph(synthetic_graph(4, rng=np.random.default_rng(4)), "-", format="edge-list")


def test_packed_files_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not written"):
        write_graph(synthetic_graph(4, rng=np.random.default_rng(4)), tmp_path / "graph.json.gz")


@pytest.mark.parametrize("suffix", (".graphml", ".gexf"))
def test_a_control_character_that_xml_cannot_hold_is_refused_before_anything_is_there(
    suffix: str, tmp_path: Path
) -> None:
    text = '{"nodes": [{"id": "a"}, {"id": "b", "name": "secret\\u0001"}], "edges": []}'
    (tmp_path / "graph.json").write_text(text)
    graph = read_graph(tmp_path / "graph.json").graph
    with pytest.raises(InvalidRecord, match=r"name of user 1 has a control character.*write node-link") as caught:
        write_graph(graph, tmp_path / f"graph{suffix}")
    assert "secret" not in str(caught.value)
    assert not (tmp_path / f"graph{suffix}").exists()
