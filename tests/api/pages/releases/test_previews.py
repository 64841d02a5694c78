"""Previews of a node: what is read of the table that a job has written."""

from __future__ import annotations

from api.pages.releases.previews import rows_after


def test_a_table_of_stars_alone_has_its_header(tmp_path):
    path = tmp_path / "preview.csv"
    path.write_text("c0,c1\n" + "*,*\n" * 12)
    assert rows_after(path, ["c1", "c0"]) == [["*", "*"]] * 10
