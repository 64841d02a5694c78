"""Vectors of texts: sums of those of pieces of words, in whole numbers, by the model that is part of a library."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: So many pieces of words are looked at in a text; the limit keeps all sums within 63 bits.
PIECES = 8192

#: Numbers are whole: vectors in steps of 1/256, their centre in steps of 1/4096. Sums of whole numbers are the same in
#: whatever order and on however many threads they are made.
VECTOR, CENTRE = 256, 4096

#: So many words are kept with their pieces.
_KNOWN = 1 << 16


@dataclass(frozen=True)
class Model:
    """The vectors of pieces of words, in steps of 1/VECTOR, and what takes words to pieces."""

    vectors: NDArray[np.int32]
    tokenizer: Any
    #: Words that were taken to pieces: a language has few that come again and again.
    _known: dict[str, list[int]] = field(default_factory=dict, compare=False)

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """The pieces of each text, word by word."""
        words = [text.split() for text in texts]
        if len(self._known) > _KNOWN:
            self._known.clear()
        known = self._known
        new = list({word for each in words for word in each if word not in known})
        known.update(zip(new, self._pieces_of(new), strict=True))
        return [list(chain.from_iterable(map(known.__getitem__, each)))[:PIECES] for each in words]

    def _pieces_of(self, words: list[str]) -> list[list[int]]:
        # One by one: many at once start threads, of which a fork warns.
        return [self.tokenizer.encode(word, add_special_tokens=False).ids for word in words]

    def sums(self, pieces: Sequence[list[int]]) -> NDArray[np.int64]:
        """The sums of the vectors of *pieces*; no pieces make zeros."""
        sums = np.zeros((len(pieces), self.vectors.shape[1]), dtype=np.int64)
        for at, each in enumerate(pieces):
            if each:
                np.add.reduce(self.vectors[each], axis=0, dtype=np.int64, out=sums[at])
        return sums


@cache
def model() -> Model:
    """The model that is part of the library; it never asks a network."""
    logger, level = logging.getLogger(), logging.getLogger().level
    handlers = list(logger.handlers)
    import wordllama

    # The library sets the log of the whole program up when it is imported; that is not for it to do.
    logger.setLevel(level)
    logger.handlers[:] = handlers
    inside = Path(wordllama.__file__).parent
    loaded = wordllama.WordLlama.load(cache_dir=inside, disable_download=True)
    loaded.tokenizer.no_padding()
    vectors = np.rint(loaded.embedding.astype(np.float64) * VECTOR).astype(np.int32)
    return Model(vectors=vectors, tokenizer=loaded.tokenizer)


def centred(texts: Sequence[str], centre: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each text the sum of its vectors less the *centre* for each piece, both in steps of 1/CENTRE."""
    pieces = model().pieces(texts)
    counts = np.array([len(each) for each in pieces], dtype=np.int64)
    return model().sums(pieces) * (CENTRE // VECTOR) - counts[:, None] * centre
