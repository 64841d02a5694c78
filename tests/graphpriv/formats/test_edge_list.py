from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from graphpriv.formats import Imported, read_graph, write_graph
from graphpriv.places import UNKNOWN
from graphpriv.topics import EMPTY
from tabular.errors import InvalidInput, InvalidRecord

PLACES = """key,name,type,parent
world,world,world,
Europe,Europe,continent,
Spain,Spain,country,Europe
Town,"Sant Cugat, del Vallès",locality,Spain
"""
USERS = """id,location,topic1,topic2,topic3,handle,age
ana,Town,Politics,Sports,Weather,@ana,30
bo,,Chess,,,,
"""


def read(
    folder: Path, edges: str, users: str | None = USERS, places: str | None = PLACES, name: str = "x.csv"
) -> Imported:
    for part, text in (("", edges), (".users", users), (".places", places)):
        if text is not None:
            (folder / name).with_suffix(f"{part}.csv" if part else Path(name).suffix).write_text(text)
    return read_graph(folder / name)


def test_three_files_make_a_graph(tmp_path: Path) -> None:
    found = read(tmp_path, "source,target\nbo,ana\nana,ana\nbo,ana\n")
    graph = found.graph
    assert graph.ids == ("ana", "bo")
    assert graph.directed
    assert [ends.tolist() for ends in graph.edges()] == [[1], [0]]
    assert (found.dropped.self_loops, found.dropped.parallel) == (1, 1)
    assert graph.location[1] == UNKNOWN
    assert graph.places.path(graph.location[0]) == (
        ("Sant Cugat, del Vallès", "locality"),
        ("Spain", "country"),
        ("Europe", "continent"),
        ("world", "world"),
    )
    assert graph.topics.tolist() == [[0, 1, 2], [3, EMPTY, EMPTY]]
    assert dict(graph.private) == {"handle": ("@ana", None)}
    assert found.ignored == {"age": 1}


@pytest.mark.parametrize(
    "edges",
    [
        "source,target\nbo,ana\n",
        "Source;Target\r\nbo;ana\r\n",
        "from\tto\nbo\tana",
        "node_1,node_2\nbo, ana\n",
        "target,source\nana,bo\n",
        '"source","target"\n"bo","ana"\n',
        "bo,ana\n",
        "bo ana\n",
        "bo    ana   \n",
        "bo\tana\n",
        "# Directed graph: example\n# FromNodeId\tToNodeId\nbo\tana\n",
        "\ufeffsource,target\n\nbo,ana\n   \n",
        "# a comment\n\nbo|ana\n# another\n",
    ],
)
def test_the_delimiter_and_the_header_are_found_out(edges: str, tmp_path: Path) -> None:
    graph = read(tmp_path, edges).graph
    assert graph.directed
    assert [ends.tolist() for ends in graph.edges()] == [[1], [0]]


@pytest.mark.parametrize(
    "comment", ("# Undirected graph", "#undirected", "# Undirected graph: ../../output/x.txt\n# Nodes: 2 Edges: 1")
)
def test_a_comment_says_that_edges_have_no_direction(comment: str, tmp_path: Path) -> None:
    found = read(tmp_path, f"{comment}\nbo ana\nana bo\n", name="x.txt")
    assert not found.graph.directed
    assert (found.graph.edge_count, found.dropped.parallel) == (1, 1)


def test_without_a_file_of_users_they_are_those_of_the_edges(tmp_path: Path) -> None:
    graph = read(tmp_path, "5 3\n3 9\n5 9\n", users=None, places=None).graph
    assert graph.ids == ("5", "3", "9")
    assert graph.location.tolist() == [UNKNOWN] * 3
    assert graph.topic_names == ()


def test_further_columns_of_edges_are_counted(tmp_path: Path) -> None:
    found = read(tmp_path, "source,target,weight,when\nbo,ana,3,\nana,bo,,\n")
    assert found.ignored == {"age": 1, "weight (edges)": 1}
    assert read(tmp_path, "bo ana 3\nana bo 4\n").ignored == {"age": 1, "column 3 (edges)": 2}


