"""Both orders of the options are one in figures, cards, sentences and differences, until something tells them apart."""

from __future__ import annotations

import html
import re

import pandas as pd
import pytest

from analysis.pages.stability import one_row
from analysis.pages.stability.page import StabilityPage
from analysis.reporting.catalogue import orders
from analysis.reporting.catalogue.condition_names import RENAMED_NOTE
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.drawing.pictures import build_pictures
from analysis.reporting.words import labels
from helpers.synthetic import random_frame, write_run

ORDERS = ("plain/yes-no", "plain/no-yes")
FIELDS = {name: {"form": "plain", "option_order": name.split("/")[1]} for name in ORDERS}


def answers() -> pd.DataFrame:
    """ "same" answers both orders nearly alike, "moved" agrees less with everything under the second order."""
    first = random_frame(["same", "moved"], items=30, paraphrases=10, seed=3).assign(condition=ORDERS[0], mass=0.9)
    moved = first["agreement"].where(first["model"] == "same", first["agreement"] * 0.6)
    second = first.assign(condition=ORDERS[1], agreement=moved * 0.999)
    return pd.concat([first, second], ignore_index=True)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    run = write_run(tmp_path_factory.mktemp("orders") / "run", answers(), conditions=FIELDS)
    return StabilityPage([str(run)], resamples=200)


@pytest.mark.slow
def test_only_the_model_whose_orders_differ_has_two_rows(page):
    rows = page.frames.build_table_with_joined_option_orders("stability")
    assert rows[["model", "condition"]].to_numpy().tolist() == [
        ["same", "plain/both orders"], ["moved", "plain/yes-no"], ["moved", "plain/no-yes"],
    ]  # fmt: skip


@pytest.mark.parametrize("figure", ["overview", "agreement", "validity", "differences"])
def test_figures_draw_the_rows_of_the_table_and_say_so(page, figure):
    (picture,) = build_pictures(figure, page.frames)
    note = orders.JOINED_NOTE if figure == "validity" else orders.PARTLY_JOINED_NOTE  # no order changes the mass here
    assert picture.caption.count(note) == 1
    drawn = picture.draw.args[0]
    if figure == "differences":
        assert sorted(set(pd.concat(list(labels.build_labels_of_both_sides_of_pairs(drawn).values())))) == [
            "moved · plain/no-yes", "moved · plain/yes-no", "same"
        ]  # fmt: skip
    elif figure != "validity":
        assert sorted(labels.build_row_labels(drawn).unique()) == [
            "moved · plain/no-yes",
            "moved · plain/yes-no",
            "same",
        ]


@pytest.mark.slow
def test_the_sentences_count_joined_orders_once(page):
    said = " ".join(re.sub("<[^>]+>", " ", page.answer().text).split())
    assert "2 models (3 combinations of model and condition) were asked" in said
    assert "3 combinations of model and condition" in said
    assert "Of 2 pairs compared" not in said
    assert any(line.startswith("Of 3 pairs compared, ") for line in page._details["differences"])


def test_a_pair_of_rows_differs_where_each_of_its_pairs_does(page):
    """ "same" under both orders and "moved" under one: two pairs of the table, one under either order."""
    table, found = page.frame("differences"), one_row.pool_differences_over_option_orders(page.frames)
    assert len(found[found["measure"] == "agreement_mean"]) == 3
    row = found[(found["measure"] == "agreement_mean") & (found["a_model"] == "same")
                & (found["b_condition"] == ORDERS[1])]  # fmt: skip
    of = table[(table["measure"] == "agreement_mean") & (table["a_model"] == "same") & (table["b_model"] == "moved")
               & (table["b_condition"] == ORDERS[1])]  # fmt: skip
    assert (row["difference"].item(), row["p_holm"].item()) == (of["difference"].mean(), of["p_holm"].max())
    assert not ((found["a_model"] == found["b_model"]) & (found["a_condition"] == found["b_condition"])).any()


