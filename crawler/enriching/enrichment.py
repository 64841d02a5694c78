"""Posts and free-text locations of a stored graph become topics and places of its users.

Users are gone through in blocks, in the order of the graph. A block is read, its links are followed, its texts are
categorised and placed, and profiles and notes are written in one transaction. A note holds a digest of all that the
profile was made from: a user whose note fits is not done again. So a run that was cut goes on where it was by
itself, a run after more posts were collected does those users alone, and both give what one run gives.

A place or topics that a user has from elsewhere (a file, say) are kept unless told otherwise; those of an earlier
enrichment are replaced.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from crawler.enriching.figures import KEPT, NO_PLACE, NO_TEXT, PLACED, UNCLEAR, Figures
from crawler.enriching.links import Links, may_be_tried
from crawler.enriching.topics import PostTopics, folded, profile, sources
from crawler.places import Gazetteer, Located
from crawler.topics import Categoriser
from graphpriv.places import Path, check_paths
from graphpriv.store import Store
from graphpriv.store.enriched import Linked, Person
from graphpriv.store.records import keyed
from tabular.errors import InvalidInput
from tabular.loop import Report, silent

#: So many users are done together.
BLOCK = 100

#: Another one stands for another way to make profiles of the same texts.
VERSION = 1

#: How many other places that a text can mean are noted.
_ALTERNATIVES = 5

Note = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Enrichment:
    """One way to make profiles of the texts of a graph."""

    store: Store
    name: str
    categoriser: Categoriser
    gazetteer: Gazetteer
    #: What these two are called, and their versions.
    topics_by: tuple[str, str]
    places_by: tuple[str, str]
    #: Brings pages; without it links are not followed.
    links: Links | None = None
    #: At most so many pages of one user are read.
    most_pages: int = 100
    fold_sensitive: bool = False
    #: Whether places and topics that users have from elsewhere are replaced.
    replace_profiles: bool = False
    report: Report = silent
    stop: Callable[[], bool] = lambda: False
    #: So many users are read together, and so many are kept together: 1 where each text costs time or money.
    block: int = BLOCK
    together: int = BLOCK

    def run(self) -> dict[str, Any]:
        """Enrich all users of the graph; the document counts what came of it, in this run and in those before."""
        counted, left = Figures(), 0
        for people in self._blocks():
            notes = self._notes(people)
            left += len(people) - len(notes)
            for note in notes.values():
                counted.add(note)
        topics = {"by": self.topics_by[0], "version": self.topics_by[1], "folded": self.fold_sensitive}
        places = {"by": self.places_by[0], "version": self.places_by[1]}
        return {"graph": self.name, **counted.document(topics=topics, places=places), "left": left}

    def _blocks(self) -> Iterator[list[Person]]:
        low, of = 0, 1
        while low < of:
            people, of = self.store.people(self.name, low, self.block)
            self.report("Enriching", low, of)
            yield people
            low += self.block
        self.report("Enriching", of, of)

    def _notes(self, people: Sequence[Person]) -> dict[str, Note]:
        """The notes on users of a block, in their order; those who were not reached in time have none."""
        done = {each.user.id: dict(each.note) for each in people if self._is_done(each)}
        to_do = [each for each in people if each.user.id not in done]
        if self.stop():
            return done
        pages = self._pages(to_do)
        reached = [each for each in to_do if all(url in pages for url in self._links_of(each))]
        for low in range(0, len(reached), self.together):
            if low and self.stop():
                break
            some = reached[low : low + self.together]
            made = self._made(some, {url: pages[url] for each in some for url in self._links_of(each)})
            self._keep(some, made)
            done |= made
        return {each.user.id: done[each.user.id] for each in people if each.user.id in done}

    def _keep(self, people: Sequence[Person], notes: Mapping[str, Note]) -> None:
        changed = {}
        for person in people:
            path, ranks = notes[person.user.id]["location"], tuple(notes[person.user.id]["ranks"])
            if (path, ranks) != _profile(person):
                changed[person.user.id] = (path and tuple((name, kind) for name, kind in path), ranks)
        if notes:
            self.store.put_profiles(self.name, changed, notes)

    # What is done already

    def _is_done(self, person: Person) -> bool:
        """Whether a user has the profile that these texts give."""
        note = person.note
        if not note or note["input"] != self._digest(person):
            return False
        if self.links is not None and note.get("again", self.links.run) < self.links.run:
            return False
        return (note["location"], tuple(note["ranks"])) == _profile(person)

    @cached_property
    def _secret(self) -> bytes:
        return self.store.secret()

    def _digest(self, person: Person) -> str:
        """What the profile of a user is made from, texts and ways, in short, for this store alone."""
        ways = [VERSION, self.topics_by, self.places_by, self.links and self.most_pages, person.location_from]
        asked = [self.fold_sensitive, self.replace_profiles]
        posts = [[post.id, post.text, post.links] for post in person.posts]
        whole = json.dumps([ways, asked, person.user.location_text, posts])
        return keyed(self._secret, hashlib.sha256(whole.encode()).hexdigest())

    # Pages

    def _links_of(self, person: Person) -> list[str]:
        """The links of a user that are followed, each once, in their order."""
        if self.links is None or self._keeps_topics(person):
            return []
        return list(dict.fromkeys(url for post in person.posts for url in post.links))[: self.most_pages]

    def _pages(self, people: Sequence[Person]) -> dict[str, Linked]:
        users_of: dict[str, list[str]] = {}
        for person in people:
            for url in self._links_of(person):
                users_of.setdefault(url, []).append(person.user.id)
        if self.links is None or not users_of:
            return {}
        return self.links.pages(users_of, partial(self.report, "Reading linked pages"), self.stop)

    # Profiles

    def _made(self, people: Sequence[Person], pages: Mapping[str, Linked]) -> dict[str, Note]:
        """The notes on users, from their texts and pages."""
        places = self._places(people)
        of_text = self._categorised([*self._texts(people), *(page.text for page in pages.values())])
        return {each.user.id: self._note(each, pages, places, of_text) for each in people}

    def _texts(self, people: Sequence[Person]) -> Iterator[str]:
        return (post.text for each in people if not self._keeps_topics(each) for post in each.posts)

    def _categorised(self, texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The topics of texts, each of which is looked at once."""
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        found = self.categoriser.categorise(distinct) if distinct else []
        names = [tuple(name for name, _ in each) for each in found]
        return dict(zip(distinct, map(folded, names) if self.fold_sensitive else names, strict=True))

    def _places(self, people: Sequence[Person]) -> dict[str, Located]:
        texts = [text for each in people if (text := each.user.location_text) and not self._keeps_place(each)]
        distinct = list(dict.fromkeys(text for text in texts if text.strip()))
        return dict(zip(distinct, self.gazetteer.locate_all(distinct) if distinct else [], strict=True))

    def _note(
        self,
        person: Person,
        pages: Mapping[str, Linked],
        places: Mapping[str, Located],
        of_text: Mapping[str, tuple[str, ...]],
    ) -> Note:
        followed = self._links_of(person)
        kept_location, kept_ranks = _profile(person)
        location, place = self._placed(person, places)
        # What is found takes the place of what somebody else said, and nothing does not.
        if _has_place(person) and (location is None or not self.replace_profiles):
            location, place = kept_location, {"outcome": KEPT}
        posts = [_of_post(post.id, post.text, post.links, followed, pages, of_text) for post in person.posts]
        ranks = profile(posts)
        topics = {"kept": False, "sources": sources(posts, ranks), "by": list(self.topics_by)}
        if _has_topics(person) and (not ranks or not self.replace_profiles):
            ranks, topics = kept_ranks, {"kept": True, "sources": {}}
        # The runs that had ended when pages were asked for that a later run may ask for again.
        again = [pages[url].run for url in followed if may_be_tried(pages[url])]
        return {
            **({"again": min(again)} if again else {}),
            "input": self._digest(person),
            "posts": len(person.posts),
            "location": location,
            "ranks": list(ranks),
            "place": place,
            "topics": topics,
            "pages": dict(sorted(Counter(pages[url].outcome for url in followed).items())),
        }

    def _placed(self, person: Person, places: Mapping[str, Located]) -> tuple[list[list[str]] | None, Note]:
        """The place of a user as a path, and where it comes from."""
        text = person.user.location_text or ""
        if not text.strip():
            return None, {"outcome": NO_TEXT}
        found = places.get(text)
        if found is None:
            return None, {"outcome": KEPT}
        others = [[_plain(path), round(score, 3)] for path, score in found.alternatives[:_ALTERNATIVES]]
        path = found.path if _is_sound(found.path) else ()
        outcome = PLACED if path else UNCLEAR if others or found.path else NO_PLACE
        come = {"by": list(self.places_by), "from": person.location_from, "score": round(found.score, 3)}
        return _plain(path) or None, {"outcome": outcome, **come, "alternatives": others}

    def _keeps_place(self, person: Person) -> bool:
        return _has_place(person) and not self.replace_profiles

    def _keeps_topics(self, person: Person) -> bool:
        return _has_topics(person) and not self.replace_profiles


