"""Turn the samples of several logs of Inspect into logged responses; epochs are samples of one response.

Where samples have several scores, these are readings of the same answers: every scorer that says right or wrong is a
condition of its own, and of a multiple choice, too, only right or wrong is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from string import ascii_uppercase
from typing import Any, TypeAlias

from ground.errors import InputError, format_quantity, shorten_text
from inference.importers.inspect import samples as inspect_samples
from inference.importers.inspect.log import Evaluation, build_error_of_unscored_log
from inference.importers.inspect.names import InspectNames
from inference.importers.inspect.samples import Sample
from inference.importers.shared import saving
from inference.importers.shared.json_log import get_nested_object_or_empty
from inference.importers.shared.log_folders import LineAboutLog, refuse_if_all_logs_are_left_out
from inference.importers.shared.logged_responses import LoggedResponse
from inference.importers.shared.waver_fields import restore_choice_order

CHOICE_SCORER = "choice"  # Inspect's own, which writes the letters that were taken
FIRST_TOKEN = "/first token"
WordingKey: TypeAlias = tuple[str, str, tuple[str, ...]]  # item, wording, and the choices in the order shown


@dataclass(slots=True)
class _LogCounts:
    """Counts of one log, for the line about it.

    `scorer` says whose scores these are, where there are several; `right`: of every wording, the share of right epochs.
    """

    samples: int
    scorer: str = ""
    errors: int = 0
    unscored: int = 0
    partial: int = 0
    shows: int = 0
    begins: int = 0
    right: list[float] = field(default_factory=list)

    def add_flawed_samples_to_counts(self, epochs: Sequence[Sample]) -> None:
        """Add to the counts the samples with an error, without a score, and with a score between 0 and 1."""
        self.errors += sum(sample.error is not None for sample in epochs)
        self.unscored += sum(sample.error is None and sample.credit is None for sample in epochs)
        self.partial += sum(0 < (sample.credit or 0) < 1 for sample in epochs)

    @property
    def is_first_token_answer(self) -> bool:
        """Whether the first token is the answer: a choice's letter in at least half of the samples that show it."""
        return 0 < self.shows <= 2 * self.begins


