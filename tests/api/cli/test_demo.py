"""The demo: the whole chain, and every figure recomputed from the files it leaves."""

import json
import os
import signal

import pytest

from graphpriv.store import open_store
from tabular.errors import SourceUnavailable
from tabular.files.disk import Output, write_outputs
from tests.system_calls import counted

FILES = {
    "original.json",
    "released.json",
    "released.json.dictionary.json",
    "mapping.csv",
    "microdata.csv",
    "microdata.csv.dictionary.json",
    "audit.json",
    "report.html",
}


@pytest.fixture
def demo(graphpriv):
    def call(*options):
        return graphpriv("demo", "--users", 80, "--seed", 1, "--json", *options)

    return call


def test_the_demo_leaves_its_files_and_says_where(demo, tmp_path):
    ended = demo()
    assert ended.code == 0
    folder = tmp_path / "graphpriv-demo"
    assert {path.name for path in folder.iterdir()} >= FILES
    assert ended.document["audit"]["users"] == 80
    assert json.loads((folder / "audit.json").read_text()) == ended.document["audit"]
    assert ended.document["collection"]["crawl"]["users"] == {"kept": 80}
    assert "How the graph was collected" in (folder / "report.html").read_text()
    with open_store(f"file:{folder / 'demo.db'}", create=False) as store:
        assert store.crawl_of("original")["source"] == "x"


def test_every_figure_is_recomputed_from_the_files(demo, graphpriv, tmp_path):
    printed = demo("--out", "d").document["audit"]
    folder = tmp_path / "d"
    again = graphpriv(
        "audit",
        "--files",
        folder / "original.json",
        folder / "released.json",
        "--mapping",
        folder / "mapping.csv",
        "--json",
    ).document
    assert again == printed
    stored = graphpriv("audit", "original", "released", "--store", f"file:{folder / 'demo.db'}", "--json").document
    assert stored == printed


@pytest.mark.parametrize("seeding", ([], ["--seed", 5]))
def test_the_seed_that_the_store_keeps_draws_the_release_again(graphpriv, tmp_path, seeding):
    assert graphpriv("demo", "--users", 60, "--k", 4, "--out", "d", *seeding).code == 0
    url = f"file:{tmp_path / 'd' / 'demo.db'}"
    with open_store(url, create=False) as store:
        seed = store.seed("original", "released")
    assert seed == seeding[1] if seeding else seed > 2**64
    again = ("protect", "original", "--k", 4, "--into", "again", "--accept-combined-risk", "--seed", seed)
    assert graphpriv(*again, "--store", url).code == 0
    graphpriv("graph", "export", "again", "--out", "a.json", "--mapping", "a.csv", "--store", url)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "d" / "released.json").read_bytes()
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "d" / "mapping.csv").read_bytes()


def test_figures_change_with_k_users_and_seed_and_files_do_not_without(graphpriv, tmp_path):
    def loss(*options):
        ended = graphpriv("demo", "--out", "d", "--json", *options)
        assert ended.code == 0, ended.err
        return ended.document["audit"]["information_loss"]["mean"]

    def left():
        names = ("original.json", "released.json", "mapping.csv", "microdata.csv")
        return [(tmp_path / "d" / name).read_bytes() for name in names]

    base = loss("--users", 50, "--seed", 1)
    files = left()
    assert (loss("--users", 50, "--seed", 1), left()) == (base, files)
    assert len({base, loss("--users", 50, "--seed", 2), loss("--users", 55, "--seed", 1)}) == 3
    assert loss("--users", 50, "--seed", 1, "--k", 20) > base


def test_the_printed_table_is_there_without_json(graphpriv):
    ended = graphpriv("demo", "--users", 60, "--seed", 1)
    assert ended.code == 0
    for word in ("Information loss", "Disclosure risk", "report.html", "audit --files"):
        assert word in ended.out


@pytest.mark.parametrize(("options", "code"), [(("--k", 1), 2), (("--users", 3, "--k", 4), 3), (("--users", 1), 2)])
def test_what_cannot_be_done_leaves_nothing(graphpriv, tmp_path, options, code):
    assert graphpriv("demo", *options).code == code
    assert not (tmp_path / "graphpriv-demo").exists()


def test_a_folder_that_cannot_be_is_refused_before_the_work(graphpriv, tmp_path):
    (tmp_path / "file").write_text("mine")
    ended = graphpriv("demo", "--users", 60, "--out", "file/d")
    assert (ended.code, "Drawing" in ended.err) == (2, False)
    assert ended.error.startswith("file/d: ")


def test_files_that_are_not_of_a_demo_are_kept(graphpriv, tmp_path):
    (tmp_path / "mapping.csv").write_text("mine")
    assert graphpriv("demo", "--users", 60, "--out", ".").code == 2
    assert (tmp_path / "mapping.csv").read_text() == "mine"


def test_files_of_a_demo_that_was_killed_between_them_are_no_obstacle(graphpriv, tmp_path, monkeypatch):
    (tmp_path / "d").mkdir()
    files = [Output(path=f"d/{name}", parameter="out", write=lambda file, _: None) for name in sorted(FILES)]
    renamed = []

    def at_step(_, call):
        renamed.extend([call] * (call == "replace"))
        if len(renamed) == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        with counted(at_step):
            write_outputs(files, overwrite=False)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert len(FILES & {path.name for path in (tmp_path / "d").iterdir()}) == 2

    def collect(*_, **__):
        raise SourceUnavailable("so far, and no further")

    monkeypatch.setattr("crawler.demonstration.collect", collect)
    ended = graphpriv("demo", "--users", 12, "--out", "d")
    assert ended.error == "so far, and no further"
    assert "was killed while it wrote" in ended.err
    assert list((tmp_path / "d").iterdir()) == []
