"""The sentences on top of a report: right numbers, right grammar, and the unpleasant things said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from analysis import runs
from analysis.pages.stability import narrative
from analysis.pages.stability.catalogue import CATALOGUE
from analysis.reporting import words
from analysis.reporting.catalogue import selection, tables
from analysis.reporting.words import chance, labels
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow

NAMES = narrative.TABLES


def answer(path, frame, *, thresholds=(0.05, 0.1, 0.25), canonical=("agree", "disagree"), **options):
    run = runs.open_runs(write_run(path, frame, canonical=canonical, **options))
    frames = {name: tables.build_table(name, run, resamples=50, thresholds=thresholds) for name in NAMES}
    return narrative.answer_page_question(
        **frames, choice=selection.build_answer_pair_of_studies(run.info), when=words.phrase_run_dates(run.info)
    ), frames


def wordings(agreements, model="m", **columns):
    """One model's agreement with the paraphrases of some items; the first of each is the original."""
    return pd.DataFrame(
        [
            {
                "model": model,
                "item": f"i{k}",
                "variant": "original" if j == 0 else f"p{j}",
                "agreement": value,
                **columns,
            }
            for k, values in enumerate(agreements)
            for j, value in enumerate(values)
        ]
    )


FIRM = [[0.9, 0.8, 0.85, 0.95]] * 3
TORN = [[0.9, 0.1, 0.9, 0.2]] * 3


def test_one_firm_model(tmp_path):
    said, _ = answer(tmp_path / "run", wordings(FIRM))
    assert said.setup == "1 model was asked whether it agrees with 3 items of “synthetic”, each in 4 wordings."
    # 0 of 3 items: the share of all others may be as high as .56. Their ranges are equal, which says nothing of others.
    assert said.verdict == "These runs cannot tell: the answer flips on 0 % of the items (interval 0 to 56 %)."
    assert said.details["overview"][2:] == (
        "The two wordings of an item that differ most are on average 0.15 apart (no interval: the same in every "
        "resample).",
        "These are distances in agreement, which lies between 0 and 1.",
    )
    assert any(
        line == "m agrees with every item on average. That is always the same answer, whatever is asked."
        for line in said.cautions
    )
    assert any(line.startswith("Only 1 model:") for line in said.cautions)
    assert any(line.startswith("Only 3 items:") for line in said.cautions)
    assert any("a single one is 33 %" in line for line in said.cautions)
    assert not any(line.startswith("Not judged") for line in said.cautions)


def test_without_any_response_there_is_no_page_and_a_notebook_says_that_nothing_can_be_told(tmp_path):
    rows = wordings(FIRM).drop(columns="agreement").assign(error="no answer came")
    said, _ = answer(tmp_path / "run", rows)
    assert said.setup == "1 model was asked whether it agrees with 0 items of “synthetic”."
    assert said.verdict == narrative.NOTHING
    assert CATALOGUE.explain_no_data(runs.open_runs(tmp_path / "run"), {}) == "no prompt has a response"


def test_one_item_does_not_tell_whether_a_model_always_gives_the_same_answer(tmp_path):
    said, _ = answer(tmp_path / "run", wordings(FIRM[:1]))
    assert [line for line in said.cautions if "always the same answer" in line] == []


def test_hardly_is_said_of_enough_firm_items_only(tmp_path):
    """Wilson's upper end for none of n items is below a tenth from n = 35 on: z^2 / (n + z^2) = 3.84 / 38.84."""
    enough, _ = answer(tmp_path / "enough", wordings(FIRM[:1] * 35))
    assert enough.verdict == "Hardly: the answer flips on 0 % of the items (interval 0 to 10 %)."
    few, _ = answer(tmp_path / "few", wordings(FIRM[:1] * 34))
    assert few.verdict.startswith("These runs cannot tell: the answer flips on 0 % of the items")


def test_yes_is_said_of_an_interval_above_a_tenth_only(tmp_path):
    """1 of 3 items flips: [.06, .79] says nothing; 3 of 3, [.44, 1], do."""
    said, _ = answer(tmp_path / "run", wordings([*TORN[:1], *FIRM[:2]]))
    assert said.verdict == "These runs cannot tell: the answer flips on 33 % of the items (interval 6 to 79 %)."
    said, _ = answer(tmp_path / "all", wordings(TORN))
    assert said.verdict == "Yes: the answer flips on 100 % of the items (interval 44 to 100 %)."


