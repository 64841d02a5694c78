"""The certificates of docker/compose.yaml, and real databases with its settings: nothing here can run a container."""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pwd import getpwnam
from typing import Any

import psycopg
import pytest
from neo4j.exceptions import Neo4jError

from api.jobs.jobs import Jobs
from api.jobs.records import Settings
from api.secret_files import read_secret_files
from api.verbs.contract import PASSWORD, Work
from graphpriv.store.addresses import server_address
from graphpriv.store.certificates import VARIABLES, Certificates
from graphpriv.store.neo4j.driver import _new_driver
from tabular.errors import StoreUnavailable
from tests.certificates import FOLDERS, SCRIPT, certificates_of_the_service, lead, make_secrets
from tests.contracts.store import filled
from tests.servers import needed_tools, postgres_tools, start_script
from tests.test_docker import compose

SERVICES = compose()["services"]


def moved(value: Any, place: Path) -> str:
    """What the compose file says, with *place* for the folder of secrets of a container."""
    return str(value).replace("/secrets", str(place)).replace("$$", "$")


def said(*command: object) -> str:
    return subprocess.run(["openssl", *map(str, command)], check=True, capture_output=True, text=True).stdout


def contents(top: Path) -> dict[str, bytes]:
    return {str(each.relative_to(top)): each.read_bytes() for each in top.rglob("*") if each.is_file()}


# What the step of the compose file makes


def test_each_container_sees_its_own_secrets_alone(tmp_path: Path) -> None:
    made = make_secrets(tmp_path)
    mounted = {name: {each.split(":")[0] for each in service["volumes"]} for name, service in SERVICES.items()}
    assert {name: volumes & set(FOLDERS) for name, volumes in mounted.items()} == {
        "web": {"secrets"},
        "worker": {"secrets"},
        "neo4j": {"secrets_neo4j"},
        "postgres": {"secrets_postgres"},
        "passwords": set(FOLDERS),
    }
    assert SERVICES["passwords"]["network_mode"] == "none"
    assert {f"{each}:/{each}" for each in FOLDERS} == set(SERVICES["passwords"]["volumes"])
    modes = {name: (made / name).stat().st_mode & 0o777 for name in contents(made)}
    # The databases run as users of their own, and nobody else sees their volumes.
    databases = {name for name in modes if name.startswith(("secrets_neo4j/", "secrets_postgres/"))}
    assert {modes[name] for name in databases} == {0o644}
    assert {name: mode for name, mode in modes.items() if name not in databases} == {
        "secrets/neo4j": 0o600,
        "secrets/ca.crt": 0o600,
        "secrets/graphpriv.crt": 0o600,
        "secrets/graphpriv.key": 0o600,
        "secrets_authority/ca.crt": 0o600,
        "secrets_authority/ca.key": 0o600,
    }
    keys = {name: each for name, each in contents(made).items() if name.endswith(".key")}
    assert len(keys) == len(set(keys.values())) == 4


def test_a_certificate_is_for_one_name_and_one_use(tmp_path: Path) -> None:
    made = make_secrets(tmp_path)
    for path, name, use in (
        ("secrets/graphpriv.crt", "graphpriv", "Client"),
        ("secrets_neo4j/public.crt", "neo4j", "Server"),
        ("secrets_postgres/public.crt", "postgres", "Server"),
    ):
        text = said("x509", "-noout", "-text", "-in", made / path)
        assert f"Subject: CN = {name}\n" in text
        assert f"TLS Web {use} Authentication\n" in text and text.count("TLS Web") == 1
        assert text.count("DNS:") == text.count(f"DNS:{name}\n") == (use == "Server")
        assert all(each in text for each in ("prime256v1", "ecdsa-with-SHA256", "CA:FALSE"))
        said("verify", "-x509_strict", "-CAfile", made / "secrets" / "ca.crt", made / path)
        ends = said("x509", "-noout", "-enddate", "-in", made / path).partition("=")[2].strip()
        assert 364.9 < (ssl.cert_time_to_seconds(ends) - time.time()) / 86400 < 365.1


