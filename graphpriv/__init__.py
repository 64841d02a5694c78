"""The social graph: stored, protected, audited and released."""

from graphpriv.graph import SocialGraph

__all__ = ["SocialGraph"]
