"""Protecting and extracting, as typed."""

import csv
import json
from collections import Counter

import numpy as np
import pytest

from api.errors import Outcome, outcome_of
from api.verbs import verbs
from api.verbs.contract import Work
from graphpriv.formats import write_graph
from graphpriv.synthetic import synthetic_graph
from tabular.errors import AlreadyReleased


@pytest.fixture
def stored(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    return graphpriv


def test_a_release_of_the_thesis_has_its_profile(stored, tmp_path):
    ended = stored("protect", "g", "--k", 4, "--into", "r", "--seed", 1, "--json")
    assert ended.code == 0
    assert "warning: a fixed seed" in ended.err
    assert (ended.document["k"], ended.document["users"], ended.document["profiles"]) == (4, 4, 1)
    stored("graph", "export", "r", "--out", "r.json")
    nodes = json.loads((tmp_path / "r.json").read_text())["nodes"]
    assert {(node["location"], *node["topics"]) for node in nodes} == {("world", "Technology", "Politics", "Sports")}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(stored, tmp_path):
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        stored("protect", "g", "--k", 2, "--into", name, "--seed", seed)
        stored("graph", "export", name, "--out", f"{name}.json")
        stored("graph", "delete", name)
    one, two, other = ((tmp_path / f"{name}.json").read_bytes() for name in "abc")
    assert one == two
    assert one != other


@pytest.mark.parametrize("k", [0, 1, -3])
def test_a_k_that_protects_nobody_is_refused(stored, k):
    ended = stored("protect", "g", "--k", k, "--into", "r")
    assert ended.code == 2
    assert "at least 2" in ended.error
    assert len(stored("graph", "list", "--json").document["graphs"]) == 1


def test_a_k_above_the_number_of_users_has_no_solution(stored):
    ended = stored("protect", "g", "--k", 5, "--into", "r")
    assert ended.code == 3
    assert ended.error == "No release with k=5 exists: the graph has 4 users. Lower k or add users."
    assert len(stored("graph", "list", "--json").document["graphs"]) == 1


def test_a_name_that_exists_is_refused(stored):
    assert (
        "into must be another name than that of the original"
        in stored("protect", "g", "--k", 2, "--into", "g", "--overwrite").error
    )
    stored("protect", "g", "--k", 2, "--into", "r", "--seed", 1)
    ended = stored("protect", "g", "--k", 2, "--into", "r")
    assert ended.code == 2
    assert "'r'" in ended.error
    assert stored("protect", "g", "--k", 3, "--into", "r", "--seed", 1, "--overwrite").code == 0


@pytest.fixture
def released(stored, tmp_path):
    """A release of 60 users, and `protect` of the same users again."""
    write_graph(synthetic_graph(60, 120, rng=np.random.default_rng(4)), tmp_path / "town.json")
    stored("graph", "import", "town.json", "--graph", "town")
    assert stored("protect", "town", "--k", 5, "--into", "one", "--seed", 1).code == 0

    def again(*arguments):
        return stored("protect", "town", "--k", 5, "--into", "two", "--seed", 2, *arguments)

    return again


def test_a_second_live_release_is_refused_with_the_ways_out(released, graphpriv):
    ended = released()
    assert ended.code == 2
    assert ended.error == (
        "'town' has the live release 'one' already, and links tell which rows of two releases are one user, so that "
        "together they break k. Keep its clusters with --previous, delete it or replace it under its name with "
        "--overwrite, or take the joint k with --accept-combined-risk. A copy that was exported is live wherever it is."
    )
    graphpriv("graph", "import", "town.json", "--graph", "elsewhere")
    # The same data under another name.
    ended = graphpriv("protect", "elsewhere", "--k", 5, "--into", "two", "--seed", 2, "--accept-combined-risk")
    assert ended.code == 2
    assert ended.error == (
        "'one' is a live release of 'town', which held the same data as 'elsewhere', and links tell which rows of two "
        "releases are one user. Make the next one from 'town', or delete 'one'."
    )
    assert graphpriv("sweep", "town", "--k", 5, "--runs", 1, "--attacker", "ego").code == 0
    assert [each["name"] for each in graphpriv("graph", "list", "--json").document["graphs"]] == [
        *("elsewhere", "g", "one", "town"),
    ]


def test_a_release_goes_beside_another_if_its_clusters_are_kept(released):
    ended = released("--previous", "one", "--json")
    assert ended.code == 0, ended.err
    assert (ended.document["beside"], ended.document["joint_k"]) == (["one"], 5)
    told = released("--previous", "one", "--overwrite")
    assert "Together with one: joint k 5" in told.out


def test_a_release_goes_beside_another_if_the_joint_k_is_taken(released):
    ended = released("--accept-combined-risk", "--json")
    assert ended.code == 0, ended.err
    assert ended.document["k"] == 5
    assert ended.document["joint_k"] == 1
    third = released("--overwrite")
    assert third.code == 2
    assert "'one'" in third.error
    assert "Together with one: joint k 1" in released("--accept-combined-risk", "--overwrite").out


def test_a_release_takes_the_place_of_another(released, graphpriv):
    ended = graphpriv("protect", "town", "--k", 5, "--into", "one", "--seed", 2, "--overwrite", "--json")
    assert (ended.code, ended.document["beside"], ended.document["joint_k"]) == (0, [], 5)
    graphpriv("graph", "delete", "one")
    assert released().code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--previous", "on"), 2, "No release of 'town' is called 'on'; did you mean 'one'?"),
        (("--previous", "town"), 2, "No release of 'town' is called 'town'; there is one."),
        (
            ("--previous", "one", "--accept-combined-risk"),
            2,
            "--accept-combined-risk has no effect with --previous; leave one of them out.",
        ),
        (("--previous", "one", "--k", 6), 3, "Lower k to 5, or delete it."),
    ],
)
def test_what_cannot_go_beside_another_is_refused(released, graphpriv, arguments, code, words):
    ended = released(*arguments)
    assert ended.code == code
    assert words in ended.error
    assert "two" not in graphpriv("graph", "list").out