def made_anew(top: Path, **long_ago: int) -> set[str]:
    """The files that change when the step runs on what it made *long_ago*."""
    before = contents(make_secrets(top, **long_ago))
    make_secrets(top)
    return {name for name, content in contents(top).items() if content != before[name]}


def test_what_is_good_is_kept_and_what_is_not_for_long_is_made_anew(tmp_path: Path) -> None:
    assert made_anew(tmp_path / "now") == made_anew(tmp_path / "lately", days=301) == set()
    # Who still runs with older ones takes the new ones, since the authority is the same.
    leaves = {
        *("secrets/graphpriv.crt", "secrets/graphpriv.key", "secrets_neo4j/public.crt", "secrets_neo4j/private.key"),
        *("secrets_postgres/public.crt", "secrets_postgres/private.key"),
    }
    assert made_anew(tmp_path / "before", days=299) == leaves
    # The authority lives ten times as long, and longer than any certificate that it signs.
    assert made_anew(tmp_path / "ending", days=72) == leaves | {
        *("secrets_authority/ca.crt", "secrets_authority/ca.key", "secrets/ca.crt", "secrets_neo4j/trusted/ca.crt"),
        "secrets_postgres/ca.crt",
    }


PAIRS = {
    "service": ("secrets/graphpriv.key", "secrets/graphpriv.crt"),
    "neo4j": ("secrets_neo4j/private.key", "secrets_neo4j/public.crt"),
    "postgres": ("secrets_postgres/private.key", "secrets_postgres/public.crt"),
    "authority": ("secrets_authority/ca.key", "secrets_authority/ca.crt"),
}


def belongs(key: Path, certificate: Path) -> bool:
    return said("pkey", "-pubout", "-in", key) == said("x509", "-noout", "-pubkey", "-in", certificate)


@pytest.mark.parametrize("spoilt", PAIRS)
def test_a_key_and_a_certificate_that_do_not_belong_together_are_made_anew(tmp_path: Path, spoilt: str) -> None:
    """As a kill leaves them between the two, or whoever writes over a key."""
    made, other = make_secrets(tmp_path / "made"), make_secrets(tmp_path / "other")
    key, certificate = (made / each for each in PAIRS[spoilt])
    for content in (other.joinpath(PAIRS[spoilt][0]).read_bytes(), b"", b"no key"):
        key.write_bytes(content)
        before = contents(made)
        make_secrets(made)
        # The authority signs all others.
        names = {name for pair in (PAIRS.values() if spoilt == "authority" else [PAIRS[spoilt]]) for name in pair}
        changed = {name for name, each in contents(made).items() if each != before[name]}
        assert {name for name in changed if not name.endswith("ca.crt") or name in names} == names
        assert belongs(key, certificate)
    for each in PAIRS.values():
        assert belongs(made / each[0], made / each[1])
        said("verify", "-CAfile", made / "secrets" / "ca.crt", made / each[1])
    assert made_anew(made) == set()


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    made = make_secrets(tmp_path)
    before = contents(made)
    for path in (
        "secrets/neo4j",
        "secrets_neo4j/private.key",
        "secrets_neo4j/trusted/ca.crt",
        "secrets_authority/ca.key",
    ):
        (made / f"{path}.new").write_text("half of")
    make_secrets(made)
    assert contents(made) == before


@pytest.mark.parametrize("ends", ["exit 1", "exit 0"])
def test_no_password_is_empty(tmp_path: Path, ends: str) -> None:
    for each in FOLDERS:
        (tmp_path / each).mkdir()
    tool = tmp_path / "openssl"
    tool.write_text(f"#!/bin/sh\necho no entropy >&2; {ends}\n")
    tool.chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    ended = subprocess.run(["sh", SCRIPT, tmp_path], env=path, capture_output=True, text=True)
    assert ended.returncode == 1 and "no entropy" in ended.stderr
    assert [each for folder in FOLDERS for each in (tmp_path / folder).iterdir()] == []


