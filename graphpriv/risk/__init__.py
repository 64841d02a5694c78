"""Disclosure risk: which users can be found again in a masked graph by what surrounds them (eq 6.9 and 6.10)."""

from graphpriv.risk.comparison import Comparison, user_labels
from graphpriv.risk.contract import SCENARIOS, Attacker, attackers
from graphpriv.risk.disclosure import Disclosure

attackers.load(__name__)

__all__ = ["SCENARIOS", "Attacker", "Comparison", "Disclosure", "attackers", "user_labels"]
