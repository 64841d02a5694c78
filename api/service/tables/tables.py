"""Tables as the service keeps them: a folder each, under names that are separate for originals and releases.

tables/ID/table                    the file, CSV or Parquet, as it came
tables/ID/table.dictionary.json    of a release: its data dictionary
tables/ID/schema.json              what somebody has said of its columns
tables/ID/description-STATE.json   what `table describe` says of it
tables/ID/columns-STATE.parquet    its values, for questions
tables/ID/hierarchies/COLUMN.csv
tables/ID/source                   the name of the upload that it came from, if it did

What is read from a table depends on its schema, so STATE is a digest of that.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from api.service import access
from api.service.access import UnknownThing
from api.service.home import Home, now
from api.service.uploads.scanner import TooLarge
from tabular.errors import InvalidInput, InvalidParameter, NameTaken, Outdated, named
from tabular.files.csv_tables import DialectOptions
from tabular.files.description import described, described_columns
from tabular.files.journal import MARK, leftovers
from tabular.files.limits import TooMuch
from tabular.files.schema import schema_of
from tabular.files.working import working_folder

if TYPE_CHECKING:
    from api.verbs.contract import Work
    from tabular.files.table_files import TableFile
    from tabular.table import Table

TableKind = Literal["original", "release"]

KINDS: tuple[TableKind, ...] = ("original", "release")

#: What a table may be called: the whole text.
NAME = r"^[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}(?![\s\S])"

#: What a hierarchy may be called: its column, as far as that can be the name of a file.
_COLUMN = r"^[^/\\\u0000-\u001f.-][^/\\\u0000-\u001f]{0,99}(?![\s\S])"

#: What the names of the hierarchies and of the schema of a table begin with where a job runs.
HIERARCHIES, SCHEMA = "hierarchies:", "schema:"

#: So large a file is read while somebody waits, in bytes; a larger one is for a job.
AT_ONCE = 8 * 1024 * 1024

#: A CSV file of that size has no more cells; a Parquet file can have any number.
_CELLS_AT_ONCE = AT_ONCE // 2

#: So many rows of the values lie together.
GROUP = 20_000

#: After so long, in seconds, a folder of no table is one that a killed process has left.
_LEFT = 3600

#: What the name of a file begins with that is to replace another one.
_NEW = "new-"

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
    def schema(self) -> Path:
        """What somebody has said of its columns, if anybody has."""
        return self.folder / "schema.json"

    @property
    def state(self) -> str:
        """What its schema says, as a digest: with another one the file is read otherwise."""
        with contextlib.suppress(FileNotFoundError):
            return _state(self.schema.read_bytes())
        return "plain"

    @property
    def tag(self) -> str:
        """Stands for the table and its schema as they are now."""
        return f"{self.id}-{self.state}"

    @property
    def description(self) -> Path:
        """What `table describe` says of it."""
        return self.read_in(self.state)[1]

    @property
    def columns(self) -> Path:
        """Its values, for questions."""
        return self.read_in(self.state)[0]

    def read_in(self, state: str) -> tuple[Path, Path]:
        """Its values and its description in a *state*."""
        return self.folder / f"columns-{state}.parquet", self.folder / f"description-{state}.json"

    @property
    def hierarchies(self) -> Path:
        """The folder of its hierarchies."""
        return self.folder / "hierarchies"

    @property
    def source(self) -> str | None:
        """The file of the upload that it came from; that may still be there."""
        kept = self.folder / "source"
        return kept.read_text() if kept.is_file() else None

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
        return sorted(
            (table for kind in KINDS for table in self._of_kind(kind)), key=lambda each: (each.name, each.kind)
        )

    def _of_kind(self, kind: TableKind) -> list[StoredTable]:
        """Those of one kind, by name; nothing of others is read, since the time of that may tell of them."""
        with self.home.reading() as db:
            query = f"SELECT {_COLUMNS} FROM tables WHERE kind = ? ORDER BY name"  # noqa: S608 (ours)
            found = db.execute(query, (kind,)).fetchall()
        return [self._of_row(row) for row in found]

    def _of_row(self, row: tuple[Any, ...]) -> StoredTable:
        id, name, kind, size, created = row
        return StoredTable(id, name, kind, size, created, self.folder / id)

    def visible(self, role: str) -> list[StoredTable]:
        """Those that a *role* may know of."""
        found = [table for kind in KINDS if access.may_see(role, kind) for table in self._of_kind(kind)]
        return sorted(found, key=lambda each: (each.name, each.kind))

    def find(self, text: str, role: str, action: str | None, *, kinds: Iterable[TableKind] = KINDS) -> StoredTable:
        """The table that *text* names, of one of the *kinds*, if the *role* may do *action* with it, or see it."""
        if action is not None:
            access.refuse_role(role, action)
        asked, name = split(text)
        for kind in KINDS:
            if kind in kinds and asked in (None, kind) and access.may_see(role, kind):
                for table in self._of_kind(kind):
                    if table.name == name:
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
        source: str | None = None,
        replaced: StoredTable | None = None,
        tag: str | None = None,
        schema: Mapping[str, Any] | None = None,
        is_read: bool = True,
    ) -> StoredTable:
        """Keep a *file* as a table; one that *is read* now is described and can be asked, or is none.

        *source* is the name of the upload that it came as. What is *replaced* keeps its folder until it is deleted, and
        must still have the *tag*.
        """
        check_name(name)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        with working_folder(self.folder) as folder:
            made_now = StoredTable(secrets.token_hex(16), name, kind, file.stat().st_size, now(), folder)
            _copy(file, made_now.file)
            if dictionary is not None and dictionary.is_file():
                _copy(dictionary, made_now.dictionary)
            if source is not None:
                (made_now.folder / "source").write_text(source)
            _keep_what_was_said(replaced, made_now)
            if schema:
                _write_schema(made_now, schema)
            if is_read:
                self.describe(made_now)
            return self._enter(made_now, replaced, tag)

    def _enter(self, table: StoredTable, replaced: StoredTable | None, tag: str | None) -> StoredTable:
        """Give a table that is whole its place and its name."""
        entered = replace(table, folder=self.folder / table.id)
        with self.home.writing() as db:
            if replaced is not None:
                refuse_outdated(replaced, tag)
                if not db.execute("DELETE FROM tables WHERE id = ?", (replaced.id,)).rowcount:
                    raise _outdated()
            row = (table.id, table.name, table.kind, table.size, table.created)
            try:
                db.execute(f"INSERT INTO tables ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", row)  # noqa: S608 (ours)
            except sqlite3.IntegrityError:
                raise NameTaken(f"A table is called {table.name!r} already; take another name.") from None
            # Before the name counts: a folder without a name is erased within the hour, a name without a folder is not.
            table.folder.rename(entered.folder)
        return entered

    def described(self, table: StoredTable) -> dict[str, Any]:
        """What `table describe` says of a table; it is read when somebody first asks, unless it is large."""
        with contextlib.suppress(FileNotFoundError):
            return dict(json.loads(table.description.read_bytes()))
        return self.describe(table)

    def describe(self, table: StoredTable, *, at_most: int | None = AT_ONCE) -> dict[str, Any]:
        """Read a table, and keep its description and its values."""
        if at_most is not None and takes_long(table.file, at_most):
            raise TooLarge(
                "This table is too large to be read at once. A job reads it after it is put here: ask again when "
                "the job has ended, or read it with POST /v1/table/describe."
            )
        columns, description = table.columns, table.description
        return _write_down(self.read(table, self.schema(table)), columns, description)

    def read(self, table: StoredTable, schema: Mapping[str, Any]) -> TableFile:
        """The table of a file as a *schema* has it."""
        from tabular.files.table_files import read_file

        try:
            read = read_file(table.file, schema=schema_of(schema, "the schema"))
        except InvalidInput as error:
            # Where its file lies is nobody's business.
            kind = TooMuch if isinstance(error, TooMuch) else InvalidInput
            raise kind(error.worded(named).replace(str(table.file), table.name)) from None
        return replace(read, name=table.name)

    def values(self, table: StoredTable, names: Sequence[str]) -> Table:
        """Some columns of a table as its schema has them; the table is read when somebody first asks."""
        if not table.columns.is_file():
            self.describe(table)
        return _values(table.columns, tuple(names), json.dumps(self.schema(table)))

    def schema(self, table: StoredTable) -> dict[str, Any]:
        """What somebody has said of the columns of a table, with the keys of a schema file."""
        with contextlib.suppress(FileNotFoundError):
            return dict(json.loads(table.schema.read_bytes()))
        return {}

    def put_schema(self, table: StoredTable, schema: Mapping[str, Any], *, tag: str | None = None) -> dict[str, Any]:
        """Keep the *schema* of a table, if it is one with it and still has the *tag*; gives the new description."""
        before, kept = (table.columns, table.description), table.read_in(_state(_written(schema)))
        if not takes_long(table.file):
            document = _write_down(self.read(table, schema), *kept)
        else:
            document = self._corrected(table, schema)
            if kept[0] != before[0]:
                shutil.copyfile(before[0], kept[0])
            _write_json(kept[1], document)
        # What was read with the schema is there before it is.
        with self.home.writing():
            refuse_outdated(table, tag)
            _write_schema(table, schema)
        # Somebody may be reading what there was before; what was before that goes.
        for path in {*table.folder.glob("columns-*"), *table.folder.glob("description-*")} - {*before, *kept}:
            path.unlink(missing_ok=True)
        return document

    def _corrected(self, table: StoredTable, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The description of a table that is too large to be read whole, with other words on some columns."""
        from tabular.files.table_files import read_kept

        document, before = self.described(table), self.schema(table)
        old, new = before.get("attributes", {}), schema.get("attributes", {})
        said = [{key: value for key, value in each.items() if key != "attributes"} for each in (before, schema)]
        if said[0] != said[1]:
            text = "How the file is written can only be said of a table of this size when it comes in, by POST "
            raise TooLarge(f"{text}/v1/table/import.")
        names = [each["name"] for each in document["columns"]]
        try:
            known = schema_of(schema, "the schema")
            known.fitting(names, table.name)
            changed = [name for name in names if old.get(name) != new.get(name)]
            read = read_kept(table.columns, changed, replace(known, columns=(), options=DialectOptions()))
        except InvalidInput as error:
            raise InvalidInput(error.worded(named).replace(str(table.columns), table.name)) from None
        found = {each["name"]: each for each in described_columns(read)}
        columns = [
            {**found.get(each["name"], each), "missing_marker": each["missing_marker"]} for each in document["columns"]
        ]
        return {**document, "columns": columns}

    def delete(self, table: StoredTable) -> None:
        """Delete a table with all that belongs to it."""
        with self.home.writing() as db:
            db.execute("DELETE FROM tables WHERE id = ?", (table.id,))
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(table.folder)

    def gone(self, error: Exception) -> UnknownThing | None:
        """What an *error* says where it comes of a table that was deleted or replaced while it was in use."""
        name = error.filename if isinstance(error, FileNotFoundError) else None
        path = Path(str(name or ""))
        if self.folder not in path.parents or path.relative_to(self.folder).parts[0] in {
            each.id for each in self.all()
        }:
            return None
        return UnknownThing("This table was deleted or replaced in the meantime; read it again.")

    def erase_left(self) -> None:
        """Delete folders of no table, and files that never took their place: whoever wrote them was killed."""
        known = {each.id for each in self.all()}
        # One that has just been made gets its name in the next moment.
        left = [each for each in self.folder.glob("*") if each.name not in known and not each.name.startswith(MARK)]
        leftovers(self.folder)
        for path in (*left, *self.folder.glob(f"*/{_NEW}*")):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - _LEFT:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def hierarchy(self, table: StoredTable, column: str) -> Path:
        """The file of the hierarchy of a column."""
        path = table.hierarchies / f"{column}.csv"
        if not re.match(_COLUMN, column) or not path.is_file():
            raise UnknownThing.called("hierarchy", column)
        return path

    def put_hierarchy(self, table: StoredTable, column: str, data: bytes) -> bool:
        """Keep the hierarchy of a column; says whether there was one."""
        from tabular.hierarchies.hierarchy import read_hierarchy

        check_column(column)
        known = self.described(table)["columns"]
        if column not in [each["name"] for each in known]:
            raise UnknownThing.called("column", column)
        table.hierarchies.mkdir(mode=0o700, exist_ok=True)
        path, new = table.hierarchies / f"{column}.csv", table.folder / f"{_NEW}{secrets.token_hex(8)}"
        try:
            new.write_bytes(data)
            new.chmod(0o600)
            # Reading checks it; the attribute says what its values are.
            read_hierarchy(new, self.values(table, [column]).attribute(column))
            is_there = path.exists()
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
        return is_there


