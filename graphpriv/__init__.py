"""The social graph: stored, protected, audited and released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabular import loaded_on_demand

#: The protection of whoever names none: it loses less than the thesis's, `closest-profiles`, at the same k. It stands
#: here so that options know it before anything of the engine is loaded.
DEFAULT_PROTECTION = "least-loss"

if TYPE_CHECKING:
    from graphpriv.auditing import Audit, audit
    from graphpriv.graph import SocialGraph
    from graphpriv.protections import protect
    from graphpriv.release import Release
    from graphpriv.remote import Client, connect
    from graphpriv.store import open_store
else:
    __getattr__, __dir__ = loaded_on_demand(
        __name__,
        {
            "Audit": "auditing",
            "Client": "remote",
            "Release": "release",
            "SocialGraph": "graph",
            "audit": "auditing",
            "connect": "remote",
            "open_store": "store",
            "protect": "protections",
        },
    )

__all__ = ["Audit", "Client", "Release", "SocialGraph", "audit", "connect", "open_store", "protect"]
