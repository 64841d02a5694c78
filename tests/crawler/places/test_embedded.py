"""Places of free texts, by the embedded gazetteer."""
# ruff: noqa: RUF001 (people write in fancy letters)

import csv
import hashlib
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.places import Located, gazetteers
from crawler.places.folding import fold
from graphpriv.places import check_paths

LABELS = Path(__file__).parents[2] / "data" / "locations" / "labels.csv"
GAZETTEER = gazetteers["embedded"].method()

#: What is ambiguous, with the country that is right and a place on its path; ours, from general knowledge.
AMBIGUOUS = {
    "Paris, TX": ("US", "Texas"),
    "Paris": ("FR", "Paris"),
    "paris, kentucky": ("US", "Kentucky"),
    "London ON": ("CA", "Ontario"),
    "London, England": ("GB", "England"),
    "London, Ohio": ("US", "Ohio"),
    "Georgia, USA": ("US", "Georgia"),
    "Atlanta, Georgia": ("US", "Atlanta"),
    "Tbilisi, Georgia": ("GE", "Tbilisi"),
    "Batumi Georgia": ("GE", "Batumi"),
    "CA": ("US", "California"),
    "Toronto, CA": ("CA", "Toronto"),
    "Berlin, DE": ("DE", "Berlin"),
    "Wilmington, DE": ("US", "Delaware"),
    "Indianapolis, IN": ("US", "Indiana"),
    "Mumbai, IN": ("IN", "Mumbai"),
    "Bogota, CO": ("CO", "Bogotá"),
    "Denver, CO": ("US", "Colorado"),
    "Haifa, IL": ("IL", "Haifa"),
    "Peoria, IL": ("US", "Illinois"),
    "Cordoba, Spain": ("ES", "Córdoba"),
    "Córdoba, Argentina": ("AR", "Córdoba"),
    "San Jose, CA": ("US", "San Jose"),
    "San José, Costa Rica": ("CR", "San José"),
    "Salamanca": ("ES", "Salamanca"),
    "Salamanca, Guanajuato": ("MX", "Salamanca"),
    "Manchester": ("GB", "Manchester"),
    "Manchester, NH": ("US", "New Hampshire"),
    "Birmingham": ("GB", "Birmingham"),
    "Birmingham AL": ("US", "Alabama"),
    "Cambridge, MA": ("US", "Massachusetts"),
    "Cambridge, UK": ("GB", "Cambridge"),
    "Valencia, España": ("ES", "Valencia"),
    "Valencia, Venezuela": ("VE", "Valencia"),
    "Victoria BC": ("CA", "Victoria"),
    "Melbourne, Victoria": ("AU", "Victoria"),
    "Melbourne, FL": ("US", "Melbourne"),
    "Perth, WA": ("AU", "Western Australia"),
    "Vancouver, WA": ("US", "Washington"),
    "Perth, Scotland": ("GB", "Scotland"),
    "Sydney, NS": ("CA", "Nova Scotia"),
    "Portland": ("US", "Oregon"),
    "Portland, ME": ("US", "Maine"),
    "Springfield, MA": ("US", "Massachusetts"),
    "Springfield": ("US", "United States"),
    "St Petersburg, FL": ("US", "Florida"),
    "St. Petersburg, Russia": ("RU", "Saint Petersburg"),
    "Naples, FL": ("US", "Naples"),
    "Naples": ("IT", "Naples"),
    "Moscow, Idaho": ("US", "Idaho"),
    "Cairo, Egypt": ("EG", "Cairo"),
    "Lebanon, PA": ("US", "Pennsylvania"),
    "Peru, Indiana": ("US", "Indiana"),
    "Mexico, MO": ("US", "Missouri"),
    "Ontario, California": ("US", "California"),
    "Toledo, España": ("ES", "Toledo"),
    "Toledo, OH": ("US", "Ohio"),
    "Hyderabad, Pakistan": ("PK", "Sindh"),
    "Boston, Lincolnshire": ("GB", "Boston"),
    "New York, USA": ("US", "New York"),
    "Washington DC": ("US", "District of Columbia"),
    "Kingston, Jamaica": ("JM", "Kingston"),
    "Hamilton, NZ": ("NZ", "Hamilton"),
    "Granada, Nicaragua": ("NI", "Granada"),
}

