from __future__ import annotations

from collections.abc import Iterator

import pytest

from tabular.files import csv_texts


@pytest.fixture(scope="module", params=[0, 1 << 30], ids=["by Arrow", "row by row"])
def both_readers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Read files of any size by Arrow where it can, and then none of them."""
    before, csv_texts.QUICK_FROM = csv_texts.QUICK_FROM, request.param
    yield
    csv_texts.QUICK_FROM = before
