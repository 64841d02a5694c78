"""A QR code as SVG (ISO/IEC 18004), in the one size that the address of a second factor needs.

Version 7 with error correction L holds 154 bytes; a reader takes any of the eight masks, and this one is always the
first. Rows and columns are counted from the upper left corner.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt

#: Modules along one side, bytes of data in each of the two blocks, and bytes that correct each.
SIZE, BLOCK, BLOCKS, CORRECTING = 45, 78, 2, 20

#: The longest text, in bytes: four bits say that bytes follow, eight how many.
LONGEST = BLOCK * BLOCKS - 2

#: Where the middles of the small squares lie along both sides; three of the nine would lie in the large ones.
_MIDDLES = (6, 22, 38)

#: Level L with mask 0 and version 7, each with the bits that protect it (tables C.1 and D.1 of the standard).
_FORMAT, _VERSION = 0b111011111000100, 0b000111110010010100

#: Light modules around the code, so that readers see where it ends.
_QUIET = 4

#: The side of the picture, in modules.
SIDE = SIZE + 2 * _QUIET

Modules = npt.NDArray[np.bool_]


def svg_of(text: str) -> str:
    """The path of an SVG that is `SIDE` wide and high: a square for each dark module."""
    rows, columns = np.nonzero(modules_of(text))
    return "".join(f"M{column + _QUIET} {row + _QUIET}h1v1h-1z" for row, column in zip(rows, columns, strict=True))


def modules_of(text: str) -> Modules:
    """The code of a *text*; true where a module is dark."""
    dark, taken = _patterns()
    bits = np.unpackbits(np.frombuffer(codewords_of(text.encode()), dtype=np.uint8)).astype(bool)
    for place, (row, column) in enumerate(each for each in _way() if not taken[each]):
        # Where the bytes end, a few modules are left over.
        bit = place < len(bits) and bits[place]
        dark[row, column] = bit ^ ((row + column) % 2 == 0)
    return dark


def codewords_of(data: bytes) -> bytes:
    """The bytes of the code: data with their length, filled up, then what corrects them; block by block in turns."""
    if len(data) > LONGEST:
        raise ValueError(f"a QR code of this size holds {LONGEST} bytes, not {len(data)}")
    # Half a byte says that bytes follow (4), a byte how many; half a byte of zeros ends them.
    filled = (int.from_bytes(bytes([4, len(data)]) + data) << 4).to_bytes(len(data) + 2)
    filled += (b"\xec\x11" * BLOCK)[: BLOCK * BLOCKS - len(filled)]
    blocks = [filled[start : start + BLOCK] for start in range(0, BLOCK * BLOCKS, BLOCK)]
    checks = [correction_of(each, CORRECTING) for each in blocks]
    return b"".join(bytes(each) for part in (blocks, checks) for each in zip(*part, strict=True))


def correction_of(data: bytes, count: int) -> bytes:
    """So many bytes of Reed and Solomon's code that correct *data*."""
    generator = [1]
    for power in range(count):
        longer = [*generator, 0]
        for place, factor in enumerate(generator):
            longer[place + 1] ^= _times(factor, _EXP[power])
        generator = longer
    rest = list(data) + [0] * count
    for place in range(len(data)):
        lead = rest[place]
        for step, factor in enumerate(generator):
            rest[place + step] ^= _times(lead, factor)
    return bytes(rest[len(data) :])


def _powers() -> list[int]:
    """The powers of 2 in the field of 256 elements with the polynomial x^8 + x^4 + x^3 + x^2 + 1."""
    powers = [1]
    for _ in range(254):
        double = powers[-1] << 1
        powers.append(double ^ 0x11D if double & 0x100 else double)
    return powers


_EXP = _powers()
_LOG = {power: place for place, power in enumerate(_EXP)}


def _times(one: int, other: int) -> int:
    return _EXP[(_LOG[one] + _LOG[other]) % 255] if one and other else 0


def _patterns() -> tuple[Modules, Modules]:
    """What stands in every code of this size, and where nothing else may stand."""
    dark, taken = np.zeros((2, SIZE, SIZE), dtype=bool)
    even = np.arange(SIZE) % 2 == 0
    dark[6], dark[:, 6], taken[6], taken[:, 6] = even, even, True, True
    far = SIZE - 7
    for row, column in ((0, 0), (0, far), (far, 0)):
        _put_square(dark, taken, row + 3, column + 3, (3, 1, 0), margin=4)
    for row, column in product(_MIDDLES, _MIDDLES):
        if not taken[row, column] or 22 in (row, column):
            _put_square(dark, taken, row, column, (2, 0), margin=2)
    _put_format(dark, taken)
    for place in range(18):
        row, column = place // 3, SIZE - 11 + place % 3
        for each in ((row, column), (column, row)):
            dark[each], taken[each] = _VERSION >> place & 1, True
    return dark, taken


def _put_square(dark: Modules, taken: Modules, row: int, column: int, radii: tuple[int, ...], *, margin: int) -> None:
    """Dark rings around a middle, one for each radius, and light ones as far as the margin."""
    near = range(-margin, margin + 1)
    for down, right in product(near, near):
        at = (row + down, column + right)
        if all(0 <= each < SIZE for each in at):
            distance = max(abs(down), abs(right))
            dark[at], taken[at] = distance in radii, True


def _put_format(dark: Modules, taken: Modules) -> None:
    """Say twice how the code was made: around the upper left square, and beside the two others."""
    corner = [*((8, each) for each in (0, 1, 2, 3, 4, 5, 7, 8)), *((each, 8) for each in (7, 5, 4, 3, 2, 1, 0))]
    edges = [*((SIZE - 1 - each, 8) for each in range(7)), *((8, SIZE - 8 + each) for each in range(8))]
    for places in (corner, edges):
        for place, at in enumerate(places):
            dark[at], taken[at] = _FORMAT >> (14 - place) & 1, True
    dark[SIZE - 8, 8], taken[SIZE - 8, 8] = True, True


def _way() -> list[tuple[int, int]]:
    """All modules in the order in which bits fill them: two columns at a time from the right, up and down in turns."""
    found, upwards = [], True
    for right in (*range(SIZE - 1, 6, -2), 5, 3, 1):
        rows = range(SIZE - 1, -1, -1) if upwards else range(SIZE)
        found += [(row, column) for row in rows for column in (right, right - 1)]
        upwards = not upwards
    return found
