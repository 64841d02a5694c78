"""Options of a question: in its address or, since servers and proxies write addresses down, in a header."""

from __future__ import annotations

from urllib.parse import parse_qsl

from flask import Request, current_app, request
from werkzeug.datastructures import ImmutableMultiDict, MultiDict
from werkzeug.utils import cached_property

from api.http.problems import HttpProblem
from graphpriv.remote.transport import OPTIONS

__all__ = ["HELP", "OPTIONS", "Asked", "check_options"]

#: What the header is told as.
HELP = (
    "Options instead of those in the address, written as there: `user=bob&limit=10`, in percent-encoded UTF-8. Use it "
    "for what belongs to a person: servers and proxies write addresses down. The answer then has no `Link`; send its "
    "`next` as `cursor`."
)

#: Methods whose requests take it: what others ask for is known by their address and body.
_METHODS = ("GET", "HEAD", "DELETE")

#: So many options are more than any question has.
_MOST = 100


class Asked(Request):
    """A request whose options may stand in a header."""

    @cached_property
    def args(self) -> MultiDict[str, str]:
        """The options, wherever they stand."""
        text = self.headers.get(OPTIONS)
        if text is None:
            return super().args
        if self.method not in _METHODS:
            raise _wrong(f"is for {', '.join(_METHODS)} alone.")
        if self.query_string:
            raise _wrong("and the address both hold options; send all of them in one place.")
        try:
            # Two such headers come as one, with a comma and a blank between them.
            if not text.isascii() or " " in text:
                raise ValueError
            pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST)
        except ValueError:
            raise _wrong("must be options as in an address, in percent-encoded UTF-8: user=bob&limit=10.") from None
        return ImmutableMultiDict(pairs)


def check_options() -> None:
    """Refuse options that are not for a request before anything is done: whoever sends them expects that they count."""
    if request.endpoint is None or (OPTIONS not in request.headers and request.method != "DELETE"):
        return
    view = current_app.view_functions[request.endpoint]
    takes = OPTIONS in getattr(getattr(view, "description", None), "headers", ())
    if request.args and request.method == "DELETE" and not takes:
        raise HttpProblem(400, "Invalid input", "This request takes no options.")


def _wrong(text: str) -> HttpProblem:
    return HttpProblem(400, "Invalid input", f"The header {OPTIONS} {text}")
