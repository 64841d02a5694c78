"""The pages that posts link to: each is read once, and kept in the journal of the graph.

Several sites are read at the same time, and each site one page at a time with a pause between them. What was read is
kept every few pages, so that a run that is killed has to ask at most for those again. Pages that failed for a cause
that may pass are asked for once more, by the next run after one that came to its end.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Queue
from typing import Protocol
from urllib.parse import urlsplit

from crawler.web.outcomes import may_pass
from crawler.web.pages import Page
from graphpriv.store import Store
from graphpriv.store.crawls import FOR_EVER
from graphpriv.store.enriched import Linked

#: So much of a page's text is kept and categorised: what it is about shows at its beginning.
TEXT = 5_000

#: After so many seconds the pages that were read are kept in the store, however few.
_PATIENCE = 5.0

_DAY = 24 * 3600

#: How often a page is asked for at most.
TRIES = 2


class PageReader(Protocol):
    """Reads the page behind a link and never fails; `crawler.web.pages.Reader` is one."""

    def read(self, url: str) -> Page: ...
    def close(self) -> None: ...


@dataclass(kw_only=True)
class Links:
    """Brings pages of links, from the journal where it has them."""

    store: Store
    graph: str
    reader: PageReader
    #: For how many days pages are kept; 0 is until somebody deletes them.
    days: int = 30
    #: The seconds between two pages of one site, and how many sites are read at the same time.
    pause: float = 1.0
    workers: int = 8
    #: So many pages are kept in the store together.
    together: int = 20
    #: How many runs have come to their end before.
    run: int = 0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _asked: dict[str, float] = field(default_factory=dict)

    def pages(
        self, users_of: Mapping[str, Iterable[str]], told: Callable[[int, int], None], stop: Callable[[], bool]
    ) -> dict[str, Linked]:
        """The pages of links, by the users who link to them; those not read yet are left out when *stop* says so."""
        found = self.store.linked(self.graph, users_of)
        before = {url: found.pop(url).tries for url, page in list(found.items()) if self._tries_again(page)}
        waiting: dict[str, Linked] = {}
        missing = [url for url in users_of if url not in found]
        kept = self.clock()
        for done, (url, page) in enumerate(self._read(missing, stop), start=1):
            tries = before.get(url, 0) + 1
            waiting[url] = Linked(page.outcome.value, page.status, page.text[:TEXT], tries, self.run)
            found[url] = waiting[url]
            told(done, len(missing))
            if len(waiting) >= self.together or self.clock() - kept > _PATIENCE:
                self._keep(waiting, users_of)
                kept = self.clock()
        self._keep(waiting, users_of)
        return found

    def _tries_again(self, page: Linked) -> bool:
        return may_be_tried(page) and page.run < self.run

    def close(self) -> None:
        """Let go of what reads pages."""
        self.reader.close()

    def _keep(self, pages: dict[str, Linked], users_of: Mapping[str, Iterable[str]]) -> None:
        until = int(time.time()) + self.days * _DAY if self.days else FOR_EVER
        if pages:
            self.store.put_linked(self.graph, pages, users_of, until)
        pages.clear()

    def _read(self, urls: Sequence[str], stop: Callable[[], bool]) -> Iterator[tuple[str, Page]]:
        """The pages as they come, in any order."""
        sites = defaultdict(list)
        for url in urls:
            sites[_site(url)].append(url)
        # Of one place, so that what is read does not run ahead of what is kept.
        read: Queue[tuple[str, Page] | BaseException | None] = Queue(1)
        left, ended = len(sites), False

        def visit(site: str) -> None:
            try:
                for url in sites[site]:
                    if ended or stop():
                        return
                    read.put((url, self._one(site, url)))
            except BaseException as error:
                read.put(error)
            finally:
                read.put(None)

        with ThreadPoolExecutor(self.workers) as pool:
            # Long lists first, so that no site is left alone at the end.
            for site in sorted(sites, key=lambda site: (-len(sites[site]), site)):
                pool.submit(visit, site)
            try:
                while left:
                    each = read.get()
                    if isinstance(each, tuple):
                        yield each
                    elif each is not None:
                        raise each
                    left -= each is None
            finally:
                # Whoever waits for room in the queue must be let go.
                ended = True
                while left:
                    left -= read.get() is None

    def _one(self, site: str, url: str) -> Page:
        wait = self._asked.get(site, -self.pause) + self.pause - self.clock()
        if wait > 0:
            self.sleep(wait)
        page = self.reader.read(url)
        if not page.outcome.asked_nobody:
            self._asked[site] = self.clock()
        return page


def may_be_tried(page: Linked) -> bool:
    """Whether a later run may ask for a page once more."""
    return page.tries < TRIES and may_pass(page.outcome, page.status)


def _site(url: str) -> str:
    """What is read one page at a time."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
