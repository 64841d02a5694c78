"""The places and topics of one graph by the numbers that a store gives them, growing with the users added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphpriv.places import Path
from graphpriv.store.assembly import PlaceRow, place_paths
from graphpriv.store.contract import User
from graphpriv.topics import RANKS


class Profiles:
    """Numbers to places and topics and back; what is new gets the next number and stands in the lists of the added."""

    def __init__(self, places: Sequence[PlaceRow], topics: Mapping[int, str]) -> None:
        self._paths = place_paths(places)
        self._names = dict(topics)
        self._place_numbers = {path: number for number, path in self._paths.items()}
        self._topic_numbers = {name: number for number, name in self._names.items()}
        self._next_place = max(self._paths, default=-1) + 1
        self._next_topic = max(self._names, default=-1) + 1
        self.added_places: list[PlaceRow] = []
        self.added_topics: list[tuple[int, str]] = []

    def user(self, user: str, place: int | None, topics: Sequence[int | None], private: Sequence[str | None]) -> User:
        """The record of a user by numbers."""
        handle, name, location_text = private
        return User(
            id=user,
            location=None if place is None else self._paths[place],
            topics=tuple(None if topic is None else self._names[topic] for topic in topics),
            handle=handle,
            name=name,
            location_text=location_text,
        )

    def numbers(self, user: User) -> list[int | None]:
        """The numbers of a user's place and topics."""
        topics = [None if topic is None else self._topic(topic) for topic in user.topics]
        place = None if user.location is None else self._place(tuple((name, kind) for name, kind in user.location))
        return [place, *topics, *(None,) * (RANKS - len(topics))]

    def _place(self, path: Path) -> int:
        if path not in self._place_numbers:
            above = self._place(path[1:]) if len(path) > 1 else None
            self.added_places.append((self._next_place, above, *path[0]))
            self._paths[self._next_place] = path
            self._place_numbers[path] = self._next_place
            self._next_place += 1
        return self._place_numbers[path]

    def _topic(self, topic: str) -> int:
        if topic not in self._topic_numbers:
            self.added_topics.append((self._next_topic, topic))
            self._names[self._next_topic] = topic
            self._topic_numbers[topic] = self._next_topic
            self._next_topic += 1
        return self._topic_numbers[topic]
