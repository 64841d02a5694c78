"""The values of options, from JSON and from texts, and plans: a verb with its options, written and read again."""

from __future__ import annotations

import csv
import io
import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.verbs import verbs
from api.verbs.values import made, names_in, options_of, plan_of, read_plan, text_of, value_in, value_of
from tabular.errors import InvalidInput, InvalidParameter, UnknownName

AUDIT = verbs["audit"].method
SEARCH = verbs["table search"].method
PROTECT = verbs["protect"].method


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1), min_size=1))
def test_names_come_back_from_their_text(names):
    plain = tuple(name.strip() or "x" for name in names)
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="").writerow(plain)
    assert names_in("columns", text.getvalue()) == plain


@pytest.mark.parametrize("text", ["", "a,,b", '"a', ",", " , "])
def test_texts_that_list_no_names_are_refused(text):
    with pytest.raises(InvalidParameter, match="columns"):
        names_in("columns", text)


def test_a_json_value_becomes_what_the_option_holds():
    known = options_of(SEARCH)
    assert value_of(known["k"], 5.0) == 5 and isinstance(value_of(known["k"], 5.0), int)
    assert value_of(known["k"], None) is None
    assert value_of(known["suppression"], 0) == 0.0
    assert value_of(known["quasi_identifiers"], ["age", "sex"]) == ("age", "sex")
    assert value_of(known["exact"], False) is False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", True),
        ("k", 5.5),
        ("k", "5"),
        ("k", float("nan")),
        ("suppression", float("inf")),
        ("suppression", "0.1"),
        ("quasi_identifiers", "age"),
        ("quasi_identifiers", ["age", 1]),
        ("shuffle", 1),
        ("file", 3),
        ("file", None),
    ],
)
def test_a_json_value_of_another_kind_is_refused_and_named(name, value):
    with pytest.raises(InvalidParameter) as refused:
        value_of(options_of(SEARCH)[name], value)
    assert refused.value.parameter == name
    assert refused.value.was is value
    assert refused.value.must.startswith("be ")


def test_texts_are_read_by_the_kind_of_the_option():
    assert value_in(options_of(PROTECT)["k"], "5") == 5
    assert value_in(options_of(AUDIT)["undirected"], "True") is True
    assert value_in(options_of(SEARCH)["objectives"], "k,glm") == ("k", "glm")
    assert value_in(options_of(AUDIT)["scenario"], "topic1+topic2") == ("topic1+topic2",)
    for name, text in (("k", "five"), ("k", "5.0")):
        with pytest.raises(InvalidParameter, match="k must be a whole number"):
            value_in(options_of(PROTECT)[name], text)


def test_what_a_verb_does_not_take_or_lacks_is_said():
    with pytest.raises(UnknownName, match="No option is called 'ks'; did you mean 'k'"):
        made(PROTECT, {"name": "g", "ks": 5, "into": "r"})
    with pytest.raises(InvalidParameter, match="into is missing"):
        made(PROTECT, {"name": "g", "k": 5})
    with pytest.raises(InvalidInput, match="k must be at least 2, not 1"):
        made(PROTECT, {"name": "g", "k": 1, "into": "r"})
    assert made(PROTECT, {"name": "g", "k": 5, "into": "r"}).k == 5


texts = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=20)


@given(texts, st.integers(2, 50), st.lists(texts, max_size=3), st.sampled_from(["p.toml", "p.json"]))
def test_a_plan_is_the_verb_again(tmp_path_factory, name, k, parameters, file):
    verb = verbs["protect"].method(name=name, k=k, into="r", param=tuple(parameters))
    path = tmp_path_factory.mktemp("plan") / file
    path.write_text(text_of(plan_of("protect", verb), file), encoding="utf-8", newline="")
    assert read_plan(str(path)) == ("protect", verb)


def test_a_plan_holds_what_differs_from_the_defaults():
    verb = verbs["audit"].method(original="g", released="r", scenario=("all",), undirected=True)
    plan = plan_of("audit", verb)
    assert plan == {
        "plan": 2,
        "verb": "audit",
        "options": {"original": "g", "released": "r", "scenario": ["all"], "undirected": True},
    }
    assert tomllib.loads(text_of(plan, "p.toml")) == json.loads(text_of(plan, "p.json")) == plan


def test_options_can_be_changed(tmp_path):
    verb = verbs["table search"].method(file="a.csv", quasi_identifiers=("age",), hierarchies="h", k=5)
    path = tmp_path / "p.toml"
    path.write_text(text_of(plan_of("table search", verb), str(path)))
    _, changed = read_plan(str(path), {"file": "b.csv", "k": "7", "quasi_identifiers": "age,sex"})
    assert (changed.file, changed.k, changed.quasi_identifiers) == ("b.csv", 7, ("age", "sex"))
    with pytest.raises(InvalidInput, match="kk"):
        read_plan(str(path), {"kk": "7"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("verb = ", "this is not a plan"),
        ("x = 1" + "0" * 5000, "this is not a plan: a number in it has too many digits."),
        ("x = " + "[" * 100_000, "this is not a plan: it is nested too deeply."),
        ("[options]\n", "a plan has the keys plan, verb and options"),
        ("verb = 'audit'\nseed = 3\n", "a plan has the keys plan, verb and options"),
        ("plan = 3\nverb = 'audit'\n", "this plan has layout 3, and this version reads 1 and 2"),
        ("verb = 'audits'\n", "No command is called 'audits'; did you mean 'audit'?"),
        ("verb = 'audit'\n[options]\noriginal = 'g'\n", "released is missing"),
        ("verb = 'protect'\n[options]\nname = 'g'\ninto = 'r'\nk = 'five'\n", "k must be a whole number, not 'five'"),
    ],
)
def test_what_is_no_plan_is_said_with_the_file(tmp_path, text, said):
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises((InvalidInput, UnknownName)) as refused:
        read_plan(str(tmp_path / "p.toml"))
    assert said in str(refused.value)


def test_a_plan_runs_as_its_command_does(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    command = ("protect", "g", "--k", 2, "--into", "r", "--accept-combined-risk")
    assert graphpriv(*command, "--plan", "p.toml").code == 0
    assert len(graphpriv("graph", "list", "--json").document["graphs"]) == 1
    graphpriv(*command, "--seed", 1)
    assert graphpriv("run", "p.toml", "--set", "into=s", "--seed", 1).code == 0
    for name in ("r", "s"):
        graphpriv("graph", "export", name, "--out", f"{name}.json")
    assert (tmp_path / "r.json").read_bytes() == (tmp_path / "s.json").read_bytes()
    assert "p.toml: the file exists; give --overwrite" in graphpriv(*command, "--plan", "p.toml").error
    ended = graphpriv("run", "p.toml", "--set", "k=1")
    assert ended.code == 2 and "k must be at least 2, not 1" in ended.error
    assert graphpriv("graph", "list", "--plan", "l.toml").code == 0
    assert graphpriv("run", "l.toml", "--json").document == graphpriv("graph", "list", "--json").document
    assert graphpriv("run", "l.toml", "--seed", 1).error.startswith("--seed has no effect here, since graph list")
    assert "none.toml" in graphpriv("run", "none.toml").error
    assert "--set 'k'" in graphpriv("run", "p.toml", "--set", "k").error
