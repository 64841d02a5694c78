"""Reading pages over real HTTP: what is read, what is refused at each hop, and where an exchange ends."""

from __future__ import annotations

import contextlib
import datetime
import gzip
import socket
import ssl
import time
import zlib
from contextlib import suppress
from pathlib import Path
from urllib.robotparser import RobotFileParser

import httpcore
import pytest
import zstandard
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.web.addresses import Endpoint, Guard
from crawler.web.charsets import text_of
from crawler.web.client import Client, connect
from crawler.web.extraction import LONGEST_TEXT, Extraction
from crawler.web.outcomes import Failed, Outcome
from crawler.web.pages import Page, Reader, agent
from crawler.web.robots import Rules, fits
from tests.crawler.web.sites import EXTRACTION, PUBLIC, PUBLIC_6, answer, redirect, sites

SENTENCE = "The council voted on the budget of the city after a long debate about schools and roads. "
ARTICLE = (
    f"<html><body><nav>Home About</nav><article><p>{SENTENCE * 3}</p><p>{SENTENCE * 2}</p></article></body></html>"
)


@pytest.fixture
def web():
    with sites() as found:
        yield found


def outcome(web, url="http://site.example/", **limits):
    return web.reader(**limits).read(url).outcome


def test_a_page_gives_its_main_text(web):
    web.answers["site.example/"] = answer(ARTICLE.encode(), kind="text/html; charset=utf-8")
    page = web.reader().read("http://site.example/")
    assert (page.outcome, page.status) == (Outcome.READ, 200)
    assert page.text.count("The council voted") == 5
    assert "About" not in page.text


def test_plain_text_is_read_as_it_is(web):
    web.answers["site.example/a"] = answer(b" Rain all day. \n")
    assert web.reader().read("http://site.example/a").text == "Rain all day."


def test_a_request_says_who_asks_and_nothing_else(web):
    web.answers["site.example/"] = answer(b"one", Set_Cookie="id=1")
    reader = web.reader()
    reader.read("http://site.example/")
    reader.read("http://site.example/")
    robots, first, second = web.requests
    assert first == second
    assert robots.startswith(b"GET /robots.txt HTTP/1.1\r\n")
    names = [line.split(b":")[0].lower() for line in first.split(b"\r\n")[1:-2]]
    assert names == [b"host", b"user-agent", b"accept", b"connection", b"accept-encoding"]
    assert agent().startswith("graphpriv/") and "robots.txt" in agent()


def test_proxies_of_the_environment_are_not_asked(web, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    web.answers["site.example/"] = answer(b"one")
    assert outcome(web) is Outcome.READ


def test_the_connection_goes_to_the_address_that_was_checked(web):
    # The name server answers with a public address while it is checked, and with loopback from then on.
    answers = iter([[PUBLIC], [PUBLIC], ["127.0.0.1"], ["127.0.0.1"]])
    web.answers["site.example/"] = answer(b"one")
    reader = web.reader()
    object.__setattr__(reader.client.guard, "resolve", lambda host, port, seconds: next(answers))
    assert reader.read("http://site.example/").outcome is Outcome.READ
    assert web.connected == [(PUBLIC, 80), (PUBLIC, 80)]
    assert reader.read("http://site.example/").outcome is Outcome.PRIVATE
    assert len(web.connected) == 2


def test_the_next_address_is_tried_where_one_does_not_answer(web):
    web.names["site.example"] = [PUBLIC_6, PUBLIC]
    web.answers["site.example/"] = answer(b"one")
    reader, reach = web.reader(), web.connect

    def broken(address, port, timeout):
        return connect("127.0.0.1", 1, timeout) if address == PUBLIC_6 else reach(address, port, timeout)

    object.__setattr__(reader.client, "connect", broken)
    assert reader.read("http://site.example/").outcome is Outcome.READ


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "::1", "::ffff:10.0.0.1", "169.254.169.254"])
def test_a_name_with_a_private_address_is_refused(web, address):
    web.names["site.example"] = [address]
    assert outcome(web) is Outcome.PRIVATE
    assert web.connected == []


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"])
def test_redirects_are_followed(web, status):
    web.answers["site.example/"] = redirect("//other.example/b", status)
    web.answers["other.example/b"] = answer(b"there")
    assert web.reader().read("http://site.example/").text == "there"


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("http://inside.example/", Outcome.PRIVATE),
        ("http://127.0.0.1/", Outcome.PRIVATE),
        ("http://[::1]/", Outcome.PRIVATE),
        ("http://[fe80::1]/", Outcome.PRIVATE),
        ("http://2130706433/", Outcome.BAD_HOST),
        ("http://localhost/", Outcome.BAD_HOST),
        ("http://good.example@127.0.0.1/", Outcome.CREDENTIALS),
        ("http://other.example:8080/", Outcome.BAD_PORT),
        ("file:///etc/passwd", Outcome.BAD_SCHEME),
        ("gopher://other.example/", Outcome.BAD_SCHEME),
        ("http://other.example\\@evil.example/", Outcome.BAD_URL),
    ],
)
def test_a_redirect_to_what_is_no_link_is_refused(web, location, expected):
    web.names["inside.example"] = ["192.168.0.1"]
    web.answers["site.example/"] = redirect(location)
    assert outcome(web) is expected
    assert set(web.connected) == {(PUBLIC, 80)}


