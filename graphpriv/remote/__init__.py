"""A service of graphpriv elsewhere, from Python."""

from graphpriv.remote.client import Client, connect
from graphpriv.remote.transport import Refused

__all__ = ["Client", "Refused", "connect"]
