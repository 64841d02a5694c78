"""The JSON Schema of every verb, and that it says what is taken: no more and no less."""

from __future__ import annotations

import json
import math

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from api.http.schema import is_resource, schema_of, verb_schemas
from api.service.accounts import Account
from api.service.files import Stored
from api.service.requests import NAME_IN, Requests, is_plain_name, offered
from api.verbs import verbs
from api.verbs.contract import Verb
from tabular.errors import ReportedError

jsonschema = pytest.importorskip("jsonschema")

NAMES = [name for name in verbs if not is_resource(name)]
CUSTODIAN = Account("0", "custodian", "custodian", "")


class Everything:
    """Graphs, tables and uploads of any name."""

    stored = "g"
    kind = "original"

    def find(self, text, role, action, *, kinds=()):
        self.name = text
        return self

    def place_for(self, text, kind):
        return text

    def table(self, name, account):
        return Stored("table", "original")

    def upload(self, upload, account):
        return Stored("upload", "original")

    hierarchies, schema, uploads = table, table, upload


SERVICE = Requests(Everything(), Everything())


def is_taken(name, body, monkeypatch):
    """Whether the service takes a body, as far as each option for itself goes."""
    method = verbs[name].method
    with monkeypatch.context() as patched:
        # How options go together is for the check; the schema is about each of them.
        for kind in method.__mro__:
            if issubclass(kind, Verb) and "check" in vars(kind):
                patched.setattr(kind, "check", lambda self: None)
        patched.setattr("api.service.requests._refuse_paths", lambda verb: None)
        patched.setattr("api.service.requests._Reading.look_up_others", lambda self, verb: None)
        try:
            SERVICE.read(name, method, body, CUSTODIAN)
        except ReportedError:
            return False
        return True


def allows(name, body):
    return jsonschema.Draft202012Validator(schema_of(name, verbs[name].method)).is_valid(body)


TEXTS = st.text(max_size=8) | st.sampled_from(
    ["a.csv", "-", "../x", "/etc/passwd", "a\n", "a\0b", "adult", ".x", "", "g"]
)
# What is no number of JSON does not come as far as this.
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.integers() | FLOATS | st.sampled_from([5.0, 2, 1e300, 2**53, 2**53 - 1, 2**128, -1, 0])
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS, inner, max_size=2)
        | st.fixed_dictionaries({"upload": inner})
        | st.fixed_dictionaries({"uploads": st.dictionaries(TEXTS, inner, max_size=2)})
    ),
    max_leaves=4,
)


def fitting(option):
    """Values that the schema of an option allows or nearly allows."""
    choices = [TEXTS, NUMBERS, st.booleans(), st.none(), ANYTHING, st.lists(TEXTS, max_size=3)]
    for low_or_high in ("low", "high"):
        if option.metadata[low_or_high] is not None:
            edge = option.metadata[low_or_high]
            choices.append(st.sampled_from([edge, edge - 1, edge + 1, float(edge)]))
    named = option.metadata["choices"]
    if named is not None:
        choices.append(st.sampled_from(list(named() if callable(named) else named)))
    if option.metadata.get("shipped"):
        choices.append(st.sampled_from(list(option.metadata["shipped"]())))
    choices.append(st.sampled_from([{"upload": "a1"}, {"upload": ""}, {"uploads": {"age.csv": "a1"}}, {"uploads": {}}]))
    return st.one_of(choices)