def test_a_person_who_was_forgotten_bars_keeping_clusters_and_is_told_of(released, graphpriv, tmp_path):
    somebody = json.loads((tmp_path / "town.json").read_text())["nodes"][7]["id"]
    graphpriv("graph", "forget", "town", somebody)
    ended = released("--previous", "one")
    assert ended.code == 3
    assert "a row of a person forgotten" in ended.error
    ended = released("--accept-combined-risk")
    assert ended.code == 0
    assert "1 row of forgotten persons is only in earlier releases" in ended.err


def test_a_second_live_release_is_a_conflict_to_the_service():
    assert outcome_of(AlreadyReleased("x")) == Outcome(409, 2, "Already released")


def test_microdata_are_not_written_under_the_name_of_another_format(stored, tmp_path):
    ended = stored("microdata", "g", "--out", "m.parquet")
    assert ended.code == 2
    assert not (tmp_path / "m.parquet").exists()


def test_an_unknown_method_is_refused_in_one_line(stored):
    ended = stored("protect", "g", "--k", 2, "--into", "r", "--method", "closest")
    assert ended.code == 2
    assert "closest-profiles" in ended.error


def test_a_parameter_the_method_does_not_have_is_refused(stored):
    ended = stored("protect", "g", "--k", 2, "--into", "r", "--param", "colour=red")
    assert ended.code == 2
    assert "--param 'colour=red'" in ended.error


