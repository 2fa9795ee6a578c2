"""Read the matrix of correlations that Takayama et al. printed (results/published)."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.catalogue.published_numbers import FOLDER

SOURCE = "Takayama et al., Figure 8"


def read_printed_correlations() -> pd.DataFrame:
    """Read the matrix of Figure 8 in long form, in its printed order: measure_a, measure_b, r, source."""
    wide = pd.read_csv(FOLDER / "takayama_figure8.csv").set_index("measure")
    return wide.stack().rename("r").rename_axis(["measure_a", "measure_b"]).reset_index().assign(source=SOURCE)