class InspectAnswers:
    """The responses of several logs.

    Parameters
    ----------
    evaluations
        The logs.
    names
        What their items, wordings and conditions are called.
    scorer
        Whose score counts; None: that of the samples' only one, or of each in turn.
    outcomes_only
        Whether of multiple choice, too, only the outcome counts.

    Attributes
    ----------
    conditions
        condition name -> fields, as far as responses have been gone through.
    log_lines
        A line on every log, likewise.
    left_out
        What is wrong with logs that were left out, likewise.
    """

    def __init__(
        self, evaluations: Sequence[Evaluation], names: InspectNames, *, scorer: str | None, outcomes_only: bool
    ) -> None:
        self.conditions: dict[str, dict[str, Any]] = {}
        self.log_lines: list[LineAboutLog] = []
        self.left_out: list[InputError] = []
        self._evaluations, self._names = evaluations, names
        self._scorers = [
            [scorer] if scorer else _list_scorers_of_first_scored_sample(evaluation) for evaluation in evaluations
        ]
        self._has_several_scorers = any(len(scorers) > 1 for scorers in self._scorers)
        self._outcomes = outcomes_only or self._has_several_scorers

    def iterate_responses_of_all_logs(self) -> Iterator[LoggedResponse]:
        """Go through the responses of all logs; a log that is damaged or has no score is left out, if others are there.

        Raises
        ------
        InputError
            A sample contradicts another one or its own score, or no log can be imported.
        """
        for number, evaluation in enumerate(self._evaluations):
            errors: dict[str | None, InputError] = {}
            for scorer in self._scorers[number]:
                try:
                    samples = [
                        inspect_samples.parse_inspect_sample(where, fields, scorer)
                        for where, fields in evaluation.iterate_places_and_raw_samples()
                    ]
                    common_scorer = _require_common_scorer(evaluation, samples)
                except InputError as error:
                    errors[scorer] = error
                else:
                    yield from self._build_responses_of_scorer(number, evaluation, samples, common_scorer)
            if len(errors) == len(self._scorers[number]):
                self.left_out.append(next(iter(errors.values())))
            else:
                self.log_lines += [
                    LineAboutLog(f"scorer {scorer} left out: {error}", 2) for scorer, error in errors.items()
                ]
        refuse_if_all_logs_are_left_out(self.left_out, len(self._evaluations))

    def _build_responses_of_scorer(
        self, log_number: int, evaluation: Evaluation, samples: Sequence[Sample], common_scorer: str
    ) -> Iterator[LoggedResponse]:
        """Make the responses of a log as one scorer judged them."""
        epochs_by_key = inspect_samples.group_epochs_by_wording(samples, partial(self._build_wording_key, log_number))
        letters = not self._outcomes and common_scorer.rpartition("/")[2] == CHOICE_SCORER
        counts = _LogCounts(len(samples), common_scorer if self._has_several_scorers else "")
        for key, epochs in epochs_by_key.items():
            yield self._build_epochs_response(
                log_number, key, epochs, counts, with_letters=letters and bool(epochs[0].choices)
            )
        if letters:
            yield from self._build_first_token_response_per_wording(log_number, epochs_by_key, counts)
        self.log_lines.append(
            _describe_inspect_log_and_accuracy_agreement(evaluation, counts, evaluation.accuracy.get(common_scorer))
        )

    def _build_wording_key(self, log_number: int, sample: Sample) -> WordingKey:
        """Make what tells wordings apart: item, wording, and the choices in the order shown."""
        item = self._names.name_sample_item(log_number, sample)
        return item, self._names.name_sample_wording(log_number, item, sample), sample.choices

    def _build_epochs_response(
        self, log_number: int, key: WordingKey, epochs: list[Sample], counts: _LogCounts, *, with_letters: bool
    ) -> LoggedResponse:
        """Make the response of all epochs of one wording."""
        scored = [sample for sample in epochs if sample.error is None and sample.credit is not None]
        counts.add_flawed_samples_to_counts(epochs)
        common = self._build_shared_fields_and_record_condition(
            log_number, key, epochs[0], with_letters=with_letters, scorer=counts.scorer
        )
        if not scored:
            reason = next((sample.error for sample in epochs if sample.error), "the log has no score for it")
            return LoggedResponse(**common, error=reason)
        if with_letters:
            _refuse_letters_contradicting_scores(scored)
        taken = [sample.answer if with_letters else int(sample.credit != 1) for sample in scored]
        right = epochs[0].gold if with_letters else 0
        counts.right.append(sum(answer == right for answer in taken) / len(taken))
        outputs = tuple(sample.output for sample in scored if sample.output is not None) or None
        if len(epochs) == 1:
            return LoggedResponse(**common, answer=taken[0], output=outputs)
        times = Counter(taken)
        count = tuple(times[place] for place in range(len(key[2]) if with_letters else 2))
        return LoggedResponse(**common, count=count, invalid=times[None], output=outputs)

    def _build_shared_fields_and_record_condition(
        self,
        log_number: int,
        key: WordingKey,
        first_sample: Sample,
        *,
        with_letters: bool,
        way: str = "",
        scorer: str = "",
    ) -> dict[str, Any]:
        """Make what all responses to one wording share; its condition is recorded."""
        condition, task = self._names.conditions[log_number], self._names.tasks[log_number]
        name = condition + way + (f"/{scorer}" if scorer else "")
        self.conditions.setdefault(
            name,
            {
                "form": saving.IMPORT_FORM,
                "way": "letters" if way else "text",
                **({"metric": scorer} if scorer else {}),
                **self._names.fields[condition],
            },
        )
        item, wording, choices = key
        return {
            "where": first_sample.where,
            "model": self._evaluations[log_number].model,
            "condition": name,
            "item": item,
            "wording": wording,
            "text": first_sample.prompt,
            "choices": choices if with_letters else (),
            "own_choices": restore_choice_order(first_sample.where, first_sample.metadata, choices),
            "gold": first_sample.gold if with_letters else None,
            "attributes": {} if task is None else {"subset": task},
        }

    def _build_first_token_response_per_wording(
        self, log_number: int, epochs_by_key: Mapping[WordingKey, list[Sample]], counts: _LogCounts
    ) -> Iterator[LoggedResponse]:
        """Make the responses by probabilities of the first token: a condition of its own, where it is the answer."""
        shows = [(key, epochs[0]) for key, epochs in epochs_by_key.items() if key[2] and epochs[0].first is not None]
        counts.shows, counts.begins = len(shows), sum(sample.begins for _, sample in shows)
        if not counts.is_first_token_answer:
            return
        for key, sample in shows:
            outputs = None if sample.output is None else (sample.output,)
            common = self._build_shared_fields_and_record_condition(
                log_number, key, sample, with_letters=True, way=FIRST_TOKEN
            )
            yield LoggedResponse(**common, score=sample.first, output=outputs)