def bodies(name):
    method = verbs[name].method
    options = {each: fitting(option) for each, option in offered(method).items()}
    sensible = {
        each: st.just({"int": 3, "tuple[str, ...]": ["a"]}.get(str(option.type), "a.csv"))
        for each, option in offered(method).items()
        if each in schema_of(name, method)["required"]
    }
    extra = {
        "seed": NUMBERS | st.none(),
        "nonsense": ANYTHING,
        "private": TEXTS,
        "store": TEXTS,
        "overwrite": st.booleans(),
    }
    optional = {each: strategy for each, strategy in options.items() if each not in sensible}
    if name == "audit":
        optional["files"] = st.booleans()
    one_wrong = st.sampled_from(sorted({**options, **extra})).flatmap(
        lambda chosen: st.fixed_dictionaries({**sensible, chosen: {**options, **extra}[chosen]})
    )
    return one_wrong | st.fixed_dictionaries(sensible, optional=optional) | st.dictionaries(TEXTS, ANYTHING, max_size=2)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_schema_allows_is_taken_and_the_reverse(name, monkeypatch):
    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(bodies(name))
    def compare(body):
        assert allows(name, body) == is_taken(name, body, monkeypatch), body

    compare()


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_one_and_shows_no_option_of_the_command_line_alone(name):
    schema = schema_of(name, verbs[name].method)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert not {"store", "json", "overwrite", "private", "plan", "home"} & set(schema["properties"])
    assert ("seed" in schema["properties"]) == verbs[name].method.draws
    json.dumps(schema, allow_nan=False)


def test_whole_numbers_may_have_a_point_and_truth_is_no_number(monkeypatch):
    body = {"name": "g", "into": "r"}
    for k, fits in ((5, True), (5.0, True), (5.5, False), (True, False), ("5", False), (math.nan, False), (1, False)):
        assert allows("protect", {**body, "k": k}) == fits == is_taken("protect", {**body, "k": k}, monkeypatch), k


UPLOAD, LEVELS = {"upload": "a1"}, {"uploads": {"age.csv": "a1"}}


@pytest.mark.parametrize(
    ("name", "body", "fits"),
    [
        ("table search", {"file": "adult"}, True),
        ("table search", {"file": "adult", "hierarchies": None}, True),
        ("table search", {"file": "adult", "hierarchies": "other"}, True),
        ("table search", {"file": UPLOAD}, False),
        ("table search", {"file": UPLOAD, "hierarchies": LEVELS}, True),
        ("table search", {"file": {"upload": "../a"}, "hierarchies": LEVELS}, False),
        ("table search", {"file": {"path": "a"}, "hierarchies": LEVELS}, False),
        ("table compare", {"file": "adult"}, True),
        ("table compare", {"file": UPLOAD}, True),
        ("table compare", {"file": UPLOAD, "hierarchies": LEVELS}, True),
        ("audit", {"original": "g", "released": "r"}, True),
        ("audit", {"original": UPLOAD, "released": UPLOAD, "files": True}, True),
        ("audit", {"original": UPLOAD, "released": "r", "files": True}, False),
        ("audit", {"original": UPLOAD, "released": UPLOAD}, False),
        ("audit", {"original": "g", "released": "r", "files": True}, False),
        ("table describe", {"file": "t", "schema": "adult"}, True),
        ("table describe", {"file": "t", "schema": "nonsense"}, False),
        ("table describe", {"file": "t", "schema": UPLOAD}, True),
    ],
)
def test_files_are_uploads_or_names(name, body, fits, monkeypatch):
    body = {**body, **({"quasi_identifiers": ["age"]} if name == "table search" else {})}
    body = {**body, **({"columns": ["age"]} if name == "table compare" else {})}
    assert allows(name, body) == fits
    assert is_taken(name, body, monkeypatch) == fits


def test_the_list_names_the_path_of_every_verb():
    listed = {each["name"]: each for each in verb_schemas()}
    assert {name for name, each in listed.items() if each["path"]} == set(NAMES)
    assert set(listed) == set(verbs)
    assert listed["table search"]["path"] == "/v1/table/search"
    assert listed["protect"]["summary"] == verbs["protect"].summary


@pytest.mark.parametrize("text", ["a.csv", "A b_c-1.CSV", "..", "a/b", "a\\b", "-a", ".a", "", "a\n", "\0", "x" * 101])
def test_plain_names_are_those_of_the_pattern(text):
    assert is_plain_name(text) == jsonschema.Draft202012Validator({"pattern": NAME_IN}).is_valid(text)
