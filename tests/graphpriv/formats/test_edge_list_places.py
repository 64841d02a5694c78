from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from graphpriv.formats.edge_list import COLUMNS, place_rows, read_places
from graphpriv.graph import SocialGraph
from graphpriv.places import PlaceTree
from tabular.errors import InvalidInput, InvalidRecord
from tabular.files.csv_tables import write_csv
from tests.graphpriv.formats.test_edge_list import read
from tests.strategies import graphs


@given(graphs())
def test_places_come_back_from_their_table(tmp_path_factory: pytest.TempPathFactory, graph: SocialGraph) -> None:
    path = tmp_path_factory.mktemp("places") / "p.csv"
    with path.open("wb") as file:
        write_csv(file, COLUMNS, place_rows(graph.places))
    paths, at = read_places(path)
    assert list(paths) == list(graph.places.keys)
    assert PlaceTree.from_paths(paths.values()) == graph.places
    assert at(0) == f"{path}, line 2"


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ("key,name,type\n", "line 1: there is no column parent; places have key, name, type, parent"),
        ("key,name,type,parent\na,a,village,\n", "line 2: unknown type of place; there is route"),
        ("key,name,type,parent\na,a,locality,b\n", "line 2: this place's parent is not a key of the table"),
        ("key,name,type,parent\na,a,route,\na,a,route,\n", "line 3: this key occurs before, at line 2"),
        ("key,name,type,parent\na,,route,\n", "line 2: a place has a key and a name"),
        ("key,name,type,parent\nw,Earth,world,\n", "line 2: there is one world"),
        (
            "key,name,type,parent\nc,c,route,a\na,a,political,b\nb,b,political,a\n",
            "line 3: this place lies above itself; places must not form a cycle",
        ),
        ("key,name,type,parent\na,a,political,a\n", "line 2: this place lies above itself"),
        (
            "key,name,type,parent\n" + "".join(f"{n},{n},political,{n + 1}\n" for n in range(2000)),
            "line 2: more than 100 places lie above this one",
        ),
    ],
)
def test_a_place_that_cannot_be_taken_is_named_by_its_line(places: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.places.csv").write_text(places)
    with pytest.raises(InvalidInput, match=rf"x\.places\.csv, {message}"):
        read_places(tmp_path / "x.places.csv")


def test_a_place_of_a_lower_level_cannot_lie_above(tmp_path: Path) -> None:
    places = "key,name,type,parent\na,A,locality,b\nb,B,route,\n"
    with pytest.raises(InvalidRecord, match=r"x\.places\.csv, line 2: step 1 \(locality, level 1\) lies below step 2"):
        read(tmp_path, "source,target\n", places=places)