def refuse_outdated(table: StoredTable, tag: str | None) -> None:
    """Refuse a table that no longer has a *tag*, where that is asked for."""
    if tag is not None and table.tag != tag:
        raise _outdated()


def _outdated() -> Outdated:
    return Outdated("The table has changed in the meantime; read it again.")


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
            "be letters from a to z, digits, dots, blanks, hyphens and underscores, up to 100, and not begin with "
            "upload- or folder-"
        )
        raise InvalidParameter.wrong("name", must=must, was=name[:100])
    return name


def check_column(column: str) -> str:
    """Refuse a column whose hierarchy cannot be called so."""
    if not re.match(_COLUMN, column):
        raise InvalidParameter.wrong("column", must="be the name of a column, without / and \\", was=column[:100])
    return column


def place_of(tables: Tables, name: str) -> Mapping[str, Path]:
    """Where the things lie that a job knows by the *name* of a table or of its hierarchies, each by its own name."""
    if name.startswith(SCHEMA):
        return {name: tables.at(name.removeprefix(SCHEMA)).schema}
    if name.startswith(HIERARCHIES):
        table = tables.at(name.removeprefix(HIERARCHIES))
        table.hierarchies.mkdir(mode=0o700, exist_ok=True)
        return {name: table.hierarchies}
    table = tables.at(name)
    beside = {f"{name}.dictionary.json": table.dictionary} if table.dictionary.is_file() else {}
    return {name: table.file, **beside}


