"""A verb as the service takes it: JSON options, in which names and uploads stand where a command has paths.

A request becomes a verb in two steps. Each reference (a graph, a table, an upload, a file to be written) is looked up
for whoever asks, and becomes the plain name that a job knows it by. Then the verb is made of these options as for every
door, and its own check says whether it is right: nothing else validates. Whatever a verb is going to read or write must
then be a plain name, so that no option leads to a path of this machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import Field, dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Literal

from api.service import access
from api.service.access import Kind, UnknownThing
from api.service.accounts import Account
from api.service.files import Files, Stored
from api.service.graphs import KINDS, GraphKind, Graphs
from api.service.tables.tables import split
from api.service.uploads.uploads import UPLOAD
from api.verbs.contract import Verb, kind_made, names_with
from api.verbs.values import is_required, made, options_of, value_of
from tabular.errors import InvalidInput, InvalidParameter, UnknownName, named
from tabular.registry import choices_of

#: What an option holds: a value, the name of a graph, a file or folder to read, a file or folder to write.
Form = Literal["value", "graph", "file", "folder", "out", "table"]

#: The largest number that an option takes: beyond it, programs that read JSON differ in what they read.
LARGEST = 2**53 - 1

#: The longest text and the longest list.
LONGEST_TEXT, LONGEST_LIST = 10_000, 10_000

#: The largest seed: the command line draws seeds of 128 bits.
LARGEST_SEED = 2**128 - 1

#: Names of files that a job writes, ids of uploads, and names that uploads have in a folder; each is the whole text.
NAME_OUT = r"^[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}(?![\s\S])"
ID = r"^[A-Za-z0-9_-]{1,64}(?![\s\S])"
NAME_IN = r"^[^/\\\u0000-\u001f.-][^/\\\u0000-\u001f]{0,99}(?![\s\S])"

#: So many options that are none are told, each by so much of its name.
_UNKNOWN_TOLD, _NAME_TOLD = 20, 100

#: Verbs that begin with one of these are a resource of the service, which has routes of its own.
RESOURCES = ("graph", "account", "token")

#: Verbs on a resource that take long, and so have the route of their words all the same.
LONG_WORK = ("graph refresh",)


class WrongOptions(InvalidInput):
    """Options that are not what they must be: by name what is wrong with each."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        first, *others = errors.values()
        super().__init__(first if not others else f"{first} {len(others)} more options are wrong.")
        self.errors = errors


@dataclass(frozen=True)
class Thing:
    """Something of the service that a request names."""

    what: str
    kind: Kind
    name: str


@dataclass(frozen=True, kw_only=True)
class Request:
    """A verb that somebody may have performed."""

    name: str
    verb: Verb
    #: The options as JSON: names only.
    options: Mapping[str, Any]
    seed: int | None
    #: What it names, for the audit log.
    things: tuple[Thing, ...]

    @property
    def is_quick(self) -> bool:
        """Whether it can be answered at once: the verb is quick, and neither reads nor writes files."""
        return self.verb.quick and not self.verb.reads() and not self.verb.planned()


def offered(verb: type[Verb]) -> dict[str, Field[Any]]:
    """The options of a verb that the service takes."""
    return {name: option for name, option in options_of(verb).items() if not option.metadata.get("local")}


def _names_table(verb: type[Verb]) -> str:
    """The option that names the table which a request is about."""
    return names_with(verb, "positional")[0]


def is_needed(option: Field[Any]) -> bool:
    """Whether a request must give an option."""
    return is_required(option) and not option.metadata.get("own")


def form_of(option: Field[Any]) -> Form:
    """What an option holds."""
    traits = option.metadata
    if traits.get("graph"):
        return "graph"
    if traits.get("becomes"):
        return "table"
    if traits.get("output") or traits.get("fills"):
        return "out"
    if traits.get("input") or traits.get("shipped"):
        return "folder" if traits.get("folder") else "file"
    return "value"


