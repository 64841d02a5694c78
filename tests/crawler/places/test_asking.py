"""Google and Nominatim over real HTTP, against a server on loopback that speaks their documented answers."""

import json
import stat
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from crawler.places import Located, asking, gazetteers
from tabular.errors import InvalidInput, SourceUnavailable

KEY = "a-secret-key"
WORLD = ("world", "world")
PARIS = (("Paris", "locality"), ("Île-de-France", "administrative_area_level_1"), ("France", "country"))


def component(name, short, *kinds):
    return {"long_name": name, "short_name": short, "types": list(kinds)}


def google(*results, status="OK"):
    return json.dumps({"status": status, "results": list(results)})


IN_FRANCE = {
    "address_components": [
        component("Paris", "Paris", "locality", "political"),
        component("Île-de-France", "IDF", "administrative_area_level_1", "political"),
        component("France", "FR", "country", "political"),
    ],
    "geometry": {"location": {"lat": 48.85, "lng": 2.35}, "location_type": "APPROXIMATE"},
    "types": ["locality", "political"],
}
IN_TEXAS = {
    "address_components": [
        component("Paris", "Paris", "locality", "political"),
        component("Lamar County", "Lamar County", "administrative_area_level_2", "political"),
        component("Texas", "TX", "administrative_area_level_1", "political"),
        component("United States", "US", "country", "political"),
        component("75460", "75460", "postal_code"),
    ],
}
AT_BROOKLYN = {
    "partial_match": True,
    "address_components": [
        component("Prospect Heights", "Prospect Heights", "neighborhood", "political"),
        component("Brooklyn", "Brooklyn", "political", "sublocality", "sublocality_level_1"),
        component("New York", "New York", "locality", "political"),
        component("United States", "US", "country", "political"),
    ],
}


def osm(category, importance, **address):
    return {"category": category, "importance": importance, "address": address}


class Server:
    """Gives the answers it is told, in turn, and keeps what it was asked."""

    def __init__(self):
        self.answers, self.asked = [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append((self.path, dict(self.headers)))
                status, body, headers = outer.answers.pop(0)
                if status is None:
                    self.connection.close()
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body.encode()) + headers.get("missing", 0)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *arguments):
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def will(self, body="", status=200, **headers):
        self.answers.append((status, body, {name.replace("_", "-"): value for name, value in headers.items()}))
        return self

    @property
    def parameters(self):
        return [{name: only for name, (only,) in parse_qs(urlsplit(path).query).items()} for path, _ in self.asked]


class Time:
    """A clock that nobody has to wait for."""

    def __init__(self):
        self.at, self.slept = 1000.0, []

    def clock(self):
        return self.at

    def sleep(self, seconds):
        self.slept.append(round(seconds, 3))
        self.at += seconds


@pytest.fixture
def server(monkeypatch):
    made = Server()
    monkeypatch.setenv("GRAPHPRIV_GOOGLE_URL", made.url)
    monkeypatch.setenv("GRAPHPRIV_NOMINATIM_URL", made.url)
    monkeypatch.setenv("GRAPHPRIV_GOOGLE_KEY", KEY)
    monkeypatch.delenv("GRAPHPRIV_PLACES_CACHE", raising=False)
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture
def time():
    return Time()


def made(name, time, **options):
    return gazetteers[name].method(clock=time.clock, now=time.clock, sleep=time.sleep, **options)


def test_google_gives_a_path_with_types_continent_and_world(server, time):
    server.will(google(IN_FRANCE))
    place = made("google", time).locate("  Paris,  France ")
    assert place == Located((*PARIS, ("Europe", "continent"), WORLD), 0.9, "FR", ())
    path = urlsplit(server.asked[0][0]).path
    assert (path, server.parameters) == (
        "/maps/api/geocode/json",
        [{"address": "Paris, France", "language": "en", "key": KEY}],
    )


