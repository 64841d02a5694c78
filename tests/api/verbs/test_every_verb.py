"""What holds for every verb, and what a verb has as soon as it is entered."""

from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar

import pytest

from api import reference
from api.cli import command_line
from api.http.schema import verb_schemas
from api.verbs import Outcome, Verb, Work, verbs
from api.verbs.values import is_required, kind_of, options_of
from tabular.files.disk import Output
from tabular.registry import option

NAMES = list(verbs)


def command(name):
    found = command_line()
    for word in name.split():
        found = found.commands[word]
    return found


def test_the_verbs_are_those_of_the_product():
    assert set(NAMES) == {
        *("graph import", "graph export", "graph list", "graph show", "graph delete", "graph forget"),
        *("crawl", "graph refresh", "protect", "audit", "sweep", "microdata", "demo"),
        *("table describe", "table check", "table hierarchy", "table protect", "table measure", "table search"),
        *("table compare", "table evolve", "table import"),
        *("store backup", "store restore", "store check", "warm-up"),
        *("places", "topics", "enrich"),
        *(
            "account add",
            "account list",
            "account remove",
            "account reset-factor",
            "token new",
            "token list",
            "token revoke",
        ),
    }


@pytest.mark.parametrize("name", NAMES)
def test_its_first_sentence_and_every_help_text_end_with_a_full_stop(name):
    entry = verbs[name]
    assert re.fullmatch(r"[A-Z].*\.", entry.summary)
    for each in options_of(entry.method).values():
        assert re.fullmatch(r"[A-Z+].*[.'\]]", each.metadata["help"], re.DOTALL), each.name


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_on_the_command_line_and_in_the_list_of_the_service(name):
    method = verbs[name].method
    shown = {each.name: each for each in command(name).params}
    assert set(options_of(method)) <= set(shown)
    listed = next(each for each in verb_schemas() if each["name"] == name)
    of_the_door = ["seed"] if method.draws else []
    own = [each.name for each in options_of(method).values() if not each.metadata.get("local")]
    assert list(listed["schema"]["properties"]) == [*own, *of_the_door]
    for each in options_of(method).values():
        assert kind_of(each)
        assert each.metadata.get("positional", False) == (shown[each.name].param_type_name == "argument")


@pytest.mark.parametrize("name", NAMES)
def test_help_speaks_of_options_as_they_are_typed(name):
    context = command(name).make_context(name, ["--help"], resilient_parsing=True)
    text = " ".join(command(name).get_help(context).split())
    for parameter in options_of(verbs[name].method):
        assert f"`{parameter}`" not in text
    assert ("--seed" in text) == verbs[name].method.draws
    assert ("--store" in text) == (verbs[name].method.store is not None)
    assert ("--home" in text) == (verbs[name].method.home is not None)


@dataclass(frozen=True, kw_only=True)
class Greet(Verb):
    """Greet somebody, `times` times."""

    draws: ClassVar[bool] = True
    renamed: ClassVar[dict[str, str]] = {"often": "this option is --times now."}

    name: str = option(help="Who is greeted.", positional=True)
    times: int = option(1, low=1, high=9, help="How often.")
    aloud: bool = option(False, help="Whether all can hear it.")
    friends: tuple[str, ...] = option((), listed=True, help="Who else is greeted.")
    out: str | None = option(None, metavar="FILE", output=True, help="Where the greeting goes, too.")

    def run(self, work: Work) -> Outcome:
        text = " ".join(["Hello", self.name, *self.friends] * self.times)
        work.note("It is greeted.")
        outputs = []
        if self.out is not None:
            outputs.append(
                Output(path=self.out, parameter="out", write=lambda file, _: file.write(text.encode()), released=True)
            )
        return Outcome(document={"said": text.upper() if self.aloud else text}, outputs=outputs)


@pytest.fixture
def greeting():
    verbs.add("party greet")(Greet)
    yield "party greet"
    del verbs["party greet"]


def test_a_verb_that_is_entered_is_everywhere_without_another_line(greeting, graphpriv):
    assert greeting in [each["name"] for each in verb_schemas()]
    assert "## `graphpriv party greet`" in reference.reference()
    assert "Greet somebody, --times times." in graphpriv("party", "--help").out
    text = graphpriv("party", "greet", "--help").out
    assert "Who is greeted." in text and "--aloud" in text and "--seed" in text and "--overwrite" in text
    ended = graphpriv("party", "greet", "Ann", "--times", 2, "--friends", "Bob,Cid", "--json")
    assert (ended.code, ended.document) == (0, {"said": "Hello Ann Bob Cid Hello Ann Bob Cid"})
    assert ended.err == "It is greeted.\n"
    # Words of its own it has none: the document is shown.
    assert "HELLO ANN" in graphpriv("party", "greet", "Ann", "--aloud").out


def test_its_bounds_its_old_names_and_its_files_are_looked_after(greeting, graphpriv, tmp_path):
    assert graphpriv("party", "greet", "Ann", "--times", 10).error == "--times must be from 1 to 9, not 10."
    assert graphpriv("party", "greet", "Ann", "--often", 3).error == "--often 3: this option is --times now."
    assert graphpriv("party", "greet").code == 2
    assert graphpriv("party", "greet", "Ann", "--overwrite").error == "--overwrite has no effect without an output."
    ended = graphpriv("party", "greet", "Ann", "--out", "g.txt", "--json")
    assert (tmp_path / "g.txt").read_text() == "Hello Ann"
    assert ended.document["release_id"].startswith("sha256:")
    assert "give --overwrite" in graphpriv("party", "greet", "Bob", "--out", "g.txt").error
    assert graphpriv("party", "greet", "Bob", "--out", "g.txt", "--overwrite").code == 0
    assert (tmp_path / "g.txt").read_text() == "Hello Bob"
    ended = graphpriv("party", "greet", "Bob", "--out", "-")
    assert ended.out == "Hello Bob"
    assert graphpriv("party", "greet", "Bob", "--out", "-", "--json").code == 2


def test_it_can_be_planned_and_run_again(greeting, graphpriv, tmp_path):
    ended = graphpriv("party", "greet", "Ann", "--times", 2, "--aloud", "--plan", "p.toml")
    assert "graphpriv run p.toml" in ended.out
    assert graphpriv("run", "p.toml", "--json").document == {"said": "HELLO ANN HELLO ANN"}
    assert graphpriv("run", "p.toml", "--set", "name=Bob", "--set", "times=1", "--json").document == {
        "said": "HELLO BOB"
    }
    assert json.loads(graphpriv("run", "p.toml", "--json").out) == {"said": "HELLO ANN HELLO ANN"}


def test_a_verb_is_frozen_and_checked_when_it_is_made():
    verb = Greet(name="Ann")
    with pytest.raises(FrozenInstanceError):
        verb.name = "Bob"
    assert [is_required(each) for each in options_of(Greet).values()] == [True, False, False, False, False]