def choices_here(option: Field[Any], providers: Set[str] | None) -> tuple[str, ...] | None:
    """What may be chosen for an option where an operator allows some *providers*; None allows all there are."""
    every = choices_of(option.metadata["choices"])
    if every is None:
        return None
    is_free = providers is None or not option.metadata.get("provider")
    return tuple(each for each in every if is_free or each in (providers or ()))


@dataclass(frozen=True)
class Requests:
    """Makes requests of JSON, with what the service has."""

    graphs: Graphs
    files: Files
    #: What the operator allows to be asked; None allows all providers there are.
    providers: Set[str] | None = None

    def read(self, name: str, verb: type[Verb], body: Mapping[str, Any], account: Account) -> Request:
        """The request of an *account* to perform the verb called *name* with the options of a JSON object."""
        access.refuse_role(account.role, verb.action)
        reading = _Reading(verb, body, account, self)
        options = reading.options()
        access.refuse_role(account.role, verb.action, is_about_nothing=not reading.things)
        sound = _sound(verb, options, reading)
        reading.look_up_others(sound)
        return Request(name=name, verb=sound, options=options, seed=reading.seed, things=tuple(reading.things))


def _sound(verb: type[Verb], options: Mapping[str, Any], reading: _Reading) -> Verb:
    """The verb with its options, checked; of what only a job can read, the job checks the rest."""
    try:
        made_verb = made(verb, options)
        # Before the check, which may look into what the verb reads.
        _refuse_paths(made_verb)
        if reading.is_complete:
            # What was checked when it was kept lies where the job runs.
            left_out = {name for name in reading.sound if not is_required(offered(verb)[name])}
            made(verb, {name: value for name, value in options.items() if name not in left_out}).check()
    except UnknownName as error:
        # Of a method or an option, not of a thing of the service.
        raise InvalidParameter(error.worded(named)) from None
    return made_verb


def _refuse_paths(verb: Verb) -> None:
    """Refuse a verb that would read or write anything but what it names."""
    for path in [*verb.reads(), *(each.path for each in verb.planned())]:
        if not is_plain_name(path):
            raise InvalidInput("No option is a path or an address here: name a table or an upload.")


def is_plain_name(text: str) -> bool:
    """Whether a text can be the name of a file in one folder, and of nothing else.

    >>> [is_plain_name(text) for text in ("a.csv", "../a", "/a", ".a", "-", "")]
    [True, False, False, False, False, False]
    """
    return re.match(NAME_IN, text) is not None


