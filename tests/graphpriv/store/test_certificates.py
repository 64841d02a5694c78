"""Certificates of the connection to Neo4j: which are refused, and what the driver does with the others."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import neo4j
import pytest

from graphpriv.store.addresses import open_store, server_address
from graphpriv.store.certificates import VARIABLES, Certificates
from graphpriv.store.neo4j.driver import _new_driver
from tabular.errors import InvalidInput, StoreUnavailable
from tests.certificates import certificates_of_the_service, lead, make_secrets


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_secrets(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def good(made: Path) -> Certificates:
    return certificates_of_the_service(made)


class Listener(threading.Thread):
    """Shakes hands as a Neo4j does that wants a certificate, writes down whose it was, and hangs up."""

    def __init__(self, made: Path) -> None:
        super().__init__(daemon=True)
        own = made / "secrets_neo4j"
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=own / "trusted" / "ca.crt")
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._context.load_cert_chain(own / "public.crt", own / "private.key")
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.seen: list[str] = []

    def run(self) -> None:
        while True:
            try:
                plain, _ = self._socket.accept()
            except OSError:
                return
            with plain, contextlib.suppress(OSError), self._context.wrap_socket(plain, server_side=True) as connection:
                found = connection.getpeercert() or {}
                # Before the client notices that nothing more comes.
                self.seen += [value for ((name, value),) in found["subject"] if name == "commonName"]  # type: ignore

    def close(self) -> None:
        # Closing alone would leave the thread in `accept`.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self.join()


@pytest.fixture
def listener(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    """It is to be found as `neo4j`, the name in its certificate."""
    found = Listener(made)
    lead(monkeypatch, "neo4j", found.port)
    found.start()
    yield found
    found.close()


def asked(listener: Listener, given: Certificates, scheme: str = "neo4j+s", host: str = "neo4j") -> list[str]:
    """Whose certificates the listener saw when a store was opened there."""
    with pytest.raises(StoreUnavailable, match="does not trust the other's certificate"):
        open_store(f"{scheme}://{host}:{listener.port}", create=False, certificates=given)
    return listener.seen


@pytest.mark.parametrize("scheme", ["neo4j+s", "bolt+s"])
def test_the_driver_shows_the_certificate_to_a_server_that_the_ca_vouches_for(
    listener: Listener, good: Certificates, scheme: str
) -> None:
    assert set(asked(listener, good, scheme)) == {"graphpriv"}


def test_it_shows_nothing_to_another_server(listener: Listener, good: Certificates, tmp_path: Path) -> None:
    other = certificates_of_the_service(make_secrets(tmp_path))
    # Of another CA, of none that the system knows, and under another name.
    assert asked(listener, replace(good, ca=other.ca)) == []
    assert asked(listener, replace(good, ca=None)) == []
    assert asked(listener, good, host="127.0.0.1") == []


def test_a_server_that_asks_for_a_certificate_is_not_talked_to_without_one(
    listener: Listener, good: Certificates
) -> None:
    assert asked(listener, Certificates(ca=good.ca)) == []


def test_the_variables_name_the_files() -> None:
    named = {variable: name for name, variable in VARIABLES.items()}
    assert Certificates.of({**named, "GRAPHPRIV_STORE": "x"}) == Certificates("ca", "certificate", "key")
    assert Certificates.of({**dict.fromkeys(named, "")}) == Certificates()


@pytest.mark.parametrize("scheme", ["neo4j", "bolt", "neo4j+ssc", "bolt+ssc"])
@pytest.mark.parametrize("name", ["ca", "certificate", "key"])
def test_a_file_that_the_connection_would_not_use_is_refused(scheme: str, name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        server_address(f"{scheme}://u:hunter2@host", certificates=Certificates(**{name: "file"}))
    assert str(caught.value) == (
        f"{VARIABLES[name]} is set, but {scheme}:// checks no certificate: write neo4j+s:// or bolt+s://, or unset it."
    )


def test_a_certificate_and_its_key_come_together() -> None:
    for has, lacks in (("certificate", "key"), ("key", "certificate")):
        with pytest.raises(InvalidInput, match=f"{VARIABLES[has]} is set without {VARIABLES[lacks]}; set both"):
            server_address("neo4j+s://host", certificates=Certificates(**{has: "file"}))


def test_a_file_of_a_store_needs_none(tmp_path: Path) -> None:
    with open_store(f"file:{tmp_path / 's.db'}", create=True, certificates=Certificates("nowhere")) as store:
        assert list(store.graphs()) == []


def refusal(given: Certificates) -> str:
    with pytest.raises(InvalidInput) as caught:
        open_store("neo4j+s://127.0.0.1:9", create=False, certificates=given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["ca", "certificate", "key"])
def test_a_file_that_cannot_be_used_is_named_with_its_variable(good: Certificates, tmp_path: Path, name: str) -> None:
    path = tmp_path / "file"
    given = replace(good, **{name: str(path)})
    assert refusal(given) == f"{VARIABLES[name]}: {path}: No such file or directory."
    what = "This holds no certificate in PEM."
    if name == "key":
        what = "This is not a private key in PEM without a password."
    for content in (b"", b"\xff\0garbage", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"):
        path.write_bytes(content)
        assert refusal(given) == f"{VARIABLES[name]}: {path}: {what}"
    assert refusal(replace(good, **{name: str(tmp_path)})) == f"{VARIABLES[name]}: {tmp_path}: Is a directory."
    assert refusal(replace(good, **{name: "a\0b"})).endswith("No file has this name.")


def test_a_key_of_another_certificate_is_refused(made: Path, good: Certificates) -> None:
    key = str(made / "secrets_neo4j" / "private.key")
    assert refusal(replace(good, key=key)) == (
        f"{VARIABLES['key']}: {key}: This is not the key of the certificate in {VARIABLES['certificate']}."
    )


def test_a_key_with_a_password_is_refused_and_asks_for_none(good: Certificates, tmp_path: Path) -> None:
    key = str(tmp_path / "key")
    assert good.key is not None
    locked = ["openssl", "pkey", "-in", good.key, "-aes256", "-passout", "pass:hunter2", "-out", key]
    subprocess.run(locked, check=True, capture_output=True)
    assert refusal(replace(good, key=key)).endswith("This is not a private key in PEM without a password.")


@pytest.mark.parametrize(
    ("url", "leads_on"),
    [
        ("neo4j://localhost", False),
        ("neo4j://127.0.0.1:7688", False),
        ("neo4j://[::1]:7687", False),
        ("neo4j+ssc://localhost", False),
        ("neo4j://db.example", True),
        ("neo4j+s://localhost", True),
    ],
)
def test_a_server_on_this_machine_leads_nowhere_else_in_the_clear(url: str, leads_on: bool) -> None:
    """A driver that leads on asks the server for the other members of its cluster, and goes there."""
    driver = _new_driver(server_address(url))
    assert isinstance(driver, neo4j.Neo4jDriver if leads_on else neo4j.BoltDriver)
    driver.close()
