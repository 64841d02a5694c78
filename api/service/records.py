"""What the service writes down of those who ask: accounts with their tokens, and the audit log."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from api.service.accounts import Accounts
from api.service.audit_log import AuditLog
from api.service.home import Home
from api.service.signing.second_factors import SecondFactors


@dataclass(frozen=True)
class Records:
    """The accounts, their second factors and the audit log of one service folder."""

    home: Home
    accounts: Accounts
    factors: SecondFactors
    log: AuditLog

    @classmethod
    def at(cls, folder: str, *, create: bool = False) -> Self:
        """The records in a *folder*; with *create* empty ones are made where there are none."""
        home = Home(folder, create=create)
        return cls(home, Accounts(home), SecondFactors(home), AuditLog(home))

    def together(self) -> AbstractContextManager[object]:
        """A transaction for a change and the entry that tells of it: both are written, or neither."""
        return self.home.writing()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.home.close()