class _Reading:
    """The reading of one request."""

    def __init__(self, verb: type[Verb], body: Mapping[str, Any], account: Account, service: Requests) -> None:
        self._verb, self._body, self._account, self._service = verb, body, account, service
        self.things: list[Thing] = []
        #: What jobs will know the files by that were looked up.
        self._names: set[str] = set()
        #: Whether all that the verb's check reads is there already, but for the options that are known to be *sound*.
        self.is_complete = True
        self.sound: set[str] = set()

    @cached_property
    def seed(self) -> int | None:
        """The seed, if one is given."""
        value = self._body.get("seed") if self._verb.draws else None
        is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
        if value is None or (is_whole and 0 <= value <= LARGEST_SEED):
            return None if value is None else int(value)
        raise InvalidParameter.wrong("seed", must=f"be a whole number from 0 to {LARGEST_SEED}", was=value)

    def options(self) -> dict[str, Any]:
        """The options, with plain names for all references."""
        errors = dict(self._errors())
        if errors:
            raise WrongOptions(errors)
        _ = self.seed
        known = offered(self._verb)
        options = {name: self._named(each, self._body[name]) for name, each in known.items() if name in self._body}
        for name, option in known.items():
            if option.metadata.get("own") and options.get(name) is None:
                self._take_own(option, options)
        return options | self._blinds()

    def _blinds(self) -> dict[str, bool]:
        """What keeps originals from those who must not know of them."""
        sees = access.may_see(self._account.role, "original")
        return {name: not sees for name, each in options_of(self._verb).items() if each.metadata.get("blinds")}

    def _errors(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the shape of each option, before anything is looked up."""
        known = offered(self._verb)
        names = [*known, *["seed"] * self._verb.draws]
        unknown = (name for name in self._body if name not in names)
        for name in islice(unknown, _UNKNOWN_TOLD):
            yield name[:_NAME_TOLD], UnknownName.among("option", name[:_NAME_TOLD], names).worded(named)
        yield from self._mixed()
        for name, option in known.items():
            if name not in self._body or (self._body[name] is None and option.metadata.get("own")):
                if is_needed(option):
                    yield name, f"{named(name)} is missing."
                continue
            try:
                _check_shape(option, self._body[name])
                self._refuse_not_offered(option)
            except InvalidParameter as error:
                yield name, error.worded(named)

    def _refuse_not_offered(self, option: Field[Any]) -> None:
        """Refuse a provider that there is, and that the operator does not allow."""
        value, every = self._body[option.name], choices_of(option.metadata["choices"]) or ()
        here = choices_here(option, self._service.providers) or ()
        if isinstance(value, str) and value in every and value not in here:
            raise InvalidParameter(
                f"{named(option.name)}: this service does not offer {value!r}; its operator decides, with "
                f"GRAPHPRIV_PROVIDERS. It offers {', '.join(here)}."
            )

    def _mixed(self) -> Iterator[tuple[str, str]]:
        """Graphs that are given as uploads though they shall be those of the store, or the other way round."""
        for name, option in offered(self._verb).items():
            flag, value = option.metadata.get("or_file"), self._body.get(name)
            if flag and value is not None and isinstance(value, dict) != (self._body.get(flag) is True):
                yield name, f"{named(name)} is an upload if {named(flag)} is true, and else the name of a graph."

    def _named(self, option: Field[Any], value: Any) -> Any:
        """As `_plain`; what is not there is told with the option that names it."""
        try:
            return self._plain(option, value)
        except UnknownThing as error:
            raise UnknownThing(f"{named(option.name)}: {error}") from None

    def _plain(self, option: Field[Any], value: Any) -> Any:
        """The *value* of an option with a plain name for what it refers to."""
        form = form_of(option)
        if value is None or form in ("value", "out"):
            return value
        if form == "table":
            return self._new_table(value)
        if form == "graph" and isinstance(value, str):
            return self._graph(option, value)
        shipped = choices_of(option.metadata.get("shipped")) or ()
        if isinstance(value, str) and value in shipped:
            return value
        self.is_complete = self.is_complete and not shipped
        return self._file(form, value)

    def _graph(self, option: Field[Any], text: str) -> str:
        """The name in the store of the graph that *text* names, or of a new one."""
        graphs, wanted = self._service.graphs, option.metadata["graph"]
        if wanted in ("new release", "new original"):
            kind: GraphKind = "release" if wanted == "new release" else "original"
            access.refuse_thing(self._account.role, self._verb.action, kind, "graph", text)
            self.things.append(Thing("graph", kind, text))
            return graphs.place_for(text, kind)
        kinds: Sequence[GraphKind] = ("release",) if wanted == "release" else KINDS
        graph = graphs.find(text, self._account.role, self._verb.action, kinds=kinds)
        self.things.append(Thing("graph", graph.kind, graph.name))
        return graph.stored

    def _new_table(self, name: str) -> str:
        """The name of a table that the verb makes."""
        kind = kind_made(self._verb)
        access.refuse_thing(self._account.role, "store", kind, "table", name)
        self.things.append(Thing("table", kind, name))
        return name

    def _file(self, form: Form, value: Any) -> str:
        """The name that a job knows a table, a folder or an upload by."""
        files, account = self._service.files, self._account
        if isinstance(value, str):
            look: Callable[[str, Account], Stored] = files.hierarchies if form == "folder" else files.table
            return self._allowed("table", value, look(value, account))
        if "upload" in value:
            return self._allowed("upload", value["upload"], files.upload(value["upload"], account))
        return self._allowed("upload", next(iter(value["uploads"].values())), files.uploads(value["uploads"], account))

    def look_up_others(self, verb: Verb) -> None:
        """Look up what a verb reads beside the options that name files: a parameter of a method may name one."""
        for name in dict.fromkeys(verb.reads()):
            if name not in self._names and name.startswith(UPLOAD):
                id = name.removeprefix(UPLOAD).partition(".")[0]
                self._allowed("upload", id, self._service.files.upload(id, self._account))
            elif name not in self._names:
                self._allowed("table", name, self._service.files.table(name, self._account))

    def _take_own(self, option: Field[Any], options: dict[str, Any]) -> None:
        """Add to the *options* what belongs to the table that the request is about, if it has it."""
        table = self._body.get(_names_table(self._verb))
        if isinstance(table, str):
            files = self._service.files
            look = files.schema if option.metadata["own"] == "schema" else files.hierarchies
            found = look(table, self._account)
            if found is not None:
                options[option.name] = self._allowed("table", table, found)
                self.sound.add(option.name)
        elif is_required(option):
            raise InvalidParameter(
                f"{named(option.name)} is missing: an upload brings none of its own.", must="be given"
            )

    def _allowed(self, what: str, name: str, found: Stored) -> str:
        if not access.may_see(self._account.role, found.kind):
            raise UnknownThing.called(what, name)
        access.refuse_thing(self._account.role, self._verb.action, found.kind, what, name)
        # In the log a table has one name, however somebody writes it.
        self.things.append(Thing(what, found.kind, split(name)[1] if what == "table" else name))
        self._names.add(found.name)
        return found.name


def _check_shape(option: Field[Any], value: Any) -> None:
    """Refuse a *value* that is not of the form of its option."""
    form = form_of(option)
    if value is None and option.default is None:
        return
    if form == "value" or isinstance(value, str):
        value_of(option, value)
        _refuse_too_much(option.name, value)
        shipped = choices_of(option.metadata.get("shipped"))
        if shipped and value not in shipped:
            must = f'be {{"upload": ID}} or one of {", ".join(shipped)}'
            raise InvalidParameter.wrong(option.name, must=must, was=value)
        if form in ("out", "table") and not re.match(NAME_OUT, value):
            must = "be a name: letters, digits, dots, blanks, hyphens and underscores, up to 100"
            raise InvalidParameter.wrong(option.name, must=must, was=value[:100])
    elif not _is_reference(option, value):
        raise InvalidParameter.wrong(option.name, must=_must_refer(option), was=value)


def _refuse_too_much(name: str, value: Any) -> None:
    """Refuse a number, a text or a list beyond what any option takes."""
    if isinstance(value, int | float) and abs(value) > LARGEST:
        raise InvalidParameter.wrong(name, must=f"be from -{LARGEST} to {LARGEST}", was=value)
    if isinstance(value, list | tuple) and len(value) > LONGEST_LIST:
        raise InvalidParameter(f"{named(name)} must be a list of at most {LONGEST_LIST} texts.")
    for text in value if isinstance(value, list | tuple) else [value]:
        if isinstance(text, str) and len(text) > LONGEST_TEXT:
            raise InvalidParameter(f"{named(name)} must have at most {LONGEST_TEXT} characters.")


def _is_reference(option: Field[Any], value: Any) -> bool:
    """Whether a *value* refers to uploads as its option may."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    if form_of(option) == "folder":
        ids = value.get("uploads")
        named_in = isinstance(ids, dict) and 0 < len(ids) <= 1000 and all(re.match(NAME_IN, name) for name in ids)
        return named_in and all(map(_is_id, value["uploads"].values()))
    return takes_upload(option) and _is_id(value.get("upload"))


def takes_upload(option: Field[Any]) -> bool:
    """Whether an option may refer to one upload."""
    return form_of(option) == "file" or bool(option.metadata.get("or_file"))


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and re.match(ID, value) is not None


def _must_refer(option: Field[Any]) -> str:
    """What an option that is no plain value must be."""
    form = form_of(option)
    return {
        "graph": "be the name of a graph" + (' or {"upload": ID}' if takes_upload(option) else ""),
        "folder": 'be the name of a table or {"uploads": {NAME: ID, …}}',
        "out": "be the name of a file",
    }.get(form, 'be the name of a table or {"upload": ID}')
