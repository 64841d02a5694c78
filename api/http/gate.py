"""What every request passes on its way in and every answer on its way out.

In: the Host header, the token, the rate, the role, the Idempotency-Key. Out: an ETag, security headers, and the answer
is kept in case the request comes again.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from math import ceil
from typing import Any, TypeVar

from flask import Flask, Response, current_app, g, request

from api.http.options import OPTIONS, check_options
from api.http.problems import HttpProblem, service_of
from api.http.sessions import Unfinished, check_fresh, session_of
from api.service import access
from api.service.accounts import Account
from api.service.answers import Answer
from api.service.service import Service

#: The largest body of one request: the server takes all of it before anybody looks.
LARGEST_BODY = 8 * 1024 * 1024

#: So many requests are answered at once, streams with them. The server has more threads: whatever they wait for, it can
#: always say that it lives.
AT_ONCE = 58

#: So many of them may be those of one account, so that nobody can keep all others out.
OF_ONE = 50

#: What may stand in a Host header: a name or an address, and a port.
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")

#: The names of the machine of the service for itself.
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})

#: What an Idempotency-Key may be.
KEY = re.compile(r"[\x21-\x7e]{1,200}")

#: On every answer: no page of another origin frames it, reads it or guesses its type.
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

#: The headers of an answer that are kept with it.
_KEPT = ("Content-Type", "ETag", "Location", "Link")

#: What must not wait for room on the disk.
_FREEING = frozenset({"delete", "forget"})

#: What somebody who still has to set up a second factor may do: that, and leave.
_BEFORE_A_FACTOR = ("pages.factor", "pages.begin_factor", "pages.confirm_factor", "pages.sign_out")

V = TypeVar("V", bound=Callable[..., Any])


def needs(action: str) -> Callable[[V], V]:
    """Decorator of a view: whoever asks must be allowed to do *action* with some thing."""

    def mark(view: V) -> V:
        view.action = action  # type: ignore[attr-defined]
        return view

    return mark


def action_of(app: Flask, endpoint: str) -> str | None:
    """The action that a route takes; None where everybody may ask without a token."""
    return getattr(app.view_functions[endpoint], "action", None)


def service() -> Service:
    """The service that answers this request."""
    return service_of(current_app)


def account() -> Account:
    """Whoever asks."""
    found: Account = g.account
    return found


def register(app: Flask) -> None:
    """Put the gate around *app*; a route under /v1 that names no action is a mistake."""
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.merge_slashes = False
    hosts = frozenset(each.strip().lower() for each in service_of(app).settings.hosts.split(",") if each.strip())
    app.before_request(partial(_check_host, hosts))
    places = threading.BoundedSemaphore(AT_ONCE)
    app.before_request(lambda: _take_place(places))
    app.teardown_request(_leave_place)
    crowd = Crowd()
    app.before_request(lambda: _admit(crowd))
    app.before_request(check_options)
    app.before_request(_answered_before)
    app.after_request(_keep_answer)
    app.after_request(_tag)
    app.after_request(_secure)


def check_routes(app: Flask) -> None:
    """Refuse an application with a route under /v1 that does not say who may use it."""
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/v1/") and action_of(app, rule.endpoint) not in access.ACTIONS:
            raise LookupError(f"The route {rule.rule} names no action of the table of access.")


def _check_host(hosts: frozenset[str]) -> None:
    given = request.environ.get("HTTP_HOST", "")
    # Two of them come joined by a comma; none at all leaves nothing to match.
    if not _HOST.fullmatch(given):
        raise HttpProblem(400, "Invalid input", "A request has one Host header with a name and at most a port.")
    # No page of another site can be asked for by the name of this machine.
    if hosts and host_of(given) not in hosts | _HERE:
        raise HttpProblem(400, "Invalid input", "The Host header does not name this service.")


def host_of(text: str) -> str:
    """The name or address in a Host header, without its port.

    >>> host_of("Graphs.example:443"), host_of("[::1]:8000")
    ('graphs.example', '::1')
    """
    return re.sub(r":[0-9]*\Z", "", text).strip("[]").lower()


def _take_place(places: threading.BoundedSemaphore) -> None:
    """Take one of the places of requests that may wait, or refuse where all are taken."""
    if not request.path.startswith("/v1/"):
        return
    if not places.acquire(blocking=False):
        raise _busy()
    g.place = places.release


def _leave_place(_: BaseException | None) -> None:
    leave = g.pop("place", None)
    if leave is not None:
        leave()


def keep_place() -> Callable[[], None]:
    """Keep the place of this request beyond its view, for a stream; what this gives is called at the end of it."""
    leave: Callable[[], None] = g.pop("place")
    return leave


def _busy() -> HttpProblem:
    return HttpProblem(503, "Busy", "Too many requests are being answered; try again.", {"Retry-After": "2"})


class Crowd:
    """Counts the requests of each account that are being answered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside: Counter[str] = Counter()

    def enter(self, account: str) -> bool:
        """Count a request of an *account*, unless it has as many as one may."""
        with self._lock:
            if self._inside[account] >= OF_ONE:
                return False
            self._inside[account] += 1
        return True

    def leave(self, account: str) -> None:
        """A request has been answered."""
        with self._lock:
            self._inside[account] -= 1
            # Accounts come and go.
            self._inside += Counter()


