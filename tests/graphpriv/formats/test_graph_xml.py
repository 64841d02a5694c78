from __future__ import annotations

from pathlib import Path

import pytest

from graphpriv.formats import read_graph
from graphpriv.formats.graph_xml import attribute_of, content_of, read_elements
from tabular.errors import InvalidInput, InvalidRecord

LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>
<graphml><graph edgedefault="directed"><node id="&c;"/></graph></graphml>"""
FETCHES = """<?xml version="1.0"?>
<!DOCTYPE a [<!ENTITY secret SYSTEM "file:///etc/passwd">]>
<graphml><graph edgedefault="directed"><node id="a"><data>&secret;</data></node></graph></graphml>"""


@pytest.mark.parametrize("text", (LAUGHS, FETCHES, "<!DOCTYPE graphml SYSTEM 'http://127.0.0.1:9/a.dtd'><graphml/>"))
@pytest.mark.parametrize("suffix", (".graphml", ".gexf"))
def test_document_types_and_entities_are_refused(text: str, suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"graph{suffix}").write_text(text)
    with pytest.raises(InvalidInput, match=r"line [12]: a document type is refused"):
        read_graph(tmp_path / f"graph{suffix}")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<a>", "x, line 1: this is not XML: no element found"),
        (b"<a>\n</b>", "x, line 2: this is not XML: mismatched tag"),
        (b"<a>&nbsp;</a>", "x, line 1: this is not XML: undefined entity"),
        (b"<?xml version='1.0' encoding='klingon'?><a/>", "encoding that is not known"),
        (b"<?xml version='1.0' encoding='rot13'?><a/>", "encoding that is not known"),
        (b"<?xml version='1.0' encoding='utf-7'?><a/>", "x, line 1"),
        (b"<a>" * 5000, "x, line 1: this is nested too deeply"),
        (b"plain text", "x, line 1: this is not XML: syntax error"),
    ],
)
def test_what_is_no_xml_is_an_error_with_its_line(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_elements(data, "x", lambda *_: None, lambda *_: None)


def test_names_come_without_their_namespaces() -> None:
    begun: list[object] = []
    ended: list[object] = []
    data = b"<g:a xmlns:g='http://g' xmlns='http://d' g:x='1' y='2'>\n<b> t&lt;<![CDATA[<]]></b>u</g:a>"
    read_elements(data, "x", lambda *each: begun.append(each), lambda *each: ended.append(each))
    assert begun == [("a", {"x": "1", "y": "2"}, 1), ("b", {}, 2)]
    assert ended == [("b", " t<<", 2), ("a", "\nu", 2)]


def test_other_encodings_that_the_file_names_are_read() -> None:
    found: list[str] = []
    for encoding in ("utf-16", "iso-8859-1", "cp1252"):
        text = f"<?xml version='1.0' encoding='{encoding}'?><a>Ñandú</a>"
        read_elements(text.encode(encoding), "x", lambda *_: None, lambda name, text, line: found.append(text))
    assert found == ["Ñandú"] * 3


@pytest.mark.parametrize("text", ("a&b<c>\"d'", "line\r\nline\ttab ", " ", "東京", "]]>"))
def test_any_text_that_xml_can_hold_comes_back(text: str) -> None:
    found: list[str] = []
    data = f"<a><b x={attribute_of(text, 'it')}>{content_of(text, 'it')}</b></a>".encode()
    read_elements(
        data,
        "x",
        lambda name, attributes, line: found.extend(attributes.values()),
        lambda name, content, line: found.append(content) if name == "b" else None,
    )
    assert found == [text, text]


@pytest.mark.parametrize("text", ("a\x00", "\x1b[0m", "\ufffe"))
def test_text_that_xml_cannot_hold_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(InvalidRecord, match=r"^The id of user 3 has a control character"):
        attribute_of(text, "The id of user 3")


def test_an_error_of_the_program_is_not_taken_for_an_encoding() -> None:
    def broken(*_: object) -> None:
        raise LookupError("a bug")

    with pytest.raises(LookupError, match="a bug"):
        read_elements(b"<a/>", "x", broken, lambda *_: None)
    with pytest.raises(LookupError, match="a bug"):
        read_elements(b"<a/>", "x", lambda *_: None, broken)
