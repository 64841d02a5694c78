"""A small made graph whose posts link to pages on loopback, and what says plainly what its texts are about."""

from __future__ import annotations

from dataclasses import dataclass, field

from crawler.enriching.enrichment import Enrichment
from crawler.enriching.links import Links
from crawler.web.addresses import Endpoint, Guard
from crawler.web.client import Client
from crawler.web.pages import Reader
from graphpriv.places import WORLD, Path
from graphpriv.store import Post, Store, User
from tests.crawler.web.sites import EXTRACTION, Sites, answer

SPAIN = (("Spain", "country"), ("Europe", "continent"), WORLD)
MADRID = (("Madrid", "locality"), *SPAIN)
SENTENCE = "The school opened its doors to the pupils of the town after a long debate about roads. "
WORDS = {
    "goal": "Sports",
    "rain": "Weather",
    "vote": "Politics",
    "school": "Education",
    "song": "Entertainment_Culture",
}


class Keywords:
    """Finds the topics whose words occur."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def categorise(self, texts):
        self.seen += texts
        found = [[(name, 1.0) for word, name in WORDS.items() if word in text] for text in texts]
        return [each or [("Other", 0.1)] for each in found]


@dataclass
class Found:
    """A place of a text."""

    path: Path = ()
    score: float = 0.0
    alternatives: tuple[tuple[Path, float], ...] = ()


@dataclass
class Names:
    """Knows two places and one that is unclear."""

    seen: list[str] = field(default_factory=list)

    def locate_all(self, texts):
        self.seen += texts
        known = {
            "Madrid": Found(MADRID, 0.9),
            "Spain": Found(SPAIN, 0.8),
            "Springfield": Found((), 0.3, ((SPAIN, 0.3),)),
        }
        return [known.get(text, Found()) for text in texts]


def filled(store: Store, site: str, users: int = 12, name: str = "town") -> None:
    """A graph whose users post about things, and link to pages about others."""
    store.create_graph(name, directed=True)
    places = ["Madrid", "Spain", "Springfield", "she/her", None, " "]
    store.add_users(name, [User(id=f"u{at}", handle=f"h{at}", location_text=places[at % 6]) for at in range(users)])
    words = list(WORDS)
    store.add_posts(
        name,
        [
            Post(
                id=f"p{at}-{post}",
                user=f"u{at}",
                text=f"a {words[(at + post) % 3]} today",
                links=(f"{site}/{at}/{post}", f"{site}/shared") if post == 2 else (),
            )
            for at in range(users)
            for post in range(4)
        ],
    )


def serve(web: Sites, users: int = 12) -> str:
    """Serve the pages of the graph, and say where."""
    host = f"127.0.0.1:{web.port}"
    html = f"<html><body><article><p>{SENTENCE * 3}</p><p>{SENTENCE * 2}</p></article></body></html>"
    for at in range(users):
        web.answers[f"{host}/{at}/2"] = answer(b"a song is sung" if at % 2 else b"nothing of note")
    web.answers[f"{host}/3/2"] = answer(status="404 Not Found")
    web.answers[f"{host}/5/2"] = answer(html.encode(), kind="text/html")
    web.answers[f"{host}/shared"] = answer(b"a vote is held")
    return f"http://{host}"


def enrichment(store: Store, web: Sites, name: str = "town", **changes) -> Enrichment:
    """One way to enrich the graph; the one place where a test passes the demonstration's switch."""
    guard = Guard(exempt=Endpoint("127.0.0.1", web.port))
    reader = Reader(Client(guard, "graphpriv-test"), extraction=EXTRACTION)
    links = Links(store=store, graph=name, reader=reader, pause=0.0, together=1)
    given = {"categoriser": Keywords(), "gazetteer": Names(), "topics_by": ("words", "1"), "places_by": ("names", "1")}
    return Enrichment(store=store, name=name, **{**given, "links": links, "block": 5, **changes})


def profiles(store: Store, name: str = "town"):
    """All that enrichment gives: profiles and notes."""
    people, _ = store.people(name, 0, 10_000)
    return [(each.user, each.note) for each in people]
