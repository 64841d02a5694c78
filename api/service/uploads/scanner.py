"""A scanner for malware that the operator names: the daemon of ClamAV sees each file before anything reads it.

The protocol is INSTREAM of clamd: pieces with their lengths, then a length of 0; one answer.
"""

from __future__ import annotations

import re
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from tabular.errors import InvalidInput, InvalidParameter, ReportedError, named

#: How large a piece is that is sent at once, in bytes.
_PIECE = 1 << 18

#: How long the scanner may take to be there, to take a piece, and to answer once it has all of them; in seconds.
_CONNECTS, _TAKES, _ANSWERS = 5.0, 30.0, 120.0

#: The longest answer.
_LONGEST = 1000

_ADDRESS = re.compile(r"unix:(?P<path>/.+)|tcp:(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")

#: What an answer says of a file in which something was found.
_FOUND = re.compile(r"stream: (.+) FOUND")


class TooLarge(InvalidInput):
    """More than there may be."""


class Infected(ReportedError):
    """The scanner found something in a file."""


class ScannerUnavailable(ReportedError):
    """The scanner gave no answer, so nothing reads the file."""


@dataclass(frozen=True)
class Scanner:
    """The daemon at an address."""

    #: The path of a socket, or a host and a port.
    address: str | tuple[str, int]

    @classmethod
    def at(cls, text: str) -> Scanner | None:
        """The scanner at the address in a setting; None where none is named."""
        if not text:
            return None
        found = _ADDRESS.fullmatch(text)
        port = int(found["port"] or 1) if found else 0
        if found is None or not 0 < port < 2**16:
            raise InvalidParameter.wrong("scanner", must="be unix:PATH or tcp:HOST:PORT", was=text)
        return cls(found["path"] or (found["host"].strip("[]"), port))

    def refuse_plain(self) -> None:
        """Refuse a daemon on another machine, since what is sent there can be read on its way."""
        from graphpriv.store.addresses import is_this_machine

        if isinstance(self.address, tuple) and not is_this_machine(self.address[0]):
            raise InvalidParameter(
                f"{named('scanner')} leads to another machine, and clamd knows no TLS: have a clamd on this one "
                "(unix:PATH or tcp:127.0.0.1:PORT), or, if the network itself encrypts, give "
                f"{named('plain_connections')}."
            )

    def check(self, file: IO[bytes]) -> None:
        """Refuse a file in which the scanner finds something, or of which it says nothing."""
        try:
            with self._connected() as connection:
                answer = _asked(connection, file)
        except OSError:
            answer = ""
        if answer == "stream: OK":
            return
        found = _FOUND.fullmatch(answer)
        if found is not None:
            name = re.sub(r"[^\w.:/-]", "?", found[1])[:100]
            raise Infected(f"The scanner found {name} in this file, so it was erased.")
        if answer.startswith("INSTREAM size limit exceeded"):
            raise TooLarge("The scanner of this service takes no file of this size, so nothing reads it.")
        raise ScannerUnavailable("The scanner for malware does not answer, so nothing reads this file yet; try again.")

    def _connected(self) -> socket.socket:
        if isinstance(self.address, tuple):
            return socket.create_connection(self.address, timeout=_CONNECTS)
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(_CONNECTS)
        try:
            connection.connect(self.address)
        except OSError:
            connection.close()
            raise
        return connection


def _asked(connection: socket.socket, file: IO[bytes]) -> str:
    """What the scanner says of a file; empty where it does not finish what it says."""
    connection.settimeout(_TAKES)
    # It hangs up on a file that is too large for it, and says so before.
    with suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(b"zINSTREAM\0")
        while piece := file.read(_PIECE):
            connection.sendall(len(piece).to_bytes(4) + piece)
        connection.sendall(bytes(4))
    answer, until = b"", time.monotonic() + _ANSWERS
    while b"\0" not in answer and len(answer) <= _LONGEST:
        connection.settimeout(max(0.001, until - time.monotonic()))
        more = connection.recv(_LONGEST)
        if not more:
            return ""
        answer += more
    return answer.partition(b"\0")[0].decode("ascii", "replace")
