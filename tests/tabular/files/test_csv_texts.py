from hypothesis import given
from hypothesis import strategies as st

from tabular.files.csv_tables import Dialect, Rows
from tabular.files.csv_texts import quick_columns, reads_quickly
from tests.tabular.csv_files import PIECES, rows_of_cells, written


@given(rows_of_cells(), st.sampled_from([",", ";", "~"]), st.booleans(), st.booleans())
def test_arrow_reads_what_the_rows_say(rows, delimiter, header, broken):
    dialect = Dialect(delimiter=delimiter, header=header)
    data = written(rows, dialect)
    if broken:
        data = data.replace(b'""', b'"')
    check_quick(data, dialect, len(rows[0]))


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join), st.integers(1, 3))
def test_arrow_reads_any_text_as_the_rows_say_or_not_at_all(text, width):
    check_quick(text.encode(), Dialect(header=False), width)


def check_quick(data, dialect, width):
    text = data.decode()
    quick = quick_columns(data, dialect, width, quoted='"' in text) if reads_quickly(text, dialect) else None
    if quick is None:
        return
    rows = list(Rows(data, "x", dialect))
    theirs = [list(row) for row in zip(*(column.to_pylist() for column in quick), strict=True)]
    assert theirs == rows[1:] if dialect.header else theirs == rows


def test_a_plain_file_is_read_by_arrow():
    for text in ("a,b\n1,x\n", 'a,b\n1,"x"\n'):
        assert reads_quickly(text, Dialect())
        assert quick_columns(text.encode(), Dialect(), 2, quoted='"' in text) is not None
