"""Proxies in front of the service: the settings name those whose word on a request is believed.

A proxy tells the address of whoever asked it and whether they spoke TLS. The host it passes on as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from tabular.errors import InvalidParameter

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Network = IPv4Network | IPv6Network

#: Where the address of a proxy stands once it has been believed.
PROXY = "graphpriv.proxy"


def networks_of(text: str) -> tuple[Network, ...]:
    """The networks that a setting names.

    >>> [str(each) for each in networks_of("127.0.0.1, 10.0.0.0/8")]
    ['127.0.0.1/32', '10.0.0.0/8']
    """
    try:
        return tuple(ip_network(each.strip(), strict=False) for each in text.split(",") if each.strip())
    except ValueError:
        must = "be addresses or networks with commas between them, such as 127.0.0.1,10.0.0.0/8"
        raise InvalidParameter.wrong("proxies", must=must, was=text) from None


class BehindProxies:
    """An application that takes the word of trusted proxies."""

    def __init__(self, app: WSGIApplication, trusted: Sequence[Network]) -> None:
        self._app, self._trusted = app, trusted

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request, as the one who asked the proxy."""
        proxy = environ.get("REMOTE_ADDR", "")
        if is_in(proxy, self._trusted):
            environ[PROXY] = proxy
            environ["REMOTE_ADDR"] = self._client(environ.get("HTTP_X_FORWARDED_FOR", ""), proxy)
            scheme = environ.get("HTTP_X_FORWARDED_PROTO", "").rpartition(",")[2].strip().lower()
            if scheme in ("http", "https"):
                environ["wsgi.url_scheme"] = scheme
        return self._app(environ, start_response)

    def _client(self, told: str, proxy: str) -> str:
        """The last address that no trusted proxy has; whatever stands before it can be made up."""
        for each in reversed([part.strip() for part in told.split(",") if part.strip()]):
            if not is_in(each, self._trusted):
                return each if _is_address(each) else proxy
        return proxy


def is_in(address: str, networks: Iterable[Network]) -> bool:
    """Whether an *address* lies in one of some networks.

    >>> is_in("10.1.2.3", networks_of("10.0.0.0/8")), is_in("nobody", networks_of("10.0.0.0/8"))
    (True, False)
    """
    return _is_address(address) and any(ip_address(address) in each for each in networks)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
