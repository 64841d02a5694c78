"""Secrets planted in graphs and tables, and every byte of what leaves the house searched for them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

#: A seed, a number that no file has by chance.
SEED = 918273645546372819


def planted() -> dict[str, list[str]]:
    """What belongs to each of twelve persons: id, handle, name, where they say they live."""
    return {
        f"id-of-person-{n:02}-4711": [f"@handle_of_{n:02}", f"Name Of Person {n:02}", f"Lane {n:02} behind the mill"]
        for n in range(12)
    }


def written(folder: Path) -> list[str]:
    """A graph and a table of these persons; gives all that is secret of them."""
    persons = planted()
    ids = list(persons)
    nodes = [
        {"id": id, "handle": handle, "name": name, "location_text": lane, "location": "t", "topics": [f"Topic{n % 2}"]}
        for n, (id, (handle, name, lane)) in enumerate(persons.items())
    ]
    path = [["Town", "locality"], ["Land", "country"], ["Europe", "continent"], ["world", "world"]]
    edges = [{"source": one, "target": other} for one, other in zip(ids, ids[1:] + ids[:1], strict=True)]
    graph = {"directed": True, "nodes": nodes, "edges": edges, "locations": {"t": path}}
    (folder / "graph.json").write_text(json.dumps(graph))
    incomes = [f"{90000 + 7 * n}.{n:02}5" for n in range(12)]
    with (folder / "people.csv").open("w", newline="") as file:
        rows = [[id, 20 + n % 4, f"T{n % 2}", incomes[n]] for n, id in enumerate(ids)]
        csv.writer(file).writerows([["person", "age", "town", "income"], *rows])
    return [*ids, *(each for known in persons.values() for each in known), *incomes]


def found(secrets: list[str], held: bytes) -> list[str]:
    forms = {each: {each.encode(), json.dumps(each)[1:-1].encode(), each.encode("utf-16-le")} for each in secrets}
    return [each for each, of in forms.items() if any(form in held for form in of)]


def test_no_release_report_error_or_store_after_a_forget_holds_what_was_planted(graphpriv, tmp_path):
    secrets = [*written(tmp_path), str(SEED), str(tmp_path)]
    kept = [each for each in secrets if each != str(tmp_path)]
    roles = ("--role", "person=identifier", "--role", "income=sensitive")
    told = [
        graphpriv("graph", "import", "graph.json", "--graph", "g", "--json"),
        graphpriv("protect", "g", "--k", 3, "--into", "r", "--seed", SEED, "--json"),
        graphpriv("audit", "g", "r", "--attacker", "ego", "--at-risk", 0, "--html", "audit.html", "--json"),
        graphpriv("sweep", "g", "--k", "2", "--runs", 1, "--attacker", "ego", "--seed", SEED, "--html", "sweep.html"),
        graphpriv("graph", "export", "r", "--out", "released.json", "--json"),
        graphpriv("graph", "export", "r", "--out", "released.graphml"),
        graphpriv("microdata", "r", "--out", "microdata.csv", "--seed", SEED, "--json"),
        graphpriv("graph", "show", "g", "--json"),
        graphpriv("graph", "list"),
        graphpriv("table", "check", "people.csv", "--quasi-identifiers", "age,town", *roles, "--json"),
        graphpriv("table", "protect", "people.csv", "--method", "mondrian", "--columns", "age,town,income", "--param",
                  "k=3", "--shuffle", "--private", "back.private.json", "--out", "masked.csv", *roles, "--seed", SEED,
                  "--json"),
    ]  # fmt: skip
    assert [each.code for each in told] == [0] * len(told), [each.error for each in told if each.code]
    refused = [
        graphpriv("graph", "forget", "r", "id-of-person-03-4711"),
        graphpriv("table", "hierarchy", "people.csv", "--column", "person", "--by", "date", "--out", "h.csv", *roles),
        graphpriv("table", "hierarchy", "people.csv", "--column", "person", "--by", "range", "--out", "h.csv", *roles),
        graphpriv("store", "restore", "people.csv", "--overwrite"),
    ]
    assert [each.code for each in refused] == [2] * len(refused), [each.err for each in refused]
    said = b"".join((each.out + each.err).encode() for each in (*told, *refused))
    # A warning about fixed seeds does not repeat one.
    assert found(kept, said) == []
    private = {"graph.json", "people.csv", "back.private.json"}
    files = [
        each for each in tmp_path.iterdir() if each.name not in private and not each.name.startswith("graphpriv.db")
    ]
    assert len(files) >= 10
    for each in files:
        assert found(secrets, each.read_bytes()) == [], each.name
    # The store holds them, and nothing of who was forgotten; nor does a backup that is made later.
    gone, mine = "id-of-person-05-4711", planted()["id-of-person-05-4711"]
    assert graphpriv("graph", "forget", "g", gone).code == 0
    assert graphpriv("store", "backup", "later.bak").code == 0
    store = b"".join(each.read_bytes() for each in tmp_path.glob("graphpriv.db*"))
    for held in (store, (tmp_path / "later.bak").read_bytes()):
        assert found([gone, *mine], held) == []
        assert found(["@handle_of_06"], held)
