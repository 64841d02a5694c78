"""`places`: a line in, a line out; what all verbs that answer lines share is in `test_topics.py`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from types import SimpleNamespace

from api.verbs.contract import Work, perform
from api.verbs.crawl.places import Places
from crawler.places import gazetteers

TEXTS = ["Paris, TX", "", "Earth", "東京", "NYC / LA", "San Jose", "\u2028"]
DATA = "".join(f"{each}\n" for each in TEXTS).encode()


def test_each_line_has_one_answer_with_path_score_country_and_alternatives(graphpriv, tmp_path, monkeypatch):
    (tmp_path / "texts.txt").write_bytes(DATA)
    ended = graphpriv("places", "texts.txt")
    assert ended.code == 0, ended.err
    found = [json.loads(line) for line in ended.out.split("\n")[:-1]]
    assert [list(each) for each in found] == [["path", "score", "country", "alternatives"]] * len(TEXTS)
    assert [each["country"] for each in found] == ["US", None, None, "JP", "US", "US", None]
    assert found[0]["path"][0] == ["Paris", "locality"] and found[0]["path"][-1] == ["world", "world"]
    assert found[1] == {"path": [], "score": 0.0, "country": None, "alternatives": []}
    assert found[4]["alternatives"][0]["path"][0] == ["New York City", "locality"]
    assert found == [gazetteers["embedded"].method().locate(text).document for text in TEXTS]
    assert graphpriv("places", "texts.txt", "--json").out == ended.out
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(DATA)))
    assert graphpriv("places", "-").out == ended.out


def test_help_lists_the_gazetteers(graphpriv):
    assert f"One of: {', '.join(gazetteers)}." in " ".join(graphpriv("places", "--help").out.split())


def test_a_gazetteer_without_its_key_is_refused_before_anything_is_read(graphpriv, tmp_path, monkeypatch):
    monkeypatch.delenv("GRAPHPRIV_GOOGLE_KEY", raising=False)
    (tmp_path / "texts.txt").write_bytes(DATA)
    ended = graphpriv("places", "texts.txt", "--places", "google")
    assert (ended.code, ended.out) == (2, "")
    assert ended.error == "The gazetteer google needs a key; put it into GRAPHPRIV_GOOGLE_KEY."
    assert "did you mean 'nominatim'?" in graphpriv("places", "texts.txt", "--places", "nominatm").error


def test_one_gazetteer_answers_all_blocks(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"Paris\n" * 600)
    verb, told = Places(file=str(path)), []
    perform(verb, Work(line=told.append))
    assert len(told) == 600 and told[0] == told[-1]
    assert verb._gazetteer is verb._gazetteer


def test_help_does_not_load_the_index():
    code = "import sys; from api.cli import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "crawler.places" not in ended.stderr.split()
