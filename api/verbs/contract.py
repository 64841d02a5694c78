"""What a verb is: a frozen dataclass whose fields are its options, with `check` and one way to run; and its performing.

The command line is made from the registry `verbs`, and so are the reference and the lists. A verb's module imports the
engine inside its methods, so that all verbs together are quick to import. `perform` is the one way to perform a verb,
whatever the door: everything is checked before it begins, and all files are written or none.
"""

from __future__ import annotations

import errno
import io
import json
import os
import secrets
import shutil
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal

from tabular.compiling import compile_time
from tabular.errors import InvalidInput, InvalidParameter, ReportedError, named
from tabular.files.disk import STREAM, Output, Planned, check_outputs, failure, put_right, read_text, write_outputs
from tabular.loop import ALONE, Parts, Report, silent
from tabular.registry import Method, Registry

if TYPE_CHECKING:
    import numpy as np

    from api.service.records import Records
    from graphpriv.store import Store


DEFAULT_STORE = "file:./graphpriv.db"

#: The folder of the service.
DEFAULT_HOME = "./graphpriv-service"

#: The categoriser and the gazetteer that answer at once, without a network and for nothing.
BUILT_IN = "embedded"

#: So many lines can be in one document.
MOST_LINES = 100_000

#: The variable of the environment that holds the password of a server.
PASSWORD = "GRAPHPRIV_NEO4J_PASSWORD"  # noqa: S105 (a name)


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a door hands to a verb beside its options: the store, chance, and who is told what."""

    store: str = DEFAULT_STORE
    #: That of a server; it is never typed.
    password: str | None = field(default_factory=lambda: os.environ.get(PASSWORD), repr=False)
    #: The folder of the service.
    home: str = DEFAULT_HOME
    #: The account that asks for it, and its role; nobody on the command line.
    account: str | None = None
    role: str | None = None
    overwrite: bool = False
    #: Whether the same work, with the same seed, was cut short before: what it has done by then is no obstacle.
    again: bool = False
    #: Files that the door itself reads, such as a plan.
    reads: tuple[str, ...] = ()
    #: The revision that the graph must have which is replaced or deleted; None takes it as it is.
    revision: str | None = None
    #: Drawn from the operating system unless somebody fixes it.
    seed: int = field(default_factory=lambda: secrets.randbits(128), repr=False)
    #: Is told how far the work is.
    report: Report = silent
    #: Is told the figures of the best candidate so far.
    best: Callable[[Mapping[str, Any]], None] = lambda figures: None
    #: Says whether the work shall end with the best so far.
    stop: Callable[[], bool] = lambda: False
    #: Does the parts of long work; `run` of a verb that has any changes nothing, as others may run it, too.
    parts: Parts = ALONE
    #: Takes a remark for the person who asked; parameters in it are `named`.
    note: Callable[[str], None] = lambda text: None
    #: Erases what is kept outside of the store of a person of a graph; tells how much of what.
    elsewhere: Callable[[str, str], Mapping[str, int]] = lambda graph, person: {}
    #: Does what is left to do when the answer is there, and nobody has to wait for.
    later: Callable[[Callable[[], None]], None] = lambda work: work()
    #: Shows the next line of an answer in lines; without it all lines are in the document.
    line: Callable[[Mapping[str, Any]], None] | None = None
    #: Is told of the outputs as they become known, and refuses those that cannot be.
    expect: Callable[[Sequence[Planned]], None] = lambda planned: None

    def opened(self, *, create: bool = False) -> Store:
        """The store."""
        from graphpriv.store import open_store
        from graphpriv.store.certificates import Certificates

        certificates = Certificates.of(os.environ)
        return open_store(self.store, create=create, password=self.password, certificates=certificates)

    def service_home(self, *, create: bool = False) -> Records:
        """What the service keeps: its accounts and its audit log."""
        from api.service.records import Records

        return Records.at(self.home, create=create)

    @property
    def has_service_home(self) -> bool:
        """Whether the service has its folder where it is said to be."""
        return (Path(self.home) / "service.db").is_file()

    @property
    def asker(self) -> dict[str, str | None]:
        """Who asks, for the audit log."""
        return {"account": self.account, "role": self.role}

    def generator(self) -> np.random.Generator:
        """The random numbers of the seed, from their beginning."""
        import numpy as np

        return np.random.default_rng(self.seed)


def refuse_password(url: str) -> None:
    """Refuse the address of a store that was typed with a password in it."""
    from graphpriv.store.addresses import refuse_password as refuse

    refuse(url)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a verb: a document and the files to write; nothing is shown or written yet."""

    document: dict[str, Any]
    outputs: Sequence[Output] = ()
    #: The answer of a verb that gives one JSON object a line; they are made as they are taken.
    lines: Iterable[Mapping[str, Any]] | None = None
    #: Files that go when the outputs take their places: of an earlier run, and none of this one.
    removed: Sequence[Path] = ()
    #: Whether the outputs replace files that exist, though nobody asked for that.
    replaces_unasked: bool = False
    #: Whether what `fail_if` asks for is so.
    condition_holds: bool = False
    #: Why it is not known for certain, where it only may hold.
    condition_doubt: str | None = None
    #: What is wrong with what was looked at, where finding that out was the task.
    failure: str | None = None
    #: What is said of the columns of a table that the service keeps, with the keys of a schema file.
    schema: Mapping[str, Any] | None = None
    #: What is left to do when everything is written.
    afterwards: Callable[[], None] = lambda: None
    #: What the words for people need beside the document.
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Verb(Method):
    """Something that the product does for somebody."""

    #: Whether it draws at random, and so takes a seed.
    draws: ClassVar[bool] = False
    #: What it does with the store: nothing, look into it, or change it (then it is made where it is not there yet).
    store: ClassVar[Literal["reads", "writes"] | None] = None
    #: What it does with the folder of the service, in the same words.
    home: ClassVar[Literal["reads", "writes"] | None] = None
    #: Whether it answers at once, so that the service need not make a job of it.
    quick: ClassVar[bool] = False
    #: Whether it has an answer at any time and so can be stopped.
    stoppable: ClassVar[bool] = False
    #: Whether a job of it that was cancelled can be taken up again, from the parts that it has kept.
    goes_on: ClassVar[bool] = False
    #: Whether it replaces things of the store that have the same name, if asked to.
    replaces: ClassVar[bool] = False
    #: What one must be allowed to do with the things it names: an action of `api.service.access`.
    action: ClassVar[str] = "administer"
    #: What plans of layout 1, and jobs of their time, mean by options that they do not name, where that is no more the
    #: default. Jobs name these options since.
    meant_at_first: ClassVar[Mapping[str, Any]] = {}
    #: Parameters that had another name or form, each with what takes its place.
    renamed: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def refuse_old(cls, given: Mapping[str, Any]) -> None:
        """Refuse options that were given in an old spelling, and name the new one."""
        for old, new in cls.renamed.items():
            if old in given:
                raise InvalidParameter(f"{named(old)} {given[old]}: {new}")

    def check(self) -> None:
        """Refuse what is wrong whatever the inputs hold; called before anything is read."""

    def planned(self) -> Sequence[Planned]:
        """The files it is going to write, as far as they are known before anything is read."""
        paths = ((name, getattr(self, name)) for name in names_with(type(self), "output"))
        return [Planned(name, path) for name, path in paths if path is not None]

    @property
    def writes_later(self) -> bool:
        """Whether it writes files that only what it reads makes known."""
        return False

    def reads(self) -> Sequence[str]:
        """The files and folders it reads."""
        paths = (getattr(self, name) for name in names_with(type(self), "input"))
        return [path for path in paths if path is not None]

    def releases(self) -> Sequence[Sequence[str]]:
        """The releases it reads, each as its files, the one with the data dictionary beside it first."""
        paths = (getattr(self, name) for name in names_with(type(self), "release"))
        return [[path] for path in paths if path is not None]

    @abstractmethod
    def run(self, work: Work) -> Outcome:
        """Do it: read, compute, change the store; what is to be written is in the outcome."""


