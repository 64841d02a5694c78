"""The pages of tables: bringing one, its page, its hierarchies; and the whole way in a browser."""

from __future__ import annotations

import re
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphpriv import connect
from tests.api.http.conftest import (  # noqa: F401 (fixtures)
    app,
    callers,
    config,
    custodian,
    service,
)
from tests.api.pages.serving import table_text

TEXT = "age,town,pay\n30,A,1.5\n40,B,\n30,B,2\n50,A,3\n"
COLUMNS = {"column-0": "age", "kind-0": "continuous", "role-0": "quasi-identifier"}


def words(answer):
    """The text of a page, without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.text).split())


@pytest.fixture
def sent(custodian):  # noqa: F811
    """Send a file; the id of the upload."""

    def send(data):
        data = data.encode() if isinstance(data, str) else data
        id = custodian.post("/v1/uploads", {"size": len(data)}).json["id"]
        custodian.put(f"/v1/uploads/{id}?offset=0", data=data)
        return id

    return send


@pytest.fixture
def people(custodian):  # noqa: F811
    assert custodian.put("/v1/tables/people", data=TEXT).status_code == 201
    return "/tables/people"


class TestBringing:
    def test_a_file_is_read_as_what_it_looks_like(self, custodian, sent):  # noqa: F811
        for name, text, where in (
            ("visits.csv", TEXT, "/table?name=visits.csv"),
            ("follows.csv", "source,target\na,b\n", "?name=follows&format=edge-list"),
            ("follows.txt", "# Undirected graph\na b\n", "?name=follows&format=edge-list"),
            ("follows.json", "{}", "?name=follows&format=node-link"),
        ):
            answer = custodian.post("/upload", data={"upload": sent(text), "filename": name})
            assert answer.status_code == 303 and answer.headers["Location"].endswith(where)

    def test_what_was_found_is_shown_and_what_is_a_guess_is_said(self, custodian, sent):  # noqa: F811
        shown = custodian.get(f"/upload/{sent(TEXT)}/table?name=../visits 1.csv")
        said = words(shown)
        assert "CSV: cells separated by comma" in said and "age whole numbers, 2 values" not in said
        assert "age whole numbers, 3 values" in said and "pay numbers, 3 values, 1 missing" in said
        assert "the role quasi-identifier is a guess from its name and values" in said
        assert 'value="visits 1.csv"' in shown.text
        assert "graphpriv table import 'visits 1.csv' --into 'visits 1.csv' --role age=quasi-identifier" in words(
            shown
        ).replace("&#39;", "'")

    def test_what_is_corrected_is_kept_with_the_table(self, custodian, sent, service):  # noqa: F811
        form = {**COLUMNS, "low-0": "0", "high-0": "120", "missing": "B | C", "name": "people", "do": "keep"}
        kept = custodian.post(f"/upload/{sent(TEXT)}/table", data=form)
        assert (kept.status_code, kept.headers["Location"]) == (303, "/tables/people?kind=original")
        age = {"kind": "continuous", "role": "quasi-identifier", "bounds": [0, 120]}
        assert service.tables.schema(service.tables.at("people")) == {"missing": ["B", "C"], "attributes": {"age": age}}
        assert [each["town"] for each in custodian.get("/v1/tables/people/rows").json["rows"]] == ["A", None, None, "A"]

    def test_what_does_not_fit_is_told_and_nothing_is_lost(self, custodian, sent, service):  # noqa: F811
        for said, told in (
            ({"column-0": "town", "kind-0": "continuous"}, "people, line 2: the cell of column 'town' is no number."),
            ({"column-0": "age", "low-0": "x", "high-0": ""}, "Column 'age': bounds must be two numbers"),
            ({"name": "a/b"}, "must be letters"),
        ):
            form = {"name": "people", "do": "keep", "role-1": "sensitive", "column-1": "town", **said}
            refused = custodian.post(f"/upload/{sent(TEXT)}/table", data=form)
            assert refused.status_code == 400 and told.replace("'", "&#39;") in refused.text
            assert "fix the file" in words(refused)
            assert service.tables.all() == []
            assert str(service.folder) not in refused.text

    def test_a_column_of_texts_that_is_ordinal_is_given_its_order(self, custodian, sent):  # noqa: F811
        id, form = sent(TEXT), {"name": "people", "column-0": "town", "kind-0": "ordinal", "do": "look"}
        asked = custodian.post(f"/upload/{id}/table", data=form)
        assert "give its order" in asked.text and 'value="A &lt; B"' in asked.text
        kept = custodian.post(f"/upload/{id}/table", data={**form, "order-0": "B < A", "do": "keep"})
        assert kept.status_code == 303
        assert custodian.get("/v1/tables/people/schema").json["attributes"]["town"]["order"] == ["B", "A"]

    def test_a_name_that_is_taken_is_no_reason_to_begin_again(self, custodian, sent, people):  # noqa: F811
        refused = custodian.post(f"/upload/{sent(TEXT)}/table", data={**COLUMNS, "name": "people", "do": "keep"})
        assert refused.status_code == 400 and "take another name" in refused.text
        assert "<option selected>continuous</option>" in refused.text

    def test_the_next_file_of_a_table_takes_its_place(self, custodian, sent, people):  # noqa: F811
        custodian.put("/v1/tables/people/schema", json={"attributes": {"town": {"title": "Home"}}})
        custodian.put("/v1/tables/people/hierarchies/town", data="A;x;*\nB;x;*\n")
        id = sent("age,town\n30,A\n40,C\n")
        shown = custodian.get(f"/upload/{id}/table?name=people")
        assert "This is a newer version of people" in words(shown)
        form = {"column-1": "town", "kind-1": "nominal", "role-1": "quasi-identifier", "name": "people", "do": "keep"}
        assert custodian.post(f"/upload/{id}/table", data=form).status_code == 400
        assert custodian.post(f"/upload/{id}/table", data={**form, "replace": "people"}).status_code == 303
        said = {"town": {"title": "Home", "kind": "nominal", "role": "quasi-identifier"}}
        assert custodian.get("/v1/tables/people/schema").json == {"attributes": said}
        assert "1 of 2 values not placed" in words(custodian.get(people))
        editor = words(custodian.get("/tables/people/hierarchies/town?kind=original"))
        # Values that the next file lacks stay, for the one after it.
        assert "1 of 3 values not placed" in editor and editor.index(" C 1 ") < editor.index(" A 1 ")

    def test_the_hierarchy_of_another_table_is_offered_with_what_it_lacks(self, custodian, sent, service, people):  # noqa: F811
        custodian.put("/v1/tables/people/hierarchies/town", data="A;x;*\nB;x;*\n")
        custodian.put("/v1/tables/people/hierarchies/age", data="30;*\n40;*\n50;*\n")
        id = sent("age,town\n30,A\n40,B\n30,C\n")
        shown = custodian.get(f"/upload/{id}/table?name=more")
        assert "from people: all values placed" in shown.text
        assert "from people: 1 of 3 values not placed" in shown.text
        form = {"column-0": "age", "hierarchy-0": "people", "column-1": "town", "hierarchy-1": "people"}
        assert custodian.post(f"/upload/{id}/table", data={**form, "name": "more", "do": "keep"}).status_code == 303
        # The one that lacks a value waits to be finished.
        assert custodian.get("/v1/tables/more/hierarchies").json == {"hierarchies": [{"column": "age"}]}
        waiting = custodian.get("/tables/more/hierarchies/town?kind=original")
        assert "the hierarchy of people" in waiting.text and "1 of 3 values not placed" in words(waiting)

    def test_of_a_large_file_the_beginning_is_looked_at_and_a_job_keeps_it(self, custodian, sent, monkeypatch):  # noqa: F811
        monkeypatch.setattr("api.pages.tables.uploading.takes_long", lambda path: path.stat().st_size > 20)
        monkeypatch.setattr("api.pages.tables.uploading._SAMPLE", 30)
        id = sent(TEXT)
        shown = custodian.get(f"/upload/{id}/table?name=people")
        assert "This preview read only the beginning of the file" in words(
            shown
        ) and "Rows, in this preview 2" in words(shown)
        # Here no jobs run; it gets as far as that.
        kept = custodian.post(f"/upload/{id}/table", data={**COLUMNS, "name": "people", "do": "keep"})
        assert kept.status_code == 503

    def test_of_a_large_parquet_file_the_first_rows_are_looked_at(self, custodian, sent, tmp_path, monkeypatch):  # noqa: F811
        monkeypatch.setattr("api.service.tables.tables._CELLS_AT_ONCE", 7)
        monkeypatch.setattr("api.pages.tables.uploading._SAMPLE_ROWS", 3)
        table = pa.table({"age": [30, 40, 30, 50], "town": ["A", "B", "B", None]})
        pq.write_table(table, tmp_path / "t.parquet")
        shown = words(custodian.get(f"/upload/{sent((tmp_path / 't.parquet').read_bytes())}/table?name=people"))
        assert (
            "This preview read only the beginning" in shown
            and "Rows, in this preview 3" in shown
            and "town text, 2 values" in shown
        )
        pq.write_table(
            pa.table({"lists": [[1], [2], [3], [4]], **{n: [1, 2, 3, 4] for n in "abc"}}), tmp_path / "l.parquet"
        )
        refused = custodian.get(f"/upload/{sent((tmp_path / 'l.parquet').read_bytes())}/table?name=people")
        assert "people, column &#39;lists&#39;: a cell holds one plain value" in refused.text


class TestThePage:
    def test_it_says_what_is_ready_and_what_to_do_next(self, custodian, people):  # noqa: F811
        assert "0 of 3" in words(custodian.get(people))
        said = {f"column-{n}": name for n, name in enumerate(("age", "town", "pay"))}
        roles = {"role-0": "quasi-identifier", "role-1": "sensitive", "role-2": "insensitive"}
        assert custodian.post(f"{people}/columns?kind=original", data={**said, **roles}).status_code == 303
        page = words(custodian.get(people))
        assert "2 of 3" in page and "“age” needs a hierarchy. Edit its hierarchy" in page
        custodian.put("/v1/tables/people/hierarchies/age", data="30;*\n40;*\n50;*\n")
        page = custodian.get(people)
        assert "Every column is ready." in words(page) and 'href="/release?table=people"' in page.text
        assert "people 4 3 3 of 3" in words(custodian.get("/"))

    def test_what_does_not_fit_changes_nothing(self, custodian, people):  # noqa: F811
        refused = custodian.post(f"{people}/columns?kind=original", data={"column-1": "town", "kind-1": "continuous"})
        assert refused.status_code == 400 and "line 2" in refused.text and "Nothing was changed" in refused.text
        assert custodian.get("/v1/tables/people/schema").json == {}
        custodian.put("/v1/tables/people/schema", json={"attributes": {"age": {"role": "sensitive"}}})
        late = {"state": "plain", "column-0": "age", "role-0": "identifier"}
        refused = custodian.post(f"{people}/columns?kind=original", data=late)
        assert refused.status_code == 400 and "Somebody else changed these columns" in refused.text

    def test_long_texts_and_many_columns_do_not_make_a_heavy_page(self, custodian):  # noqa: F811
        names = [f"c{number}" for number in range(150)]
        custodian.put("/v1/tables/wide", data=",".join(names) + "\n" + ",".join(["x" * 5000] * 150) + "\n")
        page = custodian.get("/tables/wide")
        assert len(page.data) < 300_000 and "The first 100 columns" in page.text
        more = custodian.get("/tables/wide?columns=1")
        assert "c149" in more.text and 'name="column-149"' in more.text
        # What was wrong is told on the page where it was typed.
        form = {"columns": "1", "column-149": "c149", "kind-149": "nonsense"}
        wrong = custodian.post("/tables/wide/columns?kind=original", data=form)
        assert wrong.status_code == 400 and 'name="column-149"' in wrong.text

    def test_rows_of_an_original_are_filtered_by_a_form(self, custodian, people):  # noqa: F811
        """A condition may name a person: it stands in no address."""
        sent = {"column": "age", "sign": "<=", "value": "40", "by": "town", "where": "town=B"}
        page = custodian.get(custodian.post(f"{people}?kind=original", data=sent).headers["Location"])
        asked = "with Graphpriv-Options: where=town%3DB&amp;where=age%3C%3D40&amp;limit=20"
        assert f"GET /v1/tables/people/rows {asked}" in page.text
        asked = "with Graphpriv-Options: by=town&amp;where=town%3DB&amp;where=age%3C%3D40"
        assert f"GET /v1/tables/people/counts {asked}" in page.text
        assert "B 2" in words(page) and "<svg" in page.text
        assert not re.findall(r'(?:href|action)="[^"]*(?:where|town%3DB|town=B)[^"]*"', page.text)
        kept = re.findall(r'<form class="asks"[^>]*>(.*?)</form>', page.text)
        assert [re.findall(r'name="where" value="([^"]*)"', each) for each in kept] == [["age&lt;=40"], ["town=B"]]

    def test_rows_are_filtered_by_what_stands_in_the_address(self, custodian, people):  # noqa: F811
        added = custodian.get(f"{people}?kind=original&column=age&sign=<=&value=40&by=town&where=town=B")
        assert added.status_code == 303
        page = custodian.get(added.headers["Location"])
        assert "B 2" in words(page) and "<svg" in page.text
        wrong = custodian.get(f"{people}?where=colour=red")
        assert wrong.status_code == 400 and "Clear the conditions" in wrong.text

    def test_pages_of_rows_follow_one_another(self, custodian):  # noqa: F811
        custodian.put("/v1/tables/many", data="n\n" + "".join(f"x{row}\n" for row in range(45)))
        page = custodian.get("/tables/many")
        assert ">x19<" in page.text and ">x20<" not in page.text
        (form,) = re.findall(r'<form class="asks"[^>]*#rows">(.*?)</form>', page.text)
        assert re.findall(r'name="from" value="(\d+)"', form) == ["20"]
        sent = custodian.post("/tables/many?kind=original", data={"from": "20"})
        assert ">x39<" in custodian.get(sent.headers["Location"]).text

    def test_a_table_is_deleted_once_its_name_was_typed(self, custodian, service, people):  # noqa: F811
        custodian.post(f"{people}/delete", data={"confirm": "x"})
        assert len(service.tables.all()) == 1
        assert custodian.post(f"{people}/delete", data={"confirm": "people"}).headers["Location"] == "/"
        assert service.tables.all() == []


class TestTheEditor:
    PATH = "/tables/people/hierarchies/town?kind=original"

    def step(self, custodian, number, do, **form):  # noqa: F811
        return custodian.post(self.PATH, data={"number": number, "do": do, **form})

    def test_a_hierarchy_is_made_without_scripts(self, custodian, people):  # noqa: F811
        page = words(custodian.get(self.PATH))
        assert "From a guess" in page and "Not used yet" in page
        assert self.step(custodian, 0, "names", **{"label-0-1": "Town A", "label-1-1": "B"}).status_code == 303
        assert self.step(custodian, 1, "join", at=1, into="Both", tick=["0", "1"]).status_code == 303
        assert self.step(custodian, 2, "undo").status_code == 303
        assert 'value="Town A"' in custodian.get(self.PATH).text
        assert self.step(custodian, 3, "save").headers["Location"] == "/tables/people?kind=original"
        assert custodian.get("/v1/tables/people/hierarchies/town").text == "A;Town A;*\nB;B;*\n"
        assert "Used by people" in words(custodian.get(self.PATH))

    def test_levels_are_counted_alone_and_with_the_other_columns(self, custodian, people):  # noqa: F811
        custodian.put("/v1/tables/people/hierarchies/age", data="30;low;*\n40;low;*\n50;50;*\n")
        page = words(custodian.get(self.PATH))
        # A and B twice each; with the ages 30, 40, 30, 50 every row is alone, and at level 1 two are alike.
        assert "the values 2 2 0.00 1 0.00" in page
        assert "Level 1 2 2 0.00 1 0.19" in page and "Level 2 1 4 1.00 4 1.00" in page

    def test_a_csv_is_imported_and_what_it_lacks_is_placed(self, custodian, people):  # noqa: F811
        file = (BytesIO(b"A;North;*\n"), "towns.csv")
        begun = custodian.post(
            self.PATH, data={"number": 0, "do": "start", "by": "csv", "file": file}, content_type="multipart/form-data"
        )
        assert begun.status_code == 303
        page = custodian.get(f"{self.PATH}&unplaced=1")
        assert "1 of 2 values not placed" in words(page) and "no place yet" in page.text
        assert self.step(custodian, 1, "save").status_code == 400
        assert self.step(custodian, 1, "names", **{"label-1-1": "North"}).status_code == 303
        assert self.step(custodian, 2, "save").status_code == 303
        assert custodian.get("/v1/tables/people/hierarchies/town").text == "A;North;*\nB;North;*\n"
        bad = {"number": 0, "do": "start", "by": "csv", "file": (BytesIO(b"A;x\nB;y\n"), "towns.csv")}
        refused = custodian.post(self.PATH, data=bad, content_type="multipart/form-data")
        assert refused.status_code == 400 and "towns.csv" in refused.text and "line 2" in refused.text

    def test_one_may_begin_from_anything(self, custodian, people):  # noqa: F811
        custodian.put("/v1/tables/more", data="town\nA\nB\n")
        custodian.put("/v1/tables/more/hierarchies/town", data="A;x;*\nB;y;*\n")
        for number, (by, form, file, labels) in enumerate(
            (
                ("guess", {}, None, ["A", "B"]),
                ("star", {"star-step": "1"}, None, []),
                ("by hand", {}, None, ["A", "B"]),
                ("places", {}, b'{"A": ["North"], "B": ["North"]}', []),
                ("table:more", {}, None, ["x", "y"]),
            )
        ):
            chosen = custodian.get(f"{self.PATH}&by={by}")
            assert all(f'name="{name}"' in chosen.text for name in form) and ('type="file"' in chosen.text) == bool(
                file
            )
            sent = {} if file is None else {"file": (BytesIO(file), "f.json")}
            form = {"number": number, "do": "start", "by": by, **form, **sent}
            assert custodian.post(self.PATH, data=form, content_type="multipart/form-data").status_code == 303
            page = custodian.get(self.PATH)
            assert re.findall(r'name="label-\d-1" value="([^"]*)"', page.text) == labels

    def test_a_column_without_values_has_none(self, custodian):  # noqa: F811
        assert custodian.put("/v1/tables/people", data="town,n\n").status_code == 201
        refused = custodian.get(self.PATH)
        assert refused.status_code == 400 and "nothing to generalise" in refused.text
        assert custodian.get("/tables/people").status_code == 200

    def test_tables_of_hardly_anything_have_hierarchies_too(self, custodian):  # noqa: F811
        for place, text in enumerate(("town\nA\n", "town,n\n,1\n,2\n", "town\n" + "A\n" * 9)):
            custodian.put(f"/v1/tables/t{place}", data=text)
            path = self.PATH.replace("people", f"t{place}")
            assert custodian.get(path).status_code == 200
            assert custodian.post(path, data={"number": 0, "do": "save"}).status_code == 303
            assert re.search(r"\d levels?", words(custodian.get(f"/tables/t{place}")))

    def test_a_hierarchy_that_has_none_of_the_values_any_more_is_begun_anew(self, custodian, service, people):  # noqa: F811
        custodian.put("/v1/tables/people/hierarchies/town", data="A;x;*\nB;x;*\n")
        tag = custodian.get("/v1/tables/people").headers["ETag"]
        custodian.put("/v1/tables/people", data="town\nP\nQ\n", headers={"If-Match": tag})
        assert "From a guess" in words(custodian.get(self.PATH))

    def test_too_many_values_are_not_edited(self, custodian, people, monkeypatch):  # noqa: F811
        monkeypatch.setattr("api.service.tables.drafts.MOST_VALUES", 1)
        refused = custodian.get(self.PATH)
        assert refused.status_code == 400 and "too many to edit here" in refused.text

    def test_a_step_that_is_none_changes_nothing(self, custodian, people):  # noqa: F811
        for do, form, told in (
            ("join", {"at": 1, "into": "x"}, "Tick one or more values first"),
            ("join", {"at": 9, "into": "x", "tick": "0"}, "level"),
            ("names", {"label-0-1": " "}, "characters that can be printed"),
            ("start", {"by": "range"}, "Intervals need numbers"),
            ("start", {"by": "csv"}, "Choose the CSV"),
            ("start", {"by": "places"}, "Choose a JSON file"),
            ("start", {"by": "nothing"}, "No kind of hierarchy"),
            ("dance", {}, "must be an existing step"),
            ("undo", {}, "no step to undo"),
        ):
            refused = self.step(custodian, 0, do, **form)
            assert refused.status_code in (400, 404) and told in refused.text
        assert "Nothing has been changed yet" in custodian.get(self.PATH).text

    def test_two_who_work_at_one_hierarchy_do_not_undo_each_other(self, custodian, people):  # noqa: F811
        assert self.step(custodian, 0, "level", at=1).status_code == 303
        refused = self.step(custodian, 0, "level", at=1)
        assert refused.status_code == 400 and "Somebody has gone on" in refused.text
        assert self.step(custodian, 1, "discard").status_code == 303
        assert "From a guess" in words(custodian.get(self.PATH))

    def test_it_is_kept_for_other_tables_too(self, custodian, people):  # noqa: F811
        for name, text in (("more", "town\nA\nB\n"), ("lacks", "town\nA\nQ\n")):
            custodian.put(f"/v1/tables/{name}", data=text)
        assert "Use it in other tables, too" in words(custodian.get(self.PATH))
        assert self.step(custodian, 0, "save", also="more").status_code == 303
        assert custodian.get("/v1/tables/more/hierarchies/town").text == "A;A;*\nB;B;*\n"
        assert "Used by more , people" in words(custodian.get(self.PATH))
        custodian.delete("/v1/tables/people/hierarchies/town")
        refused = self.step(custodian, 0, "save", also=["more", "lacks"])
        assert (
            refused.status_code == 400 and "1 values of lacks are not in it; it was saved for no table" in refused.text
        )
        assert custodian.get("/v1/tables/people/hierarchies").json == {"hierarchies": []}

    def test_thousands_of_values_are_drawn_page_by_page(self, custodian):  # noqa: F811
        custodian.put("/v1/tables/people", data="town\n" + "".join(f"town {row}\n" for row in range(5000)))
        page = custodian.get(self.PATH)
        assert len(page.data) < 100_000 and "60 of 5,000 values, page 1 of 84" in words(page)
        assert "1 of 1 values" not in words(custodian.get(f"{self.PATH}&q=town 4321"))
        assert "town 4321" in custodian.get(f"{self.PATH}&q=town 4321").text
        assert "No values match" in custodian.get(f"{self.PATH}&q=nothing").text


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
def test_a_table_is_brought_described_and_used(served, signed_in, tmp_path):
    reader = signed_in("custodian")
    page = reader.page
    (tmp_path / "ward-visits.csv").write_text(table_text())
    page.get_by_role("link", name="Upload one").click()
    page.get_by_label("File").set_input_files(tmp_path / "ward-visits.csv")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_label("Kind of age").select_option("continuous")
    for name, role in (("age", "quasi-identifier"), ("ward", "quasi-identifier"), ("cost", "insensitive")):
        page.get_by_label(f"Role of {name}").select_option(role)
    page.get_by_role("button", name="Save as an original").click()
    page.get_by_text("3 of 5").wait_for()
    page.get_by_role("link", name="Make one for ward").click()

    # By keyboard: B1 is named, B2 joined with it, then taken out and brought back.
    page.get_by_label("B1, level 1").focus()
    page.keyboard.type("Surgery")
    page.keyboard.press("Enter")
    page.get_by_label("B1, level 1").and_(page.locator("[value=Surgery]")).wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("#told", has_text="Level 1: k ").wait_for(state="attached")
    page.get_by_label("B2, level 1").and_(page.locator("[value=Surgery]")).wait_for()
    page.keyboard.press("Delete")
    page.get_by_label("B2, level 1").and_(page.locator("[value=B2]")).wait_for()
    page.keyboard.press("Control+z")
    page.get_by_label("B2, level 1").and_(page.locator("[value=Surgery]")).wait_for()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    for ward in ("A1", "A2"):
        page.get_by_label(f"{ward}, level 1").focus()
        page.keyboard.press("Space")
    page.get_by_label("A3, level 1").focus()
    page.keyboard.press("Enter")
    page.get_by_label("A1, level 1").and_(page.locator("[value=A3]")).wait_for()
    page.keyboard.press("Escape")
    page.keyboard.type("Medicine")
    page.keyboard.press("Enter")
    page.get_by_label("A2, level 1").and_(page.locator("[value=Medicine]")).wait_for()
    page.get_by_role("button", name="Save for ward-visits.csv").focus()
    page.keyboard.press("Enter")
    page.get_by_text("4 of 5").wait_for()
    page.get_by_role("link", name="Edit its hierarchy").click()
    page.get_by_role("button", name="Save for ward-visits.csv").click()
    page.get_by_text("Every column is ready.").wait_for()
    assert reader.has_kept_still(), (reader.asked, reader.said)

    # A verb takes both: what age is, and what wards become.
    client = connect(served.address, served.tokens["custodian"])
    client.run(
        "table search", file="ward-visits.csv", quasi_identifiers=["age", "ward"], k=30, suppression=0.1, out="r.csv",
        into="ward-visits-v1",
    )  # fmt: skip
    found = client.get("tables/ward-visits-v1")
    assert [each["name"] for each in found["columns"]] == ["age", "ward", "illness", "cost"]
    analyst = signed_in("analyst")
    analyst.page.get_by_role("link", name="ward-visits-v1", exact=True).click()
    analyst.page.get_by_label("Count rows by").select_option("ward")
    analyst.page.get_by_role("button", name="Count").click()
    analyst.page.get_by_role("region", name="Counts, table").wait_for()
    assert analyst.has_kept_still(), (analyst.asked, analyst.said)
    assert analyst.go("/tables/ward-visits.csv") == 404
    assert analyst.go("/tables/ward-visits-v1/hierarchies/ward") == 403
