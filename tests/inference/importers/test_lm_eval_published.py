"""Every accuracy that real results files of lm-eval state is that of the imported rows, to the last digit."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from analysis import runs
from analysis.pages.choice import tables as choice_tables
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from inference.__main__ import main
from inference.importers.lm_eval.judgements import READINGS

LOGS = Path(__file__).parents[4] / "shared" / "data" / "eval-logs" / "lm-eval"
MMLU = [LOGS / f"lm_eval_mmlu_{shots}shot" for shots in (0, 5)]
pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="../shared is not here")


@pytest.fixture(scope="module", params=["choice", "right or wrong"])
def mmlu(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mmlu") / "run"
    words = ["--right-or-wrong"] if request.param == "right or wrong" else []
    assert main(["import", "lm-eval", *map(str, MMLU), "--out", str(folder), *words]) == 0
    return folder


def rows_of(folder):
    """All rows with their stimuli, and whether the answer is the right one."""
    stimuli = pd.read_parquet(folder / "stimuli.parquet")
    parts = pd.concat([pd.read_parquet(part) for part in (folder / "responses").glob("*.parquet")])
    rows = parts.merge(stimuli, on=["study", "item", "variant"])
    attributes = [dict(pairs) for pairs in rows["attributes"]]
    rows["task"] = [pairs["subset"] for pairs in attributes]
    rows["wording"] = [pairs["template"] for pairs in attributes]
    meant = zip(rows["options"], rows["canonical"], rows["answer"], rows["gold"], strict=True)
    rows["right"] = [dict(zip(shown, own, strict=True))[answer] == gold for shown, own, answer, gold in meant]
    return rows


def stated(folder):
    """Every accuracy of a results file: (task, reading, shots) -> value."""
    (path,) = folder.rglob("results_*.json")
    said = json.loads(path.read_text(encoding="utf-8"))
    return {
        (task, metric.partition(",")[0], said["n-shot"][task]): value
        for task, metrics in said["results"].items()
        for metric, value in metrics.items()
        if metric.partition(",")[0] in READINGS
    }


@pytest.mark.slow
def test_accuracies_of_zero_and_five_shots_are_those_that_the_files_state(mmlu):
    rows = rows_of(mmlu)
    expected = {key: value for folder in MMLU for key, value in stated(folder).items()}
    assert len(expected) == 8 and len(rows) == 800 and rows["item"].nunique() == 400
    for (task, metric, shots), accuracy in expected.items():
        reading = rows["condition"] == "chat" if metric == "acc" else rows["condition"].str.endswith(READINGS[metric])
        own = rows[reading & (rows["task"] == task) & (rows["wording"] == f"{shots}-shot")]
        assert len(own) == 100 and own["right"].mean() == accuracy, (task, metric, shots)


@pytest.mark.slow
def test_both_numbers_of_shots_are_wordings_of_one_item_on_the_pages(mmlu):
    """The pages' accuracies are the means of those that the files state."""
    by_shots = {shots: [v for (_, _, n), v in stated(MMLU[shots == 5]).items() if n == shots] for shots in (0, 5)}
    expected = [sum(values) / len(values) for values in by_shots.values()]
    found = runs.open_runs(mmlu)
    if found.info["studies"]["run"]["protocol"] == "choice":
        table = choice_tables.tabulate_choice_accuracy_by_wording(found, resamples=0)
        ours = table[(table["subset"] == "all") & (table["study"] == "run")].set_index("wording")["accuracy"]
        assert ours.loc[["0-shot", "5-shot"]].tolist() == pytest.approx(expected, abs=1e-12)
    else:
        study = next(study for study in read_reworded_studies(found) if study.measure == "accuracy")
        assert study.crossed and study.wordings == ["0-shot", "5-shot"]
        assert study.values.mean(axis=(0, 1)).tolist() == pytest.approx(expected, abs=1e-12)


def test_the_sample_of_a_generation_task_has_the_accuracy_that_its_file_states(tmp_path, capsys):
    (samples,) = LOGS.glob("samples_math_perturbed_full_*.jsonl")
    assert main(["import", "lm-eval", str(samples), "--out", str(tmp_path / "run")]) == 0
    rows = rows_of(tmp_path / "run")
    said = json.loads(next(LOGS.glob("results_*.json")).read_text(encoding="utf-8"))
    assert rows["right"].mean() == said["results"]["math_perturbed_full"]["exact_match,none"] == 0.0
    assert len(rows) == 10 and "10 samples, where its results file counts 5,000" in capsys.readouterr().out
