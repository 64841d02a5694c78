"""The index of places, and the file that keeps it."""

import numpy as np
import pytest

from crawler.places.building import build
from crawler.places.curated import Line, curated, curated_text, is_code
from crawler.places.index import _file_name, _keep, index
from graphpriv.places import LEVELS, WORLD, check_paths
from tests.moments import killed_at


def test_lines_of_the_file_of_names_are_read_with_where_they_belong():
    regions = "# said\n[regions XX]\nNorth: (07) ~Old, N, N.O.,\n  Northland\n"
    text = f"{regions}[parts Town, North, XX]\nMill:\n[words]\nof, and\n"
    found = curated(text)
    assert found.regions == [Line("North", ("XX",), ("~Old", "N", "N.O.", "Northland"), "07")]
    assert found.parts == [Line("Mill", ("Town", "North", "XX"), ())]
    assert found.words == ["of", "and"]


@pytest.mark.parametrize(
    ("name", "expected"), [("TX", True), ("N.Y.", True), ("LAX", True), ("Tex", False), ("T", False)]
)
def test_codes_are_capitals(name, expected):
    assert is_code(name) is expected


def test_every_place_has_a_sound_path_and_a_country_unless_it_is_wider():
    found = index()
    assert found.path(0) == (WORLD,)
    assert set(found.types) <= set(LEVELS)
    for place in range(0, len(found.names), 997):
        assert check_paths({place: found.path(place)}) == {place: found.path(place)}
        assert bool(found.countries[place]) == (found.types[place] not in ("world", "continent"))
    assert {"HK", "PR", "TW", "XK", "GB"} <= set(found.states)


def test_candidates_and_codes_are_places_and_words_are_folded():
    found = index()
    assert {found.countries[place] for place, _ in found.candidates("tbilisi")} == {"GE"}
    assert found.candidates("no such name") == ()
    assert found.regions["US-TX"] in {place for place, _ in found.codes["tx"]}
    assert "nice" in found.words and all(word == word.lower() for word in found.words)


@pytest.mark.heavy
def test_a_damaged_file_is_made_anew_and_gives_the_same_index(tmp_path, monkeypatch):
    whole = index()
    monkeypatch.setenv("GRAPHPRIV_CACHE_DIR", str(tmp_path))
    for damage in (b"", b"PK\x03\x04 no archive", b"\x93NUMPY"):
        (tmp_path / _file_name()).write_bytes(damage)
        index.cache_clear()
        try:
            assert index().names == whole.names
        finally:
            index.cache_clear()
    again = index()
    index.cache_clear()
    assert (again.names, again.starts, again.called, again.codes) == (
        whole.names,
        whole.starts,
        whole.called,
        whole.codes,
    )


@pytest.mark.heavy
def test_building_twice_gives_the_same():
    names = curated(curated_text())
    one, two = build(names), build(names)
    assert (one.names, one.parents, one.weights, one.called) == (two.names, two.parents, two.weights, two.called)


def test_an_index_that_a_kill_cut_short_goes_with_the_next(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHPRIV_CACHE_DIR", str(tmp_path))
    made = {"names": np.arange(1000)}
    for moment in range(1, 40):
        ended = killed_at(moment, lambda: _keep(made) or 0)
        if ended.code is not None:
            break
        if (tmp_path / _file_name()).exists():
            assert np.load(tmp_path / _file_name())["names"].sum() == 499_500
        _keep(made)
        assert [path.name for path in tmp_path.iterdir()] == [_file_name()]
        (tmp_path / _file_name()).unlink()
    assert (ended.code, moment > 4) == (0, True)
