"""The files of `docker/`, against what they name: nothing here can build or run an image."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from sqlalchemy import make_url

from api import gunicorn_settings
from api.app import create_app
from api.cli import command_line
from api.jobs.folders import files_of
from api.jobs.records import PREFIX
from api.jobs.records import Settings as JobSettings
from api.plain_connections import refuse_plain_connections
from api.secret_files import SECRETS, read_secret_files
from graphpriv.store.addresses import server_address
from graphpriv.store.certificates import VARIABLES
from tabular.errors import ReportedError
from tests.certificates import FOLDERS, make_secrets
from tests.servers import start_script

TOP = Path(__file__).parent.parent
DOCKERFILE = (TOP / "docker" / "Dockerfile").read_text()
COMPOSE = (TOP / "docker" / "compose.yaml").read_text()
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, each with what comes after its name."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return [
        (name.upper(), rest.strip())
        for name, _, rest in (line.partition(" ") for line in lines.replace("\\\n", " ").splitlines() if line.strip())
    ]


def compose() -> dict[str, Any]:
    """What the compose file says."""
    found: dict[str, Any] = yaml.safe_load(COMPOSE)
    return found


def variables() -> set[str]:
    """The environment variables that the service and its workers read."""
    read = {each.envvar for each in command_line().commands["serve"].params if isinstance(each.envvar, str)}
    jobs = {f"{PREFIX}_{each.name.upper()}" for each in fields(JobSettings)}
    return read | jobs | {f"{each}_FILE" for each in SECRETS} | {"GRAPHPRIV_CACHE_DIR", *VARIABLES.values()}


def environment_of_the_image() -> dict[str, str]:
    """The variables that the image sets."""
    pairs = [pair for name, rest in instructions(DOCKERFILE) if name == "ENV" for pair in shlex.split(rest)]
    return dict(pair.split("=", 1) for pair in pairs)


def test_the_image_copies_what_there_is_and_what_the_build_needs() -> None:
    copied = [source for name, rest in instructions(DOCKERFILE) if name == "COPY" for source in rest.split()[:-1]]
    missing = [source for source in copied if not (TOP / source).exists()]
    assert not missing
    build = tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    needed = {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"], *build["wheel"]["packages"]}
    assert needed <= set(copied)
    pip = next(rest for name, rest in instructions(DOCKERFILE) if name == "RUN" and "pip install" in rest)
    assert shlex.split(pip)[-3:] == ["--no-deps", "--no-build-isolation", "."]
    assert "requirements.lock" in copied and "-r requirements.lock" in pip


def test_the_image_has_a_python_that_the_project_takes() -> None:
    ((_, image),) = [each for each in instructions(DOCKERFILE) if each[0] == "FROM"]
    found = re.fullmatch(r"python:(\d+)\.(\d+)-slim-\w+", image)
    assert found
    least = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["requires-python"])
    assert least
    assert tuple(map(int, found.groups())) >= tuple(map(int, least.groups()))


def test_the_image_starts_the_service_that_its_port_and_its_check_are_about() -> None:
    said = dict(instructions(DOCKERFILE))
    assert json.loads(said["CMD"]) == ["gunicorn", "--config", "python:api.gunicorn_settings"]
    # On the loopback of the container nobody outside would reach it.
    assert gunicorn_settings.bind == f"0.0.0.0:{said['EXPOSE']}"
    checked = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", said["HEALTHCHECK"])
    assert checked
    assert checked[1] == said["EXPOSE"]
    with tempfile.TemporaryDirectory() as home:
        client = create_app({"HOME": home}).test_client()
    assert client.get(checked[2]).status_code == 200


def test_the_image_keeps_all_it_has_on_the_volume_of_its_user() -> None:
    said, told = dict(instructions(DOCKERFILE)), environment_of_the_image()
    assert set(told) <= variables()
    assert said["WORKDIR"] == said["VOLUME"]
    for place in (told["GRAPHPRIV_STORE"].removeprefix("file:"), told["GRAPHPRIV_HOME"]):
        assert Path(place).parent == Path(said["VOLUME"])
    assert callable(files_of(told["GRAPHPRIV_JOBS_FILES"]))
    (made,) = [rest for name, rest in instructions(DOCKERFILE) if name == "RUN" and "useradd" in rest]
    uid = re.search(rf"useradd .*--uid (\d+) {said['USER']} ", made)
    assert uid
    assert f"install -d -m 700 -o {uid[1]} {said['VOLUME']} " in made


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a user")
def test_the_image_makes_its_user_and_folders(tmp_path: Path) -> None:
    (script,) = [rest for name, rest in instructions(DOCKERFILE) if name == "RUN" and "useradd" in rest]
    for folder in ("etc", "bin"):
        (tmp_path / folder).mkdir()
    for file in ("passwd", "group", "shadow", "gshadow"):
        (tmp_path / "etc" / file).touch()
    stub = tmp_path / "bin" / "useradd"
    stub.write_text(f'#!/bin/sh\nexec {shutil.which("useradd")} --prefix {tmp_path} "$@"\n')
    stub.chmod(0o755)
    script = re.sub(r" (/data|/secrets)(?=\b|_)", rf" {tmp_path}\1", script)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    subprocess.run(["sh", "-euc", script], env={"PATH": path}, check=True, capture_output=True)
    assert (tmp_path / "etc" / "passwd").read_text().startswith("graphpriv:x:10001:")
    found = {name: (tmp_path / name).stat() for name in ("data", *FOLDERS)}
    assert {name: (each.st_uid, each.st_mode & 0o777) for name, each in found.items()} == {
        "data": (10001, 0o700), **dict.fromkeys(FOLDERS, (10001, 0o755))
    }  # fmt: skip


@pytest.mark.heavy
def test_every_other_line_that_the_image_runs_does_its_work(tmp_path: Path) -> None:
    """In an environment of its own, with the files that the image copies; this takes minutes and needs the network."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    app = tmp_path / "app"
    app.mkdir()
    environment = {"PATH": f"{tmp_path}/venv/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    for name, rest in instructions(DOCKERFILE):
        if name == "COPY":
            *sources, target = rest.split()
            for source in sources:
                copy = shutil.copytree if (TOP / source).is_dir() else shutil.copy
                copy(TOP / source, app / target)
        elif name == "ENV" and "CACHE_DIR" in rest:
            environment["GRAPHPRIV_CACHE_DIR"] = str(tmp_path / "cache")
        elif name == "RUN" and "useradd" not in rest:
            ended = subprocess.run(["sh", "-euc", rest], cwd=app, env=environment, capture_output=True, text=True)
            assert ended.returncode == 0, ended.stderr[-2000:]
    shutil.rmtree(app)
    for command in (
        ["graphpriv", "--help"],
        ["gunicorn", "--config", "python:api.gunicorn_settings", "--check-config"],
    ):
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)


