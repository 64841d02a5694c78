"""The figures for Prometheus, read by its own reader."""

from __future__ import annotations

import json

from prometheus_client.parser import text_string_to_metric_families

from api.app import create_app
from graphpriv.store import open_store
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller
from tests.api.http.fakes import FakeJobs

ELSEWHERE = {"environ_overrides": {"REMOTE_ADDR": "10.0.0.7"}}


def families(text):
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_prometheus_reads_them(config):
    open_store(config["STORE"], create=True).close()
    app = create_app(config, queue=FakeJobs())
    caller = Caller(app.test_client(), app.extensions["graphpriv"].accounts.add("c", "custodian")[1].secret)
    caller.put("/v1/graphs/people-of-ours", data=json.dumps(SMALL).encode())
    caller.post("/v1/protect", {"name": "people-of-ours", "k": 2, "into": "x"})
    for _ in range(3):
        caller.get("/v1/graphs/people-of-ours")
    answer = caller.get("/metrics")
    assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.text.endswith("\n")
    assert "people-of-ours" not in answer.text
    found = families(answer.text)
    for family in found.values():
        assert family.documentation
        assert family.type in ("counter", "gauge", "histogram")
        shown = [(each.name, tuple(sorted(each.labels.items()))) for each in family.samples]
        assert len(shown) == len(set(shown))
    route = {"route": "/v1/graphs/<name>", "method": "GET"}
    (count,) = [each.value for each in found["graphpriv_answers"].samples if route.items() <= each.labels.items()]
    assert count == 3
    took = [each for each in found["graphpriv_answer_seconds"].samples if route.items() <= each.labels.items()]
    buckets = [each.value for each in took if each.name.endswith("_bucket")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == next(each.value for each in took if each.name.endswith("_count")) == 3
    assert [each.labels["le"] for each in took if each.name.endswith("_bucket")][-1] == "+Inf"
    jobs = {each.labels["state"]: each.value for each in found["graphpriv_jobs"].samples}
    assert jobs == {"queued": 1, "running": 0, "done": 0, "failed": 0, "cancelled": 0}
    assert found["graphpriv_ready"].samples[0].value == 1
    assert found["graphpriv_free_bytes"].samples[0].value > 0


def test_they_are_for_custodians_and_for_this_machine(callers):
    told = {role: caller.get("/metrics", **ELSEWHERE).status_code for role, caller in callers.items()}
    assert told == {"custodian": 200, "auditor": 403, "analyst": 403, None: 403}
    nobody = callers[None]
    assert nobody.get("/metrics").status_code == 200
    # A proxy on this machine asks for somebody else, and so does the page of another site in a browser here.
    assert nobody.get("/metrics", headers={"X-Forwarded-For": "1.2.3.4"}).status_code == 403
    assert nobody.get("/metrics", environ_overrides={"HTTP_HOST": "evil.example"}).status_code == 403
    for host in ("127.0.0.1:8000", "[::1]:8000", "localhost"):
        assert nobody.get("/metrics", environ_overrides={"HTTP_HOST": host}).status_code == 200


def test_where_this_machine_is_a_proxy_loopback_is_not_enough(config):
    client = create_app({**config, "PROXIES": "127.0.0.1"}).test_client()
    assert client.get("/metrics").status_code == 403
