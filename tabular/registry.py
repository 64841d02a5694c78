"""Registries: a method that is entered once appears in the command line, the service and the documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from importlib import import_module
from numbers import Integral, Real
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, Generic, TypeAlias, TypeVar

from tabular.errors import InvalidParameter, UnknownName

T = TypeVar("T")

#: What a parameter may be: a few words, or the names of a registry.
Choices: TypeAlias = "tuple[str, ...] | Registry[Any]"


def option(
    default: Any = MISSING,
    *,
    help: str,
    low: float | None = None,
    high: float | None = None,
    choices: Choices | Callable[[], Choices] | None = None,
    **traits: Any,
) -> Any:
    """A parameter of a method: a dataclass field with its bounds as data.

    *choices* that are costly to import can be a function that gives them; *traits* are for who shows the parameter.
    """
    metadata = {"help": help, "low": low, "high": high, "choices": choices, **traits}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Method:
    """The base class of registered methods: a frozen dataclass that checks its parameters on creation."""

    def __post_init__(self) -> None:
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            # Where nothing is the default, nothing is allowed.
            if value is not None or parameter.default is not None:
                check_kind(type(self).__name__, parameter.name, value, parameter.default)
                check(type(self).__name__, parameter.name, value, dict(parameter.metadata))


def check_kind(owner: str, name: str, value: Any, default: Any) -> None:
    """Refuse a *value* that is not a whole number, or not a truth value, although the *default* is one."""
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise InvalidParameter.wrong(name, must="be true or false", was=value, owner=owner)
    elif isinstance(default, int) and isinstance(value, Real) and not isinstance(value, Integral):
        raise InvalidParameter.wrong(name, must="be a whole number", was=value, owner=owner)


def check(owner: str, name: str, value: Any, bounds: dict[str, Any]) -> None:
    """Refuse a *value* outside its *bounds*, in one wording for all parameters."""
    low, high, choices = bounds.get("low"), bounds.get("high"), choices_of(bounds.get("choices"))
    if isinstance(choices, Registry):
        choices[value]
    elif choices is not None and value not in choices:
        raise InvalidParameter.wrong(name, must=f"be one of {', '.join(choices)}", was=value, owner=owner)
    if low is None and high is None:
        return
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidParameter.wrong(name, must="be a number", was=value, owner=owner)
    if value != value or (low is not None and value < low) or (high is not None and value > high):
        one_end = f"at least {low}" if high is None else f"at most {high}"
        allowed = one_end if low is None or high is None else f"from {low} to {high}"
        raise InvalidParameter.wrong(name, must=f"be {allowed}", was=value, owner=owner)


def choices_of(choices: Any) -> Any:
    """The *choices* of a parameter, made now where they are a function."""
    return choices() if callable(choices) else choices


@dataclass(frozen=True)
class Parameter:
    """A parameter of a registered method, as shown in lists and help texts."""

    name: str
    default: Any
    help: str
    low: float | None
    high: float | None
    choices: tuple[str, ...] | None

    def read(self, text: str) -> Any:
        """The value of *text*, of the same kind as the default; the method itself checks the bounds."""
        kind = float if self.default is None and (self.low, self.high) != (None, None) else type(self.default)
        if kind is bool:
            if text.lower() not in ("true", "false"):
                raise InvalidParameter.wrong(self.name, must="be true or false", was=text)
            return text.lower() == "true"
        if kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                what = "a whole number" if kind is int else "a number"
                raise InvalidParameter.wrong(self.name, must=f"be {what}", was=text) from None
        return text


@dataclass(frozen=True)
class Entry(Generic[T]):
    """A registered method with its name, its source and its limits."""

    name: str
    method: type[T]
    cites: str
    limits: str

    @property
    def summary(self) -> str:
        """The first line of the method's docstring: what the method does."""
        return (self.method.__doc__ or "").strip().splitlines()[0]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The method's parameters in the order they are declared."""
        return tuple(
            Parameter(
                each.name,
                None if each.default is MISSING else each.default,
                *(each.metadata[key] for key in ("help", "low", "high", "choices")),
            )
            for each in fields(self.method)  # type: ignore[arg-type]
            if "help" in each.metadata
        )

    def make(self, parameters: Mapping[str, Any]) -> T:
        """The method with these *parameters*, or an error where it has no such ones."""
        known = [parameter.name for parameter in self.parameters]
        for name in parameters:
            if name not in known:
                raise UnknownName.among(f"parameter of {self.name}", name, known)
        return self.method(**parameters)


class Registry(dict[str, Entry[T]]):
    """The methods of one sort by name, in the order of entry."""

    def __init__(self, sort: str) -> None:
        super().__init__()
        self.sort = sort

    def add(self, name: str, *, cites: str = "", limits: str = "") -> Callable[[type[T]], type[T]]:
        """Class decorator: enter a method under *name*."""

        def enter(method: type[T]) -> type[T]:
            if name in self:
                raise ValueError(f"Two methods of {self.sort} are called {name!r}.")
            if not (method.__doc__ or "").strip():
                raise ValueError(f"The {self.sort} {name!r} has no docstring.")
            self[name] = Entry(name, method, cites, limits)
            return method

        return enter

    def load(self, package: ModuleType | str) -> None:
        """Import every module of *package* and its subpackages, so that their methods are entered."""
        module = import_module(package) if isinstance(package, str) else package
        for each in sorted(walk_packages(module.__path__, f"{module.__name__}."), key=lambda info: info.name):
            import_module(each.name)

    def __missing__(self, name: str) -> Entry[T]:
        raise UnknownName.among(self.sort, name, self)

    def entries(self) -> tuple[Entry[T], ...]:
        """All entries, in the order they were entered."""
        return tuple(self.values())
