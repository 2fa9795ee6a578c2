"""The correction by what people read, where many texts have no answer to the rule or to people: nothing is misread."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.readings import people
from helpers.reading_errors import squash


def correct_study(rng, texts, by_people, rule_reads, people_read, items=40):
    """A study whose texts are all read right, but by the rule and by people only in a share of them."""
    logit = rng.normal(0, 1.2, (items, 1)) + rng.normal(0, 1, (items, 10))
    said = (rng.random((*logit.shape, texts)) < squash(logit)[..., None]).astype(float)
    has_answer = rng.random(said.shape) < rule_reads
    read = np.where(rng.random(said.shape) < people_read, said, np.nan)
    has_people = rng.random(said.shape).argsort(axis=2) < by_people
    return people.correct_reading_by_people(said * has_answer, has_answer.astype(float), read, has_people, draws=400)


@pytest.mark.parametrize(
    ("texts", "by_people", "rule_reads", "people_read"), [(4, 3, 0.6, 1.0), (8, 3, 0.6, 0.7), (8, 2, 0.9, 0.5)]
)
def test_texts_without_an_answer_are_no_errors_of_reading(texts, by_people, rule_reads, people_read):
    rng = np.random.default_rng(3)
    studies = [correct_study(rng, texts, by_people, rule_reads, people_read) for _ in range(30)]
    assert sum(study.p < 0.05 for study in studies) <= 3
    sds = np.array([[study.figures[name].estimate[0] for name in ("wording_sd", "corrected_sd")] for study in studies])
    assert sds.mean(axis=0) == pytest.approx([0.178, 0.178], abs=0.015)  # of squash(logit) within items


def test_a_sheet_with_more_of_the_rare_readings_tells_the_rates_of_the_run_but_corrects_no_means():
    rng = np.random.default_rng(5)
    said = (rng.random((40, 10, 10)) < 0.9).astype(float)
    read = np.where(rng.random(said.shape) < 0.1, 1 - said, said)
    is_text = np.ones(said.shape, bool)
    wanted = people.compute_agreement_and_errors_against_people(read, said, is_text, is_text)
    by_chance = rng.random(said.shape) < 0.3
    by_reading = rng.random(said.shape) < np.where(read == 1, 0.08, 0.5)
    assert people.are_read_texts_a_random_sample(read, by_chance, is_text) and people.are_read_texts_a_random_sample(
        read, is_text, is_text
    )
    assert not people.are_read_texts_a_random_sample(read, by_reading, is_text)
    for has_people in (by_chance, by_reading):
        rates = people.compute_agreement_and_errors_against_people(read, said, has_people, is_text)
        assert rates["same"] == pytest.approx(wanted["same"], abs=0.03)
        assert rates["missed"] == pytest.approx(wanted["missed"], abs=0.03)
        assert rates["invented"] == pytest.approx(wanted["invented"], abs=0.12)
    assert (read == said)[by_reading].mean() < 0.8 < wanted["same"]  # of the sheet, far fewer are read alike
