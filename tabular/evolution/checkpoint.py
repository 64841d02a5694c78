"""Where a run stands, kept so that one that was killed goes on and ends with the same bytes.

A checkpoint says of which run it is; that of another table, or with other options, is refused. It holds protected files
in the order of the original's rows and the state of chance, so only its owner can read it.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tabular.errors import InvalidInput, NameTaken, named
from tabular.files.disk import read_bytes, replacing
from tabular.files.zips import BROKEN_ZIP
from tabular.loop import Parts, Values, document_of, key_of, of_document

#: What is added to the name of the file that a run will write.
SUFFIX = ".checkpoint"

#: How a file begins; the number is that of the way it is written.
_HEAD = b"graphpriv checkpoint 1\n"

#: The bytes of a digest.
_DIGEST = 32

#: What stands before the name of an array of the population.
_POPULATION = "population "


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Where a run stands after a generation."""

    #: What run it is: plain values by name, `table` among them, which all must be the same for it to go on.
    run: Mapping[str, Any]
    #: As a text, since it may have 128 bits.
    seed: str
    #: The generations so far, the seconds they took, and what was found out at the start.
    document: Mapping[str, Any]
    #: Generation, best, mean and worst score, a row a generation.
    history: np.ndarray[Any, np.dtype[np.float64]] = field(repr=False)
    #: What the population keeps.
    population: Values = field(repr=False)

    def values(self) -> Values:
        """All of it as arrays."""
        about = {"run": dict(self.run), "seed": self.seed, **self.document}
        inner = {f"{_POPULATION}{name}": array for name, array in self.population.items()}
        return {**of_document(about), "history": self.history, **inner}

    @classmethod
    def of(cls, values: Values) -> Checkpoint:
        """What `values` gave."""
        about = document_of(values)
        run, seed = dict(about.pop("run")), str(int(about.pop("seed")))
        inner = {
            name.removeprefix(_POPULATION): array for name, array in values.items() if name.startswith(_POPULATION)
        }
        return cls(run=run, seed=seed, document=about, history=values["history"], population=inner)

    def refuse_other(self, run: Mapping[str, Any], where: str) -> None:
        """Refuse to go on with it as another *run*; *where* it was found is for the error."""
        begin_anew = f"go on with the table and the options of that run, or begin anew without {named('resume')}"
        for name, value in run.items():
            was = self.run.get(name)
            if was == value:
                continue
            if name == "table":
                raise InvalidInput(f"{where}: this checkpoint is of a run on another table; {begin_anew}.")
            raise InvalidInput(
                f"{where}: this checkpoint is of a run with {named(name)}={_shown(was)}, not {_shown(value)}; "
                f"{begin_anew}."
            )


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


class Keeper(Protocol):
    """Where checkpoints are kept: each takes the place of the one before."""

    @property
    def where(self) -> str:
        """What it is called in errors."""

    def keep(self, checkpoint: Checkpoint) -> None:
        """Keep where a run stands."""

    def recall(self) -> Checkpoint | None:
        """What was kept last, if anything was."""

    def clear(self) -> None:
        """Forget it: the run has ended."""


@dataclass(frozen=True)
class CheckpointFile:
    """A checkpoint in a file of its own, which its owner alone can read; it is wholly old or wholly new."""

    path: Path

    @classmethod
    def beside(cls, out: str) -> CheckpointFile:
        """The one of a run that will write *out*."""
        return cls(Path(f"{out}{SUFFIX}"))

    @property
    def where(self) -> str:
        return str(self.path)

    def keep(self, checkpoint: Checkpoint) -> None:
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **checkpoint.values())  # type: ignore[arg-type]
        content = buffer.getvalue()
        with replacing(self.path, private=True) as file:
            file.write(_HEAD + hashlib.sha256(content).digest() + content)

    def recall(self) -> Checkpoint | None:
        if not self.path.exists():
            return None
        content = read_bytes(self.path)
        body = content[len(_HEAD) + _DIGEST :]
        digest = content[len(_HEAD) : len(_HEAD) + _DIGEST]
        if not content.startswith(_HEAD) or hashlib.sha256(body).digest() != digest:
            raise InvalidInput(f"{self.where}: this is no checkpoint of this version, or it is damaged.")
        try:
            with np.load(io.BytesIO(body), allow_pickle=False) as read:
                return Checkpoint.of({name: read[name] for name in read.files})
        except (*BROKEN_ZIP, TypeError, LookupError, AttributeError):
            raise InvalidInput(f"{self.where}: this is no checkpoint of an evolution.") from None

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)

    def refuse_existing(self) -> None:
        """Refuse to begin anew where a run was cut off: hours of work may be in it."""
        if self.path.exists():
            raise NameTaken(
                f"{self.where}: a run was cut off here; {named('resume')} goes on with it, {named('overwrite')} begins "
                "anew."
            )


@dataclass(frozen=True)
class CheckpointPart:
    """A checkpoint among the parts of a job, where the next attempt finds it."""

    parts: Parts
    run: Mapping[str, Any]
    seed: str
    where: str = "the job"

    @property
    def _key(self) -> str:
        return key_of("evolution", sorted(self.run.items(), key=str), self.seed)

    def keep(self, checkpoint: Checkpoint) -> None:
        # A helper is behind the one that leads.
        if not self.parts.helps:
            self.parts.keep(self._key, checkpoint.values())

    def recall(self) -> Checkpoint | None:
        found = self.parts.recall(self._key)
        return None if found is None else Checkpoint.of(found)

    def clear(self) -> None:
        """Parts go with their job."""
