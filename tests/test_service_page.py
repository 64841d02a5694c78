"""The page on the service: its examples run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from api.app import create_app
from graphpriv.store import open_store
from tests.api.conftest import SMALL
from tests.api.http.conftest import running

PAGE = (Path(__file__).parent.parent / "docs" / "service.md").read_text()


def examples():
    """The commands of the page; a line that ends in a backslash goes on."""
    text = "\n".join(line[4:] for line in PAGE.splitlines() if line.startswith("    ")).replace("\\\n", " ")
    return [line for line in text.splitlines() if line.startswith("curl ")]


@pytest.fixture
def served(tmp_path):
    config = {"STORE": f"file:{tmp_path / 's.db'}", "HOME": str(tmp_path / "home")}
    open_store(config["STORE"], create=True).close()
    app = create_app(config)
    token = app.extensions["graphpriv"].accounts.add_first().secret
    (tmp_path / "people.json").write_text(json.dumps(SMALL))
    with running(app) as (host, port):
        yield {"URL": f"http://{host}:{port}", "TOKEN": token, "PATH": "/usr/bin:/bin"}
    app.extensions["graphpriv"].close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_the_examples_of_the_page_run(served, tmp_path):
    commands = examples()
    assert len(commands) >= 8
    said = []
    for command in commands:
        ended = subprocess.run(command, shell=True, env=served, cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 0, (command, ended.stderr)
        said.append(ended.stdout)
    assert json.loads(said[0])["token"].startswith("gp_")
    assert json.loads(said[1])["users"] == 4
    refused = json.loads(said[-1])
    assert {each["pointer"] for each in refused["errors"]} == {"/into"}


def test_the_roles_of_the_page_are_those_of_the_service():
    from api.service.accounts import ROLES

    (head,) = re.findall(r"^\| \| (.+) \|$", PAGE, flags=re.MULTILINE)
    assert tuple(head.split(" | ")) == ROLES
