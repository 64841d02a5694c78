"""What people write about themselves: where in it they say where they live, and HTML without its tags."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser

#: How people call the field in which they say where they are, in lower case.
LOCATION_LABELS = frozenset(
    (
        *("location", "locations", "current location", "loc", "where", "where i live", "where i am", "place", "home"),
        *("based in", "based", "city", "town", "country", "region", "hometown", "home town", "living in", "lives in"),
        *("standort", "ort", "wohnort", "stadt", "land", "heimat", "ubicación", "ubicacion", "lugar", "localización"),
        *("localizacion", "ciudad", "país", "pais", "lieu", "localisation", "ville", "pays", "où", "luogo"),
        *(
            "posizione",
            "città",
            "citta",
            "località",
            "dove",
            "localização",
            "localizacao",
            "cidade",
            "onde",
            "ubicació",
        ),
        *("dove", "lloc", "ciutat", "locatie", "plaats", "woonplaats", "stad", "sted", "plats", "paikka"),
        *("sijainti", "lokalizacja", "miejsce", "miasto", "lokalita", "město", "konum", "yer", "şehir", "место"),
        *("город", "місто", "場所", "居住地", "位置", "地点", "所在地", "위치", "지역", "📍", "🗺", "🏠", "🏡"),
    )
)

#: What stands in front of a place in a description.
_PIN = "📍"

_LABELLED = re.compile(r"([^\W\d_][\w ]{1,30}?)\s*[:：]\s*(\S.*)")  # noqa: RUF001 (as people type them)
_TRIMMED = " \t:：.,;!?-–—•|\ufe0f\u200d"  # noqa: RUF001 (as people type them)

#: Longer pieces of HTML are cut: no network allows posts of this length.
_LONGEST_HTML = 200_000


def is_location_label(text: str) -> bool:
    """Whether a field of this name says where somebody is.

    >>> is_location_label("📍 Location:"), is_location_label("Standort"), is_location_label("Pronouns")
    (True, True, False)
    """
    name = text.casefold().strip(_TRIMMED)
    return name in LOCATION_LABELS or re.sub(r"^\W+|\W+$", "", name) in LOCATION_LABELS


def location_in(description: str | None) -> str | None:
    """Where a description says that somebody is: what is marked as a place in it, or else all of it.

    >>> location_in("Gardener. 📍 Lyon, France | she/her"), location_in("Ort: Graz"), location_in("Baker in Rome")
    ('Lyon, France', 'Graz', 'Baker in Rome')
    """
    text = (description or "").strip()
    for line in text.splitlines():
        _, pin, after = line.partition(_PIN)
        if pin and (found := after.partition("|")[0].strip(_TRIMMED)):
            return found
        labelled = _LABELLED.fullmatch(line.strip())
        if labelled and is_location_label(labelled[1]):
            return labelled[2].strip()
    return text or None


def web_links(urls: Iterable[object]) -> tuple[str, ...]:
    """The links among *urls* that lead into the web, each once.

    >>> web_links(["https://a.org/", None, "mailto:x", "https://a.org/"])
    ('https://a.org/',)
    """
    found = (url.strip() for url in urls if isinstance(url, str))
    return tuple(dict.fromkeys(url for url in found if url.lower().startswith(("https://", "http://"))))


def plain_text(html: str) -> str:
    """HTML as text, with its paragraphs and lines.

    >>> plain_text("<p>One &amp; <b>two</b><br>three</p><p>four</p>")
    'One & two\\nthree\\n\\nfour'
    """
    return _read(html).text


def anchors(html: str) -> tuple[str, ...]:
    """Where the links of a piece of HTML lead, without those to people and hashtags.

    >>> anchors('<a href="https://a.org/">a</a> <a class="u-url mention" href="https://b.org/@x">@x</a>')
    ('https://a.org/',)
    """
    return _read(html).links


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._found: list[str | None] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag in ("script", "style"):
            self._hidden += 1
        if tag == "br":
            self._parts.append("\n")
        if tag == "li":
            self._parts.append("\n• ")
        kinds = {*(given.get("class") or "").split(), *(given.get("rel") or "").split()}
        if tag == "a" and kinds.isdisjoint(("mention", "hashtag", "tag")):
            self._found.append(given.get("href"))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._hidden = max(self._hidden - 1, 0)
        if tag in ("p", "blockquote", "ul", "ol", "pre", "div"):
            self._parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._parts.append(data)

    @property
    def text(self) -> str:
        """All text in it."""
        joined = "".join(self._parts).replace("\x00", "")
        return re.sub(r"\n{3,}", "\n\n", joined).strip()

    @property
    def links(self) -> tuple[str, ...]:
        """Where its links lead."""
        return web_links(self._found)


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html[:_LONGEST_HTML])
    reader.close()
    return reader
