"""Social networks that a crawl can ask, each behind one contract and entered in the registry `sources`."""

from __future__ import annotations

from crawler.sources.contract import Answer, Page, Profile, Question, Quota, Source, State, sources

sources.load(__name__)

__all__ = ["Answer", "Page", "Profile", "Question", "Quota", "Source", "State", "sources"]
