"""A disk that is full keeps nobody from being forgotten, and nothing from being deleted, over HTTP either."""

from __future__ import annotations

import pytest

from tests.disks import disk, fill

__all__ = ["disk"]


@pytest.fixture
def config(disk):
    return {"STORE": f"file:{disk / 'store.db'}", "HOME": str(disk / "home"), "RATE_LIMIT": 100_000}


def test_a_full_disk_keeps_nobody_from_being_forgotten(disk, custodian, auditor, graphs, service):
    service._tidy()
    fill(disk)
    assert auditor.delete("/v1/graphs/people/users/ann").status_code == 403
    # Nothing else can be written, and somebody without the right to it frees nothing.
    assert custodian.post("/v1/accounts", {"name": "new", "role": "analyst"}).status_code == 507
    assert custodian.delete("/v1/graphs/people/users/ann").status_code == 200
    assert custodian.delete("/v1/graphs/people").status_code == 200
    assert custodian.get("/v1/graphs").json["graphs"][0]["name"] == "people-v1"
    assert [entry.action for entry in service.log.entries()][:2] == ["graph delete", "graph forget"]
    (disk / "filled").unlink()
    # The room for the next time is there again.
    service._tidy()
    fill(disk)
    assert custodian.delete("/v1/graphs/people-v1").status_code == 200


def test_where_there_is_room_it_stays_in_reserve(custodian, graphs, service):
    service._tidy()
    before = (service.folder / "reserve").stat()
    assert custodian.delete("/v1/graphs/people").status_code == 200
    assert (service.folder / "reserve").stat() == before
    assert before.st_size >= 1 << 20 and before.st_mode & 0o077 == 0
