"""What all protections of a table promise, over the registry: a method entered there is held to it without more ado."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.reference import REGISTRIES, method_lists
from tabular.attributes import CONTINUOUS, KINDS, Attribute
from tabular.errors import InvalidInput, InvalidParameter, NoSolution, UnknownName
from tabular.protections import protect, protections
from tabular.table import Table, equivalence_classes
from tests.strategies import seeds

NAMES = tuple(protections)
every_protection = pytest.mark.parametrize("name", NAMES)
every_kind = pytest.mark.parametrize("kind", KINDS)

#: What a method needs so that it does something on a table of a few rows.
ON_FEW_ROWS = {"rank-swapping": {"percent": 40}, "pram": {"retain": 0.5}}


def takes_k(name):
    return "k" in [parameter.name for parameter in protections[name].parameters]


def joins_categories(name):
    return "count" in [parameter.name for parameter in protections[name].parameters]


def parameters_of(name, k):
    return {**ON_FEW_ROWS.get(name, {}), **({"k": k} if takes_k(name) else {})}


@st.composite
def columns_of(draw, kind, rows, least=3):
    """Cells of one column and what it is: ties, missing values, values that do not occur, one value for all."""
    size = draw(st.integers(least, 6))
    domain = (
        tuple(1.5 * code for code in range(size)) if kind == CONTINUOUS else tuple(f"v{code}" for code in range(size))
    )
    some = draw(st.lists(st.sampled_from(domain), min_size=1, max_size=size))
    cells = st.sampled_from((*some, None) if draw(st.booleans()) else some)
    return draw(st.lists(cells, min_size=rows, max_size=rows)), (() if kind == CONTINUOUS else domain)


@st.composite
def tables(draw, kinds, *, least=3, max_rows=14):
    """Two or three columns of some of the *kinds*, and one more that is not protected."""
    rows = draw(st.integers(4, max_rows))
    columns, attributes = {}, []
    for number in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(kinds))
        columns[f"column {number}"], domain = draw(columns_of(kind, rows, least))
        attributes.append(Attribute(name=f"column {number}", kind=kind, domain=domain))
    columns["other"] = [f"row {row}" for row in range(rows)]
    return Table.from_columns(columns, attributes)


def protected_columns(table):
    return [name for name in table.names if name != "other"]


def too_few_to_join(name, table):
    return joins_categories(name) and min(len(table.attribute(each).domain) for each in protected_columns(table)) < 3


def bytes_of(table):
    return [(each, table.columns[each.name].tobytes(), table.sets[each.name]) for each in table.attributes]


def is_any_value(table, name):
    """For each row whether its cell says nothing at all, as in a record that is suppressed."""
    size = len(table.attribute(name).domain)
    whole = [size + place for place, members in enumerate(table.sets[name]) if len(members) == size]
    return np.isin(table.columns[name], whole) | (size == 1)


def check_promises(name, table, masked, attributes, parameters):
    method = protections[name].method
    assert masked.names == table.names
    assert len(masked) == len(table)
    for each in table.attributes:
        other = masked.attribute(each.name)
        if each.name not in attributes:
            assert other == each
            assert masked.columns[each.name].tolist() == table.columns[each.name].tolist()
        elif each.kind == CONTINUOUS:
            assert set(other.domain) >= set(each.domain)
        else:
            assert other == each
        if each.name in attributes and method.keeps_frequencies:
            assert sorted(masked.columns[each.name].tolist()) == sorted(table.columns[each.name].tolist())
    groups = method(**parameters).k_holds_over(attributes)
    assert bool(groups) == method.promises_k
    for group in groups:
        assert set(group) <= set(attributes)
        classes = equivalence_classes([masked.columns[each] for each in group])
        small = classes.sizes[classes.labels] < parameters["k"]
        assert np.all([is_any_value(masked, each)[small] for each in group])


@every_protection
@every_kind
@settings(max_examples=25, deadline=None)
@given(data=st.data(), seed=seeds)
def test_promises_hold_for_each_kind_and_k(name, kind, data, seed):
    table = data.draw(tables([kind]))
    attributes = protected_columns(table)
    k = data.draw(st.sampled_from([2, 3, 5, len(table) // 2]))
    parameters = parameters_of(name, k)
    before = bytes_of(table)
    if kind not in protections[name].method.kinds:
        with pytest.raises(InvalidInput, match=f"Column 'column 0' is {kind}, and {name} takes .* columns only: "):
            protect(table, name, attributes, rng=np.random.default_rng(seed), **parameters)
        return
    if takes_k(name) and k > len(table):
        with pytest.raises(NoSolution, match=f"No release with k={k} exists: the table has {len(table)} records"):
            protect(table, name, attributes, rng=np.random.default_rng(seed), **parameters)
        return
    if too_few_to_join(name, table):
        return
    masked = protect(table, name, attributes, rng=np.random.default_rng(seed), **parameters)
    check_promises(name, table, masked, attributes, parameters)
    assert bytes_of(table) == before
    again = protect(table, name, attributes, rng=np.random.default_rng(seed), **parameters)
    assert bytes_of(again) == bytes_of(masked)


@every_protection
@settings(max_examples=25, deadline=None)
@given(data=st.data(), seed=seeds)
def test_promises_hold_for_columns_of_several_kinds(name, data, seed):
    table = data.draw(tables(protections[name].method.kinds))
    if too_few_to_join(name, table):
        return
    attributes = data.draw(st.permutations(protected_columns(table)))
    parameters = parameters_of(name, 2)
    masked = protect(table, name, attributes, rng=np.random.default_rng(seed), **parameters)
    check_promises(name, table, masked, attributes, parameters)


@every_protection
@settings(max_examples=10, deadline=None)
@given(data=st.data(), seed=seeds)
def test_domains_of_one_or_two_values_stay_or_are_told(name, data, seed):
    table = data.draw(tables(protections[name].method.kinds, least=1))
    attributes, parameters = protected_columns(table), parameters_of(name, 2)
    if too_few_to_join(name, table):
        with pytest.raises(InvalidParameter, match="joining two would leave nothing to tell apart"):
            protect(table, name, attributes, rng=np.random.default_rng(seed), **parameters)
        return
    masked = protect(table, name, attributes, rng=np.random.default_rng(seed), **parameters)
    check_promises(name, table, masked, attributes, parameters)


@every_protection
def test_promises_hold_for_many_rows_and_defaults(name):
    rng = np.random.default_rng(12)
    kinds = protections[name].method.kinds
    attributes = [Attribute(name=f"column {number}", kind=kinds[number % len(kinds)]) for number in range(4)]
    numbers = {each.name: rng.integers(0, 9, 400) for each in attributes}
    table = Table.from_columns(numbers, attributes)
    names = list(table.names[:3])
    defaults = {"k": protections[name].method().k} if takes_k(name) else {}
    masked = protect(table, name, names, rng=np.random.default_rng(5))
    check_promises(name, table, masked, names, defaults)
    assert bytes_of(protect(table, name, names, rng=np.random.default_rng(5))) == bytes_of(masked)


@every_protection
def test_wrong_parameters_are_refused(name):
    table = Table.from_columns({"x": [1, 2, 3] * 4}, [Attribute(name="x", kind=protections[name].method.kinds[0])])
    with pytest.raises(UnknownName, match=f"No parameter of {name} is called 'colour'"):
        protect(table, name, ["x"], rng=np.random.default_rng(1), colour=1)
    for parameter in protections[name].parameters:
        wrong = []
        if parameter.low is not None:
            wrong.append(parameter.low - 1)
        if parameter.high is not None:
            wrong.append(parameter.high + 1)
        if parameter.choices is not None:
            wrong.append("no such choice")
        if isinstance(parameter.default, bool):
            wrong.append("perhaps")
        elif isinstance(parameter.default, int):
            wrong.append(parameter.default + 0.5)
        for value in wrong:
            with pytest.raises(InvalidParameter, match=f": {parameter.name} must be "):
                protect(table, name, ["x"], rng=np.random.default_rng(1), **{parameter.name: value})


@every_protection
def test_it_is_listed_with_its_kinds_source_and_limits(name):
    entry = protections[name]
    assert REGISTRIES["Table protections"] is protections
    assert name in [listed["name"] for listed in method_lists()["Table protections"]]
    assert entry.summary.endswith(".")
    assert entry.cites
    assert entry.limits
    assert set(entry.method.kinds) <= set(KINDS)
    assert takes_k(name) or not entry.method.promises_k
    # Whoever reads the list learns there that k does not hold.
    assert entry.method.promises_k or "promises no k" in entry.limits
    assert all(parameter.help for parameter in entry.parameters)


def test_the_protections_of_the_thesis_are_there():
    perturbing = {"pram", "microaggregation", "mondrian", "global-median", "rank-swapping", "clustered"}
    assert set(NAMES) >= perturbing | {"global-recoding", "top-coding", "bottom-coding"}
