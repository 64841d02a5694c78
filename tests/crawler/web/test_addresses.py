# ruff: noqa: RUF001
"""Which addresses may be asked: by hand, by the registries of IANA as Python knows them, and for any spelling."""

from __future__ import annotations

import re
import threading
import time
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.web.addresses import Endpoint, Guard, is_public, resolve
from crawler.web.outcomes import Failed, Outcome
from crawler.web.targets import Target

PRIVATE = {
    "unspecified": "0.0.0.0",
    "this network": "0.1.2.3",
    "private 10": "10.11.12.13",
    "private 172": "172.31.255.255",
    "private 192": "192.168.1.1",
    "loopback": "127.0.0.1",
    "the rest of loopback": "127.255.0.9",
    "link-local": "169.254.1.1",
    "metadata": "169.254.169.254",
    "Azure's metadata": "168.63.129.16",
    "Alibaba's metadata": "100.100.100.200",
    "Oracle's metadata": "192.0.0.192",
    "CGNAT": "100.64.0.1",
    "benchmarks": "198.19.255.255",
    "documentation 1": "192.0.2.1",
    "documentation 2": "198.51.100.1",
    "documentation 3": "203.0.113.1",
    "multicast": "224.0.0.1",
    "reserved": "240.0.0.1",
    "broadcast": "255.255.255.255",
    "relays of 6to4": "192.88.99.1",
    "loopback 6": "::1",
    "unspecified 6": "::",
    "mapped": "::ffff:127.0.0.1",
    "mapped, of a public one": "::ffff:93.184.216.34",
    "compatible": "::127.0.0.1",
    "NAT64": "64:ff9b::7f00:1",
    "local NAT64": "64:ff9b:1::a00:1",
    "6to4": "2002:7f00:1::",
    "Teredo": "2001:0:53aa:64c:0:fffe:80ff:fffe",
    "unique local": "fd12:3456:789a::1",
    "Amazon's metadata 6": "fd00:ec2::254",
    "link-local 6": "fe80::1",
    "link-local with a zone": "fe80::1%eth0",
    "public with a zone": "2606:4700::1%eth0",
    "site-local": "fec0::1",
    "multicast 6": "ff02::1",
    "documentation 6": "2001:db8::1",
    "documentation 6, the new one": "3fff::1",
    "benchmarks 6": "2001:2::1",
    "discard only": "100::1",
    "segment routing": "5f00::1",
}


@pytest.mark.parametrize("address", PRIVATE.values(), ids=PRIVATE)
def test_an_address_that_is_not_public_is_refused(address):
    assert not is_public(ip_address(address))
    with pytest.raises(Failed) as failed:
        Guard(resolve=lambda host, port, seconds: [address]).addresses("site.example", 443, 1.0)
    assert failed.value.outcome is Outcome.PRIVATE


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "100.128.0.1", "172.32.0.1", "2606:4700::1111"])
def test_a_public_address_may_be_asked(address):
    assert is_public(ip_address(address))
    assert Guard(resolve=lambda host, port, seconds: [address]).addresses("a.example", 80, 1.0) == [address]


def near(text, step):
    """An address beside another one, where a network may end."""
    address = ip_address(text.partition("%")[0])
    return type(address)(min(max(int(address) + step, 0), 2**address.max_prefixlen - 1))


addresses = st.one_of(
    st.integers(0, 2**32 - 1).map(IPv4Address),
    st.integers(0, 2**128 - 1).map(IPv6Address),
    st.builds(near, st.sampled_from(sorted(PRIVATE.values())), st.integers(-3, 3)),
)


@given(addresses)
@example(IPv6Address("64:ff9b::1.1.1.1"))
@example(IPv4Address("192.0.0.9"))
def test_whatever_python_calls_not_global_is_refused(address):
    if not address.is_global or address.is_multicast:
        assert not is_public(address)


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_what_is_refused_beyond_python_is_little(address):
    # What Python calls global and we do not lies in the few networks that carry others, or have secrets.
    if address.is_global and not address.is_multicast and not is_public(address):
        text = str(address)
        assert text.startswith(("192.0.0.", "192.31.196.", "192.52.193.", "192.88.99.", "192.175.48.", "168.63.129.16"))


refused = st.one_of(
    st.sampled_from([IPv4Address(each) for each in PRIVATE.values() if ":" not in each]),
    st.integers(0, 2**32 - 1).map(IPv4Address).filter(lambda address: not address.is_global),
)


