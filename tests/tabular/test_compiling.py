"""Time spent compiling, and the folders of compiled kernels."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from pathlib import Path

import pytest

from tabular import compiling
from tabular.compiling import CompileTime, cache_folders, check_cache_folder, is_safe, make_cache_folder
from tabular.errors import InvalidInput
from tabular.files.journal import WORKING
from tabular.kernels import _CacheFile, _clear_up, compiled
from tests.moments import killed_at


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def no_choice(monkeypatch):
    monkeypatch.delenv("GRAPHPRIV_CACHE_DIR", raising=False)


def test_a_kernel_that_needs_another_is_timed_once():
    clock = Clock()
    watch = CompileTime(clock)
    watch.begin()
    clock.now = 1.0
    watch.begin()
    clock.now = 3.0
    assert watch.seconds == 3.0
    watch.end()
    clock.now = 4.0
    watch.end()
    clock.now = 9.0
    assert (watch.seconds, watch.kernels) == (4.0, 1)


def test_who_wants_to_know_is_told_when_compiling_begins_and_no_longer_afterwards():
    watch, told = CompileTime(), []
    with watch.announced(lambda: told.append(1), told.append):
        watch.begin()
        watch.begin()
        watch.end()
        watch.end()
    watch.begin()
    watch.end()
    assert told == [1]


def test_the_working_clock_stands_still_while_any_thread_compiles(monkeypatch):
    clock = Clock()
    watch = CompileTime(clock)
    monkeypatch.setattr(compiling, "compile_time", watch)
    monkeypatch.setattr(compiling.time, "monotonic", clock)
    clock.now = 10.0
    began = compiling.working_clock()
    thread = threading.Thread(target=watch.begin)
    thread.start()
    thread.join()
    clock.now = 17.0
    assert compiling.working_clock() == began
    watch.end()
    clock.now = 19.0
    assert compiling.working_clock() - began == 2.0


def test_a_chosen_folder_is_the_only_one(monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHPRIV_CACHE_DIR", str(tmp_path / "kernels"))
    assert list(cache_folders(Path("beside"))) == [tmp_path / "kernels"]


def test_without_a_choice_the_temporary_directory_comes_last_and_is_the_users_alone(monkeypatch, tmp_path, no_choice):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling.tempfile, "gettempdir", lambda: str(tmp_path))
    own = tmp_path / f"graphpriv-{os.getuid()}"
    assert list(cache_folders(tmp_path)) == [tmp_path / "__pycache__", tmp_path / "cache" / "graphpriv", own]
    assert not own.exists()
    make_cache_folder(own)
    assert own.stat().st_mode & 0o777 == 0o700
    assert own in list(cache_folders(tmp_path))


@pytest.mark.parametrize("trap", ["open to others", "a link", "a file"])
def test_a_folder_that_others_could_have_filled_is_not_read(monkeypatch, tmp_path, no_choice, trap):
    monkeypatch.setattr(compiling.tempfile, "gettempdir", lambda: str(tmp_path))
    own = tmp_path / f"graphpriv-{os.getuid()}"
    if trap == "open to others":
        own.mkdir()
        own.chmod(0o777)
    elif trap == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        own.symlink_to(tmp_path / "elsewhere")
    else:
        own.write_text("")
    assert own not in list(cache_folders(tmp_path))
    with pytest.raises(OSError):
        make_cache_folder(own)


def test_a_chosen_folder_that_cannot_be_is_refused(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRAPHPRIV_CACHE_DIR", str(tmp_path / "file" / "kernels"))
    with pytest.raises(InvalidInput, match=r"GRAPHPRIV_CACHE_DIR: .*kernels: Not a directory; name a folder"):
        check_cache_folder()


@pytest.fixture
def a_machine(monkeypatch, tmp_path):
    """A temporary directory, and a chosen folder for compiled code."""
    (tmp_path / "tmp").mkdir(mode=0o1777)
    monkeypatch.setattr(compiling.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    monkeypatch.setattr(compiling, "compile_time", CompileTime())
    chosen = tmp_path / "above" / "kernels"
    chosen.mkdir(parents=True)
    monkeypatch.setenv("GRAPHPRIV_CACHE_DIR", str(chosen))
    return chosen


OPENED = {
    "to all": lambda folder: folder.chmod(0o777),
    "to a group": lambda folder: folder.chmod(0o775),
    "by the one above": lambda folder: folder.parent.chmod(0o777),
    "by a file of others": lambda folder: ((folder / "f.nbi").write_text(""), (folder / "f.nbi").chmod(0o666)),
    "by a link": lambda folder: (
        folder.rename(folder.parent.parent / "real"),
        folder.parent.parent.joinpath("real").chmod(0o777),
        folder.symlink_to(folder.parent.parent / "real"),
    ),
}


@pytest.mark.parametrize("opened", OPENED)
def test_code_is_not_read_from_a_folder_that_others_may_write(monkeypatch, a_machine, opened):
    monkeypatch.setattr(compiling, "_is_alone_in", lambda group: False)
    assert is_safe(a_machine) and list(cache_folders(Path("beside"))) == [a_machine]
    OPENED[opened](a_machine)
    own = Path(compiling.tempfile.gettempdir()) / f"graphpriv-{os.getuid()}"
    warned = []
    with compiling.compile_time.announced(lambda: None, warned.append):
        for _ in range(3):
            assert list(cache_folders(Path("beside"))) == [own]
    (warning,) = warned
    assert f"compiled code is not read from {a_machine}: somebody else may write there or above it" in warning
    with pytest.raises(PermissionError):
        make_cache_folder(a_machine)
    make_cache_folder(own)
    # Where that one is a trap, too, this process has one of its own.
    own.chmod(0o777)
    (fresh,) = cache_folders(Path("beside"))
    assert fresh != own and fresh.stat().st_mode & 0o777 == 0o700
    assert list(cache_folders(Path("beside"))) == [fresh]


def test_a_folder_of_another_user_is_not_read_and_one_of_root_is(monkeypatch, a_machine):
    if os.geteuid():
        pytest.skip("only root can give a folder away")
    os.chown(a_machine, 4711, -1)
    assert not is_safe(a_machine)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    assert is_safe(a_machine)
    os.chown(a_machine, 0, -1)
    assert is_safe(a_machine)


def test_a_group_in_which_nobody_else_is_and_a_sticky_folder_above_do_no_harm(monkeypatch, a_machine):
    monkeypatch.setattr(compiling, "_is_alone_in", lambda group: True)
    a_machine.chmod(0o775)
    a_machine.parent.chmod(0o1777)
    assert is_safe(a_machine)
    assert is_safe(a_machine / "not" / "there")
    a_machine.parent.chmod(0o777)
    assert not is_safe(a_machine / "not" / "there")


@pytest.mark.parametrize("is_open", [False, True])
def test_planted_code_does_not_run(a_machine, is_open):
    def successor(number):
        return number + 1

    assert compiled(successor)(1) == 2
    (index,) = a_machine.rglob("*.nbi")
    ran = a_machine / "it ran"
    index.write_bytes(pickle.dumps(Planted(str(ran))))
    if is_open:
        index.parent.chmod(0o777)
    assert compiled(successor)(1) == 2
    # Who may write to the folder runs code: that is so, and why nobody else may.
    assert ran.exists() is not is_open


class Planted:
    """Touches a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_a_folder_of_a_killed_process_goes_with_the_next_that_needs_one(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(compiling, "_made", [])

    def killed():
        (compiling._fresh() / "code.nbc").write_bytes(b"x")
        os.kill(os.getpid(), signal.SIGKILL)

    assert killed_at(0, killed).code is None
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(WORKING)
    own = compiling._fresh()
    assert list(tmp_path.iterdir()) == [own] != [left]
    assert killed_at(0, lambda: compiling._fresh() != own).code == 0


def test_what_a_killed_process_was_keeping_of_a_kernel_goes_with_the_next_that_keeps_one(tmp_path):
    file = _CacheFile(str(tmp_path), "kernel", "1")

    def keep():
        file.save("key", [1] * 10_000)
        return 0

    for moment in range(1, 40):
        ended = killed_at(moment, keep)
        _clear_up.cache_clear()
        file.save("key", [2])
        assert file.load("key") == [2]
        assert sorted(path.suffix for path in tmp_path.iterdir()) == [".nbc", ".nbi"]
        for path in tmp_path.iterdir():
            path.unlink()
        if ended.code is not None:
            break
    assert (ended.code, moment > 4) == (0, True)