def test_masses_that_are_bounds(tmp_path):
    """Twelve rows of two models; only those of "b" hide mass, 0.02 to 0.13 of it, 0.075 in the mean."""
    frame = pd.concat([wordings(FIRM, "a"), wordings(FIRM, "b", mass=0.8)], ignore_index=True)
    frame.loc[12:, "mass_upper"] = 0.8 + np.arange(2, 14) / 100
    said, frames = answer(tmp_path / "run", frame)
    invalid = frames["invalid"].set_index("model")
    assert invalid["n_bounded"].tolist() == [0, 12]
    assert np.isnan(invalid.loc["a", "mass_missing"])
    assert invalid.loc["b", "mass_missing"] == pytest.approx(0.075, abs=1e-12)
    found = [line for line in said.cautions if line.startswith("Bounds")]
    assert found == [
        "Bounds: for b a server showed the most probable tokens only. So masses are lower bounds: on average, up to "
        "0.075 more of the probability may be on the answers."
    ]
    said, _ = answer(tmp_path / "exact", frame.drop(columns="mass_upper"))
    assert not any(line.startswith("Bounds") for line in said.cautions)


def test_one_of_two_models_moves(tmp_path):
    said, _ = answer(tmp_path / "run", pd.concat([wordings(FIRM, "firm"), wordings(TORN, "torn")]))
    assert said.verdict == "Yes with 1 of 2 models; with the other, these runs cannot tell."
    assert said.details["overview"][2:] == (
        "The answer flips on 0 % of the items with firm (95 % interval 0 to 56 %).",
        "It flips on 100 % with torn (95 % interval 44 to 100 %).",
        "The two wordings of an item that differ most are on average 0.15 apart with firm (no interval: the same in "
        "every resample).",
        "They are 0.80 apart with torn (no interval: the same in every resample).",
        "These are distances in agreement, which lies between 0 and 1.",
    )
    # Three items that all flip with one model only: the exact sign test gives 2 / 2^3, which proves nothing.
    assert said.details["differences"] == (
        "1 pair compared: no difference could be shown. With so few items or draws, the smallest p value "
        "after Holm is 0.25.",
    )
    said, _ = answer(tmp_path / "more", pd.concat([wordings(FIRM * 2, "firm"), wordings(TORN * 2, "torn")]))
    assert said.details["differences"] == (
        "Their shares of flips differ clearly (exact sign test over items at 0.05).",  # 2 / 2^6 = 0.03
    )


def test_differ_is_said_after_holm_only(tmp_path):
    """Of three pairs, two have p = 2 / 2^6 = 0.031 before and 0.094 after the correction: none differs."""
    frame = pd.concat([wordings(FIRM * 2, "a"), wordings(FIRM * 2, "b"), wordings(TORN * 2, "torn")])
    said, frames = answer(tmp_path / "run", frame)
    pairs = frames["differences"].query("measure == 'flip_10'")
    assert sorted(pairs["p"].round(3)) == [0.031, 0.031, 1.0]
    assert said.details["differences"] == (
        "3 pairs compared: no difference could be shown. With so few items or draws, the smallest p value "
        "after Holm is 0.09.",
    )


def test_one_pair_of_judged_models_is_corrected_for_all_pairs(tmp_path):
    """2 / 2^10 = 0.002 of two models; the third is not judged, but tested."""
    frames = [wordings(FIRM[:1] * 10, "firm"), wordings(TORN[:1] * 10, "torn")]
    frame = pd.concat([rows.assign(mass=0.9) for rows in frames] + [wordings(FIRM[:1] * 10, "empty", mass=0.04)])
    said, _ = answer(tmp_path / "run", frame)
    assert said.details["differences"] == (
        "Their shares of flips differ clearly (exact sign test over items at 0.05, after Holm).",
    )


@pytest.fixture
def two_studies(tmp_path):
    """One model answers in both studies, another in one; the first study has fewer wordings."""
    for study, items, mass in (("first", FIRM * 10, 0.1), ("second", [[*row, 0.9] * 5 for row in TORN] * 10, 0.9)):
        frame = pd.concat([wordings(items, "m", mass=0.9), wordings(FIRM * 10, "n", mass=mass)])
        write_run(tmp_path / study, frame, study=study)
    opened = runs.open_runs(tmp_path / "first", tmp_path / "second")
    return {name: tables.build_table(name, opened, resamples=20) for name in NAMES}


def test_the_one_pair_of_two_studies_is_named_and_few_wordings_are_said_of_their_study(two_studies):
    said = narrative.answer_page_question(**two_studies, choice=selection.AnswerPair())
    assert said.details["differences"][0].startswith("Flips of m · second and n · second differ clearly (exact")
    assert any(line.startswith("Only 3 wordings per item in “first”: a single one is 33 %") for line in said.cautions)


