"""Numbers of options: what nobody means by a number is refused in a short line."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from inference.numerals import parse_positive_share


@pytest.mark.parametrize(("text", "share"), [("0.9", 0.9), ("1", 1.0), (".5", 0.5), ("1e-1", 0.1)])
def test_shares(text, share):
    assert parse_positive_share(text) == share


@pytest.mark.parametrize("text", ["0", "1.1", "-0.5", "1_0e-1", "\uff11", "nan", "0,9", "9" * 500])
def test_what_is_no_share_is_refused_in_a_short_line(text):
    with pytest.raises(ArgumentTypeError, match="is not a share above 0, at most 1") as refused:
        parse_positive_share(text)
    assert len(str(refused.value)) < 80
