"""Models below the validity threshold: not ranked, not named in a verdict, marked in figures.

One synthetic model is thinned: a response is kept with a probability, else it holds no valid answer. Nothing about the
model changes but the number of valid wordings per item.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.stability import captions, figures, narrative, one_row, plots
from analysis.pages.stability.page import StabilityPage
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.catalogue.selection import AnswerPair
from analysis.reporting.words import labels
from helpers.figures import shown_texts
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow

KEPT = {"whole": 1.0, "most": 0.7, "some": 0.45, "few": 0.15}
NAMES = narrative.TABLES


def thinned(keep: dict[str, float]) -> pd.DataFrame:
    """One model's responses under several names, of which a share is valid."""
    whole = random_frame(["m"], items=40, paraphrases=25, seed=8).assign(mass=1.0)
    rng = np.random.default_rng(0)
    parts = []
    for name, share in keep.items():
        lost = rng.random(len(whole)) >= share
        parts.append(whole.assign(model=name, agreement=whole["agreement"].mask(lost)))
    return pd.concat(parts, ignore_index=True)


def texts(figure) -> list[str]:
    return [text.get_text() for text, _ in shown_texts(figure)]


def said(path, keep):
    run = runs.open_runs(write_run(path, thinned(keep) if isinstance(keep, dict) else keep))
    frames = Frames(run, {"resamples": 200}, lambda name, frame: None)
    return narrative.answer_page_question(**{name: frames[name] for name in NAMES}, choice=AnswerPair()), frames


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return said(tmp_path_factory.mktemp("thinned") / "run", KEPT)


def test_range_and_flips_shrink_with_the_number_of_valid_wordings(four):
    table = four[1]["stability"].set_index("model").loc[list(KEPT)]
    assert table["validity"].tolist() == pytest.approx(list(KEPT.values()), abs=0.03)
    assert table["range_mean"].is_monotonic_decreasing, table["range_mean"]
    assert table.loc["few", "range_mean"] < 0.6 * table.loc["whole", "range_mean"]
    assert table.loc["few", "flip_05"] < 0.6 * table.loc["whole", "flip_05"]


def test_the_thinned_model_is_not_announced_as_the_most_stable(four):
    answer, frames = four
    told = " ".join((answer.verdict, *answer.details["overview"]))
    assert "few" not in told.replace("fewer", "")
    assert "some" not in told  # its validity is 0.45
    assert "with most" in told
    assert "with whole" in told
    assert answer.verdict == "Yes, with each of 2 models that answer."
    table = frames["stability"].set_index("model")
    assert f"{table.loc['most', 'range_mean']:.2f} apart with most" in told
    # Of six pairs in the table, one is of two models that answer.
    assert answer.details["differences"][0].startswith("Their shares of flips differ")
    assert answer.cautions[0].startswith(
        "Not judged: some and few. Less than half of the probability is on the options"
    )


def test_the_numbers_of_valid_wordings_are_compared(four, tmp_path):
    answer, frames = four
    mean = frames["items"].groupby("model")["n_valid"].mean()
    uneven = [line for line in answer.cautions if line.startswith("Different numbers of valid wordings")]
    assert uneven == [
        f"Different numbers of valid wordings: {mean['few']:.1f} per item on average with few, {mean['whole']:.1f} "
        "with whole. A model with few valid wordings looks more stable than it is: range shrinks with their number, "
        "and flips are missed."
    ]
    even, _ = said(tmp_path / "run", {"a": 1.0, "b": 0.99})
    assert not any(line.startswith("Different numbers") for line in even.cautions)


def test_models_that_do_not_answer_get_no_verdict(tmp_path):
    answer, _ = said(tmp_path / "run", {"some": 0.4, "few": 0.15})
    assert answer.verdict == "These models do not answer."
    assert answer.details == {}
    assert answer.cautions[0].startswith("Not judged: some and few. Less than half of the probability")
    assert not any(line.startswith("Not judged") for line in answer.cautions[1:])
    one, _ = said(tmp_path / "one", {"few": 0.15})
    assert one.verdict == "This model does not answer."


def test_between_its_bounds_whether_a_model_answers_cannot_be_told(tmp_path):
    """A server showed the most probable tokens only: of `open`, one half lies between the bounds; of `shut`, above."""
    masses = {"open": (0.3, 0.9), "shut": (0.3, 0.4), "firm": (0.8, 0.9), "exact": (0.7, None)}
    rows = [
        random_frame([name], items=5, paraphrases=4).assign(mass=low, mass_upper=high)
        for name, (low, high) in masses.items()
    ]
    answer, frames = said(tmp_path / "run", pd.concat(rows))
    table = frames["stability"].set_index("model")["validity_at_most"]
    assert table.to_dict() == pytest.approx({"open": 0.9, "shut": 0.4, "firm": 0.9, "exact": np.nan}, nan_ok=True)
    assert answer.cautions[0].startswith("Not judged: shut. Less than half of the probability is on the options")
    assert answer.cautions[1].startswith("Not judged: open (between 30 % and 90 %). Whether half of the probability is")
    alone, _ = said(tmp_path / "one", rows[0])
    assert alone.verdict == (
        "Whether this model answers cannot be told: between 30 % and 90 % of the probability is on the options."
    )


