"""What it takes to release a table: no identifiers, a checked k, an order that tells nothing, and a data dictionary.

The dictionary is made from the released table alone, so it holds no value that the release lacks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import ANY, Attribute, text_of, words_of
from tabular.errors import InvalidInput, InvalidParameter, named
from tabular.intervals import sizes_of
from tabular.registry import Method
from tabular.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

    from tabular.protections import Protection


#: Letters of fresh ids: no vowels, so that no word comes up, and no digits, so that no number of an original does.
_LETTERS = np.frombuffer(b"bcdfghjklmnpqrstvwxz", dtype="S1")

#: So many distinct values are no coincidence, however few of the rows have one.
_MANY = 10

IDENTIFIER = "identifier"

#: Values are listed only up to this number.
MOST_VALUES = 200

SUFFIX = ".dictionary.json"

ORDER_KEPT = "Rows stand in the order of the original: whoever has that file can match them."
#: The same as this version says it, and as version 0.1.0 did.
ORDERS_KEPT = (
    ORDER_KEPT,
    "Rows stand in the order of the original: who has that file knows which row is whose.",
)
ORDER_DRAWN = "Rows stand in random order."
VALUES_SHARED = (
    "Rows that agree in the protected columns may share a value in another column, too: whoever knows that a person is "
    "among them learns it."
)
OTHERS_STAY = "The other columns are unchanged: whoever knows their values for a person may find that person."
NO_K = "The method promises no k: a row may describe one person alone."
LABELS = (
    "A label such as [a,b], <=a, >=a, {a|b} or * stands for all values it covers; the ends of ranges of numbers are "
    "rounded where the domain was not declared."
)
LABELS_OF_HIERARCHIES = (
    "A label comes from a hierarchy and stands for all values below it there, whether they occur or not; * stands for "
    "any value."
)


def version() -> str:
    """The version that is installed."""
    return metadata.version("graphpriv")


class Stream:
    """Random numbers that reveal neither their key nor each other: SHAKE-256 of a key and a label.

    Ids are published. If they came from a generator for simulations, whose state can be computed from its output, they
    would reveal the order that was drawn with it, and so the mapping.
    """

    def __init__(self, key: bytes, label: bytes) -> None:
        self._key, self._label, self._block = key, label, 0

    def bytes(self, count: int) -> NDArray[np.uint8]:
        """The next *count* bytes."""
        self._block += 1
        seed = b"|".join([self._label, str(self._block).encode(), self._key])
        return np.frombuffer(hashlib.shake_256(seed).digest(count), dtype=np.uint8)

    def permutation(self, count: int) -> NDArray[np.int64]:
        """The numbers below *count* in random order."""
        return np.argsort(self.bytes(8 * count).view("<u8"), kind="stable")

    def letters(self, count: int) -> NDArray[np.bytes_]:
        """*count* random letters."""
        # Bytes from the last multiple of the number of letters upwards would make the first letters likelier.
        fair = 256 - 256 % len(_LETTERS)
        drawn = np.zeros(0, dtype=np.uint8)
        while len(drawn) < count:
            more = self.bytes(2 * (count - len(drawn)) + 16)
            drawn = np.concatenate([drawn, more[more < fair]])
        return _LETTERS[drawn[:count] % len(_LETTERS)]


def release_table(table: Table, *, identifiers: Literal["drop", "star"] | str = "drop") -> Table:
    """*table* as it may be released: identifiers dropped or starred; refused if another column looks like one.

    >>> ids = Attribute(name="name", role="identifier")
    >>> table = Table.from_columns({"name": ["Ann", "Bo"], "sex": ["f", "f"]}, [ids])
    >>> release_table(table).names, release_table(table, identifiers="star").values("name")
    (('sex',), ['*', '*'])
    """
    if identifiers not in ("drop", "star"):
        raise InvalidParameter.wrong("identifiers", must="be drop or star", was=identifiers)
    for name in distinct_columns(table):
        if table.attribute(name).role is None:
            raise InvalidInput(
                f"Column {name!r}: all its values are distinct, so it may identify people, but it has no role; "
                f"give it one, such as {named('role')} {name}=identifier (dropped) or {name}=insensitive (kept)."
            )
    names = table.with_role(IDENTIFIER)
    kept = tuple(attribute for attribute in table.attributes if identifiers == "star" or attribute.name not in names)
    if not kept:
        raise InvalidInput("All columns are identifiers: nothing is left to write.")
    return Table(
        tuple(
            Attribute(name=each.name, role=IDENTIFIER, domain=(ANY,)) if each.name in names else each for each in kept
        ),
        {
            each.name: np.zeros(len(table), dtype=np.int32) if each.name in names else table.columns[each.name]
            for each in kept
        },
        {each.name: table.sets[each.name] for each in kept if each.name not in names},
    )


def distinct_columns(table: Table) -> Sequence[str]:
    """The columns whose values are all distinct, if half of the rows or ten of them have a value.

    Missing values and the label for any value do not count.
    """
    return [attribute.name for attribute in table.attributes if _is_distinct(table, attribute)]


def _is_distinct(table: Table, attribute: Attribute) -> bool:
    size, sets = len(attribute.domain), table.sets[attribute.name]
    rows = np.bincount(table.columns[attribute.name], minlength=size + len(sets))
    rows[size:][sizes_of(sets) == size] = 0
    if attribute.missing is not None:
        rows[attribute.missing] = 0
    present = int(rows.sum())
    many = present > 0 and (present * 2 >= len(table) or present >= _MANY)
    return many and present == np.count_nonzero(rows)


@dataclass(frozen=True)
class Counted:
    """The size of the smallest group of equal rows; *suppressed* rows, with `*` in all columns, do not count."""

    k: int
    suppressed: int = 0


def counted_k(table: Table, names: Sequence[str]) -> Counted:
    """The k of *table* over the columns *names*, by its cells as text; if all rows are `*`, none is suppressed.

    Counted by code that shares nothing with the protections. A column with a single value says nothing, and needs no
    `*` in a suppressed row.

    >>> counted_k(Table.from_columns({"a": ["x", "x", "*"], "b": ["y", "y", "*"]}), ["a", "b"])
    Counted(k=2, suppressed=1)
    """
    groups, nothing = np.zeros(len(table), dtype=np.int64), np.ones(len(table), dtype=np.bool_)
    for name in names:
        numbers, texts = _cells(table, name)
        domain = table.attribute(name).domain
        nothing &= numbers == texts.get(ANY if len(domain) != 1 else text_of(domain[0]), -1)
        groups = np.unique(groups * len(texts) + numbers, return_inverse=True)[1]
    rows = np.bincount(groups)
    suppressed = int(nothing.sum()) if len(rows) > 1 else 0
    if suppressed:
        rows = np.delete(rows, groups[nothing.argmax()])
    return Counted(int(rows.min()) if names and len(rows) else 0, suppressed)


def _cells(table: Table, name: str) -> tuple[NDArray[np.int64], dict[str, int]]:
    """The cells of a column as numbers, and the number of each text: equal texts have one, whatever they stand for."""
    used, places = np.unique(table.columns[name], return_inverse=True)
    words, texts = words_of(table.attribute(name), table.sets[name]), dict[str, int]()
    numbers = [texts.setdefault(text_of(words[code]), len(texts)) for code in used.tolist()]
    return np.array(numbers, dtype=np.int64)[places], texts


def verify(table: Table, protection: Protection, names: Sequence[str]) -> Counted:
    """The k of a masked table over all columns *names*; a broken promise is a bug, and nothing is released."""
    promised = getattr(protection, "k", 0) if protection.promises_k else 0
    counted = {group: counted_k(table, group) for group in {*protection.k_holds_over(names), tuple(names)}}
    if any(counted[group].k < promised for group in protection.k_holds_over(names)):
        raise RuntimeError("A protection did not keep the k it promises.")
    return counted[tuple(names)]


def dictionary_path(out: str | Path) -> Path:
    """The path of the data dictionary: beside the file *out*."""
    # The whole name: a graph and a table of it may differ by their endings only.
    return Path(f"{out}{SUFFIX}")


def table_dictionary(
    table: Table,
    protected: Sequence[str],
    *,
    method: str,
    parameters: Mapping[str, Any],
    findings: Mapping[str, Any],
    shuffled: bool,
    titles: Mapping[str, str],
    labels: str = LABELS,
) -> dict[str, Any]:
    """The dictionary of a *table* as it is released; *findings* are its k and measures.

    Of a column with labels `exact_values` counts the rows that hold a value instead.
    """
    k, suppressed = findings["k"], findings["suppressed"]
    others = [name for name in table.names if name not in protected]
    said = f"Each combination of the protected columns occurs in at least {k} rows"
    said += f", except for {suppressed} suppressed ones." if suppressed else "."
    return {
        "describes": "protected table",
        "rows": len(table),
        "protected_columns": list(protected),
        "method": method,
        "parameters": dict(parameters),
        **findings,
        "order": ORDER_DRAWN if shuffled else ORDER_KEPT,
        "protected": said if k > 1 else "Values were changed; a combination of the protected columns can stand alone.",
        "not_protected": [
            *([] if findings["promises_k"] else [NO_K]),
            *([] if shuffled else [ORDER_KEPT]),
            *([OTHERS_STAY] if others else []),
            *([VALUES_SHARED] if others else []),
        ],
        "labels": labels,
        "fields": [_field(table, each, each.name in protected, titles.get(each.name, "")) for each in table.attributes],
    }


def effective_parameters(method: Method, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters in effect; matrices and paths only as "given".

    A matrix leads back to the original, and paths are private to the house.
    """
    values = {each.name: getattr(method, each.name) for each in fields(method)}
    plain = {name: value for name, value in values.items() if isinstance(value, str | bool | int | float)}
    return plain | {name: "given" for name in given if name not in plain}


