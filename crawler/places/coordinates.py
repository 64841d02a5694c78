"""Coordinates and postal codes within free texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.places.index import Index

_NUMBER = "([-+\N{MINUS SIGN}]?" r"\d{1,3}[.,]\d+)\s*°?\s*"
_PAIR = re.compile(rf"(?<![\d.]){_NUMBER}([NSns])?\s*[,;/\s]\s*{_NUMBER}([EWOewo])?(?![\d.])")
#: How far the next place may be, in kilometres, to be the one, or to tell the country at least.
_NEAR, _FAR = 30.0, 150.0
_KILOMETRES = 111.2
#: The provinces of Canada by the first letter of their postal codes.
_PROVINCES = {
    **dict.fromkeys("A", "NL"), **dict.fromkeys("B", "NS"), **dict.fromkeys("C", "PE"), **dict.fromkeys("E", "NB"),
    **dict.fromkeys("GHJ", "QC"), **dict.fromkeys("KLMNP", "ON"), "R": "MB", "S": "SK", "T": "AB", "V": "BC",
}  # fmt: skip
_CANADIAN = re.compile(r"\b([A-CEGHJ-NPR-TV])\d[A-Z] ?\d[A-Z]\d\b")
_BRITISH = re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b")


def coordinates(text: str) -> tuple[float, float] | None:
    """The latitude and longitude that a text has.

    >>> coordinates("ÜT: 43.85,-79.00"), coordinates("48.8566° N, 2.3522° E"), coordinates("v1.20, 3.45.6")
    ((43.85, -79.0), (48.8566, 2.3522), None)
    """
    found = _PAIR.search(text)
    if found is None:
        return None
    lat, lon = (float(found[at].replace(",", ".").replace("\N{MINUS SIGN}", "-")) for at in (1, 3))
    lat = -lat if found[2] in ("S", "s") else lat
    lon = -lon if found[4] in ("W", "w", "O", "o") else lon
    return (lat, lon) if abs(lat) <= 90 and abs(lon) <= 180 else None


def nearest(index: Index, lat: float, lon: float) -> int | None:
    """The place at some coordinates: of what lies near the largest for its distance; a country if nothing is near."""
    import numpy as np

    around = np.flatnonzero(np.abs(index.points[:, 0] - lat) * _KILOMETRES < _FAR)
    if not around.size:
        return None
    points = index.points[around]
    north = (points[:, 0] - lat) * _KILOMETRES
    east = (np.mod(points[:, 1] - lon + 180, 360) - 180) * _KILOMETRES * np.cos(np.radians(lat))
    far = np.hypot(north, east)
    close = np.flatnonzero(far < _NEAR)
    if close.size:
        # Weights grow with the people, distances count from what two decimals can tell.
        weights = np.array([index.weights[place] for place in around[close].tolist()])
        return int(around[close[np.argmax(np.sqrt(weights) / (far[close] + 2) ** 2)]])
    closest = int(np.argmin(far))
    return index.states[index.countries[int(around[closest])]] if far[closest] < _FAR else None


def postal(index: Index, text: str) -> int | None:
    """The province or country of a postal code whose form tells it."""
    canadian = _CANADIAN.search(text)
    if canadian:
        return index.regions[f"CA-{_PROVINCES[canadian[1]]}"]
    return index.states["GB"] if _BRITISH.search(text) else None
