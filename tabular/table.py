"""The table: columns of codes and their attributes; the equivalence classes of its rows, and the k they may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import (
    CONTINUOUS,
    NOMINAL,
    ORDINAL,
    Attribute,
    LabelReader,
    Members,
    Value,
    canonical,
    inferred,
    is_number,
    plain_values,
    resolved,
    text_of,
    widened,
    words_of,
)
from tabular.errors import InvalidInput, InvalidParameter, NoSolution, UnknownName, named
from tabular.intervals import Span, Spans
from tabular.loop import key_of

if TYPE_CHECKING:
    from pandas import DataFrame
    from pandas.api.extensions import ExtensionArray

#: With up to so many possible keys a row, marking those that occur is quicker than sorting.
_MARKED = 16
#: So many rows of a table a notebook shows.
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as codes: a code below the size of its column's domain is a value, the codes from there on are sets.

    Only a masked table has sets. Nothing changes a table; what masks it returns a new one with the same domains.
    """

    attributes: tuple[Attribute, ...]
    columns: Mapping[str, NDArray[np.int32]]
    sets: Mapping[str, Sequence[Members]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.attributes]
        if len(set(names)) < len(names) or set(names) != set(self.columns):
            raise InvalidInput("A table has one column for each attribute, and no name twice.")
        columns, sets = {}, {}
        for attribute in self.attributes:
            name = attribute.name
            codes, kept = _checked(attribute, self.columns[name], self.sets.get(name, ()))
            codes.flags.writeable = False
            columns[name], sets[name] = codes, kept
        if len({len(codes) for codes in columns.values()}) > 1:
            lengths = ", ".join(f"{name} {len(codes)}" for name, codes in columns.items())
            raise InvalidInput(f"All columns have the same number of rows; here they have: {lengths}.")
        object.__setattr__(self, "columns", MappingProxyType(columns))
        object.__setattr__(self, "sets", MappingProxyType(sets))

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Iterable[Any]], attributes: Iterable[Attribute] | Mapping[str, Attribute] = ()
    ) -> Table:
        """The table of plain columns; an attribute that is not described is inferred from its values.

        >>> table = Table.from_columns({"colour": ["red", None, "blue"], "size": [3, 1, 3]})
        >>> table.attribute("colour").domain, table.columns["size"].tolist()
        (('blue', 'red', None), [1, 0, 1])
        """
        described = _by_name(attributes)
        for name in described:
            if name not in columns:
                raise UnknownName.among("column", name, columns)
        values = {name: plain_values(column, f"Column {name!r}") for name, column in columns.items()}
        found = tuple(
            resolved(described.get(name) or inferred(name, column), column) for name, column in values.items()
        )
        return cls(found, {each.name: _encoded(each, values[each.name]) for each in found})

    @classmethod
    def from_frame(
        cls,
        frame: DataFrame,
        attributes: Iterable[Attribute] | Mapping[str, Attribute] = (),
        *,
        roles: Mapping[str, str] = MappingProxyType({}),
    ) -> Table:
        """The table of a pandas data frame; its index is left out.

        An ordered category is ordinal, with its categories as the domain; any other category is nominal. Dates are
        ordinal. *attributes* describe columns otherwise, and *roles* only name their roles.
        """
        columns = columns_of(frame)
        table = cls.from_columns(columns, {**_attributes_of(frame), **_by_name(attributes)})
        for name in roles:
            table.attribute(name)
        described = (replace(each, role=roles.get(each.name, each.role)) for each in table.attributes)
        return cls(tuple(described), table.columns)

    def masked(self, columns: Mapping[str, Iterable[Any]]) -> Table:
        """A masked version of this table, from plain columns: some or all of its columns, in this table's domains.

        A text that is no value of the domain is read as a label that stands for a set: `[a,b]`, `{a|b}` or `*`.
        Continuous attributes alone may take new values, which join those of the original in the domain.
        """
        attributes, codes, sets = [], {}, {}
        for name, column in columns.items():
            values = plain_values(column, f"Column {name!r}")
            attribute = self.attribute(name)
            if attribute.kind == CONTINUOUS:
                attribute = widened(attribute, values)
            codes[name], sets[name] = _encoded_with_sets(attribute, values)
            attributes.append(attribute)
        return Table(tuple(attributes), codes, sets)

    def with_codes(self, /, **columns: NDArray[np.integer]) -> Table:
        """This table with other codes in the *columns* named; its sets keep theirs."""
        for name in columns:
            self.attribute(name)
        return Table(self.attributes, {**self.columns, **columns}, self.sets)  # type: ignore[dict-item]

    def with_labels(self, name: str, codes: NDArray[np.integer], sets: Sequence[Iterable[int]]) -> Table:
        """This table with other codes in column *name*, those from the size of its domain on counting *sets*."""
        self.attribute(name)
        held = [each if isinstance(each, Span) else tuple(each) for each in sets]
        return Table(self.attributes, {**self.columns, name: codes}, {**self.sets, name: held})  # type: ignore[dict-item]

    def rows(self, positions: NDArray[np.integer]) -> Table:
        """The rows at *positions*, in that order; the domains stay."""
        return Table(self.attributes, {name: codes[positions] for name, codes in self.columns.items()}, self.sets)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    def attribute(self, name: str) -> Attribute:
        """The attribute of column *name*."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise UnknownName.among("column", name, self.names)

    def with_role(self, role: str) -> tuple[str, ...]:
        """The names of the columns that have a *role*."""
        return tuple(attribute.name for attribute in self.attributes if attribute.role == role)

    def values(self, name: str) -> list[Value]:
        """The plain values of a column, a set as its label."""
        words = words_of(self.attribute(name), self.sets[name])
        return [words[code] for code in self.columns[name].tolist()]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as numbers; each cell must hold one."""
        values = self.values(name)
        for row, value in enumerate(values):
            if not is_number(value):
                raise InvalidInput(f"Column {name!r}, row {row + 1}: a number is needed here.")
        return np.array(values, dtype=np.float64)

    def to_columns(self) -> dict[str, list[Value]]:
        """All columns as plain values."""
        return {name: self.values(name) for name in self.names}

    def to_frame(self) -> DataFrame:
        """The table as a pandas data frame; ordered texts are an ordered category where no cell holds a set."""
        from pandas import DataFrame

        return DataFrame({name: self._array(name) for name in self.names})

    def _array(self, name: str) -> ExtensionArray:
        """A column for pandas, typed by the values that occur in it."""
        from pandas import Categorical, Series

        attribute = self.attribute(name)
        if (
            attribute.kind == ORDINAL
            and not self.sets[name]
            and any(isinstance(each, str) for each in attribute.domain)
        ):
            order = [value for value in attribute.domain if value is not None]
            return Categorical(self.values(name), categories=order, ordered=True)
        _, first, codes = np.unique(self.columns[name], return_index=True, return_inverse=True)
        values = self.rows(first).values(name)
        return Series(values, dtype=_pandas_type(values)).array.take(codes)

    @cached_property
    def key(self) -> str:
        """A digest of all that the table holds."""
        parts = [
            part
            for each in self.attributes
            for part in (each, each.declared, each.bounds, self.columns[each.name], list(self.sets[each.name]))
        ]
        return key_of(*parts)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __repr__(self) -> str:
        return f"<Table of {len(self):,} rows: {', '.join(self.names)}>"

    def _repr_html_(self) -> str:
        """The first rows for a notebook; the values of identifiers are not shown."""
        from tabular.report.kit.page import table_snippet

        first = self.rows(np.arange(min(len(self), _SHOWN)))
        columns = [
            [each.kind, each.role or "", *(text_of(value) for value in first.values(each.name))]
            if each.role != "identifier"
            else [each.kind, each.role, *(["dropped"] * len(first))]
            for each in self.attributes
        ]
        rows = zip(["Kind", "Role", *range(1, len(first) + 1)], *columns, strict=True)
        return table_snippet(
            f"Table of {len(self):,} rows, the first {len(first)} of them.", ["", *self.names], [*rows]
        )


