"""Who may do what with things of which kind: one table, from which every route and every verb takes its answer."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from api.service.accounts import ROLES
from tabular.errors import ReportedError, UnknownName

Kind = Literal["original", "release", "service"]


class Answer(Enum):
    """The answer to somebody who wants to do something with a thing."""

    YES = "yes"
    #: It is there, and not for this role.
    NO = "no"
    #: As if it were not there.
    HIDDEN = "hidden"


YES, NO, HIDDEN = Answer.YES, Answer.NO, Answer.HIDDEN

#: By action and kind of thing: what a custodian, an auditor and an analyst are told.
TABLE: dict[tuple[str, Kind], tuple[Answer, Answer, Answer]] = {
    # To see that it exists, how large it is, and figures over all of it.
    ("describe", "original"): (YES, YES, HIDDEN),
    ("describe", "release"): (YES, YES, YES),
    # To see profiles: files, users, neighbours, counts of the few.
    ("read", "original"): (YES, NO, HIDDEN),
    ("read", "release"): (YES, YES, YES),
    # Profiles as a table; the one thing that an analyst makes.
    ("export", "original"): (YES, NO, HIDDEN),
    ("export", "release"): (YES, YES, YES),
    # Losses and risks of releases, which take the original.
    ("measure", "original"): (YES, YES, HIDDEN),
    ("measure", "release"): (YES, YES, NO),
    # What leads from a release back to persons.
    ("map", "original"): (YES, YES, HIDDEN),
    ("map", "release"): (YES, YES, NO),
    ("protect", "original"): (YES, NO, HIDDEN),
    ("protect", "release"): (YES, NO, NO),
    ("store", "original"): (YES, NO, NO),
    ("store", "release"): (YES, NO, NO),
    ("delete", "original"): (YES, NO, HIDDEN),
    ("delete", "release"): (YES, NO, NO),
    ("forget", "original"): (YES, NO, HIDDEN),
    ("forget", "release"): (YES, NO, NO),
    # One's own jobs; access to somebody else's is a custodian's.
    ("work", "service"): (YES, YES, YES),
    # What the service can do, and what it says of itself to everybody.
    ("look up", "service"): (YES, YES, YES),
    # Accounts, tokens, the audit log, the store as a whole, and every verb that names no other action.
    ("administer", "service"): (YES, NO, NO),
}

ACTIONS = tuple(dict.fromkeys(action for action, _ in TABLE))


class Forbidden(ReportedError):
    """The role of whoever asks does not allow it."""


class UnknownThing(UnknownName):
    """There is no such thing, or it is not for whoever asks to know."""

    @classmethod
    def called(cls, what: str, name: str) -> UnknownThing:
        """Say that no *what* is called *name*; the same words whether it is hidden or not there."""
        return cls(f"No {what} is called {name!r}.")


def answer(role: str, action: str, kind: Kind) -> Answer:
    """What a *role* is told that asks to do *action* with a thing of a *kind*."""
    told = TABLE.get((action, kind)) or TABLE[action, "service"]
    return told[ROLES.index(role)]


def may(role: str, action: str, kind: Kind) -> bool:
    """Whether a *role* may do *action* with things of a *kind*."""
    return answer(role, action, kind) is YES


def may_see(role: str, kind: Kind) -> bool:
    """Whether a *role* may know of things of a *kind*."""
    return may(role, "describe", kind)


def refuse_role(role: str, action: str, *, is_about_nothing: bool = False) -> None:
    """Refuse a *role* that is told no whatever the thing is, before anything is looked up.

    Where things are hidden from it, what it asks about has to be looked up first, so that all that is hidden answers
    alike; unless the request *is about nothing*.
    """
    told = [answer(role, action, kind) for each, kind in TABLE if each == action]
    if all(each is NO for each in told) or (is_about_nothing and YES not in told):
        raise forbidden(role)


def refuse_thing(role: str, action: str, kind: Kind, what: str, name: str) -> None:
    """Refuse to do *action* with a thing that exists and is *what* it is, called *name*."""
    told = answer(role, action, kind)
    if told is HIDDEN:
        raise UnknownThing.called(what, name)
    if told is NO:
        raise forbidden(role)


def forbidden(role: str) -> Forbidden:
    """The error for a *role* that must not do what it asks for."""
    return Forbidden(f"The role {role} does not allow this.")
