"""QR codes: what other programs make of the same text."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from api.pages.qr_codes import LONGEST, SIDE, SIZE, codewords_of, correction_of, modules_of, svg_of

ADDRESS = "otpauth://totp/graphpriv:ann?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=graphpriv"


def test_the_bytes_that_correct_are_those_of_the_standard():
    # ISO/IEC 18004:2006, annex I: "01234567" in version 1, level M.
    data = bytes.fromhex("10200c5661 80ec11ec11ec11ec11ec11".replace(" ", ""))
    assert correction_of(data, 10).hex() == "a524d4c1ed36c7872c55"


# Made by the package qrcode 8 (version 7, level L, mask 0, bytes).
@pytest.mark.parametrize(
    ("text", "made"),
    [
        (ADDRESS, "50231440d35c411a34461ad0646b1c24"),
        ("a", "364e7c3f7addfab3bf2d159e7b8c7db0"),
        ("x" * LONGEST, "c367cb888b59d86bea65cca3a6ba285c"),
    ],
)
def test_every_module_is_where_another_program_puts_it(text, made):
    modules = modules_of(text)
    assert modules.shape == (SIZE, SIZE)
    assert hashlib.sha256(np.packbits(modules).tobytes()).hexdigest()[:32] == made


def test_the_picture_has_a_square_for_each_dark_module():
    assert svg_of(ADDRESS).count("M") == modules_of(ADDRESS).sum()
    assert svg_of(ADDRESS).startswith("M4 4h1v1h-1z") and SIDE == 53


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="holds 154 bytes"):
        codewords_of(b"x" * (LONGEST + 1))
