"""The access log: one JSON object a line for each answer, without names, addresses of things, queries or persons.

A line says when, what was asked (the route, never the path), how it was answered, how long it took, how many bytes the
answer has, the role of whoever asked, and the random id that the answer carries in `Request-Id`. The line of a refusal
has the id of the account, too; where no log is kept, refusals go to standard error all the same.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import Flask, Response, g, request

from api.service.audit_log import asked
from api.service.home import now
from tabular.errors import FileFailure
from tabular.files.disk import reason

#: The header of an answer with the id of its request.
ID = "Request-Id"

#: Methods by their names; whatever else somebody makes up is none of them.
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")

#: The file that stands for standard error.
_STREAM = "-"


@dataclass(frozen=True)
class Log:
    """A file that lines are added to, or standard error."""

    file: str

    @classmethod
    def at(cls, file: str) -> Log:
        """The log in a *file*, once a line can be added there."""
        log = cls(file)
        try:
            log._add(b"")
        except OSError as error:
            raise FileFailure(f"{file}: {reason(error)} The access log cannot be kept here.") from None
        return log

    def write(self, **fields: Any) -> None:
        """Add a line; a disk that is full keeps nobody from an answer."""
        # It may go to a terminal, so that nothing in it acts on one.
        line = json.dumps({"time": now(), **fields})
        try:
            self._add(line.encode("utf-8", "replace") + b"\n")
        except OSError:
            logging.getLogger("graphpriv").warning("the access log cannot be written")

    def _add(self, line: bytes) -> None:
        if self.file == _STREAM:
            os.write(2, line)
            return
        # Opened for each line, so that a file which was moved away is made anew; one write is one line.
        opened = os.open(self.file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        try:
            os.write(opened, line)
        finally:
            os.close(opened)


class _Told(logging.Handler):
    """Has what the service reports of itself stand in the access log, too."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Add what is reported, which holds no data: texts of errors are not in it."""
        self._log.write(level=record.levelname.lower(), message=record.getMessage())


def register(app: Flask, file: str, *, with_addresses: bool = False) -> None:
    """Give each request of *app* an id, and keep an access log in a *file*; without one, of what is refused alone."""
    app.before_request(partial(_begin, with_addresses))
    app.teardown_request(_forget)
    # What is registered first is called last: nothing of the answer changes any more.
    app.after_request(_mark)
    log = Log.at(file or _STREAM)
    if file:
        app.logger.addHandler(_Told(log))
    app.after_request(partial(_end, log, with_addresses, not file))


def route() -> str:
    """The route of this request as it was written down: it names no thing."""
    return request.url_rule.rule if request.url_rule is not None else "none"


def method() -> str:
    """The method of this request, if it is one."""
    return request.method if request.method in METHODS else "other"


def seconds() -> float:
    """How long this request has taken so far."""
    return time.perf_counter() - float(g.get("begun", time.perf_counter()))


def _begin(with_addresses: bool) -> None:
    g.begun, g.request_id = time.perf_counter(), secrets.token_hex(8)
    # Entries of the audit log that come of this request.
    asked.set({"request": g.request_id, **({"address": request.remote_addr or ""} if with_addresses else {})})


def _forget(_: BaseException | None) -> None:
    asked.set({})


def _mark(response: Response) -> Response:
    response.headers[ID] = g.get("request_id") or secrets.token_hex(8)
    return response


def _end(log: Log, with_addresses: bool, refusals_alone: bool, response: Response) -> Response:
    """Write the line of an answer, when all of it is sent."""
    asker, is_refused = g.get("account"), 400 <= response.status_code < 500
    if refusals_alone and not is_refused:
        return response
    line = {
        "method": method(),
        "route": route(),
        "status": response.status_code,
        "role": None if asker is None else asker.role,
        **({"account": None if asker is None else asker.id} if is_refused else {}),
        "id": g.get("request_id"),
        **({"address": request.remote_addr} if with_addresses else {}),
    }
    begun = g.get("begun", time.perf_counter())

    def write(sent: int | None) -> None:
        log.write(**line, seconds=round(time.perf_counter() - begun, 6), bytes=sent)

    if request.method == "HEAD" or response.status_code in (204, 304):
        write(0)
    elif response.is_streamed and not response.direct_passthrough:
        counted = _Counted(response.response)
        response.response = counted
        response.call_on_close(lambda: write(counted.bytes))
    else:
        # The server does not say when it has sent a file; the length of that is known.
        write(_length(response))
    return response


def _length(response: Response) -> int | None:
    """How many bytes an answer has that is no stream."""
    file = getattr(response.response, "file", None)
    if response.content_length is None and file is not None:
        return os.fstat(file.fileno()).st_size
    return response.calculate_content_length() if response.content_length is None else response.content_length


class _Counted:
    """Counts the bytes of an answer that is streamed."""

    def __init__(self, parts: Any) -> None:
        self._parts, self._pieces = parts, iter(parts)
        self.bytes = 0

    def __iter__(self) -> _Counted:
        return self

    def __next__(self) -> bytes:
        part = next(self._pieces)
        piece: bytes = part.encode() if isinstance(part, str) else part
        self.bytes += len(piece)
        return piece

    def close(self) -> None:
        """End what makes the answer, where nobody reads on."""
        if hasattr(self._parts, "close"):
            self._parts.close()
