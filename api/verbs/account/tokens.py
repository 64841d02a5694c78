"""`token new`, `token list` and `token revoke`."""

from __future__ import annotations

from dataclasses import dataclass

from api.verbs.contract import Outcome, Verb, Work, verbs
from tabular.registry import option


@verbs.add("token new")
@dataclass(frozen=True, kw_only=True)
class NewToken(Verb):
    """Make another token for an account and show it once.

    Where the account has a second factor, its tokens open the pages alone; programs need one that was made for them.
    """

    home = "writes"

    name: str = option(help="The account.", positional=True)
    days: int = option(90, low=1, high=3650, help="It expires after so many days.")

    programs: bool = option(False, help="It is for programs: nobody signs in to the pages with it.")

    def run(self, work: Work) -> Outcome:
        with work.service_home() as home, home.together():
            made = home.accounts.new_token(self.name, days=self.days, programs=self.programs)
            home.log.add("add", "token", made.token.id, **work.asker, details={"account": self.name})
        token = made.token
        told = ("id", "account", "created", "expires", "programs")
        return Outcome(document={**{name: getattr(token, name) for name in told}, "token": made.secret})


@verbs.add("token list")
@dataclass(frozen=True, kw_only=True)
class ListTokens(Verb):
    """List tokens by id: owner, expiry and last use, but never the token itself."""

    home = "reads"
    quick = True

    def run(self, work: Work) -> Outcome:
        with work.service_home() as home:
            return Outcome(document={"tokens": [each.document for each in home.accounts.tokens()]})


@verbs.add("token revoke")
@dataclass(frozen=True, kw_only=True)
class RevokeToken(Verb):
    """Revoke a token; it stops working at once."""

    home = "writes"

    id: str = option(help="The token's id, as `graphpriv token list` shows it.", positional=True)

    def run(self, work: Work) -> Outcome:
        with work.service_home() as home, home.together():
            token = home.accounts.revoke(self.id)
            home.log.add("revoke", "token", self.id, **work.asker, details={"account": token.account})
        return Outcome(document={"revoked": self.id})
