"""Places of free texts: gazetteers behind one contract."""

from __future__ import annotations

from crawler.places.contract import UNKNOWN_PLACE, Gazetteer, Located, gazetteers

gazetteers.load(__name__)

__all__ = ["UNKNOWN_PLACE", "Gazetteer", "Located", "gazetteers"]