def keep(work: Work, name: str, file: Path, *, is_release: bool, schema: Mapping[str, Any] | None) -> None:
    """Make a table of the service called *name* of a file, with its dictionary and what is said of its columns."""
    with work.service_home() as records:
        tables, kind = Tables(records.home), KINDS[is_release]
        if work.again:
            # A worker may have been killed after it had done this.
            with contextlib.suppress(UnknownThing):
                found = tables.at(name if kind == "original" else f"release:{name}")
                if found.file.read_bytes() == file.read_bytes():
                    return
        table = tables.add(name, kind, file, dictionary=Path(f"{file}.dictionary.json"), schema=schema, is_read=False)
        tables.describe(table, at_most=None)


def keep_description(work: Work, file: Path) -> None:
    """Keep what a table of the service is, if a *file* that a job reads is one and nothing is kept of it yet."""
    with work.service_home() as records:
        tables, real = Tables(records.home), file.resolve()
        for table in tables.all():
            if table.file.resolve() == real and not table.description.is_file():
                tables.describe(table, at_most=None)


@lru_cache(maxsize=4)
def _values(path: Path, names: tuple[str, ...], schema: str) -> Table:
    """Columns of a file that is never changed."""
    from tabular.files.table_files import read_kept

    known = json.loads(schema)
    # How the file was written, and what stands for a missing value, is dealt with already.
    return read_kept(path, names, schema_of({"attributes": known.get("attributes", {})}, "the schema")).table


