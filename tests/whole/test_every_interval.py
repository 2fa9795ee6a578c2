"""All tables of the demo and of other people's answers: every interval holds its estimate and is possible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.reporting.catalogue import list_tables, tables
from ground.errors import InputError
from helpers.commands import waver
from helpers.intervals import list_faults, possible_range
from waver import open as open_run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "results" / "demo"
# Their rows are other people's printed numbers, or texts.
VALUES = ("--model-column", "model", "--item-column", "pct_id", "--variant-column", "templ_id", "--text-column",
          "full_prompt", "--completion-column", "completion", "--options", "agree=agree;disagree=disagree",
          "--language", "en")  # fmt: skip
MORAL = ("--model-column", "model_id", "--item-column", "scenario_id", "--variant-column", "question_ordering",
         "--text-column", "question_text", "--answer-column", "decision",
         "--options", "action1=action1;action2=action2")  # fmt: skip


def faults_of_tables(folder: Path) -> list[str]:
    """Compute every table that a run has, and list what is wrong with their intervals."""
    run = open_run(folder)
    faults, computed = [], []
    options = {"resamples": "100"}  # of 10,000: enough to find an interval that its estimate is outside of
    for name in run.tables():
        taken = tables.list_table_options(name)
        try:
            frame = run.table(name, **{key: value for key, value in options.items() if key in taken})
        except InputError:
            continue  # these runs have no such table
        computed.append(name)
        faults += list_faults(name, frame)
    assert "wording_precision" in computed or "template_reliability" in computed
    return faults


def test_the_faults_are_seen():
    """Of a table as it is printed: one estimate outside, an interval beyond 1, an endless one, half of one."""
    frame = pd.DataFrame({
        "measure": ["agreement", "logit", "agreement"], "mean": [0.5, 3.0, 0.9], "mean_lower": [0.4, 2.0, 0.8],
        "mean_upper": [0.6, 4.0, 0.95], "like_lower": [0.3, 1.0, 0.7], "like_upper": [0.7, 5.0, 1.0],
        "widening": [1.1, 1.2, np.nan], "widening_lower": [1.0, 1.1, np.nan], "widening_upper": [1.3, 1.4, np.nan],
    })  # fmt: skip
    assert list_faults("wording_precision", frame) == []
    for column, row, value, says in [
        ("mean", 0, 0.39, "1 of 3 estimates are outside"), ("like_upper", 2, 1.01, "leave the possible range"),
        ("widening", 1, 1.45, "1 of 2 estimates"), ("widening_upper", 0, np.inf, "infinite"),
        ("widening_lower", 0, 0.99, "leave the possible range"), ("mean_lower", 1, np.nan, "half an interval"),
    ]:  # fmt: skip
        damaged = frame.copy()
        damaged.loc[row, column] = value
        assert any(says in fault for fault in list_faults("wording_precision", damaged)), (column, says)


@pytest.mark.parametrize(("unit", "measure", "difference", "ends"), [
    ("share of items, 0 to 1", "", False, (0, 1)), ("difference of shares, -1 to 1", "", True, (-1, 1)),
    ("up to 1", "", False, (-np.inf, 1)), ("ratio, from 1", "", False, (1, np.inf)),
    ("unit of the measure", "accuracy", True, (-1, 1)), ("unit of the measure", "logit", True, (-np.inf, np.inf)),
])  # fmt: skip
def test_units_say_what_is_possible(unit, measure, difference, ends):
    assert possible_range(unit, measure, difference) == ends


@pytest.mark.skipif(not (DEMO / "report" / "index.html").is_file(), reason="`make report` has not made the demo's")
def test_the_demo():
    """The tables that its two reports wrote, all digits: to compute them again takes most of a minute."""
    files = [folder / "tables" / f"{name}.csv" for folder in (DEMO / "report", DEMO / "weekly" / "report")
             for name in list_tables()]  # fmt: skip
    written = [file for file in files if file.is_file()]
    assert {"wording_precision", "stability", "drift_changes"} <= {file.stem for file in written}
    assert len(written) > 100
    assert [fault for file in written for fault in list_faults(file.stem, pd.read_csv(file))] == []


@pytest.mark.parametrize(("name", "pattern", "columns"), [
    ("llm-values-pct", "explicit-paraphrase/*.csv", VALUES),
    ("moralchoice", "responses-high/[lt][ao][n]*.csv", MORAL),
])  # fmt: skip
def test_answers_of_others(name, pattern, columns, tmp_path, shared):
    files = sorted((shared / name).glob(pattern))
    if not files:
        pytest.skip(f"needs {name} in shared/data")
    # A third of the models: all take the same way.
    waver("inference", "import", "table", *files[::3], *columns, "--out", tmp_path / "run")
    assert faults_of_tables(tmp_path / "run") == []


def test_accuracies_of_others(tmp_path, shared):
    file = shared / "noreval" / "accuracy_by_template.csv"
    if not file.is_file():
        pytest.skip("needs noreval in shared/data")
    accuracies = pd.read_csv(file)
    chosen = sorted(set(accuracies["model"]))[::5]  # 1,600 rows about pairs of all of them take ten seconds
    accuracies[accuracies["model"].isin(chosen)].to_csv(tmp_path / "some.csv", index=False)
    waver("inference", "import", "accuracies", tmp_path / "some.csv", "--condition-column", "shots", "--language", "no",
          "--out", tmp_path / "run")  # fmt: skip
    assert faults_of_tables(tmp_path / "run") == []
