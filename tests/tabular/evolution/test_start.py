"""The starting population: from the grid, or from files that must fit the table."""

from __future__ import annotations

import numpy as np
import pytest

from tabular.errors import InvalidInput, NoSolution
from tabular.evolution import Task
from tabular.evolution.fitness import Fitness
from tabular.evolution.start import population_files, starting_population
from tabular.files.table_files import write_table_to
from tabular.grid import thesis_grid
from tabular.measures import summary
from tabular.protections import protect
from tests.tabular.evolution.people import COLUMNS, people


def write(table, path):
    with path.open("wb") as file:
        write_table_to(file, table, str(path))


@pytest.fixture
def folder(tmp_path):
    """Three masked versions of the people."""
    for place, retain in enumerate((0.2, 0.5, 0.8)):
        masked = protect(people(), "pram", COLUMNS, rng=np.random.default_rng(place), retain=retain)
        write(masked, tmp_path / f"m{place}.csv")
    return tmp_path


def start(folder=None, **given):
    population = None if folder is None else str(folder)
    task = Task(table=people(), columns=COLUMNS, file="people.csv", population=population, **given)
    return starting_population(task, np.random.default_rng(4))


def test_the_grid_gives_each_of_its_members():
    found = start(workers=2)
    members, _ = thesis_grid(people(), COLUMNS)
    names = [each.name for each in members]
    left_out = [each.method for each in found.left_out]
    assert sorted([*found.origins, *(name for name in left_out if name in names)]) == sorted(names)
    assert all(each.shape == (40, 2) and each.dtype == np.int32 for each in found.files)
    assert found.origins == tuple(names)
    # Codes beyond the domain count the sets that any of them has.
    member = members[names.index("global-recoding count=4,3")]
    masked = member.protect(people(), np.random.default_rng(0))
    fitness = Fitness.of(people(), COLUMNS, sets=found.sets)
    assert np.array_equal(fitness.codes_of(masked), found.files[names.index("global-recoding count=4,3")])
    # As the method itself masks, with a stream of its own for each.
    place = found.origins.index("rank-swapping percent=10")
    stream = np.random.default_rng(4).spawn(len(members))[names.index("rank-swapping percent=10")]
    masked = protect(people(), "rank-swapping", COLUMNS, rng=stream, percent=10)
    assert found.files[place][:, 0].tolist() == masked.columns["age"].tolist()


def test_files_are_read_in_the_order_of_their_names(folder):
    (folder / "m1.csv.dictionary.json").write_text("{}")
    found = start(folder)
    assert found.origins == ("m0.csv", "m1.csv", "m2.csv")
    masked = protect(people(), "pram", COLUMNS, rng=np.random.default_rng(1), retain=0.5)
    assert found.files[1][:, 1].tolist() == masked.columns["town"].tolist()
    assert [path.name for path in population_files(str(folder))] == ["m0.csv", "m1.csv", "m2.csv"]


def test_a_file_of_the_protected_columns_alone_will_do(folder):
    lines = (folder / "m0.csv").read_text().splitlines()
    (folder / "m0.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    assert len(start(folder).files) == 3


def changed(folder, row, column, text):
    lines = [line.split(",") for line in (folder / "m1.csv").read_text().splitlines()]
    lines[row][column] = text
    (folder / "m1.csv").write_text("\n".join(",".join(line) for line in lines) + "\n")


@pytest.mark.parametrize(
    ("row", "column", "text", "said"),
    [
        (3, 0, "77", "Column 'age', row 3: "),
        (5, 1, "{Bonn|Rome}", "Column 'town', row 5: "),
    ],
)
def test_a_cell_that_does_not_fit_is_named_with_file_row_and_column(folder, row, column, text, said):
    changed(folder, row, column, text)
    with pytest.raises(InvalidInput) as caught:
        start(folder)
    assert str(caught.value).startswith(f"{folder / 'm1.csv'}: ")
    assert said in str(caught.value)


def test_labels_that_stand_for_sets_are_taken_from_files(folder):
    changed(folder, 5, 1, "{Bonn|Kiel}")
    changed(folder, 2, 1, "*")
    changed(folder, 3, 0, "{21|22}")
    found = start(folder)
    assert found.sets == ([(1, 2)], [(0, 1), (0, 1, 2, 3)])
    assert [int(found.files[1][row, column]) for row, column in ((4, 1), (1, 1), (2, 0))] == [4, 5, 6]
    assert Fitness.of(people(), COLUMNS, sets=found.sets).table_of(found.files[1]).values("town")[4] == "{Bonn|Kiel}"


def test_where_there_is_no_room_for_sets_they_are_left_out_with_their_scores(monkeypatch):
    monkeypatch.setattr("tabular.evolution.fitness.tables.PAIRS_WITH_SETS", 100)
    found = start(workers=1)
    left = next(each for each in found.left_out if each.method == "global-recoding count=4,3")
    members, _ = thesis_grid(people(), COLUMNS)
    member = next(each for each in members if each.name == left.method)
    alone = summary(people(), member.protect(people(), np.random.default_rng(0)), COLUMNS)
    assert "its labels stand for several values" in left.reason
    assert left.reason.endswith(f"its score is {alone.score_max:.2f}")
    assert left.method not in found.origins
    assert not any(found.sets)


def test_rows_in_another_order_are_refused_where_other_columns_tell(folder):
    lines = (folder / "m1.csv").read_text().splitlines()
    (folder / "m1.csv").write_text("\n".join([lines[0], *sorted(lines[1:])]) + "\n")
    with pytest.raises(InvalidInput, match=r"Column 'illness', row \d+: this column is not protected, but its value"):
        start(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("age,town,illness\n20,Bonn,flu\n", r"m1\.csv: it has 1 rows, people\.csv has 40"),
        ("age,illness\n20,flu\n", r"m1\.csv: No column is called 'town'"),
        ("", r"m1\.csv: the file is empty"),
    ],
)
def test_a_file_of_another_shape_is_refused(folder, text, said):
    (folder / "m1.csv").write_text(text)
    with pytest.raises(InvalidInput, match=said):
        start(folder)


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="there is no table here"):
        start(tmp_path)
    with pytest.raises(InvalidInput, match="there is no such folder"):
        start(tmp_path / "none")


def test_one_file_is_too_few(folder):
    for name in ("m1.csv", "m2.csv"):
        (folder / name).unlink()
    with pytest.raises(NoSolution, match="begins with 2 protected files or more, and here are 1"):
        start(folder)
