"""`account add`, `account list`, `account remove` and `account reset-factor`."""

from __future__ import annotations

from dataclasses import dataclass

from api.verbs.contract import Outcome, Verb, Work, of_engine, verbs
from tabular.errors import InvalidInput
from tabular.registry import option

roles = of_engine("api.service.accounts", "ROLES")


@verbs.add("account add")
@dataclass(frozen=True, kw_only=True)
class AddAccount(Verb):
    """Add an account to the service and show its first token once.

    A custodian may do everything. An auditor sees figures, risks, mappings and reports, but no profiles of an original.
    An analyst sees only releases, and cannot tell whether an original exists.
    """

    home = "writes"

    name: str = option(help="The name of the account.", positional=True)
    role: str = option(metavar="ROLE", choices=roles, help="What the account may do.")

    def check(self) -> None:
        from api.service.accounts import check_account_name

        check_account_name(self.name)

    def run(self, work: Work) -> Outcome:
        with work.service_home(create=True) as home, home.together():
            account, token = home.accounts.add(self.name, self.role)
            home.log.add("add", "account", self.name, **work.asker, details={"role": self.role, "log_id": account.id})
        document = {"account": account.name, "role": account.role, "token": token.secret}
        return Outcome(document={**document, "id": token.token.id, "expires": token.token.expires})


@verbs.add("account list")
@dataclass(frozen=True, kw_only=True)
class ListAccounts(Verb):
    """List the accounts of the service with their roles."""

    home = "reads"
    quick = True

    def run(self, work: Work) -> Outcome:
        with work.service_home() as home:
            return Outcome(document={"accounts": [each.document for each in home.accounts.all()]})


@verbs.add("account remove")
@dataclass(frozen=True, kw_only=True)
class RemoveAccount(Verb):
    """Remove an account from the service; its tokens stop working at once."""

    home = "writes"

    name: str = option(help="The account.", positional=True)

    def run(self, work: Work) -> Outcome:
        with work.service_home() as home, home.together():
            account = home.accounts.remove(self.name)
            home.log.add("remove", "account", self.name, **work.asker, details={"role": account.role})
        return Outcome(document={"removed": self.name})


@verbs.add("account reset-factor")
@dataclass(frozen=True, kw_only=True)
class ResetFactor(Verb):
    """Turn off the second factor of an account that has lost it.

    All its sessions end. Its token alone signs in until it sets up another factor, so make sure who asks.
    """

    home = "writes"

    name: str = option(help="The account.", positional=True)

    def run(self, work: Work) -> Outcome:
        from api.service.signing.sessions import Sessions

        with work.service_home() as home, home.together():
            account = home.accounts.named(self.name)
            if not home.factors.remove(account):
                raise InvalidInput(f"{self.name!r} has no second factor.")
            Sessions(home.home).end_others(account)
            home.log.add("reset", "second factor", self.name, **work.asker, details={})
        return Outcome(document={"reset": self.name})
