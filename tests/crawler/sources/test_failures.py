"""Failures: one outcome each, in the code and in the docs."""

from __future__ import annotations

import re
from pathlib import Path

from crawler.sources.failures import FAILURES, Failure

DOCS = Path(__file__).parents[3] / "docs" / "collecting.md"


def test_the_docs_have_every_failure_with_its_outcome() -> None:
    table = DOCS.read_text().partition("| failure |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \| [^|]+ \| ([^|]+) \|$", table, re.MULTILINE)
    assert dict(rows) == {kind: each.outcome.value for kind, each in FAILURES.items()}


def test_a_failure_says_what_it_is_and_which_product() -> None:
    failure = Failure("cap-reached", detail="standard-basic")
    assert failure.words == "the usage cap of the account is reached (standard-basic)"
