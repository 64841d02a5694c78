"""Every page there is, with who sees it: tests and pictures go through this list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.api.pages.serving import CRAWLED, GRAPH, PATIENTS, RELEASE, TABLE, TABLE_RELEASE

#: Who sees a page; nobody stands for who is not signed in.
ALL = ("custodian", "auditor", "analyst")
KEEPERS, MEASURERS = ("custodian",), ("custodian", "auditor")

#: What pages fetch or offer as files, and no pages: their endpoints.
FILES = frozenset({"pages.static", "pages.picture", "pages.download", "pages.download_table", "pages.plan"})


@dataclass(frozen=True)
class Page:
    """A page of the made service: its endpoint, where it is, what its picture is called, who sees it."""

    endpoint: str
    path: str
    name: str
    seen_by: tuple[str, ...] = ALL
    #: What the other roles are answered with.
    refused: int = 403


PAGES = (
    Page("pages.sign_in", "/sign-in", "sign-in", ()),
    Page("pages.home", "/", "home"),
    Page("pages.upload", "/upload", "upload", KEEPERS),
    Page("pages.collect", "/collect", "collect", KEEPERS),
    Page("pages.collect", "/collect?source=x&users=1638&posts=100&budget=900", "collect-cost", KEEPERS),
    Page("pages.collect_more", f"/graphs/{CRAWLED}/collect", "collect-more", KEEPERS),
    Page("pages.look", "/upload/{upload}?name=friends&format=node-link", "upload-preview", KEEPERS),
    Page("pages.look_at_table", "/upload/{table}/table?name=visits.csv", "upload-preview-table", KEEPERS),
    Page("pages.table", f"/tables/{TABLE}?kind=original&by=ward", "table-original", MEASURERS, 404),
    Page("pages.table", f"/tables/{TABLE_RELEASE}?by=ward&where=illness=flu", "table-release"),
    Page("pages.hierarchy", f"/tables/{TABLE}/hierarchies/ward?kind=original", "hierarchy", KEEPERS),
    Page("pages.hierarchy", f"/tables/{TABLE}/hierarchies/age?kind=original&by=range", "hierarchy-levels", KEEPERS),
    Page("pages.graph", f"/graphs/{GRAPH}", "graph-original", MEASURERS, 404),
    Page("pages.graph", f"/graphs/{RELEASE}", "graph-release"),
    Page("pages.audit", f"/releases/{RELEASE}/audit", "audit", MEASURERS),
    Page("pages.guide", "/release", "guide-1-graph", KEEPERS),
    Page("pages.guide", f"/release?graph={GRAPH}", "guide-2-audience", KEEPERS),
    Page("pages.guide", f"/release?graph={GRAPH}&step=3", "guide-3-use", KEEPERS),
    Page("pages.guide", f"/release?graph={GRAPH}&step=5", "guide-5-release", KEEPERS),
    Page("pages.guide", f"/release?table={PATIENTS}", "guide-2-table", KEEPERS),
    Page("pages.guide", f"/release?table={PATIENTS}&columns=age&columns=zip&job={{compared}}&step=4",
         "guide-4-table", KEEPERS),
    Page("pages.guide", f"/release?table={PATIENTS}&step=5", "guide-5-table", KEEPERS),
    Page("pages.search", f"/search?table={PATIENTS}", "search", KEEPERS),
    Page("pages.front", "/search/{front}?node=2,1", "front", KEEPERS),
    Page("pages.compare", f"/protections?table={PATIENTS}", "compare", KEEPERS),
    Page("pages.compared", "/protections/{compared}", "compared", KEEPERS),
    Page("pages.masked", f"/tables/{TABLE_RELEASE}/audit?kind=release", "audit-table", MEASURERS),
    Page("pages.jobs", "/jobs", "jobs"),
    Page("pages.job", "/jobs/{audit}", "job-done", KEEPERS, 404),
    Page("pages.job", "/jobs/{failed}", "job-failed", KEEPERS, 404),
    Page("pages.sessions", "/sessions", "sessions"),
    Page("pages.factor", "/second-factor", "second-factor"),
    Page("pages.people", "/accounts", "accounts", KEEPERS),
    Page("pages.log", "/audit-log", "audit-log", KEEPERS),
)  # fmt: skip


def path_of(page: Page, made: Mapping[str, str]) -> str:
    """Where a page is, once things are made."""
    return page.path.format(**made)
