"""Edge lists: one file of edges, and beside it one of users with their attributes and one of places.

The attributes of `X.csv` are in `X.users.csv` and its places in `X.places.csv`, unless other files are named. A line
that begins with `#` is a comment; `# Undirected graph` says, as in the files of SNAP, that edges have no direction.

Cells that a spreadsheet could run have an apostrophe in front (see `tabular.files.csv_tables`) and lose it on reading.
Two ids of one file that are then the same are refused: they were two in whatever wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from graphpriv.formats.contract import (
    GraphFormat,
    Imported,
    Origin,
    Texts,
    Writer,
    WrittenGraph,
    content,
    formats,
    places_that_occur,
    users_of,
    write_pieces,
)
from graphpriv.formats.draft import DEEPEST_PATH, TOPIC_COLUMNS, Draft, Where
from graphpriv.graph import SocialGraph
from graphpriv.places import KNOWN_TYPES, LEVELS, WORLD, PlaceTree, Step
from tabular.errors import InvalidInput, InvalidRecord
from tabular.files.csv_tables import (
    commented_rows,
    first_line,
    found_delimiter,
    plain,
    read_table,
    write_csv,
    written_cell,
)
from tabular.files.disk import STREAM
from tabular.loop import Report

#: Names of the two columns of an edge in files that have a header.
HEADERS = (("source", "target"), ("from", "to"), ("node_1", "node_2"), ("node1", "node2"), ("src", "dst"))
#: Names of the column with the id of a user.
ID_COLUMNS = ("id", "user", "user_id", "node", "node_id")
COMPANIONS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")

#: What a cell begins with that loses an apostrophe on reading, or that another loses one to be like.
COULD_CHANGE = frozenset("'=+-@\t\r")
#: What to do where the first line could be a header.
CALL_THEM = "names the columns, call them source and target"
#: Sources and targets of edges as positions of users.
Ends = tuple[NDArray[np.int32], NDArray[np.int32]]

_SAYS_DIRECTION = re.compile(rb"#\s*(un)?directed\b", re.IGNORECASE)
#: Rows are looked at in blocks; few enough that the garbage collector does not wake up for them.
_BLOCK = 512
#: In fewer edges than this it is no wonder that none of them goes back.
_ENOUGH = 100
#: So many edges are looked at before all of them are.
_SAMPLE = 1000
#: After so many users it is told how far the reading is.
_SELDOM = 10_000


@formats.add(
    "edge-list",
    cites="Leskovec and Krevl (2014), SNAP data sets; RFC 4180",
    limits="Three files. Without a file of users, the users are those of the edges and have no attributes.",
)
@dataclass(frozen=True, kw_only=True)
class EdgeList(GraphFormat):
    """Keep a graph as tables: a line per edge, a line per user, a line per place."""

    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".txt", ".edges")
    parts: ClassVar[tuple[str, ...]] = ("users", "places")

    def read(self, origin: Origin) -> Imported:
        path = origin.path
        users = origin.attributes or _beside(path, "users")
        places = origin.places or _beside(path, "places")
        edges = content(path)
        read = _Edges(edges, str(path), origin.report)
        draft, ends = _read_users(users, read) if users else read.users()
        said = _says_directed(edges) if origin.directed is None else origin.directed
        locations, place_at = read_places(places) if places else (None, None)
        imported = draft.graph(
            locations, directed=said is not False, where=str(places), place_at=place_at, ends=ends, notes=read.notes
        )
        hint = direction_hint(imported.graph, said=said is not None) if origin.directed is None else None
        return imported if hint is None else replace(imported, notes=(*imported.notes, f"{path}: {hint}"))

    def text(self, graph: WrittenGraph) -> Iterator[str]:
        return _edge_lines(graph, ",")

    def writers(self, graph: WrittenGraph, path: Path) -> list[Writer]:
        tree, location = places_that_occur(graph)
        header = ["id", "location", *TOPIC_COLUMNS, *graph.private]
        return [
            lambda file: write_pieces(file, _edge_lines(graph, "," if path.suffix == ".csv" else "\t")),
            lambda file: write_csv(file, header, _user_rows(graph, location, [*tree.keys, None])),
            lambda file: write_csv(file, COLUMNS, place_rows(tree)),
        ]


def _beside(path: Path, part: str) -> Path | None:
    if str(path) == STREAM:
        return None
    stem = path.with_suffix("") if path.suffix == ".gz" else path
    found = (stem.with_suffix(f".{part}{ending}") for ending in COMPANIONS)
    return next((file for file in found if file.is_file()), None)


def _says_directed(data: bytes) -> bool | None:
    """Whether the comments at the top say that the edges have a direction, None if they say nothing."""
    for line in re.finditer(rb"[^\r\n]+", data.removeprefix(b"\xef\xbb\xbf")):
        said = _SAYS_DIRECTION.match(line.group())
        if said:
            return said.group(1) is None
        if not line.group().startswith(b"#"):
            break
    return None


def _read_users(path: Path, edges: _Edges) -> tuple[Draft, Ends]:
    """The users of a file, and the edges among them."""
    header, rows, line = read_table(content(path), str(path))
    found = [position for position, column in enumerate(header) if column.lower() in ID_COLUMNS]
    column = next((position for position in found if header[position].lower() == "id"), found[0] if found else None)
    if column is None:
        # Without a header this line is a person: it is not shown.
        raise InvalidInput(f"{path}: the first line must name the columns, and one of them {' or '.join(ID_COLUMNS)}.")
    names = [*header[:column], *header[column + 1 :]]
    draft = Draft(edges.file, lambda number: f"{path}, line {line(number)}", edges.where, edges.report)
    draft.declare(names)
    for number, row in enumerate(rows):
        if number % _SELDOM == 0:
            edges.report("Reading users", number, 0)
        user = row.pop(column)
        draft.add_user(number, user, dict(zip(names, row, strict=True)))
    return draft, edges.ends(draft)


class _Edges:
    """The file of edges: which columns hold the ends, and the ends as positions of users."""

    def __init__(self, data: bytes, file: str, report: Report) -> None:
        self.file, self.report = file, report
        self._lines = data.count(b"\n")
        self.rows = commented_rows(data, file, found_delimiter(first_line(data)))
        # Only text with an apostrophe in it can hold cells that were made harmless.
        self.marked = b"'" in data
        #: How each id stands in the file that loses an apostrophe, or could have one.
        self._spelled: dict[str, str] = {}
        self.notes: list[str] = []
        self.first = next(iter(self.rows), [])
        self.columns = _ends_in(self.first)
        self.names = self.first if self.columns else [f"column {column + 1}" for column in range(len(self.first))]

    def where(self, row: int) -> str:
        """The place of a row, for errors."""
        return f"{self.file}, line {self.rows.ends(row)}"

    def users(self) -> tuple[Draft, Ends]:
        """The users as they appear in the edges, and the edges."""
        draft = Draft(self.file, self.where, self.where, self.report)
        ends = self.ends(draft, closed=False)
        if self.columns or not lonely_first_line(*ends):
            return draft, ends
        if _numbers_after_names(list(draft.index)):
            self.columns, self.names = (0, 1), self.first
            self.notes.append(
                f"{self.where(0)}: this line was taken for the names of the columns, since all ids after it are "
                "numbers; the first column is the source of an edge, the second its target."
            )
            return self.users()
        self.notes.append(
            f"{self.where(0)}: this line was read as an edge, though its two users occur in no other line; if it "
            f"{CALL_THEM}."
        )
        return draft, ends

    def ends(self, draft: Draft, *, closed: bool = True) -> Ends:
        """Sources and targets of all edges; if not *closed*, users are added as they appear."""
        begun = 1 if self.columns else 0
        rows = islice(self.rows, begun, None)
        parts = [np.zeros((2, 0), dtype=np.int32)]
        while block := list(islice(rows, _BLOCK)):
            self.report("Reading edges", begun, max(begun, self._lines))
            columns = self._columns(block, begun, draft)
            if not closed:
                for number, pair in enumerate(zip(*columns, strict=True), start=begun):
                    for end in pair:
                        if end not in draft.index:
                            draft.add_user(number, end, {})
            found = np.array([list(map(draft.index.get, side, repeat(-1))) for side in columns], dtype=np.int32)
            if found.min() < 0:
                edge, side = np.argwhere(found.T < 0)[0].tolist()
                fault = f"the {('source', 'target')[side]} of this edge is not a user of the graph"
                hint = "" if self.columns or begun + edge else f"; if this line {CALL_THEM}"
                raise InvalidRecord(f"{self.where(begun + edge)}: {fault}{hint}.")
            parts.append(found)
            begun += len(block)
        sources, targets = np.concatenate(parts, axis=1)
        return sources, targets

    def _columns(self, block: list[list[str]], begun: int, draft: Draft) -> list[Sequence[str]]:
        """The two columns of ends in a *block* of rows; cells that are no ends are counted."""
        width = len(self.first)
        for number, row in enumerate(block) if width < 2 or set(map(len, block)) != {width} else ():
            if len(row) < 2:
                raise InvalidRecord(f"{self.where(begun + number)}: an edge has two ends, a source and a target.")
            if len(row) != width:
                where = self.where(begun + number)
                raise InvalidRecord(f"{where}: this line has {len(row)} cells, the first one {width}.")
        columns = list(zip(*block, strict=True))
        ends = self.columns or (0, 1)
        for position, (name, column) in enumerate(zip(self.names, columns, strict=True)):
            if position not in ends and (filled := len(column) - column.count("")):
                draft.ignored[f"{name} (edges)"] += filled
        found: list[Sequence[str]] = [columns[end] for end in ends]
        return self._plain(found, begun) if self.marked else found

    def _plain(self, columns: Sequence[Sequence[str]], begun: int) -> list[Sequence[str]]:
        """The ids in two columns as they were before they were made harmless."""
        for number, cells in enumerate(zip(*columns, strict=True)):
            for cell in cells:
                if cell[:1] in COULD_CHANGE and self._spelled.setdefault(plain(cell), cell) != cell:
                    raise InvalidRecord(
                        f"{self.where(begun + number)}: an id of this line also occurs with one leading apostrophe "
                        "more or less, which reading removes; rename one of the two."
                    )
        return [tuple(map(plain, column)) for column in columns]


def _numbers_after_names(ids: Sequence[str]) -> bool:
    """Whether the first two *ids* are words and all after them whole numbers."""
    words, numbers = ids[:2], ids[2:]
    return not any(map(str.isdecimal, words)) and all(map(str.isdecimal, numbers))


def _ends_in(row: list[str]) -> tuple[int, int] | None:
    """The columns of source and target if *row* is a header."""
    names = [cell.strip().lower() for cell in row]
    for source, target in HEADERS:
        if source in names and target in names:
            return names.index(source), names.index(target)
    return None


def _edge_lines(graph: WrittenGraph, delimiter: str) -> Iterator[str]:
    if not graph.directed:
        yield "# Undirected graph\n"
    # An id stands in many lines: each is made harmless once.
    ids = Texts(written_cell(user) for user, _ in graph.people())
    yield f"{HEADERS[0][0]}{delimiter}{HEADERS[0][1]}\n"
    for source, target in graph.ends():
        yield f"{ids[source]}{delimiter}{ids[target]}\n"


def _user_rows(graph: WrittenGraph, location: NDArray[np.int32], keys: list[str | None]) -> Iterator[list[str | None]]:
    topics: list[str | None] = [*graph.topic_names, None]
    for user, place, profile, private in users_of(graph, location):
        # UNKNOWN and EMPTY are -1 and find the missing value at the end.
        yield [user, keys[place], *(topics[code] for code in profile), *private]


def direction_hint(graph: SocialGraph, *, said: bool) -> str | None:
    """A note if edges were read as directed and look undirected.

    *said* is whether the file says that they have one. Some collections call a graph directed and list each edge of
    an undirected one in both directions; where nothing is said, they may list it once.
    """
    if not graph.directed or not graph.edge_count:
        return None
    sample = _going_back(graph, _SAMPLE)
    if sample == 1 and _going_back(graph) == 1:
        return (
            "every edge stands in both directions and was read as two; read the file as undirected to have each once."
        )
    if not said and sample == 0 and graph.edge_count >= _ENOUGH and _going_back(graph) == 0:
        return (
            "the file does not say whether its edges have a direction, and none of them goes back; they were read as "
            "directed. Read the file as undirected if they have none."
        )
    return None


def lonely_first_line(sources: NDArray[np.int32], targets: NDArray[np.int32]) -> bool:
    """Whether the two ends of the first of several edges are two users who occur in no other."""
    first = sources[0], targets[0]
    others = (np.isin(ends[1:], first).any() for ends in (sources, targets))
    return len(sources) > 1 and first[0] != first[1] and not any(others)


def _going_back(graph: SocialGraph, most: int | None = None) -> float:
    """The share of edges, or of the first *most*, whose way back is an edge too."""
    users = len(graph)
    # The rows of follows are sorted, and so are these.
    keys = graph.follows.sources.astype(np.int64) * users + graph.follows.targets
    back = (graph.follows.targets.astype(np.int64) * users + graph.follows.sources)[:most]
    found = np.minimum(np.searchsorted(keys, back), len(keys) - 1)
    return float((keys[found] == back).mean())


COLUMNS = ("key", "name", "type", "parent")


def place_rows(tree: PlaceTree) -> Iterator[tuple[str, str, str, str | None]]:
    """The rows of all places of *tree*, each after the one above it."""
    for node, key in enumerate(tree.keys):
        parent = tree.parents[node]
        yield key, tree.names[node], tree.types[node], tree.keys[parent] if parent >= 0 else None


def read_places(path: Path) -> tuple[dict[str, tuple[Step, ...]], Where]:
    """The path of each key in a table of places, and where each stands, by its position.

    A place without a parent lies right below `world`.
    """
    header, rows, line = read_table(content(path), str(path))
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise InvalidInput(f"{path}, line 1: there is no column {missing[0]}; places have {', '.join(COLUMNS)}.")
    columns = [header.index(column) for column in COLUMNS]

    def at(number: int) -> str:
        return f"{path}, line {line(number)}"

    steps: dict[str, Step] = {}
    parents: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for number, row in enumerate(rows):
        key, name, kind, parent = (row[column] for column in columns)
        fault = None
        if not key or not name:
            fault = "a place has a key and a name"
        elif key in steps:
            fault = f"this key occurs before, at line {line(numbers[key])}"
        elif kind not in LEVELS:
            fault = f"unknown type of place; {KNOWN_TYPES}"
        elif kind == WORLD[1] and (name != WORLD[0] or parent):
            fault = "there is one world; it is called 'world' and has no parent"
        if fault:
            raise InvalidRecord(f"{at(number)}: {fault}.")
        steps[key], parents[key], numbers[key] = (name, kind), parent, number
    try:
        return {key: _path(key, steps, parents) for key in steps}, at
    except _BrokenWay as broken:
        key, fault = broken.args
        raise InvalidRecord(f"{at(numbers[key])}: {fault}.") from None


class _BrokenWay(Exception):
    """The way from a place to the world does not arrive; says at which key, and why."""


def _path(key: str, steps: dict[str, Step], parents: dict[str, str]) -> tuple[Step, ...]:
    """The path from *key* upwards."""
    path: list[Step] = []
    climbed = key
    seen: set[str] = set()
    while climbed not in seen:
        if len(path) == DEEPEST_PATH:
            raise _BrokenWay(key, f"more than {DEEPEST_PATH} places lie above this one")
        seen.add(climbed)
        path.append(steps[climbed])
        above = parents[climbed]
        if not above:
            return tuple(path) if path[-1] == WORLD else (*path, WORLD)
        if above not in steps:
            raise _BrokenWay(climbed, "this place's parent is not a key of the table")
        climbed = above
    raise _BrokenWay(climbed, "this place lies above itself; places must not form a cycle")
