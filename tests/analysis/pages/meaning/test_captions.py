"""The captions of the page, from hand-made tables."""

from __future__ import annotations

import pandas as pd

from analysis.pages.meaning.captions import caption_meaning_curves


def test_a_model_in_two_settings_is_one_model():
    rows = pd.DataFrame({"model": "m", "label": ["m · a", "m · b"], "measure": "flips", "check": "words", "total": 2})
    assert caption_meaning_curves(rows).startswith("Flips of 1 model, ")
