"""`table evolve`, as typed: what it writes, what it says, how it goes on after a kill, and what it refuses."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from lxml import html

from tabular.evolution.matrices.evolving import EvolvedMatrices
from tabular.files.disk import release_id

SCHEMA = """
[attributes.name]
role = "identifier"
[attributes.size]
order = ["S", "M", "L", "XL"]
[attributes.colour]
values = ["blue", "green", "red"]
"""

WHAT = ("--what", "records", "--columns", "size,colour", "--schema", "shirts.toml")
KEYS = {"initial", "final", "generations", "evaluations", "seconds", "history"}


@pytest.fixture
def folder(tmp_path):
    """A table of sixty shirts with an identifier, and what its columns are."""
    draw = np.random.default_rng(2)
    lines = ["name,size,colour,price"]
    for row in range(60):
        size = draw.choice(["S", "M", "L", "XL"], p=[0.4, 0.3, 0.2, 0.1])
        lines.append(f"shirt {row},{size},{draw.choice(['blue', 'green', 'red'])},{draw.choice(['low', 'high'])}")
    (tmp_path / "shirts.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "shirts.toml").write_text(SCHEMA)
    return tmp_path


@pytest.fixture
def evolved(graphpriv, folder):
    """Run `table evolve` on the shirts."""

    def call(*arguments, out="best.csv"):
        return graphpriv("table", "evolve", "shirts.csv", *WHAT, "--out", out, *arguments)

    return call


def rows(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def timeless(document):
    return {name: value for name, value in document.items() if name not in ("seconds", "release_id")}


def test_the_document_the_screen_and_the_file_say_the_same(evolved, folder):
    document = evolved("--generations", 30, "--seed", 1, "--json").document
    assert set(document) >= KEYS
    assert document["generations"] == 30 and len(document["history"]) == 31
    assert document["final"]["score_max"] <= document["initial"]["score_max"]
    written = rows(folder / "best.csv")
    assert written[0] == ["size", "colour", "price"]
    assert [row[2] for row in written] == [row[3] for row in rows(folder / "shirts.csv")]
    dictionary = json.loads((folder / "best.csv.dictionary.json").read_text())
    assert dictionary["release"] == document["release_id"]
    assert dictionary["method"] == "evolution of records"
    said = evolved("--generations", 30, "--seed", 1, "--overwrite")
    first, last = (document[when]["score_max"] for when in ("initial", "final"))
    assert f"The greater of loss and risk fell from {first:.2f} to {last:.2f} % in 30 generations" in said.out
    assert "The rows are in the original's order" in said.err
    assert sorted(each.name for each in folder.iterdir()) == [
        "best.csv", "best.csv.dictionary.json", "shirts.csv", "shirts.toml",
    ]  # fmt: skip


def test_what_was_measured_is_what_measuring_the_file_says(evolved, graphpriv):
    document = evolved("--generations", 20, "--json").document
    measured = graphpriv(
        "table", "measure", "shirts.csv", "best.csv", "--columns", "size,colour", "--schema", "shirts.toml", "--json"
    ).document
    for name in ("ctbil", "dbil", "ebil", "id", "dbrl", "prl", "prl_em", "score_max", "score_mean"):
        assert measured[name] == document["final"][name]


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(evolved, folder):
    kept = []
    for seed in (4, 4, 5):
        document = evolved("--generations", 15, "--seed", seed, "--json", "--overwrite").document
        kept.append((timeless(document), (folder / "best.csv").read_bytes()))
    assert kept[0] == kept[1]
    assert kept[0][0]["history"] != kept[2][0]["history"]


def test_every_member_is_written_with_its_dictionary_and_its_own_id(evolved, folder, graphpriv):
    ended = evolved("--generations", 5, "--population-out", "all", "--private", "p.json", "--shuffle", "--json")
    listed = ended.document["population_files"]
    assert [each["score_max"] for each in listed[:1]] == [ended.document["final"]["score_max"]]
    orders = json.loads((folder / "p.json").read_text())["population"]
    assert stat.S_IMODE((folder / "p.json").stat().st_mode) == 0o600
    original = rows(folder / "shirts.csv")[1:]
    for each in listed:
        path = folder / each["file"]
        dictionary = json.loads((folder / f"{each['file']}.dictionary.json").read_text())
        assert dictionary["release"] == release_id(path)
        assert dictionary["k"] == each["k"]
        order = orders[each["file"]]["order"]
        assert [row[2] for row in rows(path)[1:]] == [original[place][3] for place in order]
    assert len({tuple(orders[each["file"]]["order"]) for each in listed}) == len(listed)
    assert len(list((folder / "all").iterdir())) == 2 * len(listed)
    # Each is a release that other commands take.
    taken = graphpriv("table", "check", listed[1]["file"], "--quasi-identifiers", "size,colour", "--json")
    assert taken.document["k"] == listed[1]["k"]


def test_a_population_can_be_the_start_of_the_next_run(evolved, folder):
    evolved("--generations", 5, "--population-out", "all")
    document = evolved("--generations", 5, "--population", "all", "--json", out="next.csv").document
    assert [each["origin"] for each in document["population"]["initial"]][:2] == ["001.csv", "002.csv"]
    assert evolved("--population", "all", "--population-out", "all", out="x.csv").code == 2


def test_more_tables_can_be_written_than_files_may_be_open(evolved, folder):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 12, hard))
    try:
        ended = evolved("--generations", 0, "--population-out", "all", "--json")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    listed = ended.document["population_files"]
    assert len(listed) > 24
    for each in listed:
        dictionary = json.loads((folder / f"{each['file']}.dictionary.json").read_text())
        assert dictionary["release"] == release_id(folder / each["file"])


def test_members_of_an_earlier_run_do_not_stay_beside_new_ones(evolved, folder):
    many = evolved("--generations", 0, "--population-out", "all", "--json").document["population_files"]
    for name in ("001.csv", "001.csv.dictionary.json"):
        (folder / "all" / name).unlink()
    (folder / "all" / "notes.csv").write_text("mine\n")
    (folder / "all" / "999.csv").write_text("mine, too: it has no data dictionary\n")
    # One of an earlier run is seen before the work, though the first is not there.
    ended = evolved("--generations", 0, "--population-out", "all", out="next.csv")
    assert ended.code == 2 and "all/002.csv: the file exists; give --overwrite" in ended.error
    few = evolved(
        "--generations", 0, "--population-out", "all", "--what", "matrices", "--overwrite", "--json"
    ).document["population_files"]
    assert len(few) < len(many)
    left = {each.name for each in (folder / "all").iterdir()}
    names = [each["file"].removeprefix("all/") for each in few]
    assert left == {*names, *(f"{name}.dictionary.json" for name in names), "notes.csv", "999.csv"}


@pytest.mark.parametrize(("parameters", "said"), [
    (["fitness=counts", "beside=colour"], "The difference of counts beside 'colour' (eq 4.5), in percent "),
    (["fitness=ratio"], "The mean expectation ratio, of values that stay to those that come from elsewhere "),
])  # fmt: skip
def test_what_is_lowered_is_called_by_its_name(evolved, folder, parameters, said):
    given = [each for pair in parameters for each in ("--param", pair)]
    options = ("--what", "matrices", "--columns", "size", "--generations", 5, "--seed", 1, "--html", "r.html", *given)
    document = evolved(*options, "--json").document
    ended = evolved(*options, "--overwrite")
    first, last = (document["history"][place][1] for place in (0, -1))
    shown = "no bound" if first is None else f"{first:.2f}"
    assert any(line.startswith(said) and f"from {shown} to {last:.2f} in 5" in line for line in ended.out.splitlines())
    assert "greater of loss and risk" not in ended.out
    assert said.strip()[4:] in html.fromstring((folder / "r.html").read_text()).text_content()


def test_what_whoever_knows_the_matrices_reads_back_is_said(evolved):
    ended = evolved("--what", "matrices", "--generations", 3)
    assert "What whoever knows the matrices reads back, in percent of the values" in ended.out
    assert "added (at most 10)" in ended.out and "An attacker who knows the matrices links " in ended.out


def test_seconds_count_the_starting_population(evolved, monkeypatch):
    monkeypatch.setattr(EvolvedMatrices, "begin", _slowly(EvolvedMatrices.begin))
    document = evolved("--what", "matrices", "--seconds", 0.3, "--json").document
    assert document["generations"] == 0 and not document["ended"]


def _slowly(begin):
    def begun(*given):
        time.sleep(0.5)
        return begin(*given)

    return begun


def test_the_report_has_the_history_and_the_map(evolved, folder):
    document = evolved("--generations", 10, "--html", "r.html", "--json").document
    text = (folder / "r.html").read_text()
    assert text.count("at the end: loss") == len(document["population"]["final"])
    assert "generation 10: best" in text


@pytest.mark.parametrize(("rule", "value"), [("--target", 50), ("--patience", 3), ("--seconds", 0)])
def test_it_stops_by_each_rule(evolved, rule, value):
    document = evolved(rule, value, "--json").document
    assert document["generations"] < 1000
    assert document["ended"] == (rule != "--seconds")


#: Runs a command as the console script does.
COMMAND = [sys.executable, "-c", "from api.cli import main; main()", "table", "evolve", "shirts.csv", *WHAT]


def begin(folder, *arguments):
    given = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(given, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def killed_at_a_checkpoint(folder, *arguments):
    """Kill a run as soon as it has kept where it stands."""
    process = begin(folder, *arguments)
    try:
        until = time.monotonic() + 120
        while not (folder / "best.csv.checkpoint").exists():
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (folder / "best.csv").exists()


def test_a_run_that_was_stopped_goes_on_and_ends_with_the_same_bytes(evolved, folder):
    ended = evolved("--seconds", 0, "--seed", 3)
    assert ended.code == 0 and "--resume --overwrite goes on from there" in ended.err
    kept = folder / "best.csv.checkpoint"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    found = evolved("--resume", "--generations", 40, "--overwrite", "--json").document
    cut = (folder / "best.csv").read_bytes()
    assert not kept.exists()
    whole = evolved("--seed", 3, "--generations", 40, "--overwrite", "--json").document
    assert timeless(found) == timeless(whole)
    assert cut == (folder / "best.csv").read_bytes()


@pytest.mark.heavy
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(evolved, folder):
    options = ("--seed", 3, "--generations", 8000, "--private", "p.json", "--shuffle")
    killed_at_a_checkpoint(folder, "--out", "best.csv", *options)
    found = evolved("--resume", *options[2:], "--json").document
    left = {name: (folder / name).read_bytes() for name in ("best.csv", "best.csv.dictionary.json", "p.json")}
    whole = evolved(*options, "--json", "--overwrite").document
    assert timeless(found) == timeless(whole)
    assert left == {name: (folder / name).read_bytes() for name in left}
    assert not (folder / "best.csv.checkpoint").exists()


@pytest.mark.heavy
def test_an_interrupted_run_gives_the_best_so_far(folder):
    process = begin(folder, "--out", "best.csv", "--generations", 10**7)
    try:
        killed = time.monotonic() + 120
        while not (folder / "best.csv.checkpoint").exists():
            assert process.poll() is None and time.monotonic() < killed
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    assert len(rows(folder / "best.csv")) == 61


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--score", "mean"), "this checkpoint is of a run with --score=max, not mean"),
        (("--param", "leaders=3"), "this checkpoint is of a run with --param=none, not leaders=3"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_in_one_line(evolved, options, said):
    evolved("--seconds", 0)
    ended = evolved("--resume", "--overwrite", *options)
    assert ended.code == 2
    assert ended.error.startswith(f"best.csv.checkpoint: {said}")


def test_a_checkpoint_of_another_table_is_refused(evolved, folder):
    evolved("--seconds", 0)
    (folder / "shirts.csv").write_text((folder / "shirts.csv").read_text().replace("low", "none", 1))
    ended = evolved("--resume", "--overwrite")
    assert ended.error.startswith("best.csv.checkpoint: this checkpoint is of a run on another table")


def test_nobody_begins_anew_over_a_checkpoint_by_mistake(evolved, folder):
    evolved("--seconds", 0)
    for name in ("best.csv", "best.csv.dictionary.json"):
        (folder / name).unlink()
    ended = evolved("--generations", 3)
    assert (ended.code, ended.error) == (
        2, "best.csv.checkpoint: a run was cut off here; --resume goes on with it, --overwrite begins anew.",
    )  # fmt: skip
    assert evolved("--generations", 3, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--resume",), "best.csv.checkpoint: there is no checkpoint to go on from; leave out --resume."),
        (("--what", "genes"), "No evolution is called 'genes'"),
        (("--score", "median"), "--score must be one of max, mean, not 'median'."),
        (("--generations", -1), "--generations must be at least 0, not -1."),
        (("--drop-best", 100), "--drop-best must be from 0 to 99, not 100.0."),
        (("--param", "leaders=0"), "leaders must be at least 1, not 0."),
        (("--param", "size=9"), "--param 'size=9': records takes KEY=VALUE with KEY one of: leaders, "),
        (("--columns", "size,weight"), "No column is called 'weight'"),
        (("--columns", "name,size"), "'name' is an identifier"),
        (("--population", "none"), "none: there is no such folder."),
        (("--private", "-"), "--private -: what leads back to the original must not mix"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(evolved, folder, options, said):
    before = sorted(folder.iterdir())
    ended = evolved(*options)
    assert ended.code == 2
    assert said in ended.error
    assert sorted(folder.iterdir()) == before


def test_it_needs_a_file_to_write_to(graphpriv, folder):
    assert "--out is missing" in graphpriv("table", "evolve", "shirts.csv", *WHAT).error
    assert "--resume needs a file" in graphpriv("table", "evolve", "shirts.csv", *WHAT, "--out", "-", "--resume").error


def test_a_masked_file_that_does_not_fit_is_refused_with_file_row_and_column(evolved, folder):
    evolved("--generations", 0, "--population-out", "all")
    path = folder / "all" / "002.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:4], "huge" + lines[4][lines[4].index(",") :], *lines[5:]]) + "\n")
    ended = evolved("--population", "all", out="next.csv")
    assert ended.code == 2
    assert "all/002.csv: Column 'size', row 4: " in ended.error


def test_what_is_the_original_in_nearly_every_cell_is_withheld(evolved, folder):
    evolved("--generations", 0, "--population-out", "all")
    for path in (folder / "all").glob("*.csv"):
        if path.name > "002.csv":
            path.unlink()
    lines = [line.partition(",")[2] for line in (folder / "shirts.csv").read_text().splitlines()]
    for name in ("001.csv", "002.csv"):
        (folder / "all" / name).write_text("\n".join(lines) + "\n")
    ended = evolved("--population", "all", "--generations", 0, out="next.csv")
    assert ended.code == 3
    assert "100.0 % of the protected cells are the original's" in ended.error and "--accept-unchanged" in ended.error
    assert evolved("--population", "all", "--generations", 0, "--accept-unchanged", out="next.csv").code == 0


@pytest.mark.parametrize("what", ["matrices", "formula"])
def test_what_leads_back_is_told_to_the_owner_alone(evolved, folder, what):
    ended = evolved(
        "--what", what, "--generations", 3, "--seed", 1, "--shuffle", "--private", "p.json",
        "--population-out", "every", "--html", "r.html", "--json",
    )  # fmt: skip
    document, private = ended.document, json.loads((folder / "p.json").read_text())
    assert document["began_as"] == private["began_as"] and document["read_back"].keys() == {"size", "colour"}
    for dictionary in [folder / "best.csv.dictionary.json", *sorted((folder / "every").glob("*.dictionary.json"))]:
        text = dictionary.read_text()
        assert "read_back" not in text and "began_as" not in text and "freq_" not in text
    assert ("formula" in private) == (what == "formula")


def test_the_front_is_of_those_that_may_be_released(evolved):
    document = evolved("--what", "formula", "--generations", 3, "--seed", 1, "--json").document
    members = document["population"]["final"]
    assert any(each["withheld"] for each in members)
    free = [each for each in members if not each["withheld"]]
    for each in members:
        beaten = any(
            (other["information_loss"], other["disclosure_risk"]) != (each["information_loss"], each["disclosure_risk"])
            and other["information_loss"] <= each["information_loss"]
            and other["disclosure_risk"] <= each["disclosure_risk"]
            for other in free
        )
        assert each["on_front"] == (not each["withheld"] and not beaten)


def test_neither_the_table_nor_an_output_may_lie_where_the_checkpoint_is_kept(graphpriv, evolved, folder):
    (folder / "best.csv.checkpoint").write_bytes((folder / "shirts.csv").read_bytes())
    ended = graphpriv("table", "evolve", "best.csv.checkpoint", *WHAT, "--overwrite", "--out", "best.csv")
    assert ended.code == 2 and "a checkpoint is kept under this name" in ended.error
    assert (folder / "best.csv.checkpoint").read_bytes() == (folder / "shirts.csv").read_bytes()
    ended = evolved("--html", "best.csv.checkpoint", "--overwrite")
    assert ended.code == 2 and "a checkpoint is kept under this name" in ended.error


def test_a_column_of_numbers_beside_others_is_refused(graphpriv, folder):
    lines = [f"{row % 3},{1000 + 7 * row}" for row in range(200)]
    (folder / "people.csv").write_text("\n".join(["job,income", *lines]) + "\n")
    ended = graphpriv(
        "table", "evolve", "people.csv", "--what", "records", "--columns", "job,income", "--kind", "income=continuous",
        "--out", "out.csv",
    )  # fmt: skip
    assert ended.code == 2 and "'job' holds categories" in ended.error
    assert not (folder / "out.csv").exists()