def test_the_files_beside_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "people.tsv").write_text("user\tlocation\nbo\tSpain\nana\t\n")
    (tmp_path / "world.csv").write_text(PLACES)
    (tmp_path / "follows.txt").write_text("bo ana\n")
    found = read_graph(
        tmp_path / "follows.txt", attributes=tmp_path / "people.tsv", places=tmp_path / "world.csv", directed=False
    )
    assert found.graph.ids == ("bo", "ana")
    assert found.graph.places.keys[found.graph.location[0]] == "Spain"
    assert not found.graph.directed


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("source,target\nana,bo\nana,secret\n", r"x\.csv, line 3: the target of this edge is not a user"),
        ("# one\n\nsource,target\n# two\nsecret,bo\n", r"x\.csv, line 5: the source of this edge is not a user"),
        ("source,target\nana,\n", r"x\.csv, line 2: the target of this edge is not a user"),
        ("ana,bo\nana\n", r"x\.csv, line 2: an edge has two ends"),
        ("ana\n", r"x\.csv, line 1: an edge has two ends"),
        ("ana,bo\nana,bo,secret\n", r"x\.csv, line 2: this line has 3 cells, the first one 2"),
        ('ana,bo\n"ana,bo\n', r"x\.csv, line 2: this is no row of a table: a quote opens here and is never closed"),
        ('ana,bo\n"an"a,bo\n', r"x\.csv, line 2: this is no row of a table"),
    ],
)
def test_an_edge_that_cannot_be_taken_is_named_by_its_line(edges: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord, match=message) as caught:
        read(tmp_path, edges)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("users", "message"),
    [
        ("id\nana\n\nsecret\nsecret\n", r"x\.users\.csv, line 5: this id occurs before, at user 1"),
        ("id,location\nana,secret\n", r"x\.users\.csv, line 2: the location of this user is none of the 4 places"),
        ("id,topic1\nana,a,b\n", r"x\.users\.csv, line 2: this line has 3 cells, the header 2"),
        ("id,topics\nana,secret\n", r"x\.users\.csv, line 2: topics, line 1, column 1: this is not JSON"),
        ('id,topics\nana,"[""a"",""b"",""c"",""d""]"\n', r"x\.users\.csv, line 2: topics: a user has at most 3"),
        ("id,handle\n,secret\n", r"x\.users\.csv, line 2: id is missing"),
        ("id,handle,handle\n", r"x\.users\.csv, line 1: column 3 has the name of another one"),
        ("secret,else\nmore,and\n", r"x\.users\.csv: the first line must name the columns, and one of them id or user"),
        ("id,name\nana,a\x00b\n", r"x\.users\.csv, line 2: name has a character that text cannot hold"),
    ],
)
def test_a_user_who_cannot_be_taken_is_named_by_the_line(users: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        read(tmp_path, "source,target\n", users=users)
    assert "secret" not in str(caught.value)


def test_no_cell_that_is_written_runs_in_a_spreadsheet(tmp_path: Path) -> None:
    places = 'key,name,type,parent\n"\'=p","\'=cmd|1",locality,\n'
    users = 'id,location,topic1,handle,name\n"\'@x","\'=p","\'+t","\'-1","\'\'=n"\n"it\'s",,,,\n'
    graph = read(tmp_path, "source,target\n'@x,it's\n", users=users, places=places).graph
    assert graph.ids == ("@x", "it's")
    assert dict(graph.private) == {"handle": ("-1", None), "name": ("'=n", None)}
    files = write_graph(graph, tmp_path / "out.csv")
    for file in files:
        for row in csv.reader(file.read_text().splitlines()):
            assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)
    assert read_graph(tmp_path / "out.csv").graph == graph.restricted(graph.location.argsort()[::-1])


def test_ids_that_differ_by_an_apostrophe_come_back(tmp_path: Path) -> None:
    nodes = [{"id": each} for each in ("=x", "'=x", "''=x", "x", "'x", "''x")]
    edges = [{"source": node["id"], "target": "x"} for node in nodes]
    (tmp_path / "g.json").write_text(json.dumps({"nodes": nodes, "edges": edges, "directed": True}))
    graph = read_graph(tmp_path / "g.json").graph
    for name in ("g.csv", "h.txt"):
        write_graph(graph, tmp_path / name)
        assert read_graph(tmp_path / name).graph == graph
        (tmp_path / f"{name[0]}.users.csv").unlink()
        assert set(read_graph(tmp_path / name).graph.ids) == set(graph.ids)


