"""The social graph: stored, protected, audited and released."""

from graphpriv.auditing import audit
from graphpriv.graph import SocialGraph
from graphpriv.protections import protect
from graphpriv.store import open_store

__all__ = ["SocialGraph", "audit", "open_store", "protect"]
