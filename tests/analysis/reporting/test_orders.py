"""Option orders are one row of a table until something about them differs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.reporting import orders

SHOWN = ["validity", "range_mean", "range_sd", "n_items"]
CONDITIONS = {"s": {f"plain/{order}": {"option_order": order} for order in ("yes-no", "no-yes")} | {"text": {}}}
KEYS = ["study", "model", "condition"]


def rows(**second: object) -> pd.DataFrame:
    """A model under both orders, the second with these values; another model under one order; a condition without."""
    first = {"study": "s", "model": "m", "condition": "plain/yes-no", "validity": 0.90, "validity_lower": 0.80,
             "validity_upper": 0.95, "range_mean": 0.50, "range_mean_lower": 0.40, "range_mean_upper": 0.60,
             "range_sd": 0.300, "n_items": 34, "mark": "", "low_mass": False}  # fmt: skip
    moved = {"range_mean": 0.56, "range_mean_lower": 0.47, "range_mean_upper": 0.66, "range_sd": 0.309}
    other = first | {"condition": "plain/no-yes"} | moved | second
    return pd.DataFrame([first, other, first | {"model": "alone"}, first | {"condition": "text"}])


def test_orders_within_each_others_intervals_are_one_row_with_the_mean_and_the_widest_interval():
    joined = orders.joined("stability", rows(), SHOWN, CONDITIONS)
    assert joined[KEYS].to_numpy().tolist() == [
        ["s", "m", "plain/both orders"], ["s", "alone", "plain/yes-no"], ["s", "m", "text"],
    ]  # fmt: skip
    assert list(joined) == list(rows())
    one = joined.iloc[0]
    assert one["range_mean"] == pytest.approx(0.53)
    assert (one["range_mean_lower"], one["range_mean_upper"]) == (0.40, 0.66)
    assert (one["range_sd"], one["n_items"]) == (pytest.approx(0.3045), 34)


@pytest.mark.parametrize(
    "second",
    [{"range_mean": 0.61}, {"range_mean_lower": 0.51}, {"range_sd": 0.311}, {"range_sd": np.nan}, {"n_items": 33},
     {"mark": "+"}, {"low_mass": True}, {"range_mean_lower": np.nan, "range_mean_upper": np.nan}],
)  # fmt: skip
def test_orders_that_differ_in_one_thing_stay_apart(second):
    """Outside an interval, in a digit that is printed, in a count, in a mark; or where an interval is missing."""
    frame = rows(**second)
    pd.testing.assert_frame_equal(orders.joined("stability", frame, SHOWN, CONDITIONS), frame)


def test_figures_without_intervals_on_both_sides_are_compared_by_their_digits():
    bare = {"range_mean_lower": np.nan, "range_mean_upper": np.nan}
    both = rows(**bare).assign(**bare)
    assert len(orders.joined("stability", both, SHOWN, CONDITIONS)) == 4
    assert len(orders.joined("stability", both.assign(range_mean=0.5), SHOWN, CONDITIONS)) == 3
    assert len(orders.joined("stability", both.assign(range_mean=np.nan), SHOWN, CONDITIONS)) == 3


def test_orders_that_a_paired_comparison_finds_to_differ_stay_apart():
    def left(*differing: tuple[str, str, frozenset[str]]) -> int:
        return len(orders.joined("stability", rows(), SHOWN, CONDITIONS, differing))

    assert left(("s", "m", frozenset({"plain/yes-no", "plain/no-yes"}))) == 4
    assert left(("s", "alone", frozenset({"plain/yes-no", "plain/no-yes"}))) == 3
    assert left(("s", "m", frozenset({"plain/yes-no", "text"}))) == 3


def test_a_model_has_all_its_rows_joined_or_none():
    """Rows by item: one item that differs keeps the others apart, too."""
    items = pd.concat([rows().assign(item="a"), rows(range_sd=0.5).assign(item="b")], ignore_index=True)
    assert len(orders.joined("stability", items, SHOWN, CONDITIONS)) == 8
    alike = pd.concat([rows().assign(item="a"), rows().assign(item="b")], ignore_index=True)
    joined = orders.joined("stability", alike, SHOWN, CONDITIONS)
    assert joined["item"].tolist() == ["a", "a", "a", "b", "b", "b"]


def test_tables_without_models_and_conditions_stay_as_they_are():
    frame = pd.DataFrame({"item": ["a"], "n": [1]})
    assert orders.joined("items", frame, ["n"], CONDITIONS) is frame
