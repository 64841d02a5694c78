"""Options in a header: the same answers as for those in an address, and no person in any address."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest

from api.http.options import OPTIONS
from tests.api.http.conftest import app, config, custodian, graphs, service  # noqa: F401 (fixtures)

QUESTIONS = [
    ("users", {"limit": "2"}),
    ("users", {"limit": "all", "topic": "Technology"}),
    ("users", {"format": "csv", "location": ""}),
    ("counts", {"by": "location:country,topic1"}),
    ("mixing", {"by": "topic1", "order": "count"}),
    ("degrees", {}),
]


@pytest.mark.parametrize(("question", "options"), QUESTIONS)
def test_what_stands_in_the_header_counts_as_what_stands_in_the_address(custodian, graphs, question, options):  # noqa: F811
    path = f"/v1/graphs/people/{question}"
    there = custodian.get(f"{path}?{urlencode(options)}")
    here = custodian.get(path, headers={OPTIONS: urlencode(options)})
    assert (there.status_code, here.status_code) == (200, 200)
    assert (there.data, there.mimetype) == (here.data, here.mimetype)
    assert here.headers["Vary"] == there.headers["Vary"] and OPTIONS in here.headers["Vary"]
    # An address that leads on would hold the user whom the page ended with.
    assert "Link" not in here.headers


def test_the_next_page_is_asked_for_in_the_header(custodian, graphs):  # noqa: F811
    first = custodian.get("/v1/graphs/people/users", headers={OPTIONS: "limit=3"}).json
    asked = urlencode({"limit": 3, "cursor": first["next"]})
    second = custodian.get("/v1/graphs/people/users", headers={OPTIONS: asked}).json
    assert [each["id"] for each in first["rows"] + second["rows"]] == ["ann", "bob", "cid", "dee"]


@pytest.mark.parametrize("user", ["bob", "zoë €", 'a>; rel="x"', "../..", "100%41", "a&user=b"])
def test_neighbours_and_forgetting_take_the_user_from_the_header(custodian, user):  # noqa: F811
    nodes = [{"id": each, "location": None, "topics": ["A"]} for each in (user, "b", "c")]
    edges = [{"source": user, "target": each} for each in ("b", "c")]
    graph = {"directed": True, "nodes": nodes, "edges": edges}
    assert custodian.put("/v1/graphs/g", json=graph, content_type="application/octet-stream").status_code == 201
    asked = {OPTIONS: urlencode({"user": user})}
    there = custodian.get(f"/v1/graphs/g/users/{quote(user, safe='')}/neighbours").json
    assert custodian.get("/v1/graphs/g/neighbours", headers=asked).json == there
    assert len(there["rows"]) == 2
    gone = custodian.delete("/v1/graphs/g/users", headers=asked)
    assert (gone.status_code, gone.json["follows"]) == (200, 2)
    for answer in (custodian.get("/v1/graphs/g/neighbours", headers=asked),
                   custodian.delete("/v1/graphs/g/users", headers=asked)):  # fmt: skip
        assert answer.status_code == 404 and user not in answer.text


def test_rows_of_a_table_are_chosen_in_the_header(custodian):  # noqa: F811
    custodian.put("/v1/tables/t", data=b"name,age\nann,30\nbob,40\ncid,40\n")
    for question, options in (("rows", [("where", "age=40"), ("where", "name=bob")]), ("counts", [("by", "age")])):
        there = custodian.get(f"/v1/tables/t/{question}?{urlencode(options)}")
        here = custodian.get(f"/v1/tables/t/{question}", headers={OPTIONS: urlencode(options)})
        assert here.status_code == 200 and here.json == there.json and here.json["rows"]


@pytest.mark.parametrize(
    ("method", "path", "header", "said"),
    [
        ("GET", "/v1/graphs/people/users?limit=3", "limit=3", "in one place"),
        ("GET", "/v1/graphs/people/users", "limit=%ff", "percent-encoded"),
        ("GET", "/v1/graphs/people/users", "&".join(f"a{n}=" for n in range(101)), "percent-encoded"),
        ("GET", "/v1/graphs/people/users", "nothing", "nothing"),
        ("GET", "/v1/graphs/people/neighbours", "limit=3", "user is missing"),
        ("GET", "/v1/graphs/people/neighbours?user=bob", None, "stands in the path, or else in the header"),
        ("GET", "/v1/graphs/people/users/bob/neighbours", "user=ann", "stands in the path"),
        ("GET", "/v1/graphs/people/users?format=csv&format=json", None, "more than once"),
        ("GET", "/v1/graphs/people/users?limit=all&limit=1", None, "more than once"),
        ("GET", "/v1/graphs/people/neighbours", "user=ann&user=bob", "more than once"),
        ("GET", "/v1/graphs/people/users?limit=1&limit=2", None, "more than once"),
        ("GET", "/v1/graphs/people/neighbours", "user=zo\xc3\xab", "percent-encoded"),
        ("GET", "/v1/graphs/people/neighbours", "user=ann, user=bob", "percent-encoded"),
        ("DELETE", "/v1/graphs/people/users", "limit=3", "one user and nothing else"),
        ("DELETE", "/v1/graphs/people/users", "user=", "one user and nothing else"),
        ("DELETE", "/v1/graphs/people/users", "user=ann&user=bob", "one user and nothing else"),
        ("DELETE", "/v1/graphs/people/users", "user=ann&force=1", "one user and nothing else"),
        ("DELETE", "/v1/graphs/people/users?user=bob", None, "one user and nothing else"),
        ("DELETE", "/v1/graphs/people/users/bob", "user=ann", "takes no options"),
        ("DELETE", "/v1/graphs/people", "user=ann", "takes no options"),
        ("DELETE", "/v1/graphs/people?user=ann", None, "takes no options"),
        ("PUT", "/v1/graphs/new", "format=gexf", "is for GET"),
        ("POST", "/v1/protect", "x=1", "is for GET"),
    ],
)
def test_wrong_options_are_told_and_nothing_is_done(custodian, graphs, service, method, path, header, said):  # noqa: F811
    before = service.log.end()
    answer = custodian(method, path, headers={} if header is None else {OPTIONS: header}, data=b"{}")
    assert answer.status_code == 400 and said in answer.text
    assert method == "GET" or service.log.end() == before
    assert len(custodian.get("/v1/graphs/people/users").json["rows"]) == 4


def test_what_is_not_there_is_told_before_its_options(custodian):  # noqa: F811
    sent = {"Authorization": f"Bearer {custodian.token}"}
    told = [custodian.client.delete(path, headers=sent).status_code for path in ("/v1/nothing?x=1", "/v1/jobs?x=1")]
    assert told == [404, 405]
