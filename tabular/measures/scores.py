"""All measures of a masked table in one call, and what they come to together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tabular.attributes import CONTINUOUS
from tabular.errors import InvalidParameter, named
from tabular.measures.contract import NUMERIC, Reading, measures
from tabular.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

#: What all measures come to together, in the order of a document.
SCORES = ("information_loss", "disclosure_risk", "score_mean", "score_max")

#: The scores as the thesis has them.
PLAIN_SCORES = ("score_mean_em", "score_max_em")

#: What information loss is the mean of.
LOSSES = ("ctbil", "dbil", "ebil")

#: The measures that also read numbers as numbers, whichever kinds of attribute there are.
OF_ALL_KINDS = ("id", "clustering")

#: The field of the measures that are told more by transition matrices than by the two files.
MATRICES = "matrices"

#: The linkage that the thesis computes, for its tables alone.
PLAIN = "prl-em"

#: The attackers among whom the one counts who links most; `informed` only where the method is known.
LINKAGES = ("dbrl", "prl", "rsrl", "informed")

#: The linkages of numbers stand in a document where those of categories stand.
AS_NUMBERS = {"dbrl": "dbrl-numbers", "prl": "prl-numbers"}


#: The one-to-one linkages, which can end with a bound, by their keys; and all that can.
_LINKED_ONE_TO_ONE = {"prl": "prl", "prl_em": PLAIN}
_BOUNDS = (*_LINKED_ONE_TO_ONE, "disclosure_risk", "highest_linkage")


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The readings of all measures by name, and what they come to together, in percent.

    Where the method is known, as its matrices are or as whoever masked the table does, `informed` is an attacker like
    the others; else it stands beside them.
    """

    readings: Mapping[str, Reading]
    records: int = 0
    columns: tuple[str, ...] = ()
    method_is_known: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Summary:
        """The summary that `values` gave."""
        readings = {name: Reading(**each) for name, each in values["readings"].items()}
        return cls(**{**values, "readings": readings, "columns": tuple(values["columns"])})

    @property
    def values(self) -> dict[str, Any]:
        """All of it as plain values, to be read by `of`."""
        readings = {name: asdict(each) for name, each in self.readings.items()}
        return {**vars(self), "readings": readings}

    @staticmethod
    def paths(attributes: int = 1, without: Collection[str] = ()) -> list[tuple[str, ...]]:
        """The paths of the numbers of a document, known before anything is measured.

        Those are left out that cannot be had of so many *attributes*, or *without* a measure.
        """
        gone = {name_of(key) for key in without}
        keys = [key for key, name in _keys().items() if name not in gone and _compares(name, attributes)]
        plain = PLAIN_SCORES if "prl_em" in keys else ()
        bounds = [key for key in _BOUNDS if key in keys or key not in _keys()]
        single = ((key,) for key in ("records", *keys, *SCORES, *plain))
        below = [("bounds", bounds), ("raw", keys)]
        return [*single, ("highest_linkage", "value"), *((above, key) for above, names in below for key in names)]

    @property
    def is_numeric(self) -> bool:
        """Whether the attributes were read as numbers."""
        return any(name in self.readings for name in NUMERIC)

    @property
    def information_loss(self) -> float:
        """The mean of CTBIL, DBIL and EBIL (Mares Soler 2013, eq 4.9); of numbers PIL."""
        if self.is_numeric:
            return self._percent("pil")
        return sum(self._percent(name) for name in LOSSES) / len(LOSSES)

    @property
    def disclosure_risk(self) -> float:
        """The mean of ID and the better linkage, DBRL or PRL (eq 4.10); of numbers of ID and the mean linkage."""
        return self._risk("prl")

    @property
    def disclosure_risk_bound(self) -> float:
        """How far `disclosure_risk` can be from the exact value; 0 where PRL was solved exactly."""
        bound = self._bound("prl")
        return max(self._risk("prl", bound) - self._risk("prl"), self._risk("prl") - self._risk("prl", -bound))

    @property
    def highest_linkage(self) -> dict[str, str | float | None]:
        """The attacker who links the largest share of the records with their originals, and that share."""
        found = self._linkages()
        if not found:
            return {"measure": None, "value": None}
        measure = max(found, key=lambda name: found[name][0])
        return {"measure": measure, "value": found[measure][0]}

    @property
    def highest_linkage_bound(self) -> float | None:
        """How much less the highest linkage can be; 0 where PRL was solved exactly."""
        found = self._linkages().values()
        return max(share for share, _ in found) - max(share - bound for share, bound in found) if found else None

    @property
    def score_mean(self) -> float:
        """The mean of loss and risk (eq 3.2)."""
        return (self.information_loss + self.disclosure_risk) / 2

    @property
    def score_max(self) -> float:
        """The greater of loss and risk (eq 3.4)."""
        return max(self.information_loss, self.disclosure_risk)

    @property
    def score_mean_em(self) -> float:
        """The mean of loss and risk as the thesis has it, PRL by plain EM."""
        return (self.information_loss + self._risk(PLAIN)) / 2

    @property
    def score_max_em(self) -> float:
        """The greater of loss and risk as the thesis has it, PRL by plain EM."""
        return max(self.information_loss, self._risk(PLAIN))

    def document(self) -> dict[str, Any]:
        """Everything as plain values, in percent; `raw` has the formulas' values; None was not measured.

        Numbers are read by their own measures: `dbrl` and `prl` are then those of numbers, `pil` is the loss, and
        what counts categories is None.
        """
        found = {key: self._reading(name) for key, name in _keys().items()}
        return {
            "records": self.records,
            "columns": list(self.columns),
            "numeric": self.is_numeric,
            "highest_linkage": self.highest_linkage,
            **{key: reading and reading.percent for key, reading in found.items()},
            **self.scores(),
            **{name: self._score(name) for name in PLAIN_SCORES},
            "raw": {key: reading and reading.raw for key, reading in found.items()},
            "bounds": {
                **{key: found[key] and self._bound(name) for key, name in _LINKED_ONE_TO_ONE.items()},
                "disclosure_risk": self._score("disclosure_risk_bound"),
                "highest_linkage": self.highest_linkage_bound,
            },
        }

    def scores(self) -> dict[str, float | None]:
        """Loss and risk in percent, and both scores; None for what was not measured."""
        return {name: self._score(name) for name in SCORES}

    def to_frame(self) -> DataFrame:
        """One row for each measure that was taken, and for each score."""
        from pandas import DataFrame

        document = self.document()
        raw, bounds = document["raw"], document["bounds"]
        names = (*_keys(), *SCORES, *PLAIN_SCORES)
        rows = [(name, document[name], raw.get(name), bounds.get(name)) for name in names]
        taken = [row for row in rows if (row[1], row[2]) != (None, None)]
        return DataFrame(taken, columns=["measure", "percent", "raw", "bound"])

    def _repr_html_(self) -> str:
        from tabular.report.kit.page import frame_snippet

        caption = f"Loss and risk over {', '.join(self.columns)}, {self.records:,} records."
        return frame_snippet(caption, self.to_frame()[["measure", "percent", "raw"]], most=100)

    def _risk(self, one_to_one: str, off: float = 0.0) -> float:
        """The risk by this *one_to_one* linkage if it is *off* by so much."""
        near, assigned = self._percent("dbrl"), min(max(self._percent(one_to_one) + off, 0.0), 100.0)
        return (self._percent("id") + ((near + assigned) / 2 if self.is_numeric else max(near, assigned))) / 2

    def _reading(self, key: str) -> Reading | None:
        return self.readings.get(AS_NUMBERS.get(key, key) if self.is_numeric else key)

    def _linkages(self) -> dict[str, tuple[float, float]]:
        """The share that each attacker links who counts, and its bound."""
        names = [name for name in LINKAGES if name != "informed" or self.method_is_known]
        found = {name: self._reading(name) for name in names}
        return {
            name: (reading.percent, reading.bound)
            for name, reading in found.items()
            if reading is not None and reading.percent is not None
        }

    def _bound(self, key: str) -> float:
        reading = self._reading(key)
        return reading.bound if reading else 0.0

    def _percent(self, key: str) -> float:
        reading = self._reading(key)
        if reading is None or reading.percent is None:
            raise KeyError(key)
        return reading.percent

    def _score(self, name: str) -> float | None:
        """A score, or None where a measure that it needs was not taken."""
        try:
            score: float = getattr(self, name)
        except KeyError:
            return None
        return score


