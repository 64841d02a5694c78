"""The OpenAPI document; that answers keep to it is checked at each request of these tests (`conftest.py`)."""

from __future__ import annotations

import json

import pytest

from api.http.openapi import described_rules, openapi


@pytest.fixture
def document(nobody):
    # It says nothing that only some may know.
    return nobody.get("/openapi.json").json


def test_it_is_a_sound_document(document):
    validator = pytest.importorskip("openapi_spec_validator")
    validator.validate(document)
    assert document["openapi"].startswith("3.1")


def test_every_route_is_in_it_with_a_sentence(app, document):
    shown = {(method, path) for path, item in document["paths"].items() for method in item}
    assert ("post", "/v1/table/search") in shown and ("get", "/v1/graphs/{name}") in shown
    assert len(shown) == sum(len((rule.methods or set()) - {"HEAD", "OPTIONS"}) for rule in described_rules(app))
    for item in document["paths"].values():
        for operation in item.values():
            assert operation["summary"].endswith((".", ":")), operation["summary"]
            assert operation["responses"]
    ids = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    assert len(set(ids)) == len(ids)


def test_a_verb_brings_its_schema(document):
    body = document["paths"]["/v1/protect"]["post"]["requestBody"]
    assert body["required"]
    assert body["content"]["application/json"]["schema"]["properties"]["k"]["minimum"] == 2


def test_it_needs_nothing_of_the_world_and_is_json(app, document):
    json.dumps(document, allow_nan=False)
    assert openapi(app) == openapi(app)
    assert "token" in document["components"]["securitySchemes"]
