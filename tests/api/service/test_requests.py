"""Requests: JSON options in which names stand for paths."""

from __future__ import annotations

import pytest

from api.service.access import UnknownThing
from api.service.accounts import Account
from api.service.files import Stored
from api.service.requests import Requests, WrongOptions
from api.verbs import verbs
from tabular.errors import InvalidInput, InvalidParameter
from tests.api.http.test_schema import Everything

CUSTODIAN = Account("0", "ann", "custodian", "")


class Files:
    """Tables and uploads, which a job knows by their names and ids."""

    def table(self, name, account):
        if name == "hidden":
            raise UnknownThing.called("table", name)
        return Stored(name, "original")

    def hierarchies(self, table, account):
        return Stored(f"{table}.levels", "original")

    def schema(self, table, account):
        return Stored(f"schema:{table}", "original") if table == "described.csv" else None

    def upload(self, upload, account):
        return Stored(f"upload-{upload}", "original")

    def uploads(self, uploads, account):
        return Stored("folder", "original")


def read(verb, /, **body):
    return Requests(Everything(), Files()).read(verb, verbs[verb].method, body, CUSTODIAN)


def test_references_become_the_names_that_a_job_knows():
    asked = read("table search", file="adult.csv", quasi_identifiers=["age"], k=2.0, seed=7.0)
    assert asked.options == {
        "file": "adult.csv", "quasi_identifiers": ["age"], "k": 2.0, "hierarchies": "adult.csv.levels",
    }  # fmt: skip
    assert (asked.verb.k, asked.seed) == (2, 7)
    uploaded = read(
        "table search",
        file={"upload": "a1"},
        hierarchies={"uploads": {"age.csv": "b2"}},
        quasi_identifiers=["age"],
        k=2,
    )
    assert (uploaded.options["file"], uploaded.options["hierarchies"]) == ("upload-a1", "folder")
    assert [each.kind for each in uploaded.things] == ["original", "original"]


@pytest.mark.parametrize(
    "options",
    [
        {"by": "csv", "param": ["file=/etc/passwd"]},
        {"by": "csv", "param": ["file=../secret.csv"]},
        {"by": "places", "param": ["file=/etc/passwd"]},
        {"by": "csv", "param": ["file=-"]},
    ],
)
def test_a_path_that_hides_in_a_parameter_is_refused(options):
    with pytest.raises(InvalidInput, match="No option is a path"):
        read("table hierarchy", file="t.csv", column="a", out="h.csv", **options)


@pytest.mark.parametrize("text", ["hierarchies=/etc", "matrix=/etc", "matrix=a/b"])
def test_so_is_one_among_the_parameters_of_a_method(text):
    method = "full-domain" if text.startswith("hier") else "pram"
    param = [text, "levels=a=1"] if text.startswith("hier") else [text]
    with pytest.raises(InvalidInput):
        read("table protect", file="t.csv", columns=["a"], method=method, param=param, out="o.csv")


def test_an_unknown_method_or_column_kind_is_no_unknown_thing():
    with pytest.raises(InvalidParameter, match="did you mean"):
        read("table protect", file="t.csv", columns=["a"], method="mondriann", out="o.csv")


def test_all_wrong_options_are_named():
    with pytest.raises(WrongOptions) as told:
        read("protect", name=1, k="x", nonsense=2)
    assert set(told.value.errors) == {"name", "k", "nonsense", "into"}


def test_what_only_a_job_can_read_is_left_to_it():
    # The schema that was uploaded lies where the job runs.
    assert read("table describe", file="t.csv", schema={"upload": "a1"}).options["schema"] == "upload-a1"
    assert read("table describe", file="t.csv", schema="adult").options["schema"] == "adult"
    with pytest.raises(WrongOptions):
        read("table describe", file="t.csv", schema="schema.toml")


def test_the_schema_of_a_table_is_taken_where_none_is_given():
    asked = read("table describe", file="described.csv")
    assert (asked.options["schema"], list(asked.verb.reads())) == (
        "schema:described.csv",
        ["described.csv", "schema:described.csv"],
    )
    assert read("table describe", file="described.csv", schema="adult").options["schema"] == "adult"
    assert read("table describe", file="described.csv", schema={"upload": "a1"}).options["schema"] == "upload-a1"
    for file in ("t.csv", {"upload": "a1"}):
        assert read("table describe", file=file, schema=None).verb.schema is None
    measured = {"original": "described.csv", "masked": "t.csv", "columns": ["a"]}
    assert read("table measure", **measured).options["schema"] == "schema:described.csv"


def test_what_is_wrong_beside_the_schema_of_a_table_is_refused_at_once():
    with pytest.raises(InvalidParameter):
        read("table protect", file="described.csv", columns=["a"], method="mondrian", param=["k=x"], out="o.csv")
    with pytest.raises(InvalidParameter):
        read("table describe", file="described.csv", role=["a=quasi"])


def test_a_table_in_a_parameter_is_looked_up_like_any_other():
    options = {"file": "t.csv", "column": "a", "out": "h.csv", "by": "csv"}
    assert [each.name for each in read("table hierarchy", **options, param=["file=levels.csv"]).things] == [
        "t.csv",
        "levels.csv",
    ]
    with pytest.raises(UnknownThing):
        read("table hierarchy", **options, param=["file=hidden"])
