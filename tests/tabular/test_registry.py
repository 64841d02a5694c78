from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import Any

import pytest

from tabular.errors import InvalidParameter, UnknownName
from tabular.registry import Method, Registry, option


@dataclass(frozen=True, kw_only=True)
class Shake(Method):
    """Shake every value.

    More about it.
    """

    percent: float = option(5.0, low=0, high=100, help="how much")
    least: int = option(1, low=1, help="how little")
    way: str = option("up", choices=("up", "down"), help="which way")
    again: bool = option(False, help="whether once more")
    ceiling: float | None = option(None, high=9, help="not above")


def registry() -> Registry[Method]:
    made: Registry[Method] = Registry("shaker")
    made.add("shake", cites="Nobody (2026)", limits="Shakes only.")(Shake)
    return made


def test_an_entry_tells_what_its_method_says_of_itself() -> None:
    entry = registry()["shake"]
    assert (entry.name, entry.method, entry.cites, entry.limits) == ("shake", Shake, "Nobody (2026)", "Shakes only.")
    assert entry.summary == "Shake every value."
    assert [each.name for each in entry.parameters] == ["percent", "least", "way", "again", "ceiling"]
    percent, _, way, *_ = entry.parameters
    assert (percent.default, percent.low, percent.high, percent.help) == (5.0, 0, 100, "how much")
    assert way.choices == ("up", "down")


def test_a_method_is_made_from_its_parameters_and_no_others() -> None:
    entry = registry()["shake"]
    assert entry.make({"percent": 2.0, "way": "down"}) == Shake(percent=2.0, way="down")
    with pytest.raises(UnknownName, match=r"parameter of shake.*'percent'"):
        entry.make({"precent": 2.0})


def test_a_registry_holds_what_was_entered_in_that_order() -> None:
    made = registry()
    made.add("a", cites="x", limits="y")(Shake)
    assert list(made) == ["shake", "a"]
    assert len(made) == 2
    assert "shake" in made
    assert "b" not in made
    assert [entry.name for entry in made.entries()] == ["shake", "a"]


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"least": 2.5}, "Shake: least must be a whole number, not 2.5."),
        ({"again": "yes"}, "Shake: again must be true or false, not 'yes'."),
        ({"again": 1}, "Shake: again must be true or false, not 1."),
    ],
)
def test_a_value_is_of_the_kind_of_the_default(parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidParameter) as error:
        Shake(**parameters)
    assert str(error.value) == text


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(UnknownName, match="No shaker is called 'shaek'; did you mean 'shake'"):
        registry()["shaek"]


def test_a_name_stands_for_one_method() -> None:
    with pytest.raises(ValueError, match="Two methods of shaker are called 'shake'"):
        registry().add("shake", cites="x", limits="y")(Shake)


def test_a_method_without_a_word_about_itself_is_refused() -> None:
    class Silent(Method):
        pass

    Silent.__doc__ = " "
    with pytest.raises(ValueError, match="has no docstring"):
        registry().add("silent", cites="x", limits="y")(Silent)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"percent": 250}, "Shake: percent must be from 0 to 100, not 250."),
        ({"percent": -1}, "Shake: percent must be from 0 to 100, not -1."),
        ({"percent": float("nan")}, "Shake: percent must be from 0 to 100, not nan."),
        ({"percent": "much"}, "Shake: percent must be a number, not 'much'."),
        ({"percent": True}, "Shake: percent must be a number, not True."),
        ({"least": 0}, "Shake: least must be at least 1, not 0."),
        ({"least": None}, "Shake: least must be a number, not None."),
        ({"ceiling": 10}, "Shake: ceiling must be at most 9, not 10."),
        ({"way": "left"}, "Shake: way must be one of up, down, not 'left'."),
    ],
)
def test_parameters_are_checked_on_creation(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Shake(**parameters)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_bounds_themselves_are_allowed_and_a_method_does_not_change() -> None:
    method = Shake(percent=0, least=1)
    assert Shake(percent=100).percent == 100
    with pytest.raises(FrozenInstanceError):
        method.percent = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("percent", "7.5", 7.5),
        ("least", "3", 3),
        ("way", "down", "down"),
        ("again", "TRUE", True),
        ("ceiling", "2", 2.0),
    ],
)
def test_text_becomes_a_value_of_the_kind_of_the_default(name: str, text: str, value: object) -> None:
    parameter = next(each for each in registry()["shake"].parameters if each.name == name)
    assert parameter.read(text) == value
    assert type(parameter.read(text)) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("percent", "much", "percent must be a number, not 'much'"),
        ("least", "2.5", "least must be a whole number, not '2.5'"),
        ("again", "maybe", "again must be true or false, not 'maybe'"),
    ],
)
def test_text_of_another_kind_is_refused(name: str, text: str, message: str) -> None:
    parameter = next(each for each in registry()["shake"].parameters if each.name == name)
    with pytest.raises(InvalidParameter, match=message):
        parameter.read(text)


def test_loading_a_package_enters_what_its_modules_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "shakers_for_this_test"
    package.mkdir()
    (package / "__init__.py").write_text("found = []\n")
    for name in ("second", "first"):
        (package / f"{name}.py").write_text(f"from shakers_for_this_test import found\nfound.append({name!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry().load("shakers_for_this_test")
    assert sys.modules["shakers_for_this_test"].found == ["first", "second"]
