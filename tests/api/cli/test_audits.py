"""Audits and sweeps, as typed."""

import json
from pathlib import Path

import pytest

from graphpriv.auditing import figure_paths

SCENARIOS = ["location", "topic1", "topic2", "topic3", "topics", "all"]


@pytest.fixture
def released(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("protect", "g", "--k", 2, "--into", "r", "--seed", 1)
    return graphpriv


def test_an_audit_has_the_agreed_keys(released):
    document = released("audit", "g", "r", "--json").document
    assert (document["k"], document["users"], document["edges"]) == (2, 4, 3)
    loss = document["information_loss"]
    keys = ["location", "topic1", "topic2", "topic3", "mean"]
    assert list(loss["cdil"]) == keys
    assert [key for key in loss["aamil"] if key != "anchored"] == keys
    assert list(loss["aamil"]["anchored"]) == keys
    assert isinstance(loss["dbil"], float)
    assert isinstance(loss["mean"], float)
    for part in ("disclosure_risk", "expected_success", "undecided"):
        assert {attacker: list(shares) for attacker, shares in document[part].items()} == {
            "ego": SCENARIOS,
            "subgraph": SCENARIOS,
        }
    assert document["structure"]["risk"] == {"ego": 1.0, "subgraph": 1.0}
    assert "edges are left as they are" in document["structure"]["note"]


def test_an_audit_of_files_equals_that_of_the_store(released):
    for name in ("g", "r"):
        released("graph", "export", name, "--out", f"{name}.json", *(["--mapping", "m.csv"] if name == "r" else []))
    stored = released("audit", "g", "r", "--json").out
    filed = released("audit", "--files", "g.json", "r.json", "--mapping", "m.csv", "--json").out
    assert stored == filed


def test_without_a_mapping_what_follows_persons_is_null(released):
    released("graph", "export", "g", "--out", "g.json")
    released("graph", "export", "r", "--out", "r.json")
    ended = released("audit", "--files", "g.json", "r.json", "--json")
    document = ended.document
    assert document["information_loss"]["dbil"] is None
    assert document["information_loss"]["mean"] is None
    assert document["information_loss"]["aamil"]["anchored"] is None
    assert document["expected_success"]["ego"]["all"] is None
    assert document["disclosure_risk"]["ego"]["all"] is not None
    assert document["at_risk"] is None
    assert document["structure"]["edges_unchanged"] is None
    assert "cannot be told" in document["structure"]["note"]
    assert released("audit", "--files", "g.json", "r.json").code == 0


def test_a_graph_against_itself_loses_nothing_and_hides_nobody(released):
    ended = released("audit", "g", "g", "--json")
    document = ended.document
    assert document["information_loss"]["mean"] == 0
    assert document["disclosure_risk"]["ego"] == dict.fromkeys(SCENARIOS, 1.0)
    assert document["expected_success"]["ego"]["all"] == 1.0


def test_fail_if_stops_by_exit_code_after_the_audit(released):
    ended = released("audit", "g", "r", "--json", "--fail-if", "structure.risk.ego > 0.9")
    assert ended.code == 4
    assert ended.document["users"] == 4
    assert released("audit", "g", "r", "--fail-if", "structure.risk.ego < 0.9").code == 0


def test_a_condition_that_cannot_be_read_stops_before_the_audit(released):
    ended = released("audit", "g", "r", "--fail-if", "risk is high")
    assert (ended.code, ended.out) == (2, "")
    assert "--fail-if" in ended.error


@pytest.mark.parametrize("expression", ["x > 1", "disclosure_risk.subgraph.all >= 0", "disclosure_risk.ego > 0"])
def test_a_condition_on_what_the_audit_will_not_have_stops_before_it(released, tmp_path, expression):
    ended = released("audit", "g", "r", "--attacker", "ego", "--html", "a.html", "--fail-if", expression)
    assert (ended.code, ended.out) == (2, "")
    assert not (tmp_path / "a.html").exists()


def test_what_a_condition_may_name_is_what_an_audit_has(released):
    def paths(part, above=()):
        if not isinstance(part, dict):
            return {above} if isinstance(part, int | float) and not isinstance(part, bool) else set()
        return {path for key, value in part.items() for path in paths(value, (*above, key))}

    document = released("audit", "g", "r", "--json").document
    found = paths({key: value for key, value in document.items() if key not in ("parameters", "at_risk")})
    assert set(figure_paths()) == {".".join(path) for path in found}
    assert released("audit", "g", "r", "--fail-if", 'candidates.ego.all["2-4"] >= 0').code == 4


def test_a_part_of_a_mapping_does_not_make_an_audit_look_safer(released, tmp_path):
    for name in ("g", "r"):
        released("graph", "export", name, "--out", f"{name}.json", *(["--mapping", "m.csv"] if name == "r" else []))
    lines = (tmp_path / "m.csv").read_text().splitlines()
    (tmp_path / "part.csv").write_text("\n".join(lines[:3]) + "\n")
    ended = released("audit", "--files", "g.json", "g.json", "--json")
    assert ended.document["expected_success"]["ego"]["all"] == 1.0
    ended = released("audit", "--files", "g.json", "r.json", "--mapping", "part.csv", "--json")
    assert "leaves out 2 of 4 users" in ended.err
    assert ended.document["structure"]["edges_unchanged"] is None
    (tmp_path / "none.csv").write_text(lines[0] + "\n")
    assert released("audit", "--files", "g.json", "r.json", "--mapping", "none.csv").code == 2


def test_standard_output_holds_one_document(released):
    assert released("audit", "g", "r", "--html", "-", "--json").code == 2
    assert released("graph", "export", "r", "--out", "-", "--json").code == 2


def test_an_output_does_not_replace_the_store(released, tmp_path):
    before = (tmp_path / "graphpriv.db").read_bytes()
    assert released("audit", "g", "r", "--html", "graphpriv.db", "--overwrite").code == 2
    assert (tmp_path / "graphpriv.db").read_bytes() == before


def test_a_store_or_a_release_is_known_however_its_path_is_written(released, tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    before = (tmp_path / "graphpriv.db").read_bytes()
    for path in ("x/../graphpriv.db", "link/graphpriv.db"):
        assert released("audit", "g", "r", "--html", path, "--overwrite").code == 2
        assert released("graph", "export", "r", "--out", "r.json", "--mapping", path, "--overwrite").code == 2
    assert (tmp_path / "graphpriv.db").read_bytes() == before
    assert released("graph", "export", "r", "--out", "r.json", "--mapping", "x/../r.json").code == 2
    assert not (tmp_path / "r.json").exists()


def test_a_condition_that_hangs_on_undecided_users_may_hold(graphpriv, tmp_path):
    graphpriv("demo", "--out", "d", "--users", 100, "--k", 3, "--seed", 5)
    files = ("d/original.json", "d/released.json", "--mapping", "d/mapping.csv", "--scenario", "topic1")
    exact = graphpriv("audit", "--files", *files, "--json").document["disclosure_risk"]["subgraph"]["topic1"]
    some = graphpriv("audit", "--files", *files, "--json", "--steps", 1).document
    risk, share = some["disclosure_risk"]["subgraph"]["topic1"], some["undecided"]["subgraph"]["topic1"]
    low, high = some["bounds"]["disclosure_risk"]["subgraph"]["topic1"]
    assert low == risk <= exact <= high <= risk + share
    assert share > 0
    for limit, code in ((risk - 0.001, 4), (high - 0.001, 4), (high + 0.001, 0)):
        condition = f"disclosure_risk.subgraph.topic1 > {limit}"
        ended = graphpriv("audit", "--files", *files, "--steps", 1, "--fail-if", condition)
        assert ended.code == code
        assert ("--fail-if may hold" in ended.err) == (risk < limit < high)
    success = some["bounds"]["expected_success"]["subgraph"]["topic1"]
    assert success[1] == some["expected_success"]["subgraph"]["topic1"] > success[0]


def test_a_budget_of_nothing_and_an_unknown_attribute_are_refused(released):
    for options in (("--steps", 0), ("--steps", -5), ("--scenario", "topic9"), ("--scenario", "all+place")):
        ended = released("audit", "g", "r", *options)
        assert ended.code == 2
        assert "\n" not in ended.error.strip()


def test_all_users_at_risk_are_written_for_their_owner_alone(released, tmp_path):
    document = released("audit", "g", "r", "--json", "--at-risk", 3, "--at-risk-out", "risk.csv").document
    head, *rows = (tmp_path / "risk.csv").read_text().splitlines()
    assert head == "user,expected_success,attacker,scenario,candidates"
    assert [row.split(",")[0] for row in rows[:3]] == [each["user"] for each in document["at_risk"]]
    assert len(rows) > 3
    assert (tmp_path / "risk.csv").stat().st_mode & 0o777 == 0o600


def test_the_highest_risks_are_those_of_the_tables(released):
    document = released("audit", "g", "r", "--json").document
    for measure in ("disclosure_risk", "expected_success"):
        highest, alone = document["highest"][measure], document["highest_by_links"][measure]
        assert highest["value"] == max(value for found in document[measure].values() for value in found.values())
        assert highest["value"] == document[measure][highest["attacker"]][highest["scenario"]]
        by_links = document["structure"]["risk" if measure == "disclosure_risk" else measure]
        assert alone == {"attacker": alone["attacker"], "scenario": "structure", "value": max(by_links.values())}
    assert document["smallest_candidate_set"] >= 1
    surest = max(each["expected_success"] for each in document["at_risk"] if each["scenario"] != "structure")
    assert surest <= 1 / document["smallest_candidate_set"]


def test_the_report_of_an_audit_is_for_its_owner_alone(released, tmp_path):
    released("audit", "g", "r", "--html", "a.html")
    assert (tmp_path / "a.html").stat().st_mode & 0o777 == 0o600


def test_the_report_holds_the_same_numbers(released, tmp_path):
    document = released("audit", "g", "r", "--json", "--html", "a.html").document
    html = (tmp_path / "a.html").read_text()
    assert document["inputs"]["released"] in html
    assert repr(document["information_loss"]["mean"]) in html
    assert released("audit", "g", "r", "--html", "a.html").code == 2
    assert released("audit", "g", "r", "--html", "a.html", "--overwrite").code == 0


def test_any_set_of_attributes_is_a_scenario(released):
    document = released("audit", "g", "r", "--json", "--scenario", "location+topic2", "--attacker", "ego").document
    assert list(document["disclosure_risk"]) == ["ego"]
    assert list(document["disclosure_risk"]["ego"]) == ["location+topic2"]
    assert released("audit", "g", "r", "--scenario", "shoe_size").code == 2


def test_the_tables_name_what_they_show(released):
    text = released("audit", "g", "g").out
    for word in ("AAMIL", "CDIL", "DBIL", "Disclosure risk", "Expected success", "structure only", "most at risk"):
        assert word in text


def test_a_sweep_gives_a_row_a_k(released, tmp_path):
    ended = released("sweep", "g", "--k", "2,3", "--runs", 2, "--seed", 3, "--json", "--html", "s.html")
    rows = ended.document["rows"]
    assert [row["k"] for row in rows] == [2, 3]
    assert set(rows[0]["information_loss"]) == {"aamil", "cdil", "dbil", "mean"}
    assert (tmp_path / "s.html").exists()
    alone = released("sweep", "g", "--k", "3", "--runs", 2, "--seed", 3, "--json").document["rows"]
    assert alone == rows[1:]
    assert released("sweep", "g", "--k", "2,3", "--runs", 1, "--seed", 3).code == 0


def test_a_sweep_says_what_each_attribute_lost(released):
    (row,) = released("sweep", "g", "--k", "2", "--runs", 1, "--seed", 3, "--json").document["rows"]
    lost = row["loss_by_attribute"]
    assert list(lost) == ["location", "topic1", "topic2", "topic3"]
    for measure in ("aamil", "cdil", "dbil"):
        mean = sum(each[measure]["mean"] for each in lost.values()) / 4
        assert mean == pytest.approx(row["information_loss"][measure]["mean"])


def test_a_sweep_beside_a_live_release_leaves_out_what_cannot_be(released):
    given = ("sweep", "g", "--k", "2,3", "--runs", 1, "--seed", 3, "--previous")
    document = released(*given, "r", "--json").document
    assert [row["k"] for row in document["rows"]] == [2] and document["parameters"]["k"] == [2]
    (gone,) = document["left_out"]
    assert gone["k"] == 3 and "no more than 2 users" in gone["reason"]
    # Its clusters are those of the live release.
    audited = released("audit", "g", "r", "--json").document
    assert document["rows"][0]["information_loss"]["dbil"]["mean"] == audited["information_loss"]["dbil"]
    assert "k=3 is left out" in released(*given, "r").out
    assert released("sweep", "g", "--k", "3", "--previous", "r").code == 3
    assert "No release of 'g' is called 'x'" in released(*given, "x").error


def test_a_sweep_says_what_the_links_alone_give_away(released, tmp_path):
    ended = released("sweep", "g", "--k", "2", "--runs", 1, "--seed", 3, "--html", "s.html")
    # Made from an original, as all reports are.
    assert Path("s.html").stat().st_mode & 0o777 == 0o600
    assert ended.out.count("structure only") == 2
    assert "edges are left as they are" in ended.out
    html = (tmp_path / "s.html").read_text()
    assert "The edges are left as they are" in html
    assert "found by links alone, the whole neighbourhood, goes from" in html
    document = released("sweep", "g", "--k", "2", "--runs", 1, "--seed", 3, "--json").document
    assert document["rows"][0]["structure"]["risk"]["ego"] == {"mean": 1.0, "sd": 0.0}
    assert "edges are left as they are" in document["note"]


def test_a_sweep_takes_steps_and_parameters_as_an_audit_and_a_protection_do(released):
    document = released("sweep", "g", "--k", "2", "--runs", 1, "--steps", 7, "--json").document
    assert document["parameters"]["steps"] == 7
    assert document["parameters"]["method_parameters"] == {}
    assert "steps must be at least 1" in released("sweep", "g", "--k", "2", "--steps", 0).error
    assert "--param 'colour=red'" in released("sweep", "g", "--param", "colour=red").error


@pytest.mark.parametrize("ks", ["1", "2,x", "", "2,2"])
def test_a_sweep_refuses_ks_that_make_no_sense(released, ks):
    ended = released("sweep", "g", "--k", ks)
    assert ended.code == 2
    assert "--k" in ended.error


def test_a_file_that_is_not_what_it_says_is_named(released, tmp_path):
    (tmp_path / "g.json").write_text("{broken")
    ended = released("audit", "--files", "g.json", "g.json")
    assert ended.code == 2
    assert "g.json" in ended.error


def test_json_is_one_document_that_is_read_back(released):
    ended = released("audit", "g", "r", "--json")
    assert json.loads(ended.out) == ended.document
