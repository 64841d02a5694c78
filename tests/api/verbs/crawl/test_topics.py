# ruff: noqa: RUF001
"""`topics`: a line in, a line out, at every door; what is no text is refused with its line."""

from __future__ import annotations

import io
import json
from itertools import islice
from types import SimpleNamespace

import pytest

from api.app import create_app
from api.verbs import contract
from api.verbs.contract import Work, perform
from api.verbs.crawl.lines import LONGEST_LINE, TOGETHER, texts_of
from api.verbs.crawl.topics import Topics
from crawler.topics import categorisers
from graphpriv.store import open_store
from tests.api.evidence.worlds import Jobs
from tests.api.http.conftest import Caller
from tests.crawler.topics.tagging_service import TOKEN, Say, new, serving

TEXTS = ["The striker scored two goals in the final", "", "Shares rose on higher profits", "Η θερμοκρασία, βροχή"]
DATA = "".join(f"{each}\n" for each in TEXTS).encode()


def lines(ended):
    assert ended.code == 0, ended.err
    return [json.loads(line) for line in ended.out.splitlines()]


@pytest.fixture
def typed(monkeypatch):
    """Types bytes into standard input."""
    return lambda data: monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def expected(texts):
    found = categorisers["embedded"].make({}).categorise(texts)
    return [{"topics": [list(each) for each in answer]} for answer in found]


def test_each_line_has_one_answer_in_its_order(graphpriv, tmp_path):
    (tmp_path / "texts.txt").write_bytes(DATA)
    found = lines(graphpriv("topics", "texts.txt"))
    assert found == expected(TEXTS)
    assert [each["topics"][0][0] for each in found] == ["Sports", "Other", "Business_Finance", "Weather"]


def test_json_and_standard_input_give_the_same_lines(graphpriv, tmp_path, typed):
    (tmp_path / "texts.txt").write_bytes(DATA)
    plain = graphpriv("topics", "texts.txt").out
    assert graphpriv("topics", "texts.txt", "--json").out == plain
    typed(DATA)
    assert graphpriv("topics", "-").out == plain
    # As other systems write lines: a mark at the beginning, two characters at the end, no end of the last line.
    typed(b"\xef\xbb\xbf" + DATA.rstrip(b"\n").replace(b"\n", b"\r\n"))
    assert graphpriv("topics", "-").out == plain


def test_an_empty_file_has_no_answers(graphpriv, typed):
    typed(b"")
    assert lines(graphpriv("topics", "-")) == []


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"fine\n\xff\xfe\n", "line 2: this is not UTF-8 text; convert the file."),
        pytest.param(
            b"fine\n" + b"x" * (LONGEST_LINE + 1),
            "line 2: it has more than 1,048,576 bytes; write one text a line.",
            id="a long line",
        ),
    ],
)
def test_what_is_no_text_ends_it_with_its_line(graphpriv, tmp_path, data, problem):
    (tmp_path / "texts.txt").write_bytes(data)
    ended = graphpriv("topics", "texts.txt")
    assert (ended.code, ended.error) == (2, f"texts.txt, {problem}")


def test_wrong_names_are_refused_before_anything_is_read(graphpriv, tmp_path):
    assert graphpriv("topics", "nothing.txt").error == "nothing.txt: No such file or directory."
    assert graphpriv("topics", str(tmp_path)).error.endswith(": Is a directory.")
    (tmp_path / "texts.txt").write_bytes(DATA)
    assert "did you mean 'embedded'?" in graphpriv("topics", "texts.txt", "--topics", "embeded").error


def test_help_lists_the_categorisers(graphpriv):
    text = " ".join(graphpriv("topics", "--help").out.split())
    assert f"One of: {', '.join(categorisers)}." in text


def test_a_file_without_end_is_answered_as_it_is_read():
    class Endless(io.RawIOBase):
        read_so_far = 0

        def readline(self, size=-1):
            Endless.read_so_far += 1
            return b"goal\n"

    assert list(islice(texts_of(Endless(), "endless"), 3)) == ["goal"] * 3
    assert Endless.read_so_far == 3


def test_answers_are_made_in_blocks_as_they_are_taken(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"goal\n" * (2 * TOGETHER + 1))
    asked, told = [], []
    verb = Topics(file=str(path))
    object.__setattr__(verb, "answered", lambda some, work: asked.append(len(some)) or [{"topics": []}] * len(some))
    outcome = perform(verb, Work(line=lambda each: told.append((len(asked), each))))
    assert outcome.document == {}
    # Each block was told before the next was read.
    assert [blocks for blocks, _ in told] == [1] * TOGETHER + [2] * TOGETHER + [3]


def test_without_a_place_for_lines_they_are_the_document(tmp_path, monkeypatch):
    path = tmp_path / "texts.txt"
    path.write_bytes(DATA)
    assert perform(Topics(file=str(path)), Work()).document == {"lines": expected(TEXTS)}
    monkeypatch.setattr(contract, "MOST_LINES", 3)
    with pytest.raises(contract.InvalidInput, match="holds at most 3 lines; send the file in parts"):
        perform(Topics(file=str(path)), Work())


def test_the_service_gives_the_same_lines_for_an_upload(graphpriv, tmp_path):
    (tmp_path / "texts.txt").write_bytes(DATA)
    typed = lines(graphpriv("topics", "texts.txt"))
    store, home = f"file:{tmp_path / 's.db'}", tmp_path / "home"
    open_store(store, create=True).close()
    app = create_app({"STORE": store, "HOME": str(home)}, queue=Jobs(store, home))
    try:
        accounts = app.extensions["graphpriv"].accounts
        callers = {
            role: Caller(app.test_client(), accounts.add(role, role)[1].secret) for role in ("custodian", "analyst")
        }
        id = callers["custodian"].post("/v1/uploads", {"size": len(DATA)}).json["id"]
        callers["custodian"].put(f"/v1/uploads/{id}?offset=0", data=DATA)
        body = {"file": {"upload": id}}
        answer = callers["custodian"].post("/v1/topics", body, headers={"Prefer": "wait=30"})
        assert (answer.status_code, answer.json) == (200, {"lines": typed})
        # What somebody else sent is not there for others.
        assert callers["analyst"].post("/v1/topics", body).status_code in (403, 404)
        wrong = callers["custodian"].post("/v1/topics", {**body, "topics": "none"})
        assert wrong.status_code == 400 and "No categoriser is called 'none'" in wrong.json["detail"]
    finally:
        app.extensions["graphpriv"].close()


def test_the_command_asks_the_service_and_tells_failures_in_one_line(graphpriv, tmp_path, monkeypatch):
    (tmp_path / "texts.txt").write_text("a vote\n")
    ended = graphpriv("topics", "texts.txt", "--topics", "tagging")
    assert (ended.code, ended.error) == (2, "tagging: set GRAPHPRIV_TAGGING_URL to its address.")
    monkeypatch.setenv("GRAPHPRIV_TAGGING_TOKEN", TOKEN)
    with serving(Say(new(("Politics", 0.9))), Say(b"", 401)) as service:
        monkeypatch.setenv("GRAPHPRIV_TAGGING_URL", service.url)
        assert graphpriv("topics", "texts.txt", "--topics", "tagging").out == '{"topics": [["Politics", 0.9]]}\n'
        ended = graphpriv("topics", "texts.txt", "--topics", "tagging")
    assert (ended.code, TOKEN in ended.err) == (1, False)
    assert ended.error == "tagging: 127.0.0.1: the token in GRAPHPRIV_TAGGING_TOKEN is refused."
