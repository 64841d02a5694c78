"""The connection to a Neo4j server: one driver for each process, and its failures put into words."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j.auth_management import ClientCertificate
from neo4j.exceptions import AuthError, ConfigurationError, ConstraintError, DriverError, Neo4jError

from graphpriv.store.addresses import ServerAddress, is_this_machine
from tabular.errors import InvalidInput, ReportedError, StoreUnavailable

T = TypeVar("T")

#: For how long a transaction is tried again that the driver says can be; the driver's own figure.
_RETRY_SECONDS = 30.0

_shared: dict[tuple[int, ServerAddress], tuple[neo4j.Driver, int]] = {}
_lock = threading.Lock()


class Connection:
    """Transactions with one server; those of a process on one address share a driver."""

    def __init__(self, address: ServerAddress) -> None:
        self.address = address
        self._key: tuple[int, ServerAddress] | None = None
        try:
            with self.told():
                self._driver().verify_connectivity()
        except ReportedError:
            self.close()
            raise

    def read(self, work: Callable[[neo4j.ManagedTransaction], T]) -> T:
        """What *work* reads in one transaction."""
        with self.told(), self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(work)

    def write(self, work: Callable[[neo4j.ManagedTransaction], T]) -> T:
        """Do *work* in one transaction; it may be called again where the driver says that this can help."""
        with self.told(), self._session(neo4j.WRITE_ACCESS) as session:
            return session.execute_write(work)

    def _session(self, access: str) -> neo4j.Session:
        return self._driver().session(default_access_mode=access)

    def _driver(self) -> neo4j.Driver:
        key = (os.getpid(), self.address)
        with _lock:
            if self._key == key:
                return _shared[key][0]
            # A driver that came over from a parent process must not be used.
            driver, users = _shared.get(key) or (_new_driver(self.address), 0)
            _shared[key] = (driver, users + 1)
            self._key = key
        return driver

    def close(self) -> None:
        """Let go of the driver, and close it if nobody else uses it."""
        with _lock:
            key, self._key = self._key, None
            if key is None or key[0] != os.getpid():
                return
            driver, users = _shared.pop(key)
            if users > 1:
                _shared[key] = (driver, users - 1)
                return
        driver.close()

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Put what the driver says into words for the reader; its own words may repeat values of a record."""
        try:
            yield
        except (DriverError, Neo4jError) as error:
            raise self._in_words(error) from None
        except UnicodeEncodeError:
            raise InvalidInput(f"{self.address.shown}: a text is not valid Unicode. Nothing was written.") from None

    def _in_words(self, error: DriverError | Neo4jError) -> ReportedError:
        shown = self.address.shown
        code = str(getattr(error, "code", "") or "")
        if isinstance(error, AuthError) or code.startswith("Neo.ClientError.Security."):
            hint = "the server has locked this user for a while" if "RateLimit" in code else "user or password is wrong"
            return InvalidInput(f"{shown}: the server refused the login: {hint}.")
        if isinstance(error, ConfigurationError):
            return InvalidInput(f"{shown}: no Neo4j server can be reached by this address; check its form.")
        if isinstance(error, ConstraintError):
            return InvalidInput(f"{shown}: two records have the same id. Nothing was written.")
        if isinstance(error, DriverError) and "+s://" in shown:
            return StoreUnavailable(
                f"{shown}: the server does not answer, or one side does not trust the other's certificate; is it "
                "running, for this name, and are the certificates the right ones?",
                can_retry=True,
            )
        if isinstance(error, DriverError):
            return StoreUnavailable(f"{shown}: the server does not answer; is it running?", can_retry=True)
        if error.is_retryable():
            return StoreUnavailable(f"{shown}: the server is busy ({code}); try again.", can_retry=True)
        return StoreUnavailable(f"{shown}: the server failed ({code}).")


def _new_driver(address: ServerAddress) -> neo4j.Driver:
    given = address.certificates
    given.check()
    url, encryption = address.shown, dict[str, Any]()
    if url.startswith(("neo4j://", "neo4j+ssc://")) and is_this_machine(urlsplit(url).hostname or ""):
        # A member of a cluster leads to others, which may be elsewhere: unchecked, this one alone is talked to.
        url = url.replace("neo4j", "bolt", 1)
    if given.ca is not None:
        # The driver takes no CA beside `+s`, which means those of the system to it.
        url = url.replace("+s://", "://", 1)
        encryption |= {"encrypted": True, "trusted_certificates": neo4j.TrustCustomCAs(given.ca)}
    if given.certificate is not None:
        encryption["client_certificate"] = ClientCertificate(given.certificate, given.key)
    return neo4j.GraphDatabase.driver(
        url,
        **encryption,
        auth=None if address.user is None else (address.user, address.password),
        max_transaction_retry_time=_RETRY_SECONDS,
        connection_timeout=10.0,
        notifications_min_severity="OFF",
        telemetry_disabled=True,
    )
