"""Linkage: the share of records that an attacker can link with their originals.

To the nearest original (`nearest`): by distance, by the probabilities of transition matrices, or within the reach of a
swap (`rsrl`). One to one (`prl`): each attribute agrees or not, which has a weight (`agreement`); the best assignment
is a transport of least cost (`transport`), and of several the first in the order of codes (`code_order`). Both have a
form for numbers.
"""
