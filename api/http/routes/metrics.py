"""Figures of the service for Prometheus, for custodians and for requests from this machine."""

from __future__ import annotations

import shutil
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal

from flask import Blueprint, Flask, Response, current_app, request

from api.http import access_log
from api.http.describing import TEXT, answers
from api.http.gate import host_of, service, token_account
from api.http.problems import HttpProblem
from api.http.proxies import PROXY, is_in, networks_of
from api.service import access
from api.service.service import Service
from tabular.errors import ReportedError
from tabular.release import version

bp = Blueprint("metrics", __name__)

_EXTENSION = "graphpriv metrics"

#: Headers by which a proxy says that somebody else asks.
_FORWARDED = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")

#: How long an answer may take to be counted in each part of the histogram, in seconds.
BOUNDS = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0)

#: The states of jobs, so that one without any is told as 0.
_STATES = ("queued", "running", "done", "failed", "cancelled")

Kind = Literal["counter", "gauge", "histogram"]

#: A figure: what stands after its name, its labels and its value.
Sample = tuple[str, Mapping[str, object], float]


@dataclass(frozen=True)
class Figure:
    """A figure with all its samples, as Prometheus reads it."""

    name: str
    kind: Kind
    help: str
    samples: list[Sample]

    def lines(self) -> Iterator[str]:
        """The lines of it."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} {self.kind}"
        for suffix, labels, value in self.samples:
            told = ",".join(f'{label}="{_escaped(str(text))}"' for label, text in labels.items())
            yield f"{self.name}{suffix}{f'{{{told}}}' if told else ''} {value:.15g}"


@dataclass
class Answers:
    """How many requests were answered, by route, method and status, and how long it took."""

    started: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: Counter[tuple[str, str, int]] = Counter()
        #: By route and method how many answers there are in each part of the histogram, and all their seconds.
        self._parts: dict[tuple[str, str], list[int]] = {}
        self._seconds: dict[tuple[str, str], float] = {}

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer."""
        key = (route, method)
        with self._lock:
            self._answers[route, method, status] += 1
            self._parts.setdefault(key, [0] * (len(BOUNDS) + 1))[bisect_left(BOUNDS, seconds)] += 1
            self._seconds[key] = self._seconds.get(key, 0.0) + seconds

    def figures(self) -> Iterator[Figure]:
        """What was counted."""
        with self._lock:
            answered = sorted(self._answers.items())
            parts = sorted((key, list(counts), self._seconds[key]) for key, counts in self._parts.items())
        by_status: list[Sample] = [
            ("", {"route": route, "method": method, "status": status}, count)
            for (route, method, status), count in answered
        ]
        yield Figure("graphpriv_answers_total", "counter", "Requests that were answered.", by_status)
        took = [
            sample for (route, method), counts, spent in parts for sample in _histogram(route, method, counts, spent)
        ]
        yield Figure("graphpriv_answer_seconds", "histogram", "How long it took until an answer began.", took)


def _histogram(route: str, method: str, counts: list[int], spent: float) -> Iterator[Sample]:
    labels, so_far = {"route": route, "method": method}, 0
    for bound, count in zip((*BOUNDS, "+Inf"), counts, strict=True):
        so_far += count
        yield "_bucket", {**labels, "le": bound}, so_far
    yield "_sum", labels, spent
    yield "_count", labels, so_far


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def register(app: Flask) -> None:
    """Count what *app* answers."""
    counted = app.extensions[_EXTENSION] = Answers()

    def count(response: Response) -> Response:
        # The rule, not the address: names of things are nobody's business.
        counted.count(access_log.route(), access_log.method(), response.status_code, access_log.seconds())
        return response

    app.after_request(count)


@bp.get("/metrics")
@answers((TEXT,), refusals=(403,))
def metrics() -> Response:
    """Give the figures of the service for Prometheus, to custodians and to requests from this machine."""
    known = token_account()
    if not _is_here() and (known is None or not access.may(known.role, "administer", "service")):
        raise HttpProblem(403, "Forbidden", "The figures are for custodians, or for requests from this machine.")
    counted: Answers = current_app.extensions[_EXTENSION]
    lines = [line for each in (*counted.figures(), *_of(service(), counted.started)) for line in each.lines()]
    return Response("\n".join(lines) + "\n", content_type="text/plain; version=0.0.4; charset=utf-8")


def _of(known: Service, started: float) -> Iterator[Figure]:
    """How the service stands at this moment; what does not answer is left out."""
    yield _gauge("graphpriv_info", "Which version answers.", 1, version=version())
    yield _gauge("process_start_time_seconds", "When the process began to serve, since 1970.", started)
    yield _gauge("process_cpu_seconds_total", "How long the process has computed.", time.process_time(), kind="counter")
    with suppress(OSError):
        free = shutil.disk_usage(known.folder).free
        yield _gauge("graphpriv_free_bytes", "How much room the disk of the service's folder has.", free)
    yield _gauge("graphpriv_listeners", "How many streams of events are open.", known.listeners.count)
    yield _gauge("graphpriv_ready", "Whether the store and the database of jobs answer.", known.probe.is_ready())
    with suppress(ReportedError):
        counts = known.jobs.counts()
        states: list[Sample] = [("", {"state": state}, counts.get(state, 0)) for state in _STATES]
        yield Figure("graphpriv_jobs", "gauge", "How many jobs there are in each state.", states)


def _gauge(name: str, help: str, value: float, *, kind: Kind = "gauge", **labels: str) -> Figure:
    return Figure(name, kind, help, [("", labels, value)])


def _is_here() -> bool:
    """Whether somebody on this machine asks by its own address, and no proxy for somebody else."""
    if PROXY in request.environ or any(name in request.headers for name in _FORWARDED):
        return False
    # Where this machine is a proxy itself, a request from it may be anybody's.
    if is_in(request.remote_addr or "", networks_of(service().settings.proxies)):
        return False
    return _is_loopback(request.remote_addr or "") and _is_loopback(host_of(request.host))


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
