import datetime
import io
import re
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, UnknownName
from tabular.files.schema import Description, Schema
from tabular.files.table_files import read_file, read_masked, write_table
from tabular.table import Table

DAY = datetime.datetime(2024, 1, 31, 1, 2, 3, 4)
COLUMNS = {
    "int32": pa.array([3, None, 1, 1], pa.int32()),
    "uint64": pa.array([2**64 - 1, 0, 5, 5], pa.uint64()),
    "float32": pa.array([1.5, None, 0.1, -0.0], pa.float32()),
    "float64": pa.array([0.0, -0.0, 1e300, 2]),
    "text": pa.array(["007", "=1+1", None, ""]),
    "large": pa.array(["x", "?", "NA", "x"], pa.large_string()),
    "bool": pa.array([True, False, None, True]),
    "date": pa.array([DAY.date(), None, datetime.date(1999, 1, 1), DAY.date()]),
    "second": pa.array([DAY.replace(microsecond=0), None, None, DAY.replace(microsecond=0)], pa.timestamp("s")),
    "nano": pa.array([DAY, None, None, DAY], pa.timestamp("ns")),
    "zone": pa.array([DAY, None, None, DAY], pa.timestamp("us", "Europe/Madrid")),
    "time": pa.array([DAY.time(), None, None, DAY.time()], pa.time64("us")),
    "decimal": pa.array([Decimal("1.50"), None, Decimal("12.00"), Decimal("1.50")]),
    "words": pa.array(["a", "b", None, "a"]).dictionary_encode(),
    "codes": pa.array([1, 2, None, 1], pa.int16()).dictionary_encode(),
    "null": pa.nulls(4),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("round") / "trip.parquet"


@pytest.mark.parametrize("name", COLUMNS)
def test_every_type_comes_back_as_it_was(file, name):
    pq.write_table(pa.table({name: COLUMNS[name]}), file)
    # Parquet itself keeps some types as others.
    before = pq.read_table(file)
    found = read_file(file)
    write_table(found.table, file, like=found, overwrite=True)
    after = pq.read_table(file)
    assert after.schema.equals(before.schema)
    assert repr(after[name].to_pylist()) == repr(before[name].to_pylist())


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
            st.one_of(st.none(), st.floats(allow_nan=False)),
            st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=4)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_values_come_back_as_they_were(file, rows):
    kinds = (pa.int64(), pa.float64(), pa.string())
    columns = dict(zip("ift", zip(*rows, strict=True), strict=True))
    before = pa.table({name: pa.array(cells, kind) for (name, cells), kind in zip(columns.items(), kinds, strict=True)})
    pq.write_table(before, file)
    found = read_file(file)
    write_table(found.table, file, like=found, overwrite=True)
    assert repr(pq.read_table(file).to_pydict()) == repr(before.to_pydict())


def test_not_a_number_is_a_missing_value(file):
    pq.write_table(pa.table({"a": [1.5, float("nan"), None]}), file)
    assert read_file(file).table.values("a") == [1.5, None, None]


def test_a_file_without_rows_has_columns_without_values(file):
    pq.write_table(pa.table({"town": pa.array([], pa.string()), "age": pa.array([], pa.int64())}), file)
    found = read_file(file).table
    assert len(found) == 0 and [each.domain for each in found.attributes] == [(), ()]


def test_kinds_are_those_of_the_types(file):
    pq.write_table(pa.table(COLUMNS), file)
    kinds = {each.name: each.kind for each in read_file(file).table.attributes}
    assert [kinds[name] for name in ("int32", "float32", "text", "bool", "date", "decimal", "null")] == [
        "ordinal",
        "continuous",
        "nominal",
        "nominal",
        "ordinal",
        "continuous",
        "nominal",
    ]


def test_a_schema_holds_for_parquet_too(file):
    pq.write_table(pa.table({"a": [1, 2, None], "b": ["low", "high", "low"]}), file)
    schema = Schema(
        attributes={
            "a": Description(kind="continuous", role="sensitive"),
            "b": Description(kind="ordinal", domain=("low", "high")),
        }
    )
    table = read_file(file, schema=schema).table
    assert (table.attribute("a").kind, table.attribute("a").role) == ("continuous", "sensitive")
    assert table.columns["b"].tolist() == [0, 1, 0]
    assert table.values("a") == [1, 2, None]
    with pytest.raises(InvalidInput, match=r"row 2: the cell of column 'b' is not in the domain\."):
        read_file(file, schema=Schema(attributes={"b": Description(kind="nominal", domain=("low",))}))


def test_labels_turn_a_column_of_numbers_into_text(file):
    original = Table.from_columns({"age": [30, 40, 50], "sex": ["f", "m", "f"]})
    pq.write_table(pa.table({"age": [30, 40, 50], "sex": ["f", "m", "f"]}), file)
    found = read_file(file)
    masked = found.table.masked({"age": ["[30,40]", "[30,40]", 50], "sex": ["f", "*", "f"]})
    write_table(masked, file, like=found, overwrite=True)
    assert pq.read_table(file).to_pydict() == {"age": ["[30,40]", "[30,40]", "50"], "sex": ["f", "*", "f"]}
    assert read_masked(file, original).to_columns() == masked.to_columns()


def test_a_mixed_domain_is_written_as_text(tmp_path):
    path = tmp_path / "x.parquet"
    table = Table.from_columns({"a": ["x", 1, None]}, [Attribute(name="a", domain=("x", 1))])
    write_table(table, path)
    assert pq.read_table(path).to_pydict() == {"a": ["x", "1", None]}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"a": [[1], [2]]}), "column 'a': a cell holds one plain value, not list"),
        (pa.table({"a": [{"x": 1}]}), "column 'a': a cell holds one plain value, not struct"),
        (pa.table({"a": [b"x"]}), "column 'a': a cell holds one plain value, not binary"),
        (pa.table([[1], [2]], names=["a", "a"]), "two columns are called 'a'"),
        (pa.table({}), "the file has no columns"),
    ],
)
def test_what_is_no_table_of_plain_values_is_refused(file, table, message):
    pq.write_table(table, file)
    with pytest.raises(InvalidInput, match=re.escape(message)):
        read_file(file)


@pytest.mark.parametrize("what", [b"column", b"a value"])
def test_a_name_or_a_cell_that_is_no_text_is_refused(tmp_path, what):
    into = io.BytesIO()
    table = pa.table({"column": ["a value"]})
    pq.write_table(table, into, compression="none", store_schema=False, write_statistics=False)
    (tmp_path / "t.parquet").write_bytes(into.getvalue().replace(what, b"\xff" * len(what)))
    with pytest.raises(InvalidInput):
        read_file(tmp_path / "t.parquet")


def test_a_cut_file_is_refused(file):
    pq.write_table(pa.table({"a": list(range(100))}), file)
    data = file.read_bytes()
    for size in (4, 20, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:size])
        with pytest.raises(InvalidInput, match="this Parquet file cannot be read"):
            read_file(file)


def test_a_misspelt_column_of_a_schema_is_named(file):
    pq.write_table(pa.table({"income": [1, 2], "b": [1, 2]}), file)
    with pytest.raises(UnknownName, match="did you mean 'income'"):
        read_file(file, schema=Schema(attributes={"incme": Description(), "b": Description()}))