def test_five_redirects_are_followed_and_no_more(web):
    for number in range(6):
        web.answers[f"site.example/{number}"] = redirect(f"/{number + 1}")
    web.answers["site.example/6"] = answer(b"there")
    assert outcome(web, "http://site.example/1") is Outcome.READ
    assert outcome(web, "http://site.example/0") is Outcome.REDIRECTS
    web.answers["site.example/round"] = redirect("/round")
    assert outcome(web, "http://site.example/round") is Outcome.REDIRECTS


@pytest.mark.parametrize("raw", ["/münchen".encode(), "/münchen".encode("latin-1"), b"/m%C3%BCnchen"])
def test_a_redirect_may_be_written_in_other_letters(web, raw):
    web.answers["site.example/"] = redirect("/x").replace(b"/x", raw)
    web.answers["site.example/m%C3%BCnchen"] = answer(b"there")
    assert outcome(web) is Outcome.READ


def test_a_redirect_without_a_target_is_told(web):
    web.answers["site.example/"] = answer(status="302 Found")
    assert outcome(web) is Outcome.BAD_REDIRECT


@pytest.mark.parametrize("status", [404, 403, 410, 500, 503, 204])
def test_an_answer_without_a_page_tells_its_status(web, status):
    web.answers["site.example/"] = answer(b"x", status=f"{status} Odd")
    page = web.reader().read("http://site.example/")
    assert page == Page(Outcome.STATUS, status)


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "application/json", "text/css", ""])
def test_what_is_no_text_is_not_taken(web, kind):
    web.answers["site.example/"] = answer(b"x" * 100, kind=kind)
    assert outcome(web) is Outcome.NOT_TEXT


def test_a_page_without_text_is_empty(web):
    web.answers["site.example/"] = answer(b"<html><body></body></html>", kind="text/html")
    assert outcome(web) is Outcome.EMPTY


