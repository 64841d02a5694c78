"""Words for the verbs on accounts and tokens of the service."""

from __future__ import annotations

from typing import Any

from api.cli.words import Said, note, tells
from api.verbs.contract import Outcome

_ONCE = "This is shown once; only its hash is kept."


@tells("account add")
def added(verb: Any, outcome: Outcome, said: Said) -> None:
    """The new account and its first token."""
    document = outcome.document
    until = document["expires"][:10]
    note(f"{document['account']} is now {document['role']}. This is its first token, valid until {until}:")
    said.line(document["token"])
    note(_ONCE)


@tells("account list")
def accounts(verb: Any, outcome: Outcome, said: Said) -> None:
    """Every account with its role."""
    rows = [
        (each["account"], each["role"], each["created"], "yes" if each["second_factor"] else "no")
        for each in outcome.document["accounts"]
    ]
    said.table("Accounts", ["account", "role", "created", "second factor"], rows)


@tells("account remove")
def removed(verb: Any, outcome: Outcome, said: Said) -> None:
    """That it is gone."""
    said.line(f"Removed {outcome.document['removed']}; its tokens no longer work.")


@tells("account reset-factor")
def reset(verb: Any, outcome: Outcome, said: Said) -> None:
    """That it is off."""
    said.line(f"The second factor of {outcome.document['reset']} is off; its token alone signs in.")


@tells("token new")
def token(verb: Any, outcome: Outcome, said: Said) -> None:
    """The new token."""
    document = outcome.document
    note(f"Token {document['id']} of {document['account']}, which expires on {document['expires'][:10]}:")
    said.line(document["token"])
    note(_ONCE)


@tells("token list")
def tokens(verb: Any, outcome: Outcome, said: Said) -> None:
    """Every token, without the token itself."""
    columns = ("id", "account", "created", "expires", "last_used")
    rows = [
        [*(each[column] for column in columns), "programs" if each["programs"] else "all"]
        for each in outcome.document["tokens"]
    ]
    said.table("Tokens", [*(column.replace("_", " ") for column in columns), "for"], rows)


@tells("token revoke")
def revoked(verb: Any, outcome: Outcome, said: Said) -> None:
    """That it is gone."""
    said.line(f"Revoked {outcome.document['revoked']}; it no longer works.")
