"""Figures about scores: nothing is cut, what is drawn is what the tables say, and captions stand alone."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import FillBetweenPolyCollection

from analysis import runs
from analysis.pages.scoring import captions, contrasts, influence, plots, tables
from analysis.pages.scoring.catalogue import FIGURES
from analysis.pages.scoring.figures import build_score_methods_frames, split_frame_by_most_groups_drawn
from analysis.pages.scoring.printed import read_printed_score_differences
from analysis.reporting.drawing import plotting
from helpers.figures import check_caption, check_drawing, check_figure, marks, shown_texts, texts
from helpers.scoring_runs import FAMILY, Judge, make_run

pytestmark = pytest.mark.slow

MANY = {
    f"organisation-{i}/a-rather-long-model-name-of-{i}b{ending}": Judge(f"series-{i}", stage, 0.4, 1.0)
    for i in range(5) for ending, stage in (("", "base"), ("-instruct", "instruct"))
}  # fmt: skip
DRAWN = sorted({entry.plot_name or name for name, entry in FIGURES.items()})
SIZES = {
    "small": ({"En-De": 12, "Et-En": 15}, FAMILY),
    "one": ({"all": 9}, {"solo": Judge("s", "base", 0.5, 0)}),
    "full": ({f"Language-{i}-to-Another": 6 for i in range(4)}, MANY),
}
DRAWN_OF_SIZES = [(size, name) for size in SIZES for name in DRAWN if size == "small" or name != "score_influence"]


def arguments(path, size):
    """The arguments of every figure."""
    sizes, family = SIZES[size]
    run = runs.open_runs(make_run(path, sizes, family=family, ranges=[(0, 9)]))
    table = tables.tabulate_score_bias_and_accuracy(run, resamples=0)
    return {
        "score_violins": (tables.tabulate_scores_of_every_item(run),),
        "score_temperatures": (table[(table["method"] == "exact") & (table["model"] != "gold")],),
        "score_methods": (contrasts.tabulate_sampled_versus_exact_scores(run, resamples=0),),
        **({"score_influence": _printed_influence(run)} if size == "small" else {}),
    }


def _printed_influence(run):
    """Of the paper's points, which are the same beside every run."""
    printed = influence.tabulate_correlations_leaving_points_out(run, resamples=20)
    points = influence.add_names_of_correlation_points(read_printed_score_differences())
    return printed[printed["source"] != "these runs"], points


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """The arguments of every figure, by size, each made once."""
    return functools.cache(lambda size: arguments(tmp_path_factory.mktemp(size) / "run", size))


@pytest.mark.parametrize(
    ("size", "name", "width"),
    [(*drawn, plotting.COLUMN) for drawn in DRAWN_OF_SIZES]
    + [(size, name, plotting.PAGE) for size, name in DRAWN_OF_SIZES if size != "one"],
)
def test_no_text_is_cut_or_overlaps_another(frames, size, name, width):
    figure = getattr(plots, f"draw_{name}")(*frames(size)[name], width=width)
    check_figure(figure)
    assert width < plotting.PAGE or figure.get_size_inches()[1] <= 9.7


@pytest.mark.parametrize(("size", "name"), DRAWN_OF_SIZES)
def test_captions_stand_alone(frames, size, name):
    caption = getattr(captions, f"caption_{name}")(*frames(size)[name])
    check_caption(caption)


@pytest.mark.parametrize("name", DRAWN)
def test_drawings_are_small_and_deterministic(frames, name):
    check_drawing(lambda: getattr(plots, f"draw_{name}")(*frames("small")[name]))


def judged(given, gold=None, setting="0-9/0.7/sampled"):
    frame = pd.DataFrame({"score": given, "gold": np.nan if gold is None else gold}, dtype=float)
    return frame.assign(item=range(len(given)), study="s", model="m", stage="tuned", group="g", setting=setting)


def outlines(figure):
    return [shape for axes in figure.axes for shape in axes.collections if isinstance(shape, FillBetweenPolyCollection)]


