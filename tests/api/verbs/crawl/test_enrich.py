"""`enrich`: what it gives with what is built in, and what it says of networks."""

from __future__ import annotations

import pytest

from api.verbs import Work, verbs
from api.verbs.contract import perform
from crawler.web.outcomes import Outcome
from crawler.web.pages import Page
from graphpriv.store import Post, User, open_store
from graphpriv.store.crawls import CRAWL, ONLY, document
from tabular.errors import InvalidInput, UnknownName

TEXTS = ("The parliament passed the election law after a vote of its members", "Two goals in the final of the cup")


@pytest.fixture
def address(tmp_path):
    return f"file:{tmp_path / 'graphs.db'}"


def filled(address, source=None):
    """A graph of two users, as a crawl of a *source* leaves it."""
    with open_store(address, create=True) as store:
        if source is None:
            store.create_graph("town", directed=True)
        else:
            store.begin_crawl("town", [document(CRAWL, ONLY, {"source": source})])
        store.add_users("town", [User(id="1", location_text="Barcelona, Spain"), User(id="2", location_text="she/her")])
        store.add_posts("town", [Post(id=str(at), user="1", text=text) for at, text in enumerate(TEXTS)])


def enriched(address, notes=None, **options):
    """The document, as any door gets it."""
    said = [] if notes is None else notes
    work = Work(store=address, note=said.append)
    return perform(verbs["enrich"].method(name="town", **{"pages": 0, **options}), work).document


def test_what_is_built_in_finds_topics_and_places(address):
    filled(address)
    assert enriched(address)["places"]["placed"] == 1
    with open_store(address, create=False) as store:
        one, two = store.users("town")
        assert one.location[0] == ("Barcelona", "locality")
        assert one.topics == ("Politics", "Sports", None)
        assert (two.location, two.topics) == (None, (None, None, None))
        (run,) = store.runs("town")
        assert (run.verb, run.parameters["topics"]["by"]) == ("enrich", "embedded")
        assert store.figures("town")["users"] == 2


@pytest.mark.parametrize(
    ("source", "fold", "said"), [("x", False, 1), ("x", True, 0), ("bluesky", False, 0), (None, False, 0)]
)
def test_what_x_forbids_is_said_once_unless_it_is_folded(address, source, fold, said):
    filled(address, source)
    notes = []
    document = enriched(address, notes, fold_sensitive=fold)
    assert len([note for note in notes if "does not allow" in note]) == said
    assert ("Politics" in document["topics"]["users_by_topic"]) is not fold


@pytest.mark.parametrize("wrong", [{"topics": "nobody"}, {"places": "nobody"}, {"name": "nowhere"}])
def test_names_that_nobody_has_are_refused(address, wrong):
    filled(address)
    with pytest.raises(UnknownName):
        perform(verbs["enrich"].method(**{"name": "town", "pages": 0, **wrong}), Work(store=address))


def test_a_wrong_number_of_pages_is_refused(address):
    with pytest.raises(InvalidInput):
        enriched(address, pages=-1)


def test_a_service_without_its_token_is_refused_before_anything_is_read(address, monkeypatch):
    for name in ("GRAPHPRIV_TAGGING_URL", "GRAPHPRIV_TAGGING_TOKEN", "GRAPHPRIV_GOOGLE_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidInput, match="GRAPHPRIV_TAGGING"):
        enriched(address, topics="tagging")
    with pytest.raises(InvalidInput, match="GRAPHPRIV_GOOGLE_KEY"):
        enriched(address, places="google")


class Slow:
    """Reads pages of sites that do not answer in time."""

    def __init__(self) -> None:
        self.read_so_far: list[str] = []

    def read(self, url):
        self.read_so_far.append(url)
        return Page(Outcome.TIMEOUT if "slow" in url else Outcome.NOT_TEXT)

    def close(self) -> None:
        """Nothing is held."""


def test_the_next_run_asks_once_more_for_pages_that_were_slow(address, monkeypatch):
    slow = Slow()
    monkeypatch.setattr("crawler.web.pages.Reader.over", lambda guard: slow)
    filled(address)
    links = ("https://slow.example/", "https://picture.example/")
    with open_store(address, create=False) as store:
        store.add_posts("town", [Post(id="linked", user="2", text="look", links=links)])
    for _ in range(4):
        assert enriched(address, pages=9)["pages"]["failed"] == 2
    assert sorted(slow.read_so_far) == [links[1], links[0], links[0]]