def test_the_compose_file_keeps_to_the_schema_of_compose_files() -> None:
    schema = resources.files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    jsonschema.validate(compose(), json.loads(schema.read_text()))


def test_the_compose_file_builds_that_image_and_offers_its_port() -> None:
    said, services = dict(instructions(DOCKERFILE)), compose()["services"]
    for name in ("web", "worker", "passwords"):
        build = services[name]["build"]
        assert (TOP / "docker" / build["context"]).resolve() == TOP
        assert (TOP / build["dockerfile"]).read_text() == DOCKERFILE
    for name in ("web", "worker"):
        # Accounts and the audit log outlive the container.
        assert f"home:{said['VOLUME']}" in services[name]["volumes"]
    # A port of the host on its loopback only, and the one of the image.
    ((address, _, inside),) = [port.split(":") for port in services["web"]["ports"]]
    assert (address, inside) == ("127.0.0.1", said["EXPOSE"])
    assert [name for name in services if name != "web" and "ports" in services[name]] == []


def test_the_containers_of_the_service_can_change_nothing_but_their_volume() -> None:
    services, volumes = compose()["services"], compose()["volumes"]
    for name in ("web", "worker", "passwords"):
        each = services[name]
        assert (each["read_only"], each["cap_drop"]) == (True, ["ALL"])
        assert not {"privileged", "user", "cap_add", "devices"} & set(each)
    assert all("no-new-privileges:true" in each["security_opt"] for each in services.values())
    mounted = [volume.split(":") for each in services.values() for volume in each["volumes"]]
    assert {name for name, *_ in mounted} == set(volumes)
    # tests/test_docker_databases.py says which secrets they are.
    readers = {name for name, each in services.items() if any(v.endswith(":/secrets:ro") for v in each["volumes"])}
    assert readers == {"web", "worker", "neo4j", "postgres"}
    assert [name for name, *rest in mounted if name.startswith("secrets") and rest[-1] != "ro"] == list(FOLDERS)
    # The databases have no way out.
    assert compose()["networks"] == {"databases": {"internal": True}}
    assert all(services[name]["networks"] == ["databases"] for name in ("neo4j", "postgres"))


