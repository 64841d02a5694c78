"""The docs that are made from the code, and every registered method behind the same doors."""

import json
import re
from dataclasses import dataclass

import click
import pytest

from api import reference
from api.cli import command_line, run
from api.reference import REGISTRIES
from api.verbs.values import parameters_of
from tabular.errors import InvalidParameter
from tabular.registry import Method, Registry, option


def test_the_list_of_the_readme_is_fresh():
    assert reference.readme(readme_text()) == readme_text(), "run: python -m api.reference"


@pytest.mark.parametrize("name", ["methods", "reference"])
def test_the_docs_are_fresh(name):
    text = (reference.TOP / "docs" / f"{name}.md").read_text()
    assert text == getattr(reference, name)(), "run: python -m api.reference"


def test_a_stale_file_is_named(monkeypatch, tmp_path):
    assert reference.stale() == []
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "docs/methods.md", "docs/reference.md"):
        (tmp_path / name).write_text((reference.TOP / name).read_text())
    (tmp_path / "docs" / "methods.md").write_text("# Methods\n")
    monkeypatch.setattr(reference, "TOP", tmp_path)
    monkeypatch.setattr("sys.argv", ["reference", "--check"])
    with pytest.raises(SystemExit, match=r"Stale: methods\.md; run: python -m api\.reference"):
        reference.main()
    assert (tmp_path / "docs" / "methods.md").read_text() == "# Methods\n"


@pytest.mark.parametrize("sort", REGISTRIES)
def test_every_method_has_a_source_and_limits(sort):
    assert len(REGISTRIES[sort])
    for entry in REGISTRIES[sort].entries():
        assert entry.summary.endswith((".", ")"))
        assert entry.cites
        assert entry.limits


def methods():
    return [(sort, entry.name) for sort, registry in REGISTRIES.items() for entry in registry.entries()]


def listed_in_readme(text):
    """The methods of the README, each with its family."""
    lines = re.findall(r"^- ([A-Z][^:]+): (.*)$", text, flags=re.MULTILINE)
    return {(sort, name) for sort, names in lines for name in re.findall(r"`([^`]+)`", names)}


def rows(text):
    """The names in the tables of the methods, each with the family it stands under."""
    found, sort = set(), None
    for line in text.splitlines():
        if title := re.fullmatch(r"## (.+)", line):
            sort = title[1]
        elif row := re.match(r"\| `([^`]+)` \|", line):
            found.add((sort, row[1]))
    return found


def missing_methods(readme, pages, printed):
    """The methods that the README, docs/methods.md or the command line does not list under their family."""
    listed = {(sort, entry["name"]) for sort, entries in printed.items() for entry in entries}
    everywhere = listed_in_readme(readme) & rows(pages) & listed
    return [each for each in methods() if each not in everywhere]


def command_names(command, name="graphpriv"):
    if not isinstance(command, click.Group):
        return [name]
    return [each for word, inner in command.commands.items() for each in command_names(inner, f"{name} {word}")]


def missing_commands(reference_text):
    """The commands that the reference leaves out, or whose options it does not show."""
    shown = set(re.findall(r"^## `(.+)`$", reference_text, flags=re.MULTILINE))
    names = command_names(command_line())
    return [name for name in names if name not in shown or f"Usage: {name} [OPTIONS]" not in reference_text]


@pytest.fixture
def printed(capsys):
    assert run(["methods", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def readme_text():
    return (reference.TOP / "README.md").read_text()


def test_every_method_is_listed_in_command_line_reference_and_readme(printed):
    assert methods()
    assert missing_methods(readme_text(), reference.methods(), printed) == []


@pytest.mark.parametrize(("sort", "name"), methods())
def test_a_method_that_is_left_out_somewhere_is_missed(printed, sort, name):
    text, pages = reference.readme(readme_text()), reference.methods()
    begin = text.index(f"`{name}`", text.index(f"- {sort}: "))
    assert missing_methods(text[:begin] + text[begin + len(name) + 2 :], pages, printed) == [(sort, name)]
    begin = pages.index(f"| `{name}` |", pages.index(f"## {sort}\n"))
    assert missing_methods(text, pages[:begin] + pages[begin + 5 :], printed) == [(sort, name)]
    fewer = {**printed, sort: [each for each in printed[sort] if each["name"] != name]}
    assert missing_methods(text, pages, fewer) == [(sort, name)]


def test_every_command_is_in_the_reference():
    assert missing_commands(reference.reference()) == []


@pytest.mark.parametrize("name", command_names(command_line()))
def test_a_command_that_is_left_out_is_missed(name):
    pages = reference.reference()
    assert missing_commands(pages.replace(f"## `{name}`\n", "")) == [name]


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
    assert reference.method_lists()["Shufflers"] == [entry]
    assert ("Shufflers", "shuffle") in listed_in_readme(reference.readme(readme_text()))
    pages = reference.methods()
    assert "| `shuffle` | Shuffle everything. | Nobody (2026) | Shuffles only. |" in pages
    assert ("Shufflers", "shuffle") in rows(pages)
    assert "- `percent` (5.0): how much of it" in pages
    assert missing_methods(readme_text(), pages, {}) != []


def test_the_parameters_of_a_method_that_is_entered_are_read_and_checked(shufflers):
    entry = shufflers["shuffle"]
    assert parameters_of(entry, ["percent=7"]) == {"percent": 7.0}
    assert entry.method(**parameters_of(entry, ["percent=7"])).percent == 7
    with pytest.raises(InvalidParameter, match="shuffle takes KEY=VALUE with KEY one of: percent"):
        parameters_of(entry, ["colour=red"])
    with pytest.raises(InvalidParameter, match="percent must be from 0 to 100, not 700"):
        entry.method(**parameters_of(entry, ["percent=700"]))
