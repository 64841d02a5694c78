# ruff: noqa: RUF001
"""What a link must look like to be followed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.web.addresses import Guard
from crawler.web.outcomes import Failed, Outcome
from crawler.web.targets import LONGEST, Target

GUARD = Guard(resolve=lambda host, port, seconds: ["93.184.216.34"])

REFUSED = [
    ("file:///etc/passwd", Outcome.BAD_SCHEME),
    ("ftp://site.example/", Outcome.BAD_SCHEME),
    ("gopher://site.example/", Outcome.BAD_SCHEME),
    ("data:text/html,hi", Outcome.BAD_SCHEME),
    ("javascript:alert(1)", Outcome.BAD_SCHEME),
    ("ws://site.example/", Outcome.BAD_SCHEME),
    ("//site.example/", Outcome.BAD_URL),
    ("site.example", Outcome.BAD_URL),
    ("", Outcome.BAD_URL),
    ("http:///path", Outcome.BAD_HOST),
    ("http:site.example", Outcome.BAD_HOST),
    ("http://good@evil.example/", Outcome.CREDENTIALS),
    ("http://good:secret@evil.example/", Outcome.CREDENTIALS),
    ("http://good.example%40evil.example/", Outcome.BAD_HOST),
    ("http://good.example\\@evil.example/", Outcome.BAD_URL),
    ("http:\\\\site.example/", Outcome.BAD_URL),
    ("http://site.example\\evil", Outcome.BAD_URL),
    ("http://site.example/\r\nHost: evil", Outcome.BAD_URL),
    ("http://site.example/\x00", Outcome.BAD_URL),
    ("http://site.exa\tmple/", Outcome.BAD_URL),
    (" http://site.example/", Outcome.BAD_URL),
    ("http://site.example/\u200b", Outcome.BAD_URL),
    ("http://site.example/\u202e", Outcome.BAD_URL),
    ("http://site.example:22/", Outcome.BAD_PORT),
    ("http://site.example:8080/", Outcome.BAD_PORT),
    ("http://site.example:0/", Outcome.BAD_PORT),
    ("http://site.example:99999/", Outcome.BAD_PORT),
    ("http://site.example:443:80/", Outcome.BAD_HOST),
    ("http://site.example:８０/", Outcome.BAD_HOST),
    ("http://localhost/", Outcome.BAD_HOST),
    ("http://intranet/", Outcome.BAD_HOST),
    ("http://printer.local/", Outcome.BAD_HOST),
    ("http://metadata.google.internal/", Outcome.BAD_HOST),
    ("http://hidden.onion/", Outcome.BAD_HOST),
    ("http://app.localhost/", Outcome.BAD_HOST),
    ("http://site.example./", Outcome.BAD_HOST),
    ("http://.site.example/", Outcome.BAD_HOST),
    ("http://site..example/", Outcome.BAD_HOST),
    ("http://-site.example/", Outcome.BAD_HOST),
    (f"http://{'a' * 64}.example/", Outcome.BAD_HOST),
    (f"http://{'a.' * 126}example/", Outcome.BAD_HOST),
    ("http://ｓｉｔｅ.ｅｘａｍｐｌｅ/", Outcome.BAD_HOST),
    ("http://site。example/", Outcome.BAD_HOST),
    ("http://ⓔⓧⓐⓜⓟⓛⓔ.com/", Outcome.BAD_HOST),
    ("http://１２７.0.0.1/", Outcome.BAD_HOST),
    ("http://2130706433/", Outcome.BAD_HOST),
    ("http://0177.1/", Outcome.BAD_HOST),
    ("http://0x7f.1/", Outcome.BAD_HOST),
    ("http://127.1/", Outcome.BAD_HOST),
    ("http://1.2.3.4.5/", Outcome.BAD_HOST),
    ("http://256.1.1.1/", Outcome.BAD_HOST),
    ("http://01.2.3.4/", Outcome.BAD_HOST),
    ("http://[::1%25eth0]/", Outcome.BAD_HOST),
    ("http://[::1]extra/", Outcome.BAD_HOST),
    ("http://[zz::1]/", Outcome.BAD_HOST),
    ("http://[127.0.0.1]/", Outcome.BAD_HOST),
    ("http://a]b.example/", Outcome.BAD_HOST),
    (f"http://site.example/{'a' * LONGEST}", Outcome.BAD_URL),
]


@pytest.mark.parametrize(("url", "outcome"), REFUSED)
def test_a_link_of_two_minds_is_refused(url, outcome):
    with pytest.raises(Failed) as failed:
        Target.of(url, GUARD)
    assert failed.value.outcome is outcome


@pytest.mark.parametrize(
    ("url", "spelled"),
    [
        ("http://site.example", "http://site.example/"),
        ("HTTPS://Site.EXAMPLE:443/A?b=c#d", "https://site.example/A?b=c"),
        ("http://site.example:80?q", "http://site.example/?q"),
        ("http://site.example:443/", "http://site.example:443/"),
        ("https://bücher.example/ä?ö", "https://xn--bcher-kva.example/%C3%A4?%C3%B6"),
        ("https://例え.jp/", "https://xn--r8jz45g.jp/"),
        ("https://foo_bar.example/%20a", "https://foo_bar.example/%20a"),
        ("http://1.1.1.1/", "http://1.1.1.1/"),
        ("http://[2606:4700::1111]/a", "http://[2606:4700::1111]/a"),
        ("http://site.example/a|b\"c<d>'", "http://site.example/a%7Cb%22c%3Cd%3E'"),
    ],
)
def test_a_link_has_one_spelling(url, spelled):
    assert Target.of(url, GUARD).url == spelled
    assert Target.of(spelled, GUARD).url == spelled


@given(st.text(max_size=60))
def test_any_text_after_a_scheme_gives_a_target_or_a_failure(text):
    for url in (text, f"http://{text}", f"https://site.example/{text}"):
        try:
            target = Target.of(url, GUARD)
        except Failed:
            continue
        assert target.host.isascii() and target.path.isascii()
        assert not set(target.host + target.path) & set("\r\n\t \\@") - set("@" * ("@" in target.path))
        assert Target.of(target.url, GUARD) == target


@pytest.mark.parametrize(
    ("location", "leads"),
    [
        ("/b", "https://site.example/b"),
        ("c", "https://site.example/a/c"),
        ("?q", "https://site.example/a/?q"),
        ("//other.example/x", "https://other.example/x"),
        ("https://other.example", "https://other.example/"),
    ],
)
def test_a_redirect_is_read_from_where_it_stands(location, leads):
    assert Target.of("https://site.example/a/", GUARD).joined(location, GUARD).url == leads


@pytest.mark.parametrize("location", ["http://a@b.example/", "//127.1/", "http://[::1", "/a\\b", "java\tscript:x"])
def test_a_redirect_is_checked_like_a_link(location):
    with pytest.raises(Failed):
        Target.of("https://site.example/a/", GUARD).joined(location, GUARD)
