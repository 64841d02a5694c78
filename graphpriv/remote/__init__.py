"""A service of graphpriv elsewhere, from Python."""

from graphpriv.remote.client import Client, Refused, connect

__all__ = ["Client", "Refused", "connect"]
