import json
import re
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import KINDS, ROLES
from tabular.errors import InvalidInput, ReportedError, UnknownName
from tabular.files.schema import Description, Schema, parse_schema, read_schema, schema_of, shipped_schemas
from tabular.files.table_files import read_file

WHOLE = """
title = "three"
columns = ["a", "b", "c"]
missing = ["?"]
delimiter = "semicolon"
header = false

[attributes.b]
kind = "ordinal"
role = "sensitive"
order = ["low", "high"]

[attributes.c]
values = [1, 2]
"""


def test_a_schema_says_what_columns_are_and_how_the_file_is_written():
    schema = parse_schema(WHOLE, "x.toml")
    assert schema.columns == ("a", "b", "c")
    assert (schema.options.missing, schema.options.delimiter, schema.options.header) == (("?",), ";", False)
    assert schema.attributes["b"] == Description(kind="ordinal", role="sensitive", domain=("low", "high"))
    assert schema.attributes["c"] == Description(kind="nominal", domain=(1, 2))


def test_a_schema_may_be_json_with_the_same_keys():
    document = tomllib.loads(WHOLE)
    assert parse_schema(json.dumps(document), "x") == parse_schema(WHOLE, "x") == schema_of(document, "x")
    with pytest.raises(InvalidInput, match=r"x: this is no JSON: Expecting"):
        parse_schema('{"a": ', "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "x: this is no TOML: Invalid value (at end of document)."),
        ("kolumns = []", "x: No key is called 'kolumns'; did you mean 'columns'?"),
        ("[attributes.a]\nkin = 'nominal'", "x, attributes.a: No key is called 'kin'; did you mean 'kind'?"),
        (
            "[attributes.a]\nkind = 'nominl'",
            "x, attributes.a.kind: No kind is called 'nominl'; did you mean 'nominal'?",
        ),
        ("[attributes.a]\nrole = 'quasi'", "x, attributes.a.role: No role is called 'quasi'; there is"),
        ("[attributes.a]\nrole = 'sensitiv'", "did you mean 'sensitive'?"),
        ("[attributes.a]\nrole = 3", "x, attributes.a, role: it must be a text."),
        ("[attributes.a]\norder = []", "x, attributes.a.order: it must list at least one value."),
        ("[attributes.a]\norder = ['x', 'x']", "x, attributes.a.order: 'x' appears twice."),
        ("[attributes.a]\norder = [1, '1']", "appears twice."),
        ("[attributes.a]\norder = [1, 1.0]", "appears twice."),
        ("[attributes.a]\norder = [[1]]", "a value is a text, a number or a date."),
        ("[attributes.a]\norder = [true]", "a value is a text, a number or a date."),
        ("[attributes.a]\norder = [nan]", "a value is a text, a number or a date."),
        (
            "[attributes.a]\nkind = 'nominal'\norder = ['x']",
            "only an ordinal attribute has an order; this one is nominal.",
        ),
        ("[attributes.a]\nkind = 'ordinal'\nvalues = ['x']", "so give its order."),
        ("[attributes.a]\norder = ['x']\nvalues = ['x']", "not both."),
        ("attributes = 3", "x, attributes: it must be a table [attributes.NAME]."),
        ("[attributes]\na = 3", "x, attributes.a: it must be a table with kind, role, order."),
        ("columns = ['a', 'a']", "x, columns: 'a' appears twice."),
        ("columns = [1]", "x, columns: each entry must be a text."),
        ("columns = ['age']\n[attributes.agee]", "x, attributes.agee: No column is called 'agee'; did you mean 'age'?"),
        ("delimiter = 'komma'", "x: delimiter must be one character or one of"),
        ("encoding = 'utf9'", "x: No encoding is called 'utf9'; did you mean 'utf-8'?"),
        ("missing = '?'", "x, missing: it must be a list of texts."),
        ("a = " + "[" * 5000, "x: this is"),
    ],
)
def test_what_a_schema_cannot_say_is_named_by_its_key(text, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        parse_schema(text, "x")


@given(
    st.dictionaries(
        st.sampled_from(["kind", "role", "order", "values", "title", "x"]),
        st.one_of(
            st.none(),
            st.sampled_from([*KINDS, *ROLES, "", "x"]),
            st.integers(),
            st.lists(st.sampled_from(["a", "b", 1, 2.5]), max_size=3),
        ),
    )
)
def test_any_entry_is_a_description_or_an_error(entry):
    lines = [f"{key} = {value!r}" for key, value in entry.items() if value is not None]
    try:
        schema = parse_schema("\n".join(["[attributes.a]", *lines]), "x")
    except ReportedError:
        return
    known = schema.attributes["a"]
    assert known.kind in (None, *KINDS)
    assert known.role in (None, *ROLES)


def test_shipped_schemas_are_found_by_their_names(tmp_path):
    assert {"adult", "german-credit", "solar-flare"} <= set(shipped_schemas())
    for name in shipped_schemas():
        assert read_schema(name).attributes
    with pytest.raises(UnknownName, match="did you mean 'german-credit'"):
        read_schema("german-credt")
    path = tmp_path / "own.toml"
    path.write_text(WHOLE)
    assert read_schema(path).title == "three"
    with pytest.raises(InvalidInput, match=r"nothing\.toml: No such file"):
        read_schema(tmp_path / "nothing.toml")


def test_the_orders_of_the_thesis_ship():
    german = read_schema("german-credit").attributes
    assert {name for name, known in german.items() if known.kind == "ordinal"} == {"EXISTACC", "SAVINGS", "PRESEMPLOY"}
    assert german["SAVINGS"].domain == ("A61", "A62", "A63", "A64", "A65")
    assert {known.kind for known in read_schema("solar-flare").attributes.values()} == {"nominal"}
    education = read_schema("adult").attributes["education"].domain
    assert (education[0], education[-1], len(education)) == ("Preschool", "Doctorate", 16)


@pytest.mark.shared_data
def test_the_order_of_education_is_that_of_its_number(shared_folder):
    table = read_file(shared_folder / "adult" / "adult.data", schema=read_schema("adult")).table
    pairs = set(zip(table.values("education-num"), table.columns["education"].tolist(), strict=True))
    assert sorted(pairs) == [(number, number - 1) for number in range(1, 17)]


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("schema", "file", "rows"),
    [
        ("german-credit", "german_credit/german.data", 1000),
        ("solar-flare", "solar_flare/flare.data1", 323),
        ("solar-flare", "solar_flare/flare.data2", 1066),
        ("adult", "adult/adult.data", 32561),
        ("adult", "adult/adult.test", 16281),
        ("adult", "adult/arx/adult.csv", 30162),
        ("census", "sdc_census/census.csv", 1080),
        ("tarragona", "sdc_tarragona/tarragona.csv", 834),
    ],
)
def test_shipped_schemas_fit_their_files(shared_folder, schema, file, rows):
    known = read_schema(schema)
    found = read_file(shared_folder / file, schema=known)
    assert len(found.table) == rows
    assert set(found.table.names) <= set(known.attributes)
    for attribute in found.table.attributes:
        assert attribute.kind == known.attributes[attribute.name].kind
        assert attribute.role == known.attributes[attribute.name].role


