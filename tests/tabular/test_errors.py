from __future__ import annotations

import pytest

from tabular import errors
from tabular.errors import InvalidInput, ReportedError, StoreUnavailable, UnknownName


def test_every_error_of_the_module_is_in_the_tree() -> None:
    found = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]
    assert len(found) == 13
    assert all(issubclass(each, ReportedError) for each in found)


@pytest.mark.parametrize(
    "name",
    (
        "InvalidParameter",
        "InvalidRecord",
        "InvalidHierarchy",
        "UnknownName",
        "NameTaken",
        "AlreadyReleased",
        "Outdated",
    ),
)
def test_what_the_caller_can_correct_is_invalid_input(name: str) -> None:
    assert issubclass(getattr(errors, name), InvalidInput)


@pytest.mark.parametrize("name", ("NoSolution", "SourceUnavailable", "StoreUnavailable", "FileFailure"))
def test_what_the_caller_cannot_correct_is_not(name: str) -> None:
    assert not issubclass(getattr(errors, name), InvalidInput)


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        ("pramm", ["pram", "mondrian"], "No method is called 'pramm'; did you mean 'pram'?"),
        ("x", ["pram", "mondrian"], "No method is called 'x'; there is mondrian, pram."),
        ("x", [], "No method is called 'x'; there is none yet."),
        (
            "x",
            [f"m{each:02}" for each in range(12)],
            "No method is called 'x'; there is m00, m01, m02, m03, m04, m05, m06, m07, m08, m09, m10, m11.",
        ),
        (
            "x",
            [f"m{each:02}" for each in range(13)],
            "No method is called 'x'; there is m00, m01, m02, m03, m04, m05, m06, m07, ….",
        ),
    ],
)
def test_an_unknown_name_is_told_what_there_is(name: str, known: list[str], text: str) -> None:
    assert str(UnknownName.among("method", name, known)) == text


def test_a_store_says_whether_trying_again_can_help() -> None:
    assert StoreUnavailable("It is busy.", can_retry=True).can_retry
    assert not StoreUnavailable("It is gone.").can_retry
