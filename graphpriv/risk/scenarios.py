"""What an attacker knows of the profiles: scenarios as sets of attributes, and one label a user for each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, SocialGraph, common_codes
from tabular.classes import equivalence_classes
from tabular.errors import UnknownName

#: Mares Soler (2013), section 6.5: each attribute, all topics, all attributes. The empty set is the structure alone.
SCENARIOS: dict[str, tuple[str, ...]] = {
    "location": ("location",),
    "topic1": ("topic1",),
    "topic2": ("topic2",),
    "topic3": ("topic3",),
    "topics": ("topic1", "topic2", "topic3"),
    "all": ATTRIBUTES,
}


def with_common_codes(original: SocialGraph, masked: SocialGraph) -> tuple[SocialGraph, SocialGraph]:
    """Both graphs so that equal codes mean equal values; as they are where that holds already."""
    if original.topic_names == masked.topic_names and original.places == masked.places:
        return original, masked
    return common_codes(original, masked)


def user_labels(
    original: SocialGraph, masked: SocialGraph, attributes: tuple[str, ...]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """One code a user for its values of *attributes*, equal in both graphs exactly where all values are equal."""
    for name in attributes:
        if name not in ATTRIBUTES:
            raise UnknownName.among("attribute", name, ATTRIBUTES)
    original, masked = with_common_codes(original, masked)
    columns = [np.concatenate([original.attribute(name), masked.attribute(name)]) for name in attributes]
    labels = np.zeros(len(original) + len(masked), dtype=np.int32)
    if columns:
        labels = equivalence_classes(columns).labels.astype(np.int32)
    return labels[: len(original)].copy(), labels[len(original) :].copy()
