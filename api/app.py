"""The service: a Flask application under /v1, put together from the rooms beside this module."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Flask

from api.http import gate, problems
from api.http.routes import accounts, catalogue, docs, graphs, health, jobs, metrics, queries, tables, uploads, verbs
from api.jobs import records as jobs_records
from api.pages import pages
from api.service.files import Files
from api.service.jobs import Jobs
from api.service.service import Service
from api.service.settings import Settings


def job_settings(settings: Settings) -> jobs_records.Settings:
    """Where the jobs of a service are kept, and how they are run."""
    return jobs_records.Settings(
        home=Path(settings.home).absolute(),
        store=settings.store,
        database=settings.database or None,
        files="api.service.files:files_of",
    )


def create_app(
    config: Mapping[str, Any] | None = None, *, queue: Jobs | None = None, files: Files | None = None
) -> Flask:
    """Build the service; tests pass their own *config*, the environment fills in GRAPHPRIV_…."""
    app = Flask(__name__, static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    settings = Settings.of({name.upper(): value for name, value in (config or {}).items()}, os.environ)
    app.extensions[problems.EXTENSION] = Service.at(settings, jobs=queue, files=files)
    metrics.register(app)
    problems.register(app)
    gate.register(app)
    for part in (health, metrics, docs, catalogue, graphs, tables, uploads, accounts, jobs):
        app.register_blueprint(part.bp)
    verbs.register(app)
    queries.register(app)
    pages.register(app)
    gate.check_routes(app)
    return app
