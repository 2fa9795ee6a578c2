"""Figures about text features: what is drawn is what the tables say, and nothing is cut."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis import features, runs
from analysis.pages.text_features import captions, figures, plots
from analysis.pages.text_features.catalogue import FIGURES
from analysis.pages.text_features.columns import TERMS
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.drawing import plotting
from helpers.figures import cells, check_caption, check_drawing, check_figure, marks, shown_texts, texts
from helpers.synthetic import write_run
from helpers.text_feature_runs import answers, wordings
from helpers.text_features import hide

pytestmark = pytest.mark.slow

UNIT = {"study": "s", "condition": "plain/yes-no"}


def effects(models, terms=features.FEATURES, seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        {**UNIT, "model": model, "term": term, "estimate_std": rng.normal(0, 0.1),
         "confirmed": bool(rng.choice([True, False]))}
        for model in models for term in ("(Intercept)", *terms)
    ]  # fmt: skip
    frame = pd.DataFrame(rows).assign(n_tests=len(rows), n_rows=900, n_items=62, scale="identity")
    half = rng.uniform(0.01, 0.05, len(frame))
    return frame.assign(
        estimate=frame["estimate_std"] / 3,
        estimate_std_lower=frame["estimate_std"] - half,
        estimate_std_upper=frame["estimate_std"] + half,
    )


def correlations(counts=(900,)):
    rng = np.random.default_rng(1)
    names = features.FEATURES
    r = np.corrcoef(rng.normal(size=(len(names), 12)))
    rows = [
        {"study": "s", "feature_a": a, "feature_b": b, "r": r[i, j], "p": 0.6 if abs(r[i, j]) < 0.1 else 0.001,
         "n": counts[(i + j) % len(counts)]}
        for i, a in enumerate(names) for j, b in enumerate(names)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def leftovers(models, rows=600):
    rng = np.random.default_rng(2)
    parts = [
        pd.DataFrame({**UNIT, "model": model, "fitted": rng.uniform(0, 1, rows), "residual": rng.normal(0, 0.2, rows)})
        for model in models
    ]
    return pd.concat(parts, ignore_index=True).assign(total=len(parts))


def intercepts(models, items=62):
    rng = np.random.default_rng(3)
    parts = [
        pd.DataFrame({**UNIT, "model": model, "level": range(items), "estimate": rng.normal(0, 0.3, items), "se": 0.02})
        for model in models
    ]
    return pd.concat(parts, ignore_index=True)


SIZES = {
    "one": ["solo"],
    "full": [f"organisation-{n % 3}/a-rather-long-model-name-of-{n}b-instruct" for n in range(20)],
}


def frame_of(name, models):
    return {
        "effects": lambda: effects(models),
        "correlations": correlations,
        "residuals": lambda: leftovers(models),
        "intercepts": lambda: intercepts(models),
    }[name]()


@pytest.mark.parametrize(
    ("name", "size", "width"),
    [(name, "one", plotting.COLUMN) for name in FIGURES]
    + [(name, "full", width) for name in FIGURES for width in (plotting.PAGE, plotting.COLUMN)],
)
def test_no_text_is_cut_or_overlaps_another(name, size, width):
    figure = getattr(plots, f"draw_{name}")(frame_of(name, SIZES[size]), width=width)
    check_figure(figure)
    assert width < plotting.PAGE or figure.get_size_inches()[1] <= 9.7


@pytest.mark.parametrize("name", FIGURES)
def test_drawings_are_small_and_deterministic_and_captions_stand_alone(name):
    frame = frame_of(name, SIZES["full"])
    assert len(plotting.render_svg(getattr(plots, f"draw_{name}")(frame), "a")) < 1_000_000
    few = frame_of(name, SIZES["one"])
    check_drawing(lambda: getattr(plots, f"draw_{name}")(few))
    caption = getattr(captions, f"caption_{name}")(frame)
    check_caption(caption)


def test_a_panel_per_feature_and_filled_marks_where_significant():
    frame = effects(["org/a", "org/b"], ("word_length", "negation_cues"))
    frame.loc[frame["term"] == "negation_cues", "confirmed"] = True
    frame.loc[frame["term"] == "word_length", "confirmed"] = [False, True]
    figure = plots.draw_effects(frame)
    assert [texts(axes, "title") for axes in figure.axes] == [["Negations"], ["Word length"]]
    assert texts(figure.axes[0], "row") == ["org/a", "org/b"]
    for axes, term in zip(figure.axes, ("negation_cues", "word_length"), strict=True):
        wanted = frame[frame["term"] == term].reset_index()
        assert {(row, x): fill != (1, 1, 1, 1) for (row, x), fill in marks(axes).items()} == {
            (i, row["estimate_std"]): row["confirmed"] for i, row in wanted.iterrows()
        }
    assert "over 6 tests" in captions.caption_effects(frame)


def test_the_unit_of_the_effects_fits_below_a_last_line_of_one_panel():
    figure = plots.draw_effects(
        effects(["a", "b"], ("word_length", "negation_cues", "statement_length")), width=plotting.COLUMN
    )
    check_figure(figure)
    assert texts(figure.axes[-1], "unit") == ["SDs of the response per SD of the feature"]


def test_an_interval_beyond_the_axis_ends_in_an_arrow():
    frame = effects(
        [f"org/a-model-of-{n}b" for n in range(6)],
        ("word_length", "negation_cues", "statement_length", "edit_similarity"),
    )
    frame.loc[frame.index[1], "estimate_std_upper"] = 9.0
    figure = plots.draw_effects(frame)
    edge = plots.compute_effect_axis_limit(frame[frame["term"] != "(Intercept)"])
    assert sum(x == edge for axes in figure.axes for _, x in marks(axes)) == 1
    assert "Arrows: the interval is longer" in captions.caption_effects(frame)
    assert "Arrows" not in captions.caption_effects(
        effects(["a"], ("word_length",)).assign(estimate_std_lower=0, estimate_std_upper=0)
    )


def test_correlations_are_written_into_their_cells():
    frame = correlations()
    axes = plots.draw_correlations(frame).axes[0]
    assert texts(axes, "row") == [TERMS[name].header for name in features.FEATURES]
    written = cells(axes)
    assert len(written) == 45
    for row in frame.itertuples():
        i, j = features.FEATURES.index(row.feature_a), features.FEATURES.index(row.feature_b)
        if i > j:
            assert written[i, j].replace("−", "-") == f"{round(row.r, 2) + 0.0:.2f}"
    bold = [text.xy for text in axes.texts if text.get_label() == "cell" and text.get_fontweight() == "bold"]
    assert len(bold) == (frame["p"] < 0.05).sum() / 2 - 5
    assert "(n = 900)" in captions.caption_correlations(frame)


def test_n_stands_in_the_cells_where_it_differs():
    frame = correlations(counts=(900, 870))
    assert sorted(set(cells(plots.draw_correlations(frame).axes[0], "n").values())) == ["n 870", "n 900"]
    assert "(n = 870 to 900)" in captions.caption_correlations(frame)


def test_few_residuals_are_dots_and_many_a_density():
    few, many = (plots.draw_residuals(leftovers(["m"], rows)).axes[0] for rows in (60, 4000))
    assert len(few.collections[0].get_offsets()) == 60
    assert not few.images
    counts = many.images[0].get_array()
    assert np.expm1(np.ma.filled(counts, 0)[~np.isnan(np.ma.filled(counts, 0))]).sum() == pytest.approx(4000)


@pytest.mark.parametrize("width", plotting.WIDTHS.values())
def test_the_outermost_residuals_are_whole(width):
    frame = leftovers(["m"], 60)
    axes = plots.draw_residuals(frame, width=width).axes[0]
    (low, high), dots = axes.get_xlim(), axes.collections[0]
    inches = axes.get_position().width * axes.figure.get_figwidth() / (high - low)
    radius = np.sqrt(dots.get_sizes()[0] / np.pi) / 72
    assert (frame["fitted"].min() - low) * inches > radius < (high - frame["fitted"].max()) * inches


@pytest.mark.parametrize("name", ["intercepts", "residuals"])
def test_numbers_that_only_rounding_keeps_from_0_are_not_written_with_an_exponent(name):
    if name == "intercepts":
        figure = plots.draw_intercepts(intercepts(["m"]).assign(estimate=2e-10, se=1e-10))
    else:
        figure = plots.draw_residuals(leftovers(["m"], 60).assign(fitted=0.5, residual=1e-12))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert {axis.get_offset_text().get_text() for axis in (axes.xaxis, axes.yaxis)} == {""}
    assert not any("e" in label.get_text() for label in axes.get_yticklabels())


def test_intercepts_are_sorted():
    points = plots.draw_intercepts(intercepts(["m"])).axes[0].collections[-1].get_offsets()
    assert (np.diff(points[:, 1]) >= 0).all()
    assert len(points) == 62


def test_names_of_models_stand_whole_above_small_panels():
    frame = leftovers(["org/demo-small", "org/demo-large-tuned"])
    titles = [texts(axes, "title")[0] for axes in plots.draw_residuals(frame).axes]
    assert titles == ["org/demo-large-tuned", "org/demo-small"]


def test_the_caption_speaks_of_dependents_only_where_they_are():
    frame = correlations()
    assert "arithmetic" in captions.caption_correlations(frame)
    assert "arithmetic" not in captions.caption_correlations(frame[frame["feature_a"] != "left_dependents"])


def test_a_model_that_does_not_answer_is_marked_in_every_figure(tmp_path):
    rows = answers(wordings(items=4, paraphrases=20), ["org/mute", "org/whole"])
    rows["mass"] = rows["model"].map({"org/mute": 0.3, "org/whole": 0.9})
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        frames = Frames(runs.open_runs(write_run(tmp_path / "run", rows)), {})
        for name in ("effects", "residuals", "intercepts"):
            (shown,) = next(getattr(figures, f"build_{name}_frames")(frames))
            texts = [text.get_text() for text, _ in shown_texts(getattr(plots, f"draw_{name}")(shown))]
            assert "org/mute °" in texts, name
            assert "org/whole" in texts, name
            assert "°: less than half of the probability is surely on" in getattr(captions, f"caption_{name}")(shown), (
                name
            )


def test_effects_of_many_models_are_a_map_of_those_that_move_most():
    frame = effects([f"m{i:03}" for i in range(300)])
    frame.loc[frame["model"] == "m007", "estimate_std"] = 5.0
    figure = plots.draw_effects(frame)
    rows = texts(figure.axes[0], "row")
    assert len(rows) == plots.MOST_ROWS and "007" in "".join(rows)
    assert figure.axes[0].images[0].get_array().shape == (plots.MOST_ROWS, len(features.FEATURES))
    caption = captions.caption_effects(frame)
    assert "Dot: confirmed" in caption and "Lines:" not in caption
    assert "Shown: the 24 with the largest effects of 300 fits; the table has all." in caption


def test_orders_whose_fits_rest_on_other_numbers_of_paraphrases_are_not_drawn_as_one():
    """The caption named 33 paraphrases, the mean of 32 and 34, which no fit was made of."""
    orders = {name: {"option_order": name.split("/")[1]} for name in ("plain/yes-no", "plain/no-yes")}
    first = effects(["a", "b"], ["word_length"])
    mixed = pd.concat([first, first.assign(condition="plain/no-yes")], ignore_index=True)
    mixed.loc[(mixed["model"] == "a") & (mixed["condition"] == "plain/no-yes"), "n_rows"] = 898
    frames = Frames(SimpleNamespace(info={"conditions": {"s": orders}}), {})
    frames._frames |= {"mixed": mixed, "mixed_diagnostics": mixed[[*UNIT, "model"]].assign(validity=0.9)}
    drawn = figures.join_effects_over_option_orders(frames)
    assert drawn[["model", "condition", "n_rows"]].to_numpy().tolist() == [
        ["a", "plain/yes-no", 900], ["b", "plain/both orders", 900], ["a", "plain/no-yes", 898],
    ]  # fmt: skip


def test_of_many_fits_those_with_the_largest_residuals_are_drawn():
    frame = leftovers([f"m{i:02}" for i in range(30)], 40)
    frame.loc[frame["model"] == "m29", "residual"] *= 9
    figure = plots.draw_residuals(frame)
    assert len(figure.axes) == plots.MOST_PANELS
    assert any(texts(axes, "title") == ["m29"] for axes in figure.axes)


def test_rows_are_made_only_of_fits_whose_residuals_are_drawn(tmp_path, monkeypatch):
    """Of one model only a condition is left, whose label still names it: the other one has a fit, too."""
    hide(monkeypatch, "pysentimiento", "spacy", "vaderSentiment")
    rows = answers(wordings(items=4, paraphrases=20), ["a", "b"])
    rows = pd.concat([rows.assign(condition=name) for name in ("plain/yes-no", "plain/no-yes")], ignore_index=True)
    is_near_half = (rows["model"] == "a") & (rows["condition"] == "plain/yes-no")
    rows["agreement"] = rows["agreement"].where(~is_near_half, 0.5 + (rows["agreement"] - 0.5) / 10)
    frames = Frames(runs.open_runs(write_run(tmp_path / "run", rows)), {})
    monkeypatch.setattr(figures, "MOST_PANELS", 3)
    (shown,) = next(figures.build_residuals_frames(frames))
    assert sorted(shown["label"].unique()) == ["a · plain/no-yes", "b · plain/no-yes", "b · plain/yes-no"]
    assert set(shown["total"]) == {4} and len(shown) == 3 * 4 * 20
    monkeypatch.setattr(captions, "MOST_PANELS", 3)
    caption = captions.caption_residuals(shown)
    assert caption.startswith("Residuals of 3 mixed models") and "80 paraphrases each" in caption
    assert "Shown: the 3 with the largest residuals of 4 fits." in caption
