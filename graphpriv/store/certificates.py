"""Certificates for the connection to a server: whom it trusts, and what it shows of itself."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from tabular.errors import InvalidInput
from tabular.files.disk import reason

#: The variables of the environment that name the files.
VARIABLES = {
    "ca": "GRAPHPRIV_NEO4J_CA",
    "certificate": "GRAPHPRIV_NEO4J_CERTIFICATE",
    "key": "GRAPHPRIV_NEO4J_KEY",
}


@dataclass(frozen=True)
class Certificates:
    """Paths of files in PEM; without any, the server's certificate is checked against the system's CAs."""

    #: The CAs to trust instead of the system's.
    ca: str | None = None
    #: The certificate to show, and its key.
    certificate: str | None = None
    key: str | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Certificates:
        """The files that the *environment* names.

        >>> Certificates.of({"GRAPHPRIV_NEO4J_CA": "ca.crt"})
        Certificates(ca='ca.crt', certificate=None, key=None)
        """
        return cls(**{name: environment.get(variable) or None for name, variable in VARIABLES.items()})

    def refuse_for(self, scheme: str) -> None:
        """Refuse files where a connection by *scheme* would not use them, and one of a pair alone."""
        given = [VARIABLES[each.name] for each in fields(self) if getattr(self, each.name)]
        if given and not scheme.endswith("+s"):
            raise InvalidInput(
                f"{given[0]} is set, but {scheme}:// checks no certificate: write neo4j+s:// or bolt+s://, or unset it."
            )
        for has, lacks in (("certificate", "key"), ("key", "certificate")):
            if getattr(self, has) and not getattr(self, lacks):
                raise InvalidInput(f"{VARIABLES[has]} is set without {VARIABLES[lacks]}; set both or neither.")

    def check(self) -> None:
        """Refuse files that cannot be used. The driver would find out late, and say less."""
        for name in ("ca", "certificate"):
            path = self._readable(name)
            if path is not None:
                try:
                    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
                except ssl.SSLError:
                    raise InvalidInput(f"{VARIABLES[name]}: {path}: This holds no certificate in PEM.") from None
        path = self._readable("key")
        if path is not None and self.certificate is not None:
            try:
                # With no password at all, a key that needs one would ask for it on the terminal.
                ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(self.certificate, path, password="")
            except ssl.SSLError as error:
                what = (
                    f"the key of the certificate in {VARIABLES['certificate']}"
                    if error.reason == "KEY_VALUES_MISMATCH"
                    else "a private key in PEM without a password"
                )
                raise InvalidInput(f"{VARIABLES['key']}: {path}: This is not {what}.") from None

    def _readable(self, name: str) -> str | None:
        path: str | None = getattr(self, name)
        if path is not None:
            try:
                Path(path).open("rb").close()
            except (OSError, ValueError) as error:
                why = reason(error) if isinstance(error, OSError) else "No file has this name."
                raise InvalidInput(f"{VARIABLES[name]}: {path}: {why}") from None
        return path