def test_a_violin_is_as_wide_as_the_scores_and_highest_where_most_are():
    (shape,) = outlines(plots.draw_score_violins(judged([1, 2, 2, 2, 3, 9])))
    x, y = shape.get_paths()[0].vertices.T
    assert x.min() == pytest.approx(1 - 9 / 60) and x.max() == 9
    assert x[np.abs(y - y.mean()).argmax()] == pytest.approx(2, abs=0.3)


def test_a_constant_score_is_a_peak_and_no_score_is_said():
    (peak,) = outlines(plots.draw_score_violins(judged([8] * 20)))
    x = peak.get_paths()[0].vertices[:, 0]
    assert (x.min() + x.max()) / 2 == pytest.approx(8)
    assert x.max() - x.min() < 0.4
    figure = plots.draw_score_violins(judged([np.nan, np.nan]))
    assert outlines(figure) == []
    assert texts(figure.axes[0], "said") == ["no score"]


def test_human_scores_stand_first_and_base_models_are_hollow():
    base = judged([1, 5, 7], [2, 4, 8]).assign(model="b", stage="base")
    figure = plots.draw_score_violins(pd.concat([base, judged([7, 8, 8], [2, 4, 8])]))
    assert texts(figure.axes[0], "row") == ["human scores", "b", "m"]
    colours = [tuple(shape.get_facecolor()[0]) for shape in outlines(figure)]
    assert colours[1] == (1, 1, 1, 1)
    assert colours[0] != (1, 1, 1, 1) != colours[2]


def test_a_large_kurtosis_gets_a_logarithmic_axis():
    frame = pd.DataFrame({"temperature": [0.4, 0.7], "kurtosis": [128.0, 3.0], "tau": [0.1, 0.2]})
    frame = frame.assign(
        study="s", group="g", model="m", form="plain", prompt="", stage="tuned", range="0-9", method="sampled", n=5,
        no_interval="", caution="",
    )  # fmt: skip
    for name in ("kurtosis", "tau"):
        frame[f"{name}_lower"], frame[f"{name}_upper"] = frame[name] - 0.1, frame[name] + 0.1
    assert [axes.get_yscale() for axes in plots.draw_score_temperatures(frame).axes[:2]] == ["symlog", "linear"]
    assert "The axis of kurtosis is logarithmic beyond 1." in captions.caption_score_temperatures(frame)
    frame["kurtosis"] = [2.0, 3.0]
    assert "logarithmic" not in captions.caption_score_temperatures(frame)
    assert [axes.get_yscale() for axes in plots.draw_score_temperatures(frame).axes[:2]] == ["linear", "linear"]
    flat = frame.assign(kurtosis=[np.nan, 3.0], caution=["all scores are equal", ""])
    assert "No mark of kurtosis where all scores are equal: 1 of 2 points." in captions.caption_score_temperatures(flat)
    few = frame.assign(n=1, kurtosis=np.nan, kurtosis_lower=np.nan, kurtosis_upper=np.nan)
    assert "over 1 item per group." in captions.caption_score_temperatures(few)
    assert len(plots.draw_score_temperatures(few).axes) >= 2
    lacking = flat.assign(caution=["only one score", ""])
    assert "equal" not in captions.caption_score_temperatures(lacking)
    of_prompts = pd.concat([frame.assign(prompt=prompt) for prompt in ("short", "long")])
    *_, legend = plots.draw_score_temperatures(of_prompts).axes
    looks = [(line.get_markeredgecolor(), line.get_marker()) for line in legend.lines]
    assert looks == [("#0072B2", "o"), ("#0072B2", "s")]  # one model has one colour


