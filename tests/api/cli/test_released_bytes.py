"""The bytes of every released file under a fixed seed, as they were recorded."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

RECORDED = Path(__file__).parents[2] / "data" / "released_bytes"
#: Written beside a table, and worded anew from time to time.
DICTIONARY = ".dictionary.json"


@pytest.fixture
def folder(tmp_path):
    """The inputs of the commands, in the folder where they run."""
    return shutil.copytree(RECORDED / "inputs", tmp_path, dirs_exist_ok=True)


def sha256(path):
    if not path.is_dir():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    files = sorted(each for each in path.iterdir() if not each.name.endswith(DICTIONARY))
    return hashlib.sha256("".join(f"{each.name} {sha256(each)}\n" for each in files).encode()).hexdigest()


def differences(folder, recorded):
    """The files that are not as they were recorded, by name, each with what it is."""
    for name, expected in recorded.items():
        found = sha256(folder / name) if (folder / name).exists() else "missing"
        if found != expected:
            yield f"{name} is {found}, recorded was {expected}"


def test_a_fixed_seed_releases_the_recorded_bytes(graphpriv, folder):
    differing = []
    for command in tomllib.loads((RECORDED / "commands.toml").read_text(encoding="utf-8"))["command"]:
        words = shlex.split(command["line"])
        ended = graphpriv(*words)
        found = [f"it failed: {ended.error}"] if ended.code else differences(folder, command.get("sha256", {}))
        differing += [f"graphpriv {shlex.join(words)}\n    {each}" for each in found]
    assert not differing, "\n".join(differing)
