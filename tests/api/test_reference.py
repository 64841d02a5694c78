"""The docs that are made from the code, and every registered method behind the same doors."""

import pytest

from api import reference
from api.methods import REGISTRIES, method_lists


def test_the_readme_tables_are_fresh():
    text = (reference.TOP / "README.md").read_text()
    assert reference.readme(text) == text, "run: python -m api.reference"


def test_the_reference_is_fresh():
    assert (reference.TOP / "docs" / "reference.md").read_text() == reference.reference(), (
        "run: python -m api.reference"
    )


@pytest.mark.parametrize("sort", REGISTRIES)
def test_every_method_has_a_source_and_limits(sort):
    assert len(REGISTRIES[sort])
    for entry in REGISTRIES[sort].entries():
        assert entry.summary.endswith((".", ")"))
        assert entry.cites
        assert entry.limits


def test_every_method_is_listed_in_command_line_and_readme(capsys):
    from api.cli import run

    assert run(["methods"]) == 0
    printed = capsys.readouterr().out
    text = (reference.TOP / "README.md").read_text()
    for entries in method_lists().values():
        for entry in entries:
            assert entry["name"] in printed
            assert f"| `{entry['name']}` |" in text