def test_the_one_model_of_several_that_is_judged_is_named(two_studies):
    kept = (two_studies["stability"]["model"] == "m") & (two_studies["stability"]["study"] == "second")
    rows = two_studies["stability"].assign(validity=np.where(kept, 0.9, 0.1))
    said = narrative.answer_page_question(**{**two_studies, "stability": rows}, choice=selection.AnswerPair())
    assert said.verdict.startswith("Yes: with m · second, the answer flips on 100 % of the items (")
    assert " apart with m · second" in said.details["overview"][2]


def test_flips_that_depend_on_invalid_answers_name_the_study(two_studies):
    conventions = two_studies["stability"][labels.UNIT].head(1).assign(
        measure="flip_10", flips_dropped=0.1, flips_inconsistent=0.4
    )  # fmt: skip
    said = narrative.answer_page_question(**{**two_studies, "flip_conventions": conventions},
                                          choice=selection.AnswerPair())  # fmt: skip
    assert any("For m · first, 10 % of the items flip" in line for line in said.cautions)


def test_numbers_are_those_of_the_table(tmp_path):
    said, frames = answer(tmp_path / "run", random_frame(["a", "b", "c"], items=40, paraphrases=25, seed=5))
    table = frames["stability"].set_index("model")
    overview = " ".join(said.details["overview"])
    for edge in (table["flip_10"].idxmin(), table["flip_10"].idxmax()):
        row = table.loc[edge]
        interval = f"{100 * row['flip_10_lower']:.0f} to {100 * row['flip_10_upper']:.0f} %"
        assert f"{100 * row['flip_10']:.0f} %" in overview
        assert interval in overview
    row = table.loc[table["range_mean"].idxmax()]
    ends = f"{row['range_mean_lower']:.2f} to {row['range_mean_upper']:.2f}"
    assert f"{row['range_mean']:.2f} apart with {row.name} (95 % interval {ends})" in overview
    assert said.details["differences"][0].startswith("Of 3 pairs compared, ")
    assert said.cautions == ()


def test_little_mass_is_said_first(tmp_path):
    frame = pd.concat([wordings(FIRM, "full", mass=0.9), wordings(TORN, "empty", mass=0.04)])
    said, _ = answer(tmp_path / "run", frame)
    assert said.cautions[0].startswith("Not judged: empty. Less than half of the probability is on the options")
    assert said.cautions[0].endswith(": 4 %.")
    assert "empty" not in " ".join((said.verdict, *said.details["overview"]))


def test_left_out_items_and_invalid_answers_are_counted(tmp_path):
    frame = wordings([*TORN, [0.5]])
    frame.loc[1, "agreement"] = np.nan
    failed = wordings([[0.5, 0.5, 0.5]], "other").assign(error="too long", agreement=np.nan)
    said, _ = answer(tmp_path / "run", pd.concat([frame, failed, wordings(TORN[:1], "other").iloc[3:]]))
    text = " ".join(said.cautions)
    assert "1 of 14 responses (7 %) holds no valid answer, most from m (8 %)." in text
    assert "4 of 4 items are left out for some models" in text


def test_undecidable_runs_say_so(tmp_path):
    said, _ = answer(tmp_path / "run", wordings([[0.9, 0.8], [0.2, 0.3]]))
    assert said.verdict == "These runs cannot tell: no item has two usable answers to its paraphrases."
    assert said.details == {}
    assert any("2 of 2 items are left out: only one paraphrase in the study." in line for line in said.cautions)


def test_several_conditions_and_other_labels(tmp_path):
    frame = random_frame(["a", "b", "c"], items=30, paraphrases=20, conditions=["plain/yes-no", "plain/no-yes"])
    said, _ = answer(tmp_path / "run", frame, canonical=("wrong", "fine"))
    assert said.setup == (
        "3 models, each in 2 conditions (6 combinations), were asked to choose between “wrong” and “fine” on 30 "
        "items of “synthetic”, each in 21 wordings."
    )
    assert said.verdict == "Yes, with each of 4 combinations of model and condition that answer."
    assert " · plain/" in said.details["overview"][2]
    assert said.details["overview"][-1] == "These are distances in the share of “wrong”, which lies between 0 and 1."


def test_who_was_judged_was_not_asked_to_choose(tmp_path):
    """Logs that say only whether an answer is right."""
    frame = random_frame(["a"], items=30, paraphrases=20)
    said, _ = answer(tmp_path / "run", frame, canonical=("right", "wrong"))
    assert said.setup == "1 model was judged right or wrong on 30 items of “synthetic”, each in 21 wordings."


