from __future__ import annotations

from pathlib import Path

import pytest

from graphpriv.store.addresses import open_store, refuse_password, server_address
from tabular.errors import InvalidInput, InvalidParameter


def test_user_and_password_are_decoded_and_not_shown() -> None:
    address = server_address("neo4j://an%40na:p%40ss%2Fw%3A%23rd@db.example:7000")
    assert (address.shown, address.user, address.password) == ("neo4j://db.example:7000", "an@na", "p@ss/w:#rd")
    assert "p@ss" not in repr(address)


def test_the_password_is_the_one_that_is_given_unless_the_address_has_one() -> None:
    assert server_address("neo4j://u@host", "hunter2").password == "hunter2"
    assert server_address("neo4j://u:own@host", "hunter2").password == "own"
    assert server_address("neo4j://u@host").password == ""


@pytest.mark.parametrize("url", ["neo4j://u:hunter2@host", "bolt+s://u:hunter2@host:7000"])
def test_a_command_line_holds_no_password(url: str) -> None:
    with pytest.raises(InvalidParameter, match="GRAPHPRIV_NEO4J_PASSWORD") as caught:
        refuse_password(url)
    assert caught.value.parameter == "store"
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["neo4j://u@host", "neo4j://host:7000", "file:a:b@c.db", "graphs.db"])
def test_an_address_without_a_password_is_taken(url: str) -> None:
    refuse_password(url)


@pytest.mark.parametrize("scheme", ["neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"])
def test_the_usual_port_is_taken_where_none_is_given(scheme: str) -> None:
    assert server_address(f"{scheme}://u:p@localhost").shown == f"{scheme}://localhost:7687"
    assert server_address(f"{scheme}://u:p@[::1]").shown == f"{scheme}://[::1]:7687"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "graphs.db",
        "file:",
        "postgres://u:hunter2@host/db",
        "neo4j:u:hunter2@host",
        "neo4j://u:hunter2@",
        "neo4j://u:hunter2@host:port",
        "neo4j://u:hunter2@host:99999",
        "neo4j://u:hun/ter2@host",
        "neo4j://u:hun#ter2@host",
        "neo4j://u:hunter2@host/db",
        "bolt://u:hunter2[@host",
    ],
)
def test_an_address_that_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(InvalidInput, match="file:PATH or neo4j://user@host:7687") as caught:
        open_store(url, create=True)
    assert "ter2" not in str(caught.value)


def test_a_path_is_taken_as_it_is_written(tmp_path: Path) -> None:
    with open_store(f"file:{tmp_path}/a %40 b?.db", create=True) as store:
        assert repr(store) == f"SqliteStore(file:{tmp_path}/a %40 b?.db)"
    assert (tmp_path / "a %40 b?.db").exists()
