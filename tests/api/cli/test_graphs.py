"""Graphs in and out of the store, as typed."""

import json

import pytest

from api.service.records import Records
from api.service.uploads.uploads import Uploads


def test_a_graph_goes_in_and_comes_out_the_same(graphpriv, small, tmp_path):
    assert graphpriv("graph", "import", small, "--graph", "g").code == 0
    ended = graphpriv("graph", "export", "g", "--out", "again.json")
    assert ended.code == 0
    assert "names persons" in ended.err
    again = json.loads((tmp_path / "again.json").read_text())
    given = json.loads(small.read_text())
    assert [node["id"] for node in again["nodes"]] == [node["id"] for node in given["nodes"]]
    assert {(e["source"], e["target"]) for e in again["edges"]} == {(e["source"], e["target"]) for e in given["edges"]}
    assert again["nodes"][0]["location"] == "Washington DC"
    assert again["nodes"][3]["location"] is None
    assert again["nodes"][0]["handle"] == "@ann_x"


@pytest.mark.parametrize("suffix", ["json", "graphml", "gexf", "csv"])
def test_every_format_carries_the_whole_graph(graphpriv, small, tmp_path, suffix):
    graphpriv("graph", "import", small, "--graph", "g")
    assert graphpriv("graph", "export", "g", "--out", f"g.{suffix}").code == 0
    assert graphpriv("graph", "import", f"g.{suffix}", "--graph", "h").code == 0
    graphpriv("graph", "export", "g", "--out", "one.json")
    graphpriv("graph", "export", "h", "--out", "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_what_an_import_dropped_and_ignored_is_told(graphpriv, small):
    document = json.loads(small.read_text())
    document["edges"] += [{"source": "ann", "target": "ann"}, {"source": "bob", "target": "ann"}]
    document["nodes"][0]["shoe_size"] = 43
    small.write_text(json.dumps(document))
    ended = graphpriv("graph", "import", small, "--graph", "g", "--json")
    assert ended.document["dropped"] == {"self_loops": 1, "parallel": 1}
    assert ended.document["ignored"] == {"shoe_size": 1}
    assert (ended.document["users"], ended.document["edges"]) == (4, 3)


def test_a_name_that_exists_is_refused_and_what_was_there_stays(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    before = graphpriv("graph", "list", "--json").document
    ended = graphpriv("graph", "import", small, "--graph", "g")
    assert ended.code == 2
    assert "'g'" in ended.error
    assert "overwrite" in ended.error
    assert graphpriv("graph", "list", "--json").document == before
    assert graphpriv("graph", "import", small, "--graph", "g", "--overwrite").code == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["edges"].append({"source": "ann", "target": "zoe"}), "edges[3]"),
        (lambda d: d["nodes"].append({"id": "ann"}), "nodes[4]"),
        (lambda d: d["locations"]["United States"][0].__setitem__(1, "planet"), "locations[2]"),
        (lambda d: d["locations"].__setitem__("X", [["X", "country"], ["X", "country"], ["world", "world"]]), "itself"),
        (lambda d: d["nodes"].clear(), "no users"),
    ],
)
def test_a_broken_record_is_named_and_nothing_is_stored(graphpriv, small, change, words):
    document = json.loads(small.read_text())
    change(document)
    small.write_text(json.dumps(document))
    ended = graphpriv("graph", "import", small, "--graph", "g")
    assert ended.code == 2
    assert words in ended.error
    assert "zoe" not in ended.error
    assert graphpriv("graph", "import", small, "--graph", "h").code == 2


def test_a_store_that_is_not_there_is_an_error_and_is_not_made(graphpriv, tmp_path):
    ended = graphpriv("graph", "list", "--store", f"file:{tmp_path / 'none.db'}")
    assert ended.code == 2
    assert "none.db" in ended.error
    assert not (tmp_path / "none.db").exists()


