"""Bluesky and Mastodon on loopback: a made network that answers as their documentation shows, with faults by seed.

Both speak of the same people. `Network` knows who they are and whom they follow, so a test can say what a crawl must
find. Mastodon has several servers: the configured one over plain HTTP, the others over TLS under names of their own,
which the client reaches because its guard resolves every name to a public address and its connections lead here.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import random
import ssl
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from crawler.sources import Page, Question, Source
from crawler.sources.failures import Failure
from crawler.web.addresses import Endpoint, Guard
from crawler.web.client import Client, connect

PUBLIC = "93.184.216.34"

#: The servers of the made Mastodon beside the configured one; the last of them never answers.
HOSTS = ("birds.example", "social.trees.example", "stones.example", "down.example")

#: How people of the made network stand to a crawl; whoever is not named here is kept.
ODD = ("locked", "opted-out", "suspended", "vanished", "moved", "hidden")

PLACES = ("Graz, Austria", "Lyon", "Porto Alegre", "Leeds, UK", "Nairobi")


@dataclass(frozen=True)
class Person:
    """One of the people, by number."""

    number: int
    follows: tuple[int, ...]
    state: str = "kept"

    @property
    def name(self) -> str:
        return f"person{self.number}"

    @property
    def place(self) -> str:
        return PLACES[self.number % len(PLACES)]

    @property
    def posts(self) -> list[str]:
        return [f"Post {each} of {self.name}: rain & <sun>" for each in range(self.number % 4 + 1)]

    def link(self, post: int) -> str:
        return f"https://news.example/{self.number}/{post}"


@dataclass(frozen=True)
class Network:
    """The people, and what is true of them."""

    people: tuple[Person, ...]

    @classmethod
    def made(cls, users: int, seed: int, *, odd: float = 0.1) -> Network:
        """People who follow one another at random; all of those who are kept can be reached from the first."""
        rng = random.Random(seed)
        states = ["kept", *(rng.choice(ODD) if rng.random() < odd else "kept" for _ in range(users - 1))]
        kept = [number for number, state in enumerate(states) if state == "kept"]
        follows: list[set[int]] = [set(rng.sample(range(users), rng.randint(0, 7))) - {each} for each in range(users)]
        for position, number in enumerate(kept[1:]):
            # A tree below the first one reaches everybody.
            follows[kept[rng.randrange(position + 1)]].add(number)
        found = zip(follows, states, strict=True)
        return cls(tuple(Person(each, tuple(sorted(to)), state) for each, (to, state) in enumerate(found)))

    def kept(self) -> list[Person]:
        return [each for each in self.people if each.state in ("kept", "hidden")]


@dataclass
class Faults:
    """What goes wrong with how large a share of the requests; the same for the same seed and order of requests."""

    seed: int = 0
    limited: float = 0.0
    failed: float = 0.0
    cut: float = 0.0
    truncated: float = 0.0
    _rng: random.Random = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)

    def draw(self) -> str:
        with self._lock:
            value = self._rng.random()
        for kind in ("limited", "failed", "cut", "truncated"):
            value -= getattr(self, kind)
            if value < 0:
                return kind
        return ""


#: What a server answers: status, headers, JSON.
Reply = tuple[int, dict[str, str], Any]


@dataclass
class Loopback:
    """A made network that is served; what it was asked is written down."""

    network: Network
    faults: Faults
    answer: Callable[[Loopback, str, str, dict[str, list[str]]], Reply]
    limit_headers: Callable[[float], dict[str, str]]
    #: The requests that were answered with 200, by host, path and query.
    asked: Counter[str] = field(default_factory=Counter)
    all_requests: int = 0
    #: All requests by host, and the hosts that cut every connection.
    by_host: Counter[str] = field(default_factory=Counter)
    down: set[str] = field(default_factory=lambda: {"down.example"})
    #: Answers that take the place of others, by host and path.
    instead: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    #: What its servers show over TLS.
    certificate: str = field(default_factory=lambda: _identity()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['http']}"

    def client(self) -> Client:
        """A client that reaches the servers of this network and no others."""
        exempt = Endpoint("127.0.0.1", self.ports["http"])
        trust = ssl.create_default_context(cadata=self.certificate)
        guard = Guard(resolve=lambda host, port, seconds: [PUBLIC], exempt=exempt)
        return Client(guard, "graphpriv-test", connect=self._connect, trust=lambda: trust)

    def _connect(self, address: str, port: int, timeout: float) -> httpcore.NetworkStream:
        if address == "127.0.0.1":
            return connect(address, port, timeout)
        assert (address, port) == (PUBLIC, 443)
        return connect("127.0.0.1", self.ports["https"], timeout)

    def reply(self, host: str, target: str) -> tuple[int, dict[str, str], bytes | None]:
        """What to send for one request; None cuts the connection."""
        self.all_requests += 1
        self.by_host[host] += 1
        parts = urlsplit(target)
        if found := self.instead.get(host + parts.path):
            return found
        if host in self.down:
            return 200, {}, None
        match self.faults.draw():
            case "limited":
                return 429, self.limit_headers(time.time() + 0.2), b'{"error": "RateLimitExceeded"}'
            case "failed":
                return 503, {}, b"<html>Service Unavailable</html>"
            case "cut":
                return 200, {}, None
            case "truncated":
                return 200, {}, b'{"cut": [{"short'
        status, headers, body = self.answer(self, host, parts.path, parse_qs(parts.query))
        if status == 200:
            self.asked[host + target] += 1
        return status, headers, json.dumps(body, ensure_ascii=False).encode()


class _Handler(BaseHTTPRequestHandler):
    loopback: Loopback

    def do_GET(self) -> None:
        host = self.headers.get("Host", "")
        status, headers, body = self.loopback.reply(host, self.path)
        if body is None:
            self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\n{")
            return
        self.send_response_only(status)
        for name, value in {"Date": formatdate(usegmt=True), "Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *given: Any) -> None:
        """Nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who hangs up is no error."""


@contextlib.contextmanager
def served(loopback: Loopback) -> Iterator[Loopback]:
    """The network, while the test runs."""
    handler = type("Handler", (_Handler,), {"loopback": loopback})
    with _Server(("127.0.0.1", 0), handler) as plain, _Server(("127.0.0.1", 0), handler) as secure:
        secure.socket = _identity()[0].wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
        loopback.ports = {"http": plain.server_address[1], "https": secure.server_address[1]}
        for each in (plain, secure):
            threading.Thread(target=each.serve_forever, args=(0.02,), daemon=True).start()
        yield loopback
        for each in (plain, secure):
            each.shutdown()


@cache
def _identity() -> tuple[ssl.SSLContext, str]:
    """What serves the names of all hosts, and the certificate that it shows."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOSTS[0])])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - day).not_valid_after(now + day)
    made = builder.add_extension(
        x509.SubjectAlternativeName([x509.DNSName(host) for host in HOSTS]), critical=False
    ).sign(key, hashes.SHA256())
    public = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "both.pem"
        path.write_bytes(public + secret)
        server.load_cert_chain(path)
    return server, public.decode()