def forever(piece, pause=0.0, head=b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"):
    """Sends a head and then a piece again and again."""

    def behave(connection):
        connection.sendall(head)
        until = time.monotonic() + 20
        with suppress(OSError):
            while time.monotonic() < until:
                connection.sendall(piece)
                time.sleep(pause)

    return behave


def test_a_page_without_end_is_cut_off(web):
    web.answers["site.example/"] = forever(b"x" * 4096)
    assert outcome(web, wire=200_000) is Outcome.TOO_LARGE


@pytest.mark.parametrize(
    "behaviour",
    [
        forever(b"x", pause=0.05),
        forever(b"X-A: b\r\n", pause=0.05, head=b"HTTP/1.1 200 OK\r\n"),
        forever(b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.05, head=b""),
        forever(b"", pause=0.05, head=b""),
    ],
    ids=["body", "headers", "interim answers", "silence"],
)
def test_a_slow_drip_ends_with_the_time(web, behaviour):
    web.answers["site.example/"] = behaviour
    began = time.monotonic()
    assert outcome(web, seconds=0.3) is Outcome.TIMEOUT
    assert time.monotonic() - began < 2


def reader_at(web, port, **limits):
    """A reader whose connections all lead to one port."""
    reader = web.reader(**limits)
    object.__setattr__(reader.client, "connect", lambda address, _, timeout: connect("127.0.0.1", port, timeout))
    return reader


def test_a_host_that_takes_no_connection_is_unreachable(web):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert reader_at(web, port).read("http://site.example/").outcome is Outcome.UNREACHABLE


def test_a_connection_that_does_not_come_about_ends_with_the_time(web):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, contextlib.ExitStack() as waiting:
        # Nobody takes these, so that the next one is not even answered.
        for _ in range(3):
            queued = waiting.enter_context(socket.socket())
            queued.setblocking(False)
            queued.connect_ex(full.getsockname())
        began = time.monotonic()
        reader = reader_at(web, full.getsockname()[1], seconds=0.3)
        reader.robots._known["http://site.example"] = (reader.client.clock(), Rules())
        assert reader.read("http://site.example/").outcome is Outcome.TIMEOUT
        assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 40_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 8_000 + b"\r\n",
    ],
)
def test_headers_have_a_limit(web, head):
    web.answers["site.example/"] = lambda connection: connection.sendall(head)
    assert outcome(web) is Outcome.HEADERS


def test_interim_answers_without_end_have_the_same_limit(web):
    web.answers["site.example/"] = forever(b"HTTP/1.1 100 Continue\r\n\r\n" * 100, head=b"")
    assert outcome(web) is Outcome.HEADERS


BOMB = b"\0" * 50_000_000


@pytest.mark.parametrize(
    ("encoding", "body", "expected"),
    [
        ("gzip", gzip.compress(BOMB, 1), Outcome.BOMB),
        ("deflate", zlib.compress(BOMB, 1), Outcome.BOMB),
        ("zstd", zstandard.compress(BOMB), Outcome.BAD_ENCODING),
        ("br", b"\x0b\x02\x80abc\x03", Outcome.BAD_ENCODING),
        ("gzip, gzip", gzip.compress(gzip.compress(BOMB, 1)), Outcome.BAD_ENCODING),
        ("gzip\r\nContent-Encoding: gzip", gzip.compress(gzip.compress(b"hello")), Outcome.BAD_ENCODING),
        ("gzip", b"no gzip at all", Outcome.BAD_ENCODING),
        ("gzip", gzip.compress(b"hello" * 1000)[:-20], Outcome.BAD_ENCODING),
        ("gzip", gzip.compress(b"hello"), Outcome.READ),
        ("deflate", zlib.compress(b"hello"), Outcome.READ),
        ("GZIP", gzip.compress(b"hello"), Outcome.READ),
    ],
    ids=[
        "gzip",
        "deflate",
        "zstd",
        "br",
        "twice",
        "two headers",
        "no gzip",
        "cut short",
        "small gzip",
        "small deflate",
        "upper case",
    ],
)
def test_a_body_is_unpacked_as_far_as_a_page_may_be_large(web, encoding, body, expected):
    web.answers["site.example/"] = answer(body, Content_Encoding=encoding)
    page = web.reader().read("http://site.example/")
    assert page.outcome is expected
    assert page.text == ("hello" if expected is Outcome.READ else "")


