"""Numbers of options: what nobody means by a number is refused in a short line."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from ground.numerals import parse_finite_number, parse_plain_number, parse_positive_share


@pytest.mark.parametrize(("text", "share"), [("0.9", 0.9), ("1", 1.0), (".5", 0.5), ("1e-1", 0.1)])
def test_shares(text, share):
    assert parse_positive_share(text) == share


@pytest.mark.parametrize("text", ["0", "1.1", "-0.5", "1_0e-1", "\uff11", "nan", "0,9", "9" * 500])
def test_what_is_no_share_is_refused_in_a_short_line(text):
    with pytest.raises(ArgumentTypeError, match="is not a share above 0, at most 1") as refused:
        parse_positive_share(text)
    assert len(str(refused.value)) < 80


@pytest.mark.parametrize("text", ["1_0", "\uff11", "nan", "-inf", "1e999", "0x1", " 1", "", "9" * 500])
def test_what_nobody_means_by_a_number_is_refused_in_a_short_line(text):
    for kind in (int, float):
        with pytest.raises(ValueError, match=" number") as refused:
            parse_plain_number(text, kind)
        assert len(str(refused.value)) < 80
    with pytest.raises(ArgumentTypeError, match="is not a number"):
        parse_finite_number(text)