def test_show_tells_the_graphs_figures(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    document = graphpriv("graph", "show", "g", "--json").document
    assert (document["users"], document["edges"], document["directed"]) == (4, 3, True)
    text = graphpriv("graph", "show", "g").out
    for word in ("degree", "clustering", "path", "diameter", "Places", "Topics"):
        assert word in text


def test_an_unknown_graph_is_answered_with_the_nearest_name(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "holidays")
    ended = graphpriv("graph", "show", "holiday")
    assert ended.code == 2
    assert "did you mean 'holidays'" in ended.error


def test_delete_removes_a_graph(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    assert graphpriv("graph", "delete", "g").code == 0
    assert graphpriv("graph", "list", "--json").document == {"graphs": []}
    assert graphpriv("graph", "delete", "g").code == 2


def test_a_forgotten_person_is_in_no_file_of_the_store(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("protect", "g", "--k", 2, "--into", "r", "--seed", 1)
    ended = graphpriv("graph", "forget", "g", "bob", "--json")
    assert ended.code == 0
    assert (ended.document["follows"], ended.document["mappings"]) == (3, 1)
    held = b"".join(path.read_bytes() for path in tmp_path.glob("graphpriv.db*"))
    assert b"bob" not in held
    assert b"ann" in held
    graphpriv("graph", "export", "r", "--out", "r.json", "--mapping", "m.csv")
    assert "bob" not in (tmp_path / "m.csv").read_text()
    assert len((tmp_path / "m.csv").read_text().splitlines()) == 4
    after = graphpriv("audit", "g", "r", "--json")
    assert after.code == 0
    assert after.document["unmapped"] == 1


def test_forgetting_somebody_unknown_is_an_error_without_the_name(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    ended = graphpriv("graph", "forget", "g", "zacharias")
    assert ended.code == 2
    assert "zacharias" not in ended.error


def test_a_release_is_exported_with_its_dictionary(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("protect", "g", "--k", 2, "--into", "r", "--seed", 1)
    ended = graphpriv("graph", "export", "r", "--out", "r.json", "--mapping", "m.csv", "--json")
    assert len(ended.document["files"]) == 3
    released = (tmp_path / "r.json").read_text()
    for secret in ("ann", "bob", "cid", "dee", "Washington", "New York"):
        assert secret not in released
    dictionary = json.loads((tmp_path / "r.json.dictionary.json").read_text())
    assert {field["name"] for field in dictionary["fields"]} >= {"id", "location"}
    assert (tmp_path / "m.csv").read_text().splitlines()[0] == "original,released"


def test_an_original_has_no_mapping(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    ended = graphpriv("graph", "export", "g", "--out", "g.json", "--mapping", "m.csv")
    assert ended.code == 2
    assert "--mapping" in ended.error


def test_an_export_does_not_write_over_a_file(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    (tmp_path / "g.json").write_text("mine")
    assert graphpriv("graph", "export", "g", "--out", "g.json").code == 2
    assert (tmp_path / "g.json").read_text() == "mine"


@pytest.mark.parametrize("file", ["r.json", "r.json.dictionary.json", "m.csv"])
def test_an_export_writes_all_of_its_files_or_none(graphpriv, small, tmp_path, file):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("protect", "g", "--k", 2, "--into", "r", "--seed", 1)
    (tmp_path / file).write_text("mine")
    assert graphpriv("graph", "export", "r", "--out", "r.json", "--mapping", "m.csv").code == 2
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith("graphpriv.db")} == {
        file,
        "small.json",
    }
    assert (tmp_path / file).read_text() == "mine"


@pytest.mark.parametrize(
    ("out", "mapping"), [("r.json", "r.json"), ("-", "-"), ("r.csv", "r.users.csv"), ("r.json", "no/m.csv")]
)
def test_the_mapping_never_goes_where_the_release_goes(graphpriv, small, tmp_path, out, mapping):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("protect", "g", "--k", 2, "--into", "r", "--seed", 1)
    ended = graphpriv("graph", "export", "r", "--out", out, "--mapping", mapping, "--overwrite")
    assert (ended.code, ended.out) == (2, "")
    assert not list(tmp_path.glob("r.*"))


def test_what_names_persons_is_for_its_owner_alone(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("protect", "g", "--k", 2, "--into", "r", "--seed", 1)
    graphpriv("graph", "export", "g", "--out", "g.json")
    graphpriv("graph", "export", "r", "--out", "r.json", "--mapping", "m.csv")
    for name in ("g.json", "m.csv", "graphpriv.db"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0


def test_a_name_that_cannot_be_leaves_no_store(graphpriv, small, tmp_path):
    assert graphpriv("graph", "import", small, "--graph", " x").code == 2
    assert not (tmp_path / "graphpriv.db").exists()


def test_releases_that_lose_their_mapping_are_named(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("protect", "g", "--k", 2, "--into", "r", "--seed", 1)
    ended = graphpriv("graph", "import", small, "--graph", "g", "--overwrite")
    assert "have lost their mapping: r. They stay live" in ended.err


def test_a_graph_goes_through_a_pipe(graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    ended = graphpriv("graph", "export", "g", "--out", "-")
    assert json.loads(ended.out)["nodes"][0]["id"] == "ann"


def test_the_users_of_an_edge_list_are_not_in_the_way_of_other_formats(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    assert graphpriv("graph", "export", "g", "--out", "g.csv").code == 0
    (tmp_path / "g.csv").unlink()
    assert graphpriv("graph", "export", "g", "--out", "g.json").code == 0
    ended = graphpriv("graph", "export", "g", "--out", "g.csv")
    assert (ended.code, (tmp_path / "g.csv").exists()) == (2, False)
    assert "g.users.csv" in ended.error


def test_what_an_edge_list_does_not_say_is_told(graphpriv, tmp_path):
    (tmp_path / "e.csv").write_text("follower,followed\n1,2\n2,1\n")
    ended = graphpriv("graph", "import", "e.csv", "--graph", "g")
    assert ended.code == 0
    assert "2 users, 2 directed edges" in ended.out
    assert [line.split(":")[0] for line in ended.err.splitlines()] == ["warning", "warning"]
    assert "line 1: this line was taken for the names of the columns" in ended.err
    assert "read the file as undirected to have each once" in ended.err
    ended = graphpriv("graph", "import", "e.csv", "--graph", "h", "--undirected")
    assert "2 users, 1 undirected edge" in ended.out
    assert "direction" not in ended.err


def test_the_help_of_import_says_how_edges_are_read(graphpriv):
    said = " ".join(graphpriv("graph", "import", "--help").out.split())
    assert "whatever the file says" in said
    assert "an edge list is directed unless a comment at its top says '# Undirected graph'" in said


def test_a_person_is_forgotten_in_the_folder_of_the_service_too(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("account", "add", "ann", "--role", "custodian", "--home", "kept")
    with Records.at("kept") as records:
        account = records.accounts.all()[0]
        uploads = Uploads(records.home, 1000)
        ids = [uploads.open(account, 3).id for _ in range(2)]
        for id, text in zip(ids, (b"bob", b"cid"), strict=True):
            uploads.add(id, account, 0, text)
    said = graphpriv("graph", "forget", "g", "bob", "--home", "kept")
    assert (said.code, "Erased in the service: 1 upload and 0 jobs" in said.out) == (0, True), said.out + said.err
    kept = b"".join(path.read_bytes() for path in (tmp_path / "kept").rglob("*") if path.is_file())
    assert b"bob" not in kept and b"cid" in kept
