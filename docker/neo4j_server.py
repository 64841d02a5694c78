#!/usr/bin/env python3
"""Run a Neo4j server from its published jars, where there is no Docker: needs a JDK 17 and Maven, nothing else.

    docker/neo4j_server.py fetch
    GRAPHPRIV_NEO4J_PASSWORD=… docker/neo4j_server.py run --home DIR [--port 7687] [--heap 1g]

The jars are fetched once, into `$GRAPHPRIV_NEO4J_CACHE` or a directory of the user's cache. The password is set when
the home directory is new.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

VERSION = "5.26.28"
HERE = Path(__file__).resolve().parent

#: What opens a conversation in Bolt, and the versions proposed: 5.8 down to 5.0, 4.4 down to 4.2.
_HANDSHAKE = bytes.fromhex("6060b017" + "00080805" + "00020404" + "00000000" + "00000000")


class ServerFailure(Exception):
    """The server cannot be had; the text says why."""


def missing_tools() -> list[str]:
    """Which of the programs needed are not on this machine."""
    return [tool for tool in ("java", "mvn") if shutil.which(tool) is None]


def cache_directory() -> Path:
    """Where the jars are kept between runs."""
    named = os.environ.get("GRAPHPRIV_NEO4J_CACHE")
    if named:
        return Path(named)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "graphpriv" / f"neo4j-{VERSION}"


def fetch_jars() -> Path:
    """The directory of the jars, fetched by Maven if they are not there yet; several processes may ask at once."""
    wanted = cache_directory() / "lib"
    if wanted.is_dir():
        return wanted
    absent = missing_tools()
    if absent:
        raise ServerFailure(f"{' and '.join(absent)} must be installed to run Neo4j without Docker.")
    wanted.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix="lib-", dir=wanted.parent))
    try:
        _finish(
            [
                *("mvn", "--quiet", "--batch-mode", f"--file={HERE / 'neo4j-server.xml'}"),
                *("dependency:copy-dependencies", "-DincludeScope=runtime"),
                *(f"-Dneo4j.version={VERSION}", f"-DoutputDirectory={partial}"),
            ],
            f"Maven could not fetch the jars of Neo4j {VERSION}",
        )
        try:
            # The last step, and a whole one: who finds the directory finds all of it.
            partial.rename(wanted)
        except OSError:
            if not wanted.is_dir():
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return wanted


def _finish(command: list[str], failure: str, *, secret: str | None = None, **environment: str) -> None:
    """Run a program to its end, and say what it said if it fails."""
    done = subprocess.run(  # noqa: S603 (our own command)
        command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode:
        said = f"{done.stdout}\n{done.stderr}".strip()
        raise ServerFailure(f"{failure}: {said.replace(secret, '…') if secret else said}"[:3000])


def free_port() -> int:
    """A port on the loopback interface that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _quoted(word: str) -> str:
    """A *word* as a file of arguments for Java has it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class Server:
    """A Neo4j server in a home directory of its own."""

    def __init__(
        self,
        home: Path,
        port: int,
        password: str,
        *,
        heap: str = "1g",
        page_cache: str = "256m",
        java_options: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        encryption: ssl.SSLContext | None = None,
    ) -> None:
        """With *settings* that have it encrypt, *encryption* is how to look whether it answers."""
        self.home = home.resolve()
        self.port = port
        self._options = ("-XX:+UseSerialGC", "-Xms256m", f"-Xmx{heap}", *java_options)
        self._jars = fetch_jars()
        self._process: subprocess.Popen[bytes] | None = None
        self._encryption = encryption
        self._configure({"server.memory.pagecache.size": page_cache, **(settings or {})})
        if not (self.home / "data").exists():
            self._set_password(password)

    def _configure(self, more: Mapping[str, str]) -> None:
        settings = {
            "server.bolt.enabled": "true",
            "server.bolt.listen_address": f"127.0.0.1:{self.port}",
            "server.bolt.advertised_address": f"127.0.0.1:{self.port}",
            # The builder of the start class has it off.
            "dbms.security.auth_enabled": "true",
            "dbms.usage_report.enabled": "false",
            **more,
        }
        configuration = self.home / "conf" / "neo4j.conf"
        configuration.parent.mkdir(parents=True, exist_ok=True)
        configuration.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))

    def _set_password(self, password: str) -> None:
        # By a file: everybody on the machine can read a command line.
        words = [*self._java()[1:], "org.neo4j.cli.AdminTool", "dbms", "set-initial-password", password]
        with tempfile.NamedTemporaryFile("w", dir=self.home, prefix=".arguments-", encoding="utf-8") as arguments:
            arguments.writelines(f"{_quoted(word)}\n" for word in words)
            arguments.flush()
            _finish(
                ["java", f"@{arguments.name}"],
                "The first password could not be set",
                secret=password,
                NEO4J_HOME=str(self.home),
                NEO4J_CONF=str(self.home / "conf"),
            )

    def _java(self) -> list[str]:
        return ["java", *self._options, "-cp", f"{self._jars}/*"]

    def command(self, *, until_input_ends: bool) -> list[str]:
        """What starts the server in the foreground."""
        return [*self._java(), str(HERE / "Neo4jServer.java"), str(self.home), *(["-"] if until_input_ends else [])]

    def start(self, *, patience: float = 120.0) -> None:
        """Start the server, and come back when it answers; it ends with this process at the latest."""
        with (self.home / "server.log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 (our own command)
                self.command(until_input_ends=True),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                # An interrupt at the terminal is for the one who started it, who then stops it in order.
                start_new_session=True,
            )
        until = time.monotonic() + patience
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                said = (self.home / "server.log").read_text(errors="replace").strip()
                raise ServerFailure(f"Neo4j did not start: {said[-2000:]}")
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as plain:
                context = self._encryption
                with plain if context is None else context.wrap_socket(plain, server_hostname="neo4j") as connection:
                    connection.sendall(_HANDSHAKE)
                    return connection.recv(4) not in (b"", bytes(4))
        except OSError:
            return False

    @property
    def pid(self) -> int:
        """The process of the server."""
        if self._process is None:
            raise ServerFailure("The server is not running.")
        return self._process.pid

    def stop(self, *, patience: float = 30.0) -> None:
        """Stop the server in order, or by force where it does not."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
        self._let_go()

    def kill(self) -> None:
        """End the server at once, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._let_go()

    def _let_go(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None


def run(server: Server) -> int:
    """Run the server in the foreground until it is interrupted."""
    command = server.command(until_input_ends=False)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 (our own command)
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: process.terminate())
    print(f"Neo4j {VERSION} comes up at neo4j://neo4j@127.0.0.1:{server.port}", file=sys.stderr)
    return process.wait()


def main() -> int:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("fetch", help="fetch the jars and say where they are")
    running = verbs.add_parser("run", help="run a server in the foreground")
    running.add_argument("--home", type=Path, required=True, help="directory of the database; made if it is not there")
    running.add_argument("--port", type=int, default=7687, help="port on 127.0.0.1")
    running.add_argument(
        "--password-file",
        type=Path,
        help="file with the first password, of 8 characters at least (or GRAPHPRIV_NEO4J_PASSWORD)",
    )
    running.add_argument("--heap", default="1g", help="memory of the Java process")
    given = parser.parse_args()
    try:
        if given.verb == "fetch":
            print(fetch_jars())
            return 0
        password = os.environ.get("GRAPHPRIV_NEO4J_PASSWORD", "")
        if given.password_file is not None:
            try:
                password = given.password_file.read_text(encoding="utf-8").strip()
            except (OSError, ValueError):
                parser.error(f"--password-file {given.password_file}: this file cannot be read")
        if not password:
            parser.error("give --password-file or set GRAPHPRIV_NEO4J_PASSWORD")
        return run(Server(given.home, given.port, password, heap=given.heap))
    except ServerFailure as failure:
        print(f"neo4j_server: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
