"""Protections of a graph: k users or more share each profile, and the release is checked before it is given out."""

from graphpriv.protections.contract import Protection, check_k, protect, protections

protections.load(__name__)

__all__ = ["Protection", "check_k", "protect", "protections"]
