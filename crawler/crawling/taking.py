"""What an answer changes: of the standing of a crawl, of who was found, and the step that the store takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from crawler.crawling.journal import entry, until
from crawler.crawling.ledger import Ledger
from crawler.crawling.lists import Ending, Listing, share
from crawler.crawling.standing import Current, Frontier, Standing
from crawler.sources import Page, Profile, Question
from graphpriv.store import Follow, Post, Store, User
from graphpriv.store.crawls import CHARGES, LISTED, SEEN, VISITED, Step, document, without_forgotten
from graphpriv.store.records import LONGEST_ID, Record


@dataclass
class Draft:
    """A step that is being written."""

    users: list[User] = field(default_factory=list)
    follows: list[Follow] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    put: list[Record] = field(default_factory=list)
    drop: list[tuple[str, str]] = field(default_factory=list)
    erase: list[str] = field(default_factory=list)

    def step(self, *more: Record) -> Step:
        """The step, with *more* records."""
        lists: dict[str, Any] = {name: tuple(each) for name, each in vars(self).items()}
        return Step(**{**lists, "put": (*lists["put"], *more)})


def sound(page: Page) -> Page:
    """A page without ids that no store keeps, and with texts that are Unicode: networks hand out anything."""
    return replace(
        page,
        profiles=tuple(
            replace(each, handle=_text(each.handle), name=_text(each.name), location_text=_text(each.location_text))
            for each in page.profiles
        ),
        followed=tuple(each for each in page.followed if _is_id(each)),
        posts=tuple(
            replace(each, text=_text(each.text) or "", links=tuple(map(str, map(_text, each.links))))
            for each in page.posts
            if _is_id(each.id)
        ),
        charged=tuple((kind, str(_text(id))) for kind, id in page.charged),
    )


def _text(text: str | None) -> str | None:
    """A text with marks in place of half characters."""
    return None if text is None else text.encode("utf-8", "replace").decode()


def _is_id(id: str) -> bool:
    return 0 < len(id) <= LONGEST_ID and id == _text(id)


def booked(
    standing: Standing, ledger: Ledger, things: Iterable[tuple[str, str]], days: tuple[int, ...], draft: Draft
) -> None:
    """Book what came back on one of these UTC days."""
    draft.drop += [(CHARGES, id) for id in ledger.close(days[0])]
    charge = ledger.charge(things, days)
    standing.spent += charge.amount
    standing.uncertain += charge.doubt
    standing.charged.update(charge.counts)
    draft.put += ledger.records(standing.page, charge)


@dataclass
class Taking:
    """Takes the answers of one crawl; the store is only read."""

    store: Store
    graph: str
    standing: Standing
    frontier: Frontier
    ledger: Ledger

    def answer(self, question: Question, body: bytes, page: Page, moment: float, days: tuple[int, ...]) -> Draft:
        """What an answer of a *moment* changes; the network charges for it on one of these UTC *days*."""
        draft, standing, page = Draft(), self.standing, sound(page)
        kept_until = until(moment, standing.journal_days)
        standing.page += 1
        # Of who is left out nothing is kept but the id and why.
        if standing.journal_days != 0 and all(each.state == "kept" for each in page.profiles):
            raw = entry(standing.page, question, body, until=kept_until)
            draft.put.append(without_forgotten(raw, self.frontier.secret, self.frontier.forgotten))
        booked(standing, self.ledger, page.charged, days, draft)
        match question.kind:
            case "following":
                self._following(page, draft)
            case "posts":
                self._posts(page, draft)
            case _:
                self._profile(page, draft)
        return draft

    def lost(self, state: str) -> Draft:
        """The user at hand turns out to be none whom the crawl may keep."""
        draft, user = Draft(), self._current.user
        if user in self.frontier.kept:
            # Gone between two questions: what was taken before goes, too.
            draft.erase.append(user)
            self.frontier.kept.discard(user)
            self.standing.uncount(user, self.store.records_of(self.graph, VISITED, [user]))
        self._leave_out(state, draft)
        return draft

    def unlisted(self, ending: Ending) -> Draft:
        """The list at hand cannot be seen, or not to its end; everything else of the user stays."""
        draft = Draft()
        self._current.listing.ending = ending
        self._end_list(draft)
        return draft

    @property
    def _current(self) -> Current:
        assert self.standing.current is not None  # noqa: S101 (nothing is asked without)
        return self.standing.current

    def put_off(self) -> Draft:
        """The host of the user at hand fails: the user counts as unreachable until the next run asks again."""
        draft, user = Draft(), self._current.user
        self._bring_back(user)
        self.standing.users["unreachable"] += 1
        self.frontier.put_off.add(user)
        # Whoever follows this user is still written down.
        self.frontier.found.add(user)
        for record in self.store.records_of(self.graph, SEEN, [user]):
            draft.put.append(document(SEEN, user, {**record.document, "state": "unreachable"}, record.number))
        self.standing.current = None
        return draft

    def _bring_back(self, user: str) -> None:
        """No longer count somebody as unreachable."""
        if user in self.frontier.put_off:
            self.frontier.put_off.discard(user)
            self.standing.users -= Counter(unreachable=1)

    def _leave_out(self, state: str, draft: Draft) -> None:
        user = self._current.user
        self._bring_back(user)
        self.frontier.left_out.add(user)
        self.standing.users[state] += 1
        self._visited({"state": state}, draft)
        draft.drop.append((SEEN, user))
        self._forget_listed(draft)
        self.standing.turn += 1
        self.standing.current = None

    def _visited(self, told: dict[str, Any], draft: Draft) -> None:
        draft.put.append(document(VISITED, self._current.user, told, self.standing.turn))

    def _profile(self, page: Page, draft: Draft) -> None:
        current, profile = self._current, next(iter(page.profiles), None)
        if profile is None or profile.state != "kept":
            self._leave_out("vanished" if profile is None else profile.state, draft)
            return
        self._bring_back(current.user)
        self.standing.users["kept"] += 1
        if profile.location_text is not None:
            current.location_from = profile.location_from
            self.standing.locations[profile.location_from] += 1
        self.frontier.kept.add(current.user)
        draft.users.append(user_of(replace(profile, id=current.user)))
        found_by = [
            id for each in self.store.records_of(self.graph, SEEN, [current.user]) for id in each.document["by"]
        ]
        draft.follows += [Follow(each, current.user) for each in found_by if each in self.frontier.kept]
        draft.drop.append((SEEN, current.user))
        self._visited({"state": "kept"}, draft)
        current.address, current.following, current.stage = profile.address, profile.following, "following"

    def _following(self, page: Page, draft: Draft) -> None:
        current, frontier = self._current, self.frontier
        listed = [each for each in page.followed if each != current.user]
        new = current.listing.turn(
            listed, page.cursor, frontier.listed, cap=self.standing.follows, told=current.following
        )
        draft.follows += [Follow(current.user, each) for each in new if each in frontier.kept]
        others = [each for each in new if each not in frontier.kept and not frontier.is_out(each)]
        known = [each for each in others if each in frontier.found]
        for record in self.store.records_of(self.graph, SEEN, known):
            by = [*record.document["by"], current.user]
            draft.put.append(document(SEEN, record.id, {**record.document, "by": by}, record.number))
        for user in others:
            if user not in frontier.found:
                draft.put.append(document(SEEN, user, {"by": [current.user]}, self.standing.slot))
                self.standing.slot += 1
                frontier.add(user)
        self._turn_page(new, draft)

    def _posts(self, page: Page, draft: Draft) -> None:
        current = self._current
        posts = {each.id: each for each in page.posts}
        new = current.listing.turn(list(posts), page.cursor, self.frontier.listed, cap=self.standing.posts)
        draft.posts += [replace(posts[id], user=current.user) for id in new]
        self._turn_page(new, draft)

    def _turn_page(self, new: list[str], draft: Draft) -> None:
        """Keep what was seen of a list that goes on, or end it."""
        listing = self._current.listing
        if listing.ending is None:
            draft.put.append(document(LISTED, f"{listing.pages:06d}", new))
        else:
            self._end_list(draft)

    def _end_list(self, draft: Draft) -> None:
        current, standing = self._current, self.standing
        listing, ending = current.listing, current.listing.ending
        self._forget_listed(draft)
        if current.stage == "following":
            current.ending, current.seen = ending, listing.got
            standing.lists[str(ending)] += 1
            if current.following is not None and ending != "hidden":
                standing.told += current.following
                standing.seen += min(listing.got, current.following)
            current.stage = "posts"
            if standing.posts:
                return
        else:
            current.posts = listing.got
        self._finish(draft)

    def _forget_listed(self, draft: Draft) -> None:
        current = self._current
        draft.drop += [(LISTED, f"{page:06d}") for page in range(1, current.listing.pages + 1)]
        current.listing = Listing()
        self.frontier.listed = set()

    def _finish(self, draft: Draft) -> None:
        current = self._current
        told: dict[str, Any] = {"state": "kept", "list": current.ending, "seen": current.seen, "posts": current.posts}
        if current.following is not None and current.ending != "hidden":
            told.update(following=current.following, share=share(current.seen, current.following))
        if current.address is not None:
            told["address"] = current.address
        if current.location_from is not None:
            told["location_from"] = current.location_from
        self._visited(told, draft)
        self.standing.turn += 1
        self.standing.current = None


def user_of(profile: Profile) -> User:
    """The user of the graph that a profile is."""
    return User(id=profile.id, handle=profile.handle, name=profile.name, location_text=profile.location_text)