def _field(table: Table, attribute: Attribute, is_protected: bool, title: str) -> dict[str, Any]:
    sets, missing = table.sets[attribute.name], attribute.missing
    rows = np.bincount(table.columns[attribute.name], minlength=len(attribute.domain) + len(sets))
    absent = 0 if missing is None else int(rows[missing])
    exact = int(rows[: len(attribute.domain)].sum())
    if missing is not None:
        rows[missing] = 0
    present = np.flatnonzero(rows)
    about: dict[str, Any] = {
        "name": attribute.name,
        "meaning": title,
        "kind": attribute.kind,
        "role": attribute.role,
        "protected": is_protected,
        "distinct_values": len(present),
        "missing": absent,
    }
    if len(sets):
        about["exact_values"] = exact
    if len(present) <= MOST_VALUES:
        words = words_of(attribute, sets)
        about["values"] = [{"value": text_of(words[code]), "count": int(rows[code])} for code in present.tolist()]
    return about


@dataclass(frozen=True, kw_only=True, eq=False)
class Released:
    """A table to be released, in the order of its original, and what was found out about it."""

    table: Table
    columns: tuple[str, ...]
    method: str
    parameters: Mapping[str, Any]
    findings: Mapping[str, Any]
    #: The rows that are released, in their order; None where all stand as they are.
    order: NDArray[np.int64] | None = field(default=None, repr=False)
    #: What a label stands for, in words.
    labels: str = LABELS
    matrices: Mapping[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    #: Whether identifiers are dropped or starred.
    identifiers: str = "drop"
    #: What else leads back to the original.
    private: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def released(self) -> Table:
        """The rows in the order of the release; identifiers still stand in it."""
        return self.table if self.order is None else self.table.rows(self.order)

    def to_frame(self) -> DataFrame:
        """The release as a pandas data frame, its identifiers dropped or starred."""
        return release_table(self.released, identifiers=self.identifiers).to_frame()

    def _repr_html_(self) -> str:
        return self.released._repr_html_()


@dataclass(frozen=True, kw_only=True, eq=False)
class Package:
    """The table as it is given away, and the documents beside it; `private` leads back to the original."""

    table: Table
    document: dict[str, Any]
    dictionary: dict[str, Any]
    private: dict[str, Any]


def drawn_order(rng: np.random.Generator, rows: int) -> NDArray[np.int64]:
    """A random order of the *rows* of a release; the seed alone leads back."""
    return Stream(rng.bytes(32), b"order").permutation(rows)


def packaged(made: Released, original: Table, *, shuffled: bool, titles: Mapping[str, str], seed: int) -> Package:
    """Drop or star the identifiers of a release, put its rows in order, and write down what goes with it."""
    masked = made.released
    table = release_table(masked, identifiers=made.identifiers)
    about = {"columns": list(made.columns), "method": made.method, "parameters": dict(made.parameters)}
    dropped = list(masked.with_role(IDENTIFIER)) if made.identifiers == "drop" else []
    return Package(
        table=table,
        document={"rows": len(masked), **about, **made.findings, "shuffled": shuffled, "dropped": dropped},
        dictionary=table_dictionary(
            table,
            made.columns,
            method=made.method,
            parameters=made.parameters,
            findings=made.findings,
            shuffled=shuffled,
            titles=titles,
            labels=made.labels,
        ),
        private={
            "private": "Who has this file can undo the release. Keep it apart from the release.",
            "version": version(),
            "seed": seed,
            **about,
            # Row i of the release is row order[i] of the original, both counted from 0.
            "order": None if made.order is None else made.order.tolist(),
            "matrices": {
                name: {
                    "categories": [text_of(value) for value in original.attribute(name).domain],
                    "matrix": matrix.tolist(),
                }
                for name, matrix in made.matrices.items()
            },
            **made.private,
        },
    )
