"""The service refuses to send anything to another machine that could be read, or taken by somebody else, on its way."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from api.gunicorn_settings import ServingProcess
from api.jobs import __main__ as module
from api.jobs.records import Settings
from api.jobs.workers import command_of
from api.plain_connections import refuse_plain_connections
from api.service.uploads.scanner import Scanner
from tabular.errors import InvalidInput, InvalidParameter

NEAR = ("localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "[::1]")
FAR = ("db.example", "10.0.0.7", "192.168.0.1", "0.0.0.0", "[2001:db8::1]", "localhost.example", "127.0.0.1.example")

FULL = "sslmode=verify-full&sslrootcert=/ca.crt"


@pytest.fixture(autouse=True)
def no_variables_of_postgres(monkeypatch):
    for name in [each for each in os.environ if each.startswith("PG")]:
        monkeypatch.delenv(name)


def refused(environment=None, **given):
    """What is said of settings, empty where nothing is refused."""
    try:
        refuse_plain_connections(Settings(home=Path("/srv"), **given), environment or {})
    except InvalidInput as error:
        assert "hunter2" not in str(error)
        # It names the consent, and with it nothing is refused.
        assert "plain_connections" in error.named
        refuse_plain_connections(Settings(home=Path("/srv"), plain_connections=True, **given), environment or {})
        return error.worded(lambda name: f"<{name}>")
    return ""


@pytest.mark.parametrize("host", NEAR)
def test_this_machine_is_talked_to_as_it_wants(host):
    for scheme in ("neo4j", "neo4j+ssc", "bolt", "bolt+s"):
        assert refused(store=f"{scheme}://u@{host}:7687") == ""
    assert refused(database=f"postgresql://u@{host}/jobs", private=f"postgres://u@{host}/x?sslmode=disable") == ""
    assert refused({"GRAPHPRIV_TAGGING_URL": f"http://{host}:8080/"}) == ""
    Scanner.at(f"tcp:{host}:3310").refuse_plain()


@pytest.mark.parametrize("host", FAR)
def test_another_machine_is_talked_to_by_tls_with_a_check_alone(host):
    for scheme in ("neo4j", "bolt"):
        assert refused(store=f"{scheme}+s://u:hunter2@{host}") == ""
        assert refused(store=f"{scheme}://u:hunter2@{host}") == (
            f"<store> {scheme}://{host}:7687 does not encrypt what it sends to another machine: write {scheme}+s://, "
            "or, if the network itself encrypts, give <plain_connections>."
        )
        told = refused(store=f"{scheme}+ssc://u:hunter2@{host}")
        assert f"does not check the certificate of another machine: write {scheme}+s://" in told
    assert refused(database=f"postgresql://u@{host}/jobs?{FULL}", private=f"postgres://u@{host}/jobs?{FULL}") == ""
    for mode in ("", "disable", "allow", "prefer", "require", "verify-ca", "no-mode"):
        address = f"postgresql://u:hunter2@{host}/jobs{mode and f'?sslmode={mode}'}"
        told = refused(database=address)
        assert (
            told.startswith("<database> leads to another machine")
            and "add ?sslmode=verify-full and &sslrootcert=FILE to it" in told
        )
        assert refused(private=address).startswith("GRAPHPRIV_JOBS_PRIVATE leads to another machine")
    assert refused({"GRAPHPRIV_X_URL": f"https://{host}"}) == ""
    assert refused({"GRAPHPRIV_X_URL": f"http://u:hunter2@{host}/2"}) == (
        "GRAPHPRIV_X_URL leads to another machine in the clear: write https://, or, if the network itself encrypts, "
        "give <plain_connections>."
    )
    with pytest.raises(InvalidParameter, match="clamd knows no TLS") as caught:
        Scanner.at(f"tcp:{host}:3310").refuse_plain()
    assert caught.value.named == ("scanner", "plain_connections")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql:///jobs",
        "postgresql:///jobs?host=/run/postgresql",
        "postgresql:///jobs?host=@abstract",
        "postgresql://u@/jobs?host=localhost:5433&host=/run",
        "postgresql://u@localhost/jobs?hostaddr=::1",
    ],
)
def test_sockets_and_lists_of_this_machine_are_this_machine(address):
    assert refused(database=address) == ""


@pytest.mark.parametrize(
    "address",
    [
        "postgresql:///jobs?host=db.example",
        "postgresql://u@localhost/jobs?hostaddr=10.0.0.7",
        "postgresql://u@localhost/jobs?host=db.example",
        "postgresql://u@/jobs?host=localhost&host=db.example:5433",
        "postgresql://u@/jobs?host=/run,db.example",
        "postgresql://u@localhost/jobs?hostaddr=127.0.0.1&hostaddr=10.0.0.7",
        "postgresql://u@localhost/jobs?service=elsewhere",
        "postgresql:///jobs?service=elsewhere",
    ],
)
def test_no_other_way_of_writing_it_leads_to_another_machine_unseen(address):
    assert refused(database=address).startswith("<database> leads to another machine")
    assert refused(database=f"{address}&{FULL}") == ""


def test_the_variables_of_postgres_count_where_the_address_says_nothing(monkeypatch, tmp_path):
    far = "postgresql://u@db.example/jobs"
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    assert refused(database=far) == ""
    assert refused(database=f"{far}?sslmode=prefer").startswith("<database>")
    assert refused(database=f"{far}?service=elsewhere").startswith("<database>")
    monkeypatch.setenv("PGSSLMODE", "disable")
    assert refused(database=far).startswith("<database>")
    assert refused(database=f"{far}?{FULL}") == ""
    assert refused(database="postgresql:///jobs") == ""
    for name, value in (("PGHOST", "db.example"), ("PGHOSTADDR", "10.0.0.7")):
        with monkeypatch.context() as context:
            context.setenv(name, value)
            assert refused(database="postgresql:///jobs").startswith("<database>")
    (tmp_path / "services").write_text("[elsewhere]\nhost=db.example\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    monkeypatch.setenv("PGSERVICE", "elsewhere")
    assert refused(database="postgresql:///jobs").startswith("<database>")


def test_every_address_of_a_provider_is_looked_at():
    crawler = Path(__file__).parents[2] / "crawler"
    read = {name for path in crawler.rglob("*.py") for name in re.findall(r'"(GRAPHPRIV_\w*URL\w*)"', path.read_text())}
    assert len(read) >= 6
    for name in read:
        assert refused({name: "http://db.example"}).startswith(f"{name} leads to another machine")


def test_files_and_what_cannot_be_read_are_left_to_others():
    assert refused({"GRAPHPRIV_X_URL": "http://[", "GRAPHPRIV_HOSTS": "http://db.example"}, store="file:x.db") == ""
    Scanner.at("unix:/run/clamd.ctl").refuse_plain()


CASES = [
    ("STORE", "neo4j://u@db.example", "does not encrypt what it sends to another machine"),
    ("DATABASE", "postgresql://u@db.example/jobs", "leads to another machine"),
    ("SCANNER", "tcp:db.example:3310", "leads to another machine"),
]


@pytest.mark.parametrize(("name", "value", "what"), CASES)
def test_serve_does_not_start(graphpriv, tmp_path, name, value, what):
    ended = graphpriv("serve", "--port", "0", f"--{name.lower()}", value)
    assert ended.code == 2 and what in ended.error
    assert ended.error.startswith(f"--{name.lower()} ") and ended.error.endswith("give --plain-connections.")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "value", "what"), CASES)
def test_the_door_of_the_image_does_not_start(monkeypatch, tmp_path, capsys, name, value, what):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(f"GRAPHPRIV_{name}", value)
    with pytest.raises(SystemExit):
        ServingProcess.load_wsgi(ServingProcess.__new__(ServingProcess))
    told = capsys.readouterr().err
    assert told.startswith(f"graphpriv: error: GRAPHPRIV_{name} ") and what in told
    assert told.endswith("give GRAPHPRIV_PLAIN_CONNECTIONS.\n")
    assert list(tmp_path.iterdir()) == []


def test_a_worker_does_not_start(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GRAPHPRIV_", "PG"))}
    environment |= {"GRAPHPRIV_HOME": str(tmp_path), "GRAPHPRIV_DATABASE": "postgresql://u:hunter2@db.example/jobs"}
    command = [sys.executable, "-P", "-m", "api.jobs"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert ended.returncode == 1 and "hunter2" not in ended.stderr
    assert ended.stderr.startswith("Error: --database leads to another machine")
    assert ended.stderr.endswith("give --plain-connections.\n")


@pytest.mark.parametrize("given", [["--plain-connections"], []])
def test_serve_goes_there_with_consent(graphpriv, monkeypatch, given):
    if not given:
        monkeypatch.setenv("GRAPHPRIV_PLAIN_CONNECTIONS", "true")
    ended = graphpriv("serve", "--port", "0", "--store", "bolt://u@0.0.0.0:1", *given)
    assert ended.error.startswith("bolt://0.0.0.0:1: the server does not answer")


def test_a_worker_goes_there_with_consent(monkeypatch, tmp_path):
    far = Settings(home=tmp_path, database="postgresql://u@db.example/jobs", plain_connections=True)
    seen = []

    def opened(settings):
        seen.append(settings)
        raise InvalidInput("That is enough.")

    monkeypatch.setattr(module, "opened", opened)
    monkeypatch.setattr(module.os, "nice", lambda _: None)
    monkeypatch.setenv("GRAPHPRIV_DATABASE", far.database)
    # As a service starts it, and as a container does.
    by_service, home = command_of(far)[4:], ["--home", str(tmp_path)]
    assert by_service == [*home, "--plain-connections"]
    consent = {"GRAPHPRIV_PLAIN_CONNECTIONS": "true"}
    # The flag stands anywhere, as the refusal words it, and counts before the variable.
    cases = ((by_service, {}), (home, consent), (["--plain-connections", *home], {"GRAPHPRIV_PLAIN_CONNECTIONS": "0"}))
    for arguments, variable in cases:
        with monkeypatch.context() as context, pytest.raises(SystemExit):
            context.setattr(sys, "argv", ["worker", *arguments])
            for name, value in variable.items():
                context.setenv(name, value)
            module.main()
    assert seen == [far, far, far]
    monkeypatch.setattr(sys, "argv", ["worker", *home, "--no-plain-connections"])
    monkeypatch.setenv("GRAPHPRIV_PLAIN_CONNECTIONS", "true")
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == 1 and seen == [far, far, far]


def test_a_command_goes_where_it_is_sent(graphpriv):
    assert graphpriv("graph", "list", "--store", "bolt://u@0.0.0.0:1").error.startswith("bolt://0.0.0.0:1: the server")
