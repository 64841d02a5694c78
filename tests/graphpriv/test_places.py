from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.places import LEVELS, TOP, UNKNOWN, WORLD, Path, PlaceTree, check_paths
from tabular.errors import InvalidRecord
from tests.graphpriv.plain_places import common as common_place
from tests.graphpriv.plain_places import distance
from tests.strategies import place_paths, place_trees

EUROPE_AND_ABOVE: Path = (("Europe", "continent"), WORLD)
USA: Path = (("United States", "country"), ("North America", "continent"), WORLD)
NEW_YORK_CITY: Path = (("New York City", "locality"), ("New York", "administrative_area_level_1"), *USA)
BROOKLYN: Path = (("Brooklyn", "sublocality"), *NEW_YORK_CITY)
MANHATTAN: Path = (("Manhattan", "sublocality"), *NEW_YORK_CITY)
CENTRAL_PARK: Path = (("Central Park", "point_of_interest"), *NEW_YORK_CITY)
WASHINGTON: Path = (("Washington DC", "locality"), ("District of Columbia", "administrative_area_level_1"), *USA)
FIGURE_6_2 = PlaceTree.from_paths([BROOKLYN, MANHATTAN, CENTRAL_PARK, WASHINGTON])


def at(path: Path) -> int:
    return FIGURE_6_2.node(path)


def test_table_6_1_levels() -> None:
    assert {kind for kind, level in LEVELS.items() if level == 0} == {
        "route",
        "sublocality",
        "natural_feature",
        "point_of_interest",
        "neighborhood",
    }
    assert [LEVELS[f"administrative_area_level_{number}"] for number in (1, 2, 3)] == [4, 3, 2]
    assert (LEVELS["locality"], LEVELS["colloquial_area"]) == (1, 1)
    assert (LEVELS["country"], LEVELS["political"], LEVELS["continent"], LEVELS["world"]) == (5, 5, 6, 7)


def test_section_6_2_1_two_cities_on_different_branches_are_1_apart() -> None:
    assert distance(FIGURE_6_2, at(NEW_YORK_CITY), at(WASHINGTON)) == 1


def test_section_6_2_1_brooklyn_and_the_united_states_are_five_sevenths_apart() -> None:
    assert distance(FIGURE_6_2, at(BROOKLYN), at(USA)) == pytest.approx(0.714, abs=0.0005)
    assert distance(FIGURE_6_2, at(USA), at(BROOKLYN)) == pytest.approx(0.714, abs=0.0005)


def test_section_6_2_1_the_common_place_of_brooklyn_and_washington_is_the_united_states() -> None:
    assert FIGURE_6_2.path(common_place(FIGURE_6_2, at(BROOKLYN), at(WASHINGTON))) == USA


def test_section_6_2_1_the_common_place_of_manhattan_and_central_park_is_new_york_city() -> None:
    assert FIGURE_6_2.path(common_place(FIGURE_6_2, at(MANHATTAN), at(CENTRAL_PARK))) == NEW_YORK_CITY


def test_unknown_is_equal_to_itself_and_1_from_all_else() -> None:
    assert distance(FIGURE_6_2, UNKNOWN, UNKNOWN) == 0
    assert common_place(FIGURE_6_2, UNKNOWN, UNKNOWN) == UNKNOWN
    for node in range(len(FIGURE_6_2)):
        assert distance(FIGURE_6_2, UNKNOWN, node) == distance(FIGURE_6_2, node, UNKNOWN) == 1
        assert common_place(FIGURE_6_2, UNKNOWN, node) == common_place(FIGURE_6_2, node, UNKNOWN) == 0


@given(place_trees())
def test_a_parent_comes_before_its_children_and_the_places_below_a_place_are_a_run(tree: PlaceTree) -> None:
    assert tree.path(0) == (WORLD,)
    assert tree.parents[0] == -1
    for node in range(len(tree)):
        below = [other for other in range(len(tree)) if tree.path(other)[-len(tree.path(node)) :] == tree.path(node)]
        assert below == list(range(node, tree.ends[node]))
        assert tree.parents[node] < node
        assert tree.levels[node] == LEVELS[tree.path(node)[0][1]]
        assert tree.node(tree.path(node)) == tree.find(tree.path(node)) == node


@given(place_trees())
def test_distance_and_common_place_are_those_of_the_paths(tree: PlaceTree) -> None:
    nodes = range(UNKNOWN, len(tree))
    paths = {node: tree.path(node) for node in nodes}
    for one in nodes:
        for other in nodes:
            expected = 0.0 if one == other else 1.0
            if UNKNOWN not in (one, other) and (
                paths[one] in _tails(paths[other]) or paths[other] in _tails(paths[one])
            ):
                expected = abs(LEVELS[paths[one][0][1]] - LEVELS[paths[other][0][1]]) / TOP
            assert distance(tree, one, other) == expected
            if UNKNOWN not in (one, other):
                common = [tail for tail in _tails(paths[one]) if tail in _tails(paths[other])]
                assert tree.path(common_place(tree, one, other)) == common[0]


def _tails(path: Path) -> list[Path]:
    return [path[step:] for step in range(len(path))]


@given(place_trees())
def test_arrays_of_places_have_the_steps_of_each_pair(tree: PlaceTree) -> None:
    nodes = np.arange(UNKNOWN, len(tree))
    ones, others = np.repeat(nodes, len(nodes)), np.tile(nodes, len(nodes))
    assert (tree.steps(ones, others) / TOP).tolist() == [
        distance(tree, one, other) for one, other in zip(ones, others, strict=True)
    ]


