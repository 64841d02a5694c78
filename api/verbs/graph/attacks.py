"""The options of attacks, which audits and sweeps share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from api.verbs.contract import Verb
from tabular.registry import option

_BOTH = "both"
_ATTACK = "How the attackers work"


@dataclass(frozen=True, kw_only=True)
class AttackingVerb(Verb):
    """A verb that lets attackers look for users in a release."""

    renamed: ClassVar[Mapping[str, str]] = {
        "budget": "this option is --steps now, and takes one number for all attackers; write --steps N."
    }

    attacker: str = option(
        _BOTH,
        group=_ATTACK,
        choices=("ego", "subgraph", _BOTH),
        help="Who attacks: ego knows a user's whole neighbourhood, subgraph a part of it.",
    )
    scenario: tuple[str, ...] = option(
        (),
        metavar="NAME",
        group=_ATTACK,
        help="What the attacker knows: location, topic1, topic2, topic3, topics, all, or attributes joined by +; "
        "repeatable; all six if not given.",
    )
    steps: int | None = option(
        None,
        low=1,
        metavar="N",
        group=_ATTACK,
        help="Steps an attacker may take for one match before it is left undecided.",
    )

    def check(self) -> None:
        self.scenarios()

    def attackers(self) -> tuple[str, ...]:
        """The attackers that were chosen."""
        return ("ego", "subgraph") if self.attacker == _BOTH else (self.attacker,)

    def scenarios(self) -> Mapping[str, tuple[str, ...]]:
        """The attributes of each scenario that was chosen."""
        from graphpriv.auditing import scenarios_named
        from graphpriv.risk import SCENARIOS

        return scenarios_named(self.scenario) if self.scenario else SCENARIOS
