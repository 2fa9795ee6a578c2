"""False alarms and changes noticed on one stream of fresh wordings: of Waver, and of a G-test per question.

The stream is real: waver-demo-large is asked the 34 statements of its questionnaire in 65 wordings each. Every week,
each statement is asked ten times, and for a year of 50 weeks nothing changes. In other years, another model stands
under the same name from a week on: waver-demo-medium.

The G-test is that of driftline (0.1, MIT), by its documentation: answers to each question are counted, and each is
tested against the baseline's (likelihood ratio, chi-squared); Benjamini-Hochberg over questions at .05; and no change of
a distribution below .15 (total variation) is one. driftline itself is in no registry that this was written with, so
`find_drifted_questions` is the rule alone, without its store, its server's names of models, and its control chart, which
raises no alarm. A question has one prompt there, which may not change; so there are two ways to use it with wordings:

- *one wording*: a week's wording of a question, ten times, as behind a gateway that rewords, or a template with a date;
- *ten wordings*: each once, counted together.

    .venv/bin/python tests/benchmarks/bench_driftline.py
    .venv/bin/python tests/benchmarks/bench_driftline.py --years 400
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy
from scipy.stats import chi2, false_discovery_control

sys.path.insert(0, str(Path(__file__).parents[2]))

from analysis.measures.reworded.agreements import read_studies
from analysis.runs import open_runs
from inference.__main__ import main as ask

MODELS = Path(__file__).parents[2] / "inference" / "demo" / "models"
BEFORE, AFTER = "waver-demo-large", "waver-demo-medium"
ASKED, WEEKS, CHANGED = 10, 50, 20  # answers to a question each week; weeks; the week with another model
RATE, LEAST = 0.05, 0.15  # driftline's default rate of false discoveries, and least total variation
Array = npt.NDArray[np.float64]