@pytest.mark.parametrize(
    "junk",
    [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nx"],
    ids=["nothing", "no HTTP", "cut short"],
)
def test_what_is_no_http_is_told(web, junk):
    web.answers["site.example/"] = lambda connection: connection.sendall(junk)
    assert outcome(web) is Outcome.MALFORMED


class Said(httpcore.NetworkStream):
    """A connection on which a site says certain bytes and no more."""

    def __init__(self, data):
        self.data = data

    def read(self, max_bytes, timeout=None):
        piece, self.data = self.data[:max_bytes], self.data[max_bytes:]
        return piece

    def write(self, buffer, timeout=None):
        pass

    def close(self):
        pass

    def get_extra_info(self, info):
        return None


lines = st.lists(
    st.sampled_from(
        [b"Content-Type: text/plain", b"Content-Type: text/plain; charset=utf-16", b"Content-Encoding: gzip",
         b"Content-Length: 7", b"Content-Length: -1", b"Transfer-Encoding: chunked", b"Location: //b.example/%",
         b"Location: \xff\xfe:", b"Connection: upgrade", b": nameless", b"\x00: null", b" folded", b"X: " + b"a" * 99]
    ),
    max_size=5,
)  # fmt: skip
status = st.sampled_from(
    [b"HTTP/1.1 200 OK", b"HTTP/1.0 200", b"HTTP/1.1 302 Found", b"HTTP/1.1 101 Up", b"HTTP/9.9 x"]
)
whole = st.builds(
    lambda head, rows, body: b"\r\n".join([head, *rows, b"", body]), status, lines, st.binary(max_size=40)
)


@given(st.one_of(whole, st.binary(max_size=60)))
@example(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx")
def test_whatever_a_site_says_is_a_page_or_an_outcome(data):
    guard = Guard(resolve=lambda host, port, seconds: [PUBLIC])
    client = Client(guard, "graphpriv-test", connect=lambda address, port, timeout: Said(data))
    page = Reader(client, extraction=EXTRACTION).read("http://site.example/")
    assert isinstance(page, Page)
    assert page.outcome is Outcome.READ or page.text == ""


# TLS


def certificate(host):
    """A certificate for *host*, its key, and both in one text."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made.public_bytes(serialization.Encoding.PEM), secret


@pytest.fixture
def secure(web, tmp_path):
    """A site with a certificate for `site.example`; the second value is what trusts it."""
    public, secret = certificate("site.example")
    (tmp_path / "both.pem").write_bytes(public + secret)
    web.certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    web.certificate.load_cert_chain(tmp_path / "both.pem")
    web.certificate.sni_callback = lambda sock, name, context: web.sni.append(name)
    trust = ssl.create_default_context(cadata=public.decode())
    return web, lambda: trust


def test_the_name_of_the_link_is_in_the_handshake_and_the_header(secure):
    web, trust = secure
    web.answers["site.example/"] = answer(b"one")
    assert web.reader(trust).read("https://site.example/").text == "one"
    assert web.connected == [(PUBLIC, 443)] * 2
    assert web.sni == ["site.example"] * 2
    assert b"\r\nHost: site.example\r\n" in web.requests[-1]


def test_a_certificate_of_another_site_is_refused(secure):
    web, trust = secure
    assert web.reader(trust).read("https://other.example/").outcome is Outcome.UNTRUSTED
    assert web.requests == []


def test_a_certificate_that_nobody_vouches_for_is_refused(secure):
    web, _ = secure
    assert web.reader().read("https://site.example/").outcome is Outcome.UNTRUSTED


def test_a_redirect_from_https_to_http_is_refused(secure):
    web, trust = secure
    web.answers["site.example/"] = redirect("http://site.example/open")
    assert web.reader(trust).read("https://site.example/").outcome is Outcome.DOWNGRADE


def test_a_handshake_that_drips_ends_with_the_time(web):
    web.answers["site.example/"] = answer(b"one")

    def silent(connection):
        time.sleep(5)

    web._answer = silent
    began = time.monotonic()
    reader = web.reader(seconds=0.3)
    reader.robots._known["https://site.example"] = (reader.client.clock(), Rules())
    assert reader.read("https://site.example/").outcome is Outcome.TIMEOUT
    assert time.monotonic() - began < 2


# The switch of the demonstration


def test_the_demonstration_reads_its_own_endpoint_and_no_other(web):
    web.answers[f"127.0.0.1:{web.port}/"] = answer(b"made")
    with sites() as other:
        other.answers[f"127.0.0.1:{other.port}/"] = answer(b"secret")
        web.answers[f"127.0.0.1:{web.port}/out"] = redirect(f"http://127.0.0.1:{other.port}/")
        reader = Reader(Client(Guard(exempt=Endpoint("127.0.0.1", web.port)), "x"), extraction=EXTRACTION)
        assert reader.read(f"http://127.0.0.1:{web.port}/").text == "made"
        assert reader.read(f"http://127.0.0.1:{web.port}/out").outcome is Outcome.BAD_PORT
        assert reader.read(f"http://localhost:{web.port}/").outcome is Outcome.BAD_PORT
        assert other.requests == []


def test_nobody_reads_loopback_without_the_switch(web):
    web.answers[f"127.0.0.1:{web.port}/"] = answer(b"secret")
    reader = Reader(Client(Guard(), "x"), extraction=EXTRACTION)
    assert reader.read(f"http://127.0.0.1:{web.port}/").outcome is Outcome.BAD_PORT
    assert reader.read("http://127.0.0.1/").outcome is Outcome.PRIVATE
    assert web.requests == []


# robots.txt

ROBOTS = b"User-agent: *\nDisallow: /closed\n\nUser-agent: graphpriv\nAllow: /mine/open\nDisallow: /mine\n"


def test_a_page_that_robots_closes_is_not_read(web):
    web.answers["site.example/robots.txt"] = answer(ROBOTS)
    for path in ("mine", "mine/open", "closed"):
        web.answers[f"site.example/{path}"] = answer(b"one")
    reader = web.reader()
    assert reader.read("http://site.example/mine").outcome is Outcome.ROBOTS
    assert reader.read("http://site.example/mine/open").outcome is Outcome.READ
    assert reader.read("http://site.example/closed").outcome is Outcome.READ
    assert sum(request.startswith(b"GET /robots.txt") for request in web.requests) == 1


def test_robots_holds_at_each_hop(web):
    web.answers["other.example/robots.txt"] = answer(b"User-agent: *\nDisallow: /\n")
    web.answers["site.example/"] = redirect("http://other.example/")
    assert outcome(web) is Outcome.ROBOTS


def test_a_site_that_fails_to_tell_its_rules_is_not_read(web):
    web.answers["site.example/robots.txt"] = answer(status="503 Busy")
    web.answers["site.example/"] = answer(b"one")
    assert outcome(web) is Outcome.ROBOTS


def test_the_rules_of_a_site_may_not_lead_inside(web):
    web.names["inside.example"] = ["10.0.0.1"]
    web.answers["site.example/robots.txt"] = redirect("http://inside.example/")
    assert outcome(web) is Outcome.PRIVATE
    assert web.connected == [(PUBLIC, 80)]


paths = st.text("ab/*$", max_size=8).map(lambda text: f"/{text}")


def slowly_fits(pattern, path):
    """The same by trying every split."""
    if pattern in ("", "$"):
        return pattern == "" or path == ""
    if pattern[0] == "*":
        return any(slowly_fits(pattern[1:], path[at:]) for at in range(len(path) + 1))
    return bool(path) and path[0] == pattern[0] and slowly_fits(pattern[1:], path[1:])


@given(
    st.text("ab/*", max_size=7).map(lambda text: f"/{text}"),
    st.booleans(),
    st.text("ab/", max_size=9).map(lambda text: f"/{text}"),
)
def test_wildcards_fit_as_by_trying_everything(pattern, whole, path):
    pattern += "$" * whole
    assert fits(pattern, path) == slowly_fits(pattern, path)


@given(st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), st.text("ab", min_size=1, max_size=4))),
       st.text("ab", max_size=6))  # fmt: skip
def test_rules_without_wildcards_are_read_as_the_standard_library_does(lines, path):
    rules = [(kind, f"/{text}") for kind, text in lines]
    # That one takes the first rule that fits; sorted by length the first is the longest, `Allow` before its like.
    ordered = sorted(rules, key=lambda rule: (-len(rule[1]), rule[0]))
    text = "User-agent: *\n" + "".join(f"{kind}: {rule}\n" for kind, rule in ordered)
    peer = RobotFileParser()
    peer.parse(text.splitlines())
    assert Rules.read(text).allows(f"/{path}") == peer.can_fetch("graphpriv", f"http://a.example/{path}")


def test_a_pattern_of_many_wildcards_takes_no_time():
    began = time.monotonic()
    assert not fits("/" + "*a" * 2_000 + "b", "/" + "a" * 4_000)
    assert time.monotonic() - began < 1


# Text


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("Málaga".encode(), "text/html", "Málaga"),
        ("Málaga".encode("latin-1"), "text/html; charset=ISO-8859-1", "Málaga"),
        ("Málaga".encode("cp1252"), "text/html", "Málaga"),
        ("<meta charset='windows-1251'>Тула".encode("cp1251"), "text/html", "<meta charset='windows-1251'>Тула"),
        ("東京".encode("shift_jis"), 'text/html; charset="Shift_JIS"', "東京"),
        ("\ufeffMálaga".encode("utf-16"), "text/html; charset=utf-8", "\ufeffMálaga"),
        (b"\xff\xfeM\0", "text/html", "M"),
        (b"\xef\xbb\xbfa", "text/html; charset=latin1", "a"),
        (b"x\xffy", "text/plain; charset=utf-8", "x\ufffdy"),
        (b"plain", "text/plain; charset=zlib", "plain"),
        (b"cynva", "text/plain; charset=rot13", "cynva"),
        (b"+AGE-", "text/plain; charset=utf-7", "+AGE-"),
    ],
)
def test_character_sets(body, kind, text):
    assert text_of(body, kind) == text


@given(st.binary(max_size=80), st.text(max_size=30))
def test_any_bytes_become_text(body, kind):
    assert isinstance(text_of(body, f"text/html; charset={kind}"), str)


HOSTILE = {
    "deep": "<div>" * 100_000 + SENTENCE,
    "deep, closed": "<div>" * 50_000 + SENTENCE + "</div>" * 50_000,
    "formatting": "<b><i><font>" * 30_000 + SENTENCE,
    "lists": "<ul><li>" * 20_000 + SENTENCE,
    "attributes": "<p " + "a=b " * 100_000 + ">" + SENTENCE,
    "comments": "<!--" * 100_000 + SENTENCE,
    "entities": "&amp;" * 150_000,
    "null": "\0" * 1000 + SENTENCE,
    "no markup": SENTENCE,
    "surrogate": "\ud800" + SENTENCE,
}


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_end_in_text_or_in_a_failure(html):
    began = time.monotonic()
    with suppress(Failed):
        assert len(EXTRACTION.main_text(html)) <= LONGEST_TEXT
    assert time.monotonic() - began < 20
    assert "council" in EXTRACTION.main_text(ARTICLE)


def test_a_page_that_takes_too_long_costs_its_process_alone():
    extraction = Extraction(seconds=0.3)
    try:
        with pytest.raises(Failed) as failed:
            extraction.main_text("<p>hi there you</p>" * 50_000)
        assert failed.value.outcome is Outcome.UNREADABLE
        assert "council" in extraction.main_text(ARTICLE)
    finally:
        extraction.close()


def test_the_process_that_reads_pages_knows_no_secrets(monkeypatch):
    monkeypatch.setenv("GRAPHPRIV_X_TOKEN", "secret-of-the-test")
    extraction = Extraction()
    try:
        extraction.main_text(ARTICLE)
        assert b"secret-of-the-test" not in Path(f"/proc/{extraction._process.pid}/environ").read_bytes()
    finally:
        extraction.close()


def test_each_outcome_has_a_sentence():
    for each in Outcome:
        assert each.sentence.endswith(".")
