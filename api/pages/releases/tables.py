"""A table that is to be released: its candidates are what `table compare` finds for the kinds of its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from api.http.gate import account, service
from api.http.routes import tables as routes
from api.pages import jobs
from api.pages.blueprint import told
from api.pages.commands import Ways, ways_of
from api.pages.releases.candidates import Candidate, Promise, Sample, Words
from api.pages.releases.drafts import Draft, choice_in, choice_of, decimal, number
from api.service import access
from api.service.access import UnknownThing
from api.service.tables.tables import StoredTable, split
from api.verbs.table.compare import LEVELS
from api.verbs.table.files import table_protections
from tabular.errors import InvalidInput, InvalidParameter, UnknownName, counted

#: So many rows are shown before and after.
SAMPLE = 10

#: What nobody is found by, or may not be told.
_NOT_KNOWN = ("identifier", "sensitive", "insensitive", "class-label")

#: So many values, all of them distinct, may name people.
_SEVERAL = 10

_QUASI_IDENTIFIER = "quasi-identifier"

#: The verbs that make releases of tables.
_RELEASING = ("table protect", "table search")


@dataclass(frozen=True)
class TableRelease:
    """An original table on its way to a release."""

    table: StoredTable
    described: Mapping[str, Any]
    kind = "table"
    words = Words(
        alike="At least this many rows agree in what an attacker may know",
        why="The more people can look, and the less you know of them, the more rows must agree.",
        risk="Disclosure risk",
        other_risk="Rows linked correctly",
        note="Disclosure risk is the mean of two risks: learning values, and linking rows by the better linkage. "
        "Rows linked correctly: the share that the best attacker links who has the whole original.",
    )
    releases: Sequence[str] = ()

    @classmethod
    def called(cls, name: str) -> TableRelease:
        """The original table of that name."""
        table = service().tables.find(f"original:{name}", account().role, "protect", kinds=("original",))
        return cls(table, told(routes.show, name=f"original:{name}"))

    @property
    def name(self) -> str:
        """What it is called."""
        return self.table.name

    @property
    def size(self) -> str:
        """Its rows and columns."""
        return f"{counted(self.most, 'row')}, {counted(len(self.described['columns']), 'column')}"

    @property
    def most(self) -> int:
        """All rows alike."""
        return int(self.described["rows"])

    @cached_property
    def roles(self) -> dict[str, tuple[str | None, bool]]:
        """The role of each column, and whether it is a guess."""
        return {
            each["name"]: (each["role"] or each["proposed"], not each["role"]) for each in self.described["columns"]
        }

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """The columns that can be protected, each with whether its role is a guess."""
        return [(name, guessed) for name, (role, guessed) in self.roles.items() if role != "identifier"]

    def uses(self, draft: Draft) -> Mapping[str, tuple[str, str]]:
        """The columns that are protected; the others stay as they are."""
        kinds = {each["name"]: each["kind"] for each in self.described["columns"]}
        return {name: (name, kinds[name]) for name in self.completed(draft).columns}

    def completed(self, draft: Draft) -> Draft:
        """With the columns that an attacker may know, and a free name."""
        names = [name for name, _ in self.columns]
        for name in draft.columns:
            if name not in names:
                raise InvalidInput(str(UnknownName.among("column to protect", name[:80], names)))
        taken = {each.name for each in service().tables.visible(account().role) if each.kind == "release"}
        free = (f"{self.name}-v{place}" for place in range(1, 10_000))
        return replace(
            draft,
            columns=draft.columns or self._proposed(),
            into=draft.into or next(each for each in free if each not in taken),
            chosen=draft.chosen or choice_of("mondrian", {"k": draft.k}),
        )

    def _proposed(self) -> tuple[str, ...]:
        """The quasi-identifiers; where none is known, all columns that may be."""
        named = tuple(name for name, (role, _) in self.roles.items() if role == _QUASI_IDENTIFIER)
        return named or tuple(name for name, (role, _) in self.roles.items() if role not in _NOT_KNOWN)

    def asks(self, draft: Draft) -> list[tuple[str, dict[str, Any]]]:
        """One comparison, with some rows before and after."""
        options = {
            "file": f"original:{self.name}",
            "columns": list(self.completed(draft).columns),
            "k": draft.k,
            "sample": SAMPLE,
            "html": "candidates.html",
        }
        return [("table compare", options)]

    def candidates(self, draft: Draft, result: Mapping[str, Any]) -> list[Candidate]:
        """One for each protection that was compared."""
        columns, found = [each["name"] for each in result["columns"]], result["protections"]
        if tuple(columns) != self.completed(draft).columns:
            # Those of other columns keep something else.
            return []
        samples = samples_of(result, columns)
        return [
            candidate_of(each, sample)
            for each, sample in zip(found, samples, strict=True)
            if each["method"] != LEVELS or not self._without_hierarchy(columns)
        ]

    def left_out(self, result: Mapping[str, Any]) -> list[str]:
        """The methods that do not suit the columns."""
        lacking = self._without_hierarchy([each["name"] for each in result["columns"]])
        compared = any(each["method"] == LEVELS for each in result["protections"])
        own = [f"{LEVELS}: {_needs_hierarchies(lacking)}"] if lacking and compared else []
        return [*own, *(f"{each['method']}: {each['reason']}" for each in result["left_out"])]

    def hindrance(self, draft: Draft) -> str | None:
        """No column to protect, too few rows, a column that may name people, or a hierarchy that is missing."""
        draft = self.completed(draft)
        if not draft.columns:
            return "All columns are identifiers or sensitive, so none is left to protect. Change the roles first."
        if draft.k > self.most:
            return f"k is {draft.k}, and the table has {self.most:,} row{'' if self.most == 1 else 's'}. Lower k."
        unnamed = self._unnamed(draft)
        if unnamed:
            return (
                f"All values of {listed(unnamed)} are distinct, so they may identify people. Set a role first: "
                "identifier to drop them, or insensitive to keep them."
            )
        lacking = self._without_hierarchy(draft.columns)
        if lacking and choice_in(draft.chosen or "")[0] == LEVELS:
            return f"{_needs_hierarchies(lacking)} Make them first, or choose another candidate."
        return None

    def _unnamed(self, draft: Draft) -> list[str]:
        """The columns that stay as they are, whose values are all distinct and that nobody gave a role."""
        held = [each for each in self.described["columns"] if each["name"] not in draft.columns and not each["role"]]
        several = [each for each in held if each["values"] == self.most - each["missing"] >= _SEVERAL]
        return [each["name"] for each in several if each["proposed"] != "identifier"]

    def _without_hierarchy(self, columns: Sequence[str]) -> list[str]:
        """Those of the *columns* that have no hierarchy."""
        return [name for name in columns if not (self.table.hierarchies / f"{name}.csv").is_file()]

    def promise(self, draft: Draft) -> Promise:
        """How many rows agree, in which columns; and what else is released."""
        draft = self.completed(draft)
        method, parameters = choice_in(draft.chosen or "")
        promising = [each.name for each in table_protections().entries() if each.method.promises_k]
        if "k" in parameters and method in promising:
            others_alike = number("k", parameters["k"]) - 1
            gone = decimal("suppression", parameters.get("suppression", "0"))
            headline = f"Each row will agree with at least {others_alike} others in {listed(draft.columns)}"
            headline += f", or have * in all of them; at most {gone:.1%} of the rows have *." if gone else "."
        else:
            headline = f"Values of {listed(draft.columns)} will change, but no k is promised: rows may stay unique."
        return Promise(headline=headline, others=self.told_of(draft.columns))

    def told_of(self, columns: Sequence[str]) -> list[str]:
        """What is released beside the *columns* that are protected."""
        others = [name for name, (role, _) in self.roles.items() if name not in columns and role != "identifier"]
        said = [f"Identifiers are dropped: {listed(self._identifiers)}."] if self._identifiers else []
        if others:
            stay = "stays as it is" if len(others) == 1 else "stay as they are"
            said.append(f"{listed(others)} {stay}: whoever knows these values of a person may find that person.")
        return [*said, "Rows are put in a new random order.", *self._beside()]

    @property
    def guessed_roles(self) -> list[str]:
        """The identifiers that nobody has named as such, as an option of a verb."""
        roles = self.roles.items()
        return [f"{name}=identifier" for name, (role, is_guess) in roles if role == "identifier" and is_guess]

    def _beside(self) -> list[str]:
        """What is to be said of earlier releases, as far as the jobs of late tell of them."""
        live = {each.name for each in service().tables.visible(account().role) if each.kind == "release"}
        made = [each["options"] for each in jobs.newest() if each["verb"] in _RELEASING and each["state"] == "done"]
        own = [each["into"] for each in made if split(str(each["file"]))[1] == self.name and each.get("into") in live]
        if not own:
            return []
        return [
            f"{listed(sorted(set(own)))} came from this table before. Whoever has two releases can compare them, "
            "and fewer rows agree in both. Delete releases you no longer need."
        ]

    @property
    def _identifiers(self) -> list[str]:
        return [name for name, (role, _) in self.roles.items() if role == "identifier"]

    def release(self, draft: Draft) -> tuple[str, dict[str, Any]]:
        """The verb with names of the service: a table of the service is made."""
        verb, options = self.plan(draft)
        options = {name: value for name, value in options.items() if name != "hierarchies"}
        return verb, {**options, "file": f"original:{self.name}", "into": self.completed(draft).into}

    def plan(self, draft: Draft) -> tuple[str, dict[str, Any]]:
        """`table protect`, or `table search` for the levels of a generalisation."""
        draft = self.completed(draft)
        shared: dict[str, Any] = {"out": f"{draft.into}.csv", "shuffle": True}
        if self.guessed_roles:
            shared["role"] = self.guessed_roles
        return release_of(draft.chosen or "", f"{self.name}.csv", draft.columns, shared)

    def ways(self, draft: Draft) -> Ways:
        """The verb in the words of each door."""
        return replace(ways_of(*self.plan(draft)), request=ways_of(*self.release(draft)).request)


def table_of(given: Any) -> TableRelease:
    """The original table that an address or a form names, for whoever may protect it."""
    access.refuse_role(account().role, "protect", is_about_nothing=True)
    if not given.get("table"):
        raise InvalidInput("Choose a table.")
    return TableRelease.called(given["table"])


def job_of(id: str, is_it: Callable[[Mapping[str, Any]], bool], what: str) -> dict[str, Any]:
    """A job that is *what* a page is about, for whoever may protect; other jobs have no such page."""
    access.refuse_role(account().role, "protect", is_about_nothing=True)
    job = jobs.found(id)
    if not is_it(job):
        raise UnknownThing(f"No {what} has this id.")
    return job


def release_of(chosen: str, file: str, columns: Sequence[str], shared: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The verb that releases *columns* of a *file* by a chosen protection, with options that all releases share."""
    from tabular.lattice.search_outcome import levels_as_text

    method, parameters = choice_in(chosen)
    if method != LEVELS:
        param = [f"{name}={value}" for name, value in parameters.items()]
        return "table protect", {"file": file, "columns": list(columns), "method": method, "param": param, **shared}
    levels = [number("levels", each) for each in parameters.get("levels", "").split(",")]
    if len(levels) != len(columns):
        raise InvalidParameter.wrong("chosen", must="have a level for each column", was=chosen[:80])
    options = {
        "file": file,
        "quasi_identifiers": list(columns),
        "hierarchies": "hierarchies",
        "k": number("k", parameters.get("k", "3")),
        "suppression": decimal("suppression", parameters.get("suppression", "0")),
        "choose": levels_as_text(columns, levels),
        "alone": True,
    }
    return "table search", {**options, **shared}