def summary(
    original: Table,
    masked: Table,
    attributes: Sequence[str],
    *,
    without: Collection[str] = (),
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    matrices: Mapping[str, Any] | None = None,
    method_is_known: bool | None = None,
) -> Summary:
    """Take every measure of *masked* against *original*; row i of both is the same record.

    Attributes that are all continuous are measured as numbers where every cell holds one; with missing values, labels
    that stand for sets, or other attributes beside it a continuous one counts as ordinal.
    *parameters* are given to the measures by name, and the transition *matrices* the table was masked with to all that
    can use them. The measures named by *without* are left out, and the scores that need them. The attacker who knows
    the method counts where there are matrices, unless *method_is_known* says otherwise.
    """
    without = {name_of(key) for key in without}
    given = {name_of(name): dict(values) for name, values in (parameters or {}).items()}
    if matrices is not None:
        for entry in measures.entries():
            if MATRICES in entry.method.__dataclass_fields__:
                given.setdefault(entry.name, {})[MATRICES] = matrices
    taken = [
        name for name in names_for(original, masked, attributes) if _key(name) not in without and name not in without
    ]
    if not taken:
        raise InvalidParameter(f"{named('without')} names every measure; none is left to take.", was=tuple(without))
    made = {name: measures[name].method(**given.get(name, given.get(_key(name), {}))) for name in taken}
    return Summary(
        readings={name: each.measure(original, masked, attributes) for name, each in made.items()},
        records=len(original),
        columns=tuple(attributes),
        method_is_known=matrices is not None if method_is_known is None else method_is_known,
    )


def names_for(original: Table, masked: Table, attributes: Sequence[str]) -> list[str]:
    """The measures for attributes of these kinds; those of numbers if every cell of both files is one."""
    numbers = {original.attribute(name).kind for name in attributes} == {CONTINUOUS} and not any(
        table.sets[name] or None in table.attribute(name).domain for table in (original, masked) for name in attributes
    )
    if numbers:
        return [name for name in measures if name in (*OF_ALL_KINDS, *NUMERIC)]
    return [name for name in measures if name not in NUMERIC and _compares(name, len(attributes))]


def _compares(name: str, attributes: int) -> bool:
    most = measures[name].method.most_attributes
    return most is None or attributes <= most


def name_of(key: str, *, numeric: bool = False) -> str:
    """The registered name of the measure that stands under *key* in a document."""
    name = measures[key if key in measures else key.replace("_", "-")].name
    return AS_NUMBERS.get(name, name) if numeric else name


def _keys() -> dict[str, str]:
    """The keys of the measures in a document, and their names."""
    return {name.replace("-", "_"): name for name in measures if name not in AS_NUMBERS.values()}


def _key(name: str) -> str:
    """The measure of categories that stands where this one of numbers does."""
    return next((key for key, of_numbers in AS_NUMBERS.items() if of_numbers == name), name)