def of_engine(module: str, name: str) -> Callable[[], Any]:
    """Gives what is called *name* in a *module* of the engine, and imports that when it is asked."""
    return lambda: getattr(import_module(module), name)


def names_with(verb: type[Verb], trait: str) -> list[str]:
    """The fields of a verb whose option has a *trait*.

    The traits: `positional`, `input` (a file that is read, with `folder` a folder), `release` (an input that was
    released), `output` (a file that is written), `fills` (a folder that files are written to), `personal` (tells who
    somebody is), `listed` (names with commas between them), `becomes` (the name of a table of the service, with the
    option of the file that it is made of), `metavar` and `group`, under which a help text shows it. `graph` says that
    it is the name of a graph of the store: `any`, a `release`, a `new release` or a `new original`. For the service
    alone are `shipped`, which gives the names that may stand instead of a file, `own`, which says what of the table's
    own is taken if nothing is given (`hierarchies` or `schema`), `or_file` with the flag that makes a file of it,
    `provider`, of whose choices it offers those that its operator allows, `blinds`, which it sets for those who must
    not know originals, `local`, which it does not take, and `served`, which no help offers.
    """
    return [each.name for each in fields(verb) if each.metadata.get(trait)]


def refuse_beside(verb: Verb, beside: str, *names: str) -> None:
    """Refuse the options *names*, which have no meaning beside another one."""
    for name in names:
        if getattr(verb, name):
            raise InvalidParameter(f"{named(name)} has no effect with {named(beside)}; leave one of them out.")