#: Ways to write a place, with its country and a place on its path.
WRITTEN = {
    "München": ("DE", "Munich"),
    "東京": ("JP", "Tokyo"),
    "Ελλάδα": ("GR", "Greece"),
    "Москва, Россия": ("RU", "Moscow"),
    "भारत": ("IN", "India"),
    "서울": ("KR", "Seoul"),
    "القاهرة": ("EG", "Cairo"),
    "🇧🇷": ("BR", "Brazil"),
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f": ("GB", "Scotland"),
    "London 🇨🇦": ("CA", "Ontario"),
    "𝓝𝓮𝔀 𝓨𝓸𝓻𝓴": ("US", "New York"),
    "ＴＯＫＹＯ": ("JP", "Tokyo"),
    "ʟᴏɴᴅᴏɴ": ("GB", "London"),
    "the Windy City": ("US", "Chicago"),
    "Lone Star State": ("US", "Texas"),
    "The Bay Area": ("US", "San Francisco Bay Area"),
    "somewhere in Texas": ("US", "Texas"),
    "born in Leeds, living in Berlin": ("DE", "Berlin"),
    "Ohio ➡ via Kansas": ("US", "Ohio"),
    "40.7128, -74.0060": ("US", "New York City"),
    "51.50° N, 0.12° W": ("GB", "England"),
    "ÜT: -33.86,151.20": ("AU", "New South Wales"),
    "M5V 2T6": ("CA", "Ontario"),
    "Beverly Hills, CA 90210": ("US", "California"),
    "10115 Berlin": ("DE", "Berlin"),
    "Hong Kong": ("HK", "Hong Kong"),
    "San Juan, Puerto Rico": ("PR", "San Juan"),
    "Taipei, Taiwan": ("TW", "Taipei"),
    "Prishtina, Kosovo": ("XK", "Kosovo"),
    "Cardiff, Wales": ("GB", "Wales"),
    "[Nairobi] | Kenya": ("KE", "Nairobi"),
    "#Lagos": ("NG", "Lagos"),
    "Brooklyn": ("US", "New York City"),
    "LAX": ("US", "Los Angeles"),
    "#NewYork": ("US", "New York"),
    "pensylvania": ("US", "Pennsylvania"),
    "TEXAAAAAS": ("US", "Texas"),
    "u s a": ("US", "United States"),
    "lebanon, or": ("US", "Oregon"),
    "Leeds, West Yorkshire": ("GB", "Leeds"),
    "Antibes, Alpes-Maritimes": ("FR", "Antibes"),
    "Mostar, Bosnia and Herzegovina": ("BA", "Mostar"),
    "Ellenwood ga": ("US", "Georgia"),
    "Nowhereville, Nebraska": ("US", "Nebraska"),
    "new york..where else?": ("US", "New York City"),
}

NOWHERE = (
    "", "Earth", "Worldwide", "the internet", "she/her", "everywhere", "in your heart", "Hogwarts", "Nice", "Mobile",
    "Reading", "Of", "Bath", "Hell", "Paradise", "home", "Love", "90210", "https://example.org/paris", "@london", "DE",
    "??", "he/him 🏳️‍🌈", "Not telling you.",
    "Home sweet home", "Proud Indian", "IG: me", "Joe's basement", "Here & there", "under your bed", "0,0",
)  # fmt: skip


def locate(text: str) -> Located:
    return GAZETTEER.locate(text)


def names(place: Located) -> set[str]:
    return {name for name, _ in place.path}


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_an_ambiguous_name_is_told_by_what_stands_beside_it(text):
    country, name = AMBIGUOUS[text]
    place = locate(text)
    assert (place.country, name in names(place)) == (country, True), place


@pytest.mark.parametrize("text", WRITTEN)
def test_a_place_is_known_however_it_is_written(text):
    country, name = WRITTEN[text]
    place = locate(text)
    assert (place.country, name in names(place)) == (country, True), place


@pytest.mark.parametrize("text", NOWHERE)
def test_what_names_no_place_is_unknown(text):
    place = locate(text)
    assert (place.path, place.score, place.country) == ((), 0.0, None)


@pytest.mark.parametrize(
    "text", ["Jordan Smith", "Team Jordan", "my name is Jordan", "Virginia Woolf", "Miss you dad", "mass effect fan",
             "instagram: lola", "name: Santiago", "TikTok: jordan"],
)  # fmt: skip
def test_names_of_people_are_no_places(text):
    assert GAZETTEER.locate(text).path == ()


@pytest.mark.parametrize(
    ("text", "country"),
    [("Jordan", "JO"), ("Amman Jordan", "JO"), ("live music in Austin", "US"), ("Austin Texas", "US"),
     ("Austin baby", "US"), ("Ellenwood Georgia", "US"), ("Jackson, Miss.", "US"), ("Boston Mass", "US"),
     ("IG: @lola | Madrid", "ES"),
     ("Location: Berlin", "DE")],
)  # fmt: skip
def test_places_that_are_called_like_people_are_known_where_something_says_so(text, country):
    assert GAZETTEER.locate(text).country == country


