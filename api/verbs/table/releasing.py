"""What the verbs that release a table share: its options, and the files it comes as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from api.verbs.contract import STREAM, Work
from api.verbs.outputs import dictionary_beside, json_output
from api.verbs.table.reading import TableVerb
from tabular.errors import InvalidParameter, named
from tabular.registry import option

if TYPE_CHECKING:
    from tabular.files.disk import Output, Planned
    from tabular.files.table_files import TableFile
    from tabular.release import Released

WRITES = "What it writes"


def table_protections() -> Any:
    """The protections of tables."""
    from tabular.protections import protections

    return protections


@dataclass(frozen=True, kw_only=True)
class ReleasingVerb(TableVerb):
    """A verb that writes a table as it may be released."""

    out: str | None = option(
        None, metavar="FILE", output=True, group=WRITES, help="The released table, CSV or Parquet by its name."
    )
    identifiers: str | None = option(
        None, choices=("drop", "star"), group=WRITES, help="Drop identifiers (the default), or replace them by *."
    )
    shuffle: bool = option(
        False,
        group=WRITES,
        help="Put the rows in random order. Do this before you release: whoever has the original can link rows that "
        "stand in its order. Leave it out for `table measure`, which compares row by row.",
    )
    private: str | None = option(
        None,
        metavar="FILE",
        output=True,
        group=WRITES,
        help="Keep what leads back to the original (seed, order, matrices) in a JSON file that only you can read.",
    )

    def check(self) -> None:
        from tabular.files.table_files import check_table_name

        super().check()
        if self.out is not None:
            check_table_name(self.out)
        if self.private == STREAM:
            raise InvalidParameter(
                f"{named('private')} -: what leads back to the original must not mix with the release on standard "
                "output; give it a file."
            )

    def planned(self) -> Sequence[Planned]:
        return [*super().planned(), *self._beside()]

    def _beside(self) -> list[Planned]:
        return [] if self.out is None else dictionary_beside(self.out)

    def release_outputs(self, made: Released, source: TableFile, work: Work) -> tuple[dict[str, Any], list[Output]]:
        """What is said of a release, and its files: the table, its dictionary, and apart what leads back."""
        from tabular.files.disk import Output
        from tabular.files.table_files import write_table_to
        from tabular.release import packaged

        out = self.out or STREAM
        package = packaged(
            made,
            source.table,
            shuffled=self.shuffle,
            titles={name: each.title for name, each in source.schema.attributes.items()},
            seed=work.seed,
        )
        document = {"table": out, **package.document}
        outputs = [
            Output(
                path=out,
                parameter="out",
                write=lambda file, _: write_table_to(file, package.table, out, like=source),
                released=True,
            )
        ]
        for beside in self._beside():
            document["dictionary"] = beside.path
            outputs.append(json_output(beside.path, "out", package.dictionary))
        if self.private is not None:
            document["private"] = self.private
            outputs.append(json_output(self.private, "private", package.private, private=True, indent=None))
        return document, outputs