def refuse_without(verb: Verb, needed: str, *names: str) -> None:
    """Refuse the options *names*, which have no meaning without another one."""
    for name in names if not getattr(verb, needed) else ():
        if getattr(verb, name):
            raise InvalidParameter(f"{named(name)} has no effect without {named(needed)}.")


__all__ = [
    "DEFAULT_STORE", "STREAM", "Outcome", "Report", "Verb", "Work", "copy_of",
    "dictionary_beside", "json_output", "keep_description", "names_with", "of_engine", "perform", "refuse_beside",
    "refuse_password", "refuse_without", "text_output", "verbs",
]  # fmt: skip

#: All verbs, by the words of their command.
verbs: Registry[Verb] = Registry("command")


def dictionary_beside(out: str) -> list[Planned]:
    """The data dictionary beside the file *out*; none where that is standard output."""
    from tabular.release import dictionary_path

    return [] if out == STREAM else [Planned("out", str(dictionary_path(out)), what="the data dictionary")]


def json_output(
    path: str, parameter: str, document: Mapping[str, Any], *, private: bool = False, indent: int | None = 2
) -> Output:
    """An output of a JSON document, which gains the id of the release it belongs to."""

    def write(file: IO[bytes], release: str) -> None:
        whole = {**document, "release": document.get("release", release)} if release else document
        file.write((json.dumps(whole, ensure_ascii=False, indent=indent) + "\n").encode())

    return Output(path=path, parameter=parameter, write=write, private=private)


def text_output(path: str, parameter: str, text: str) -> Output:
    """An output of a text made from an original, such as a report, which only its owner can read."""
    return Output(path=path, parameter=parameter, write=copy_of(io.BytesIO(text.encode())), private=True)


def copy_of(waiting: IO[bytes]) -> Callable[[IO[bytes], str], None]:
    """Writes what a *waiting* file holds, and closes that."""

    def write(file: IO[bytes], release: str) -> None:
        with waiting:
            waiting.seek(0)
            shutil.copyfileobj(waiting, file)

    return write


def perform(verb: Verb, work: Work) -> Outcome:
    """Check, run, and write what is to be written; the document gains the id of what was released."""
    try:
        return _performed(verb, work)
    except UnicodeEncodeError:
        raise InvalidInput("A text of the input is not valid Unicode: half of a pair. Nothing was written.") from None
    except OSError as error:
        # No file can have such a name, wherever it is first looked for.
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise failure(error, error.filename) from None
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
        # Where records are not what was stored, whoever works with them may fail in any way.
        if verb.store is not None and (problem := _problem_of_store(work)):
            raise InvalidInput(problem) from error
        raise


def _problem_of_store(work: Work) -> str | None:
    """What is wrong with the store, if anything is."""
    with suppress(ReportedError), work.opened() as store:
        problems = store.check()
        return f"{store.address}: the store is not sound. {problems[0]}" if problems else None
    return None


