"""Figures: nothing overlaps, nothing is cut, files are small, deterministic and load nothing."""

from __future__ import annotations

import functools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection

from analysis import runs
from analysis.pages.stability import captions, cases, plots, tables
from analysis.pages.stability.figures import build_item_stability_frames, build_validity_frames
from analysis.pages.stability.model_plots import SIDE
from analysis.pages.stability.plots import MOST_COLUMNS, MOST_ITEMS, tabulate_items_least_stable_first
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.drawing import panels, plotting
from helpers.figures import check_caption, check_figure, marks, shown_texts, texts
from helpers.sentences import too_long
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow

FIGURES = ("overview", "agreement", "item_stability", "validity", "differences")


TABLES = {
    "overview": lambda run: (tables.tabulate_stability(run, resamples=30),),
    "agreement": lambda run: (
        cases.tabulate_agreement_quartiles_of_items(run),
        tables.tabulate_item_answers_over_paraphrases(run),
    ),
    "item_stability": lambda run: (tables.tabulate_item_sds_averaged_over_models(run),),
    "validity": lambda run: (tables.tabulate_item_answers_over_paraphrases(run),),
    "differences": lambda run: (tables.tabulate_stability_differences(run, resamples=30),),
}


def tables_of(path, models, items, paraphrases=4, names=FIGURES):
    """The tables that figures of these names are drawn from."""
    frame = random_frame(models, items=items, paraphrases=paraphrases)
    long = "A statement that is rather long and says several things about " + frame["item"]
    frame["text"] = np.where(frame["variant"] == "original", long + " and costs $5 or $6.", frame["variant"])
    run = runs.open_runs(
        write_run(path, frame, models={name: {"engine": "masked"} for name in models if "bert" in name})
    )
    return {name: TABLES[name](run) for name in names}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Of one model and three items."""
    return tables_of(tmp_path_factory.mktemp("small") / "run", ["one"], 3)


SIZES = {
    "one model": (["solo"], 5),
    "seven models": (["org/llama-s", "org/llama-m", "org/llama-l", "org/bert", "a", "b", "c"], 62),
    "twenty models": ([f"organisation-{i % 3}/a-rather-long-model-name-of-{i}b-instruct" for i in range(20)], 10),
    "many items": (["gpt", "bert"], 130),
}


@pytest.fixture(scope="module", params=SIZES, ids=lambda name: name.replace(" ", "-"))
def frames(request, tmp_path_factory):
    models, items = SIZES[request.param]
    return tables_of(tmp_path_factory.mktemp("plots") / "run", models, items, paraphrases=3 if items > 100 else 5)


def drawn(frames, name, **options):
    return getattr(plots, f"draw_{name}")(*frames[name], **options)


@pytest.fixture(scope="module")
def figure_of(frames):
    """Any figure in its usual width, drawn once: measured, then written."""
    return functools.cache(lambda name: drawn(frames, name))


WIDE = ("seven models", "many items")  # drawn as wide as a page, too


@pytest.mark.parametrize(
    ("frames", "width"),
    [(size, plotting.COLUMN) for size in SIZES] + [(size, plotting.PAGE) for size in WIDE],
    indirect=["frames"],
)
@pytest.mark.parametrize("name", FIGURES)
def test_no_text_is_cut_or_overlaps_another(frames, figure_of, name, width):
    if frames[name][0].empty:
        pytest.skip("one model has no differences")
    check_figure(figure_of(name) if width == plotting.PAGE else drawn(frames, name, width=width))


@pytest.mark.parametrize("frames", ["seven models"], indirect=True, ids=["seven-models"])
@pytest.mark.parametrize("name", FIGURES)
def test_files_are_small_deterministic_and_load_nothing(frames, figure_of, name, tmp_path):
    again = drawn(frames, name)
    svg, pdf = (path.read_bytes() for path in plotting.write_figure(figure_of(name), tmp_path / "a"))
    assert [path.read_bytes() for path in plotting.write_figure(again, tmp_path / "b" / "a")] == [svg, pdf]
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf and b"CreationDate" not in pdf
    svg = svg.decode()
    assert len(svg) < 1_000_000
    assert set(re.findall(r"https?://[^\"]+", svg)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert svg.count("<text") == sum(text.get_text().count("\n") + 1 for text, _ in shown_texts(figure_of(name)))
    assert svg.count("font-family") == 1


@pytest.mark.parametrize("name", FIGURES)
def test_captions_can_be_read_alone(frames, name):
    if not frames[name][0].empty:
        caption = getattr(captions, f"caption_{name}")(*frames[name])
        check_caption(caption)


def test_captions_count_what_is_drawn(small, tmp_path):
    frames = tables_of(tmp_path / "run", ["one", "two"], 3, names=("overview", "agreement", "differences"))
    assert "Stability over 3 items per row: 2 models, the most stable on top." in captions.caption_overview(
        *frames["overview"]
    )
    assert "3 items (4 paraphrases each), a column each: 2 models." in captions.caption_agreement(*frames["agreement"])
    assert captions.caption_differences(*frames["differences"]).startswith(
        "Paired differences of 1 pair over 3 common items. Measure: "
    )
    assert "Stability over 3 items per row: 1 model. Validity: " in captions.caption_overview(*small["overview"])
    said = captions.caption_agreement(*small["agreement"])
    assert "(4 paraphrases each): 1 model. Items are sorted by their median. " in said
    one = {"study": "s", "item": ["i"], "text": "t", "family": "causal", "normalised_sd_mean": 0.5, "n_models": 1}
    said = captions.caption_item_stability(pd.DataFrame(one))
    assert "the model's largest such SD. No standard error: one model. 1 would be the least stable item of the" in said
    assert said.startswith("The one item. ")
    twice = [pd.concat([part, part.assign(condition="other")]) for part in frames["agreement"]]
    assert "a column each: 2 models, each in 2 conditions (4 combinations)." in captions.caption_agreement(*twice)


def test_every_model_has_the_items_in_one_order_by_their_median(tmp_path):
    distribution, items = tables_of(tmp_path / "run", ["one", "two", "three"], 12, names=["agreement"])["agreement"]
    axes = plots.draw_agreement(distribution, items).axes[0]
    cells = distribution.pivot(index="item", columns="model", values="median")
    order = cells.median(axis=1).sort_values(kind="stable").index
    np.testing.assert_array_equal(np.asarray(axes.images[0].get_array()), cells.loc[order, ["one", "three", "two"]])
    assert texts(axes, "column") == ["one", "three", "two"]
    assert axes.images[0].get_clim() == (0, 1) and axes.images[0].get_cmap().name == "PuOr"
    named = items.drop_duplicates("item").set_index("item")["text"].loc[order]
    assert [row[:20] for row in texts(axes, "row")] in ([text[:20] for text in named], list(order))


def test_a_dot_says_that_the_wording_decides(tmp_path):
    frames = tables_of(tmp_path / "run", ["one"], 8, names=["agreement"])["agreement"]
    distribution = frames[0].assign(q25=0.6, median=np.linspace(0.1, 0.9, 8), q75=0.9)
    distribution.loc[3, "q25"] = 0.4
    axes = plots.draw_agreement(distribution, frames[1]).axes[0]
    assert {row for row, _ in marks(axes)} == {3.0}


def test_a_study_without_a_number_has_no_figure(tmp_path):
    frame = random_frame(["m"], items=2, paraphrases=2)
    run = write_run(tmp_path / "run", frame[frame["variant"] == "original"])
    frames = Frames(runs.open_runs(run), {"resamples": 0})
    assert list(build_validity_frames(frames)) == []
    assert list(build_item_stability_frames(frames)) == []


def test_captions_have_short_sentences(frames):
    said = [getattr(captions, f"caption_{name}")(*parts) for name, parts in frames.items() if not parts[0].empty]
    assert too_long(*said) == []


@pytest.mark.filterwarnings("error::FutureWarning")
def test_a_cell_without_an_answer_has_no_dot(tmp_path):
    distribution, items = tables_of(tmp_path / "run", ["one", "two"], 4, names=["agreement"])["agreement"]
    distribution = distribution.assign(q25=0.4, median=0.55, q75=0.6).drop(index=1)
    axes = plots.draw_agreement(distribution, items).axes[0]
    assert len(marks(axes)) == 7


def test_one_answer_per_wording_is_drawn_as_a_share(tmp_path):
    distribution, items = tables_of(tmp_path / "run", ["one"], 2, names=["agreement"])["agreement"]
    items = items.assign(agreement_min=0.0, agreement_max=1.0, agreement_mean=[0.25, 0.75])
    distribution = distribution.assign(q25=0.0, median=1.0, q75=1.0)
    axes = plots.draw_agreement(distribution, items).axes[0]
    assert np.asarray(axes.images[0].get_array()).ravel().tolist() == [0.25, 0.75]
    assert "the share of wordings that agree" in captions.caption_agreement(distribution, items)


def test_of_many_items_those_nearest_to_a_flip_are_drawn(tmp_path):
    distribution, items = tables_of(tmp_path / "run", ["m"], 80, names=["agreement"])["agreement"]
    distribution = distribution.assign(median=np.linspace(0, 1, 80))
    values = np.asarray(plots.draw_agreement(distribution, items).axes[0].images[0].get_array()).ravel()
    np.testing.assert_allclose(values, np.linspace(0, 1, 80)[10:70])
    assert "Shown: the 60 nearest to 0.5 of 80 items; the table has all." in captions.caption_agreement(
        distribution, items
    )


def test_a_pair_that_is_not_compared_is_hatched_and_every_pair_is_drawn_once(tmp_path):
    frame = tables_of(tmp_path / "run", list("abcdefg"), 5, names=["differences"])["differences"][0]
    frame = frame[~((frame["a_model"] == "a") & (frame["b_model"] == "b"))]
    axes = plots.draw_differences(frame).axes[0]
    drawn = np.ma.filled(np.ma.masked_invalid(axes.images[0].get_array()), np.nan)
    assert np.isnan(drawn[np.triu_indices(7)]).all()
    assert np.isfinite(drawn).sum() == 20
    (hatched,) = [patch for patch in axes.patches if patch.get_hatch()]
    names = texts(axes, "row")
    corner = hatched.get_path().vertices[0]
    assert {names[round(corner[0] + 0.5)], names[round(corner[1] + 0.5)]} == {"a", "b"}
    assert "Hatched: not compared." in captions.caption_differences(frame)


@pytest.mark.parametrize("models", [SIDE, SIDE + 1])
def test_models_that_do_not_fit_a_triangle_are_a_list_of_the_largest_differences(models):
    frame = pd.DataFrame(
        [
            {"study": "s", "measure": "flip_10", "a_model": f"m{i}", "a_condition": "c", "b_model": f"m{j}",
             "b_condition": "c", "difference": (j * 37 + i * 11) % 97 / 97 - 0.5, "n_items": 9, "p_holm": 0.2,
             "no_interval": None}
            for j in range(models) for i in range(j)
        ]
    )  # fmt: skip
    frame = frame.assign(lower=frame["difference"] - 0.1, upper=frame["difference"] + 0.1)
    caption = captions.caption_differences(frame)
    for width in plotting.WIDTHS.values():
        figure = plots.draw_differences(frame, width=width)
        check_figure(figure)
        axes = figure.axes[0]
        if models <= SIDE:
            assert len(axes.images) == 1
            continue
        drawn = sorted(
            x for dots in axes.collections if isinstance(dots, PathCollection) for x, _ in dots.get_offsets()
        )
        assert len(texts(axes, "row")) == len(drawn) == panels.ROWS
        largest = frame["difference"].iloc[frame["difference"].abs().argsort(kind="stable")[::-1][: panels.ROWS]]
        np.testing.assert_allclose(np.abs(drawn).min(), largest.abs().min())
        np.testing.assert_allclose(drawn[-1], largest.max())
    said = f"Shown: the {panels.ROWS} largest differences, of either sign, of {len(frame)} pairs; the table has all."
    assert (said in caption, "chosen for their size" in caption) == (models > SIDE,) * 2


def test_of_many_rows_both_ends_are_drawn(small):
    few = small["overview"][0]
    many = pd.concat([few.assign(condition=f"c{i}", range_mean=i / 300) for i in range(300)])
    for width in plotting.WIDTHS.values():
        figure = plots.draw_overview(many, width=width)
        check_figure(figure)
        assert len(texts(figure.axes[0], "row")) == panels.ROWS
    assert "Shown: the 24 first and last of 300 rows; the table has all." in captions.caption_overview(many)


def test_many_models_and_conditions_are_drawn_in_bounds(small):
    distribution, items = small["agreement"]
    distribution, items = (
        pd.concat([part.assign(condition=f"condition-{i}") for i in range(300)]) for part in (distribution, items)
    )
    for figure in (plots.draw_agreement(distribution, items, width=plotting.COLUMN), plots.draw_validity(items)):
        check_figure(figure)
        assert len(texts(figure.axes[0], "column")) == MOST_COLUMNS


def test_a_model_keeps_its_colour():
    all_models = plotting.assign_look_to_each_model(["c", "a", "b", *map(str, range(20))])
    assert all_models == plotting.assign_look_to_each_model([*map(str, range(20)), "b", "c", "a"])
    assert len(set(all_models.values())) == 23
    assert not {look.colour for look in all_models.values()} - set(plotting.OKABE_ITO)


def test_a_text_that_the_font_lacks_is_named_by_its_item_without_a_warning(tmp_path):
    frame = random_frame(["模型"], items=2, paraphrases=3).assign(text="言い換え")
    run = runs.open_runs(write_run(tmp_path / "run", frame))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plots.draw_item_stability(tables.tabulate_item_sds_averaged_over_models(run))
        plotting.render_svg(figure)
        plotting.render_svg(plots.draw_overview(tables.tabulate_stability(run, resamples=10)))
    assert set(texts(figure.axes[0], "row")) == {"item-01", "item-02"}


def test_a_dollar_is_a_dollar(small):
    figure = plots.draw_item_stability(*small["item_stability"])
    assert all(not text.get_parse_math() for text, _ in shown_texts(figure))


def test_more_items_than_a_page_names_leaves_the_least_stable():
    n = MOST_ITEMS + 10
    frame = pd.DataFrame(
        {"study": "s", "item": [f"i{k}" for k in range(n)], "text": [f"text {k}" for k in range(n)], "family": "causal",
         "normalised_sd_mean": np.linspace(0, 1, n), "normalised_sd_se": 0.1, "n_models": 3}
    )  # fmt: skip
    figure = plots.draw_item_stability(frame)
    names = texts(figure.axes[0], "row")
    assert names[0] == f"text {n - 1}"
    assert len(names) == MOST_ITEMS
    said = captions.caption_item_stability(frame)
    assert said.startswith(f"The {MOST_ITEMS} least stable of {n} items")
    assert "mean over 3 models. Lines: standard error over models. 1 would be" in said  # of one kind, none is alone
    both = pd.concat([frame, frame.assign(family="masked", n_models=1)])
    assert "over models (none where a family has one model)." in captions.caption_item_stability(both)
    pair = both.assign(n_models=1)
    assert "No standard error: one model of each kind." in captions.caption_item_stability(pair)
    assert tabulate_items_least_stable_first(frame)["item"].iloc[0] == f"i{n - 1}"


def test_undefined_figures_are_said_not_drawn(tmp_path):
    frame = random_frame(["one", "two"], items=3, paraphrases=1)
    run = runs.open_runs(write_run(tmp_path / "run", frame))
    figure = plots.draw_overview(tables.tabulate_stability(run, resamples=10))
    assert texts(figure.axes[1], "said") == ["undefined", "undefined"]
    assert not texts(figure.axes[0], "said")


def test_drawing_leaves_no_global_state(small):
    import matplotlib
    from matplotlib import _pylab_helpers

    before = dict(matplotlib.rcParams)
    figure = plots.draw_overview(*small["overview"])
    assert dict(matplotlib.rcParams) == before
    assert not _pylab_helpers.Gcf.figs
    assert figure._repr_svg_().startswith("<svg")
