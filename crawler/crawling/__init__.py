"""The crawl (thesis, Algorithm 12) over any source: resumable, within limits, and without a doubt about its cost.

For whoever reads what was collected (enriching, audits), there are three places:

- the users, `Store.users(graph)`: `location_text` is what a person wrote as location (on a network without such a field
  what stood for it in the description; `collected(...).location_from` counts which);
- their posts, `Store.posts(graph)`: text, links with their full addresses, and the moment;
- the raw answers, `journal(store, graph)`: each question with the bytes that answered it, in the order of asking, so
  that `source.read(question, body)` gives the same page again. They are there for the days of the journal alone.

`collected(store, graph)` says how the graph came to be: source, counts of users by state, requests, failures, cost,
and the share of the lists that was seen; None where the graph comes from elsewhere. All of it works while the crawl
goes on. `origin(store, graph)` says the same in short, with its times.
"""

from __future__ import annotations

from crawler.crawling.journal import journal
from crawler.crawling.limits import Limits
from crawler.crawling.summary import collected, origin

__all__ = ["Limits", "collected", "journal", "origin"]