@given(place_trees())
def test_canonical_names_are_unique_and_lead_back(tree: PlaceTree) -> None:
    assert len(set(tree.keys)) == len(tree)
    assert [tree.by_key[key] for key in tree.keys] == list(range(len(tree)))
    assert all(key.startswith(name) for key, name in zip(tree.keys, tree.names, strict=True))


def test_a_name_that_occurs_twice_says_what_lies_above() -> None:
    tree = PlaceTree.from_paths(
        [
            (("Paris", "locality"), ("France", "country"), *EUROPE_AND_ABOVE),
            (("Paris", "locality"), ("Texas", "administrative_area_level_1"), *USA),
            (("Lyon", "locality"), ("France", "country"), *EUROPE_AND_ABOVE),
        ]
    )
    assert {"Lyon", "Paris, France", "Paris, Texas"} < set(tree.keys)


@given(st.lists(place_paths(), max_size=5), st.randoms())
def test_the_order_of_the_paths_does_not_matter(paths: list[Path], random: object) -> None:
    shuffled = list(paths)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = PlaceTree.from_paths(paths), PlaceTree.from_paths(shuffled)
    assert one == other
    assert (one.names, one.types, one.keys) == (other.names, other.types, other.keys)


@given(place_trees(), st.data())
def test_a_restricted_tree_has_the_places_asked_for_and_those_above(tree: PlaceTree, data: st.DataObject) -> None:
    nodes = data.draw(st.lists(st.integers(UNKNOWN, len(tree) - 1)))
    kept, moved = tree.restricted(nodes)
    expected = {tail for node in nodes if node != UNKNOWN for tail in _tails(tree.path(node))} | {(WORLD,)}
    assert {kept.path(node) for node in range(len(kept))} == expected
    for node in range(len(tree)):
        if tree.path(node) in expected:
            assert kept.path(int(moved[node])) == tree.path(node)
        else:
            assert moved[node] == UNKNOWN


@given(place_trees(), place_trees())
def test_a_union_has_the_places_of_both(one: PlaceTree, other: PlaceTree) -> None:
    both, one_moved, other_moved = one.union(other)
    assert {both.path(node) for node in range(len(both))} == {
        tree.path(node) for tree in (one, other) for node in range(len(tree))
    }
    assert [both.path(int(node)) for node in one_moved] == [one.path(node) for node in range(len(one))]
    assert [both.path(int(node)) for node in other_moved] == [other.path(node) for node in range(len(other))]


@given(place_trees())
def test_the_paths_of_a_tree_are_sound(tree: PlaceTree) -> None:
    paths = {key: tree.path(node) for key, node in tree.by_key.items()}
    assert check_paths({key: [list(step) for step in path] for key, path in paths.items()}) == paths


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ({"x": []}, r"locations\[1\]: a path is a list"),
        ({"x": "world"}, r"locations\[1\]: a path is a list"),
        ({"x": None}, r"locations\[1\]: a path is a list"),
        ({"x": [["x"]]}, r"locations\[1\]: step 1 must be \[name, type\], two texts\.$"),
        ({"x": [["x", 5]]}, r"locations\[1\]: step 1 must be"),
        ({"x": [["", "route"]]}, r"locations\[1\]: step 1 must be"),
        ({"x": ["xy"]}, r"locations\[1\]: step 1 must be"),
        ({"x": [["x", "village"]]}, r"locations\[1\]: step 1 has an unknown type of place; there is route"),
        ({"x": [["x", "route"]]}, r"locations\[1\]: a path ends at world"),
        (
            {"x": [["world", "world"], ["world", "world"]]},
            r"locations\[1\]: step 2 is the place of step 1 again, which would lie above itself",
        ),
        ({"x": [["Earth", "world"], ["world", "world"]]}, r"locations\[1\]: a path ends at world, once"),
        (
            {"x": [["x", "route"], ["y", "locality"], ["x", "route"], ["world", "world"]]},
            r"locations\[1\]: step 3 is the place of step 1 again.*; a path has no cycle",
        ),
        (
            {"x": [["x", "country"], ["y", "locality"], ["world", "world"]]},
            r"locations\[1\]: step 1 \(country, level 5\) lies below step 2 \(locality, level 1\); levels must",
        ),
        (
            {
                "x": [["x", "political"], ["y", "political"], ["world", "world"]],
                "y": [["y", "political"], ["z", "political"], ["world", "world"]],
                "z": [["z", "political"], ["x", "political"], ["world", "world"]],
            },
            r"locations\[3\]: step 1 lies below step 2 here and above it elsewhere; places must not form a cycle",
        ),
    ],
)
def test_a_path_that_is_not_sound_is_named_by_its_position(paths: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidRecord, match=message):
        check_paths({"sound": [["world", "world"]], **paths}, "locations[{}]".format)  # type: ignore[dict-item]


def test_two_places_of_one_name_are_no_cycle() -> None:
    paths = {
        "one": [["A", "locality"], ["B", "country"], ["world", "world"]],
        "other": [["B", "locality"], ["A", "country"], ["world", "world"]],
    }
    assert len(PlaceTree.from_paths(check_paths(paths).values())) == 5