def _write_schema(table: StoredTable, schema: Mapping[str, Any]) -> None:
    with replacing(table.schema) as file:
        file.write(_written(schema))


def _written(schema: Mapping[str, Any]) -> bytes:
    return json.dumps(schema, ensure_ascii=False).encode()


def _state(schema: bytes) -> str:
    return hashlib.sha256(schema).hexdigest()[:16]


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    with replacing(path) as file:
        file.write(json.dumps(document, ensure_ascii=False).encode())


def takes_long(file: Path, at_most: int = AT_ONCE) -> bool:
    """Whether a *file* takes more time and memory than reading may take while somebody waits."""
    return file.stat().st_size > at_most or _cells(file) > _CELLS_AT_ONCE


def _cells(file: Path) -> int:
    """How many cells a Parquet file says that it has; 0 for a CSV file, and for one that is broken."""
    with file.open("rb") as opened:
        if opened.read(4) != b"PAR1":
            return 0
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(file)
    except (pa.ArrowException, OSError, ValueError):
        # Whoever reads it says so.
        return 0
    return int(metadata.num_rows * metadata.num_columns)


def _copy(file: Path, to: Path) -> None:
    """Copy a file for its owner alone, down to the disk."""
    with file.open("rb") as source, os.fdopen(os.open(to, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as into:
        shutil.copyfileobj(source, into, 1 << 20)
        into.flush()
        os.fsync(into.fileno())


def _keep_what_was_said(replaced: StoredTable | None, table: StoredTable) -> None:
    """The schema and the hierarchies of a table that is *replaced* are those of the next."""
    if replaced is not None and replaced.hierarchies.is_dir():
        shutil.copytree(replaced.hierarchies, table.hierarchies)
    if replaced is not None and replaced.schema.is_file():
        _copy(replaced.schema, table.schema)


def _write_down(read: TableFile, columns: Path, description: Path) -> dict[str, Any]:
    """Keep the values and the description of a table that was read; gives the description."""
    from tabular.files.parquet import write_parquet

    document = described(read)
    with replacing(columns) as file:
        write_parquet(file, read.table, group=GROUP)
    _write_json(description, document)
    return document


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Any]:
    """A file that takes its place when it is whole."""
    new = path.with_name(f"{_NEW}{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b") as file:
            yield file
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
