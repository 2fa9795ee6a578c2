"""The first screen is short in its worst case, too: long words, two languages, several tasks and settings, two days."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from analysis.pages.wording import captions, narrative
from analysis.pages.wording.columns import WORDS
from analysis.reporting.output import notebooks
from analysis.reporting.words import phrase_run_dates
from analysis.runs.folder import ORIGINAL

MODELS, LANGUAGES = [f"model-{i}" for i in range(12)], ("en", "ja")
DAYS = [{"started": "2026-11-22"}, {"started": "2027-01-03"}]
# Consistency of every kind of wording with its interval, and of the lowest and the highest model.
CASES = {
    "These runs cannot tell": (0.82, 0.7, 0.9),
    "Mostly": (0.93, 0.9, 0.94),
    "Not reliably": (0.33, 0.3, 0.36),
    "Yes, nearly always": (0.97, 0.96, 0.98),
}


def tables(share, apart, tasks):
    names = ("consistency", "consistency_lower", "consistency_upper")
    means = [dict(zip(names, share, strict=True)) | {"pattern": kind, "language": language}
             for kind, language in product(WORDS, LANGUAGES)]  # fmt: skip
    rows = [
        {"study": f"s{task}", "model": model, "condition": condition, "language": language, "task": task, "pattern": p,
         "n": 1000, "n_items": 1000, "consistency": end, "consistency_lower": end - 0.01,
         "consistency_upper": end + 0.01}
        for model, end in zip(MODELS, [0.12, 0.98] * 6 if apart else [share[0]] * 12, strict=True)
        for condition, language, task, p in product(("chat", "plain"), LANGUAGES, tasks, (ORIGINAL, *WORDS))
    ]  # fmt: skip
    return pd.DataFrame(means), pd.DataFrame(rows)


@pytest.mark.parametrize("begin", CASES)
@pytest.mark.parametrize("tasks", [("a",), ("a", "b"), tuple("abcdef")])
@pytest.mark.parametrize("apart", [True, False])
def test_the_first_screen_has_at_most_60_words(begin, tasks, apart):
    means, table = tables(CASES[begin], apart, tasks)
    setups = []
    for engine in ("import", "local"):
        made = phrase_run_dates({"models": {name: {"engine": engine} for name in MODELS}, "sessions": DAYS})
        setups.append(narrative._describe_asked_models_questions_and_tasks(table, made))
    asked = max(setups, key=lambda setup: len(setup.split()))
    title = notebooks.read_notebook_question(Path(notebooks.FOLDER) / "wording.ipynb")
    for pattern, language in product(WORDS, LANGUAGES):
        lowest = means["pattern"].eq(pattern) & means["language"].eq(language)
        shown = means.assign(consistency=means["consistency"] - 0.001 * lowest)
        verdict = narrative._describe_verdict_with_weakest_pattern(shown, table)
        assert verdict.startswith(f"{begin}: with {WORDS[pattern]} in ")
        assert ("by model and " in verdict) == apart
        assert max(len(asked.split()), len(verdict.split())) <= 30
        assert len(f"{title} {asked} {verdict}".split()) <= 60, f"{title} {asked} {verdict}"


def test_the_first_caption_counts_the_rows_and_says_what_the_same_means_for_antonyms():
    rows = tables(CASES["Mostly"], True, ("a",))[1].assign(n=100, silent=False)
    caption = captions.caption_consistency(rows[rows["language"] == "en"])
    assert "12 models, each in 2 conditions (24 combinations): share of pairs" in caption
    assert " A row has 100 pairs of questions. " in caption
    assert " To antonyms, the opposite answer means the same. " in caption
    assert "antonyms" not in captions.caption_consistency(rows[rows["pattern"] != "antonym"])


def test_two_tasks_are_named_and_more_are_counted():
    asked = [
        narrative._describe_asked_models_questions_and_tasks(tables(CASES["Mostly"], True, tasks)[1], "")
        for tasks in (("a",), ("a", "b"))
    ]
    assert asked == [
        "12 models were asked 2,000 yes/no questions of “a” (English) and “a” (Japanese), also reworded.",
        "12 models were asked 4,000 yes/no questions of 4 tasks, also reworded.",
    ]


def test_no_widened_interval_of_a_change_goes_beyond_100_points():
    """A change of +90.9 points had an interval of +37.0 to +101.3."""
    rows = pd.DataFrame([
        {"model": model, "label": model, "condition": "chat", "task": "a", "pattern": "agreement", "diff_yes": change,
         "diff_yes_lower": change - 0.4, "diff_yes_upper": min(change + 0.08, 1.0)}
        for model, change in (("m0", 0.909), ("m1", 0.1))
    ])  # fmt: skip
    (said,) = narrative._describe_largest_yes_change(rows, "In Japanese, ")
    assert said.startswith("In Japanese, the largest change with agreement-seeking wording is that of m0: ")
    assert said.endswith("to +100.0).")


def test_means_over_models_are_in_the_family_of_holm_and_are_not_counted():
    """By 16 comparisons alone one could differ; with the means over models, which are corrected too, none could."""
    rows = pd.DataFrame({"model": ["m"] * 16 + [""] * 16, "measure": "consistency", "difference": 0.1, "p_holm": 1.0,
                         "p_least": 2 / 1001})  # fmt: skip
    average, could_not = narrative._describe_mean_consistency_change("It changes by", rows)
    assert could_not.startswith("32 pairs compared: no difference could be shown.")
    assert average == "It changes by +10.0 points on average."
    _, counts = narrative._describe_mean_consistency_change("It changes by", rows.assign(p_least=1e-4))
    assert counts.startswith("It is clearly higher in none and clearly lower in none of 16 comparisons")
    untested = rows.assign(p_holm=float("nan"), p_least=float("nan"))
    assert list(narrative._describe_mean_consistency_change("It changes by", untested)) == [average]
    few_tested = rows.assign(p_least=1e-4, p_holm=[0.01] * 3 + [float("nan")] * 13 + [1.0] * 16)
    _, counts = narrative._describe_mean_consistency_change("It changes by", few_tested)
    assert counts.startswith("It is clearly higher in 3 and clearly lower in none of 3 comparisons with a test (")
    means_tested = rows.assign(p_least=1e-4, p_holm=[float("nan")] * 16 + [1.0] * 16)
    assert list(narrative._describe_mean_consistency_change("It changes by", means_tested)) == [average]


def test_shifts_are_averaged_over_the_comparisons_that_are_counted():
    """The mean was said to be that of all rows: those with too few pairs for a test are not in it."""
    rows = pd.DataFrame({
        "study": "s", "model": ["m", "n", "o"], "condition": "c", "language": "en", "task": "t", "pattern": "agreement",
        "band_p_holm": [0.01, 0.9, float("nan")], "p_least": [0.001, 0.001, float("nan")],
        "band_difference": [0.2, 0.1, 0.5], "shift_band": [0.3, 0.1, 0.9], "shift_outside": [0.1, 0.0, 0.4],
    })  # fmt: skip
    average, counts = narrative._describe_acquiescence_by_answer_certainty(rows, rows)
    assert "shifts it by +20.0 points on average over 2 comparisons with a test, and elsewhere by +5.0." in average
    assert "is clearly larger in 1 of these, clearly smaller in none" in counts
