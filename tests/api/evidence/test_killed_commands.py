"""Every command that writes, killed at any moment: all is old or all is new, and nothing is left behind."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import fields
from itertools import count
from pathlib import Path

import pytest

from api.service.signing.one_time_codes import code_of, step_at
from api.verbs import verbs
from api.verbs.contract import Work, names_with
from tests.api.evidence.killed import Killing, Phase, Scene
from tests.api.evidence.test_killed_collecting import CASES
from tests.moments import Ended

INPUTS = Path(__file__).parents[2] / "data" / "released_bytes" / "inputs"

PEOPLE = "people.csv --schema people.toml"
STORED = ("graph import follows.csv --graph g",)
RELEASED = (*STORED, "protect g --k 5 --into r --seed 1")

KNOWN = ("account add ann --role custodian",)


def with_factor(home: Path) -> None:
    """Give ann a second factor, as the pages do."""
    with Work(home=str(home)).service_home() as records:
        ann = records.accounts.named("ann")
        records.factors.confirm(ann, code_of(records.factors.begin(ann), step_at(time.time())))


#: Each verb that writes files, with every one of its outputs.
FILES = (
    Scene(
        "table protect",
        f"{PEOPLE} --method pram --param retain=0.7 --columns sex,town,health --out o.csv --private p.json "
        "--matrices-out m --frequencies f.csv SEED",
        mixes=("o.csv", "o.csv.dictionary.json"),
    ),
    Scene(
        "table protect",
        f"{PEOPLE} --method mondrian --param k=5 --columns age,sex,town --shuffle --out o.parquet --private p.json "
        "SEED",
        mixes=("o.parquet", "o.parquet.dictionary.json"),
    ),
    Scene(
        "table protect",
        f"{PEOPLE} --method pram --param retain=0.7 --columns town --out o.csv --into masked SEED",
        before=KNOWN,
        mixes=("o.csv", "o.csv.dictionary.json"),
        again="",
        runs_before=(False,),
    ),
    Scene("table protect", f"{PEOPLE} --method pram --param retain=0.RUN --columns town --out o.csv --plan p.toml"),
    Scene(
        "run",
        "p.toml SEED",
        before=(f"table protect {PEOPLE} --method pram --columns town --out o.csv --private p.json --plan p.toml",),
        mixes=("o.csv", "o.csv.dictionary.json"),
    ),
    Scene("table protect", "few.csv --columns age --grid --out-dir grid --html r.html SEED", is_slow=True),
    Scene(
        "table search",
        f"{PEOPLE} --quasi-identifiers age,sex,town --hierarchies levels --algorithm optimal --k 4 --shuffle "
        "--out o.csv --private p.json --html r.html SEED",
        mixes=("o.csv", "o.csv.dictionary.json"),
    ),
    Scene("table compare", f"{PEOPLE} --columns age,sex,town --html r.html SEED"),
    Scene(
        "table evolve",
        "few.csv --what records --columns age --drop-best 80 --generations 12 --accept-unchanged --out o.csv "
        "--population-out pop --private p.json --html r.html SEED",
        mixes=("o.csv", "o.csv.dictionary.json"),
        is_slow=True,
    ),
    Scene("table hierarchy", f"{PEOPLE} --column age --by range --out o.csv"),
    Scene(
        "graph export",
        "r --out o.csv --mapping m.csv",
        before=RELEASED,
        mixes=("o.csv", "o.csv.dictionary.json"),
    ),
    Scene("audit", "g r --html a.html --at-risk-out risk.csv", before=RELEASED),
    Scene("sweep", "g --k 2,5 --runs 2 --html s.html SEED", before=STORED, is_slow=True),
    Scene(
        "microdata",
        "g --out m.csv --k 5 --method mondrian SEED",
        before=STORED,
        mixes=("m.csv", "m.csv.dictionary.json"),
    ),
    Scene("store backup", "b.bak", before=STORED),
    Scene("demo", "--users 12 --k 3 --out d SEED", is_slow=True),
)


#: Each verb that changes a store or the folder of the service, and no file beside it.
STORES = (
    Scene("graph import", "follows.csv --graph g"),
    Scene("protect", "g --k 5 --into r --method closest-profiles SEED", before=STORED),
    Scene("graph delete", "g", before=STORED, again="", runs_before=(False,)),
    Scene("graph forget", "g u000", before=RELEASED, again="", runs_before=(False,)),
    Scene("store restore", "b.bak --store file:other.db", before=(*STORED, "store backup b.bak")),
    Scene("account add", "ann --role custodian", again="", runs_before=(False,)),
    Scene("account remove", "ann", before=(*KNOWN, "account add bob --role custodian"), again="", runs_before=(False,)),
    Scene("account reset-factor", "ann", before=KNOWN, made_ready=with_factor, again="", runs_before=(False,)),
    Scene("token new", "ann", before=KNOWN, again="", runs_before=(False,)),
    Scene("token revoke", "TOKEN", before=KNOWN, again="", runs_before=(False,)),
    Scene("table import", "people.csv --into people", before=KNOWN, again="", runs_before=(False,)),
)


EACH = [
    pytest.param(scene, over, id=f"{scene.name} {'over' if over else 'anew'}")
    for scene in (*FILES, *STORES)
    for over in scene.runs_before
]
#: These take a moment each, and write by all the ways there are.
SAMPLED = ("table protect", "table search", "store backup", "graph delete", "account add")


def test_every_verb_that_writes_is_killed_with_all_its_outputs() -> None:
    told = {scene.verb: " ".join(each.options for each in FILES if each.verb == scene.verb) for scene in FILES}
    for name, entry in verbs.items():
        outputs = [*names_with(entry.method, "output"), *names_with(entry.method, "fills")]
        positional = {each.name for each in fields(entry.method) if each.metadata.get("positional")}
        for output in outputs:
            assert output in positional or f"--{output.replace('_', '-')} " in told[name], (name, output)
        if not outputs and "writes" in (entry.method.store, entry.method.home):
            assert name in {scene.verb for scene in (*STORES, *(case.scene for case in CASES))}, name


def check(scene: Scene, over: bool, top: Path, moments: Callable[[Killing], Iterable[int]]) -> tuple[int, int]:
    """Kill a command at some moments, and look each time; how many kills there were, and how many kinds of mixes."""
    inputs = top / "inputs"
    shutil.copytree(INPUTS, inputs)
    few = (inputs / "small.csv").read_text().splitlines(keepends=True)[:9]
    (inputs / "few.csv").write_text("".join(few))
    killing = Killing(scene, top, over, inputs)
    phases: set[Phase] = set()
    often = 50 if scene.is_slow else 7

    def look(moment: int, ended: Ended) -> None:
        try:
            phase = killing.phase()
            killing.check(again=moment % often == 0 or phase not in phases)
            phases.add(phase)
        except BaseException as error:
            error.add_note(f"{scene.name}: killed at moment {moment}, at system call {ended.call}")
            raise

    return killing.kill(moments(killing), look), len(killing.mixed)


@pytest.mark.parametrize("verb", SAMPLED)
def test_at_some_moments(verb: str, top: Path) -> None:
    scene = next(each for each in (*FILES, *STORES) if each.verb == verb)
    chosen = random.Random(verb)
    kills, _ = check(
        scene, scene.runs_before[-1], top, lambda known: sorted(chosen.sample(range(1, known.moments()), 3))
    )
    assert kills == 3


@pytest.mark.heavy
@pytest.mark.parametrize(("scene", "over"), EACH)
def test_at_every_moment(scene: Scene, over: bool, top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kills, mixes = check(scene, over, top, lambda _: count(1))
    assert kills >= 10
    with capsys.disabled():
        print(f"\n{kills} kills, {mixes} kinds of mixes: {scene.name} {'over' if over else 'anew'}", flush=True)
