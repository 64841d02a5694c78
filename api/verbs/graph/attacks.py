"""What the verbs that attack a release share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from api.verbs.contract import Verb
from tabular.registry import option

if TYPE_CHECKING:
    pass


_BOTH = "both"


_attack = partial(option, group="How the attackers work")


@dataclass(frozen=True, kw_only=True)
class AttackingVerb(Verb):
    """A verb that lets attackers look for users in a release."""

    renamed: ClassVar[Mapping[str, str]] = {
        "budget": "this option is now --steps, with one number for all attackers; write --steps N."
    }

    attacker: str = _attack(
        _BOTH,
        choices=("ego", "subgraph", _BOTH),
        help="Who attacks: ego knows a user's whole neighbourhood, subgraph a part of it.",
    )
    scenario: tuple[str, ...] = _attack(
        (),
        metavar="NAME",
        help="What the attacker knows: location, topic1, topic2, topic3, topics, all, or attributes joined by +; "
        "repeatable; all six if not given.",
    )
    steps: int | None = _attack(
        None,
        low=1,
        metavar="N",
        help="Elementary steps for all attackers together. Where they run out, figures are given as bounds.",
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