@st.composite
def spellings(draw):
    """A refused address of IPv4 in any spelling that some program understands."""
    address = int(draw(refused))
    digits = draw(st.integers(1, 4))
    heads = [address >> 24 & 255, address >> 16 & 255, address >> 8 & 255][: digits - 1]
    rest = address & (2 ** (8 * (5 - digits)) - 1)
    forms = [str, lambda n: f"0{n:o}", lambda n: f"0x{n:x}", lambda n: f"0X{n:X}", lambda n: f"00{n}"]
    text = ".".join(draw(st.sampled_from(forms))(number) for number in [*heads, rest])
    disguise = draw(st.sampled_from(["none", "fullwidth", "dots", "circled", "percent", "trailing"]))
    if disguise == "fullwidth":
        text = text.translate({ord("0") + n: chr(0xFF10 + n) for n in range(10)})
    elif disguise == "dots":
        text = text.replace(".", draw(st.sampled_from("。．｡")))
    elif disguise == "circled":
        text = text.translate({ord("1") + n: chr(0x2460 + n) for n in range(9)})
    elif disguise == "percent":
        text = "".join(f"%{ord(char):02x}" for char in text)
    elif disguise == "trailing":
        text += "."
    return text


@given(spellings(), st.sampled_from(["", ":80", ":443", ":"]))
@example("2130706433", "")
@example("0177.1", "")
@example("0x7f.1", "")
@example("127.1", "")
@example("①②⑦.0.0.1", "")
def test_no_spelling_of_a_refused_address_gets_through(host, port):
    asked: list[str] = []

    def never(host, port, seconds):
        asked.append(host)
        return ["127.0.0.1"]

    guard = Guard(resolve=never)
    with pytest.raises(Failed):
        target = Target.of(f"http://{host}{port}/", guard)
        guard.addresses(target.host, target.port, 1.0)
    # None of these is taken for a name, which a name server could then turn into anything.
    assert asked == []


@given(st.sampled_from([each for each in PRIVATE.values() if ":" in each]))
def test_no_literal_of_ipv6_gets_through(address):
    guard = Guard()
    with pytest.raises(Failed):
        target = Target.of(f"http://[{address}]/", guard)
        guard.addresses(target.host, target.port, 1.0)


def test_one_private_address_among_public_ones_refuses_the_host():
    guard = Guard(resolve=lambda host, port, seconds: ["93.184.216.34", "10.0.0.1"])
    with pytest.raises(Failed) as failed:
        guard.addresses("both.example", 443, 1.0)
    assert failed.value.outcome is Outcome.PRIVATE


def test_a_host_without_an_address_is_unresolved():
    with pytest.raises(Failed) as failed:
        Guard(resolve=lambda host, port, seconds: []).addresses("nobody.example", 443, 1.0)
    assert failed.value.outcome is Outcome.UNRESOLVED


def test_the_switch_of_the_demonstration_lets_exactly_one_endpoint_pass():
    guard = Guard(resolve=lambda host, port, seconds: ["127.0.0.1"], exempt=Endpoint("127.0.0.1", 8123))
    assert guard.addresses("127.0.0.1", 8123, 1.0) == ["127.0.0.1"]
    assert Target.of("http://127.0.0.1:8123/a", guard).url == "http://127.0.0.1:8123/a"
    for url in ("http://127.0.0.1:8124/", "http://127.0.0.1/", "http://localhost:8123/", "http://127.1:8123/",
                "http://127.0.0.2:8123/", "http://[::ffff:127.0.0.1]:8123/", "http://x@127.0.0.1:8123/"):  # fmt: skip
        with pytest.raises(Failed):
            target = Target.of(url, guard)
            guard.addresses(target.host, target.port, 1.0)


def test_no_door_has_a_way_to_the_switch():
    top = Path(__file__).parents[3]
    uses = {
        str(path.relative_to(top))
        for package in ("tabular", "graphpriv", "crawler", "api")
        for path in (top / package).rglob("*.py")
        if re.search(r"\b(Endpoint\(|exempt\s*=)", path.read_text())
    }
    # Besides the guard itself: the address that a source was configured with, and the demonstration.
    assert uses <= {"crawler/web/addresses.py", "crawler/sources/plain.py", "crawler/demonstration.py"}
    assert "environ" not in (top / "crawler" / "web" / "addresses.py").read_text()


def test_the_system_resolves_loopback_without_a_name_server():
    assert resolve("127.0.0.1", 80, 5.0) == ["127.0.0.1"]
    assert resolve("a name that cannot be.example", 80, 5.0) == []


def test_a_name_server_that_does_not_answer_takes_no_longer_than_it_may(monkeypatch):
    ends = threading.Event()

    def hang(*given, **more):
        ends.wait(10)
        return []

    monkeypatch.setattr("socket.getaddrinfo", hang)
    began = time.monotonic()
    with pytest.raises(Failed) as failed:
        resolve("slow.example", 80, 0.1)
    ends.set()
    assert failed.value.outcome is Outcome.TIMEOUT
    assert time.monotonic() - began < 2