def test_wordings_without_an_original_are_called_so(tmp_path):
    frame = wordings(TORN)
    said, _ = answer(tmp_path / "run", frame[frame["variant"] != "original"])
    assert said.setup.endswith("each in 3 wordings.")


@pytest.mark.parametrize("fields", [{"agreement": np.nan, "mass": 0.0}, {"agreement": np.nan, "mass": 0.4}])
def test_an_original_without_a_valid_answer_is_a_wording_that_was_asked(tmp_path, fields):
    said, frames = answer(tmp_path / "run", wordings(TORN, answer=None).assign(**fields))
    assert frames["items"]["original_agreement"].isna().all()
    assert said.setup.endswith("each in 4 wordings.")


@pytest.mark.parametrize(
    ("names", "wanted"),
    [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c"), (list("abcde"), "a, b, c and 2 others"),
     (list("abcd"), "a, b, c and 1 other")],
)  # fmt: skip
def test_listing(names, wanted):
    assert narrative.join_names(names) == wanted


def test_few_items_are_those_of_each_model(tmp_path):
    """Another model's 40 items are no help to one that has a valid answer to five of them only."""
    frame = random_frame(["many", "few"], items=40, paraphrases=25, seed=5)
    lost = (frame["model"] == "few") & (frame["item"] > "item-05")
    said, frames = answer(tmp_path / "run", frame[~lost])
    assert frames["stability"].set_index("model")["n_items"].to_dict() == {"many": 40, "few": 5}
    assert [line for line in said.cautions if line.startswith("Only")] == [
        "Only 2 models: these results say nothing about models in general.",
        "Only 5 items for few: bootstrap intervals tend to be too narrow.",
    ]


def test_no_flips_of_several_models_reach_up_to_the_highest_end(tmp_path):
    said, frames = answer(tmp_path / "run", pd.concat([wordings(FIRM, "a"), wordings(FIRM * 3, "b")]))
    top = frames["stability"]["flip_10_upper"].max()
    assert said.details["overview"][2] == (
        f"No item flips with any model that answers (95 % intervals reach up to {100 * top:.0f} %)."
    )
    assert top == pytest.approx(binomtest(0, 3).proportion_ci(0.95, method="wilson").high)
    assert said.verdict == (
        "These runs cannot tell: each interval of the share of items that flip, widened for their number, holds 10 %."
    )


def test_a_missing_interval_is_not_said_to_be_wide():
    """Without intervals, nothing can "hold 10 %": one item has no interval of its share."""
    rows = pd.DataFrame({"study": "s", "model": ["a", "b"], "condition": "c", "flip_10": [0.0, 1.0]})
    rows = rows.assign(flip_10_lower=np.nan, flip_10_upper=np.nan)
    said = narrative._describe_counts_of_stability_verdicts(
        rows, "flip_10", chance.NO_CHANCE, measured_rows=rows, n_asked=2
    )
    assert said == "These runs cannot tell: some share of items that flip has no interval."


def test_models_in_one_condition_are_called_models_where_all_flip_alike():
    rows = pd.DataFrame({"study": "s", "model": ["a", "b"], "label": ["a", "b"], "condition": "c", "flip_10": 0.5})
    _, said = narrative._describe_flips_of_extreme_models(rows, "flip_10")
    assert said == "The answer flips on 50 % of the items with each of 2 models that answer."


def test_a_model_without_responses_has_no_share_and_an_item_left_out_for_one_model_is_said_to_be(tmp_path):
    frame = random_frame(["a", "b", "c"], items=6, paraphrases=5)
    of_item = frame["item"] == frame["item"].iloc[0]
    frame.loc[(frame["model"] == "a") & of_item & (frame["variant"] != "original"), "agreement"] = np.nan
    frame = frame.assign(error=np.where(frame["model"] == "c", "no answer", None))
    frame.loc[frame["model"] == "c", "agreement"] = np.nan
    said, _ = answer(tmp_path / "run", frame)
    text = " ".join(said.cautions)
    assert "most from a (" in text and "nan" not in text
    assert "left out for some models" in text


def test_nothing_is_said_of_most_or_each_where_there_is_one_or_all_are_alike(tmp_path):
    said, _ = answer(tmp_path / "run", random_frame(["a", "b"], items=1).assign(mass=0.0))
    assert "each" not in said.setup and said.setup.endswith("1 item of “synthetic”, in 7 wordings.")
    assert "14 of 14 responses (100 %) hold no valid answer." in said.cautions