def columns_of(frame: Any) -> dict[str, list[Any]]:
    """The plain columns of a pandas data frame, every missing value as None."""
    from pandas import DataFrame

    if not isinstance(frame, DataFrame):
        raise InvalidInput(f"A data frame was expected, not a {type(frame).__name__}.")
    if len(set(map(str, frame.columns))) < len(frame.columns):
        raise InvalidInput("Two columns of the data frame have the same name.")
    return {
        str(name): [
            None if missing else value for value, missing in zip(column.tolist(), column.isna().tolist(), strict=True)
        ]
        for name, column in frame.items()
    }


def _pandas_type(values: Sequence[Value]) -> str | None:
    """The type without which pandas turns whole numbers to decimals, and truth values to objects, beside a gap."""
    types = {type(value) for value in values if value is not None}
    if None not in values or types not in ({int}, {bool}):
        return None
    fits = all(value is None or -(2**63) <= value < 2**63 for value in values)  # type: ignore[operator]
    return "boolean" if types == {bool} else "Int64" if fits else None


def _attributes_of(frame: DataFrame) -> dict[str, Attribute]:
    """What the types of a data frame say of its columns."""
    from pandas import CategoricalDtype
    from pandas.api.types import is_datetime64_any_dtype

    found = {}
    for name, dtype in zip(map(str, frame.columns), frame.dtypes, strict=True):
        if isinstance(dtype, CategoricalDtype):
            order = dtype.categories.tolist() if dtype.ordered else ()
            found[name] = Attribute(name=name, kind=ORDINAL if dtype.ordered else NOMINAL, domain=tuple(order))
        elif is_datetime64_any_dtype(dtype):
            found[name] = Attribute(name=name, kind=ORDINAL)
    return found