def _admit(crowd: Crowd) -> None:
    """Let in who has a good token, asks no more often than allowed, and has a role that the route is for."""
    action = None if request.endpoint is None else action_of(current_app, request.endpoint)
    if action is None and not request.path.startswith("/v1/"):
        return
    g.account = _authenticated()
    seconds = service().limit.wait(g.account.id)
    if seconds:
        raise HttpProblem(
            429, "Too many requests", "This account sends too many requests; wait.", {"Retry-After": str(ceil(seconds))}
        )
    _take_place_of(g.account.id, crowd)
    if action is not None:
        access.refuse_role(g.account.role, action)
    if action in _FREEING:
        service().make_room()
    if action == "administer":
        check_fresh()


def _take_place_of(account: str, crowd: Crowd) -> None:
    """Have the place of this request count as one of its account."""
    leave = g.get("place")
    if leave is None:
        return
    if not crowd.enter(account):
        raise _busy()

    def leave_both() -> None:
        crowd.leave(account)
        leave()

    g.place = leave_both


def _authenticated() -> Account:
    found = token_account()
    session = None if found or "Authorization" in request.headers else session_of(service())
    if session is not None:
        found = session.account
        is_free = found.has_factor or found.role not in service().settings.demanded
        if not (is_free or request.endpoint in _BEFORE_A_FACTOR):
            raise Unfinished
    if found is None:
        raise HttpProblem(
            401, "Not authenticated", "Send a valid token, as Authorization: Bearer TOKEN.",
            {"WWW-Authenticate": 'Bearer realm="graphpriv"'},
        )  # fmt: skip
    return found


def token_account() -> Account | None:
    """The account whose token the request carries, if it is good."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    return service().accounts.of_token(secret.strip(), demanded=service().settings.demanded)


def _answered_before() -> Response | None:
    """The answer to the same request with the same key, if there was one."""
    key = request.headers.get("Idempotency-Key")
    if key is None or request.method not in ("POST", "PUT") or "account" not in g or request.url_rule is None:
        return None
    if not KEY.fullmatch(key):
        raise HttpProblem(400, "Invalid input", "An Idempotency-Key is 1 to 200 printable ASCII characters.")
    asked = hashlib.sha256(f"{request.method} {request.full_path}\n".encode() + request.get_data(cache=True))
    found = service().answers.begin(g.account.id, key, asked.hexdigest())
    if found is None:
        g.key = key
        return None
    response = Response(found.body, status=found.status, headers=dict(found.headers))
    response.headers["Idempotency-Replayed"] = "true"
    return response


def _keep_answer(response: Response) -> Response:
    """Keep an answer under the key of its request; one that failed for our reasons may be asked for again."""
    key = g.pop("key", None)
    if key is None:
        return response
    status, body = g.pop("told_again", None) or (response.status_code, response.get_data())
    is_final = response.status_code < 500 and response.status_code not in (401, 429) and body is not None
    kept = {name: response.headers[name] for name in _KEPT if name in response.headers}
    service().answers.end(g.account.id, key, Answer(status, kept, body) if is_final else None)
    return response


def tell_again(document: Mapping[str, Any] | None, status: int = 200) -> None:
    """Keep another answer than this one in case the request comes again: what is kept holds no secrets and no data.

    None keeps nothing, where the request changes nothing and can be done again.
    """
    g.told_again = (status, None if document is None else current_app.json.dumps(document).encode())


def _tag(response: Response) -> Response:
    """Give the answer to a GET an ETag, and leave out a body that the caller has."""
    if request.method not in ("GET", "HEAD") or response.status_code != 200 or response.is_streamed:
        return response
    if "ETag" not in response.headers:
        response.set_etag(hashlib.sha256(response.get_data()).hexdigest()[:32])
    response.make_conditional(request)
    return response


def _secure(response: Response) -> Response:
    for name, value in SECURITY.items():
        response.headers.setdefault(name, value)
    if request.is_secure:
        response.headers.setdefault("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
    # Files come with half of it.
    if response.headers.get("Cache-Control", "no-cache") == "no-cache":
        response.headers["Cache-Control"] = "private, no-cache"
    response.vary.update(("Authorization", OPTIONS))
    if OPTIONS in request.headers:
        # Who sends it knows by this that it was read.
        response.headers[OPTIONS] = "read"
    return response
