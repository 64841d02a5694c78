"""What graphpriv can do for somebody: every verb with its options, once for all doors."""

from __future__ import annotations

from api.verbs.contract import Outcome, Verb, Work, verbs

verbs.load(__name__)

__all__ = ["Outcome", "Verb", "Work", "verbs"]
