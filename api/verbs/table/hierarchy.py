"""`table hierarchy`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from api.verbs.contract import Outcome, Work, of_engine, verbs
from api.verbs.table.files import TableVerb
from api.verbs.values import parameters_of
from tabular.errors import InvalidInput, InvalidParameter, named
from tabular.files.disk import Output, read_text
from tabular.registry import option

if TYPE_CHECKING:
    from tabular.attributes import Attribute
    from tabular.hierarchies.hierarchy import Hierarchy

#: What is made from a file, not from the values of the column.
_FROM_FILES = ("csv", "places")


builders = of_engine("tabular.hierarchies", "hierarchies")


@verbs.add("table hierarchy")
@dataclass(frozen=True, kw_only=True)
class MakeHierarchy(TableVerb):
    """Write a hierarchy for a column: level by level from its values up to one label for all.

    Two builders read a file, given as `param` file=FILE. csv reads a hierarchy, checks it and keeps the values of the
    column; places reads JSON with the places above each value.
    """

    action = "protect"

    file: str = option(help="The table.", positional=True, input=True)
    column: str = option(metavar="A", help="The column whose values are generalised.")
    by: str = option(metavar="NAME", choices=builders, help="How the hierarchy is built.")
    param: tuple[str, ...] = option((), metavar="KEY=VALUE", help="A parameter of the builder in `by`; repeatable.")
    out: str = option(metavar="FILE", output=True, help="The CSV: a row per value, a column per level.")

    @classmethod
    def refuse_old(cls, given: Mapping[str, Any]) -> None:
        # `kind` was what `by` is now; today it is that of a column, NAME=KIND.
        for text in given.get("kind", ()):
            if "=" not in text:
                raise InvalidParameter(f"{named('kind')} {text}: write {named('by')} {text} instead.")
        super().refuse_old(given)

    def check(self) -> None:
        super().check()
        self._parameters()

    def reads(self) -> Sequence[str]:
        return [*super().reads(), *([self._parameters()["file"]] if self.by in _FROM_FILES else [])]

    def run(self, work: Work) -> Outcome:
        from tabular.hierarchies import write_hierarchy

        made = self._built(self.read(self.file, work).table.attribute(self.column))
        return Outcome(
            document={
                "hierarchy": self.out,
                "column": self.column,
                "by": self.by,
                "values": len(made.domain),
                "levels": [{"level": number, "labels": len(level.labels)} for number, level in enumerate(made.levels)],
            },
            outputs=[Output(path=self.out, parameter="out", write=lambda file, _: write_hierarchy(file, made))],
        )

    def _parameters(self) -> dict[str, Any]:
        if self.by not in _FROM_FILES:
            return parameters_of(builders()[self.by], self.param)
        if len(self.param) != 1 or not self.param[0].removeprefix("file=") or "file=" not in self.param[0][:5]:
            raise InvalidParameter(f"{named('by')} {self.by} takes one parameter, {named('param')} file=FILE.")
        return {"file": self.param[0].removeprefix("file=")}

    def _built(self, attribute: Attribute) -> Hierarchy:
        from tabular.hierarchies import build, read_hierarchy

        parameters = self._parameters()
        if self.by not in _FROM_FILES:
            return build(attribute, self.by, **parameters)
        if self.by == "csv":
            return read_hierarchy(parameters["file"], attribute)
        try:
            paths: Any = json.loads(read_text(parameters["file"]))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{parameters['file']}: this is not JSON: {error}.") from None
        return build(attribute, self.by, paths=paths)
