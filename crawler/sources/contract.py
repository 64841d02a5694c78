"""What a source is: a network that is asked one thing at a time, and whose answers are read apart from that.

A source does two separate things. `ask` is one exchange over HTTP: it gives the raw answer, or raises one of the
failures of `crawler.sources.failures`; it does not wait, retry or turn pages, since one pager and one limiter stand
over all sources (`crawler.crawling`). `read` is pure: it makes a `Page` of a raw answer and needs no network, so that
an answer in the journal can be read again. `Source.read` of a question and an answer must give the same page for ever.

To add a network: a module here with a frozen dataclass that extends `Source`, entered with `@sources.add("name")`, and
`from_environment`. Everything else (resume, limits, ledger, journal, the command's list of sources) is there already.

Ids are texts that name a user for good within the network (a number of X, a DID, `user@host`). What a source needs
besides to ask about a user (the id at the home server, say) goes into `Profile.address`; it comes back in
`Question.address`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self
from urllib.parse import urlsplit

from graphpriv.store.records import Post
from tabular.errors import InvalidInput
from tabular.registry import Method, Registry

#: What can be asked: a user by the name that a person typed, one user by id, several users by their ids at once (to
#: see who is still there), whom a user follows, and what a user posted.
Kind = Literal["start", "profile", "profiles", "following", "posts"]

#: How a user stands to a crawl. Only those who are kept are in the graph, and only they count.
State = Literal[
    "kept", "locked", "opted-out", "suspended", "vanished", "moved", "refused-host", "closed-host", "unreachable"
]


@dataclass(frozen=True, kw_only=True)
class Question:
    """One thing to ask; one question is one exchange."""

    kind: Kind
    #: The id of the user, or for `start` the name as it was typed.
    user: str = field(default="", repr=False)
    #: The ids of a `profiles` question.
    users: tuple[str, ...] = field(default=(), repr=False)
    #: What `Profile.address` said of this user.
    address: str | None = field(default=None, repr=False)
    #: The `Page.cursor` of the page before.
    cursor: str | None = field(default=None, repr=False)
    #: At most so many follows or posts; within `Source.sizes` of this kind.
    size: int | None = None


@dataclass(frozen=True)
class Quota:
    """What a network says of its rate limit: requests left, and seconds until there are more, by its own clock."""

    remaining: int
    wait: float


@dataclass(frozen=True)
class Answer:
    """A raw answer, with what its headers say of time (seconds since 1970, by the network's clock) and limits."""

    body: bytes = field(repr=False)
    moment: float | None = None
    quota: Quota | None = None


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A user as an answer shows one; only a user who is `kept` comes with anything of a person."""

    id: str = field(repr=False)
    state: State = "kept"
    handle: str | None = field(default=None, repr=False)
    name: str | None = field(default=None, repr=False)
    location_text: str | None = field(default=None, repr=False)
    #: Where people put their location on this network: a field of its own, or the description.
    location_from: Literal["profile", "description"] = "profile"
    #: How many users this one follows, and how many posts there are, where the network says so.
    following: int | None = None
    posts: int | None = None
    #: What the source needs to ask about this user; the id where it is None.
    address: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Page:
    """What an answer says."""

    #: Users that were asked for, also those who are not kept (a vanished one has an id and a state alone). Of several
    #: users some may be missing; they are asked for alone then.
    profiles: tuple[Profile, ...] = ()
    #: Whom the user follows, by id, in the order of the answer; entries that cannot be read are left out.
    followed: tuple[str, ...] = field(default=(), repr=False)
    posts: tuple[Post, ...] = field(default=(), repr=False)
    #: Where the next page begins; None where this is the last one.
    cursor: str | None = field(default=None, repr=False)
    #: What the network charges for: the kind of each thing (`user`, `followed`, `post`) and its id.
    charged: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, kw_only=True)
class Source(Method):
    """A network to ask."""

    #: The least and the most of one page, by the kind of question.
    sizes: ClassVar[Mapping[str, tuple[int, int]]]
    #: How many users a `profiles` question may name; 0 where users can only be asked one by one.
    batch: ClassVar[int] = 0
    #: Whether users live on servers of their own; then one server that fails ends a user, and not the crawl.
    federated: ClassVar[bool] = False
    #: Whether the network charges for what comes back; there is a row for it in the table of prices then.
    charges: ClassVar[bool] = False
    #: For how many days raw answers are kept unless somebody says otherwise.
    journal_days: ClassVar[int] = 30
    #: How a person writes whom a crawl starts from.
    user: ClassVar[str] = "name"
    #: What its terms ask, in one line that is said once at the start.
    terms: ClassVar[str] = ""

    @classmethod
    @abstractmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """The source with credentials and address from variables; `missing` where one is not set."""

    @property
    @abstractmethod
    def where(self) -> str:
        """The address that is asked, for messages; it holds no credentials."""

    def lane(self, question: Question) -> str:
        """What shares one rate limit: questions of one lane wait for each other."""
        return f"{self.where} {question.kind}"

    @abstractmethod
    def ask(self, question: Question) -> Answer:
        """One exchange; raises `Failure`."""

    @abstractmethod
    def read(self, question: Question, body: bytes) -> Page:
        """What the answer to a question says; raises `Failure` where it says that there is no such user."""


sources: Registry[Source] = Registry("source")


def missing(source: str, variable: str) -> InvalidInput:
    """The error for a source whose credentials are not set."""
    return InvalidInput(f"The source {source} needs credentials: set the variable {variable}.")


def base_of(environ: Mapping[str, str], variable: str, public: str) -> str:
    """The address of a network: what a variable says, or the public one."""
    url = environ.get(variable, "").strip() or public
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound:
        raise InvalidInput(f"The variable {variable} must be an address such as {public}.")
    return url.rstrip("/")


def shown(url: str) -> str:
    """An address for messages, without a login that stands in it.

    >>> shown("https://ann:secret@example.org:8443/api?key=1")
    'https://example.org:8443'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def opts_out(description: str | None) -> bool:
    """Whether people ask in their description not to be collected.

    >>> opts_out("Gardener. #NoBot, please"), opts_out("robots are #nobotany"), opts_out(None)
    (True, False, False)
    """
    words = (description or "").casefold().replace("#", " #").split()
    tags = {word.rstrip(".,;:!?)]}\"'") for word in words}
    return not tags.isdisjoint(OPT_OUTS)


#: Tags by which people ask that no program collects what they write.
OPT_OUTS = frozenset({"#nobot", "#nobots", "#noindex", "#nocrawl", "#noarchive"})