def candidate_of(found: Mapping[str, Any], sample: Sample | None = None) -> Candidate:
    """A protection that was compared, as a candidate; percentages become shares."""
    # Whoever gets a release is told the method.
    linked = [found[name] for name in ("dbrl", "prl", "rsrl", "informed") if found.get(name) is not None]
    return Candidate(
        id=choice_of(found["method"], found["parameters"]),
        title=title_of(found),
        risk=found["disclosure_risk"] / 100,
        other_risk=max(linked) / 100 if linked else None,
        losses={name: None if value is None else value / 100 for name, value in found.get("losses", {}).items()},
        sample=sample,
    )


def _needs_hierarchies(lacking: Sequence[str]) -> str:
    return f"A release by levels needs a hierarchy for each column; {listed(lacking)} {_have(lacking)} none."


def _have(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def title_of(found: Mapping[str, Any]) -> str:
    """A method and its parameters in a few words; those of a generalisation are told where it is chosen."""
    shown = {name: value for name, value in found["parameters"].items() if name not in ("levels", "suppression")}
    words = [f"{name.replace('_', ' ')} {_short(value)}" for name, value in shown.items()]
    return ", ".join([found["method"], *words])


def _short(value: Any) -> str:
    values = value.values() if isinstance(value, Mapping) else [value]
    return "/".join("yes" if each is True else str(each) for each in values)


def samples_of(result: Mapping[str, Any], columns: Sequence[str]) -> list[Sample | None]:
    """Some rows before and after each protection, where the comparison has them."""
    sample = result.get("sample")
    if sample is None:
        return [None] * len(result["protections"])
    return [paired(columns, sample["rows"], sample["before"], after) for after in sample["after"]]


def paired(columns: Sequence[str], rows: Sequence[int], before: Sequence[Sequence[str]], after: Any) -> Sample:
    """Rows before and after, cell by cell."""
    cells = ([*zip(one, other, strict=True)] for one, other in zip(before, after, strict=True))
    return Sample(columns=columns, rows=[*zip(rows, cells, strict=True)])


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["age", "sex", "town"])
    'age, sex and town'
    """
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last
