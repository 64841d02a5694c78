"""The house as it was agreed: which packages there are, and which way they import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent
ORDER = ("tabular", "graphpriv", "crawler", "api")


def modules(package: str) -> list[Path]:
    return sorted((TOP / package).rglob("*.py"))


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides its direction"
            names.add((node.module or "").split(".")[0])
    return names


@pytest.mark.parametrize("package", ORDER)
def test_imports_go_one_way(package):
    allowed = set(ORDER[: ORDER.index(package) + 1])
    assert modules(package)
    for path in modules(package):
        assert imported(path) & set(ORDER) <= allowed, path


@pytest.mark.parametrize(
    ("library", "only"),
    [
        # The jobs read codes of errors from it.
        ("sqlite3", {"graphpriv/store", "api/service", "api/jobs/tables.py"}),
        ("neo4j", {"graphpriv/store"}),
        ("flask", {"api"}),
        ("dbos", {"api/jobs/engine.py", "api/jobs/jobs.py"}),
        ("sqlalchemy", {"api/jobs"}),
        ("click", {"api"}),
        ("networkx", {"graphpriv/formats", "graphpriv/graph.py"}),
    ],
)
def test_what_touches_the_world_stands_at_the_edge(library, only):
    users = {str(path.relative_to(TOP)) for package in ORDER for path in modules(package) if library in imported(path)}
    assert users
    assert all(any(user.startswith(place) for place in only) for user in users), users


def test_cypher_stands_in_one_place():
    speaks = re.compile(r"\b(MATCH|MERGE|UNWIND|CREATE) (\(|\$)")
    speakers = {
        path.relative_to(TOP).parent
        for package in ORDER
        for path in modules(package)
        if speaks.search(path.read_text())
    }
    assert speakers == {Path("graphpriv/store/neo4j")}


def rooms():
    """Every folder of the packages with the modules in it."""
    found: dict[Path, list[str]] = {}
    for package in ORDER:
        for path in modules(package):
            if path.name != "__init__.py":
                found.setdefault(path.parent.relative_to(TOP), []).append(path.name)
    return found


def described_rooms():
    """The rooms of docs/architecture.md, each with those of its package that it may import."""
    text = (TOP / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| `([\w/]+)` \| .+ \| ?(.*?) ?\|$", text, flags=re.MULTILINE)
    return {Path(room): re.findall(r"(all of )?`([\w/]+)`", may) for room, may in rows}


def room_of(module):
    """The folder that a module by its dotted name stands in."""
    path = Path(*module.split("."))
    return path if (TOP / path).is_dir() else path.parent


def rooms_imported(path):
    """The rooms that a module imports from, at its top or within its functions."""
    froms = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    return {room_of(node.module) for node in froms if node.module and node.module.split(".")[0] in ORDER}


def test_the_architecture_names_every_room():
    assert set(described_rooms()) == {*rooms(), Path("crawler")}


@pytest.mark.parametrize("room", [str(each) for each in described_rooms()])
def test_a_room_imports_what_the_architecture_says(room):
    room, described = Path(room), described_rooms()
    package = Path(room.parts[0])
    whole = [package if name == str(package) else package / name for all_of, name in described[room] if all_of]
    allowed = {room, package, *(package / name for _, name in described[room])}
    for path in (TOP / room).glob("*.py"):
        own = {each for each in rooms_imported(path) if each.is_relative_to(package)}
        wrong = {each for each in own - allowed if not any(each.is_relative_to(above) for above in whole)}
        assert wrong == set(), path


def test_no_room_holds_more_than_fifteen_modules():
    assert {str(room): len(names) for room, names in rooms().items() if len(names) > 15} == {}


def test_the_command_line_imports_verbs_words_and_drawing_and_nothing_of_the_engine():
    paths = sorted((TOP / "api" / "cli").rglob("*.py"))
    assert paths
    for path in paths:
        assert imported(path) & {"tabular", "graphpriv", "crawler"} == set(), path


def strings(path):
    """The texts of a module but for its docstrings."""
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and node.body
            and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


@pytest.mark.parametrize("package", ["tabular", "graphpriv"])
def test_no_text_of_the_engine_names_an_option_of_the_command_line(package):
    names_one = re.compile(r"(^|[ `'(\"])--[a-z][a-z-]+(?![\w(-]*:)")
    # In a style sheet two dashes begin a variable: `var(--ink)`, `--ink: black`.
    named = [(path.name, text) for path in modules(package) for text in strings(path) if names_one.search(text)]
    assert [each for each in named if "var(--" not in each[1]] == []


def test_no_code_reads_the_text_of_an_error():
    # `str(error)` shows a text; what is compared, searched or cut is read.
    reads = re.compile(r"(str\((error|why|e)\)(\.|\[| ==| in)|\bin str\(|(match|search|startswith)\([^)]*str\()")
    # Arrow tells what is wrong in the first line alone.
    arrow = TOP / "tabular" / "files" / "parquet.py"
    for package in ORDER:
        for path in modules(package):
            assert path == arrow or not reads.search(path.read_text()), path


def test_help_and_version_load_no_heavy_library():
    code = (
        "import sys; from api.cli import run; assert run(sys.argv[1:]) == 0; "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    heavy = {"numba", "pyarrow", "neo4j", "numpy", "scipy", "pandas", "networkx", "flask", "jinja2", "rich", "dbos",
             "sqlalchemy"}  # fmt: skip
    for arguments in (["--help"], ["--version"], ["table", "--help"]):
        ended = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=TOP)
        assert ended.returncode == 0, ended.stderr
        assert heavy & set(ended.stderr.split()) == set()


def test_the_distribution_names_its_packages():
    project = tomllib.loads((TOP / "pyproject.toml").read_text())
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == list(ORDER)
    assert project["project"]["scripts"] == {"graphpriv": "api.cli:main"}


def test_the_requirements_are_pinned_and_name_no_index():
    pinned = (TOP / "requirements.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[^ ;]+( ; .+)?", line) for line in pinned)
    names = {re.split(r"[=]", line)[0].lower() for line in pinned}
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    assert {re.match(r"[A-Za-z0-9._-]+", each)[0].lower() for each in wanted} <= names


def test_the_readme_has_two_commands_for_a_fresh_machine():
    commands = re.findall(r"^    (python3 -m venv .*)$", (TOP / "README.md").read_text(), flags=re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith("graphpriv demo")
    assert commands[1].endswith("pytest")


def test_no_test_file_is_left_without_a_test():
    for path in (TOP / "tests").rglob("test_*.py"):
        assert "def test_" in path.read_text(), path
