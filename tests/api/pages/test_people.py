"""The page of accounts."""

from __future__ import annotations

import re

import pytest

from api.http.sessions import FIELD
from tests.api.http.conftest import app, config, service  # noqa: F401 (fixtures)


@pytest.fixture
def client(app, service):  # noqa: F811
    client = app.test_client()
    token = service.accounts.add("ann", "custodian")[1].secret
    form = fields(client.get("/sign-in").text)
    client.post("/sign-in", data={FIELD: form[FIELD], "token": token})
    return client


def fields(text):
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', text))


def test_a_form_that_comes_again_makes_no_second_token(client, service):  # noqa: F811
    form = {name: value for name, value in fields(client.get("/accounts").text).items() if name in (FIELD, "key")}
    first = client.post("/accounts/ann/tokens", data=form)
    again = client.post("/accounts/ann/tokens", data=form)
    assert "The token of ann" in first.text and again.headers["Location"] == "/accounts"
    assert len(service.accounts.tokens("ann")) == 2


def test_a_name_that_cannot_be_stays_in_the_form(client, service):  # noqa: F811
    form = {**fields(client.get("/accounts").text), "name": "ann", "role": "auditor"}
    answer = client.post("/accounts", data=form)
    assert answer.status_code == 409 and 'value="ann"' in answer.text and "<option selected>auditor" in answer.text
    answer = client.post("/accounts", data={**form, "name": "eve"})
    assert "The token of eve" in answer.text
