"""The built-in categoriser: plain cases, the same answer always, no network, and weights that are fresh."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.topic_weights import learned
from crawler.topics import categorisers
from crawler.topics.embedded import vector_scores, weights
from crawler.topics.lexicon import TOLD, lexicon, read
from crawler.topics.vectors import PIECES, centred, model
from crawler.topics.writing import cleaned, words_of
from graphpriv.topics import TOPICS

TOP = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def categoriser():
    return categorisers["embedded"].make({})


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Net income rose to 3.2 mln dlrs or 41 cts a share", "Business_Finance"),
        ("A ferry capsized off the coast and forty people drowned", "Disaster_Accident"),
        ("Our teacher gave us so much homework for the exam", "Education"),
        ("That guitarist played every song of the new album on stage", "Entertainment_Culture"),
        ("Emissions of carbon dioxide keep warming the planet", "Environment"),
        ("The vaccine keeps patients out of hospital, doctors said", "Health_Medical_Pharma"),
        ("Dinner at the new sushi restaurant was delicious", "Hospitality_Recreation"),
        ("happy birthday mom, love you so much", "Human Interest"),
        ("The union calls a strike over wages at the plant", "Labor"),
        ("The jury found him guilty of murder and the judge sent him to prison", "Law_Crime"),
        ("Parliament elected a new prime minister after the vote", "Politics"),
        ("Jesus is Lord, the church sang in prayer", "Religion_Belief"),
        ("Racism and discrimination against refugees must end", "Social Issues"),
        ("She won the final in straight sets and takes the championship", "Sports"),
        ("The browser update fixes a security hole in the software", "Technology_Internet"),
        ("Heavy rain and thunderstorms, temperatures fall to 5 degrees", "Weather"),
        ("Insurgents attacked the troops with mortars near Mosul", "War_Conflict"),
        ("El delantero marcó dos goles en el partido de Champions", "Sports"),
        ("El gobierno y el congreso votan la reforma del presidente", "Politics"),
        # ruff: noqa: RUF001
        ("Η κυβέρνηση χάνει τις εκλογές, λέει ο πρωθυπουργός", "Politics"),
        ("Το γκολ στο ντέρμπι και ο διαιτητής", "Sports"),
        ("ライブのチケット当選した！新曲も楽しみ", "Entertainment_Culture"),
        ("ラーメン食べたい、美味しいお店", "Hospitality_Recreation"),
        ("⚽🏆", "Sports"),
        ("#ClimateChange", "Environment"),
    ],
)
def test_what_a_text_is_about(categoriser, text, topic):
    assert categoriser.categorise([text])[0][0][0] == topic


@pytest.mark.parametrize("text", ["", "   ", "@ann @bob", "https://example.org/a", "...", "sdfgh qwerty", "Привет"])
def test_a_text_that_says_nothing_is_other(categoriser, text):
    assert categoriser.categorise([text]) == [[("Other", 1.0)]]


@pytest.mark.parametrize(
    "text",
    [
        "Good morning everyone ☀️", "gm", "lol same", "@jane thank you so much!!", "Happy Friday!", "hi! how are you?",
        "😂😂😂", "ok", "Thanks everyone for the follows 💜", "Buenos días a todos ☀️", "jajaja qué risa",
        "Bonjour à tous",
        "Καλημέρα σε όλους", "Ευχαριστώ πολύ 🙏", "おはようございます", "フォローありがとうございます",
        "おやすみなさい🌙",
    ],
)  # fmt: skip
def test_small_talk_is_other(categoriser, text):
    assert categoriser.categorise([text]) == [[("Other", 1.0)]]


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("good morning from the office, the union called a strike", "Labor"), ("Thank you teachers", "Education"),
        ("see you in court", "Law_Crime"), ("Monday night football", "Sports"), ("I miss you", "Human Interest"),
        ("今日の試合", "Sports"), ("happy birthday mom", "Human Interest"), ("⚽🏆😂", "Sports"),
    ],
)  # fmt: skip
def test_a_greeting_beside_something_said_is_not_all_there_is(categoriser, text, topic):
    assert categoriser.categorise([text])[0][0][0] == topic


TEXTS = [line for text in read("examples").values() for line in text.splitlines()[1:8]]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=80), st.sampled_from(TEXTS)), max_size=12), st.integers(1, 5))
def test_a_text_has_the_same_answer_in_whatever_company(texts, size):
    categoriser = categorisers["embedded"].make({})
    together = categoriser.categorise(texts)
    assert together == [
        one for at in range(0, len(texts), size) for one in categoriser.categorise(texts[at : at + size])
    ]
    for answer in together:
        names, scores = [name for name, _ in answer], [score for _, score in answer]
        assert answer and len(set(names)) == len(names) and set(names) <= set(TOPICS)
        assert scores == sorted(scores, reverse=True) and 0 < scores[-1] <= scores[0] <= 1
        assert names == ["Other"] or "Other" not in names


def test_scores_of_vectors_are_those_of_plain_arithmetic():
    texts = [cleaned(each) for each in TEXTS[::9]]
    found, learned_ = model(), weights()
    centre = learned_.centre / 4096
    for text, fast in zip(texts, vector_scores(texts, [True] * len(texts)), strict=True):
        ids = found.tokenizer.encode(text, add_special_tokens=False).ids
        direction = (found.vectors[ids] / 256).mean(axis=0) - centre
        plain = direction / np.linalg.norm(direction) @ (learned_.weights[:-1] / 4096) + learned_.weights[-1] / 4096
        assert np.allclose(plain, fast, atol=1e-9)


def test_a_text_of_any_length_is_answered(categoriser):
    assert categoriser.categorise(["goal " * 400_000])[0][0][0] == "Sports"
    # No sum can leave 63 bits: all pieces the same, and the longest vector of all.
    vectors = model().vectors.astype(object)
    longest = max(int((row * row).sum()) for row in vectors[:: len(vectors) // 500])
    assert 2 * longest * (16 * PIECES) ** 2 < 2**63


def test_the_weights_are_those_that_come_of_our_examples():
    fresh, kept = learned(), weights()
    assert np.abs(fresh.weights - kept.weights).max() <= 1, "run: python -m benchmarks.topic_weights"
    assert np.abs(fresh.centre - kept.centre).max() <= 1


def test_examples_that_were_left_out_are_told():
    examples = {topic: text.strip().splitlines() for topic, text in read("examples").items()}
    kept = {topic: "\n".join(text for at, text in enumerate(texts) if at % 6) for topic, texts in examples.items()}
    left_out = [(text, topic) for topic, texts in examples.items() for text in texts[::6]]
    found = learned(kept)
    texts = [cleaned(text) for text, _ in left_out]
    vectors = centred(texts, found.centre).astype(float)
    by_vectors = vectors / np.linalg.norm(vectors, axis=1)[:, None] @ found.weights[:-1] + found.weights[-1]
    by_words = [lexicon("en").sums(text, words_of(text)) for text in texts]
    told = (by_vectors / 4096 + 0.3 / 40 * np.array(by_words) / 4).argmax(axis=1)
    right = np.mean([TOLD[at] == topic for at, (_, topic) in zip(told, left_out, strict=True)])
    assert right > 0.75


def test_it_asks_no_network_and_leaves_the_log_alone():
    code = (
        "import logging, socket; "
        "socket.socket.connect = socket.getaddrinfo = lambda *_: (_ for _ in ()).throw(AssertionError('asked')); "
        "from crawler.topics import categorisers; "
        "print(categorisers['embedded'].make({}).categorise(['goal'])[0][0][0], logging.getLogger().handlers, "
        "logging.getLogger().level)"
    )
    # No home: nothing of a cache in it can be what is read.
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=TOP, env={"HOME": "/nonexistent"}
    )
    assert (ended.stdout, ended.returncode) == (f"Sports [] {logging.WARNING}\n", 0), ended.stderr


def test_naming_the_categorisers_loads_none_of_them():
    code = "import sys; from crawler.topics import categorisers; print(set(sys.modules) & {'wordllama', 'tokenizers'})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=TOP)
    assert ended.stdout == "set()\n", ended.stderr


def test_a_text_is_taken_to_pieces_word_by_word_as_the_whole_is():
    found = model()
    for text in (cleaned(each) for each in TEXTS):
        whole = found.tokenizer.encode(text, add_special_tokens=False).ids
        assert found.pieces([text]) == [whole]