def _has_place(person: Person) -> bool:
    """Whether a user has a place that no enrichment gave."""
    location, _ = _profile(person)
    is_ours = bool(person.note) and person.note["place"]["outcome"] == PLACED and person.note["location"] == location
    return location is not None and not is_ours


def _has_topics(person: Person) -> bool:
    """The same for topics."""
    _, ranks = _profile(person)
    is_ours = bool(person.note) and not person.note["topics"]["kept"] and tuple(person.note["ranks"]) == ranks
    return bool(ranks) and not is_ours


def _profile(person: Person) -> tuple[list[list[str]] | None, tuple[str, ...]]:
    """The place and the topics that a user has, as notes have them."""
    location = person.user.location
    return None if location is None else _plain(location), tuple(name for name in person.user.topics if name)


def _is_sound(path: Path) -> bool:
    """Whether a store takes a path; services on the web may answer with one whose levels fall."""
    try:
        check_paths({0: path} if path else {})
    except InvalidInput:
        return False
    return True


def _plain(path: Path) -> list[list[str]]:
    return [list(step) for step in path]


def _of_post(
    post: str,
    text: str,
    links: Sequence[str],
    followed: Sequence[str],
    pages: Mapping[str, Linked],
    of_text: Mapping[str, tuple[str, ...]],
) -> PostTopics:
    """What a post is about by its text and by those of its links that were followed."""
    known = set(followed)
    linked = (of_text.get(pages[url].text, ()) for url in links if url in known)
    return PostTopics(post, of_text.get(text, ()), tuple(dict.fromkeys(name for names in linked for name in names)))
