"""Figures: nothing overlaps, nothing is cut, files are small, deterministic and load nothing."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.stability import captions, cases, plots, tables
from analysis.pages.stability.figures import PANELS
from analysis.pages.stability.plots import LISTED, least_stable
from analysis.reporting import labels, plotting
from helpers.figures import check_caption, check_texts
from helpers.synthetic import random_frame, write_run

FIGURES = ("overview", "agreement", "item_stability", "validity", "differences")


def tables_of(path, models, items, paraphrases=4, **kwargs):
    frame = random_frame(models, items=items, paraphrases=paraphrases, **kwargs)
    long = "A statement that is rather long and says several things about " + frame["item"]
    frame["text"] = np.where(frame["variant"] == "original", long + " and costs $5 or $6.", frame["variant"])
    run = runs.open(write_run(path, frame, models={name: {"engine": "masked"} for name in models if "bert" in name}))
    few = {"resamples": 30}
    return {
        "overview": (tables.models(run, **few),),
        "agreement": (cases.distribution(run), tables.items(run), cases.outliers(run)),
        "item_stability": (tables.item_stability(run),),
        "validity": (tables.items(run),),
        "differences": (tables.differences(run, **few),),
    }


SIZES = {
    "one model": (["solo"], 5),
    "seven models": (["org/llama-s", "org/llama-m", "org/llama-l", "org/bert", "a", "b", "c"], 62),
    "twenty models": ([f"organisation-{i % 3}/a-rather-long-model-name-of-{i}b-instruct" for i in range(20)], 10),
    "many items": (["gpt", "bert"], 700),
}


@pytest.fixture(scope="module", params=SIZES, ids=lambda name: name.replace(" ", "-"))
def frames(request, tmp_path_factory):
    models, items = SIZES[request.param]
    return tables_of(tmp_path_factory.mktemp("plots") / "run", models, items, paraphrases=3 if items > 100 else 5)


def drawn(frames, name, **options):
    args = frames[name]
    if name == "agreement":
        args = (next(labels.split(args[0], PANELS)), *args[1:])
    return getattr(plots, name)(*args, **options)


@pytest.fixture(scope="module")
def figures(frames):
    """Every figure in its usual width, drawn once: measured, then written."""
    return {name: drawn(frames, name) for name in FIGURES if not frames[name][0].empty}


@pytest.mark.parametrize("width", [plotting.PAGE, plotting.COLUMN])
@pytest.mark.parametrize("name", FIGURES)
def test_no_text_is_cut_or_overlaps_another(frames, figures, name, width):
    if name not in figures:
        pytest.skip("one model has no differences")
    figure = figures[name] if width == plotting.PAGE else drawn(frames, name, width=width)
    assert figure.get_figwidth() == width
    check_texts(figure)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_fit_a_page(figures, name):
    if name in figures:
        width, height = figures[name].get_size_inches()
        assert width <= 7.0
        assert height <= 9.7


@pytest.mark.parametrize("name", FIGURES)
def test_files_are_small_deterministic_and_load_nothing(request, frames, figures, name, tmp_path):
    if name not in figures:
        pytest.skip("one model has no differences")
    again = drawn(frames, name)
    svg, pdf = (path.read_bytes() for path in plotting.save(figures[name], tmp_path / "a"))
    svg = svg.decode()
    # The drawing is compared in every size as SVG; what a PDF puts around it does not depend on the size.
    if "seven-models" in request.node.name:
        assert [path.read_bytes() for path in plotting.save(again, tmp_path / "b")] == [svg.encode(), pdf]
    else:
        assert plotting.svg(again) == svg
    assert len(svg) < 1_000_000
    assert set(re.findall(r"https?://[^\"]+", svg)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "<text" not in svg
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf


@pytest.mark.parametrize("name", FIGURES)
def test_captions_can_be_read_alone(frames, name):
    if not frames[name][0].empty:
        caption = getattr(captions, name)(*frames[name])
        check_caption(caption)


def test_captions_count_what_is_drawn(tmp_path):
    frames = tables_of(tmp_path / "run", ["one", "two"], 3)
    assert "2 models over 3 items" in captions.overview(*frames["overview"])
    assert "3 items (4 paraphrases each) for 2 models" in captions.agreement(*frames["agreement"])
    assert "1 pair." in captions.differences(*frames["differences"])
    twice = [pd.concat([part, part.assign(condition="other")]) for part in frames["agreement"]]
    assert "for 4 combinations of model and condition, items" in captions.agreement(*twice)


def test_items_are_sorted_by_their_median_and_the_flip_line_is_drawn(tmp_path):
    frames = tables_of(tmp_path / "run", ["m"], 12)
    axes = plots.agreement(*frames["agreement"]).axes[0]
    order = [label.get_text() for label in axes.get_xticklabels()]
    distribution = frames["agreement"][0].set_index("item")["median"]
    assert order == list(distribution.sort_values().index)
    assert any(list(line.get_ydata()) == [0.5, 0.5] for line in axes.lines)


def test_originals_are_drawn_over_their_own_paraphrases(tmp_path):
    frames = tables_of(tmp_path / "run", ["m"], 6)
    axes = plots.agreement(*frames["agreement"]).axes[0]
    order = [label.get_text() for label in axes.get_xticklabels()]
    points = axes.collections[-1].get_offsets()
    original = frames["agreement"][1].set_index("item")["original_agreement"]
    assert {order[int(x)]: round(float(y), 9) for x, y in points} == original.round(9).to_dict()


def test_a_model_keeps_its_colour():
    all_models = plotting.looks(["c", "a", "b", *map(str, range(20))])
    assert all_models == plotting.looks([*map(str, range(20)), "b", "c", "a"])
    assert len(set(all_models.values())) == 23
    assert not {look.colour for look in all_models.values()} - set(plotting.OKABE_ITO)


def test_pages_hold_every_model_once(tmp_path):
    distribution = tables_of(tmp_path / "run", [f"m{i:02d}" for i in range(14)], 2)["agreement"][0]
    parts = list(labels.split(distribution, PANELS))
    assert [part["label"].nunique() for part in parts] == [6, 6, 2]
    assert sorted(label for part in parts for label in part["label"].unique()) == sorted(distribution["model"].unique())


def test_a_text_that_the_font_lacks_is_named_by_its_item_without_a_warning(tmp_path):
    frame = random_frame(["模型"], items=2, paraphrases=3).assign(text="言い換え")
    run = runs.open(write_run(tmp_path / "run", frame))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plots.item_stability(tables.item_stability(run))
        plotting.svg(figure)
        plotting.svg(plots.overview(tables.models(run, resamples=10)))
    assert {label.get_text() for label in figure.axes[0].get_yticklabels()} == {"item-01", "item-02"}


def test_a_dollar_is_a_dollar(tmp_path):
    frames = tables_of(tmp_path / "run", ["m"], 3)
    figure = plots.item_stability(*frames["item_stability"])
    assert all(not label.get_parse_math() for label in figure.axes[0].get_yticklabels())


def test_more_items_than_a_page_names_leaves_the_least_stable():
    n = LISTED + 10
    frame = pd.DataFrame(
        {"study": "s", "item": [f"i{k}" for k in range(n)], "text": [f"text {k}" for k in range(n)], "family": "causal",
         "normalised_sd_mean": np.linspace(0, 1, n), "normalised_sd_se": 0.1, "n_models": 3}
    )  # fmt: skip
    figure = plots.item_stability(frame)
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names[0] == f"text {n - 1}"
    assert len(names) == LISTED
    assert captions.item_stability(frame).startswith(f"The {LISTED} least stable of {n} items")
    assert least_stable(frame)["item"].iloc[0] == f"i{n - 1}"


def test_undefined_figures_are_said_not_drawn(tmp_path):
    frame = random_frame(["one", "two"], items=3, paraphrases=1)
    run = runs.open(write_run(tmp_path / "run", frame))
    figure = plots.overview(tables.models(run, resamples=10))
    assert [text.get_text() for text in figure.axes[1].texts] == ["undefined", "undefined"]
    assert not figure.axes[0].texts


def test_drawing_leaves_no_global_state(tmp_path):
    import matplotlib
    from matplotlib import _pylab_helpers

    before = dict(matplotlib.rcParams)
    figure = plots.overview(*tables_of(tmp_path / "run", ["m"], 3)["overview"])
    assert dict(matplotlib.rcParams) == before
    assert not _pylab_helpers.Gcf.figs
    assert figure._repr_svg_().startswith("<svg")