def test_several_results_of_google_are_alternatives_and_a_part_is_doubtful(server, time):
    server.will(google(IN_TEXAS, IN_FRANCE)).will(google(AT_BROOKLYN))
    both, part = (made("google", time).locate(text) for text in ("Paris", "Prospect Heights bar"))
    assert [step[1] for step in both.path[:3]] == [
        "locality",
        "administrative_area_level_2",
        "administrative_area_level_1",
    ]
    assert (both.score, both.country, len(both.alternatives)) == (0.6, "US", 1)
    assert (part.score, [kind for _, kind in part.path]) == (
        0.6,
        ["neighborhood", "sublocality", "locality", "country", "continent", "world"],
    )


@pytest.mark.parametrize("status", ["ZERO_RESULTS", "INVALID_REQUEST"])
def test_what_google_does_not_find_is_unknown_and_kept(server, time, status):
    server.will(google(status=status))
    gazetteer = made("google", time)
    assert gazetteer.locate("nowhere at all") == gazetteer.locate("nowhere  at all") == Located()
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("body", "status", "headers", "slept"),
    [
        (google(status="OVER_QUERY_LIMIT"), 200, {}, 1.0),
        (google(status="UNKNOWN_ERROR"), 200, {}, 1.0),
        ("", 429, {"Retry_After": "7"}, 7.0),
        ("", 429, {}, 1.0),
        ("", 503, {}, 1.0),
        ("", None, {}, 1.0),
        ('{"status": "OK", "resu', 200, {}, 1.0),
        ('{"status": "OK"}', 200, {}, 1.0),
        ('{"status"', 200, {"missing": 20}, 1.0),
        ("[]", 200, {}, 1.0),
    ],
)
def test_a_passing_failure_is_waited_out(server, time, body, status, headers, slept):
    server.will(body, status, **headers).will(google(IN_FRANCE))
    assert made("google", time).locate("Paris").country == "FR"
    assert time.slept[0] == slept


@pytest.mark.parametrize(
    ("body", "status"), [(google(status="OVER_QUERY_LIMIT"), 200), ("", 429), ("", 500), ("", None)]
)
def test_a_failure_that_does_not_pass_stops_after_five_attempts(server, time, body, status):
    for _ in range(5):
        server.will(body, status)
    with pytest.raises(SourceUnavailable) as stopped:
        made("google", time).locate("Paris")
    assert len(server.asked) == 5
    assert [each for each in time.slept if each >= 1] == [1, 2, 4, 8]
    assert KEY not in str(stopped.value) and "Paris" not in str(stopped.value)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (google(status="REQUEST_DENIED"), 200),
        (google(status="OVER_DAILY_LIMIT"), 200),
        ("", 401),
        ("", 403),
        ("", 302),
        ("", 404),
    ],
)
def test_a_refusal_stops_at_once(server, time, body, status):
    server.will(body, status)
    with pytest.raises(SourceUnavailable) as stopped:
        made("google", time).locate("Paris")
    assert len(server.asked) == 1
    assert KEY not in str(stopped.value)


def test_google_without_a_key_is_refused_and_names_the_variable(monkeypatch, time):
    monkeypatch.delenv("GRAPHPRIV_GOOGLE_KEY", raising=False)
    with pytest.raises(InvalidInput, match="GRAPHPRIV_GOOGLE_KEY"):
        made("google", time)


def test_an_answer_that_is_too_large_or_too_slow_is_none(server, time, monkeypatch):
    monkeypatch.setattr(asking, "_LARGEST", 100)
    for _ in range(5):
        server.will(google(IN_FRANCE))
    with pytest.raises(SourceUnavailable, match="more than 100 bytes"):
        made("google", time).locate("Paris")


