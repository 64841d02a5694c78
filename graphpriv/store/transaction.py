"""What is changed within one transaction, the same for all backends: users, follows, posts, records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from graphpriv.graph import PRIVATE
from graphpriv.store import crawls, seals
from graphpriv.store.assembly import Profiles
from graphpriv.store.crawls import Step
from graphpriv.store.reading import UNREADABLE, Reading
from graphpriv.store.records import Added, Follow, Forgotten, Post, Record, Run, User, dangling
from graphpriv.store.statements import Head, Key
from graphpriv.store.summary import FIGURES
from tabular.errors import InvalidInput

#: How many records are taken out at a time; each is read before, and may be large.
_AT_A_TIME = 500


class Transaction(Reading):
    """Reading and changing the graphs of a store as far as one transaction goes."""

    def changing(self, name: str) -> Head:
        """An original that this transaction changes."""
        self.touch(name)
        return self.original(name)

    def add_users(self, name: str, users: Sequence[User]) -> Added:
        """Add users after those that are there."""
        return self._add_users(self.changing(name), users)

    def _add_users(self, head: Head, users: Sequence[User]) -> Added:
        known = self.known(head.key, "users", [user.id for user in users])
        # A crawl adds users one by one who have none yet.
        bare = all(user.location is None and not user.topics for user in users)
        profiles = Profiles((), {}) if bare else self.profiles(head.key)
        number_of = dict(known)
        held = set(head.private)
        rows: list[list[Any]] = []
        for user in users:
            number = number_of.setdefault(user.id, head.numbers + len(number_of) - len(known))
            private = {column: getattr(user, column) for column in PRIVATE}
            held.update(column for column, value in private.items() if value is not None)
            rows.append([number, user.id, *profiles.numbers(user), *private.values()])
        self.put(head.key, "places", profiles.added_places)
        self.put(head.key, "topics", profiles.added_topics)
        # Not before all users of the batch have their places and topics.
        self.prune(head.key, *self.put_users(head.key, rows))
        new = len(users) - len(known)
        self.note(head.key, users=head.users + new, private=[column for column in PRIVATE if column in held])
        return Added(new, len(known))

    def add_follows(self, name: str, follows: Sequence[Follow]) -> Added:
        """Add follows between users that are there."""
        return self._add_follows(self.changing(name), follows)

    def _add_follows(self, head: Head, follows: Sequence[Follow]) -> Added:
        known = self.known(head.key, "users", {end for follow in follows for end in (follow.source, follow.target)})
        pairs = []
        for position, follow in enumerate(follows):
            for end in ("source", "target"):
                if getattr(follow, end) not in known:
                    raise dangling("Follow", position, end, head.name)
            pairs.append((known[follow.source], known[follow.target]))
        apart = [pair if head.directed else tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]]
        new = self.put_follows(head.key, sorted(set(apart)))
        self.note(head.key, edges=head.edges + new)
        return Added(new, len(apart) - new, len(pairs) - len(apart))

    def add_posts(self, name: str, posts: Sequence[Post]) -> Added:
        """Add posts after those that are there."""
        return self._add_posts(self.changing(name), posts)

    def _add_posts(self, head: Head, posts: Sequence[Post]) -> Added:
        authors = self.known(head.key, "users", {post.user for post in posts})
        known = self.known(head.key, "posts", [post.id for post in posts])
        number_of = dict(known)
        rows: list[list[Any]] = []
        for position, post in enumerate(posts):
            if post.user not in authors:
                raise dangling("Post", position, "user", head.name)
            number = number_of.setdefault(post.id, head.posts + len(number_of) - len(known))
            rows.append([number, post.id, authors[post.user], post.text, list(post.links), post.created])
        self.put(head.key, "posts", rows)
        new = len(posts) - len(known)
        self.note(head.key, posts=head.posts + new)
        return Added(new, len(known))

    def put_records(self, key: Key, records: Iterable[Record]) -> None:
        """Insert records, and seal them; one that is there is replaced."""
        come = {each[:2]: each for each in records}
        kinds = sorted({kind for kind, _ in come})
        self._reseal(key, [(kind, [id for of, id in come if of == kind]) for kind in kinds], come.values())
        self.write_records(key, come.values())

    def drop_records(self, key: Key, kind: str, ids: Iterable[str]) -> None:
        """Take records out, and out of the seal."""
        waiting = iter(dict.fromkeys(ids))
        while some := [*islice(waiting, _AT_A_TIME)]:
            self._reseal(key, [(kind, some)], ())
            self.delete_records(key, kind, some)

    def _reseal(self, key: Key, replaced: Iterable[tuple[str, Sequence[str]]], come: Collection[Record]) -> None:
        # What is read here nobody else may change before it is written.
        self.lock(key)
        gone = [each for kind, ids in replaced for each in self.records_of(key, kind, ids)]
        if gone or come:
            sealed = seals.resealed(self.seal_of_records(key), gone, come)
            if sealed.number:
                self.write_records(key, [sealed])
            else:
                self.delete_records(key, crawls.SEAL, [crawls.ONLY])

    def standing(self, name: str) -> tuple[Head | None, Record | None, Mapping[int, bytes]]:
        """What differs after every change of a graph, of what is kept of its crawl, or of what is noted of it."""
        head = self.find(name)
        if head is None:
            return None, None, {}
        return head, self.seal_of_records(head.key), self.pieces(head.key, [seals.OF_NOTES])

    def note_seal(self, head: Head) -> None:
        """Seal what is noted of a graph, and its figures, where it is still there and has no such seals."""
        if (found := self.find(head.name)) is None:
            return
        held = self.pieces(found.key, [seals.OF_NOTES, seals.OF_FIGURES, FIGURES])
        if seals.OF_NOTES not in held:
            # What cannot be read is no content to be sealed; a check says so.
            with suppress(*UNREADABLE):
                self.seal_notes(found.name)
        if FIGURES in held and seals.OF_FIGURES not in held:
            self.put_pieces(found.key, [(seals.OF_FIGURES, seals.seal(seals.content_of_figures(held[FIGURES])))])

    def seal_notes(self, name: str) -> None:
        """Seal what is noted of a graph."""
        head = self.head(name)
        self.put_pieces(head.key, [(seals.OF_NOTES, seals.seal(self.content_of_notes(head)))])

    def note_run(self, name: str, run: Run) -> None:
        """Write down a piece of work on a graph; what was noted before stays sealed as it was, or changed behind it."""
        head = self.head(name)
        self.lock(head.key)
        held = self.pieces(head.key, [seals.OF_NOTES])
        was_sound = all(seals.fits(sealed, self.content_of_notes(head)) for sealed in held.values())
        self.add_run(head.key, run)
        if held and was_sound:
            self.seal_notes(name)

    def advance(self, name: str, step: Step, owner: str, erasures: int) -> bool:
        """Do one step of a crawl; False where somebody was forgotten since its *owner* looked."""
        head = self.changing(name)
        found = {each.id: each for each in self.records_of(head.key, crawls.OWNER, [crawls.ONLY, crawls.ERASURES])}
        if crawls.ONLY not in found or found[crawls.ONLY].document.get("token") != owner:
            raise crawls.in_use(name)
        if crawls.ERASURES in found and found[crawls.ERASURES].number != erasures:
            return False
        if step.erase:
            self._take_out(head, step.erase)
            head = self.head(name)
        # Each of the three changes another part of the head.
        if step.users:
            self._add_users(head, step.users)
        if step.follows:
            self._add_follows(head, step.follows)
        if step.posts:
            self._add_posts(head, step.posts)
        for kind in sorted({kind for kind, _ in step.drop}):
            self.drop_records(head.key, kind, [id for each, id in step.drop if each == kind])
        self.put_records(head.key, step.put)
        return True

    def owner_of(self, key: Key) -> dict[str, Any]:
        """Who is at work on the crawl of a graph; empty where nobody is."""
        found = self.records_of(key, crawls.OWNER, [crawls.ONLY])
        return dict(found[0].document) if found else {}

    def erasures(self, key: Key) -> int:
        """How often somebody was forgotten since the crawl began."""
        found = self.records_of(key, crawls.OWNER, [crawls.ERASURES])
        return found[0].number if found else 0

    def expire(self, moment: int) -> int:
        """Erase the raw answers that were to be kept until a *moment* at most; tells how many."""
        found = self.overdue(moment)
        for key in sorted({key for key, _ in found}, key=str):
            self.drop_records(key, crawls.PAGE, [id for each, id in found if each == key])
        return len(found)

    def _take_out(self, head: Head, users: Sequence[str]) -> Forgotten:
        """Take persons out of a graph and of what is kept of its crawl."""
        gone, names = Forgotten(follows=0, posts=0, mappings=0), frozenset[str]()
        known = self.known(head.key, "users", users)
        for user in users:
            handle = self.users(head.key, known[user], known[user] + 1)[0][6] if user in known else None
            names |= crawls.names_of(user, handle)
        for number in known.values():
            gone = self._take_out_of_graph(self.head(head.name), number)
        if not self._erase(head.key, frozenset(users), names) and not known:
            # The id is not repeated: it is that of a person.
            raise InvalidInput(f"Graph {head.name!r} has no user with that id.")
        return gone

    def _take_out_of_graph(self, head: Head, number: int) -> Forgotten:
        gone, places, topics = self.take_out(head.key, number)
        for each in self.heads():
            if each.original == head.key:
                self.drop_piece(each.key, seals.OF_LINKS_BACK)
            if head.key in (each.key, each.original):
                # The mark of the original went from their runs.
                self.drop_piece(each.key, seals.OF_NOTES)
        self.prune(head.key, places, topics)
        self.note(head.key, users=head.users - 1, forgotten=head.forgotten + 1, edges=head.edges - gone.follows)
        return gone

    def _erase(self, key: Key, users: frozenset[str], names: frozenset[str]) -> int:
        """Take persons of these *names* out of the records of a crawl; tells how many changed."""
        secret, changed = self.secret(), 0
        for record in self.all_records(key, crawls.TELLING):
            left = crawls.erased(record, users, names, secret)
            changed += left is not record
            if left is None:
                self.drop_records(key, record.kind, [record.id])
            elif left is not record:
                self.put_records(key, [left])
        if changed:
            self.note_erasure()
        return changed

    def forget(self, name: str, user: str) -> Forgotten:
        """Take a person out, and what nobody else has: a place or a topic can tell who it was.

        A crawl of the graph gets a mark by which it does not collect the person again.
        """
        head = self.changing(name)
        told, at_hand = self._told_of(head.key, user)
        gone = self._take_out(head, [user])
        if crawl := self.records_of(head.key, crawls.CRAWL, [crawls.ONLY]):
            if told is not None:
                self._uncount(head.key, crawl[0].document, told)
            if at_hand:
                pages = [each.id for each in self.all_records(head.key, [crawls.LISTED])]
                self.drop_records(head.key, crawls.LISTED, pages)
            kept_out = Record(crawls.FORGOTTEN, crawls.person_mark(self.secret(), user), b"")
            times = Record(crawls.OWNER, crawls.ERASURES, b"{}", self.erasures(head.key) + 1)
            self.put_records(head.key, [kept_out, times])
        return gone

    def _told_of(self, key: Key, user: str) -> tuple[dict[str, Any] | None, bool]:
        """What a crawl has counted of a user, and whether it is the one at hand."""
        found = self.records_of(key, crawls.CRAWL, [crawls.ONLY])
        crawl = dict(found[0].document) if found else {}
        records = (each for kind in (crawls.VISITED, crawls.SEEN) for each in self.records_of(key, kind, [user]))
        return crawls.noted(crawl, user, records), (crawl.get("current") or {}).get("user") == user

    def _uncount(self, key: Key, crawl: Mapping[str, Any], told: Mapping[str, Any]) -> None:
        """Count a user as forgotten, and as nothing else: another one may take the place."""
        changed = crawls.uncounted(crawl, told)
        users = changed.get("users", {})
        changed["users"] = {**users, "forgotten": users.get("forgotten", 0) + 1}
        self.put_records(key, [crawls.document(crawls.CRAWL, crawls.ONLY, {**crawl, **changed})])
