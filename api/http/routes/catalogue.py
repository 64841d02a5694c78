"""Routes that say what the service can do."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, jsonify

from api.http.describing import ANY_OBJECT, MAYBE, STRING, answers, record
from api.http.gate import needs, service
from api.http.openapi import openapi
from api.http.schema import verb_schemas
from api.reference import method_lists

bp = Blueprint("catalogue", __name__)

ENTRY = record(name=STRING, summary=STRING, parameters={"type": "array"}, cites=STRING, limits=STRING)
VERB = record(name=STRING, summary=STRING, path=MAYBE, quick={"type": "boolean"}, schema=ANY_OBJECT)


@bp.get("/openapi.json")
@answers(record(openapi=STRING, info=ANY_OBJECT, paths=ANY_OBJECT))
def document() -> Response:
    """Give this description of the service, which is made from its routes and verbs."""
    return jsonify(openapi(current_app))


@bp.get("/v1/methods")
@needs("look up")
@answers({"type": "object", "additionalProperties": {"type": "array", "items": ENTRY}})
def methods() -> Response:
    """List every registered method with its parameters."""
    return jsonify(method_lists())


@bp.get("/v1/verbs")
@needs("look up")
@answers({"type": "array", "items": VERB})
def verbs() -> Response:
    """List everything that graphpriv can do: the name, what it does, and the JSON Schema of its options."""
    return jsonify(verb_schemas(service().settings.offered))