def paged(found: Sequence[Any], begin: int, size: int) -> tuple[Sequence[Any], int | None]:
    """A page of a list, and where the next one begins."""
    end = begin + size
    return found[begin:end], end if end < len(found) else None


# Bluesky


def did(number: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz234567"
    tail = ""
    for _ in range(6):
        tail, number = letters[number % 32] + tail, number // 32
    return f"did:plc:madepersonmadeper{tail}z"[:32]


def bluesky(network: Network, faults: Faults | None = None) -> Loopback:
    """The AppView of Bluesky."""
    return Loopback(network, faults or Faults(), _bluesky_answer, _bluesky_limit)


def _bluesky_limit(reset: float) -> dict[str, str]:
    return {"RateLimit-Limit": "3000", "RateLimit-Remaining": "0", "RateLimit-Reset": str(int(reset)),
            "RateLimit-Policy": "3000;w=300"}  # fmt: skip


def _wrong(message: str, error: str = "InvalidRequest") -> Reply:
    return 400, {}, {"error": error, "message": message}


def _bluesky_answer(loopback: Loopback, host: str, path: str, given: dict[str, list[str]]) -> Reply:
    people, call = loopback.network.people, path.rpartition("/")[2]
    known = {did(each.number): each for each in people} | {f"{each.name}.made.example": each for each in people}
    shown = {name: each for name, each in known.items() if each.state not in ("vanished", "moved", "suspended")}
    headers = {"RateLimit-Limit": "3000", "RateLimit-Remaining": "2999", "RateLimit-Reset": str(int(time.time()) + 300)}
    if call == "app.bsky.actor.getProfiles":
        if len(given["actors"]) > 25:
            return _wrong("Error: actors must not have more than 25 elements")
        return 200, headers, {"profiles": [_profile(shown[each]) for each in given["actors"] if each in shown]}
    actor = given["actor"][0]
    if actor not in shown:
        if actor in known and known[actor].state == "suspended":
            return _wrong("Account has been suspended", "AccountTakedown")
        if actor in known and known[actor].state == "moved":
            return _wrong("Account is deactivated", "AccountDeactivated")
        return _wrong("Profile not found" if "getFollows" not in call else f"Actor not found: {actor}")
    person = shown[actor]
    if call == "app.bsky.actor.getProfile":
        return 200, headers, _profile(person)
    size, begin = int(given["limit"][0]), int(given.get("cursor", ["0"])[0])
    if not 1 <= size <= 100:
        return _wrong("Error: limit must be from 1 to 100")
    if call == "app.bsky.graph.getFollows":
        followed = [people[each] for each in person.follows if did(each) in shown]
        page, after = paged(followed, begin, size)
        answer: dict[str, Any] = {"subject": _profile(person), "follows": [_profile(each) for each in page]}
    else:
        feed = [_feed_post(person, each) for each in range(len(person.posts))]
        reason = {"$type": "app.bsky.feed.defs#reasonRepost", "by": _basic(person)}
        feed.insert(1, {**_feed_post(people[0], 0), "reason": {**reason, "indexedAt": "2026-01-02T03:04:05.000Z"}})
        page, after = paged(feed, begin, size)
        answer = {"feed": page}
    return 200, headers, answer if after is None else {**answer, "cursor": str(after)}


def _basic(person: Person) -> dict[str, Any]:
    return {"did": did(person.number), "handle": f"{person.name}.made.example", "displayName": person.name.title()}


def _profile(person: Person) -> dict[str, Any]:
    val = {"opted-out": "!no-unauthenticated"}.get(person.state)
    label = {"src": did(person.number), "uri": f"at://{did(person.number)}/app.bsky.actor.profile/self", "val": val,
             "cts": "1970-01-01T00:00:00.000Z"}  # fmt: skip
    tag = " #nobot" if person.state == "locked" else ""
    return {
        **_basic(person),
        "description": f"I write.\n📍 {person.place}{tag}",
        "followsCount": len(person.follows),
        "followersCount": 3,
        "postsCount": len(person.posts),
        "labels": [label] if val else [],
    }


def _feed_post(person: Person, post: int) -> dict[str, Any]:
    link = {"$type": "app.bsky.richtext.facet#link", "uri": person.link(post)}
    tag = {"$type": "app.bsky.richtext.facet#tag", "tag": "rain"}
    return {
        "post": {
            "uri": f"at://{did(person.number)}/app.bsky.feed.post/{post}",
            "cid": "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a",
            "author": _basic(person),
            "indexedAt": "2026-01-02T03:04:05.000Z",
            "record": {
                "$type": "app.bsky.feed.post",
                "text": person.posts[post],
                "createdAt": "2026-01-02T03:04:05.000Z",
                "facets": [{"index": {"byteStart": 0, "byteEnd": 4}, "features": [link, tag]}],
                "embed": {"$type": "app.bsky.embed.external", "external": {
                    "uri": person.link(post) + "/more", "title": "News", "description": ""}},
            },
        }
    }  # fmt: skip


# Mastodon


def mastodon(network: Network, faults: Faults | None = None) -> Loopback:
    """Some servers of Mastodon."""
    return Loopback(network, faults or Faults(), _mastodon_answer, _mastodon_limit)


def _mastodon_limit(reset: float) -> dict[str, str]:
    moment = datetime.datetime.fromtimestamp(reset, datetime.UTC).isoformat(timespec="microseconds")
    return {
        "X-RateLimit-Limit": "300",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": moment.replace("+00:00", "Z"),
    }


def home(loopback: Loopback, number: int) -> str:
    """The host that somebody lives on; the first lives on the configured one."""
    hosts = [urlsplit(loopback.url).netloc, *HOSTS[:3]]
    return hosts[number % len(hosts)]


def mastodon_id(loopback: Loopback, number: int) -> str:
    return f"person{number}@{home(loopback, number)}"


def _mastodon_answer(loopback: Loopback, host: str, path: str, given: dict[str, list[str]]) -> Reply:
    people = loopback.network.people
    headers = {**_mastodon_limit(time.time() + 300), "X-RateLimit-Remaining": "299"}
    here = {str(1000 + each.number): each for each in people if home(loopback, each.number) == host}
    here = {id: each for id, each in here.items() if each.state != "vanished"}
    call = path.removeprefix("/api/v1/accounts/")
    if call == "lookup":
        person = next((each for each in here.values() if each.name == given["acct"][0].lower()), None)
        if person is None:
            return 404, headers, {"error": "Record not found"}
        return 200, headers, _account(loopback, host, person)
    id, _, what = call.partition("/")
    if id not in here:
        return 404, headers, {"error": "Record not found"}
    person, size = here[id], int(given["limit"][0])
    if what == "following":
        # Somebody else's server knows all of them; the ids of pages are none of users.
        followed = [] if person.state == "hidden" else [people[each] for each in person.follows]
        page, after = paged(followed, int(given.get("max_id", ["0"])[0]), min(size, 80))
        answer = [_account(loopback, host, each) for each in page]
    else:
        assert given["exclude_reblogs"] == given["exclude_replies"] == ["true"]
        page, after = paged(range(len(person.posts)), int(given.get("max_id", ["0"])[0]), min(size, 40))
        answer = [_status(loopback, host, person, each) for each in page]
    if after is not None:
        address = f"https://{host}{path}"
        headers["Link"] = f'<{address}?limit={size}&max_id={after}>; rel="next", <{address}?min_id=1>; rel="prev"'
    return 200, headers, answer


def _account(loopback: Loopback, host: str, person: Person) -> dict[str, Any]:
    at = home(loopback, person.number)
    # One server is called otherwise than the names of its users.
    domain = "trees.example" if at == "social.trees.example" else at
    name = person.name.title()
    account = {
        "id": str(1000 + person.number),
        "username": name,
        "acct": name if at == host else f"{name}@{domain}",
        "display_name": f"{name} ✨",
        "url": f"https://{at}/@{name}",
        "uri": f"https://{at}/users/{name}",
        "note": "<p>I <b>write</b> &amp; read.</p>",
        "locked": person.state == "locked",
        "bot": False,
        "discoverable": True,
        "noindex": person.state == "opted-out",
        "following_count": len(person.follows),
        "followers_count": 3,
        "statuses_count": len(person.posts),
        "created_at": "2020-01-01T00:00:00.000Z",
        "fields": [{"name": "📍 Location", "value": f"<span>{person.place}</span>", "verified_at": None}],
    }
    if person.state == "suspended":
        account["suspended"] = True
    if person.state == "moved":
        account["moved"] = {**account, "acct": "elsewhere@down.example"}
    return account


def _status(loopback: Loopback, host: str, person: Person, post: int) -> dict[str, Any]:
    text = person.posts[post].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    mention = f'<a href="https://{HOSTS[0]}/@person1" class="u-url mention">@<span>person1</span></a>'
    hashtag = f'<a href="https://{host}/tags/rain" class="mention hashtag" rel="tag">#<span>rain</span></a>'
    link = f'<a href="{person.link(post)}" rel="nofollow"><span class="invisible">https://</span>news.example</a>'
    return {
        "id": str(5000 + post),
        "uri": f"https://{host}/users/{person.name}/statuses/{post}",
        "created_at": "2026-01-02T03:04:05.000Z",
        "visibility": "public",
        "spoiler_text": "",
        "content": f"<p>{text}</p><p>{mention} {hashtag} {link}</p>",
        "account": _account(loopback, host, person),
        "reblog": None,
        "card": {"url": person.link(post) + "/more", "title": "News"},
        "mentions": [],
        "tags": [],
    }


# Asking


def asked(source: Source, **question: Any) -> Page:
    """The page that answers a question."""
    made = Question(**question)
    return source.read(made, source.ask(made).body)


def failure(source: Source, **question: Any) -> Failure:
    """The failure that a question ends in."""
    with pytest.raises(Failure) as raised:
        asked(source, **question)
    return raised.value
