"""One-time passwords, by the vectors of their standards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.service.signing.one_time_codes import SECONDS, address_of, code_of, step_at, step_of

#: The secret of both standards.
SECRET = b"12345678901234567890"


def test_rfc_4226_appendix_d():
    codes = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]
    assert [code_of(SECRET, counter) for counter in range(10)] == codes


@pytest.mark.parametrize(
    ("moment", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_rfc_6238_appendix_b(moment, code):
    assert code_of(SECRET, step_at(moment), digits=8) == code


@given(st.integers(10, 10**9), st.floats(0, SECONDS, exclude_max=True), st.integers(-5, 5), st.integers(-5, 5))
def test_a_code_is_taken_while_it_is_shown_and_after_the_last_one(step, into, off, after):
    taken = step_of(SECRET, code_of(SECRET, step + off), step * SECONDS + into, after=step + after)
    # By chance, another step has the same code.
    is_shown = code_of(SECRET, step + off) == code_of(SECRET, step)
    assert taken == (step if is_shown and after < 0 else None)
    assert is_shown or off


def test_a_code_is_taken_for_thirty_seconds_in_all():
    code, begin = code_of(SECRET, 7), 7.0 * SECONDS
    taken = [each for each in range(-90, 91) if step_of(SECRET, code, begin + each, after=0) is not None]
    assert (taken[0], taken[-1], len(taken), SECONDS) == (0, 29, 30, 30)


@pytest.mark.parametrize("code", ["", "75522", "7552244", "abcdef", "\uff17\uff15\uff15\uff12\uff12\uff14"])
def test_what_is_no_code_is_not_taken(code):
    assert step_of(SECRET, code, 0, after=-1) is None


def test_an_app_reads_the_secret_and_the_names_from_one_address():
    said = "otpauth://totp/graphpriv:ann@x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=graphpriv"
    assert address_of(SECRET, "ann@x") == said
