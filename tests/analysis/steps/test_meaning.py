"""The plain steps give the numbers of the tables, whatever the protocol."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.measures.beside_original import tabulate_answers_beside_original
from analysis.measures.meaning import read_meaning_scores, read_verdicts_on_wordings
from analysis.reporting.catalogue.tables import build_table
from analysis.statistics.reliability.at_k import compute_expected_range_with_k
from analysis.steps.checking import compare_tables
from analysis.steps.meaning import (
    compute_mean_range_of_k_draws,
    rate_checks_on_wordings_and_decoys,
    summarize_flips_by_meaning_of_wordings,
)
from helpers import choice_runs, scale_runs, wording_runs
from helpers.meaning_runs import add_meaning, draw_flips, draw_meaning, write_meaning, write_meaning_run
from helpers.synthetic import paraphrases, write_run

TOLERANCE = 1e-12
WRITERS = {
    "agreement": lambda path: write_meaning_run(path, ["a", "b"], items=6, paraphrases=8),
    "no verdicts": lambda path: write_meaning_run(path, items=6, checks={"sheet": 0, "shifts": {"words": 0.0}}),
    "choice": lambda path: choice_runs.write_choice(path, choice_runs.answers(choice_runs.questions(10, 3), ["m"])),
    "wording": lambda path: wording_runs.write_wording(path, wording_runs.random_rows(["m"], items=20)),
    "scale": scale_runs.write_full,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_steps_and_tables_agree(tmp_path, name):
    folder = WRITERS[name](tmp_path / "run")
    if not (folder / "meaning.parquet").exists():
        add_meaning(folder, every_variant=name != "choice")
    opened = runs.open_runs(folder)
    scores, answers = read_meaning_scores(opened), tabulate_answers_beside_original(opened)
    checks = compare_tables(
        build_table("meaning_checks", opened), rate_checks_on_wordings_and_decoys(scores), ["study", "check"], TOLERANCE
    )
    assert not checks.differs, checks.describe()
    table = build_table("meaning_flips", opened, resamples=0)
    on = ["study", "model", "condition", "wordings"]
    flips = compare_tables(
        table, summarize_flips_by_meaning_of_wordings(answers, read_verdicts_on_wordings(opened)), on, TOLERANCE
    )
    assert not flips.differs, flips.describe()


@pytest.mark.slow
def test_a_model_without_an_answer_that_counts_has_the_rows_of_the_table(tmp_path):
    frame = draw_flips(["a", "b"], items=3, paraphrases=4)
    frame.loc[(frame["model"] == "b") & (frame["variant"] != "original"), "agreement"] = np.nan
    folder = write_run(tmp_path / "run", frame.drop(columns="same"))
    wordings = frame[frame["variant"] != "original"].drop_duplicates(["item", "variant"])
    write_meaning(folder, draw_meaning(wordings[["item", "variant", "text", "same"]]))
    opened = runs.open_runs(folder)
    flips = summarize_flips_by_meaning_of_wordings(
        tabulate_answers_beside_original(opened), read_verdicts_on_wordings(opened)
    )
    assert flips.loc[flips["model"] == "b", "n_items"].tolist() == [0, 0]
    on = ["study", "model", "condition", "wordings"]
    assert not compare_tables(build_table("meaning_flips", opened, resamples=0), flips, on).differs


@pytest.mark.slow
def test_without_originals_and_with_people_alone_there_is_nothing_to_compare(tmp_path):
    folder = write_run(tmp_path / "run", paraphrases({"x": [0.4, 0.6]}))
    votes = pd.DataFrame([{"item": "x", "variant": "p1", "check": "people:ann", "score": 1.0}])
    write_meaning(folder, votes)
    opened = runs.open_runs(folder)
    flips = summarize_flips_by_meaning_of_wordings(
        tabulate_answers_beside_original(opened), read_verdicts_on_wordings(opened)
    )
    rates = rate_checks_on_wordings_and_decoys(read_meaning_scores(opened))
    for table, numbers, on in (
        ("meaning_flips", flips, ["study", "model", "condition", "wordings"]),
        ("meaning_checks", rates, ["study", "check"]),
    ):
        assert compare_tables(build_table(table, opened), numbers, on).describe() == "There was nothing to compare."


def test_decoys_that_stand_in_falling_order_have_a_threshold():
    """pandas leaves the index of a column as it was where there is nothing to sort."""
    scores = pd.DataFrame({"study": "s", "check": "words", "item": "x", "text": list("abcd"), "source": None,
                           "score": [0.9, 0.8, 0.5, 0.2], "decoy": [None, None, "negated", "negated"]})  # fmt: skip
    (rates,) = rate_checks_on_wordings_and_decoys(scores).to_dict("records")
    assert (rates["passed_share"], rates["decoy_share"]) == (1.0, 0.0)


def test_the_expected_range_is_that_of_all_draws():
    values = np.random.default_rng(0).random(40)
    for k in (2, 7, 40):
        assert compute_mean_range_of_k_draws(values, k) == pytest.approx(
            float(compute_expected_range_with_k(values[None], k)[0]), abs=TOLERANCE
        )
    assert np.isnan(compute_mean_range_of_k_draws(values, 41))
