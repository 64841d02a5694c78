"""Made-up people: ids, handles, names and free-text locations that a release must not show."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphpriv.places import UNKNOWN, PlaceTree

GIVEN = """
Ada Aiko Alba Amara Anton Beatriz Bram Camille Chidi Clara Dario Dunya Elif Emil Esther Farid Fatou Felix Freya Gael
Greta Hana Hugo Ines Ivo Jada Joan Kai Kofi Laia Lars Leila Lior Luz Mara Mateo Mei Milan Nadia Nils Nora Olga Omar
Paula Pere Quim Rania Rosa Ruben Saga Sana Sergi Tariq Thea Tomas Uma Vera Wanda Xenia Yara Yusuf Zoe
"""
FAMILY = """
Abara Aldana Baumgart Berglind Bonet Carvajal Castellvi Dabrowa Delacroix Eklund Esteve Farrow Ferrer Galindo Grimaldi
Hakimi Halloran Ibarra Iwasaki Jansma Kaplan Kowal Lindqvist Llopis Marchetti Mbeki Nakagawa Norberg Okafor Oliveras
Pascoe Petrov Quiroga Rasmus Ribeiro Sandoval Sorolla Takeda Tellier Ueda Urquijo Valls Verhoef Wachter Winslow Xifra
Yamada Yilmaz Zabala Zeller
"""
FIRST = "quiet brisk copper lunar mossy amber nimble salty velvet rusty sunny woolly"
SECOND = "otter heron badger comet ferret marmot pixel walrus teapot magpie lantern cactus"
REMARKS = (
    "{place}, house no. {number}",
    "{place} / desk {number}",
    "up the hill from {place} (door {number})",
    "{place}!! bus {number}",
    "currently {place}, room {number}",
)
NOWHERE = ("planet {number}", "in between trains, seat {number}", "ask me again in {number} days")


def private_columns(
    places: PlaceTree, location: NDArray[np.int32], rng: Generator
) -> tuple[tuple[str, ...], dict[str, tuple[str | None, ...]]]:
    """Ids, and the private columns of users at *location*; some leave name or place out."""
    users = len(location)
    ids = rng.permutation(100_000_000 + np.cumsum(rng.integers(1, 2000, size=users)))
    first, second = _drawn(FIRST, users, rng), _drawn(SECOND, users, rng)
    handles = tuple(f"@{one}_{other}_{user}" for user, (one, other) in enumerate(zip(first, second, strict=True)))
    given, family = _drawn(GIVEN, users, rng), _drawn(FAMILY, users, rng)
    nameless = (rng.random(users) < 0.02).tolist()
    names = tuple(None if none else f"{one} {other}" for one, other, none in zip(given, family, nameless, strict=True))
    remark, number = rng.integers(0, len(REMARKS), users).tolist(), rng.integers(100, 10_000, users).tolist()
    silent = (rng.random(users) < 0.4).tolist()
    texts = tuple(
        _free_text(places, code, remark[user], number[user], silent[user])
        for user, code in enumerate(location.tolist())
    )
    return tuple(map(str, ids.tolist())), {"handle": handles, "name": names, "location_text": texts}


def _drawn(words: str, count: int, rng: Generator) -> list[str]:
    choices = words.split()
    return [choices[position] for position in rng.integers(0, len(choices), count).tolist()]


def _free_text(places: PlaceTree, code: int, remark: int, number: int, silent: bool) -> str | None:
    """The free text of a user about the place; for an unknown place it says nothing useful, or nothing at all."""
    if code != UNKNOWN:
        return REMARKS[remark].format(place=places.names[code], number=number)
    return None if silent else NOWHERE[remark % len(NOWHERE)].format(number=number)