def _by_name(attributes: Iterable[Attribute] | Mapping[str, Attribute]) -> dict[str, Attribute]:
    listed = list(attributes.values() if isinstance(attributes, Mapping) else attributes)
    by_name = {attribute.name: attribute for attribute in listed}
    if len(by_name) < len(listed):
        raise InvalidInput("Two attributes have the same name.")
    return by_name


def _encoded(attribute: Attribute, values: Sequence[Value]) -> NDArray[np.int32]:
    codes = attribute.codes
    try:
        return np.fromiter((codes[value] for value in values), dtype=np.int32, count=len(values))
    except KeyError:
        row = next(row for row, value in enumerate(values) if value not in codes)
        raise InvalidInput(f"Column {attribute.name!r}, row {row + 1}: the value is not in the domain.") from None


def _encoded_with_sets(attribute: Attribute, values: Sequence[Value]) -> tuple[NDArray[np.int32], Sequence[Members]]:
    # Not those of the attribute, which would be kept: of a long domain they are large.
    codes = {value: code for code, value in enumerate(attribute.domain)}
    reader = LabelReader(attribute)
    sets: list[Members] = []
    for row, value in enumerate(values):
        if value not in codes:
            try:
                if not isinstance(value, str):
                    raise InvalidInput("the value is not in the domain of the original")
                members = reader.members(value)
            except InvalidInput as error:
                raise InvalidInput(f"Column {attribute.name!r}, row {row + 1}: {error}.") from None
            codes[value] = len(attribute.domain) + len(sets)
            sets.append(members)
    encoded = np.fromiter((codes[value] for value in values), dtype=np.int32, count=len(values))
    return canonical(encoded, sets, len(attribute.domain))


def _checked(
    attribute: Attribute, codes: NDArray[np.integer], sets: Sequence[Members]
) -> tuple[NDArray[np.int32], Sequence[Members]]:
    """The codes of one column, copied unless nobody can write to them, and its sets; an error if they do not fit."""
    array = np.asarray(codes)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise InvalidInput(f"Column {attribute.name!r}: codes are whole numbers, one per row.")
    size = len(attribute.domain)
    if not _in_domain(sets, size):
        raise InvalidInput(f"Column {attribute.name!r}: a set holds one or more codes of the domain.")
    outside = np.flatnonzero((array < 0) | (array >= size + len(sets)))
    if outside.size:
        raise InvalidInput(f"Column {attribute.name!r}, row {outside[0] + 1}: the code is not in the domain.")
    fitting, kept = canonical(array, sets, size)
    is_fixed = fitting.dtype == np.int32 and fitting.base is None and not fitting.flags.writeable
    return fitting if is_fixed else np.array(fitting, dtype=np.int32), kept