def test_the_compose_file_connects_the_service_with_its_databases() -> None:
    services = compose()["services"]
    told = services["web"]["environment"]
    assert set(told) <= variables()
    assert {**told, "GRAPHPRIV_WORKERS": None} == {**services["worker"]["environment"], "GRAPHPRIV_WORKERS": None}
    assert told["GRAPHPRIV_WORKERS"] == 0
    assert server_address(told["GRAPHPRIV_STORE"]).shown == "neo4j+s://neo4j:7687"
    assert server_address(told["GRAPHPRIV_STORE"]).user == "neo4j"
    database = make_url(told["GRAPHPRIV_DATABASE"])
    assert (database.username, database.host, database.database, database.password) == (
        "graphpriv", "postgres", "graphpriv", None
    )  # fmt: skip
    # The service takes both as they are.
    addresses = {"store": told["GRAPHPRIV_STORE"], "database": told["GRAPHPRIV_DATABASE"]}
    refuse_plain_connections(JobSettings(home=Path(), **addresses), told)
    for name in ("neo4j", "postgres"):
        assert services["web"]["depends_on"][name] == {"condition": "service_healthy"}
        assert services[name]["healthcheck"]["test"][0] == "CMD-SHELL"
        assert services[name]["depends_on"] == {"passwords": {"condition": "service_completed_successfully"}}
    assert services["worker"]["depends_on"] == {"web": {"condition": "service_healthy"}}


def test_the_passwords_are_drawn_once_and_everybody_reads_the_same(tmp_path: Path) -> None:
    services = compose()["services"]
    assert services["passwords"]["command"] == ["sh", f"{dict(instructions(DOCKERFILE)[:2])['WORKDIR']}/secrets.sh"]
    drawn: dict[str, str] = {}
    for _ in range(2):
        make_secrets(tmp_path)
        passwords = ("secrets/neo4j", "secrets_neo4j/auth", "secrets_postgres/password")
        drawn = {each: (tmp_path / each).read_text().strip() for each in passwords}
        assert drawn["secrets_neo4j/auth"] == f"neo4j/{drawn['secrets/neo4j']}"
        (tmp_path / "secrets" / "neo4j").write_text("again")
    assert drawn["secrets/neo4j"] == "again"
    assert len(drawn["secrets_postgres/password"]) == 48
    for name, service in services.items():
        volumes = [each.split(":") for each in service["volumes"]]
        folders = {inside: tmp_path / volume for volume, inside, *_ in volumes if inside == "/secrets"}
        # Every file that a container is told of is in the volume that it sees.
        files = re.findall(r"(/secrets)(/[\w.]+)", json.dumps([service["environment"], service.get("command")]))
        assert all((folders[inside] / path[1:]).is_file() for inside, path in files)
        assert name == "passwords" or len(files) >= 1
    environment = {"GRAPHPRIV_NEO4J_PASSWORD_FILE": str(tmp_path / "secrets" / "neo4j")}
    assert set(environment) <= set(services["web"]["environment"])
    read_secret_files(environment)
    assert environment["GRAPHPRIV_NEO4J_PASSWORD"] == "again"


