"""The page on running the service: its commands can be given, its variables are read, its settings are all there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import fields
from datetime import date
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.app import create_app
from api.http import gate, server
from api.jobs.records import PREFIX
from api.jobs.records import Settings as JobSettings
from api.jobs.worker import NICE
from api.secret_files import SECRETS
from api.service import listeners
from api.service.accounts import ROLES
from api.service.settings import Settings, variable
from api.service.uploads import uploads
from graphpriv.store.certificates import VARIABLES
from tests.test_docker import compose, environment_of_the_image
from tests.test_readme import command_of, words

TOP = Path(__file__).parent.parent
PAGE = (TOP / "docs" / "deploy.md").read_text()


def shown(default):
    """A default as the page shows it."""
    return "" if default == "" else f"`{str(default).lower() if isinstance(default, bool) else default}`"


def section(title):
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_the_table_of_settings_is_the_settings():
    rows = [
        f"| `{variable(each.name)}` | {shown(each.default)} | {each.metadata['help']} |" for each in fields(Settings)
    ]
    assert [line for line in section("Settings").splitlines() if line.startswith("| `")] == rows


def test_every_variable_is_one_that_is_read():
    known = {variable(each.name) for each in fields(Settings)} | {"GRAPHPRIV_CACHE_DIR"}
    known |= {f"{PREFIX}_{each.name.upper()}" for each in fields(JobSettings)}
    known |= {*SECRETS, *(f"{each}_FILE" for each in SECRETS), *VARIABLES.values()}
    known |= set(re.findall(r"\$\{(GRAPHPRIV_[A-Z_]+):-", (TOP / ".ci" / "weaknesses").read_text()))
    named = set(re.findall(r"GRAPHPRIV_[A-Z0-9_]*[A-Z]", PAGE))
    assert len(named) > 20
    assert named <= known
    assert f"GRAPHPRIV_JOBS_FILES={environment_of_the_image()['GRAPHPRIV_JOBS_FILES']}" in PAGE


def test_every_command_can_be_given():
    before = r"^    (?:[A-Z_]+=\S+ )*|exec web |`|ExecStart=/opt/graphpriv/bin/"
    commands = re.findall(rf"(?:{before})graphpriv ([a-z][^`\n]*)", PAGE, re.MULTILINE)
    assert len(commands) >= 15
    for each in commands:
        command, rest = command_of([ROLES[0] if word == "ROLE" else word for word in words(each)])
        command.make_context("graphpriv", rest, resilient_parsing="--help" in rest, help_option_names=["-h", "--help"])


def test_every_script_of_the_repository_can_be_run():
    scripts = re.findall(r"^    GRAPHPRIV_BIN=/opt/graphpriv/bin (\S+)$", PAGE, re.MULTILINE)
    assert scripts == [".ci/weaknesses"]
    assert all(os.access(TOP / each, os.X_OK) for each in scripts)


def test_every_command_of_docker_names_services_and_files_that_are_there():
    services, commands = compose()["services"], re.findall(r"docker compose -f (\S+) (\w+)(.*)", PAGE)
    assert len(commands) >= 8
    for file, command, rest in commands:
        assert (TOP / file).is_file()
        assert command in ("up", "logs", "exec", "stop", "start", "build", "rm")
        named = [word for word in rest.strip(" `.,)").split() if not word.startswith("-")]
        if command in ("logs", "exec", "stop", "start", "rm"):
            assert set(named[: 1 if command == "exec" else None]) <= set(services), rest
        if "--scale" in rest:
            assert re.search(r"--scale (\w+)=\d", rest)[1] in services
    assert {"home", "secrets"} <= set(compose()["volumes"])


def in_order(text, *parts):
    """Whether the text has each of the parts once, one after the other."""
    places = [text.index(each) for each in parts]
    return places == sorted(places) and all(text.count(each) == 1 for each in parts)


def test_web_and_workers_stand_still_while_the_list_of_jobs_is_saved_or_restored():
    backup, upgrade = section("Back up and restore"), section("Upgrade")
    start = "docker/compose.yaml up --detach"
    restored = ("up --detach postgres\n", " pg_isready ", " < jobs.sql\n", f"{start}\n")
    assert in_order(backup, "stop web worker\n", " > jobs.sql\n", "start web worker\n", *restored)
    # A volume goes when its content is saved and nobody uses it.
    volume = f"docker volume rm {compose()['name']}_postgres"
    moves = ("stop web and workers", "write `jobs.sql`", "is whole", "--stop --force postgres\n", volume)
    assert in_order(upgrade, f"{start}\n", *moves) and "postgres" in compose()["volumes"]


def test_no_certificate_ends_for_who_renews_them_as_often_as_the_page_says():
    script = (TOP / "docker" / "secrets.sh").read_text()
    good, least = map(int, re.search(r"^days=(\d+) least=(\d+)$", script, re.MULTILINE).groups())
    text = " ".join(PAGE.split())
    assert good == 365 and "Certificates are good for a year" in text
    assert f"replaces those older than {good - least} days" in text
    assert f"were made more than {good - least} days ago" in " ".join(script.replace("#", "").split())
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    months = words.index(re.search(r"run this at least every (\w+) months", text)[1])
    # One that is kept is good for `least` days, so the next time must come before they are over, whenever it is kept.
    firsts = [date(2027 + month // 12, month % 12 + 1, 1) for month in range(48)]
    assert max((end - begin).days for begin, end in zip(firsts, firsts[months:], strict=False)) < least


def test_every_file_that_the_page_links_to_is_there():
    for link in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (TOP / "docs" / link).resolve().is_file(), link


def test_the_figures_to_watch_are_told(tmp_path):
    app = create_app({"HOME": str(tmp_path / "home"), "STORE": f"file:{tmp_path / 'store.db'}"})
    told = {each.name for each in text_string_to_metric_families(app.test_client().get("/metrics").text)}
    # A counter is one without its last word.
    named = {each.removesuffix("_total") for each in re.findall(r"^\| `(graphpriv_\w+)`", PAGE, re.MULTILINE)}
    assert len(named) == 6
    assert named <= told | {"graphpriv_answers", "graphpriv_answer_seconds"}


def test_the_numbers_of_the_page_are_those_of_the_service():
    for text in (
        f"at most {gate.LARGEST_BODY // 1024**2} MiB",
        f"{uploads.RESERVE // 1024**2} MiB of the disk",
        f"answers {gate.AT_ONCE} requests at once, {listeners.MOST} of them streams",
        f"silent for {server.SILENCE} s is closed",
        f"for up to {server.PATIENCE:g} s",
        f"at nice {NICE}",
        f"silent for {JobSettings.__dataclass_fields__['silence'].default:g} s loses its jobs",
    ):
        assert text in " ".join(PAGE.split()), text


def test_the_examples_of_proxies_say_what_the_service_needs():
    caddy, nginx = ((TOP / "docker" / name).read_text() for name in ("Caddyfile", "nginx.conf"))
    for text in (caddy, nginx):
        assert text.count("{") == text.count("}")
        assert "127.0.0.1:8000" in text
        assert "/metrics" in text
        # A program is not led on that has sent its token without TLS.
        assert text.index("/v1/") < text.index("403") < text.index("https://")
        # What they tell of the service's settings.
        assert "GRAPHPRIV_PROXIES=127.0.0.1 GRAPHPRIV_HOSTS=graphs.example.org" in text
    assert "flush_interval -1" in caddy
    for line in ("proxy_set_header Host $host;", "proxy_set_header X-Forwarded-For $remote_addr;",
                 "proxy_set_header X-Forwarded-Proto $scheme;", "proxy_buffering off;", "access_log off;"):  # fmt: skip
        assert line in nginx
    largest = re.search(r"client_max_body_size (\d+)m;", nginx)
    assert int(largest[1]) * 1024**2 > gate.LARGEST_BODY
    for place in re.findall(r"^\s*[^#\s{}][^{}#]*$", nginx, re.MULTILINE):
        assert place.strip().endswith(";"), place


@pytest.mark.skipif(shutil.which("caddy") is None, reason="there is no caddy")
def test_caddy_takes_its_example():
    subprocess.run(
        ["caddy", "adapt", "--config", TOP / "docker" / "Caddyfile", "--adapter", "caddyfile"],
        check=True,
        capture_output=True,
    )


@pytest.mark.skipif(None in map(shutil.which, ("nginx", "openssl")), reason="there is no nginx, or no openssl")
def test_nginx_takes_its_example(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    made += ["-subj", "/CN=x", "-keyout", key, "-out", certificate]
    subprocess.run(made, check=True, capture_output=True)
    text = (TOP / "docker" / "nginx.conf").read_text()
    text = re.sub(r"(ssl_certificate) \S+;", rf"\1 {certificate};", text)
    text = re.sub(r"(ssl_certificate_key) \S+;", rf"\1 {key};", text)
    whole = f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ {text} }}"
    (tmp_path / "nginx.conf").write_text(whole)
    ended = subprocess.run(["nginx", "-t", "-c", tmp_path / "nginx.conf"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
