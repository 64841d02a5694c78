"""Routes of uploads: files of any size, in pieces of at most 8 MiB."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify, request, url_for

from api.http.bodies import json_object
from api.http.describing import BYTES, COUNT, STRING, answers, record
from api.http.gate import account, needs, service
from api.http.problems import HttpProblem
from api.service.requests import LARGEST
from tabular.errors import InvalidParameter, named

bp = Blueprint("uploads", __name__)

UPLOAD = record(id=STRING, size=COUNT, offset=COUNT, finished={"type": "boolean"})

_BEGIN = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 0, "maximum": LARGEST, "description": "How many bytes will come."},
        "name": {"type": "string", "maxLength": 200, "description": "The name of the file: its end tells the format."},
    },
    "required": ["size"],
    "additionalProperties": False,
}


@bp.post("/v1/uploads")
@needs("store")
@answers(UPLOAD, status=201, body=_BEGIN)
def begin() -> Response:
    """Begin an upload of so many bytes; its pieces follow."""
    body = json_object()
    upload = service().uploads.open(account(), _size(body), _name(body))
    response = jsonify(upload.document)
    response.status_code, response.headers["Location"] = 201, url_for("uploads.show", id=upload.id)
    return response


@bp.get("/v1/uploads/<id>")
@needs("store")
@answers(UPLOAD)
def show(id: str) -> Response:
    """Show how much of an upload has come: there the next piece begins."""
    return jsonify(service().uploads.get(id, account()).document)


@bp.put("/v1/uploads/<id>")
@needs("store")
@answers(UPLOAD, query={"offset": {**COUNT, "required": True, "description": "Where the piece begins."}}, body=(BYTES,))
def add(id: str) -> Response:
    """Add a piece of at most 8 MiB at an offset; the upload is finished when all its bytes are there."""
    return jsonify(service().uploads.add(id, account(), _offset(), request.get_data(cache=True)).document)


def _size(body: dict[str, Any]) -> int:
    size: Any = body.get("size")
    is_number = isinstance(size, int | float) and not isinstance(size, bool)
    if {"size"} <= set(body) <= {"size", "name"} and is_number and 0 <= size <= LARGEST and size == int(size):
        return int(size)
    raise InvalidParameter(f"{named('size')} must be the number of bytes to upload; only a name may go with it.")


def _name(body: dict[str, Any]) -> str:
    name: Any = body.get("name", "")
    if not isinstance(name, str) or len(name) > 200:
        raise InvalidParameter(f"{named('name')} must be a text of at most 200 characters.")
    return name


def _offset() -> int:
    text = request.args.get("offset", "")
    if not (text.isascii() and text.isdigit() and len(text) <= 16):
        raise HttpProblem(400, "Invalid input", "offset must be the number of bytes uploaded so far.")
    return int(text)