def _in_domain(sets: Sequence[Members], size: int) -> bool:
    """Whether each set holds codes of a domain of *size*, and at least one."""
    if isinstance(sets, Spans):
        return bool(((sets.firsts >= 0) & (sets.firsts <= sets.lasts) & (sets.lasts < size)).all())
    return all(
        len(each) > 0
        and (each[0] >= 0 and each[-1] < size if isinstance(each, Span) else min(each) >= 0 and max(each) < size)
        for each in sets
    )


@dataclass(frozen=True)
class Classes:
    """Rows put into classes: the class of each row, and how many rows each class has."""

    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The first row of each class."""
        rows = np.empty(len(self.sizes), dtype=np.int64)
        rows[self.labels[::-1]] = np.arange(len(self.labels))[::-1]
        return rows

    @property
    def k(self) -> int:
        """The size of the smallest class; a table without rows has 0."""
        return int(self.sizes.min()) if len(self.sizes) else 0


def equivalence_classes(columns: Sequence[NDArray[np.integer]]) -> Classes:
    """The classes of rows with equal codes in all *columns*, numbered in the order of their codes.

    A missing value is a code like any other.

    >>> equivalence_classes([np.array([3, 3, -1, 3]), np.array([0, 1, 0, 0])]).labels.tolist()
    [1, 2, 0, 1]
    """
    if not columns:
        raise ValueError("Classes need at least one column.")
    labels = np.zeros(len(columns[0]), dtype=np.int64)
    found = 1
    for column in columns:
        codes = np.asarray(column, dtype=np.int64)
        if not len(codes):
            break
        low, high = int(codes.min()), int(codes.max())
        span = high - low + 1
        if span * found >= 2**63:
            # The codes are far apart: number those that occur, at most one a row.
            values, codes = np.unique(codes, return_inverse=True)
            low, span = 0, len(values)
        # Renumbered after each column, so that the keys of many columns never overflow.
        labels, found = _numbered(labels * span + (codes - low), found * span)
    return Classes(labels=labels, sizes=np.bincount(labels))


def _numbered(keys: NDArray[np.int64], bound: int) -> tuple[NDArray[np.int64], int]:
    """The rank of each key among those that occur, and how many occur; all keys are below *bound*."""
    if bound > _MARKED * len(keys):
        kept, numbers = np.unique(keys, return_inverse=True)
        return numbers, len(kept)
    occurs = np.zeros(bound, dtype=np.bool_)
    occurs[keys] = True
    numbers = np.cumsum(occurs) - 1
    return numbers[keys], int(numbers[-1]) + 1


def smallest_class(columns: Sequence[NDArray[np.integer]]) -> int:
    """The k of a table: how many rows share the rarest combination of the values in *columns*.

    >>> smallest_class([np.array([1, 1, 2, 2, 2])])
    2
    """
    return equivalence_classes(columns).k


def check_k(k: object, rows: int) -> int:
    """*k* as a plain number, or an error where no table of so many *rows* can have it."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InvalidParameter.wrong("k", must="be a whole number of at least 1", was=k)
    if k > rows:
        noun = "record" if rows == 1 else "records"
        raise NoSolution(
            f"No release with k={k} exists: the table has {rows} {noun}. Lower {named('k')} or add records."
        )
    return int(k)


def suppression_limit(share: float, rows: int) -> int:
    """The number of rows that may be suppressed.

    >>> suppression_limit(0.01, 30162), suppression_limit(0.29, 100)
    (301, 29)
    """
    # The decimal as it is written: the float 0.29 is less than 0.29.
    return floor(Fraction(repr(float(share))) * rows)
