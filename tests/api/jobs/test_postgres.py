"""Jobs on a real Postgres, as several machines share it."""

from __future__ import annotations

import pytest

from tests.contracts.jobs import JobsContract

pytestmark = pytest.mark.postgres


class TestOnPostgres(JobsContract):
    schema = "dbos"

    @pytest.fixture
    def database(self, postgres_url):
        return postgres_url
