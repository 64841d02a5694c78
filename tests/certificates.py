"""The certificates of docker/compose.yaml, made as its containers make them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphpriv.store.certificates import Certificates

SCRIPT = Path(__file__).resolve().parents[1] / "docker" / "secrets.sh"

#: What the script expects: the volumes, as the image has their folders.
FOLDERS = ("secrets", "secrets_neo4j", "secrets_postgres", "secrets_authority")


def make_secrets(top: Path, **changed: int) -> Path:
    """Run the script for the folders below *top*; numbers of it can be *changed*."""
    if shutil.which("openssl") is None:
        if os.environ.get("CI"):
            pytest.fail("There is no openssl to make certificates with.")
        pytest.skip("no openssl to make certificates with")
    for each in FOLDERS:
        (top / each).mkdir(exist_ok=True, parents=True)
    text = SCRIPT.read_text()
    for name, number in changed.items():
        before, equals, after = text.partition(f"{name}=")
        assert equals
        text = f"{before}{name}={number}{after.lstrip('0123456789')}"
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    ended = subprocess.run(["sh", "-s", top], input=text, env={"PATH": path}, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return top


def certificates_of_the_service(top: Path) -> Certificates:
    """The files that the service has."""
    folder = top / "secrets"
    return Certificates(str(folder / "ca.crt"), str(folder / "graphpriv.crt"), str(folder / "graphpriv.key"))


def lead(monkeypatch: pytest.MonkeyPatch, name: str, port: int) -> None:
    """Have Python find a host of that name at a port of this machine, whatever port it asks for."""
    real = socket.getaddrinfo

    def found(host: Any, asked: Any, *more: Any, **others: Any) -> Any:
        return real("127.0.0.1", port, *more, **others) if host == name else real(host, asked, *more, **others)

    monkeypatch.setattr(socket, "getaddrinfo", found)
