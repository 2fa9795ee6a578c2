"""Numbers of samples that are read from texts."""

from __future__ import annotations

import pandas as pd

from analysis.measures.readings.kinds import ReadingKind
from analysis.measures.readings.rows import ACCURACY, arrange_sample_numerators_and_denominators


def test_a_text_without_an_answer_is_no_hit_where_no_option_is_right():
    """It was one, so that the share of right answers could be above 1."""
    kind = ReadingKind("strict rule", "c", "sample_answer", "c")
    rows = pd.DataFrame({"sample_answer": [["A", None]] * 2, "options": [["A", "B"]] * 2, "place": [0, -1]})
    hits, valid = arrange_sample_numerators_and_denominators(rows, kind, ACCURACY, None)
    assert hits.tolist() == [[1, 0], [0, 0]]
    assert valid.tolist() == [[1, 0], [1, 0]]
