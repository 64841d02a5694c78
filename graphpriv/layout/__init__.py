"""Where the users of a social graph, or its communities, are drawn."""

from graphpriv.layout.layouts import Layout, lay_out, lay_out_communities

__all__ = ["Layout", "lay_out", "lay_out_communities"]
