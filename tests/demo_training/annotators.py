"""Fill the sheets of two made annotators of `--items demo-meaning`: one reads with care, the other does not.

`PYTHONPATH=tests python -m demo_training.annotators` rewrites inference/demo/sheet-careful.csv and sheet-careless.csv.
Both get the same sheet: paraphrases drawn of every statement, decoys among them. Each says what is so, and now and then
the contrary; every vote errs alike.
"""

from __future__ import annotations

import csv
import random
import tempfile
from pathlib import Path

from ground.spreadsheet import write_spreadsheet_csv
from inference.demo import DEMO, SEED
from inference.stimuli import items

ERRORS = {"careful": 0.01, "careless": 0.15}
"""Annotator -> share of the rows that he or she gets wrong."""
PER_ITEM = 15
"""Paraphrases of a statement on the sheets, of 20 or 21, and as many as Haller et al. read."""
