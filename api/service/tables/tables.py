"""Tables as the service keeps them: a folder each, under names that are separate for originals and releases.

tables/ID/table                    the file, CSV or Parquet, as it came
tables/ID/table.dictionary.json    of a release: its data dictionary
tables/ID/description.json         what `table describe` says of it
tables/ID/columns.parquet          its values, for questions
tables/ID/hierarchies/COLUMN.csv
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from api.service import access
from api.service.access import UnknownThing
from api.service.home import Home, now
from api.service.uploads import TooLarge
from api.verbs import verbs
from api.verbs.contract import Work
from api.verbs.values import made
from tabular.errors import InvalidInput, InvalidParameter, NameTaken, named

TableKind = Literal["original", "release"]

KINDS: tuple[TableKind, ...] = ("original", "release")

#: What a table may be called: the whole text.
NAME = r"^[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}(?![\s\S])"

#: What a hierarchy may be called: its column, as far as that can be the name of a file.
_COLUMN = r"^[^/\\\u0000-\u001f.-][^/\\\u0000-\u001f]{0,99}(?![\s\S])"

#: What the name of the hierarchies of a table begins with where a job runs.
HIERARCHIES = "hierarchies:"

#: So large a file is read while somebody waits, in bytes; a larger one is for a job.
AT_ONCE = 8 * 1024 * 1024

#: So many rows of the values lie together.
GROUP = 20_000

_COLUMNS = "id, name, kind, size, created"


@dataclass(frozen=True)
class StoredTable:
    """One table of the service."""

    #: Drawn at random, anew with each change.
    id: str
    name: str
    kind: TableKind
    size: int
    created: str
    folder: Path

    @property
    def address(self) -> str:
        """A name that means this table and no other, whoever reads it; a job knows it by that."""
        return self.name if self.kind == "original" else f"release:{self.name}"

    @property
    def file(self) -> Path:
        """The table itself."""
        return self.folder / "table"

    @property
    def dictionary(self) -> Path:
        """Its data dictionary, if it has one."""
        return self.folder / "table.dictionary.json"

    @property
    def columns(self) -> Path:
        """Its values, for questions."""
        return self.folder / "columns.parquet"

    @property
    def hierarchies(self) -> Path:
        """The folder of its hierarchies."""
        return self.folder / "hierarchies"

    @property
    def format(self) -> str:
        """How its file is written."""
        with self.file.open("rb") as file:
            return "parquet" if file.read(4) == b"PAR1" else "csv"

    @property
    def document(self) -> dict[str, Any]:
        """What a list tells of it."""
        return {"name": self.name, "kind": self.kind, "size": self.size, "format": self.format, "created": self.created}


@dataclass(frozen=True)
class Tables:
    """The tables of a service, for those who may know of them."""

    home: Home

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self.home.folder / "tables"

    def all(self) -> list[StoredTable]:
        """All of them, by name."""
        with self.home.reading() as db:
            found = db.execute(f"SELECT {_COLUMNS} FROM tables ORDER BY name, kind").fetchall()  # noqa: S608 (ours)
        return [self._of_row(row) for row in found]

    def _of_row(self, row: tuple[Any, ...]) -> StoredTable:
        id, name, kind, size, created = row
        return StoredTable(id, name, kind, size, created, self.folder / id)

    def visible(self, role: str) -> list[StoredTable]:
        """Those that a *role* may know of."""
        return [each for each in self.all() if access.may_see(role, each.kind)]

    def find(self, text: str, role: str, action: str | None, *, kinds: Iterable[TableKind] = KINDS) -> StoredTable:
        """The table that *text* names, of one of the *kinds*, if the *role* may do *action* with it, or see it."""
        if action is not None:
            access.refuse_role(role, action)
        asked, name = split(text)
        for kind in KINDS:
            if kind in kinds and asked in (None, kind) and access.may_see(role, kind):
                for table in self.all():
                    if (table.kind, table.name) == (kind, name):
                        if action is not None:
                            access.refuse_thing(role, action, kind, "table", text)
                        return table
        raise UnknownThing.called("table", text)

    def at(self, address: str) -> StoredTable:
        """The table of an address."""
        for table in self.all():
            if table.address == address:
                return table
        raise UnknownThing.called("table", address)

    def refuse_taken(self, name: str, kind: TableKind) -> None:
        """Refuse the name of another table of that kind."""
        if any((each.kind, each.name) == (kind, name) for each in self.all()):
            raise NameTaken(f"A table is called {name!r} already; take another name, or delete that one.")

    def add(
        self,
        name: str,
        kind: TableKind,
        file: Path,
        *,
        dictionary: Path | None = None,
        replaced: StoredTable | None = None,
        is_read: bool = True,
    ) -> StoredTable:
        """Keep a *file* as a table; one that *is read* now is described and can be asked, or is none."""
        check_name(name)
        id = secrets.token_hex(16)
        made_now = StoredTable(id, name, kind, file.stat().st_size, now(), self.folder / id)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        made_now.folder.mkdir(mode=0o700)
        try:
            _copy(file, made_now.file)
            if dictionary is not None and dictionary.is_file():
                _copy(dictionary, made_now.dictionary)
            _keep_hierarchies(replaced, made_now)
            if is_read:
                self.describe(made_now)
            self._enter(made_now, replaced)
        except BaseException:
            shutil.rmtree(made_now.folder, ignore_errors=True)
            raise
        if replaced is not None:
            shutil.rmtree(replaced.folder, ignore_errors=True)
        return made_now

    def _enter(self, table: StoredTable, replaced: StoredTable | None) -> None:
        with self.home.writing() as db:
            if replaced is not None:
                db.execute("DELETE FROM tables WHERE id = ?", (replaced.id,))
            row = (table.id, table.name, table.kind, table.size, table.created)
            try:
                db.execute(f"INSERT INTO tables ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", row)  # noqa: S608 (ours)
            except sqlite3.IntegrityError:
                raise NameTaken(f"A table is called {table.name!r} already; take another name.") from None

    def described(self, table: StoredTable) -> dict[str, Any]:
        """What `table describe` says of a table; it is read when somebody first asks, unless it is large."""
        kept = table.folder / "description.json"
        with contextlib.suppress(FileNotFoundError):
            return dict(json.loads(kept.read_bytes()))
        return self.describe(table)

    def describe(self, table: StoredTable, *, at_most: int | None = AT_ONCE) -> dict[str, Any]:
        """Read a table, and keep its description and its values."""
        from tabular.files.parquet import write_parquet
        from tabular.files.table_files import read_file

        if at_most is not None and table.size > at_most:
            raise TooLarge("This table is too large to be read at once; ask for it by POST /v1/table/describe.")
        verb = made(verbs["table describe"].method, {"file": str(table.file)})
        try:
            document = {**verb.run(Work()).document, "file": table.name}
            read = read_file(table.file)
        except InvalidInput as error:
            # Where its file lies is nobody's business.
            raise InvalidInput(error.worded(named).replace(str(table.file), table.name)) from None
        with _replacing(table.columns) as file:
            write_parquet(file, read.table, group=GROUP)
        with _replacing(table.folder / "description.json") as file:
            file.write(json.dumps(document, ensure_ascii=False).encode())
        return document

    def delete(self, table: StoredTable) -> None:
        """Delete a table with all that belongs to it."""
        with self.home.writing() as db:
            db.execute("DELETE FROM tables WHERE id = ?", (table.id,))
        shutil.rmtree(table.folder, ignore_errors=True)

    def hierarchy(self, table: StoredTable, column: str) -> Path:
        """The file of the hierarchy of a column."""
        path = table.hierarchies / f"{column}.csv"
        if not re.match(_COLUMN, column) or not path.is_file():
            raise UnknownThing.called("hierarchy", column)
        return path

    def put_hierarchy(self, table: StoredTable, column: str, data: bytes) -> bool:
        """Keep the hierarchy of a column; says whether there was one."""
        from tabular.files.table_files import read_file
        from tabular.hierarchies.hierarchy import read_hierarchy

        if not re.match(_COLUMN, column):
            raise InvalidParameter.wrong("column", must="be the name of a column, without / and \\", was=column[:100])
        known = self.described(table)["columns"]
        if column not in [each["name"] for each in known]:
            raise UnknownThing.called("column", column)
        table.hierarchies.mkdir(mode=0o700, exist_ok=True)
        path, new = table.hierarchies / f"{column}.csv", table.folder / f"new-{secrets.token_hex(8)}"
        try:
            new.write_bytes(data)
            new.chmod(0o600)
            # Reading checks it; the attribute says what its values are.
            read_hierarchy(new, read_file(table.file).table.attribute(column))
            is_there = path.exists()
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
        return is_there


def split(text: str) -> tuple[TableKind | None, str]:
    """The kind that a name begins with, if any, and the name."""
    for kind in KINDS:
        if text.startswith(f"{kind}:"):
            return kind, text.removeprefix(f"{kind}:")
    return None, text


def check_name(name: str) -> str:
    """Refuse what a table may not be called."""
    if not re.match(NAME, name) or name.startswith(("upload-", "folder-")):
        must = (
            "be letters, digits, dots, blanks, hyphens and underscores, up to 100, and not begin with upload- or "
            "folder-"
        )
        raise InvalidParameter.wrong("name", must=must, was=name[:100])
    return name


def place_of(tables: Tables, name: str) -> Mapping[str, Path]:
    """Where the things lie that a job knows by the *name* of a table or of its hierarchies, each by its own name."""
    if name.startswith(HIERARCHIES):
        table = tables.at(name.removeprefix(HIERARCHIES))
        table.hierarchies.mkdir(mode=0o700, exist_ok=True)
        return {name: table.hierarchies}
    table = tables.at(name)
    beside = {f"{name}.dictionary.json": table.dictionary} if table.dictionary.is_file() else {}
    return {name: table.file, **beside}


def keep(work: Work, name: str, file: Path, *, is_release: bool) -> None:
    """Make a table of the service called *name* of a file that a verb has written, with the dictionary beside it."""
    with work.service_home() as records:
        tables, kind = Tables(records.home), KINDS[is_release]
        if work.again:
            # A worker may have been killed after it had done this.
            with contextlib.suppress(UnknownThing):
                found = tables.at(name if kind == "original" else f"release:{name}")
                if found.file.read_bytes() == file.read_bytes():
                    return
        table = tables.add(name, kind, file, dictionary=Path(f"{file}.dictionary.json"), is_read=False)
        tables.describe(table, at_most=None)


def _copy(file: Path, to: Path) -> None:
    """Copy a file for its owner alone, down to the disk."""
    with file.open("rb") as source, os.fdopen(os.open(to, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as into:
        shutil.copyfileobj(source, into, 1 << 20)
        into.flush()
        os.fsync(into.fileno())


def _keep_hierarchies(replaced: StoredTable | None, table: StoredTable) -> None:
    if replaced is not None and replaced.hierarchies.is_dir():
        shutil.copytree(replaced.hierarchies, table.hierarchies)


@contextlib.contextmanager
def _replacing(path: Path) -> Any:
    """A file that takes its place when it is whole."""
    new = path.with_name(f"new-{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b") as file:
            yield file
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