def _performed(verb: Verb, work: Work) -> Outcome:
    from api.verbs.names import resolved

    verb.check()
    if work.account is None:
        # The service has looked names up, and takes no longer over one that an original has, too.
        verb = resolved(verb, work)
    planned, reads = verb.planned(), [*verb.reads(), *work.reads]
    kept = _tables_to_be(verb, work)
    filled = [folder for name in names_with(type(verb), "fills") if (folder := getattr(verb, name)) is not None]
    _put_right([*reads, *_store_of(verb, work), *(each.path for each in planned), *filled], work)

    if work.overwrite and not (planned or verb.replaces or verb.writes_later):
        raise InvalidParameter(f"{named('overwrite')} has no effect without an output.")

    def expect(more: Sequence[Planned]) -> None:
        every = [*planned, *more]
        _put_right([each.path for each in more], work)
        work.expect(every)
        check_outputs(every, overwrite=work.overwrite, reads=reads, store=work.store)

    expect([])
    for files in verb.releases():
        _refuse_mix(files)
    with compile_time.announced(
        lambda: work.report("Compiling for this machine, once", compile_time.kernels, 0), work.note
    ):
        outcome = verb.run(replace(work, expect=expect))
    if outcome.outputs:
        _put_right([each.path for each in outcome.outputs], work)
        overwrite = work.overwrite or outcome.replaces_unasked
        release = write_outputs(outcome.outputs, overwrite=overwrite, removed=outcome.removed)
        if release is not None:
            outcome = replace(outcome, document={**outcome.document, "release_id": release})
    if outcome.lines is not None:
        outcome = _with_lines(outcome, outcome.lines, work)
    outcome.afterwards()
    for name, path in kept.items():
        _keep_table(name, path, outcome, work)
    return outcome


def _with_lines(outcome: Outcome, lines: Iterable[Mapping[str, Any]], work: Work) -> Outcome:
    """Hand on the lines of an answer one by one, or put all of them into the document, which has room for so many."""
    if work.line is not None:
        for each in lines:
            work.line(each)
        return outcome
    kept = list(islice(lines, MOST_LINES + 1))
    if len(kept) > MOST_LINES:
        raise InvalidInput(f"One answer holds at most {MOST_LINES:,} lines; send the file in parts.")
    return replace(outcome, document={**outcome.document, "lines": kept})


def kind_made(verb: type[Verb]) -> Literal["original", "release"]:
    """Of which kind the tables are that a verb makes of what it is given, or of what it writes."""
    taken = {each.metadata.get("becomes") for each in fields(verb)} & set(names_with(verb, "input"))
    return "original" if taken else "release"


def _tables_to_be(verb: Verb, work: Work) -> dict[str, str]:
    """The tables of the service that a verb is to make, by name, and the files they are made of."""
    traits = {each.name: each.metadata.get("becomes") for each in fields(verb)}
    kept = {getattr(verb, name): getattr(verb, out) for name, out in traits.items() if out and getattr(verb, name)}
    if kept:
        from api.service.tables.tables import Tables, check_name

        with work.service_home() as records:
            for name in kept:
                check_name(name)
                if not work.again:
                    Tables(records.home).refuse_taken(name, kind_made(type(verb)))
    return kept


def _keep_table(name: str, path: str, outcome: Outcome, work: Work) -> None:
    """Make a table of the service of a file that was written; one that may be released is marked so."""
    from api.service.tables.tables import keep

    is_release = any(each.path == path and each.released for each in outcome.outputs)
    keep(work, name, Path(path), is_release=is_release, schema=outcome.schema)


def keep_description(path: str, work: Work) -> None:
    """Keep what a table of the service is, if a file is one: a large one is read by jobs alone."""
    from api.service.tables.tables import keep_description as keep

    if work.account is not None:
        keep(work, Path(path))


def _refuse_mix(files: Sequence[str]) -> None:
    """Refuse a release whose dictionary was written with another one: a part of it was replaced, or changed since."""
    from tabular.files.disk import check_release_id
    from tabular.release import dictionary_path

    beside = dictionary_path(files[0])
    if files[0] == STREAM or not beside.exists() or not all(Path(file).is_file() for file in files):
        return
    try:
        document = json.loads(read_text(beside))
    except (ValueError, RecursionError):
        raise InvalidInput(f"{beside}: this is not a data dictionary: it is not JSON.") from None
    if isinstance(document, dict):
        check_release_id(files, document.get("release"), record=beside)


def _store_of(verb: Verb, work: Work) -> list[str]:
    """The file of the store, if the verb opens one that is a file."""
    return [work.store.removeprefix("file:")] if verb.store is not None and work.store.startswith("file:") else []


def _put_right(paths: Sequence[str], work: Work) -> None:
    """Finish or undo what a killed run left half done, before anybody reads it or writes beside it."""
    for text in put_right(paths):
        work.note(text)
