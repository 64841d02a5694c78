from __future__ import annotations

import json

import numpy as np
import pytest

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.masking import Masking, read_parameters
from tabular.matrices.transition import retaining, write_matrix
from tabular.measures import summary
from tabular.protections import protect
from tabular.release import drawn_order
from tabular.table import Table


def shirts():
    rng = np.random.default_rng(3)
    columns = {
        "name": [f"Ann {row}" for row in range(60)],
        "size": rng.choice(["M", "S", "XL"], 60).tolist(),
        "colour": rng.choice(["blue", "red", "white"], 60).tolist(),
        "price": rng.integers(1, 9, 60).tolist(),
    }
    return Table.from_columns(columns, [Attribute(name="name", role="identifier")])


def run(table=None, seed=1, **asked):
    asked = {"columns": ("size", "colour"), **asked}
    return Masking(**asked).run(table or shirts(), rng=np.random.default_rng(seed))


def test_the_table_is_the_one_that_the_method_gives_and_it_is_measured():
    table = shirts()
    found = run(table, method="rank-swapping", parameters={"percent": 20.0})
    masked = protect(table, "rank-swapping", ("size", "colour"), rng=np.random.default_rng(1), percent=20.0)
    assert found.table.to_columns() == found.released.to_columns() == masked.to_columns()
    assert found.findings["information_loss"] == summary(table, masked, ("size", "colour")).information_loss
    assert (found.method, found.parameters) == ("rank-swapping", {"percent": 20.0})
    assert (found.findings["promises_k"], found.order, found.matrix_measures) == (False, None, None)
    assert tuple(found.to_frame().columns) == ("size", "colour", "price")
    json.dumps(found.findings, allow_nan=False)


def test_the_order_is_drawn_last():
    drawn = run(method="pram", shuffle=True)
    assert drawn.table.to_columns() == run(method="pram").table.to_columns()
    assert drawn.released.to_columns() == drawn.table.rows(drawn.order).to_columns()
    assert sorted(drawn.order.tolist()) == list(range(60))
    plain = run(method="microaggregation", shuffle=True, measure=False)
    # A method that draws nothing leaves the whole stream to the order.
    assert plain.order.tolist() == drawn_order(np.random.default_rng(1), 60).tolist()


def test_pram_gives_its_matrices_what_they_do_and_the_corrected_frequencies():
    table = shirts()
    found = run(table, method="pram", parameters={"retain": 0.7}, frequencies=True, matrices=True)
    counts = np.bincount(table.columns["size"])
    assert np.array_equal(found.matrices["size"], retaining(counts, 0.7))
    assert [each.attribute.name for each in found.frequencies] == ["size", "colour"]
    measured = found.matrix_measures
    assert measured["expectation_ratios"]["size"]["categories"] == ["M", "S", "XL"]
    assert [pair["columns"] for pair in measured["pairs"]] == [["size", "colour"]]
    # What goes out with the release says nothing of the matrices.
    assert "matrix_measures" not in found.findings
    assert run(table, method="pram", measure=False).matrix_measures is None


def test_a_promise_of_k_is_counted_again():
    found = run(method="mondrian", parameters={"k": 5}, measure=False)
    assert found.findings.keys() == {"promises_k", "k", "suppressed", "exact_values"}
    assert found.findings["promises_k"]
    assert found.findings["k"] >= 5


def test_files_are_read_where_a_parameter_names_them(tmp_path):
    table = shirts()
    matrix = retaining(np.bincount(table.columns["size"]), 0.6)
    write_matrix(tmp_path / "size.csv", table.attribute("size"), matrix)
    read = read_parameters({"matrix": str(tmp_path), "invariant": False}, table, ["size"])
    assert read["invariant"] is False
    assert np.array_equal(read["matrix"]["size"], matrix)
    assert read_parameters(read, table, ["size"])["matrix"] is read["matrix"]
    found = run(table, method="pram", columns=("size",), parameters=read)
    # What is said of the release does not tell the matrix.
    assert found.parameters == {"invariant": False, "matrix": "given"}


def test_what_cannot_be_done_is_refused():
    with pytest.raises(InvalidParameter, match="'name' is an identifier"):
        run(method="pram", columns=("name",))
    for name in ("matrices", "frequencies"):
        with pytest.raises(InvalidParameter, match="mondrian has no matrices") as refused:
            run(method="mondrian", **{name: True})
        assert refused.value.parameter == "matrices_out"
    with pytest.raises(UnknownName, match="did you mean 'theta'"):
        run(method="pram", parameters={"thet": 0.5})
    unsaid = Table.from_columns({"id": [f"u{row}" for row in range(30)], "size": ["S", "M", "L"] * 10})
    with pytest.raises(InvalidInput, match="all its values are distinct"):
        run(unsaid, method="pram", columns=("size",))
