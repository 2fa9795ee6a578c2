"""The captions of the figures on changes over time hold for all models that are drawn."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.pages.drift.captions import caption_drift_series


@pytest.mark.parametrize(
    ("times", "wordings", "said"),
    [
        (["T1", "T2", "T3"], "fresh each time", "at 3 looks, T1 to T3; wordings are fresh each time."),
        (["T2", "T3"], "the same each time",
         "at 2 to 3 looks, with each model at times of its own; wordings are fresh each time or the same each time."),
    ],
)  # fmt: skip
def test_times_and_wordings_are_those_of_all_models(times, wordings, said):
    frame = pd.concat([
        pd.DataFrame({"label": label, "time": model_times, "look": range(1, len(model_times) + 1), "wordings": words})
        for label, model_times, words in [("a", ["T1", "T2", "T3"], "fresh each time"), ("b", times, wordings)]
    ]).assign(
        measure="agreement", n_items=62, found="no change found", total=2,
        value_lower=0.4, value_upper=0.6, like_lower=0.3, like_upper=0.7,
    )  # fmt: skip
    assert said in caption_drift_series(frame)
