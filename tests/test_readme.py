"""The README: its stories show what the commands print, and all its other commands can be given."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import click
import numpy as np
import pytest

from api.cli import command_line, run

README = Path(__file__).parent.parent / "README.md"
TEXT = README.read_text(encoding="utf-8")

#: The stories, and what is drawn at random in each: all but the figures of the third, which are the same every time.
LOSSES = r"\d+\.\d+|\d+(?= distinct profiles)"
STORIES = {
    "Release a social graph": LOSSES,
    "Mask a table": LOSSES,
    "Find the best generalisation": r"\d+\.\d+(?= s\.)",
}

# What the stories leave in their folder is read by other tests.
pytestmark = pytest.mark.xdist_group("readme")


def section(title: str) -> str:
    """What stands under a heading; the beginning of the page stands under none."""
    parts = re.split(r"^##? (.+)\n", TEXT, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[title]


def told(text: str) -> list[tuple[str, str]]:
    """The commands of a text, each with the output that is shown below it."""
    blocks = re.findall(r"^```console\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"^\$ graphpriv (.+)\n((?:(?!\$ ).*\n)*)", "".join(blocks), flags=re.MULTILINE)


def given(text: str) -> list[str]:
    """All commands that a text names: on lines of code, and between backquotes."""
    lines = re.findall(r"^(?:\$ |    )(.*)$", text, flags=re.MULTILINE)
    return [
        found
        for each in [*lines, *re.findall(r"`(graphpriv [^`]+)`", text)]
        for found in re.findall(r"(?<![\w-])graphpriv (.+)", each)
    ]


def words(command: str) -> list[str]:
    return shlex.split(command, comments=True)


def command_of(arguments: list[str]) -> tuple[click.Command, list[str]]:
    """The command that *arguments* begin with, and what is left for it."""
    command, rest = command_line(), list(arguments)
    while isinstance(command, click.Group):
        command = command.commands[rest.pop(0)]
    return command, rest


def printed(command: str, *more: str) -> tuple[int, str]:
    """How a command ends and what it prints, with the test's seed if it takes one."""
    arguments = words(command)
    takes = {option for each in command_of(arguments)[0].params for option in each.opts}
    seed = ["--seed", "11"] if "--seed" in takes else []
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        code = run([*arguments, *seed, *more])
    return code, out.getvalue()


def plain(text: str, drawn: str) -> str:
    """A text without what is *drawn* at random, and without the widths that hang on it."""
    lines = [" ".join(re.sub("[━─]+", "━", line).split()) for line in text.splitlines()]
    return re.sub(drawn, "#", "\n".join(lines))


def is_shown(shown: str, output: str, drawn: str) -> bool:
    """Whether an output is what is *shown*, where `…` is one or more lines, or the end of a line, left out."""
    lines = plain(shown, drawn).splitlines()
    patterns = [
        r"(?:.*\n)+?"
        if line == "…"
        else re.escape(line.removesuffix(" …")) + (r" .+\n" if line.endswith(" …") else r"\n")
        for line in lines
    ]
    return re.fullmatch("".join(patterns), plain(output, drawn) + "\n") is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An empty folder and a home of its own, after the demo."""
    place = tmp_path_factory.mktemp("readme")
    with pytest.MonkeyPatch.context() as patch, chdir(place):
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.delenv("GRAPHPRIV_STORE", raising=False)
        ((command, shown),) = told(section("graphpriv"))
        code, output = printed(command)
        assert code == 0
        assert is_shown(shown, output, LOSSES), output
        yield place


def test_the_readme_has_at_most_eight_kilobytes():
    assert len(README.read_bytes()) <= 8192


@pytest.mark.parametrize("title", STORIES)
def test_a_story_takes_four_commands(title):
    assert len(told(section(title))) == 4
    assert len(given(section(title))) == 4


def test_the_stories_show_what_the_commands_print(folder):
    (table,) = re.findall(r"^```csv\n(.*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE)
    (folder / "people.csv").write_text(table)
    (folder / "levels").mkdir()
    for title, drawn in STORIES.items():
        for command, shown in told(section(title)):
            code, output = printed(command)
            assert code == 0, command
            assert is_shown(shown, output, drawn), f"{command}\n{output}"
    before, after = re.findall(r"`([^`]+)` is now `([^`]+)`", TEXT)[0]
    assert before in table.splitlines()
    assert after in (folder / "best.csv").read_text().splitlines()


def test_six_lines_of_python_audit_a_release(folder, monkeypatch):
    (code,) = re.findall(r"^```python\n(.*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE)
    *lines, last = filter(None, code.splitlines())
    assert len(lines) == 5
    seeded = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=11: seeded(seed))
    names = {}
    exec("\n".join(lines), names)
    assert "disclosure_risk" in set(eval(last, names)["measure"])


def test_every_command_can_be_given(folder):
    told_of = {command for title in ("graphpriv", *STORIES) for command, _ in told(section(title))}
    others = [each for each in given(TEXT) if each not in told_of]
    assert len(others) >= 6
    for place, command in enumerate(others):
        method, rest = command_of(words(command))
        # As under the whole command line: click keeps the names of the first context that asks.
        assert method.make_context(method.name, list(rest), help_option_names=["-h", "--help"]).params
        if any(each.name == "plan" and each.opts == ["--plan"] for each in method.params):
            code, said = printed(command, "--plan", f"plan-{place}.toml")
            assert code == 0, command
            assert said.startswith(f"Wrote plan-{place}.toml")


@pytest.mark.parametrize(
    ("shown", "output", "same"),
    [
        ("a\n…\nd 1.5 …\n", "a\nb\nc\nd 2.7 e\n", True),
        ("a\n…\nd\n", "a\nd\n", False),
        ("a  b\n━━\n", "a b\n━━━━\n", True),
        ("k 5\n", "k 6\n", False),
        ("a\n", "a\nb\n", False),
    ],
)
def test_only_what_is_drawn_or_left_out_may_differ(shown, output, same):
    assert is_shown(shown, output, LOSSES) == same
