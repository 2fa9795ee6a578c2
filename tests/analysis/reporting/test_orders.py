"""Option orders are one row of a table until something about them differs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.reporting.catalogue import orders

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
    joined = orders.merge_rows_of_both_option_orders("stability", rows(), SHOWN, CONDITIONS)
    assert joined[KEYS].to_numpy().tolist() == [
        ["s", "m", "plain/both orders"], ["s", "alone", "plain/yes-no"], ["s", "m", "text"],
    ]  # fmt: skip
    assert list(joined) == list(rows())
    one = joined.iloc[0]
    assert one["range_mean"] == pytest.approx(0.53)
    assert (one["range_mean_lower"], one["range_mean_upper"]) == (0.40, 0.66)
    assert (one["range_sd"], one["n_items"]) == (pytest.approx(0.3045), 34)


def test_a_persona_that_holds_the_letters_of_an_order_keeps_its_name():
    names = {order: f"chat/numbers-{order}/persona-upset" for order in ("up", "down")}
    conditions = {"s": {name: {"option_order": order} for order, name in names.items()}}
    joined_names = {orders.replace_order_by_both_orders(conditions, "s", name) for name in names.values()}
    assert joined_names == {"chat/numbers-both orders/persona-upset"}


@pytest.mark.parametrize(
    "second",
    [{"range_mean": 0.61}, {"range_mean_lower": 0.51}, {"range_sd": 0.311}, {"range_sd": np.nan}, {"n_items": 33},
     {"mark": "+"}, {"low_mass": True}, {"range_mean_lower": np.nan, "range_mean_upper": np.nan}],
)  # fmt: skip
def test_orders_that_differ_in_one_thing_stay_apart(second):
    """Outside an interval, in a digit that is printed, in a count, in a mark; or where an interval is missing."""
    frame = rows(**second)
    pd.testing.assert_frame_equal(orders.merge_rows_of_both_option_orders("stability", frame, SHOWN, CONDITIONS), frame)


def test_figures_without_intervals_on_both_sides_are_compared_by_their_digits():
    bare = {"range_mean_lower": np.nan, "range_mean_upper": np.nan}
    both = rows(**bare).assign(**bare)
    assert len(orders.merge_rows_of_both_option_orders("stability", both, SHOWN, CONDITIONS)) == 4
    assert (
        len(orders.merge_rows_of_both_option_orders("stability", both.assign(range_mean=0.5), SHOWN, CONDITIONS)) == 3
    )
    assert (
        len(orders.merge_rows_of_both_option_orders("stability", both.assign(range_mean=np.nan), SHOWN, CONDITIONS))
        == 3
    )


def test_orders_that_a_paired_comparison_finds_to_differ_stay_apart():
    def left(*differing: tuple[str, str, frozenset[str]]) -> int:
        return len(orders.merge_rows_of_both_option_orders("stability", rows(), SHOWN, CONDITIONS, differing))

    assert left(("s", "m", frozenset({"plain/yes-no", "plain/no-yes"}))) == 4
    assert left(("s", "alone", frozenset({"plain/yes-no", "plain/no-yes"}))) == 3
    assert left(("s", "m", frozenset({"plain/yes-no", "text"}))) == 3


def test_a_model_has_all_its_rows_joined_or_none():
    """Rows by item: one item that differs keeps the others apart, too."""
    items = pd.concat([rows().assign(item="a"), rows(range_sd=0.5).assign(item="b")], ignore_index=True)
    assert len(orders.merge_rows_of_both_option_orders("stability", items, SHOWN, CONDITIONS)) == 8
    alike = pd.concat([rows().assign(item="a"), rows().assign(item="b")], ignore_index=True)
    joined = orders.merge_rows_of_both_option_orders("stability", alike, SHOWN, CONDITIONS)
    assert joined["item"].tolist() == ["a", "a", "a", "b", "b", "b"]


def test_tables_without_models_and_conditions_stay_as_they_are():
    frame = pd.DataFrame({"item": ["a"], "n": [1]})
    assert orders.merge_rows_of_both_option_orders("items", frame, ["n"], CONDITIONS) is frame


def test_p_values_are_alike_on_one_side_of_five_per_cent_and_the_larger_one_is_shown():
    def found(*p: float) -> list[float]:
        frame = rows().assign(p_holm=[*p, 0.5, 0.5])
        return orders.merge_rows_of_both_option_orders("source_agreement", frame, ["range_mean", "p_holm"], CONDITIONS)[
            "p_holm"
        ].tolist()

    assert found(0.01, 0.04) == [0.04, 0.5, 0.5]
    assert found(0.2, 0.9) == [0.9, 0.5, 0.5]
    assert found(0.04, 0.06) == [0.04, 0.06, 0.5, 0.5]


def test_probabilities_and_p_values_are_told_apart_by_their_unit():
    frame = pd.DataFrame({"study": "s", "model": "m", "condition": list(CONDITIONS["s"])[:2]})

    def join(table: str, **columns: list[float]) -> list[list[float]]:
        shown = frame.assign(**columns)
        joined = orders.merge_rows_of_both_option_orders(table, shown, list(columns), CONDITIONS)
        return joined[list(columns)].to_numpy().tolist()

    assert join("curve", p_original=[0.8, 0.9], p_yes=[0.6, 0.8]) == [[0.8, 0.6], [0.9, 0.8]]
    assert join("curve", p_original=[0.8, 0.8], p_yes=[0.6, 0.6004]) == [[0.8, pytest.approx(0.6002)]]
    assert join("shifts", band_p=[0.2, 0.9]) == [[0.9]]


def test_colours_are_alike_within_a_shade():
    frame = rows(range_sd=0.34)
    assert len(orders.merge_rows_of_both_option_orders("stability", frame, ["range_sd"], CONDITIONS)) == 4
    assert (
        len(
            orders.merge_rows_of_both_option_orders(
                "stability", frame, ["range_sd"], CONDITIONS, least_difference=orders.SHADE
            )
        )
        == 3
    )
    assert (
        len(
            orders.merge_rows_of_both_option_orders(
                "stability", rows(range_sd=0.36), ["range_sd"], CONDITIONS, least_difference=orders.SHADE
            )
        )
        == 4
    )


def test_lowest_and_highest_values_of_a_joined_row_are_those_of_both():
    frame = rows().assign(agreement_min=[0.1, 0.12, 0, 0], agreement_max=[0.8, 0.9, 0, 0])
    one = orders.merge_rows_of_both_option_orders("stability", frame, ["range_mean"], CONDITIONS).iloc[0]
    assert (one["agreement_min"], one["agreement_max"]) == (0.1, 0.9)


def test_other_tables_take_over_the_names_of_the_joined_rows():
    joined = orders.merge_rows_of_both_option_orders("stability", rows(), SHOWN, CONDITIONS)
    own = orders.rename_conditions_like_joined_table(rows(), joined, CONDITIONS)
    assert own["condition"].tolist() == ["plain/both orders", "plain/both orders", "plain/yes-no", "text"]
    apart = rows(range_mean=0.61)
    assert (
        orders.rename_conditions_like_joined_table(apart, apart, CONDITIONS)["condition"].tolist()
        == apart["condition"].tolist()
    )


def test_the_caption_says_in_one_sentence_that_orders_are_shown_once_and_where_only_some_are():
    joined = orders.merge_rows_of_both_option_orders("stability", rows(), SHOWN, CONDITIONS)
    assert orders.explain_option_orders_shown_as_mean(CONDITIONS, rows()) == ""
    assert orders.explain_option_orders_shown_as_mean(CONDITIONS, rows(), joined) == orders.PARTLY_JOINED_NOTE
    sentence = " Both orders of the options are shown once, as their mean: no clear difference between them was found."
    assert orders.explain_option_orders_shown_as_mean(CONDITIONS, joined) == sentence == orders.JOINED_NOTE
    assert orders.explain_option_orders_shown_as_mean(CONDITIONS, joined.rename(columns={"condition": "a_condition"}))


def test_figures_that_only_wide_intervals_join_are_not_said_to_be_the_same():
    """Another sign lies within a wide interval, and is averaged: no difference was found, which is not sameness."""
    effect = {"study": "s", "model": "m", "condition": "plain/yes-no", "term": "edit_similarity",
              "estimate_std": -0.077, "estimate_std_lower": -0.5, "estimate_std_upper": 0.4}  # fmt: skip
    other = {"condition": "plain/no-yes", "estimate_std": 0.079, "estimate_std_lower": -0.4, "estimate_std_upper": 0.5}
    frame = pd.DataFrame([effect, effect | other])
    joined = orders.merge_rows_of_both_option_orders("mixed", frame, ["estimate_std"], CONDITIONS)
    assert joined["estimate_std"].tolist() == [pytest.approx(0.001)]
    note = orders.explain_option_orders_shown_as_mean(CONDITIONS, joined)
    assert "no clear difference between them was found" in note and "as their mean" in note
    assert not any("the same" in text for text in (note, orders.PARTLY_JOINED_NOTE))
    assert "That does not show that they are the same" in orders.JOINING_RULE


def test_of_pairs_each_side_tells_whether_orders_are_left_apart():
    sides = {"study": "s", "a_model": "m", "a_condition": "plain/both orders", "b_model": "n"}
    pairs = pd.DataFrame([sides | {"b_condition": name} for name in ("plain/yes-no", "plain/no-yes")])
    assert orders.explain_option_orders_shown_as_mean(CONDITIONS, pairs) == orders.PARTLY_JOINED_NOTE
    assert orders.explain_option_orders_shown_as_mean(CONDITIONS, pairs[:1]) == orders.JOINED_NOTE
