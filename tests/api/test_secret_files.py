"""Secrets that lie in files."""

from __future__ import annotations

import pytest

from api.cli import run
from api.secret_files import read_secret_files
from tabular.errors import InvalidInput


def test_a_file_gives_the_value_without_its_last_line_end(tmp_path):
    (tmp_path / "secret").write_text("pass word\n")
    environment = {"GRAPHPRIV_NEO4J_PASSWORD_FILE": str(tmp_path / "secret"), "GRAPHPRIV_HOSTS_FILE": "/nowhere"}
    for _ in range(2):
        read_secret_files(environment)
        assert environment["GRAPHPRIV_NEO4J_PASSWORD"] == "pass word"
    # A setting that is no secret has no file.
    assert "GRAPHPRIV_HOSTS" not in environment


def test_the_password_of_postgres_is_where_its_client_looks(tmp_path):
    (tmp_path / "secret").write_text("x")
    environment = {"GRAPHPRIV_POSTGRES_PASSWORD_FILE": str(tmp_path / "secret")}
    read_secret_files(environment)
    assert environment["PGPASSWORD"] == "x"
    environment = {"GRAPHPRIV_POSTGRES_PASSWORD": "x", "PGPASSWORD": "of somebody else"}
    read_secret_files(environment)
    assert environment["PGPASSWORD"] == "of somebody else"


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_file_that_cannot_be_read_is_named_and_its_content_is_not(tmp_path, content):
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        read_secret_files({"GRAPHPRIV_STORE_FILE": str(path)})
    assert str(caught.value).startswith(f"GRAPHPRIV_STORE_FILE: {path}: ")


def test_the_command_line_says_so_in_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("GRAPHPRIV_STORE_FILE", str(tmp_path / "missing"))
    assert run(["graph", "list"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"graphpriv: error: GRAPHPRIV_STORE_FILE: {tmp_path}/missing: No such file or directory."
