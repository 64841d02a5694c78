"""The docs that are made from the code, and every registered method behind the same doors."""

import json
import re
from dataclasses import dataclass

import click
import pytest

from api import reference
from api.app import create_app
from api.cli import cli, run
from api.cli.common import parameters_of
from api.methods import REGISTRIES
from tabular.errors import InvalidParameter
from tabular.registry import Method, Registry, option


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


def methods():
    return [(sort, entry.name) for sort, registry in REGISTRIES.items() for entry in registry.entries()]


def rows(text):
    """The names of the methods in the tables of the README, each with the table it stands in."""
    found, sort = set(), None
    for line in text.splitlines():
        if title := re.fullmatch(r"\*\*(.+)\*\*", line):
            sort = title[1]
        elif row := re.match(r"\| `([^`]+)` \|", line):
            found.add((sort, row[1]))
    return found


def sections(text):
    """The titles of the reference, each with the one above it."""
    found, above = set(), None
    for line in text.splitlines():
        if title := re.fullmatch(r"### `?([^`]+)`?", line):
            above = title[1]
            found.add((None, above))
        elif title := re.fullmatch(r"#### `([^`]+)`", line):
            found.add((above, title[1]))
    return found


def missing_methods(readme, reference_text, printed):
    """The methods that the README, the reference or the command line does not list under their registry."""
    listed = {(sort, entry["name"]) for sort, entries in printed.items() for entry in entries}
    everywhere = rows(readme) & sections(reference_text) & listed
    return [each for each in methods() if each not in everywhere]


def command_names(command, name="graphpriv"):
    if not isinstance(command, click.Group):
        return [name]
    return [each for word, inner in command.commands.items() for each in command_names(inner, f"{name} {word}")]


def missing_commands(reference_text):
    """The commands that the reference leaves out, or whose options it does not show."""
    shown = {title for _, title in sections(reference_text)}
    return [
        name for name in command_names(cli) if name not in shown or f"Usage: {name} [OPTIONS]" not in reference_text
    ]


@pytest.fixture
def printed(capsys):
    assert run(["methods", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def readme_text():
    return (reference.TOP / "README.md").read_text()


def test_every_method_is_listed_in_command_line_reference_and_readme(printed):
    assert methods()
    assert missing_methods(readme_text(), reference.reference(), printed) == []


@pytest.mark.parametrize(("sort", "name"), methods())
def test_a_method_that_is_left_out_somewhere_is_missed(printed, sort, name):
    text, pages = reference.readme(readme_text()), reference.reference()
    begin = text.index(f"| `{name}` |", text.index(f"**{sort}**"))
    without = text[:begin] + text[text.index("\n", begin) + 1 :]
    assert missing_methods(without, pages, printed) == [(sort, name)]
    begin = pages.index(f"#### `{name}`\n", pages.index(f"### {sort}\n"))
    assert missing_methods(text, pages[:begin] + pages[begin + 5 :], printed) == [(sort, name)]
    fewer = {**printed, sort: [each for each in printed[sort] if each["name"] != name]}
    assert missing_methods(text, pages, fewer) == [(sort, name)]


def test_every_command_is_in_the_reference():
    assert missing_commands(reference.reference()) == []


@pytest.mark.parametrize("name", command_names(cli))
def test_a_command_that_is_left_out_is_missed(name):
    pages = reference.reference()
    assert missing_commands(pages.replace(f"### `{name}`\n", "")) == [name]


@dataclass(frozen=True, kw_only=True)
class Shuffle(Method):
    """Shuffle everything."""

    percent: float = option(5.0, low=0, high=100, help="how much of it")


@pytest.fixture
def shufflers(monkeypatch):
    """A registry of its own with one method, listed with the others."""
    registry = Registry("shuffler")
    registry.add("shuffle", cites="Nobody (2026)", limits="Shuffles only.")(Shuffle)
    monkeypatch.setitem(REGISTRIES, "Shufflers", registry)
    return registry


def test_a_method_that_is_entered_appears_everywhere_by_itself(shufflers, capsys):
    assert run(["methods", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["Shufflers"]
    assert (entry["name"], entry["summary"], entry["cites"]) == ("shuffle", "Shuffle everything.", "Nobody (2026)")
    assert run(["methods"]) == 0
    assert "Shuffle everything." in capsys.readouterr().out
    assert create_app().test_client().get("/v1/methods").json["Shufflers"] == [entry]
    fresh = reference.readme(readme_text())
    assert "| `shuffle` | Shuffle everything. | Nobody (2026) | Shuffles only. |" in fresh
    assert ("Shufflers", "shuffle") in rows(fresh)
    assert "- `percent` (5.0): how much of it" in reference.reference()
    assert missing_methods(readme_text(), reference.reference(), {}) != []


def test_the_parameters_of_a_method_that_is_entered_are_read_and_checked(shufflers):
    entry = shufflers["shuffle"]
    assert parameters_of(entry, ["percent=7"]) == {"percent": 7.0}
    assert entry.method(**parameters_of(entry, ["percent=7"])).percent == 7
    with pytest.raises(InvalidParameter, match="shuffle takes KEY=VALUE with KEY one of: percent"):
        parameters_of(entry, ["colour=red"])
    with pytest.raises(InvalidParameter, match="percent must be from 0 to 100, not 700"):
        entry.method(**parameters_of(entry, ["percent=700"]))
