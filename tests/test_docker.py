"""The files of `docker/`, against what they name: nothing here can build or run an image."""

from __future__ import annotations

import json
import re
import shlex
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from api.app import create_app
from api.cli import command_line
from api.verbs.contract import DEFAULT_HOME
from graphpriv.store.addresses import server_address
from tests.servers import start_script

TOP = Path(__file__).parent.parent
DOCKERFILE = (TOP / "docker" / "Dockerfile").read_text()
COMPOSE = (TOP / "docker" / "compose.yaml").read_text()
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
VARIABLE = re.compile(r"\$\{(\w+)(?::\?[^}]*)?\}")


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, each with what comes after its name."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return [
        (name.upper(), rest.strip())
        for name, _, rest in (line.partition(" ") for line in lines.replace("\\\n", " ").splitlines() if line.strip())
    ]


def yaml(text: str) -> dict[str, Any]:
    """The part of YAML that the compose file is written in; anything else fails."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]

    def scalar(written: str) -> Any:
        return json.loads(written) if written[:1] in '["' else written

    def block(depth: int) -> Any:
        found: Any = None
        while lines and (indent := len(lines[0]) - len(lines[0].lstrip())) >= depth:
            assert indent == depth, f"not understood: {lines[0]!r}"
            line = lines.pop(0).strip()
            if line.startswith("- "):
                found = [] if found is None else found
                found.append(scalar(line[2:]))
                continue
            key, colon, value = line.partition(":")
            assert colon, f"not understood: {line!r}"
            found = {} if found is None else found
            assert key not in found, f"{key} stands twice"
            found[key] = scalar(value.strip()) if value.strip() else block(depth + 2)
        return found

    parsed: dict[str, Any] = block(0)
    assert not lines, f"not understood: {lines[0]!r}"
    return parsed


def serve_options(arguments: list[str]) -> dict[str, Any]:
    """What `graphpriv` takes its *arguments* for."""
    command = command_line().commands[arguments[0]]
    return dict(command.make_context(arguments[0], arguments[1:]).params)


def variables() -> set[str]:
    """The environment variables that `graphpriv serve` reads."""
    return {each.envvar for each in command_line().commands["serve"].params if isinstance(each.envvar, str)}


def test_the_image_copies_what_there_is_and_what_the_build_needs() -> None:
    copied = [source for name, rest in instructions(DOCKERFILE) if name == "COPY" for source in rest.split()[:-1]]
    missing = [source for source in copied if not (TOP / source).exists()]
    assert not missing
    build = tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    needed = {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"], *build["wheel"]["packages"]}
    assert needed <= set(copied)
    pip = next(rest for name, rest in instructions(DOCKERFILE) if name == "RUN" and "pip install" in rest)
    assert shlex.split(pip)[-3:] == ["-c", "requirements.txt", "."]
    assert "requirements.txt" in copied


def test_the_image_has_a_python_that_the_project_takes() -> None:
    ((_, image),) = [each for each in instructions(DOCKERFILE) if each[0] == "FROM"]
    found = re.fullmatch(r"python:(\d+)\.(\d+)-slim-\w+", image)
    assert found
    least = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["requires-python"])
    assert least
    assert tuple(map(int, found.groups())) >= tuple(map(int, least.groups()))


def test_the_image_starts_the_service_that_its_port_and_its_check_are_about() -> None:
    said = dict(instructions(DOCKERFILE))
    (program,) = json.loads(said["ENTRYPOINT"])
    assert program in PROJECT["scripts"]
    options = serve_options(json.loads(said["CMD"]))
    # On the loopback of the container nobody outside would reach it.
    assert options["host"] == "0.0.0.0"
    assert str(options["port"]) == said["EXPOSE"]
    checked = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", said["HEALTHCHECK"])
    assert checked
    assert checked[1] == said["EXPOSE"]
    with tempfile.TemporaryDirectory() as home:
        client = create_app({"HOME": home}).test_client()
    assert client.get(checked[2]).status_code == 200


def test_the_image_keeps_its_store_on_the_volume_of_its_user() -> None:
    said = dict(instructions(DOCKERFILE))
    variable, _, url = said["ENV"].partition("=")
    assert variable in variables()
    # The folder of the service, with its accounts and its audit log, is relative to where the service starts.
    assert said["WORKDIR"] == said["VOLUME"]
    assert not Path(DEFAULT_HOME).is_absolute()
    assert Path(url.removeprefix("file:")).parent == Path(said["VOLUME"])
    (made,) = [rest for name, rest in instructions(DOCKERFILE) if name == "RUN" and "useradd" in rest]
    assert f"mkdir {said['VOLUME']}" in made
    assert f"chown {said['USER']} {said['VOLUME']}" in made
    assert re.search(rf"useradd .* {said['USER']} ", made)


def test_the_compose_file_builds_that_image_and_offers_its_port() -> None:
    service = yaml(COMPOSE)["services"]["graphpriv"]
    context = (TOP / "docker" / service["build"]["context"]).resolve()
    assert context == TOP
    assert (context / service["build"]["dockerfile"]).read_text() == DOCKERFILE
    # Accounts and the audit log outlive the container.
    assert [volume.split(":")[1] for volume in service["volumes"]] == [dict(instructions(DOCKERFILE))["VOLUME"]]
    # A port of the host on its loopback only, and the one of the image.
    ((address, _, inside),) = [port.split(":") for port in service["ports"]]
    assert (address, inside) == ("127.0.0.1", dict(instructions(DOCKERFILE))["EXPOSE"])


def test_the_compose_file_connects_the_service_with_its_neo4j() -> None:
    compose = yaml(COMPOSE)
    service, neo4j = compose["services"]["graphpriv"], compose["services"]["neo4j"]
    assert set(service["environment"]) <= variables()
    store = VARIABLE.sub("only-for-tests", service["environment"]["GRAPHPRIV_STORE"])
    address = server_address(store)
    user, password = VARIABLE.sub("only-for-tests", neo4j["environment"]["NEO4J_AUTH"]).split("/")
    assert (address.user, address.password) == (user, password)
    assert re.fullmatch(r"neo4j://neo4j(:7687)?", address.shown)
    assert len(set(VARIABLE.findall(COMPOSE))) == 1
    assert service["depends_on"] == {"neo4j": {"condition": "service_healthy"}}
    assert neo4j["healthcheck"]["test"][0] == "CMD-SHELL"


def test_the_compose_file_runs_the_neo4j_that_is_tested_with_its_settings() -> None:
    compose, script = yaml(COMPOSE), start_script()
    neo4j = compose["services"]["neo4j"]
    release = ".".join(script.VERSION.split(".")[:2])
    assert neo4j["image"] == f"neo4j:{release}-community"
    assert {each.split(":")[0] for each in neo4j["volumes"]} <= set(compose["volumes"])
    names = {
        name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_")
        for name in neo4j["environment"]
        if name != "NEO4J_AUTH"
    }
    # The settings of the image are those of the server: an unknown one would keep it from starting.
    assert {"dbms.usage_report.enabled", "server.memory.pagecache.size"} <= names
    known = (TOP / "docker" / "neo4j_server.py").read_text()
    assert {name for name in names if f'"{name}"' not in known} == {"server.memory.heap.max_size"}


COPIES = test_the_image_copies_what_there_is_and_what_the_build_needs
PYTHON = test_the_image_has_a_python_that_the_project_takes
STARTS = test_the_image_starts_the_service_that_its_port_and_its_check_are_about
KEEPS = test_the_image_keeps_its_store_on_the_volume_of_its_user
BUILDS = test_the_compose_file_builds_that_image_and_offers_its_port
CONNECTS = test_the_compose_file_connects_the_service_with_its_neo4j
RUNS = test_the_compose_file_runs_the_neo4j_that_is_tested_with_its_settings


@pytest.mark.parametrize(
    ("check", "before", "after"),
    [
        (COPIES, "COPY api api", "COPY apis api"),
        (COPIES, "COPY crawler crawler\n", ""),
        (COPIES, " LICENSE", ""),
        (PYTHON, "python:3.11", "python:3.9"),
        (STARTS, '"graphpriv"]', '"graphprivy"]'),
        (STARTS, '"serve"', '"server"'),
        (STARTS, '"--port", "8000"', '"--port", "80"'),
        (STARTS, '"0.0.0.0"', '"127.0.0.1"'),
        (STARTS, "8000/healthz", "8000/health"),
        (STARTS, "EXPOSE 8000", "EXPOSE 8080"),
        (KEEPS, "ENV GRAPHPRIV_STORE", "ENV GRAPHPRIV_STORES"),
        (KEEPS, "VOLUME /data", "VOLUME /app"),
        (KEEPS, "USER graphpriv", "USER nobody"),
        (BUILDS, "dockerfile: docker/Dockerfile", "dockerfile: Dockerfile"),
        (BUILDS, "8000:8000", "8000:80"),
        (BUILDS, "127.0.0.1:8000:8000", "8000:8000"),
        (CONNECTS, "@neo4j:", "@database:"),
        (CONNECTS, "GRAPHPRIV_STORE:", "GRAPHPRIV_URL:"),
        (CONNECTS, "neo4j:${GRAPHPRIV_NEO4J_PASSWORD}", "neo4j:${PASSWORD}"),
        (CONNECTS, "service_healthy", "service_started"),
        (RUNS, "neo4j:5.26", "neo4j:5.25"),
        (RUNS, "usage__report", "usage_report"),
        (RUNS, "heap_max__size", "heap_max_size"),
        (RUNS, "- neo4j:/data", "- data:/data"),
    ],
)
def test_a_file_that_was_spoilt_is_found(
    check: Callable[[], None], before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = [name for name in ("DOCKERFILE", "COMPOSE") if before in globals()[name]]
    monkeypatch.setitem(globals(), file, globals()[file].replace(before, after))
    with pytest.raises((AssertionError, KeyError, click.ClickException, OSError, ValueError)):
        check()
