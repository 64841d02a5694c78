"""`graph export`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from api.verbs.contract import STREAM, Outcome, Verb, Work, dictionary_beside, json_output, verbs
from api.verbs.graph.import_ import graph_formats
from tabular.errors import InvalidParameter, named
from tabular.files.disk import Output, Planned, place_of
from tabular.registry import option

if TYPE_CHECKING:
    from graphpriv.formats.contract import WrittenGraph


@verbs.add("graph export")
@dataclass(frozen=True, kw_only=True)
class ExportGraph(Verb):
    """Write a graph to a file; a release gets its data dictionary beside it.

    Places get new keys, made from the names in the graph. A key may differ from the imported file or another release;
    the path of the place stays the same.
    """

    store = "reads"

    name: str = option(help="The graph.", positional=True, graph="any")
    out: str = option(metavar="FILE", output=True, help="The graph file.")
    mapping: str | None = option(
        None,
        metavar="FILE",
        output=True,
        help="Also write the private CSV original,released of a release, apart from `out`.",
    )
    format: str | None = option(
        None,
        metavar="NAME",
        choices=graph_formats,
        help="The format of `out`; by its suffix if not given. An edge list is several files, so not -.",
    )

    def check(self) -> None:
        if self.mapping is None:
            return
        released = [place_of(path) for path in self._released() if path != STREAM]
        if self.mapping == self.out or (self.mapping != STREAM and place_of(self.mapping) in released):
            raise InvalidParameter(f"{named('mapping')} must go to a file of its own: it leads back to people.")

    def planned(self) -> Sequence[Planned]:
        beside = [Planned(parameter="out", path=path) for path in self._released()[1:]]
        return [*super().planned(), *beside]

    def _released(self) -> list[str]:
        """All files of a release, the dictionary last."""
        from graphpriv.formats import graph_files

        files = [str(path) for path in graph_files(self.out, self.format)]
        return [*files, *(each.path for each in dictionary_beside(self.out))]

    def run(self, work: Work) -> Outcome:
        from graphpriv.dictionary import release_dictionary
        from graphpriv.graph import SocialGraph
        from graphpriv.release import write_mapping
        from graphpriv.stored import export

        found = export(work.opened, self.name, with_origin=self.mapping is not None)
        is_release = found.info.is_release
        outputs = _graph_outputs(found.graph, self.out, self.format, is_release=is_release)
        for beside in dictionary_beside(self.out) if is_release else ():
            outputs.append(json_output(beside.path, "out", release_dictionary(found.graph, found.info)))
        origin, released = found.origin, found.graph
        if self.mapping is not None and origin is not None and isinstance(released, SocialGraph):
            outputs.append(
                Output(
                    path=self.mapping,
                    parameter="mapping",
                    write=lambda file, _: write_mapping(file, origin.graph.ids, released.ids, origin.mapping),
                    private=True,
                )
            )
        for each in found.notes:
            work.note(f"warning: {each}")
        return Outcome(document={"graph": self.name, "files": [each.path for each in outputs]}, outputs=outputs)


def _graph_outputs(graph: WrittenGraph, out: str, name: str | None, *, is_release: bool) -> list[Output]:
    """The files of a graph."""
    from graphpriv.formats import format_of, formats, graph_files

    writers = formats[format_of(out, name)].method().writers(graph, Path(out))
    return [
        Output(
            path=str(path),
            parameter="out",
            write=lambda file, _, write=write: write(file),  # type: ignore[misc]
            private=not is_release,
            released=is_release,
        )
        for path, write in zip(graph_files(out, name), writers, strict=True)
    ]