def test_influence_names_the_point_and_lists_what_changes_most(frames):
    table, known = frames("small")["score_influence"]
    scatter, listed, _ = plots.draw_score_influence(table, known).axes
    assert texts(scatter, "said") == ["En-De/gemma"]
    names = texts(listed, "row")
    assert names[:2] == ["gemma (series)", "En-De/gemma"]
    assert len(names) == plots.MOST_OMISSIONS
    assert [x for _, x in marks(listed)] == list(plots.select_most_influential_omissions(table)["pearson"])
    caption = captions.caption_score_influence(table, known)
    assert "(n = 21, 0 not used). The point named moves the correlation most." in caption
    assert "the 14 of 31 omissions that change it most" in caption
    # At the width of a column, the correlations stand below the points, not right of them.
    assert " Second panel: Pearson's correlation without single points, groups and series, " in caption


def test_influence_shows_names_whole(frames):
    table, known = frames("small")["score_influence"]
    known = known.assign(series="waver-" + known["series"], point=known["point"].str.replace("/", "/waver-"))
    added = {"point": table["omitted_name"].str.replace("/", "/waver-"), "series": "waver-" + table["omitted_name"]}
    names = table["omitted_name"].where(~table["omitted"].isin(added), None)
    for kind, new in added.items():
        names = names.where(table["omitted"] != kind, new)
    scatter, listed, _ = plots.draw_score_influence(table.assign(omitted_name=names), known).axes
    assert texts(scatter, "said") == ["En-De/waver-gemma"]
    assert texts(listed, "row")[:2] == ["waver-gemma (series)", "En-De/waver-gemma"]


def test_three_points_have_nothing_to_leave_out(frames):
    table, known = frames("small")["score_influence"]
    three = table[table["omitted"] == "nothing"].assign(n=3)
    figure = plots.draw_score_influence(three, known.head(3))
    assert [texts(axes, "row") for axes in figure.axes] == [[], []]  # the points, and the legend
    assert "Too few points to leave any out." in captions.caption_score_influence(three, known.head(3))


def test_groups_are_spread_over_figures():
    frame = pd.DataFrame({"study": "s", "group": [f"g{i}" for i in range(9)], "model": "m"})
    assert [list(part["group"]) for (part,) in split_frame_by_most_groups_drawn(frame)] == [
        ["g0", "g1", "g2", "g3"], ["g4", "g5", "g6", "g7"], ["g8"]
    ]  # fmt: skip


def test_a_model_in_two_conditions_counts_once_among_models_and_twice_among_rows():
    """Of 13 models in two conditions, the caption said "the 24 of 26 models"."""
    both = [judged([1, 2]).assign(model=f"m{n}", condition=name) for n in range(13) for name in ("a", "b")]
    caption = captions.caption_score_violins(pd.concat(both))
    assert "scores that 13 models gave" in caption
    assert "Shown: the 24 with the lowest and highest mean score of 26 rows; the table has all." in caption


def test_models_look_alike_where_no_legend_has_room_for_their_names(frames):
    (table,) = frames("small")["score_methods"]
    many = pd.concat([table.assign(model=f"{number:02d}-" + table["model"]) for number in range(plots.MOST_NAMES)])
    for frame, has_legend in ((table, True), (many, False)):
        axes = plots.draw_score_methods(frame).axes[0]
        colours = {line.get_markeredgecolor() for line in axes.lines if line.get_linestyle() == "None"}
        assert (len(colours) > 1) == has_legend


def test_a_model_that_gives_no_numbers_is_marked_among_sampled_and_exact_scores(tmp_path):
    run = runs.open_runs(make_run(tmp_path / "run", {"a": 9}, ranges=[(0, 9)], temperatures=[0.7]))
    table = contrasts.tabulate_sampled_versus_exact_scores(run, resamples=0)
    low = table["model"] == "org/small"
    table["validity_exact"] = table["validity_exact"].mask(low, 0.2)
    (shown,) = next(build_score_methods_frames({"score_methods": table}))
    texts = [text.get_text() for text, _ in shown_texts(plots.draw_score_methods(shown))]
    assert "org/small °" in texts
    assert "org/large" in texts
    assert "°: less than half of the probability is surely on" in captions.caption_score_methods(shown)
    assert list(build_score_methods_frames({"score_methods": table.iloc[:0]})) == []
