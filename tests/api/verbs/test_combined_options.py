"""What options may go together: every rule that a verb enforces is in the help of one of its options.

The rules are found by trying: each option alone and each two together, from some ways to use a verb. Two options have a
rule where both are taken alone and refused together, where one is taken only with the other, or where a refusal names
both. Whatever of this only the inputs show is found in the code, by the refusals that name two options.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from api.reference import REGISTRIES
from api.verbs import Outcome, Verb, Work, verbs
from api.verbs.contract import perform
from api.verbs.values import is_required, kind_of, made, options_of
from tabular.errors import InvalidInput, InvalidParameter, ReportedError, named
from tabular.registry import choices_of, option

TOP = Path(__file__).parents[3]

#: Sound values of options by name, the first those that a required option has. Choices, flags and numbers with a bound
#: need none.
VALUES: Mapping[str, tuple[Any, ...]] = {
    "also": (("b.zip",),),
    "attributes": ("a.csv",),
    "at_risk_out": ("risks.csv",),
    "choose": ("1", "age=1,town=0"),
    "class_label": ("job", "sick", "age"),
    "column": ("age",),
    "columns": (("age", "town"), ("age",)),
    "delimiter": ("semicolon", '"'),
    "encoding": ("utf-8",),
    "epsilon": ("5,100",),
    "file": ("t.csv", "-"),
    "frequencies": ("f.csv",),
    "generator": ("local",),
    "graph": ("g",),
    "hierarchies": ("levels",),
    "html": ("h.html",),
    "id": ("abc",),
    "into": ("r", "g"),
    "k": (3,),
    "key": ("id",),
    "kind": (("age=nominal",),),
    "l": (2,),
    "limit": ("location=country",),
    "mapping": ("x.csv", "-"),
    "masked": ("m.csv", "-"),
    "matrices": ("m",),
    "matrices_out": ("m",),
    "metric": ("precision", "cm"),
    "missing": (("?",),),
    "name": ("g", "h"),
    "objectives": (("k", "glm"), ("k", "l"), ("k", "cm")),
    "original": ("t.csv", "-"),
    "out": ("o.csv", "-"),
    "out_dir": ("d",),
    "places": ("p.csv",),
    "population": ("p.csv", "-"),
    "population_out": ("d",),
    "previous": ("o.csv",),
    "prices": ("p.toml",),
    "private": ("v.json",),
    "protection": (("mondrian k=5",),),
    "quasi_identifiers": (("age", "town"), ("town",)),
    "quote": ("double",),
    "released": ("r",),
    "revision": ("1",),
    "role": (("age=sensitive",),),
    "scenario": (("topic1",),),
    "schema": ("adult",),
    "seconds": (5.0,),
    "sensitive": ("sick",),
    "start": ("ann",),
    "suppression": (0.1,),
    "t": (0.2,),
    "user": ("u",),
    "weights": ("location=2",),
    "without": (("dbrl",),),
}

#: The same for one verb.
OWN: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "audit": {"fail_if": ("disclosure_risk.ego.all > 0.1",), "original": ("g.json",), "released": ("r.json",)},
    "demo": {"k": (30,), "users": (20,), "follows": (5,), "out": ("d",)},
    "microdata": {"param": (("k=3",), ("retain=0.5",))},
    "protect": {"param": (("l=2",),)},
    "sweep": {"k": (("2", "3"),), "param": (("l=2",),), "weights": (("location=2",),)},
    "table check": {"fail_if": ("k < 2", "by_attribute.sick.t > 0.2"), "sensitive": (("sick",),)},
    "table evolve": {"param": (("size=10",), ("tries=5",)), "population": ("d",)},
    "table hierarchy": {"param": (("file=L.csv",), ("widths=3",))},
    "table import": {"file": ("t.csv",)},
    "table measure": {"fail_if": ("score_max > 4", "raw.dbrl > 1"), "param": (("rsrl.percent=10",),)},
    "table protect": {"param": (("k=3",), ("retain=0.5",))},
    "table search": {"param": (("most=1",), ("population=9",))},
}

#: Ways to use a verb, beside the options that it requires.
WAYS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "crawl": ({"start": "ann", "users": 5, "posts": 3}, {"resume": True}),
    "table evolve": ({"out": "o.csv"},),
    "table protect": ({"method": "mondrian", "out": "o.csv"}, {"grid": True}),
    "table search": (
        {},
        {"k": 3, "out": "o.csv"},
        {"objectives": ("k", "glm")},
        {"choose": "age=1,town=0", "out": "o.csv", "alone": True},
    ),
}

#: What providers take from the environment.
KEYS = {
    "GRAPHPRIV_GOOGLE_KEY": "k",
    "GRAPHPRIV_TAGGING_TOKEN": "t",
    "GRAPHPRIV_TAGGING_URL": "http://127.0.0.1:9",
    "GRAPHPRIV_NOMINATIM_URL": "http://127.0.0.1:9",
}

Pair = frozenset[str]


def values_of(name: str, each: Any) -> list[Any]:
    """Values of an option to try, its default among them."""
    bounds, kind = each.metadata, kind_of(each)
    tried = OWN.get(name, {}).get(each.name)
    if tried is None and bounds["choices"] is not None:
        tried = tuple(choices_of(bounds["choices"]))
    if tried is None:
        tried = VALUES.get(each.name)
    if tried is None and kind == "bool":
        tried = (True, False)
    if tried is None and kind in ("int", "float") and bounds["low"] is not None:
        tried = (type(each.default or 0)(bounds["low"] + 1),)
    assert tried, f"{name}: give {each.name} a value here, so that it is tried with the other options"
    return [*([] if is_required(each) else [each.default]), *tried]


@dataclass
class Trial:
    """A verb whose options are tried together."""

    name: str
    verb: type[Verb]
    rules: dict[Pair, str] = field(default_factory=dict)
    taken: set[tuple[str, Any]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.options = options_of(self.verb)
        self.values = {key: values_of(self.name, each) for key, each in self.options.items()}
        self.required = {key: self.values[key][0] for key, each in self.options.items() if is_required(each)}

    def takes(self, given: Mapping[str, Any]) -> bool:
        """Whether the verb takes these options; what a refusal names together is a rule."""
        try:
            verb = self.verb(**{**self.required, **given})
            verb.check()
            verb.planned(), verb.reads(), verb.releases()
        except ReportedError as error:
            for pair in combinations(sorted(set(error.named) & set(self.options)), 2):
                self.rules.setdefault(frozenset(pair), f"{given}: {error}")
            return False
        self.taken |= {(key, getattr(verb, key)) for key in self.options}
        return True

    def run(self) -> Trial:
        """Try it in all its ways."""
        for way in WAYS.get(self.name, ({},)):
            assert self.takes(way), f"{self.name} does not take {way}"
            self._try_from(way)
        return self

    def _try_from(self, way: Mapping[str, Any]) -> None:
        now = {key: {**self.required, **way}.get(key, each.default) for key, each in self.options.items()}
        changes = [(key, value) for key, values in self.values.items() for value in values if value != now[key]]
        alone = {change: self.takes({**way, change[0]: change[1]}) for change in changes}
        for one, other in combinations(changes, 2):
            together = {**way, one[0]: one[1], other[0]: other[1]}
            if one[0] != other[0] and self.takes(together) != (alone[one] and alone[other]):
                self.rules.setdefault(frozenset((one[0], other[0])), f"{together}")


@cache
def tried(name: str) -> Trial:
    return Trial(name, verbs[name].method).run()


def is_named(text: str, verb: type[Verb], name: str) -> bool:
    """Whether a help text names an option: in marks, or by the word that stands for an argument."""
    is_argument = options_of(verb)[name].metadata.get("positional")
    return f"`{name}`" in text or bool(is_argument and re.search(rf"\b{name.upper()}\b", text))


def is_said(verb: type[Verb], pair: Pair) -> bool:
    """Whether the help of one of two options names the other, or a sentence about the verb names both."""
    one, other = pair
    helps = {name: each.metadata["help"] for name, each in options_of(verb).items()}
    if is_named(helps[one], verb, other) or is_named(helps[other], verb, one):
        return True
    sentences = re.split(r"(?<=\.)\s+", verb.__doc__ or "")
    return any(is_named(each, verb, one) and is_named(each, verb, other) for each in sentences)


def unsaid(name: str, verb: type[Verb], rules: Mapping[Pair, str]) -> list[str]:
    """The rules of which the help says nothing."""
    missing = {pair: why for pair, why in rules.items() if not is_said(verb, pair)}
    return [f"{name}, {' and '.join(sorted(pair))}: {why}" for pair, why in missing.items()]


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable, value in KEYS.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.chdir(tmp_path)


@dataclass(frozen=True, kw_only=True)
class Bake(Verb):
    """Bakes a cake; `icing` and `plain` do not go together."""

    icing: bool = option(False, help="With icing.")
    plain: bool = option(False, help="Without anything.")
    heat: int = option(200, low=100, help="How hot.")
    minutes: int = option(40, low=1, help="How long; less if `heat` is high.")
    candles: int | None = option(None, low=1, help="So many candles.")
    age: int | None = option(None, low=0, help="Whose birthday it is.")
    nuts: bool = option(False, help="With nuts.")
    raisins: bool = option(False, help="With raisins.")

    def check(self) -> None:
        if self.icing and self.plain:
            raise InvalidParameter("A cake with icing is not plain.")
        if self.heat == 101 and self.minutes == 2:
            raise InvalidParameter("That is no cake.")
        if self.candles is not None and self.age is None:
            raise InvalidParameter("Candles are for birthdays.")
        if self.nuts:
            raise InvalidParameter(f"{named('nuts')} are out, like {named('raisins')}.")

    def run(self, work: Work) -> Outcome:
        return Outcome(document={})


def test_a_rule_is_found_however_it_is_worded_and_missed_in_the_help() -> None:
    found = Trial("bake", Bake).run().rules
    pairs = {("icing", "plain"), ("heat", "minutes"), ("candles", "age"), ("nuts", "raisins")}
    assert set(found) == {frozenset(pair) for pair in pairs}
    missed = {
        tuple(each.partition(": ")[0].removeprefix("bake, ").split(" and ")) for each in unsaid("bake", Bake, found)
    }
    assert missed == {("age", "candles"), ("nuts", "raisins")}


@pytest.mark.parametrize("name", list(verbs))
def test_options_that_must_fit_together_name_each_other_in_the_help(name: str) -> None:
    assert unsaid(name, verbs[name].method, tried(name).rules) == []


@pytest.mark.parametrize("name", list(verbs))
def test_every_value_that_is_tried_is_a_sound_one(name: str) -> None:
    # What is never taken would be refused with every other option, and so show no rule.
    trial = tried(name)
    tries = [(each, value) for each, values in trial.values.items() for value in values]
    defaults = [(key, each.default) for key, each in trial.options.items()]
    assert [each for each in tries if each not in trial.taken and each not in defaults] == []


#: The verbs whose options a module outside of `api/verbs` refuses.
ENGINES = {
    "crawler/archives": ("graph import",),
    "graphpriv/formats": ("graph import",),
    "tabular/evolution": ("table evolve",),
    "tabular/files/csv_tables.py": tuple(name for name in verbs if "delimiter" in options_of(verbs[name].method)),
    "tabular/lattice": ("table search",),
    "tabular/masking.py": ("table protect",),
    # What these refuse are parameters of methods.
    "graphpriv/protections": (),
    "tabular/protections": (),
    # Not a verb.
    "api/cli/service.py": (),
    "api/service/uploads/scanner.py": (),
    "graphpriv/store/addresses.py": (),
}


def refusals() -> Iterator[tuple[Path, int, set[str]]]:
    """Every refusal in the code that names several parameters: where it is, and what it names."""
    for path in (
        each for folder in ("api", "crawler", "graphpriv", "tabular") for each in (TOP / folder).rglob("*.py")
    ):
        tree = ast.parse(path.read_text())
        functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        # An old spelling is refused, not two options together.
        old = {each for function in functions if function.name == "refuse_old" for each in ast.walk(function)}
        for node in (each for each in ast.walk(tree) if isinstance(each, ast.Raise) and each not in old):
            names = _names_in(node)
            if len(names) > 1:
                yield path.relative_to(TOP), node.lineno, names


def _names_in(node: ast.AST) -> set[str]:
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) and each.args]
    named = [each for each in calls if ast.unparse(each.func).rpartition(".")[2] in ("named", "wrong")]
    return {each.args[0].value for each in named if isinstance(each.args[0], ast.Constant)}


def verbs_of(path: Path) -> list[str]:
    """The verbs that a module serves."""
    module = ".".join(path.with_suffix("").parts)
    own = [name for name in verbs if module in {each.__module__ for each in verbs[name].method.__mro__}]
    told = next((names for start, names in ENGINES.items() if path.as_posix().startswith(start)), None)
    assert own or told is not None, f"{path} refuses options together: say above of which verbs"
    return [*own, *(told or ())]


def test_a_refusal_that_names_two_options_is_in_the_help_though_only_the_inputs_show_it() -> None:
    found, missing = 0, []
    for path, line, names in refusals():
        for name in verbs_of(path):
            both = sorted(names & set(options_of(verbs[name].method)))
            rules = {frozenset(pair): f"{path}:{line}" for pair in combinations(both, 2)}
            found += len(rules)
            missing += unsaid(name, verbs[name].method, rules)
    assert missing == []
    assert found > 30


#: Sound values of parameters of methods that are texts, or have no bound.
PARAMETERS: Mapping[str, tuple[Any, ...]] = {
    "above": (3.0,),
    "below": (3.0,),
    "beside": ("age",),
    "clustering": ("ward",),
    "diagonal": ("0.5,0.7",),
    "epsilon": ("5,100",),
    "formula": ("N",),
    "groups": ("2",),
    "inner": ("rank-swapping",),
    "limit": ("location=country",),
    "matrix": (np.eye(2),),
    "weights": ("location=2",),
    "widths": ("5,10",),
    "window": (2,),
}

#: The same for one method; a name without a value is tried with its default alone.
OF_METHOD: Mapping[str, Mapping[str, tuple[Any, ...]]] = {"full-domain": {"levels": ("age=1",), "hierarchies": ()}}

METHODS = [
    (sort, entry.name)
    for sort, registry in REGISTRIES.items()
    for entry in registry.entries()
    if len(entry.parameters) > 1
]


def parameters_tried(sort: str, name: str) -> Iterator[tuple[tuple[str, Any], tuple[str, Any], dict[str, str]]]:
    """Each two values of two parameters of a method, with the help of the parameters."""
    entry = REGISTRIES[sort][name]
    told = {each.name: each.help for each in entry.parameters}
    values: dict[str, list[Any]] = {}
    for each in entry.parameters:
        tried = OF_METHOD.get(name, {}).get(each.name, PARAMETERS.get(each.name))
        if tried is None and each.choices is not None:
            tried = tuple(choices_of(each.choices))
        if tried is None and isinstance(each.default, bool):
            tried = (not each.default,)
        if tried is None and each.low is not None:
            tried = (each.low, each.high or each.low + 1)
        if tried is None and isinstance(each.default, int | float):
            tried = (each.default + 1,)
        assert tried is not None, f"{sort}, {name}: give {each.name} a value here, so that it is tried with the others"
        values[each.name] = [(each.name, value) for value in (each.default, *tried)]
    for one, other in combinations(values, 2):
        for first, second in product(values[one], values[other]):
            yield first, second, told


@pytest.mark.parametrize(("sort", "name"), METHODS)
def test_parameters_of_a_method_that_must_fit_together_name_each_other(sort: str, name: str) -> None:
    def takes(*given: tuple[str, Any]) -> bool:
        try:
            REGISTRIES[sort][name].method(**dict(given))
        except ReportedError:
            return False
        return True

    missing = set()
    for one, other, told in parameters_tried(sort, name):
        is_told = any(re.search(rf"\b{b}\b", told[a]) for a, b in ((one[0], other[0]), (other[0], one[0])))
        if not is_told and takes(one, other) != (takes(one) and takes(other)):
            missing.add((one[0], other[0]))
    assert missing == set()


#: Options that only the run refuses together, in a text that names one of them.
AT_RUN = (
    ("demo", {"users": 3, "k": 2, "follows": 99}, ("follows", "users")),
    ("graph import", {"file": "g.json", "graph": "h", "also": ["g.json"]}, ("also", "format")),
    ("graph import", {"file": "g.json", "graph": "h", "attributes": "t.csv"}, ("attributes", "format")),
    ("graph import", {"file": "g.json", "graph": "h", "places": "t.csv"}, ("places", "format")),
    ("microdata", {"name": "g", "out": "m.csv", "method": "mondrian"}, ("k", "method")),
    ("microdata", {"name": "g", "out": "m.csv", "method": "mondrian", "k": 2, "param": ["k=3"]}, ("k", "param")),
    (
        "table evolve",
        {"file": "t.csv", "columns": ["age"], "what": "formula", "population": "d", "out": "o.csv"},
        ("population", "what"),
    ),
    (
        "table protect",
        {"file": "t.csv", "columns": ["age"], "method": "mondrian", "frequencies": "f.csv", "out": "o.csv"},
        ("frequencies", "method"),
    ),
    (
        "table protect",
        {"file": "t.csv", "columns": ["age"], "method": "mondrian", "matrices_out": "m", "out": "o.csv"},
        ("matrices_out", "method"),
    ),
)


@pytest.mark.parametrize(("name", "options", "pair"), AT_RUN)
def test_what_only_the_run_refuses_is_in_the_help(
    name: str, options: dict[str, Any], pair: tuple[str, str], small: str, tmp_path: Path
) -> None:
    (tmp_path / "g.json").write_bytes(Path(small).read_bytes())
    (tmp_path / "t.csv").write_text("age\n" + "20\n21\n" * 20)
    (tmp_path / "d").mkdir()
    work = Work(store=f"file:{tmp_path / 'store.db'}", seed=1)
    perform(made(verbs["graph import"].method, {"file": "g.json", "graph": "g"}), work)
    verb = made(verbs[name].method, {**options, "kind": ["age=nominal"]} if "table" in name else options)
    verb.check()
    with pytest.raises(InvalidInput):
        perform(verb, work)
    assert is_said(type(verb), frozenset(pair))


def test_the_rules_of_all_outputs_are_in_the_help_of_the_command(graphpriv, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age\n" + "20\n21\n" * 20)
    protect = ("table", "protect", "t.csv", "--columns", "age", "--kind", "age=nominal", "--method", "pram", "--out")
    told = " ".join(graphpriv("--help").out.split())
    for given, why, said in (
        ((*protect, "t.csv", "--overwrite"), "a file that is read", "No output takes the place of an input,"),
        ((*protect, "o.csv", "--private", "o.csv"), "writes to this file, too", "of another output"),
        ((*protect, "o.csv", "--private", "graphpriv.db"), "this is the store", "or of the store."),
        (
            (*protect, "-", "--frequencies", "-"),
            "both write to standard output",
            "One of them may be -, standard output,",
        ),
        ((*protect, "-", "--json"), "both write to standard output", "and then without --json."),
        (("graph", "list", "--overwrite"), "has no effect without an output", "--overwrite needs an output."),
    ):
        ended = graphpriv(*given)
        assert ended.code == 2 and why in ended.err, given
        assert said in told