@pytest.mark.parametrize("users", (None, "id\n=x\nbo\nana\n"))
@pytest.mark.parametrize("edges", ("=x,bo\n'=x,ana\n", "source,target\n'=x,bo\n\n=x,ana\n", "bo,=x\n'=x,bo\nana,bo\n"))
def test_ids_of_another_writer_that_would_become_one_are_refused(edges: str, users: str | None, tmp_path: Path) -> None:
    line = edges.rstrip("\n").count("\n") + (0 if edges.startswith("bo") else 1)
    with pytest.raises(InvalidRecord, match=rf"x\.csv, line {line}: an id .* apostrophe more or less") as caught:
        read(tmp_path, edges, users=users)
    assert "=x" not in str(caught.value)


def test_users_of_another_writer_that_would_become_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord, match=r"x\.users\.csv, line 3: this id occurs before"):
        read(tmp_path, "source,target\n", users="id\n=x\n'=x\n")


def test_a_first_line_of_words_over_numbers_names_the_columns(tmp_path: Path) -> None:
    found = read(tmp_path, "follower,followed,since\n1,2,2019\n2,3,\n", users=None, places=None)
    assert found.graph.ids == ("1", "2", "3")
    assert [ends.tolist() for ends in found.graph.edges()] == [[0, 1], [1, 2]]
    assert found.ignored == {"since (edges)": 1}
    assert len(found.notes) == 1
    assert "x.csv, line 1: this line was taken for the names of the columns" in found.notes[0]
    assert "follower" not in found.notes[0]


@pytest.mark.parametrize("edges", ("follower,followed\nana,bo\nbo,cid\n", "ana,bo\n1,2\nzoe,2\n", "7,8\n1,2\n"))
def test_a_first_line_that_could_name_the_columns_is_read_with_a_warning(edges: str, tmp_path: Path) -> None:
    found = read(tmp_path, edges, users=None, places=None)
    assert found.graph.edge_count == edges.count("\n")
    assert len(found.notes) == 1
    assert "x.csv, line 1: this line was read as an edge" in found.notes[0]
    assert not any(name in found.notes[0] for name in found.graph.ids if not name.isdecimal())


@pytest.mark.parametrize("edges", ("ana,bo\n", "ana,bo\nbo,cid\n", "source,target\nx,y\na,b\n", "a,a\nb,c\n"))
def test_a_first_line_that_is_an_edge_is_no_matter_of_warning(edges: str, tmp_path: Path) -> None:
    assert read(tmp_path, edges, users=None, places=None).notes == ()


def test_a_first_line_whose_ends_are_no_users_is_told_what_a_header_is(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord, match=r"line 1: the source .* names the columns, call them source and target"):
        read(tmp_path, "follower,followed\nana,bo\n")
    with pytest.raises(InvalidRecord, match=r"line 2: the source of this edge is not a user of the graph\.$"):
        read(tmp_path, "ana,bo\nfollower,followed\n")


CIRCLE = [(user, (user + 1) % 120) for user in range(120)]


@pytest.mark.parametrize("comment", ("", "# Directed graph (each unordered pair of nodes is saved once): x\n"))
def test_edges_that_all_go_back_are_pointed_out(comment: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(comment + "".join(f"{a}\t{b}\n{b}\t{a}\n" for a, b in CIRCLE))
    found = read_graph(tmp_path / "x.txt")
    assert (found.graph.directed, found.graph.edge_count) == (True, 240)
    assert len(found.notes) == 1
    assert "every edge stands in both directions" in found.notes[0]
    assert read_graph(tmp_path / "x.txt", directed=True).notes == ()
    assert read_graph(tmp_path / "x.txt", directed=False).notes == ()


def test_edges_none_of_which_goes_back_are_pointed_out_unless_the_file_says(tmp_path: Path) -> None:
    lines = "".join(f"{a} {b}\n" for a, b in CIRCLE)
    (tmp_path / "x.txt").write_text(lines)
    assert "none of them goes back" in "".join(read_graph(tmp_path / "x.txt").notes)
    for silent in (f"# Directed graph\n{lines}", f"# Undirected graph\n{lines}", f"{lines}1 0\n", lines[:200]):
        (tmp_path / "x.txt").write_text(silent[: silent.rindex("\n") + 1])
        assert read_graph(tmp_path / "x.txt").notes == ()


def test_the_files_of_real_networks_are_read(tmp_path: Path) -> None:
    # The first lines of three published files: blanks, a header with numbers, a header with from and to.
    for text, users in (("0 1\n0 2\n", 3), ("node_1,node_2\n0,747\n1,4257\n", 4), ("from,to\n39585367,16836844\n", 2)):
        assert len(read(tmp_path, text, users=None, places=None).graph) == users
