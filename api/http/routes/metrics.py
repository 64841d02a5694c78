"""Figures of the service for Prometheus, for custodians and for requests from this machine."""

from __future__ import annotations

import threading
import time
from collections import Counter
from ipaddress import ip_address

from flask import Blueprint, Flask, Response, current_app, g, request

from api.http.describing import TEXT, answers
from api.http.gate import token_account
from api.http.problems import HttpProblem
from api.service import access

bp = Blueprint("metrics", __name__)

_EXTENSION = "graphpriv metrics"

#: Headers by which a proxy says that somebody else asks.
_FORWARDED = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")


class Counts:
    """How many requests were answered, by route, method and status, and how long it took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._seconds: Counter[tuple[str, str]] = Counter()

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer."""
        with self._lock:
            self._answers[route, method, status] += 1
            self._seconds[route, method] += seconds  # type: ignore[assignment]

    def text(self) -> str:
        """All counts, as Prometheus reads them."""
        with self._lock:
            answers, seconds = sorted(self._answers.items()), sorted(self._seconds.items())
        lines = [
            "# HELP graphpriv_answers_total Requests that were answered.",
            "# TYPE graphpriv_answers_total counter",
        ]
        for (route, method, status), count in answers:
            lines.append(f'graphpriv_answers_total{{route="{route}",method="{method}",status="{status}"}} {count}')
        lines += ["# HELP graphpriv_answer_seconds_total How long answers took.",
                  "# TYPE graphpriv_answer_seconds_total counter"]  # fmt: skip
        for (route, method), spent in seconds:
            lines.append(f'graphpriv_answer_seconds_total{{route="{route}",method="{method}"}} {spent:.6f}')
        return "\n".join(lines) + "\n"


def register(app: Flask) -> None:
    """Count what *app* answers."""
    app.extensions[_EXTENSION] = Counts()
    app.before_request(_begin)
    app.after_request(_end)


@bp.get("/metrics")
@answers((TEXT,), refusals=(403,))
def metrics() -> Response:
    """Give the figures of the service for Prometheus, to custodians and to requests from this machine."""
    known = token_account()
    if not _is_here() and (known is None or not access.may(known.role, "administer", "service")):
        raise HttpProblem(403, "Forbidden", "The figures are for custodians, or for requests from this machine.")
    counts: Counts = current_app.extensions[_EXTENSION]
    return Response(counts.text(), content_type="text/plain; version=0.0.4; charset=utf-8")


def _is_here() -> bool:
    """Whether somebody on this machine asks, and no proxy for somebody else."""
    if any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False


def _begin() -> None:
    g.begun = time.perf_counter()


def _end(response: Response) -> Response:
    # The rule, not the address: names of things are nobody's business.
    route = request.url_rule.rule if request.url_rule is not None else "none"
    spent = time.perf_counter() - g.get("begun", time.perf_counter())
    counts: Counts = current_app.extensions[_EXTENSION]
    method = request.method if request.method in ("GET", "HEAD", "POST", "PUT", "DELETE") else "other"
    counts.count(route, method, response.status_code, spent)
    return response
