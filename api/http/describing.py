"""What a route takes and answers, as data beside it; the OpenAPI document is made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

Schema = dict[str, Any]

V = TypeVar("V", bound=Callable[..., Any])

#: The types of answers that are no JSON.
BYTES, CSV, TEXT = "application/octet-stream", "text/csv", "text/plain"
NDJSON = "application/x-ndjson"
HTML, JAVASCRIPT, CSS, EVENTS = "text/html", "text/javascript", "text/css", "text/event-stream"


@dataclass(frozen=True, kw_only=True)
class Description:
    """What one route takes and answers when all is well, and the refusals that are its own."""

    #: A JSON Schema, or the types that an answer may have which is no JSON.
    answer: Schema | Sequence[str]
    status: int = 200
    #: Types that the answer may have beside JSON.
    also: Sequence[str] = ()
    #: Further answers that are no refusals, by status.
    others: Mapping[int, Schema] = field(default_factory=dict)
    query: Mapping[str, Schema] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    #: A JSON Schema, or the types that a body may have which is no JSON.
    body: Schema | Sequence[str] | None = None
    #: Statuses of refusals that not every route has.
    refusals: Sequence[int] = ()


def answers(answer: Schema | Sequence[str], **traits: Any) -> Callable[[V], V]:
    """Decorator of a view: what it takes and answers."""

    def mark(view: V) -> V:
        view.description = Description(answer=answer, **traits)  # type: ignore[attr-defined]
        return view

    return mark


def record(**properties: Schema) -> Schema:
    """The schema of an object that has all of these *properties*, and perhaps more."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def paged(name: str, entry: Schema) -> Schema:
    """The schema of one page of a list."""
    lists: dict[str, Schema] = {name: {"type": "array", "items": entry}}
    return record(**lists, next={"type": ["string", "null"]})


STRING: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
MAYBE: Schema = {"type": ["string", "null"]}
ANY_OBJECT: Schema = {"type": "object"}

#: What every list takes.
PAGES: dict[str, Schema] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100, "description": "Entries on a page."},
    "cursor": {"type": "string", "description": "Where the page begins: what `next` of the page before says."},
}

PROBLEM_SCHEMA: Schema = {
    **record(type=STRING, title=STRING, status={"type": "integer"}, detail=STRING),
    "description": "An RFC 9457 problem; `errors` point at the fields that are wrong.",
}
PROBLEM_SCHEMA["properties"]["errors"] = {"type": "array", "items": record(pointer=STRING, detail=STRING)}
