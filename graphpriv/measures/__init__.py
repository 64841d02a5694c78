"""Measures of what a masked graph lost against its original (Mares Soler 2013, section 6.3)."""

from graphpriv.measures.contract import Measure, Reading, information_loss, measures
from graphpriv.pair import Pair

measures.load(__name__)

__all__ = ["Measure", "Pair", "Reading", "information_loss", "measures"]
