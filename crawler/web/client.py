"""One exchange with a host of the web: guarded, measured, and ended at its limits.

The connection goes to an address that the guard has checked, and to no other; the `Host` header and the name in the TLS
handshake are those of the link. Each exchange has a connection of its own, so that no answer can leave anything behind
for the next one. There are no cookies, no referrer, no credentials, and no proxy of the environment.
"""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

import httpcore
import httpx

from crawler.web.addresses import Guard
from crawler.web.outcomes import Failed, Outcome
from crawler.web.targets import Target

Clock = Callable[[], float]

#: How much is taken from a connection at a time, so that a limit is noticed soon.
_BLOCK = 16 * 1024

#: How many addresses of one host are tried.
_TRIES = 3


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where an exchange ends: bytes as they come, bytes unpacked, bytes of headers, and seconds altogether."""

    wire: int = 2 * 1024 * 1024
    unpacked: int = 4 * 1024 * 1024
    headers: int = 32 * 1024
    seconds: float = 15.0


@dataclass
class Meter:
    """What an exchange, or several that follow one another, have used up."""

    limits: Limits
    clock: Clock
    wire: int = 0
    deadline: float = field(init=False)
    headers_from: int | None = None

    def __post_init__(self) -> None:
        self.deadline = self.clock() + self.limits.seconds

    def left(self) -> float:
        """The seconds that are left; a failure where there are none."""
        left = self.deadline - self.clock()
        if left <= 0:
            raise Failed(Outcome.TIMEOUT)
        return left

    def took(self, count: int) -> None:
        """Count bytes that came."""
        self.wire += count
        if self.headers_from is not None and self.wire - self.headers_from > self.limits.headers + _BLOCK:
            raise Failed(Outcome.HEADERS)
        if self.wire > self.limits.wire:
            raise Failed(Outcome.TOO_LARGE)


class Connect(Protocol):
    """Makes a connection to an address; tests put others in its place."""

    def __call__(self, address: str, port: int, timeout: float) -> httpcore.NetworkStream: ...


def connect(address: str, port: int, timeout: float) -> httpcore.NetworkStream:
    """A connection to an address."""
    return httpcore.SyncBackend().connect_tcp(address, port, timeout=timeout)


@cache
def trusted() -> ssl.SSLContext:
    """The certificates that are trusted, whatever the environment says."""
    return httpx.create_ssl_context(trust_env=False)


@dataclass(frozen=True)
class Answer:
    """What a host answered; the body is empty where nobody wanted it."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Client:
    """Asks hosts that the guard lets pass, and nobody else."""

    guard: Guard
    agent: str
    clock: Clock = time.monotonic
    connect: Connect = connect
    trust: Callable[[], ssl.SSLContext] = trusted

    def get(
        self, target: Target, meter: Meter, *, accept: str, wanted: Callable[[int, Mapping[str, str]], bool]
    ) -> Answer:
        """The answer of a host; *wanted* says of a status and headers whether the body is read."""
        meter.headers_from = meter.wire
        try:
            with self._pool(meter) as pool, pool.stream(**self._request(target, accept)) as response:
                meter.headers_from = None
                headers = _headers(response.headers, meter.limits)
                read = wanted(response.status, headers)
                body = b"".join(_unpacked(response.iter_stream(), headers, meter.limits)) if read else b""
        except httpcore.TimeoutException:
            raise Failed(Outcome.TIMEOUT) from None
        except httpcore.NetworkError as error:
            untrusted = isinstance(error.__cause__ or error.__context__, ssl.SSLCertVerificationError)
            raise Failed(Outcome.UNTRUSTED if untrusted else Outcome.UNREACHABLE) from None
        except (httpcore.ProtocolError, httpcore.UnsupportedProtocol):
            raise Failed(Outcome.MALFORMED) from None
        return Answer(response.status, headers, body)

    def _pool(self, meter: Meter) -> httpcore.ConnectionPool:
        backend = _Checked(self.guard, meter, self.connect)
        return httpcore.ConnectionPool(ssl_context=self.trust(), network_backend=backend, http2=False, retries=0)

    def _request(self, target: Target, accept: str) -> dict[str, Any]:
        headers = {"Host": target.authority, "User-Agent": self.agent, "Accept": accept, "Connection": "close",
                   "Accept-Encoding": "gzip"}  # fmt: skip
        url = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        return {"method": "GET", "url": url, "headers": headers}


class _Checked(httpcore.NetworkBackend):
    """Connects to addresses that were checked."""

    def __init__(self, guard: Guard, meter: Meter, connect: Connect) -> None:
        self._guard, self._meter, self._connect = guard, meter, connect

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        addresses = self._guard.addresses(host, port, self._meter.left())[:_TRIES]
        for number, address in enumerate(addresses, start=1):
            try:
                share = self._meter.left() / (len(addresses) - number + 1)
                return _Measured(self._connect(address, port, share), self._meter)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise Failed(Outcome.UNRESOLVED)


class _Measured(httpcore.NetworkStream):
    """A connection whose time and bytes are counted."""

    def __init__(self, stream: httpcore.NetworkStream, meter: Meter) -> None:
        self._stream, self._meter = stream, meter

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._stream.read(min(max_bytes, _BLOCK), self._meter.left())
        self._meter.took(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._meter.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Measured(self._stream.start_tls(ssl_context, server_hostname, self._meter.left()), self._meter)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _headers(raw: Iterable[tuple[bytes, bytes]], limits: Limits) -> dict[str, str]:
    """The headers by their names in lower case; of several with one name the first, but all encodings."""
    headers: dict[str, str] = {}
    size = 0
    for name, value in raw:
        size += len(name) + len(value) + 4
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        if key == "content-encoding" and key in headers:
            headers[key] += f", {text}"
        headers.setdefault(key, text)
    if size > limits.headers:
        raise Failed(Outcome.HEADERS)
    return headers


def _unpacked(blocks: Iterable[bytes], headers: Mapping[str, str], limits: Limits) -> Iterator[bytes]:
    """The blocks of a body without their compression, counted as they come out."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    size = 0
    for block in _decoded(blocks, encoding):
        size += len(block)
        if size > limits.unpacked:
            raise Failed(Outcome.TOO_LARGE if encoding == "identity" else Outcome.BOMB)
        yield block


def _decoded(blocks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The same without a count; nothing but what was asked for is undone, and that once only."""
    if encoding in ("identity", ""):
        yield from blocks
    elif encoding in ("gzip", "x-gzip", "deflate"):
        yield from _inflated(blocks)
    else:
        raise Failed(Outcome.BAD_ENCODING)


def _inflated(blocks: Iterable[bytes]) -> Iterator[bytes]:
    # 32 more than the window: zlib finds out itself whether it is gzip or zlib.
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
    for block in blocks:
        waiting = block
        while waiting and not inflate.eof:
            try:
                yield inflate.decompress(waiting, _BLOCK)
            except zlib.error:
                raise Failed(Outcome.BAD_ENCODING) from None
            waiting = inflate.unconsumed_tail
    if not inflate.eof:
        raise Failed(Outcome.BAD_ENCODING)