def test_several_places_give_the_closest_common_one_with_each_as_an_alternative():
    place = locate("NYC / LA")
    assert place.path[0] == ("United States", "country")
    assert [path[0][0] for path, _ in place.alternatives] == ["New York City", "Los Angeles"]
    assert locate("London & Paris").path == (("Europe", "continent"), ("world", "world"))
    far = locate("Tokyo, Nairobi")
    assert (far.path, far.country) == ((("world", "world"),), None)
    assert locate("🇨🇱🇧🇸").path == (("world", "world"),)


def test_a_name_that_stands_for_many_has_a_low_score_and_alternatives():
    alone, beside = locate("San Jose"), locate("San Jose, California")
    assert alone.score < 0.8 < beside.score
    assert "CR" in {_country(path) for path, _ in alone.alternatives}
    georgia = locate("Georgia")
    assert georgia.score < 0.8 and {path[0][1] for path, _ in georgia.alternatives} == {"country"}


def _country(path):
    return {"Costa Rica": "CR"}.get(next(name for name, kind in path if kind == "country"))


def test_a_path_has_the_types_of_table_6_1_up_to_the_world():
    assert locate("Brooklyn, NY").path == (
        ("Brooklyn", "sublocality"),
        ("New York City", "locality"),
        ("New York", "administrative_area_level_1"),
        ("United States", "country"),
        ("North America", "continent"),
        ("world", "world"),
    )


def test_a_threshold_makes_doubtful_places_unknown():
    strict = gazetteers["embedded"].method(threshold=0.9)
    assert strict.locate("San Jose").path == ()
    assert strict.locate("San Jose").alternatives[0][0][0] == ("San Jose", "locality")
    assert strict.locate("San Jose, CA").is_known


WORDS = [
    "Paris",
    "London",
    "TX",
    "Springfield",
    "Georgia",
    "東京",
    "🇫🇷",
    "Россия",
    ",",
    "/",
    "&",
    "near",
    "living in",
    "from",
    "51.5",
    "-0.1",
    "X",
]
TEXTS = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join))


@given(TEXTS)
def test_any_text_gives_a_sound_path_or_none(text):
    place = locate(text)
    assert 0 <= place.score <= 1
    paths = {
        number: path for number, path in enumerate([place.path, *(path for path, _ in place.alternatives)]) if path
    }
    assert check_paths(paths) == paths
    assert place.is_known == (place.score > 0)
    assert place.country is None or len(place.country) == 2
    assert gazetteers["embedded"].method().locate(text) == place


@given(TEXTS, st.sampled_from(["  ", "\t", " \n"]))
def test_blanks_around_and_between_words_do_not_matter(text, blank):
    assert locate(blank.join(["", *text.split(), ""])) == locate(" ".join(text.split()))


@given(
    st.lists(
        st.sampled_from(["Paris", "Springfield", "Georgia", "Ohio", "Barcelona", "near", "Москва", ",", "/"]),
        max_size=5,
    )
)
def test_the_case_of_whole_names_does_not_matter(words):
    text = " ".join(words)
    assert locate(text.lower()) == locate(text.upper()) == locate(text)


@given(st.text(alphabet=string.ascii_letters + " ,", max_size=30))
def test_a_name_is_folded_once(text):
    assert fold(fold(text)) == fold(text)


def test_the_hand_labels_come_out(shared_folder):
    """The bounds of issue 14: of the strings that may be looked at, and of those that were only counted."""
    with (shared_folder / "user_locations" / "locations_dev.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["user_location"] for row in csv.DictReader(file)]
    with LABELS.open(encoding="utf-8", newline="") as file:
        labels = {row["sha256"]: row for row in csv.DictReader(file)}
    both = [(labels[hashlib.sha256(text.encode()).hexdigest()], locate(text)) for text in texts]
    assert len(both) == len(labels) == 524
    for half in ("01234567", "89abcdef"):
        judged = [(label, place) for label, place in both if label["sha256"][0] in half]
        named = [(label, place) for label, place in judged if label["place"] == "yes"]
        answered = [(label, place) for label, place in named if place.is_known]
        false = [place.is_known for label, place in judged if label["place"] == "no"]
        regions = [(label, place) for label, place in answered if label["region_named"] == "yes"]
        assert len(answered) >= 0.95 * len(named)
        assert sum((place.country or "") == label["country"] for label, place in answered) >= 0.985 * len(answered)
        assert sum(false) <= 0.08 * len(false)
        right = sum(bool(names_of(label["region"]) & folded(place)) for label, place in regions)
        assert right >= 0.95 * len(regions)


def names_of(label: str) -> set[str]:
    return {fold(name) for name in label.split(";")}


def folded(place: Located) -> set[str]:
    return {fold(name) for name in names(place)}
