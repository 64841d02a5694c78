"""Commands killed while they write: what each leaves, and what the next command makes of it.

A command runs in a fork of this process, in which everything is imported and compiled, and is killed at one of its
moments (`tests.moments`). A slow one may be forked when it begins to write: what it computed is not repeated.

What was killed is looked at each time, and cleared up by a command that only looks there. Now and then the same command
is given again instead and clears up itself: whenever the files show something new (`Killing.phase`), and in between.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from api.cli import run
from api.verbs import Work, contract, verbs
from api.verbs.contract import _refuse_mix, perform
from tabular.errors import InvalidInput
from tabular.files.disk import Output
from tests.moments import Ended, forked_at, killed_at, say_to

Seen = dict[str, bytes]
Phase = tuple[frozenset[str], frozenset[str], int]

#: The folder of the service, in which tables have names that are drawn.
HOME = "graphpriv-service"
#: What a store consists of; what it holds is compared, not its bytes.
STORE_FILE = re.compile(r".*\.db(-wal|-shm|-journal|-reserve)?")
#: Differs between two runs of one command.
_TIMES = re.compile(rb"\d[\d:.T+Z-]*")


@dataclass(frozen=True)
class Scene:
    """A command that writes, after others that made what it reads."""

    #: The verb, as the registry has it.
    verb: str
    #: Its options; SEED stands for another seed in each run, RUN for its number, TOKEN for the id of the first token.
    options: str
    before: tuple[str, ...] = ()
    #: What may follow `options` only where older outputs are replaced.
    again: str = "--overwrite"
    #: The files that the release of the scene consists of, and the record that names their id.
    mixes: tuple[str, ...] = ()
    #: Whether it computes for long, so that it is forked when it begins to write.
    is_slow: bool = False
    #: How often a command with the same options is done to begin with.
    runs_before: tuple[bool, ...] = (False, True)
    #: What goes before it that no command does, in the folder of the service.
    made_ready: Callable[[Path], None] = lambda home: None

    @property
    def name(self) -> str:
        return f"{self.verb} {self.options}"

    def line(self, seed: int, *, over: bool) -> list[str]:
        words = shlex.split(f"{self.verb} {self.options}".replace("SEED", f"--seed {seed}").replace("RUN", str(seed)))
        return [*words, *(shlex.split(self.again) if over else [])]


def hidden(folder: Path) -> list[str]:
    """What no command leaves for good."""
    found = (path.relative_to(folder) for path in folder.rglob("*"))
    return sorted(str(path) for path in found if path.name.startswith((".", "tmp")))


def seen(folder: Path) -> Seen:
    """The content of each file that a person sees."""
    found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in found.items()
        if not STORE_FILE.fullmatch(name) and not any(part.startswith((".", HOME)) for part in Path(name).parts)
    }


def stores(folder: Path) -> list[Path]:
    """The stores of a folder that a person sees."""
    found = sorted(folder.rglob("*.db"))
    return [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


def stored(folder: Path, scratch: Path) -> dict[str, Any]:
    """What the stores of a folder hold, read from a copy; each must be sound."""
    held: dict[str, Any] = {}
    for path in stores(folder):
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        for each in path.parent.glob(f"{path.name}*"):
            shutil.copy(each, scratch)
        name = str(path.relative_to(folder))
        if path.name == "service.db":
            known = [verbs[verb].method() for verb in ("account list", "token list")]
            work = Work(home=str(scratch))
            held[name] = [_without_times(perform(each, work).document) for each in known]
            with work.service_home() as records:
                assert records.log.problems() == []
                log = {"log": [(each.action, each.kind, each.object) for each in records.log.entries()]}
                held[name].append(_without_times(log))
            with contextlib.closing(sqlite3.connect(scratch / path.name)) as db:
                held[name] += db.execute("SELECT name, kind, size FROM tables").fetchall()
        else:
            work = Work(store=f"file:{scratch / path.name}", home=str(scratch))
            assert perform(verbs["store check"].method(), work).document["problems"] == []
            held[name] = _without_times(perform(verbs["graph list"].method(), work).document)
    # An empty store is as good as none.
    return {name: each for name, each in held.items() if each not in _EMPTY}


#: What is told of stores in which nothing is.
_EMPTY = ('{"graphs": []}', ['{"accounts": []}', '{"tokens": []}', '{"log": []}'])


def _without_times(document: Mapping[str, Any]) -> Any:
    return re.sub(r'"(\d[\d:.T+Z-]*|[0-9a-f]{12,})"', '""', json.dumps(document, sort_keys=True))


@dataclass
class Killing:
    """One scene with or without older outputs, in folders of its own."""

    scene: Scene
    top: Path
    over: bool
    inputs: Path
    mixed: set[tuple[str, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.start, self.work = self.top / "start", self.top / "work"
        shutil.copytree(self.inputs, self.start)
        for line in self.scene.before:
            self._done(self.start, shlex.split(line))
        self.scene.made_ready(self.start / HOME)
        if self.over:
            self._done(self.start, self._line(1, over=False))
        self.before = seen(self.start)
        self.held = self._held(self.start)
        self._warm_up()
        self.run_unhurt()
        self.after, self.held_after = seen(self.work), self._held(self.work)
        assert not hidden(self.work)

    @property
    def command(self) -> list[str]:
        return self._line(2, over=self.over)

    def _line(self, seed: int, *, over: bool) -> list[str]:
        words = self.scene.line(seed, over=over)
        if "TOKEN" in words:
            with Work(home=str(self.start / HOME)).service_home() as records:
                words[words.index("TOKEN")] = records.accounts.tokens()[0].id
        return words

    def run_unhurt(self) -> None:
        """Do the command to its end."""
        self.prepare()
        self._done(self.work, self.command)

    def moments(self) -> int:
        """How many moments the command has."""
        self.prepare()
        return killed_at(0, self._command(self.work, self.command)).moments

    def _warm_up(self) -> None:
        """Load and compile in this process what the command needs, so that no fork has to."""
        self.prepare()
        with contextlib.chdir(self.work), contextlib.redirect_stdout(io.StringIO()):
            run([*self.command, *(["--json"] if "-" not in self.command else [])])

    def prepare(self) -> None:
        """Have everything as it is before the command; the folder itself stays, as somebody is in it."""
        self.work.mkdir(exist_ok=True)
        for path in self.work.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self.start, self.work, dirs_exist_ok=True)

    def kill(self, moments: Iterable[int], look: Callable[[int, Ended], None]) -> int:
        """Kill the command at each of some *moments*, and *look*, until it ends unhurt; how often it was killed."""
        count = 0

        def has_ended(moment: int, ended: Ended) -> bool:
            nonlocal count
            if ended.code is None:
                count += 1
                look(moment, ended)
                return False
            assert ended.code == 0, self.said
            return True

        if self.scene.is_slow:
            self._kill_while_it_writes(moments, has_ended)
            return count
        for moment in moments:
            self.prepare()
            if has_ended(moment, killed_at(moment, self._command(self.work, self.command))):
                break
        return count

    def _kill_while_it_writes(self, moments: Iterable[int], has_ended: Callable[[int, Ended], bool]) -> None:
        write, here = contract.write_outputs, os.getpid()

        def forking(outputs: Sequence[Output], **options: Any) -> str | None:
            # Who looks may run the command again, and whole.
            patch.setattr(contract, "write_outputs", write)
            # What this process holds of tables that wait would be written to them by each fork, one behind the other.
            for each in gc.get_objects():
                if isinstance(each, io.BufferedRandom) and not each.closed:
                    each.flush()
            try:
                for moment in moments:
                    self.prepare()
                    ended = forked_at(moment)
                    if ended is None:
                        say_to(self.top)
                        return write(outputs, **options)
                    if has_ended(moment, ended):
                        break
            except Exception as error:
                # The command would take it for one of its own.
                raise _Enough from error
            raise _Enough

        code = 70
        self.prepare()
        with pytest.MonkeyPatch.context() as patch, contextlib.chdir(self.work):
            patch.setattr(contract, "write_outputs", forking)
            try:
                code = run(self.command)
            except _Enough as enough:
                if enough.__cause__ is not None:
                    raise enough.__cause__ from None
                return
            finally:
                if os.getpid() != here:
                    sys.stdout.flush()
                    os._exit(code)
        raise AssertionError(f"{self.scene.name} has written nothing")

    def check_going_on(self) -> None:
        """The store is sound, and the same command goes on, or one that was told to."""
        self._held(self.work)
        if killed_at(None, self._command(self.work, self.command)).code != 0:
            self._done(self.work, self._line(2, over=True))
        assert self._held(self.work) == self.held_after
        assert not hidden(self.work), hidden(self.work)

    def check(self, *, again: bool) -> None:
        """Look at what a kill left, have the next command, or the same one *again*, clear up, and look again."""
        left = seen(self.work)
        states = self._states(left)
        assert set(states.values()) <= {"old", "new", "same"}, states
        self._check_mix(states)
        assert self._held(self.work) in (self.held, self.held_after)
        if again and self.scene.again:
            self._again()
            return
        self._next_command()
        self._check_whole()

    def phase(self) -> Phase:
        """What stands beside the files, which of them are old and new, and how far the journals are."""
        beside = frozenset(Path(name).suffix for name in hidden(self.work))
        lines = max((path.read_bytes().count(b"\n") for path in self.work.rglob(".*.journal")), default=0)
        return beside, frozenset(self._states(seen(self.work)).values()), lines

    def _check_whole(self) -> None:
        """All is old or all is new, and nothing stands beside it."""
        assert not hidden(self.work), hidden(self.work)
        states = self._states(seen(self.work))
        assert not {"old", "new"} <= set(states.values()), states

    def _again(self) -> None:
        """The same command, given again, ends as if nothing had been; one that had come to its end must be told to."""
        ended = killed_at(None, self._command(self.work, self.command))
        if ended.code != 0 and not self.over:
            assert self.scene.again in self.said, self.said
            self._check_whole()
            assert "old" not in self._states(seen(self.work)).values()
            self._done(self.work, self._line(2, over=True))
        else:
            assert ended.code == 0, (self.command, ended, self.said)
        assert set(self._states(seen(self.work)).values()) <= {"new", "same"}
        assert self._held(self.work) == self.held_after
        assert not hidden(self.work)

    @property
    def said(self) -> str:
        return (self.top / "said.err").read_text()

    def _states(self, found: Mapping[str, bytes]) -> dict[str, str]:
        return {name: self._state(name, found) for name in {*self.before, *self.after, *found}}

    def _state(self, name: str, found: Mapping[str, bytes]) -> str:
        old, new, now = self.before.get(name), self.after.get(name), found.get(name)
        if name.endswith(".checkpoint"):
            # It is there for the next run.
            return "same"
        if now == old:
            return "same" if old == new else "old"
        if now == new or (now and new and _TIMES.sub(b"", now) == _TIMES.sub(b"", new)):
            return "new"
        # A report may draw how long something took.
        if now and new and name.endswith(".html") and now.rstrip().endswith(b"</html>"):
            return "new"
        return "torn" if old or new else "unknown"

    def _check_mix(self, states: Mapping[str, str]) -> None:
        """A mix is refused by the id of the release, also where nobody clears up."""
        state = tuple(states[name] for name in self.scene.mixes)
        if not {"old", "new"} <= set(state) or state in self.mixed:
            return
        self.mixed.add(state)
        elsewhere = self.top / "elsewhere"
        shutil.rmtree(elsewhere, ignore_errors=True)
        shutil.copytree(self.work, elsewhere, ignore=shutil.ignore_patterns(".*"))
        if all((elsewhere / name).exists() for name in self.scene.mixes):
            with pytest.raises(InvalidInput, match="this is not the release that"):
                _refuse_mix([str(elsewhere / self.scene.mixes[0])])

    def _next_command(self) -> None:
        """Commands that name a file of each folder, and each store."""
        for folder in {self.work, *(path for path in self.work.rglob("*") if path.is_dir())}:
            with contextlib.suppress(InvalidInput):
                perform(verbs["table describe"].method(file=str(folder / "none.csv")), Work())
        for path in stores(self.work):
            if path.name != "service.db":
                perform(verbs["graph list"].method(), Work(store=f"file:{path}"))

    def _held(self, folder: Path) -> dict[str, Any]:
        return stored(folder, self.top / "scratch")

    def _done(self, folder: Path, words: list[str]) -> None:
        ended = killed_at(None, self._command(folder, words))
        assert ended.code == 0, (words, ended, self.said)

    def _command(self, folder: Path, words: list[str]) -> Callable[[], int]:
        def command() -> int:
            os.chdir(folder)
            say_to(self.top)
            code = run(words)
            sys.stdout.flush()
            return code

        return command


class _Enough(BaseException):
    """The command need not go on in this process."""
