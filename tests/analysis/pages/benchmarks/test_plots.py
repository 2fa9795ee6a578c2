"""Figures on benchmarks: what is drawn is what the tables say, and nothing is cut."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.benchmarks import captions, plots, tables
from analysis.pages.benchmarks.catalogue import FIGURES
from analysis.pages.benchmarks.plots import square
from analysis.pages.wording.printed import matrix
from analysis.reporting import plotting
from helpers.figures import check_caption, check_texts
from helpers.wording_runs import write_family

DRAWN = sorted({entry.draw or name for name, entry in FIGURES.items()})


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    values = tables.measured(runs.open(write_family(tmp_path_factory.mktemp("plots") / "run")))
    return {
        "size_overall": values.query("measure == 'overall' and task == 'all'").dropna(subset=["value"]),
        "accuracy_consistency": values.dropna(subset=["value"]),
        "coefficients": matrix(),
    }


@pytest.mark.parametrize("width", [plotting.PAGE, plotting.COLUMN])
@pytest.mark.parametrize("name", DRAWN)
def test_no_text_is_cut_or_overlaps_another(frames, name, width):
    check_texts(getattr(plots, name)(frames[name], width=width))


@pytest.mark.parametrize("name", DRAWN)
def test_captions_can_be_read_alone(frames, name):
    check_caption(getattr(captions, name)(frames[name]))


def test_the_printed_matrix_is_drawn_cell_by_cell():
    table = matrix()
    axes = plots.coefficients(table).axes[0]
    order = [label.get_text() for label in axes.get_yticklabels()]
    assert order == list(dict.fromkeys(table["measure_a"])) == [label.get_text() for label in axes.get_xticklabels()]
    printed = table.pivot(index="measure_a", columns="measure_b", values="r").loc[order, order].to_numpy()
    np.testing.assert_array_equal(np.asarray(axes.images[0].get_array()), printed)
    cells = {text.get_position(): text.get_text() for text in axes.texts}
    assert len(cells) == 121
    assert cells[(8, 6)] == "0.86" and cells[(10, 5)] == "−0.19"


def test_half_a_matrix_is_made_whole():
    frame = pd.DataFrame({"measure_a": ["a", "a", "b"], "measure_b": ["b", "c", "c"], "r": [0.5, np.nan, np.nan]})
    values, order = square(frame)
    assert order == ["a", "b", "c"]
    np.testing.assert_array_equal(values, [[1, 0.5, np.nan], [0.5, 1, np.nan], [np.nan] * 3])
