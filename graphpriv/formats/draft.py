"""A draft of a graph: readers add records one by one, and all formats share its checks."""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.formats.contract import Imported
from graphpriv.graph import PRIVATE, SocialGraph
from graphpriv.places import UNKNOWN, Path, PlaceTree, check_paths
from graphpriv.topics import RANKS
from tabular.errors import InvalidInput, InvalidRecord
from tabular.loop import Report, silent

#: The three topics as attributes of their own, for formats that know no lists.
TOPIC_COLUMNS = ("topic1", "topic2", "topic3")

#: A place written out at the user, for formats that have no room for the places of a graph.
INLINE_PATH = "location_path"

#: A path of more places than this is none of this world.
DEEPEST_PATH = 100

Topics = tuple[str | None, str | None, str | None]
NO_TOPICS: Topics = (None, None, None)

#: Says where the record of a number stands.
Where = Callable[[int], str]


class Draft:
    """Users, edges and places as a file gives them, to be checked and made a graph."""

    def __init__(self, file: str, users_at: Where, edges_at: Where, report: Report = silent) -> None:
        self.file = file
        self.index: dict[str, int] = {}
        self.ignored: Counter[str] = Counter()
        self._users_at, self._edges_at, self._report = users_at, edges_at, report
        self._numbers = array("q")
        self._places: list[str | Path | None] = []
        self._topics: list[Topics] = []
        self._private: dict[str, list[str | None]] = {}
        self._inline: dict[str, Path] = {}
        #: The number of the first record with each of them.
        self._inline_numbers = array("q")
        self._known: dict[object, str | None] = {}
        self._ends: list[str] = []
        self._edge_numbers = array("q")

    def declare(self, attributes: Iterable[str]) -> None:
        """Note the attributes that a file announces; a private one is kept even if no user has it."""
        for name in attributes:
            if name not in self._private and name in PRIVATE:
                self._private[name] = [None] * len(self._numbers)

    def add_user(self, number: int, user: object, attributes: Mapping[str, object]) -> None:
        """Take the user of record *number*; attributes that a social graph has not are counted."""
        name = identifier(user, "id", self._users_at, number)
        position = len(self.index)
        if self.index.setdefault(name, position) != position:
            raise InvalidRecord(f"{self._users_at(number)}: this id occurs before, at user {self.index[name]}.")
        place: str | Path | None = None
        topics: object = None
        columns: dict[str, str | None] = {}
        for key, value in attributes.items():
            if key in PRIVATE:
                self.declare((key,))
                self._private[key].append(text(value, key, self._users_at, number))
            elif value is None or value == "":
                continue
            elif key == "location":
                place = place or self._common(value, key, number)
            elif key == INLINE_PATH:
                place = self._inline_path(value, number)
            elif key in TOPIC_COLUMNS:
                columns[key] = self._common(value, key, number)
            elif key == "topics":
                topics = value
            else:
                self.ignored[key] += 1
        for column in self._private.values():
            if len(column) == position:
                column.append(None)
        self._places.append(place)
        self._topics.append(self._profile(topics, columns, number))
        self._numbers.append(number)

    def add_edge(self, number: int, source: object, target: object) -> None:
        """Take the edge of record *number*; its ends may be named later."""
        self._ends.append(identifier(source, "source", self._edges_at, number))
        self._ends.append(identifier(target, "target", self._edges_at, number))
        self._edge_numbers.append(number)

    def ends(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Sources and targets of the edges taken, as positions of users."""
        found = [self.index.get(end, -1) for end in self._ends]
        pairs = np.array(found, dtype=np.int32).reshape(-1, 2)
        if found and pairs.min() < 0:
            edge, side = divmod(found.index(-1), 2)
            where = self._edges_at(self._edge_numbers[edge])
            raise InvalidRecord(f"{where}: the {('source', 'target')[side]} of this edge is not a user of the graph.")
        return pairs[:, 0], pairs[:, 1]

    def graph(
        self,
        locations: object,
        *,
        directed: bool,
        where: str,
        place_at: Where | None = None,
        ends: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None,
        notes: Sequence[str] = (),
    ) -> Imported:
        """The graph, with the paths that *locations* gives to the keys of places.

        *where* is where they stand, and *place_at* where each of them, by its position; text is read as JSON.
        """
        if not self.index:
            raise InvalidInput(f"{self.file}: there are no users in it.")
        self._report("Checking", 0, 0)
        sources, targets = ends if ends is not None else self.ends()
        place_at = place_at or (lambda position: f"{where}[{position}]")
        if isinstance(locations, str):
            locations = parsed_json(locations, where)
        places, location = self._located(checked_paths(locations, where, place_at), place_at)
        graph, dropped = SocialGraph.build(
            tuple(self.index),
            sources,
            targets,
            directed=directed,
            places=places,
            location=location,
            topics=self._topics,
            private={key: self._private[key] for key in PRIVATE if key in self._private},
        )
        return Imported(graph, dropped, dict(sorted(self.ignored.items())), tuple(notes))

    def _located(self, paths: dict[str, Path], place_at: Where) -> tuple[PlaceTree, NDArray[np.int32]]:
        if self._inline:

            def at(position: int) -> str:
                if position < len(paths):
                    return place_at(position)
                return f"{self._users_at(self._inline_numbers[position - len(paths)])}: {INLINE_PATH}"

            check_paths(dict(enumerate([*paths.values(), *self._inline.values()])), at)
        tree = PlaceTree.from_paths([*paths.values(), *self._inline.values()])
        codes: dict[str | Path | None, int] = {key: tree.node(path) for key, path in paths.items()}
        codes.update((path, tree.node(path)) for path in self._inline.values())
        codes[None] = UNKNOWN
        try:
            found = [codes[place] for place in self._places]
        except KeyError:
            number = next(
                number for number, place in zip(self._numbers, self._places, strict=True) if place not in codes
            )
            raise InvalidRecord(
                f"{self._users_at(number)}: the location of this user is none of the {len(paths)} places of the graph; "
                "put free text into location_text."
            ) from None
        return tree, np.array(found, dtype=np.int32)

    def _common(self, value: object, what: str, number: int) -> str | None:
        # Places and topics repeat: each is checked once, and stands in memory once.
        try:
            return self._known[value]
        except KeyError:
            self._known[value] = checked = text(value, what, self._users_at, number, whole_numbers=False)
            return checked
        except TypeError:
            return text(value, what, self._users_at, number, whole_numbers=False)

    def _inline_path(self, value: object, number: int) -> Path:
        written = text(value, INLINE_PATH, self._users_at, number, whole_numbers=False) or ""
        if written not in self._inline:
            where = f"{self._users_at(number)}: {INLINE_PATH}"
            paths = checked_paths({"place": parsed_json(written, where)}, where, lambda _: where)
            self._inline[written] = paths["place"]
            self._inline_numbers.append(number)
        return self._inline[written]

    def _profile(self, topics: object, columns: dict[str, str | None], number: int) -> Topics:
        if topics is None:
            return columns.get("topic1"), columns.get("topic2"), columns.get("topic3")
        where = f"{self._users_at(number)}: topics"
        if columns:
            raise InvalidRecord(f"{where}: this user has topics twice, as a list and as {', '.join(columns)}.")
        if isinstance(topics, str):
            topics = parsed_json(topics, where)
        if not isinstance(topics, list | tuple):
            raise InvalidRecord(f"{where} must be a list of texts, not {kind_of(topics)}.")
        if len(topics) > RANKS:
            raise InvalidRecord(f"{where}: a user has at most {RANKS} topics, not {len(topics)}.")
        one, two, three, *_ = (*(self._common(topic, "topic", number) for topic in topics), *NO_TOPICS)
        return one, two, three


def checked_paths(locations: object, where: str, place_at: Where) -> dict[str, Path]:
    """The *locations* of a file as paths, or an error that says where the one stands that is not sound."""
    if locations is None:
        return {}
    if not isinstance(locations, Mapping):
        raise InvalidRecord(f"{where} must be an object with a path for each key, not {kind_of(locations)}.")
    for number, (key, path) in enumerate(locations.items()):
        text(key, "key of a place", place_at, number, whole_numbers=False)
        # Before anything else: checks take longer than their share on a path without end.
        if isinstance(path, list | tuple) and len(path) > DEEPEST_PATH:
            raise InvalidRecord(f"{place_at(number)}: a path has at most {DEEPEST_PATH} steps, not {len(path)}.")
    paths = check_paths(locations, place_at)
    sound: set[str] = set()
    for number, path in enumerate(paths.values()):
        for name, _ in path:
            if name not in sound:
                text(name, "name of a place", place_at, number, whole_numbers=False)
                sound.add(name)
    return paths


def identifier(value: object, what: str, at: Where, number: int) -> str:
    """The text of an id; whole numbers become text, an empty id is none."""
    name = text(value, what, at, number)
    if not name:
        raise InvalidRecord(f"{at(number)}: {what} is missing.")
    return name


def text(value: object, what: str, at: Where, number: int, *, whole_numbers: bool = True) -> str | None:
    """The *value* as sound text, None where it is empty; *at* and *number* say where it stands."""
    if value is None or value == "":
        return None
    if whole_numbers and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        allowed = "text or a whole number" if whole_numbers else "text"
        raise InvalidRecord(f"{at(number)}: {what} must be {allowed}, not {kind_of(value)}.")
    if not is_sound(value):
        raise InvalidRecord(f"{at(number)}: {what} has a character that text cannot hold.")
    return value


def is_sound(value: str) -> bool:
    """Whether a text can be stored and sent: no halves of characters, no NUL.

    >>> is_sound("Žena"), is_sound("\\ud800")
    (True, False)
    """
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
    return "\x00" not in value


#: Strings too, so that what stands inside one is not taken for a constant.
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity')
_KINDS = {type(None): "null", bool: "true or false", int: "a number", float: "a number", str: "text", dict: "an object"}

#: Keys of graph documents: only these are shown in errors, since any other may be what somebody wrote of a person.
_SHOWN = frozenset(
    (
        *("directed", "multigraph", "graph", "nodes", "edges", "links", "locations", "id", "source", "target"),
        *("location", "topics", "topic1", "topic2", "topic3", "handle", "name", "location_text"),
    )
)


def kind_of(value: object) -> str:
    """The sort of a JSON value, as errors call it."""
    return _KINDS.get(type(value), "a list" if isinstance(value, list | tuple) else "another thing")


def parsed_json(written: str, where: str) -> Any:
    """The value of JSON text; an error names its line, or the record that has a key twice."""
    repeated: list[_Repeated] = []

    def refuse(name: str) -> Any:
        tokens = _CONSTANT.finditer(written)
        line = next(written.count("\n", 0, each.start()) + 1 for each in tokens if each.group() == name)
        raise InvalidInput(f"{where}, line {line}: {name} is not a JSON number.")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            found = _Repeated(pairs)
            repeated.append(found)
        return found

    try:
        value = json.loads(written, parse_constant=refuse, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{where}, line {error.lineno}, column {error.colno}: this is not JSON: {error.msg}."
        ) from None
    except RecursionError:
        raise InvalidInput(f"{where}: this is nested too deeply.") from None
    except ValueError:
        # Whole numbers of thousands of digits, which Python does not read.
        raise InvalidInput(f"{where}: a number in it has too many digits.") from None
    if repeated:
        path, key = next(_repetitions(value, ""))
        raise InvalidRecord(f"{where}{path}: {key} occurs twice in this object.")
    return value


class _Repeated(dict[str, Any]):
    """An object that has a key twice; `key` says which, if it can be shown."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        number = next(number for number, key in enumerate(keys) if key in keys[:number])
        self.key = keys[number] if keys[number] in _SHOWN else f"key {number + 1}"


def _repetitions(value: object, path: str) -> Iterator[tuple[str, str]]:
    """The paths below *value* to objects that have a key twice, and that key; the outermost first."""
    if isinstance(value, _Repeated):
        yield path, value.key
    if isinstance(value, dict):
        for number, (key, inner) in enumerate(value.items()):
            step = key if key in _SHOWN else f"value {number + 1}"
            yield from _repetitions(inner, f"{path}, {step}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _repetitions(inner, f"{path}[{number}]")
