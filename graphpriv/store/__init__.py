"""Where graphs are kept: an embedded file by default, or a Neo4j server."""

from graphpriv.store.addresses import open_store
from graphpriv.store.contract import Store
from graphpriv.store.records import Added, Follow, Forgotten, GraphInfo, Post, Run, User

__all__ = ["Added", "Follow", "Forgotten", "GraphInfo", "Post", "Run", "Store", "User", "open_store"]