def test_the_volume_of_an_earlier_version_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    for name, content in (("neo4j", "drawn before"), ("postgres", "x"), ("neo4j_auth", "neo4j/drawn before")):
        (tmp_path / "secrets" / name).write_text(content)
    make_secrets(tmp_path)
    left = {each.name for each in (tmp_path / "secrets").iterdir()}
    assert left == {"neo4j", "ca.crt", "graphpriv.crt", "graphpriv.key"}
    assert (tmp_path / "secrets_neo4j" / "auth").read_text() == "neo4j/drawn before"
    assert (tmp_path / "secrets" / "neo4j").stat().st_mode & 0o777 == 0o600


def test_a_step_that_fails_says_why(tmp_path: Path) -> None:
    for each in FOLDERS:
        (tmp_path / each).mkdir()
    tool = tmp_path / "openssl"
    tool.write_text("#!/bin/sh\nif [ $1 != rand ]; then echo no such curve >&2; exit 1; fi; echo x\n")
    tool.chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    ended = subprocess.run(["sh", SCRIPT, tmp_path], env=path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (1, "no such curve\n")


# Postgres


@pytest.fixture(scope="module")
def top() -> Iterator[Path]:
    """The secrets, in a folder that the user of Postgres can reach."""
    folder = Path(tempfile.mkdtemp(prefix="graphpriv-databases-"))
    folder.chmod(0o755)
    yield make_secrets(folder / "made")
    shutil.rmtree(folder)


@dataclass(frozen=True)
class Running:
    """A Postgres that is set up and started as its container would be."""

    port: int
    folder: Path
    process: subprocess.Popen[bytes]

    def run(self, command: str, *, user: str = "postgres", **more: Any) -> subprocess.CompletedProcess[bytes]:
        """What a command in its container would do, as that user."""
        variables = {"PGHOST": str(self.folder), "PGPORT": str(self.port)}
        environment = {"PATH": f"{self.folder}:{postgres_tools()}:{os.environ['PATH']}", **variables}
        become: dict[str, Any] = {"user": user, "group": getpwnam(user).pw_gid, "extra_groups": []}
        words = ["bash", "-c", command]
        return subprocess.run(words, cwd="/", env=environment, capture_output=True, **become, **more)

    def is_healthy(self) -> bool:
        """What the check of the compose file says."""
        shell, check = SERVICES["postgres"]["healthcheck"]["test"]
        assert shell == "CMD-SHELL" and check.startswith("gosu postgres ") and check.count("5432") == 1
        check = check.replace("gosu postgres ", "").replace("5432", str(self.port))
        return self.run(check).returncode == 0

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()


@contextmanager
def running(top: Path, name: str, superuser: str) -> Iterator[Running]:
    """Such a server, in a folder of that name; an earlier compose file had another *superuser*."""
    if os.geteuid() != 0:
        pytest.skip("starts a server as another user")
    tools, port, own = postgres_tools(), start_script().free_port(), SERVICES["postgres"]
    place, folder = top / "secrets_postgres", top.parent / name
    folder.mkdir()
    shutil.chown(folder, "postgres", "postgres")
    for config in own["configs"]:
        (folder / Path(config["target"]).name).write_text(compose()["configs"][config["source"]]["content"])
    entrypoint = folder / "docker-entrypoint.sh"
    entrypoint.write_text(
        f"#!/bin/sh\nshift\nexec setpriv --reuid=postgres --regid=postgres --clear-groups {tools}/postgres "
        f"-D {folder}/data -p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off "
        '"$@"\n'
    )
    entrypoint.chmod(0o755)
    command = [
        moved(each, place).replace("/run/private.key", f"{folder}/key").replace("/etc/", f"{folder}/")
        for each in own["entrypoint"] + own["command"]
    ]
    # What the image does where its volume is empty.
    password = f"--pwfile={moved(own['environment']['POSTGRES_PASSWORD_FILE'], place)}"
    begin = [tools / "initdb", "-D", folder / "data", f"--username={superuser}", password, "--no-sync"]
    as_postgres: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": [], "cwd": folder}
    subprocess.run(begin, check=True, capture_output=True, **as_postgres)
    if superuser != "postgres":
        # And it made a database of that name.
        single = [tools / "postgres", "--single", "-D", folder / "data", "template1"]
        subprocess.run(
            single, input=f"CREATE DATABASE {superuser}\n".encode(), check=True, capture_output=True, **as_postgres
        )
    environment = {"PATH": f"{folder}:{tools}:{os.environ['PATH']}"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    server = Running(port, folder, process)
    try:
        until = time.monotonic() + 30
        while not server.is_healthy():
            assert process.poll() is None and time.monotonic() < until, server.log
            time.sleep(0.1)
        if superuser == "postgres":
            # The image runs what is in its folder like this.
            made = server.run(f"psql -v ON_ERROR_STOP=1 --username=postgres --no-password -f {folder}/account.sql")
            assert made.returncode == 0, made.stderr
        assert (folder / "key").stat().st_mode & 0o777 == 0o600
        # Looking whether it is well leaves no lines in its log.
        assert "FATAL:  no" not in server.log
        before = server.log.count("FATAL")
        assert server.is_healthy() and server.log.count("FATAL") == before
        yield server
    finally:
        process.terminate()
        process.wait(30)
    assert not server.is_healthy()


@pytest.fixture(scope="module")
def postgres(top: Path) -> Iterator[int]:
    """The port of a server on a new volume."""
    with running(top, "postgres", "postgres") as server:
        yield server.port


def of_this_server(monkeypatch: pytest.MonkeyPatch, top: Path, port: int) -> str:
    """The address that the compose file gives, which leads to the server of the tests."""
    for name in [each for each in os.environ if each.startswith("PG")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.1")
    monkeypatch.setenv("PGPORT", str(port))
    return moved(SERVICES["web"]["environment"]["GRAPHPRIV_DATABASE"], top / "secrets")


@pytest.fixture
def database(top: Path, postgres: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of the database of jobs in that server."""
    return of_this_server(monkeypatch, top, postgres)


@pytest.mark.postgres
def test_jobs_are_kept_by_an_account_that_may_do_nothing_else(database: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, store=f"file:{tmp_path}/s.db", database=database)
    jobs = Jobs.opened(settings)
    job = jobs.submit("demo", {}, account="ann")
    jobs.close()
    # Another process finds the tables there already.
    again = Jobs.opened(settings)
    assert again.get(job.id).state == "queued"
    again.close()
    with psycopg.connect(database) as connection:

        def told(query: str) -> list[tuple[Any, ...]]:
            return connection.execute(query.encode()).fetchall()

        rights = "rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls"
        assert told(f"SELECT {rights} FROM pg_roles WHERE rolname = current_user") == [(False,) * 5]
        assert told("SELECT 1 FROM pg_auth_members WHERE member = current_user::regrole") == []
        assert told("SELECT datname FROM pg_database WHERE datdba = current_user::regrole") == [("graphpriv",)]
        how = "SELECT ssl, version, client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        assert told(how) == [(True, "TLSv1.3", "/CN=graphpriv")]
    for query in (b"COPY (SELECT 1) TO PROGRAM 'true'", b"SELECT pg_read_file('/etc/passwd')", b"CREATE ROLE other"):
        with psycopg.connect(database) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(query)


def documented(pattern: str) -> str:
    """The command in the container of Postgres that docs/deploy.md says, of which there is one."""
    page = (Path(__file__).parents[1] / "docs" / "deploy.md").read_text()
    whole = rf"^    (?:until )?docker compose -f \S+ exec -T (?:--user=postgres )?postgres ({pattern})$"
    (found,) = re.findall(whole, page, re.MULTILINE)
    assert isinstance(found, str)
    return found


@pytest.mark.postgres
def test_a_volume_of_an_earlier_compose_file_is_backed_up_and_restored_into_a_new_one(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump, wait = documented(r"pg_dump .*) > (?:jobs\.sql"), documented(r"pg_isready [^;]*); do sleep 1; (?:done")
    restore = documented(r"psql .*) < (?:jobs\.sql")

    def settings(server: Running) -> Settings:
        database = of_this_server(monkeypatch, top, server.port)
        return Settings(home=tmp_path, store=f"file:{tmp_path}/s.db", database=database)

    # Its superuser is the account of the service.
    with running(top, "earlier", "graphpriv") as earlier:
        jobs = Jobs.opened(settings(earlier))
        job = jobs.submit("demo", {}, account="ann")
        jobs.close()
        saved = earlier.run(dump)
        assert (saved.returncode, saved.stderr) == (0, b"") and b"PostgreSQL database dump complete" in saved.stdout
        # Nobody else in the container is let in as that account.
        other = earlier.run(dump, user="nobody")
        assert other.returncode != 0 and b"Peer authentication failed" in other.stderr
    with running(top, "later", "postgres") as later:
        assert later.run(wait).returncode == 0
        # Of a part of it, nothing is kept.
        part = later.run(restore, input=saved.stdout.replace(b"CREATE INDEX", b"CREATE INDEXES", 1))
        assert part.returncode != 0
        restored = later.run(restore, input=saved.stdout)
        assert (restored.returncode, restored.stderr) == (0, b"")
        jobs = Jobs.opened(settings(later))
        assert jobs.get(job.id).state == "queued"
        jobs.close()
        # The tables belong to the account, which is no superuser here, and the same command backs them up.
        with psycopg.connect(settings(later).database or "") as connection:
            others = "SELECT count(*) FROM pg_class WHERE relowner <> current_user::regrole AND oid >= 16384"
            assert connection.execute(others.encode()).fetchall() == [(0,)]
            rights = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"
            assert connection.execute(rights.encode()).fetchall() == [(False,)]
        again = later.run(dump)
        assert (again.returncode, again.stderr) == (0, b"") and job.id.encode() in again.stdout
    assert later.run(wait).returncode != 0


def refusal(address: str) -> str:
    with pytest.raises(psycopg.OperationalError) as caught:
        psycopg.connect(address, connect_timeout=10)
    return str(caught.value)


@pytest.mark.postgres
def test_postgres_takes_nobody_without_the_certificate_of_the_service(database: str, top: Path, tmp_path: Path) -> None:
    head, _, _ = database.partition("&sslcert=")
    other = make_secrets(tmp_path / "other") / "secrets"
    assert "requires a valid client certificate" in refusal(head)
    assert "unknown ca" in refusal(f"{head}&sslcert={other}/graphpriv.crt&sslkey={other}/graphpriv.key")
    # Whoever took over the other database has a certificate, too.
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_bytes((top / "secrets_neo4j" / "private.key").read_bytes())
    assert "unsupported certificate" in refusal(f"{head}&sslcert={top}/secrets_neo4j/public.crt&sslkey={key}")
    password = (top / "secrets_postgres" / "password").read_text().strip()
    for who in (f"postgres:{password}@postgres/graphpriv", f"postgres:{password}@postgres/postgres"):
        assert "no pg_hba.conf entry" in refusal(database.replace("graphpriv@postgres/graphpriv", who))
    assert "no pg_hba.conf entry" in refusal(database.replace("postgres/graphpriv", "postgres/postgres"))
    assert "no pg_hba.conf entry" in refusal("postgresql://graphpriv@postgres/graphpriv?sslmode=disable")


@pytest.mark.postgres
def test_no_other_server_is_taken_for_that_postgres(database: str, tmp_path: Path, top: Path) -> None:
    other = make_secrets(tmp_path) / "secrets" / "ca.crt"
    assert "certificate verify failed" in refusal(database.replace(f"{top}/secrets/ca.crt", str(other)))
    assert "does not match host name" in refusal(database.replace("@postgres/", "@localhost/"))


@pytest.mark.postgres
def test_a_certificate_that_was_made_anew_is_taken_by_a_postgres_that_runs(database: str, top: Path) -> None:
    own = top / "secrets" / "graphpriv.crt"
    before = own.read_bytes()
    own.unlink()
    make_secrets(top)
    assert own.read_bytes() != before
    psycopg.connect(database).close()


# Neo4j


@pytest.fixture(scope="module")
def neo4j(top: Path) -> Iterator[int]:
    """A Neo4j with the settings of its container; its port."""
    script = start_script()
    needed_tools(script)
    place, told = top / "secrets_neo4j", SERVICES["neo4j"]["environment"]
    settings = {
        name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_"): moved(value, place)
        for name, value in told.items()
        if name != "NEO4J_AUTH_FILE"
    }
    context = ssl.create_default_context(cafile=top / "secrets" / "ca.crt")
    context.load_cert_chain(top / "secrets" / "graphpriv.crt", top / "secrets" / "graphpriv.key")
    user, _, password = Path(moved(told["NEO4J_AUTH_FILE"], place)).read_text().partition("/")
    assert user == "neo4j"
    server = script.Server(
        top.parent / "neo4j",
        script.free_port(),
        password,
        heap="512m",
        java_options=("-XX:TieredStopAtLevel=1",),
        settings={**settings, "server.memory.pagecache.size": "64m"},
        encryption=context,
    )
    server.start()
    yield server.port
    server.kill()


@pytest.fixture
def store(top: Path, neo4j: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Work]:
    """The store of the compose file, as the environment says where it is."""
    for name, value in SERVICES["web"]["environment"].items():
        monkeypatch.setenv(name, moved(value, top / "secrets"))
    # So that what the file holds is taken away again.
    monkeypatch.setenv(PASSWORD, "")
    read_secret_files(os.environ)
    lead(monkeypatch, "neo4j", neo4j)
    return lambda: Work(store=os.environ["GRAPHPRIV_STORE"])


@pytest.mark.neo4j
def test_graphs_are_kept_in_a_neo4j_that_asks_for_a_certificate(store: Callable[[], Work]) -> None:
    with store().opened(create=True) as opened:
        filled(opened)
    with store().opened() as again:
        assert [each.name for each in again.graphs()] == ["town"]
        assert len(list(again.users("town"))) > 1


@pytest.mark.neo4j
def test_the_account_of_the_service_is_the_only_one_of_a_neo4j_that_holds_nothing_else(
    store: Callable[[], Work],
) -> None:
    store().opened(create=True).close()
    told = os.environ
    address = server_address(told["GRAPHPRIV_STORE"], told[PASSWORD], Certificates.of(told))
    with _new_driver(address) as driver, driver.session(database="system") as session:
        accounts = [(each["user"], each["roles"]) for each in session.run("SHOW USERS")]
        databases = {each["name"] for each in session.run("SHOW DATABASES")}
        # Rights cannot be taken from it in this edition: roles are unknown there.
        with pytest.raises(Neo4jError) as caught:
            session.run("CREATE ROLE store").consume()
    assert caught.value.code == "Neo.ClientError.Statement.UnsupportedAdministrationCommand"
    assert accounts == [(address.user, None)] == [("neo4j", None)]
    assert databases == {"neo4j", "system"}


@pytest.mark.neo4j
def test_neo4j_takes_nobody_without_the_certificate_of_the_service(
    store: Callable[[], Work], top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca, certificate, key = VARIABLES.values()
    other = certificates_of_the_service(make_secrets(tmp_path))
    of_postgres = top / "secrets_postgres"
    without = {ca: "", certificate: "", key: ""}
    cases: list[dict[str, Any]] = [
        {certificate: "", key: ""},
        {certificate: other.certificate, key: other.key},
        {certificate: of_postgres / "public.crt", key: of_postgres / "private.key"},
        # Nor is another server taken for that one.
        {ca: other.ca},
        {ca: ""},
        # Commands may try without encryption.
        {**without, "GRAPHPRIV_STORE": "neo4j://neo4j@neo4j:7687"},
        {**without, "GRAPHPRIV_STORE": "bolt://neo4j@neo4j:7687"},
    ]
    for case in cases:
        with monkeypatch.context() as context, pytest.raises(StoreUnavailable):
            for name, value in case.items():
                context.setenv(name, str(value))
            store().opened(create=True)
    store().opened(create=True).close()
