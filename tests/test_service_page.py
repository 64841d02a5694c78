"""The page on the service: its examples run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from api.app import create_app
from graphpriv import connect
from graphpriv.remote import Refused, transport
from graphpriv.store import open_store
from tabular.errors import InvalidParameter, SourceUnavailable
from tests.api.conftest import SMALL
from tests.api.http.conftest import running
from tests.api.test_new_user import serving

PAGE = (Path(__file__).parent.parent / "docs" / "service.md").read_text()


def examples():
    """The commands of the page; a line that ends in a backslash goes on."""
    text = "\n".join(line[4:] for line in PAGE.splitlines() if line.startswith("    ")).replace("\\\n", " ")
    return [line for line in text.splitlines() if line.startswith("curl ")]


def write_files(folder):
    """The files that the page names."""
    (folder / "people.json").write_text(json.dumps(SMALL))
    (folder / "t.csv").write_text("age,town\n" + "".join(f"{20 + row % 5},{'AB'[row % 2]}\n" for row in range(40)))
    (folder / "age.csv").write_text("".join(f"{age};*\n" for age in range(20, 25)))


@pytest.fixture
def served(tmp_path):
    config = {"STORE": f"file:{tmp_path / 's.db'}", "HOME": str(tmp_path / "home")}
    open_store(config["STORE"], create=True).close()
    app = create_app(config)
    token = app.extensions["graphpriv"].accounts.add_first().secret
    write_files(tmp_path)
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
    assert json.loads(said[1])["programs"] is True
    assert json.loads(said[2])["users"] == 4
    refused = json.loads(said[-1])
    assert {each["pointer"] for each in refused["errors"]} == {"/into"}


@pytest.mark.xdist_group("service")
def test_the_python_of_the_page_runs_against_a_service(tmp_path, monkeypatch):
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    with serving(tmp_path) as ask:
        names = {"URL": ask.url, "TOKEN": ask.token}
        exec(code, names)
        assert names["report"]["k"] >= 2
        assert {each["topics"][0] for each in names["users"]}
        assert json.loads((tmp_path / "released.json").read_text())["nodes"]
        assert sum(each["rows"] for each in names["towns"]) == 40
        service = names["service"]
        assert service.token not in repr(service)
        analyst = connect(ask.url, service.ask("POST", "accounts", {"name": "ann", "role": "analyst"})["token"])
        assert [each["name"] for each in analyst.rows("tables")] == ["people-v1"]
        assert "release" in analyst.get("tables/people-v1/dictionary")
        with pytest.raises(Refused) as caught:
            analyst.get("tables/people")
        assert caught.value.status == 404
        with pytest.raises(Refused) as caught:
            service.start("protect", name="follows", k=1, into="x")
        assert set(caught.value.fields) == {"/k"}
        # Microdata of a release become a release, those of an original an original.
        service.run("microdata", name="follows-v1", out="m.csv", into="users")
        service.run("microdata", name="follows", out="m.csv", into="raw")
        kinds = {each["name"]: each["kind"] for each in service.rows("tables")}
        assert kinds == {"people": "original", "people-v1": "release", "raw": "original", "users": "release"}
        read = analyst.run("table describe", file="users")
        assert read["rows"] == 4


def test_an_address_is_one_of_a_service(monkeypatch):
    monkeypatch.setattr(transport, "PAUSES", (0.1, 0.1))
    for url in ("file:///etc/passwd", "ftp://host", "http://", "http://ann:secret@host"):
        with pytest.raises(InvalidParameter) as caught:
            connect(url, "token")
        assert "secret" not in str(caught.value)
    with pytest.raises(SourceUnavailable):
        connect("http://127.0.0.1:1", "token").get("graphs")


def test_the_roles_of_the_page_are_those_of_the_service():
    from api.service.accounts import ROLES

    (head,) = re.findall(r"^\| \| (.+) \|$", PAGE, flags=re.MULTILINE)
    assert tuple(head.split(" | ")) == ROLES
