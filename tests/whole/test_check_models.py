"""A gate on real models: another name, dtype or batch size breaks no rule, a worse or a disturbed model does.

tests/real_vllm/test_vllm_check.py does the same with the engine `vllm`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.checked_models import (
    LARGE,
    MINI,
    SAME_ANSWERS,
    STUDIES,
    ask_study,
    check_run,
    compare_runs,
    disturb_weights,
    save_baseline,
)

pytestmark = pytest.mark.slow
pytest.importorskip("torch")


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Path:
    """A folder with the run of the released model by each study, and its baseline."""
    folder = tmp_path_factory.mktemp("released")
    for study in STUDIES:
        ask_study(study, folder / study, LARGE, "--dtype", "float32")
        save_baseline(folder / study, folder / f"{study}-baseline")
    return folder


@pytest.mark.parametrize("study", STUDIES)
def test_the_same_model_in_bfloat16_and_other_batches_by_another_name_breaks_no_rule(released, tmp_path, study):
    ask_study(study, tmp_path / "run", LARGE, "--dtype", "bfloat16", "--batch-size", "8", name="renamed")
    for wordings in ("these", "like these"):
        status, decisions = check_run(tmp_path / "run", released / f"{study}-baseline", study, wordings)
        assert status == 0, decisions
        assert "broken" not in decisions.values(), decisions
        # 150 items without a change show it; the 34 of the other study never could: .95 ** 34 is .17.
        assert decisions[SAME_ANSWERS] == ("holds" if study == "choice" else "cannot tell")


def test_a_smaller_model_breaks_rules_of_choices_for_these_and_for_such_wordings(released, tmp_path):
    ask_study("choice", tmp_path / "run", MINI, "--dtype", "float32")
    for wordings in ("these", "like these"):
        status, decisions = check_run(tmp_path / "run", released / "choice-baseline", "choice", wordings)
        assert status == 3
        assert decisions["not worse in accuracy"] == decisions[SAME_ANSWERS] == "broken", decisions


def test_a_smaller_model_breaks_the_rule_on_answers_to_statements(released, tmp_path):
    ask_study("agreement", tmp_path / "run", MINI, "--dtype", "float32")
    status, decisions = check_run(tmp_path / "run", released / "agreement-baseline", "agreement", "these")
    assert (status, decisions[SAME_ANSWERS]) == (3, "broken"), decisions


@pytest.mark.parametrize("study", STUDIES)
def test_a_model_with_disturbed_weights_breaks_what_a_direct_comparison_shows(released, tmp_path, study):
    disturb_weights(LARGE, tmp_path / "model", share=0.05)
    ask_study(study, tmp_path / "run", tmp_path / "model", "--dtype", "float32")
    differing, beyond = set(), set()  # measures that are worse, and by more than the default margin of .02
    for row in compare_runs(released / study, tmp_path / "run"):
        worse = row["verdict"] == ("B is higher" if row["lower_is_better"] else "A is higher")
        if row["measure"] in STUDIES[study][1] and worse:
            differing.add(row["measure"])
            if max(-row["upper"], row["lower"]) > 0.02:  # ends of the 95 % interval of A, the released one, less B
                beyond.add(row["measure"])
    status, decisions = check_run(tmp_path / "run", released / f"{study}-baseline", study, "these")
    broken = {rule.removeprefix("not worse in ") for rule in decisions if decisions[rule] == "broken"}
    assert status == 3
    assert beyond, differing
    assert beyond <= broken - {SAME_ANSWERS} <= differing
    assert decisions[SAME_ANSWERS] == "broken"


def test_draws_from_one_table_are_read_apart_though_they_have_some_wordings_in_common(tmp_path):
    for seed in ("1", "2"):
        ask_study("agreement", tmp_path / seed, MINI, "--wordings", "12", "--seed", seed)
    compared = {row["measure"]: row for row in compare_runs(tmp_path / "1", tmp_path / "2")}
    assert compared["agreement"]["n_items"] == 34  # not only the items of which both drew a wording or two
    assert compared["agreement"]["n_wordings"] == 1