def test_microdata_say_which_k_they_have(stored, tmp_path):
    stored("protect", "g", "--k", 4, "--into", "r", "--seed", 1)
    ended = stored("microdata", "r", "--out", "m.csv", "--seed", 1, "--json")
    assert ended.code == 0
    # Degrees 3, 1, 1, 1: one user stands alone, though all four share a profile.
    assert (ended.document["rows"], ended.document["k"], ended.document["k_without_degree"]) == (4, 1, 4)
    with (tmp_path / "m.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["degree"] for row in rows) == ["1", "1", "1", "3"]
    assert {row["topic1"] for row in rows} == {"Technology"}
    assert (tmp_path / "m.csv.dictionary.json").exists()


def test_microdata_of_an_original_as_it_is_are_for_their_owner_alone(stored, tmp_path):
    assert "not protected" in stored("microdata", "g", "--out", "m.csv", "--seed", 1).err
    for name in ("m.csv", "m.csv.dictionary.json"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_microdata_below_the_k_asked_for_are_not_written(stored, tmp_path):
    stored("protect", "g", "--k", 4, "--into", "r", "--seed", 1)
    ended = stored("microdata", "r", "--out", "m.csv", "--k", 2)
    assert ended.code == 3
    assert not (tmp_path / "m.csv").exists()
    assert not (tmp_path / "m.csv.dictionary.json").exists()


def masked_rows(path):
    with path.open() as file:
        return Counter(tuple(row.values()) for row in csv.DictReader(file))


@pytest.mark.parametrize("graph", ["g", "r"])
def test_microdata_are_masked_so_that_k_holds_with_the_degree(stored, tmp_path, graph):
    stored("protect", "g", "--k", 4, "--into", "r", "--seed", 1)
    ended = stored("microdata", graph, "--out", "m.csv", "--k", 2, "--method", "mondrian", "--json")
    assert ended.code == 0
    counts = masked_rows(tmp_path / "m.csv")
    assert min(counts.values()) == ended.document["k"] >= 2
    assert ended.document["rows"] == sum(counts.values()) == 4
    assert ended.document["measured_against"] == ("the original" if graph == "r" else "the graph itself")
    assert 0 <= ended.document["information_loss"] <= 100
    dictionary = json.loads((tmp_path / "m.csv.dictionary.json").read_text())
    assert dictionary["disclosure_risk"] == ended.document["disclosure_risk"]
    assert "not protected" not in ended.err


def test_masked_microdata_say_their_k_their_loss_and_their_risk(stored):
    ended = stored("microdata", "g", "--out", "m.csv", "--k", 2, "--method", "microaggregation")
    assert "with the degree, counted in the masked table" in ended.out
    assert "Against the graph itself: information loss" in ended.out
    ended = stored("microdata", "g", "--out", "p.csv", "--method", "pram")
    assert "pram promises no k" in ended.out


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (("--method", "pram", "--k", 4), 3, "promises no k"),
        (("--method", "mondrian", "--k", 5), 3, "the table has 4 records"),
        (("--method", "mondrian"), 2, "needs --k"),
        (("--method", "mondrian", "--k", 1), 2, "at least 2"),
        (("--method", "mondrian", "--param", "k=1"), 2, "at least 2"),
        (("--method", "mondrien", "--k", 2), 2, "did you mean 'mondrian'?"),
        (("--method", "global-median", "--k", 2), 2, "'location' is nominal"),
        (("--param", "k=2"), 2, "--method"),
    ],
)
def test_microdata_that_cannot_be_masked_leave_nothing(stored, tmp_path, arguments, code, part):
    before = sorted(tmp_path.iterdir())
    ended = stored("microdata", "g", "--out", "m.csv", *arguments)
    assert ended.code == code
    assert part in ended.error
    assert sorted(tmp_path.iterdir()) == before