def test_the_compose_file_runs_the_neo4j_that_is_tested_with_its_settings() -> None:
    script = start_script()
    neo4j = compose()["services"]["neo4j"]
    release = ".".join(script.VERSION.split(".")[:2])
    assert neo4j["image"] == f"neo4j:{release}-community"
    names = {
        name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_")
        for name in neo4j["environment"]
        if name != "NEO4J_AUTH_FILE"
    }
    # The settings of the image are those of the server: an unknown one would keep it from starting, as it would the one
    # of tests/test_docker_databases.py.
    assert names == {
        "dbms.security.allow_csv_import_from_file_urls",
        "dbms.ssl.policy.bolt.base_directory",
        "dbms.ssl.policy.bolt.client_auth",
        "dbms.ssl.policy.bolt.enabled",
        "dbms.usage_report.enabled",
        "server.bolt.tls_level",
        "server.http.listen_address",
        "server.memory.heap.max_size",
        "server.memory.pagecache.size",
    }


COPIES = test_the_image_copies_what_there_is_and_what_the_build_needs
PYTHON = test_the_image_has_a_python_that_the_project_takes
STARTS = test_the_image_starts_the_service_that_its_port_and_its_check_are_about
KEEPS = test_the_image_keeps_all_it_has_on_the_volume_of_its_user
SCHEMA = test_the_compose_file_keeps_to_the_schema_of_compose_files
BUILDS = test_the_compose_file_builds_that_image_and_offers_its_port
CLOSED = test_the_containers_of_the_service_can_change_nothing_but_their_volume
CONNECTS = test_the_compose_file_connects_the_service_with_its_databases
RUNS = test_the_compose_file_runs_the_neo4j_that_is_tested_with_its_settings


@pytest.mark.parametrize(
    ("check", "before", "after"),
    [
        (COPIES, "COPY api api", "COPY apis api"),
        (COPIES, "COPY crawler crawler\n", ""),
        (COPIES, " LICENSE", ""),
        (PYTHON, "python:3.11", "python:3.9"),
        (STARTS, '"gunicorn", "--config"', '"gunicorn", "-c"'),
        (STARTS, "8000/healthz", "8000/health"),
        (STARTS, "EXPOSE 8000", "EXPOSE 8080"),
        (KEEPS, "ENV GRAPHPRIV_STORE", "ENV GRAPHPRIV_STORES"),
        (KEEPS, "VOLUME /data", "VOLUME /app"),
        (KEEPS, "USER graphpriv", "USER nobody"),
        (KEEPS, "GRAPHPRIV_HOME=/data", "GRAPHPRIV_HOME=/app"),
        (SCHEMA, "restart: unless-stopped", "restarts: unless-stopped"),
        (SCHEMA, "  tmpfs:", "  tmpf:"),
        (BUILDS, "dockerfile: docker/Dockerfile", "dockerfile: Dockerfile"),
        (BUILDS, "8000:8000", "8000:80"),
        (BUILDS, "127.0.0.1:8000:8000", "8000:8000"),
        (CLOSED, "read_only: true", "read_only: false"),
        (CLOSED, "cap_drop: [ALL]", "cap_drop: []"),
        (CONNECTS, "@neo4j:", "@database:"),
        (CONNECTS, "neo4j+s://", "neo4j://"),
        (CONNECTS, "neo4j+s://", "neo4j+ssc://"),
        (CONNECTS, "sslmode=verify-full", "sslmode=require"),
        (CLOSED, "internal: true", "internal: false"),
        (CLOSED, "networks: [databases]", "networks: [default, databases]"),
        (CLOSED, "secrets_neo4j:/secrets:ro", "secrets_neo4j:/secrets"),
        (CONNECTS, "GRAPHPRIV_STORE:", "GRAPHPRIV_URL:"),
        (CONNECTS, "@postgres/graphpriv", "@postgres/jobs"),
        (CONNECTS, "service_healthy", "service_started"),
        (RUNS, "neo4j:5.26", "neo4j:5.25"),
        (RUNS, "usage__report", "usage_report"),
        (RUNS, "heap_max__size", "heap_max_size"),
    ],
)
def test_a_file_that_was_spoilt_is_found(
    check: Callable[[], None], before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = [name for name in ("DOCKERFILE", "COMPOSE") if before in globals()[name]]
    monkeypatch.setitem(globals(), file, globals()[file].replace(before, after))
    with pytest.raises((AssertionError, KeyError, OSError, ValueError, ReportedError, jsonschema.ValidationError)):
        check()
