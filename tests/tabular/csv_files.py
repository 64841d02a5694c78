"""CSV files for tests: any dialect, any cells, and files that are not quite right."""

from __future__ import annotations

from hypothesis import strategies as st

from tabular.files.csv_tables import BLANKS, Dialect

#: What cells trip over: delimiters, quotes, formulas, numbers in all spellings, texts that stand for no value.
PIECES = [
    ",",
    ";",
    "\t",
    "|",
    " ",
    '"',
    "'",
    "\n",
    "\r",
    "=",
    "+",
    "-",
    "@",
    "#",
    "a",
    "é",
    "1",
    "0",
    ".",
    "?",
    "NA",
    "*",
]
TRICKY = [
    "",
    "?",
    "NA",
    "NULL",
    "007",
    "1.50",
    "1e3",
    "1.5",
    "-0",
    "0",
    "=1+1",
    "'=x",
    "2024-01-31",
    "[1,2]",
    "{a|b}",
    "*",
]

cells = st.one_of(
    st.sampled_from(TRICKY),
    st.lists(st.sampled_from(PIECES), max_size=5).map("".join),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5),
    st.integers(-999, 999).map(str),
)


@st.composite
def dialects(draw):
    delimiter = draw(st.sampled_from([",", ";", "\t", "|", BLANKS, "~"]))
    return Dialect(
        delimiter=delimiter,
        quote=draw(st.sampled_from(['"', "'"])),
        encoding=draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])),
        line_end=draw(st.sampled_from(["\n", "\r\n", "\r"])),
        header=draw(st.booleans()),
        spaced=delimiter != BLANKS and draw(st.booleans()),
        decimal=draw(st.sampled_from([".", ","])) if delimiter != "," else ".",
    )


@st.composite
def rows_of_cells(draw, min_rows=1, max_rows=6, max_width=4):
    width = draw(st.integers(1, max_width))
    row = st.lists(cells, min_size=width, max_size=width)
    return draw(st.lists(row, min_size=min_rows, max_size=max_rows))


def written(rows, dialect):
    """The rows in a dialect, each cell in quotes that needs them or, now and then, that does not."""
    delimiter, quote = dialect.delimiter, dialect.quote

    def cell(text, place):
        needs = not text or any(mark in text for mark in (*f"{delimiter}{quote} \t\r\n\ufeff",)) or place % 5 == 4
        return quote + text.replace(quote, quote * 2) + quote if needs else text

    joint = delimiter + " " * dialect.spaced
    lines = [
        joint.join(cell(text, place + number) for place, text in enumerate(row)) for number, row in enumerate(rows)
    ]
    return "".join(line + dialect.line_end for line in lines).encode(dialect.encoding)
