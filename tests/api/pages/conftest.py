"""A service with a worker, empty or with made data, and browsers that are signed in to it."""

from __future__ import annotations

import pytest

from tests.api.pages.serving import Reader, fill, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture(scope="module")
def made(served, tmp_path_factory):
    """What was made in the service."""
    return fill(served, tmp_path_factory.mktemp("made"))


@pytest.fixture
def signed_in(served, chromium):
    """Sign in a browser of a role."""
    contexts = []

    def sign_in(role, **traits):
        contexts.append(chromium.new_context(**traits))
        reader = Reader(contexts[-1].new_page(), served.address)
        reader.page.set_default_timeout(180_000)
        reader.keep_ears_open()
        reader.sign_in(served.tokens[role])
        return reader

    yield sign_in
    for each in contexts:
        each.close()
