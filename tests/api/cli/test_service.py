"""The service as a process of its own."""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.request

import pytest

from api.cli.service import _shown
from tests.api.conftest import SMALL


@pytest.fixture(autouse=True)
def _limits_end_with_the_test(monkeypatch):
    """`serve` sets the limits of readers for its whole process, which is that of the other tests here."""
    for name in ("MOST_COLUMNS", "MOST_CELLS", "LONGEST_FIELD"):
        monkeypatch.setenv(f"GRAPHPRIV_{name}", "")


def test_it_serves_until_it_is_told_to_end(tmp_path):
    command = [sys.executable, "-c", "from api.cli import main; main()", "serve", "--port", "0"]
    places = {"GRAPHPRIV_STORE": f"file:{tmp_path / 'served.db'}", "GRAPHPRIV_HOME": str(tmp_path / "home")}
    environment = {**os.environ, **places}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        address = re.search(r"http://[0-9.]+:[0-9]+", process.stderr.readline())[0]
        for path in ("/healthz", "/readyz"):
            with urllib.request.urlopen(address + path, timeout=30) as answer:
                assert json.load(answer) == {"status": "ok"}
        token = re.search(r"gp_\S+", process.stderr.readline())[0]
        asked = urllib.request.Request(f"{address}/v1/graphs", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert json.load(answer) == {"graphs": [], "next": None}
        sent = {"Authorization": f"Bearer {token}", "Prefer": "wait=30", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{address}/v1/store/check", data=b"{}", headers=sent, method="POST")
        with urllib.request.urlopen(asked, timeout=60) as answer:
            checked = json.load(answer)
            assert checked["sound"] and checked["audit_log"]["entries"] == 0
            job = answer.headers["Location"]
        asked = urllib.request.Request(f"{address}{job}/events", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            assert '"done"' in answer.read().decode()
        sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{address}/v1/graphs/people", json.dumps(SMALL).encode(), sent, method="PUT")
        urllib.request.urlopen(asked, timeout=60).close()
        asked = {"name": "people", "k": ["2"], "runs": 10_000}
        asked = urllib.request.Request(f"{address}/v1/sweep", json.dumps(asked).encode(), sent)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            job = json.load(answer)["id"]
        asked = urllib.request.Request(f"{address}/v1/jobs/{job}/events", headers=sent)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            # Until it runs; the stream is open when the service is told to stop.
            assert any(b'"running"' in line for line in answer)
            process.send_signal(signal.SIGTERM)
            # It ends in order, and not broken off.
            answer.read()
        assert process.wait(timeout=30) == 0
        with sqlite3.connect(tmp_path / "home" / "jobs.db") as database:
            # What was under way is free for the next worker.
            assert database.execute("SELECT state FROM job WHERE id = ?", (job,)).fetchall() == [("running",)]
            status = "SELECT status FROM workflow_status WHERE workflow_uuid = ?"
            assert database.execute(status, (job,)).fetchall() == [("ENQUEUED",)]
            assert database.execute("SELECT * FROM job_beat").fetchall() == []
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_kernel_that_is_interrupted_is_no_bug(graphpriv, monkeypatch):
    def interrupted(*_, **__):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("api.reference.method_lists", interrupted)
    ended = graphpriv("methods", "--json")
    assert ended.code == 1
    assert ended.error.startswith("interrupted")


def refused(graphpriv, tmp_path, *given):
    """The one line by which `serve` says why it does not start."""
    ended = graphpriv("serve", "--port", "0", "--home", tmp_path / "home", *given)
    assert ended.code != 0
    assert ended.err.count("\n") == 1
    return ended.error


def test_a_port_in_use_is_one_line(graphpriv, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused(graphpriv, tmp_path, "--port", port)
    assert told == f"--host 127.0.0.1 --port {port}: Address already in use."


def test_an_address_of_another_machine_is_one_line(graphpriv, tmp_path):
    told = refused(graphpriv, tmp_path, "--host", "192.0.2.1")
    assert told == "--host 192.0.2.1 --port 0: Cannot assign requested address."


def test_a_folder_that_cannot_be_made_is_one_line(graphpriv, tmp_path):
    (tmp_path / "file").touch()
    told = refused(graphpriv, tmp_path, "--home", tmp_path / "file" / "home")
    assert told == f"{tmp_path}/file/home: Not a directory. The service's folder cannot be made here."


@pytest.mark.parametrize("name", ["half?of=it", "half%41"])
def test_a_folder_that_an_address_would_take_for_another_is_one_line(graphpriv, tmp_path, name):
    told = refused(graphpriv, tmp_path, "--home", tmp_path / name)
    assert told == f"{tmp_path}/{name}: the path of the service's folder must have no ? and no %."
    assert [each.name for each in tmp_path.glob("half*")] == [name]


def test_a_store_that_cannot_be_made_is_one_line(graphpriv, tmp_path):
    assert str(tmp_path / "nowhere") in refused(graphpriv, tmp_path, "--store", f"file:{tmp_path / 'nowhere' / 's.db'}")


def test_settings_that_are_wrong_are_one_line_each(graphpriv, tmp_path):
    assert refused(graphpriv, tmp_path, "--proxies", "10.0.0.300").startswith("--proxies must be addresses or networks")
    assert refused(graphpriv, tmp_path, "--keep-jobs", "-1").startswith("--keep-jobs must be from 0 to 100000")
    assert "access log cannot be kept here" in refused(graphpriv, tmp_path, "--access-log", tmp_path / "no" / "log")


@pytest.mark.parametrize(
    "address", ["postgresql://u:hunter2@127.0.0.1:9/jobs", "postgres://127.0.0.1:9/jobs?user=u&password=hunter2"]
)
def test_a_password_of_the_jobs_is_taken_from_the_environment_alone(graphpriv, tmp_path, monkeypatch, address):
    told = refused(graphpriv, tmp_path, "--database", address)
    assert told.startswith("--database must not hold a password") and "GRAPHPRIV_POSTGRES_PASSWORD" in told
    assert "hunter2" not in told
    monkeypatch.setenv("GRAPHPRIV_DATABASE", address)
    assert refused(graphpriv, tmp_path) == "The database of jobs does not answer; try again."


@pytest.mark.parametrize(
    "address", ["jobs", "mysql://u:hunter2@h/jobs", "postgres://\u202e\x1b/x", "host=h password=hunter2"]
)
def test_an_address_of_the_jobs_that_is_none_is_one_line(graphpriv, tmp_path, monkeypatch, address):
    monkeypatch.setenv("GRAPHPRIV_DATABASE", address)
    assert refused(graphpriv, tmp_path).startswith("The address of the database of jobs is postgresql://user@host/name")


def test_an_address_of_ipv6_is_shown_as_browsers_take_it():
    assert _shown(("::1", 8000)) == "[::1]:8000"
    assert _shown(("127.0.0.1", 8000)) == "127.0.0.1:8000"
