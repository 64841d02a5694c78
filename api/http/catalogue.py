"""Routes that say what the service can do."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

from api.http.gate import needs
from api.http.schema import verb_schemas
from api.reference import method_lists

bp = Blueprint("catalogue", __name__)


@bp.get("/v1/methods")
@needs("look up")
def methods() -> Response:
    """List every registered method with its parameters."""
    return jsonify(method_lists())


@bp.get("/v1/verbs")
@needs("look up")
def verbs() -> Response:
    """List everything that graphpriv can do: the name, what it does, and the JSON Schema of its options."""
    return jsonify(verb_schemas())