def _list_scorers_of_first_scored_sample(evaluation: Evaluation) -> list[str | None]:
    """List the scorers of a log, those of its first sample with a score; None stands for the only one."""
    for _, sample in evaluation.iterate_places_and_raw_samples():
        scores = get_nested_object_or_empty(sample, "scores")
        scorers = [name for name, score in scores.items() if get_nested_object_or_empty(score).get("value") is not None]
        if scorers:
            return [*scorers] if len(scores) > 1 else [None]
    return [None]


def _require_common_scorer(evaluation: Evaluation, samples: Sequence[Sample]) -> str:
    """Find the scorer that the samples have in common; refuse a log that nobody scored."""
    scorers = dict.fromkeys(
        sample.scorer for sample in samples if sample.scorer and sample.credit is not None and sample.error is None
    )
    if not scorers:
        n_errors = sum(sample.error is not None for sample in samples)
        raise build_error_of_unscored_log(evaluation.path, len(samples), n_errors)
    if len(scorers) > 1:
        raise InputError(
            f"{evaluation.path}: samples have scores of different scorers ({shorten_text(', '.join(scorers))}); "
            "choose one with --scorer NAME"
        )
    return next(iter(scorers))


def _refuse_letters_contradicting_scores(samples: Sequence[Sample]) -> None:
    """Refuse a letter that the score does not agree with, as after an edit by hand."""
    for sample in samples:
        if sample.gold is not None and (sample.credit == 1) != (sample.answer == sample.gold):
            raise InputError(
                f"{sample.where}: the score is {sample.credit:g}, though the answer is "
                f"{_format_choice_letter(sample.answer)} and the right one {_format_choice_letter(sample.gold)}; with "
                "--right-or-wrong the scores count"
            )


def _describe_inspect_log_and_accuracy_agreement(
    evaluation: Evaluation, counts: _LogCounts, stated_accuracy: float | None
) -> LineAboutLog:
    """Say in one line what a log held, by which scorer, and whether its accuracy is that of the rows."""
    accuracy = sum(counts.right) / len(counts.right)
    parts = [format_quantity(counts.samples, "sample"), f"accuracy {accuracy:.3f}"]
    is_agreeing = stated_accuracy is None or abs(accuracy - stated_accuracy) < 1e-6
    if stated_accuracy is not None:
        parts[-1] += ", as the log states" if is_agreeing else f" (the log states {stated_accuracy:.3f})"
    if counts.scorer:
        parts.insert(1, f"scorer {counts.scorer}")
    if counts.errors:
        parts.append(f"{counts.errors:,} ended with an error")
    if counts.unscored:
        parts.append(f"{counts.unscored:,} without a score")
    if counts.partial:
        parts.append(f"{format_quantity(counts.partial, 'partial score')} taken as wrong (--scores keeps them)")
    if counts.shows:
        taken = "" if counts.is_first_token_answer else ", so its probabilities are not taken"
        parts.append(f"the first token is a letter in {counts.begins:,} of {counts.shows:,}{taken}")
    flaws = evaluation.list_flaws()
    n_flaws = len(flaws) + (not is_agreeing) + bool(counts.errors) + bool(counts.unscored)
    return LineAboutLog(f"{evaluation.path}: {', '.join([*parts, *flaws])}", 2 * n_flaws + bool(counts.partial))


def _format_choice_letter(place: int | None) -> str:
    """Return the letter of a choice by its place (0 is A), or "no choice" for None."""
    return "no choice" if place is None else ascii_uppercase[place]
