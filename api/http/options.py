"""Options of a question: in its address or, since servers and proxies write addresses down, in a header or a form."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from flask import Flask, Request, current_app, request
from werkzeug.datastructures import ImmutableMultiDict, MultiDict
from werkzeug.utils import cached_property

from api.http.problems import HttpProblem
from graphpriv.remote.transport import OPTIONS

__all__ = ["HELP", "OPTIONS", "Asked", "Kept", "check_options", "kept", "register"]

#: What the header is told as.
HELP = (
    "Options instead of those in the address, written as there: `user=bob&limit=10`, in percent-encoded UTF-8. Use it "
    "for what belongs to a person: servers and proxies write addresses down. The answer then has no `Link`; send its "
    "`next` as `cursor`."
)

#: Methods whose requests take it: what others ask for is known by their address and body.
_METHODS = ("GET", "HEAD", "DELETE")

#: So many options, and characters of them, are more than any question has.
_MOST, _LONGEST = 100, 10_000

#: How long options of a form are kept after they were last asked for, in seconds, and those of how many forms.
_LIFE, _FORMS = 900.0, 1_000

_EXTENSION = "graphpriv options"


class Asked(Request):
    """A request whose options may stand in a header."""

    @cached_property
    def args(self) -> MultiDict[str, str]:
        """The options, wherever they stand."""
        text = self.headers.get(OPTIONS)
        if text is None:
            return super().args
        if self.method not in _METHODS:
            raise _wrong(f"is for {', '.join(_METHODS)} alone.")
        if self.query_string:
            raise _wrong("and the address both hold options; send all of them in one place.")
        try:
            # Two such headers come as one, with a comma and a blank between them.
            if not text.isascii() or " " in text:
                raise ValueError
            pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST)
        except ValueError:
            raise _wrong("must be options as in an address, in percent-encoded UTF-8: user=bob&limit=10.") from None
        return ImmutableMultiDict(pairs)


@dataclass(eq=False)
class Kept:
    """Options that forms sent, while somebody looks at what they gave: the address of that has a random id instead."""

    clock: Callable[[], float] = time.monotonic
    #: By id: of which account, when they were last asked for, and the options; those that were used last at the end.
    _all: OrderedDict[str, tuple[str, float, MultiDict[str, str]]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, account: str, options: MultiDict[str, str]) -> str:
        """Keep the *options* that an account asked with; by what they are found."""
        if len(urlencode(list(options.items(multi=True)))) > _LONGEST:
            raise HttpProblem(400, "Invalid input", "This form holds too much.")
        id = secrets.token_urlsafe(16)
        with self._lock:
            self._let_go()
            self._all[id] = (account, self.clock(), options)
            if len(self._all) > _FORMS:
                self._all.popitem(last=False)
        return id

    def find(self, account: str, id: str) -> MultiDict[str, str] | None:
        """What the account asked with, if that is still known."""
        with self._lock:
            self._let_go()
            owner, _, options = self._all.get(id, ("", 0.0, MultiDict()))
            if owner != account:
                return None
            self._all[id] = (owner, self.clock(), options)
            self._all.move_to_end(id)
            return options

    def clear(self) -> None:
        """Forget them all: they may name a person who was forgotten."""
        with self._lock:
            self._all.clear()

    def _let_go(self) -> None:
        """Let go of those that nobody asks for any more."""
        while self._all and next(iter(self._all.values()))[1] < self.clock() - _LIFE:
            self._all.popitem(last=False)


def register(app: Flask) -> None:
    """Have requests take the header, and forms be kept."""
    app.request_class = Asked
    app.extensions[_EXTENSION] = Kept()


def kept() -> Kept:
    """The options of forms that are kept."""
    found: Kept = current_app.extensions[_EXTENSION]
    return found


def check_options() -> None:
    """Refuse options that are not for a request before anything is done: whoever sends them expects that they count."""
    if OPTIONS not in request.headers and request.method != "DELETE":
        return
    view = current_app.view_functions.get(request.endpoint or "")
    takes = OPTIONS in getattr(getattr(view, "description", None), "headers", ())
    if request.args and request.method == "DELETE" and not takes:
        raise HttpProblem(400, "Invalid input", "This request takes no options.")


def _wrong(text: str) -> HttpProblem:
    return HttpProblem(400, "Invalid input", f"The header {OPTIONS} {text}")