def test_sides_stand_in_the_order_of_the_rows_and_the_difference_with_them():
    table = pd.DataFrame({
        "a_model": ["a", "b"], "a_condition": "c", "b_model": ["b", "a"], "b_condition": "c",
        "difference": [0.2, 0.2], "lower": [0.1, 0.1], "upper": [0.4, 0.4],
    })  # fmt: skip
    turned = one_row._swap_sides_of_pairs(table, pd.Series([False, True]))
    assert turned[["a_model", "b_model"]].to_numpy().tolist() == [["a", "b"], ["a", "b"]]
    assert turned[["difference", "lower", "upper"]].to_numpy().tolist() == [[0.2, 0.1, 0.4], [-0.2, -0.4, -0.1]]


def test_a_card_is_of_the_order_that_has_two_answers_or_the_larger_range(page):
    text = html.unescape(page.examples().text)
    assert [text.count(f"<h3>{name}") for name in ("same <", "moved · plain/yes-no", "moved · plain/no-yes")] == [
        1,
        1,
        1,
    ]
    assert "the one with the larger range is shown" in text
    cards, every = one_row.select_divergent_wordings_of_judged_models(page.frames), page.frame("divergent")
    assert (len(every), len(cards)) == (4, 3)
    assert cards.loc[cards["model"] == "same", "range"].item() == every.loc[every["model"] == "same", "range"].max()


@pytest.mark.parametrize(("difference", "apart"), [(0.0001, False), (0.02, True)])
def test_a_difference_that_no_digit_shows_keeps_no_rows_apart(difference, apart, page):
    frames = Frames(page.runs, {})
    row = {"study": "s", "measure": "validity", "a_model": "m", "a_condition": "x", "b_model": "m", "b_condition": "y",
           "difference": difference, "p_holm": 0.001}  # fmt: skip
    frames._frames["differences"] = pd.DataFrame([row])
    assert bool(one_row.find_significantly_differing_condition_pairs(frames)) is apart


@pytest.mark.slow
def test_captions_say_in_one_short_sentence_that_orders_are_shown_once_and_the_foot_says_by_which_rule(page):
    page = StabilityPage(page.folders, resamples=200)
    assert "Orders of the options" not in dict(page.list_footer_entries())
    for text in (page.figure("overview").text, page.figure("agreement").text, page.table("stability").text):
        assert html.unescape(text).count(orders.PARTLY_JOINED_NOTE.strip()) == 1
    assert dict(page.list_footer_entries())["Orders of the options"] == [orders.JOINING_RULE]


def list_condition_names_at_foot(page):
    return dict(page.list_footer_entries()).get("Conditions in files, --where and waver table")


@pytest.mark.slow
def test_the_foot_has_the_names_in_files_of_conditions_that_the_page_renames(page, tmp_path):
    page.figure("overview")
    assert list_condition_names_at_foot(page) == ["plain/both orders: plain/yes-no and plain/no-yes"]
    frame = random_frame(["m"], items=6, paraphrases=4)
    settings = {"0/bits": {"form": "import", "temperature": "0"}, "1/bits": {"form": "import", "temperature": "1"}}
    second = frame.assign(agreement=frame["agreement"] * 0.6)
    imported = pd.concat([rows.assign(condition=name) for name, rows in zip(settings, (frame, second), strict=True)])
    run = write_run(tmp_path / "imported", imported, conditions=settings)
    renamed = StabilityPage([str(run)], resamples=20)
    assert "temperature 0/bits" in renamed.table("stability").text and RENAMED_NOTE in renamed.table("stability").text
    assert list_condition_names_at_foot(renamed) == ["temperature 0/bits: 0/bits", "temperature 1/bits: 1/bits"]


@pytest.mark.slow
def test_nothing_is_noted_where_conditions_are_called_as_in_the_files(tmp_path):
    run = write_run(tmp_path / "run", random_frame(["m"], items=6, paraphrases=4))
    plain = StabilityPage([str(run)], resamples=20)
    assert RENAMED_NOTE not in plain.table("stability").text and list_condition_names_at_foot(plain) is None