@pytest.fixture(scope="module")
def hundred(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "hundred.json"
    write_graph(synthetic_graph(100, rng=np.random.default_rng(1)), str(path))
    return path


@pytest.fixture
def larger(graphpriv, hundred):
    graphpriv("graph", "import", hundred, "--graph", "g")
    return graphpriv


def test_a_release_says_what_it_loses_and_what_every_one_would(larger):
    found = larger("protect", "g", "--k", 4, "--into", "r", "--seed", 1, "--json").document
    assert found["method"] == "least-loss"
    assert 0 < found["lower_bound"] < found["loss"] < 1
    assert found["gap"] == found["loss"] - found["lower_bound"]
    assert larger("audit", "g", "r", "--json").document["information_loss"]["dbil"] == pytest.approx(found["loss"])
    told = larger("protect", "g", "--k", 4, "--into", "r", "--seed", 1, "--overwrite").out
    assert f"Loss {found['loss']:.4f}" in told
    assert f"k=4 can lose less than {found['lower_bound']:.4f}" in told
    chosen = ("--method", "closest-profiles", "--accept-combined-risk")
    assert "gap" not in larger("protect", "g", "--k", 4, "--into", "s", *chosen, "--json").document


def test_weights_first_topics_and_a_limit_are_options(larger):
    options = ("--k", 4, "--seed", 1, "--overwrite", "--json", "--into", "r")
    even = larger("protect", "g", *options, "--weights", "location=1").document
    place = larger("protect", "g", *options, "--weights", "location=8,topic1=2").document
    several = larger("protect", "g", *options, "--l", 3).document
    below = larger("protect", "g", *options, "--limit", "location=world").document
    assert even["loss"] == below["loss"] < several["loss"]
    assert place["loss"] != even["loss"]


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (("--weights", "location=-1"), 2, "location a whole number from 0 to 1000, not 'location=-1'."),
        (("--weights", "location=0,topic1=0,topic2=0,topic3=0"), 2, "--weights must give at least one attribute more"),
        (("--limit", "place=country"), 2, "--limit must be location= and one of route"),
        (("--limit", "location=country"), 3, "No release with k=4 keeps --limit location=country: "),
        (("--l", 40), 3, "No release with --l=40 exists: the graph has 13 first topics. Lower --l to 13."),
        (("--l", 0), 2, "--l must be at least 1"),
        (("--weights", "location=2", "--method", "closest-profiles"), 2, "to closest-profiles; least-loss takes it."),
        (("--l", 2, "--param", "l=3"), 2, "--l is given twice, once as --param."),
    ],
)  # fmt: skip
def test_what_a_protection_cannot_do_is_said_and_nothing_is_kept(larger, arguments, code, part):
    ended = larger("protect", "g", "--k", 4, "--into", "r", *arguments)
    assert (ended.code, part in ended.error) == (code, True), ended.error
    assert len(larger("graph", "list", "--json").document["graphs"]) == 1


def test_the_command_line_stops_with_a_release_and_a_cancelled_job_makes_none_sooner(larger):
    lost = []
    for name, account, stopped in (("a", None, True), ("b", "keeper", True), ("c", None, False)):
        verb = verbs["protect"].method(name="g", k=4, into=name, accept_combined_risk=True)
        work = Work(seed=1, account=account, stop=lambda stopped=stopped: stopped)
        lost.append(verb.run(work).document["loss"])
    assert lost[0] > lost[1] == lost[2]


def test_a_plan_of_an_earlier_version_means_the_method_of_then(larger, tmp_path):
    for layout, method in ((1, "closest-profiles"), (2, "least-loss")):
        plan = tmp_path / f"{layout}.toml"
        plan.write_text(f'plan = {layout}\nverb = "protect"\n\n[options]\nname = "g"\nk = 4\ninto = "r{layout}"\n')
        larger("run", plan, "--set", "accept_combined_risk=true")
        stored = {each["name"]: each for each in larger("graph", "list", "--json").document["graphs"]}
        assert stored[f"r{layout}"]["method"] == method


def test_a_sweep_sets_all_protections_beside_each_other(larger, tmp_path):
    found = larger("sweep", "g", "--k", "3,5", "--runs", 1, "--seed", 1, "--json").document
    assert found["parameters"]["method"] == "least-loss"
    assert [each["method"] for each in found["beside"]] == ["closest-profiles"]
    losses = [
        [row["information_loss"]["dbil"]["mean"] for row in rows]
        for rows in (found["rows"], found["beside"][0]["rows"])
    ]
    assert all(own < other for own, other in zip(*losses, strict=True))
    told = larger("sweep", "g", "--k", "3", "--runs", 1, "--html", "s.html")
    assert "Protections beside each other" in told.out
    assert "Protections beside each other" in (tmp_path / "s.html").read_text()
    assert (
        larger("sweep", "g", "--k", "3", "--runs", 1, "--method", "closest-profiles", "--json").document["beside"] == []
    )


def test_a_sweep_over_weights_gives_the_front_of_place_against_topics(larger):
    weights = ("location=0", "location=1", "location=9")
    options = [word for each in weights for word in ("--weights", each)]
    found = larger("sweep", "g", "--k", 5, "--runs", 1, "--seed", 1, *options, "--json").document
    assert [each["method_parameters"]["weights"] for each in found["beside"]] == ["location=1", "location=9"]
    rows = [found["rows"][0], *(each["rows"][0] for each in found["beside"])]
    lost = [[row["loss_by_attribute"][name]["dbil"]["mean"] for row in rows] for name in ("location", "topic1")]
    assert lost[0][0] > lost[0][1] > lost[0][2]
    assert lost[1][0] < lost[1][1] < lost[1][2]