def test_every_figure_marks_them_and_says_what_the_mark_means(four):
    _, frames = four
    drawn = {"overview": (frames["stability"],), "validity": next(figures.build_validity_frames(frames))}
    for name, shown in drawn.items():
        found = " ".join(texts(getattr(plots, f"draw_{name}")(*shown)))
        assert "few °" in found, name
        assert "whole °" not in found, name
        assert "°: less than half of the probability is surely on the options" in getattr(captions, f"caption_{name}")(
            *shown
        ), name
    order = [text for text in texts(plots.draw_overview(frames["stability"])) if text.split()[0] in KEPT]
    assert order[:4] == ["most", "whole", "few °", "some °"]


def test_agreement_of_little_mass_is_neither_drawn_nor_an_example(four, tmp_path):
    """Dark cells and a firm answer looked like results; of `few` and `some` they were of 15 and 45 % of the mass."""
    _, frames = four
    drawn = next(figures.build_agreement_frames(frames))
    found = " ".join(texts(plots.draw_agreement(*drawn)))
    assert "whole" in found and "few" not in found and "some" not in found
    assert "Left out: some and few. Less than half of their probability is" in captions.caption_agreement(*drawn)
    pairs = one_row.select_divergent_wordings_of_judged_models(frames)
    assert set(pairs["model"]) == {"most", "whole"} < set(frames["divergent"]["model"])
    _, silent = said(tmp_path / "run", {"some": 0.4})
    assert list(figures.build_agreement_frames(silent)) == []
    shown = StabilityPage([str(tmp_path / "run")], resamples=0).examples().text
    assert "No model with such a pair is judged, so none is shown." in shown


def test_differences_are_drawn_between_the_models_that_the_sentence_counts(four, tmp_path):
    """Pairs with a model that does not answer were drawn, some in bold, beside "Such models are not compared"."""
    (shown,) = next(figures.build_stability_differences_frames(four[1]))
    assert set(shown[["a_model", "b_model"]].iloc[0]) == {"most", "whole"}
    assert len(shown) == 1
    _, silent = said(tmp_path / "run", {"some": 0.4, "few": 0.15})
    assert list(figures.build_stability_differences_frames(silent)) == []


def test_models_without_common_items_have_no_figure_of_differences(tmp_path):
    """Its caption counted common items, of which there are none, and the page was not made."""
    first, second = (random_frame([name], items=8, paraphrases=4, seed=1).assign(mass=1.0) for name in ("a", "b"))
    second["item"] = "other " + second["item"]
    _, frames = said(tmp_path / "run", pd.concat([first, second], ignore_index=True))
    assert (frames["differences"]["n_items"] == 0).all()
    assert list(figures.build_stability_differences_frames(frames)) == []
    assert "no two models" in StabilityPage([str(tmp_path / "run")], resamples=0).figure("differences").text


def test_no_mark_where_all_answer(tmp_path):
    _, frames = said(tmp_path / "run", {"a": 1.0, "b": 0.9})
    (shown,) = next(figures.build_validity_frames(frames))
    assert "°" not in captions.caption_validity(shown) + captions.caption_overview(frames["stability"])
    assert labels.explain_mark_of_unjudged_models(shown) == ""
    assert tables.list_table_options("stability")["resamples"].default == 10_000


def test_ties_are_told_with_their_number(tmp_path):
    rows = random_frame(["m"], items=4, paraphrases=5).assign(mass=1.0)
    rows.loc[[1, 2, 8], "agreement"] = 0.5
    run = runs.open_runs(write_run(tmp_path / "run", rows))
    frames = {name: tables.build_table(name, run, resamples=0) for name in NAMES}
    cautions = narrative.answer_page_question(**frames, choice=AnswerPair()).cautions
    assert "3 of 20 answers are ties (agreement of exactly 0.5). They count as agreeing, as in the paper." in cautions


def test_items_are_unstable_across_models_that_answer_only(four, tmp_path):
    """A model of which few answers are left had its SDs averaged into every item's."""
    table = four[1]["item_stability"]
    assert set(table["n_models"]) == {2}
    only = thinned({name: KEPT[name] for name in ("whole", "most")})
    alone = tables.build_table("item_stability", runs.open_runs(write_run(tmp_path / "run", only)))
    np.testing.assert_allclose(table["normalised_sd_mean"], alone["normalised_sd_mean"], atol=0.1)
    assert "Left out: models of which less than half of the probability is surely" in captions.caption_item_stability(
        table
    )
    none = runs.open_runs(write_run(tmp_path / "none", thinned({"few": 0.15})))
    assert tables.build_table("item_stability", none).empty
