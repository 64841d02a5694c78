"""The service: a Flask application under /v1, put together from the rooms beside this module."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Flask

from api.http import access_log, gate, problems
from api.http.options import Asked
from api.http.proxies import BehindProxies, networks_of
from api.http.routes import accounts, catalogue, docs, graphs, health, jobs, metrics, queries, tables, uploads, verbs
from api.jobs import records as jobs_records
from api.pages import pages
from api.service.files import Files
from api.service.jobs import Jobs
from api.service.service import Service
from api.service.settings import Settings
from tabular.registry import Entry


def job_settings(settings: Settings) -> jobs_records.Settings:
    """Where the jobs of a service are kept, and how they are run: as GRAPHPRIV_JOBS_… says, for door and workers."""
    more = Entry("jobs", jobs_records.Settings, "", "").parameters
    variables = {each: os.environ.get(f"{jobs_records.PREFIX}_{each.name.upper()}") for each in more}
    own = ("home", "store", "database", "plain_connections", "files")
    return jobs_records.Settings(
        **{each.name: each.read(text) for each, text in variables.items() if text and each.name not in own},
        home=Path(settings.home).absolute(),
        store=settings.store,
        database=settings.database or None,
        plain_connections=settings.plain_connections,
        files="api.service.files:files_of",
    )


def create_app(
    config: Mapping[str, Any] | None = None, *, queue: Jobs | None = None, files: Files | None = None
) -> Flask:
    """Build the service; tests pass their own *config*, the environment fills in GRAPHPRIV_…."""
    app = Flask(__name__, static_folder=None)
    app.request_class = Asked
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    settings = Settings.of({name.upper(): value for name, value in (config or {}).items()}, os.environ)
    app.extensions[problems.EXTENSION] = Service.at(settings, jobs=queue, files=files)
    app.wsgi_app = BehindProxies(app.wsgi_app, networks_of(settings.proxies))  # type: ignore[method-assign]
    access_log.register(app, settings.access_log, with_addresses=settings.log_addresses)
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
