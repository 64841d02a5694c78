"""Time spent compiling, and the folders of compiled kernels."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tabular import compiling
from tabular.compiling import CompileTime, cache_folders, check_cache_folder, make_cache_folder
from tabular.errors import InvalidInput


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
    with watch.announced(lambda: told.append(1)):
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