def test_a_table_may_lack_columns_but_not_have_them_misspelt():
    schema = Schema(source="s", attributes={"age": Description(), "name": Description(role="identifier")})
    assert schema.fitting(["age", "sex"], "f") == ("name",)
    with pytest.raises(UnknownName, match=r"s, attributes\.age: f has no such column; did you mean 'Age'\?"):
        schema.fitting(["Age", "name"], "f")
    with pytest.raises(InvalidInput, match="s: none of its attributes is a column of f, which has x, y"):
        schema.fitting(["x", "y"], "f")


def test_a_role_is_given_to_a_column_there_is():
    schema = Schema().with_roles({"age": "sensitive"})
    assert schema.attributes["age"].role == "sensitive"
    assert schema.fitting(["age", "sex"], "f") == ()
    with pytest.raises(UnknownName, match="f: No column is called 'age'; did you mean 'ages'"):
        schema.fitting(["ages"], "f")
    with pytest.raises(UnknownName, match="did you mean 'sensitive'"):
        schema.with_roles({"age": "sensitve"})
    kept = replace(schema, attributes={"age": Description(kind="nominal", title="t")}).with_roles({"age": "identifier"})
    assert kept.attributes["age"] == Description(kind="nominal", title="t", role="identifier")


@pytest.mark.parametrize(
    "text",
    [
        f"title = {'9' * 4301}",
        f'{{"title": {"9" * 4301}}}',
        f"[attributes.a]\nkind = 'ordinal'\norder = [1, {'9' * 4301}]",
        # Python reads these two, and cannot write them down or compute with them.
        f"[attributes.a]\nkind = 'ordinal'\norder = [1, 0x{'f' * 4300}]",
        f"[attributes.a]\nkind = 'continuous'\nbounds = [0, {'9' * 400}]",
    ],
)
def test_a_number_of_thousands_of_digits_is_bad_input(text):
    with pytest.raises(InvalidInput, match=r"^s\.toml: a number has more than 300 digits"):
        parse_schema(text, "s.toml")
