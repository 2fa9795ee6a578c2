"""Read what every model answered as the number of an option, to tell which answers are as before.

- Of two meanings, the side of 0.5 that the answer is on.
- Of choices, the letter in the question's own order, in every order of every wording.
- Of rating scales, the likeliest option.
- Of scores, the nearest whole number on the scale; a measure without a range has no such answers.

No valid answer is NaN: how many are valid is a measure of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.measures import choices, ratings, scores
from analysis.measures.reworded import AGREEMENT, SCORE, Study, scored
from analysis.measures.reworded.scores import name_setting_and_prompt_per_condition
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.runs import Runs
from analysis.statistics.resampling import Array


@dataclass(frozen=True, slots=True)
class Answers:
    """Hold the answers of one study.

    Attributes
    ----------
    study
        Its name.
    crossed
        Whether all items share the wordings.
    units
        (model, condition) of every unit.
    codes
        Numbers of options (units, items, wordings); NaN where there is no valid answer.
    n_orders
        In how many orders of the options each wording stands there, side by side.
    """

    study: str
    crossed: bool
    units: list[tuple[str, str]]
    codes: Array
    n_orders: int = 1


def read_answers_by_study(runs: Runs) -> dict[str, Answers]:
    """Read the answers of all studies that have options or a scale, once per `Runs`: study -> answers."""
    return runs.compute_once(
        "answers as options", lambda: {answers.study: answers for answers in _read_answers_of_every_study(runs)}
    )


def _read_answers_of_every_study(runs: Runs) -> Iterator[Answers]:
    """Yield the answers of every study."""
    studies = read_reworded_studies(runs)
    readers = {
        choices.PROTOCOL: _read_chosen_letters,
        ratings.PROTOCOL: _read_likeliest_rating_options,
        scored.PROTOCOL: _iterate_answers_coded_by_first_measure,
        scores.PROTOCOL: _iterate_answers_coded_by_rounded_score,
    }
    for name in dict.fromkeys(study.name for study in studies):
        of_study = [study for study in studies if study.name == name]
        reader = readers.get(runs.info["studies"][name]["protocol"], _iterate_answers_coded_by_side_of_one_half)
        yield from reader(runs, name, of_study)


def _iterate_answers_coded_by_side_of_one_half(runs: Runs, name: str, studies: Sequence[Study]) -> Iterator[Answers]:
    """Yield the side of 0.5 of answers with two meanings."""
    for study in studies:
        if study.measure == AGREEMENT:
            sides = np.where(np.isnan(study.values), np.nan, study.values >= 0.5)
            yield Answers(name, study.crossed, study.units, sides)


def _read_chosen_letters(runs: Runs, name: str, studies: Sequence[Study]) -> Iterator[Answers]:
    """Yield the letter of every choice; wordings are all wordings in all orders."""
    for chosen in choices.read_choice_studies(runs):
        if chosen.study == name:
            letters = (
                np.moveaxis(chosen.chosen_letter, -1, 0).reshape(len(chosen.units), len(chosen.items), -1).astype(float)
            )
            codes = np.where(letters < 0, np.nan, letters)
            yield Answers(name, studies[0].crossed, list(chosen.units), codes, chosen.chosen_letter.shape[2])


def _read_likeliest_rating_options(runs: Runs, name: str, studies: Sequence[Study]) -> Iterator[Answers]:
    """Yield the likeliest option of a rating scale; of two that are as likely, the lower one."""
    for rated in ratings.read_ratings(runs):
        if rated.name == name:
            is_known = ~np.isnan(rated.shares).all(axis=-1)
            codes = np.where(is_known, np.nan_to_num(rated.shares, nan=-1.0).argmax(axis=-1), np.nan)
            yield Answers(
                name, rated.crossed, list(zip(rated.units["model"], rated.units["condition"], strict=True)), codes
            )


def _iterate_answers_coded_by_first_measure(runs: Runs, name: str, studies: Sequence[Study]) -> Iterator[Answers]:
    """Yield the nearest whole number of the first measure, if it has a range."""
    for measured in scored.list_scored_per_study_and_measure(runs):
        if measured.study.name == name and measured.study.headline and measured.study.has_range:
            yield Answers(name, measured.study.crossed, measured.study.units, np.rint(measured.scores))


def _iterate_answers_coded_by_rounded_score(runs: Runs, name: str, studies: Sequence[Study]) -> Iterator[Answers]:
    """Yield the nearest whole number on the scale of every condition."""
    conditions = runs.info["conditions"][name]
    settings, _ = name_setting_and_prompt_per_condition(conditions)
    widths = {settings[key]: fields["range"][1] - fields["range"][0] for key, fields in conditions.items()}
    for study in studies:
        if study.measure == SCORE:
            width = np.array([widths[condition] for _, condition in study.units])
            yield Answers(name, study.crossed, study.units, np.rint(study.values * width[:, None, None]))