def test_nominatim_gives_a_path_and_says_who_asks(server, time):
    address = {
        "city": "Paris",
        "state": "Île-de-France",
        "country": "France",
        "country_code": "fr",
        "postcode": "75001",
    }
    server.will(json.dumps([osm("boundary", 0.9, **address)]))
    place = made("nominatim", time).locate("Paris")
    assert place == Located((*PARIS, ("Europe", "continent"), WORLD), 0.9, "FR", ())
    assert server.asked[0][1]["User-Agent"].startswith("graphpriv")
    assert server.parameters[0]["q"] == "Paris" and server.parameters[0]["format"] == "jsonv2"


def test_shops_are_no_places_and_hong_kong_has_its_own_code(server, time):
    kong = {
        "city": "Kowloon",
        "state": "Hong Kong",
        "ISO3166-2-lvl3": "CN-HK",
        "country": "China",
        "country_code": "cn",
    }
    server.will(json.dumps([osm("shop", 0.8, road="High Street", country="France", country_code="fr")]))
    server.will(json.dumps([osm("boundary", 0.6, **kong)])).will("[]")
    gazetteer = made("nominatim", time)
    assert gazetteer.locate("Everywhere") == Located()
    place = gazetteer.locate("Kowloon")
    assert (place.country, place.path[:2]) == ("HK", (("Kowloon", "locality"), ("Hong Kong", "country")))
    assert gazetteer.locate("xyzzy") == Located()


def test_of_several_results_of_nominatim_the_lead_makes_the_score(server, time):
    here = osm("place", 0.8, town="Springfield", state="Ohio", country="United States", country_code="us")
    there = osm("place", 0.6, town="Springfield", state="Texas", country="United States", country_code="us")
    server.will(json.dumps([there, here, here]))
    place = made("nominatim", time).locate("Springfield")
    assert place.path[1] == ("Ohio", "administrative_area_level_1")
    assert place.score == pytest.approx(0.45 + 0.45 * 0.25)
    assert [path[1][0] for path, _ in place.alternatives] == ["Texas"]


def test_nominatim_is_asked_once_a_second(server, time):
    gazetteer = made("nominatim", time)
    for _ in range(3):
        server.will("[]")
    gazetteer.locate_all(["a", "b", "c", "a"])
    assert time.slept == [1.0, 1.0]


def test_answers_are_kept_in_a_file_of_the_owner_until_they_are_too_old(server, time, tmp_path):
    file = str(tmp_path / "answers.jsonl")
    server.will(google(IN_TEXAS, IN_FRANCE))
    first = made("google", time, cache=file).locate("Paris")
    assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600
    text = (tmp_path / "answers.jsonl").read_text()
    assert KEY not in text and "Paris, " not in text
    with Path(file).open("a") as more:
        more.write('{"key": "cut sho')
    again = made("google", time, cache=file)
    assert again.locate("Paris") == first
    server.will(google(status="ZERO_RESULTS"))
    assert again.locate("nowhere") == made("google", time, cache=file).locate("nowhere") == Located()
    assert len(server.asked) == 2
    time.at += 31 * 86_400
    server.will(google(IN_FRANCE))
    assert made("google", time, cache=file).locate("Paris").country == "FR"


def test_a_file_of_answers_that_others_can_read_is_refused(server, time, tmp_path):
    file = tmp_path / "answers.jsonl"
    file.write_text("")
    file.chmod(0o644)
    with pytest.raises(InvalidInput, match="mode 600"):
        made("google", time, cache=str(file)).locate("Paris")
    assert server.asked == []


def test_the_file_of_answers_can_be_named_by_the_environment(server, time, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHPRIV_PLACES_CACHE", str(tmp_path / "answers.jsonl"))
    server.will(google(IN_FRANCE))
    made("google", time).locate("Paris")
    assert (tmp_path / "answers.jsonl").exists()


@pytest.mark.parametrize("text", ["", " \n", "🤷 ...", "!!"])
def test_what_has_no_letter_is_not_asked(server, time, text):
    assert made("google", time).locate(text) == Located()
    assert server.asked == []
