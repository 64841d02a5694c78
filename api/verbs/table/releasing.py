"""What the verbs that release a table share: its options, and the files it comes as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from api.verbs.contract import STREAM, Work
from api.verbs.outputs import json_output
from api.verbs.table.reading import TableVerb
from tabular.errors import InvalidParameter, named
from tabular.registry import option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tabular.files.outputs import Output, Planned
    from tabular.files.reading import TableFile
    from tabular.table import Table

WRITES = "What it writes"


def table_protections() -> Any:
    """The protections of tables."""
    from tabular.protections import protections

    return protections


@dataclass(frozen=True, kw_only=True, eq=False)
class Released:
    """A table to be released, in the order of its original, and what is said of it."""

    table: Table
    columns: tuple[str, ...]
    method: str
    parameters: Mapping[str, Any]
    findings: Mapping[str, Any]
    #: The rows that are released, in their order; None where all stand as they are.
    order: NDArray[np.int64] | None
    #: What a label stands for, in words.
    labels: str
    matrices: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    #: What else leads back to the original.
    private: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ReleasingVerb(TableVerb):
    """A verb that writes a table as it may be released."""

    out: str | None = option(
        None, metavar="FILE", output=True, group=WRITES, help="The released table, CSV or Parquet by its name."
    )
    identifiers: str | None = option(
        None, choices=("drop", "star"), group=WRITES, help="What happens to identifiers; drop if not given."
    )
    shuffle: bool = option(
        False,
        group=WRITES,
        help="Put the rows in random order. In the original's order, whoever has the original can link each row with "
        "it; so can `table measure`. Shuffle before you release.",
    )
    private: str | None = option(
        None,
        metavar="FILE",
        output=True,
        group=WRITES,
        help="Keep what leads back to the original (seed, order, matrices) as JSON that only its owner can read.",
    )

    def check(self) -> None:
        from tabular.files.writing import check_table_name

        super().check()
        if self.out is not None:
            check_table_name(self.out)
        if self.private == STREAM:
            raise InvalidParameter(
                f"{named('private')} -: what leads back to the original must not mix with the release on standard "
                "output; give it a file."
            )

    def planned(self) -> Sequence[Planned]:
        from tabular.files.outputs import Planned
        from tabular.release.dictionary import dictionary_path

        beside = []
        if self.out is not None and self.out != STREAM:
            path = str(dictionary_path(self.out))
            beside.append(Planned(parameter="out", path=path, what="the data dictionary"))
        return [*super().planned(), *beside]

    def release_outputs(self, made: Released, source: TableFile, work: Work) -> tuple[dict[str, Any], list[Output]]:
        """What is said of a release, and its files: the table, its dictionary, and apart what leads back."""
        from tabular.files.outputs import Output
        from tabular.files.writing import write_table_to
        from tabular.release.dictionary import dictionary_path, table_dictionary
        from tabular.release.identifiers import IDENTIFIER, release_table

        out, identifiers = self.out or STREAM, self.identifiers or "drop"
        masked = made.table if made.order is None else made.table.rows(made.order)
        released = release_table(masked, identifiers=identifiers)
        document: dict[str, Any] = {
            "table": out,
            "rows": len(masked),
            "columns": list(made.columns),
            "method": made.method,
            "parameters": dict(made.parameters),
            **made.findings,
            "shuffled": self.shuffle,
            "dropped": list(masked.with_role(IDENTIFIER)) if identifiers == "drop" else [],
        }
        outputs = [
            Output(
                path=out,
                parameter="out",
                write=lambda file, _: write_table_to(file, released, out, like=source),
                released=True,
            )
        ]
        if out != STREAM:
            dictionary = table_dictionary(
                released,
                made.columns,
                method=made.method,
                parameters=made.parameters,
                findings=made.findings,
                shuffled=self.shuffle,
                titles={name: each.title for name, each in source.schema.attributes.items()},
                labels=made.labels,
            )
            document["dictionary"] = str(dictionary_path(out))
            outputs.append(json_output(document["dictionary"], "out", dictionary))
        if self.private is not None:
            document["private"] = self.private
            record = self._private_record(made, source, work)
            outputs.append(json_output(self.private, "private", record, private=True, indent=None))
        return document, outputs

    def _private_record(self, made: Released, source: TableFile, work: Work) -> dict[str, Any]:
        """What leads from the release back to the original."""
        from tabular.labels import text_of
        from tabular.release.fingerprint import fingerprint_of_table
        from tabular.release.version import version

        return {
            "private": "Who has this file can undo the release. Keep it apart from the release.",
            "version": version(),
            "input": fingerprint_of_table(source.table),
            "seed": work.seed,
            "columns": list(made.columns),
            "method": made.method,
            "parameters": dict(made.parameters),
            # Row i of the release is row order[i] of the original, both counted from 0.
            "order": None if made.order is None else made.order.tolist(),
            "matrices": {
                name: {
                    "categories": [text_of(value) for value in source.table.attribute(name).domain],
                    "matrix": matrix.tolist(),
                }
                for name, matrix in made.matrices.items()
            },
            **made.private,
        }
