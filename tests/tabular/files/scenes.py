"""What a command writes, before and after, for tests that make it fail or kill it."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from hypothesis import strategies as st

from tabular.files.disk import Output, release_id, write_outputs
from tabular.files.journal import MARK, finish_interrupted


def text(content: str) -> Callable[[IO[bytes], str], None]:
    return lambda file, _: (file.write(content.encode()), None)[1]


def record(of: str) -> Callable[[IO[bytes], str], None]:
    return lambda file, release: (file.write(json.dumps({"of": of, "release": release}).encode()), None)[1]


def output(path: Path | str, write: Callable[[IO[bytes], str], None], **options: bool) -> Output:
    return Output(path=str(path), parameter="out", write=write, **options)


class Scene:
    """A table, its dictionary and its private record in up to three folders, before and after a command."""

    def __init__(self, top: Path, *, folders: int, old: bool) -> None:
        self.top = top
        second = top if folders == 1 else top / "private"
        self.third = top / "made"
        second.mkdir(exist_ok=True)
        self.targets = [top / "table.csv", top / "table.csv.dictionary.json", second / "record.json"]
        if folders == 3:
            self.targets.append(self.third / "matrix.csv")
        self.old = old
        if old:
            self.write("old", overwrite=False)
        self.before = self.seen()

    def write(self, content: str, *, overwrite: bool = True) -> str | None:
        writers = [text(content * 3), record(content), record(content), text(content)]
        return write_outputs(
            [
                output(target, writer, released=target.name == "table.csv", private=target.name == "record.json")
                for target, writer in zip(self.targets, writers, strict=False)
            ],
            overwrite=overwrite,
        )

    def seen(self) -> list[bytes | None]:
        return [target.read_bytes() if target.exists() else None for target in self.targets]

    def expected(self, content: str) -> list[bytes | None]:
        document = json.dumps({"of": content, "release": release_id((content * 3).encode())}).encode()
        return [(content * 3).encode(), document, document, content.encode()][: len(self.targets)]

    def left_over(self) -> list[str]:
        return [path.name for path in self.top.rglob(f"{MARK}*")]

    def finish(self) -> list[str]:
        return [told for folder in (self.top / "private", self.third, self.top) for told in finish_interrupted(folder)]


@contextlib.contextmanager
def scene(folders: int, old: bool) -> Iterator[Scene]:
    with tempfile.TemporaryDirectory() as top:
        yield Scene(Path(top), folders=folders, old=old)


scenes = st.tuples(st.sampled_from([1, 2, 3]), st.booleans())
#: More than any command of a scene takes.
MOST_STEPS = 90
