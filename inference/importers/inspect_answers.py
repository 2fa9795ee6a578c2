"""Turn the samples of several logs of Inspect into logged responses; epochs are samples of one response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any, TypeAlias

from ground.errors import InputError, cut
from inference.importers import inspect_samples, saving
from inference.importers.inspect_log import Evaluation, make_unscored_error
from inference.importers.inspect_names import Names
from inference.importers.inspect_samples import Sample
from inference.importers.logged import Logged
from inference.stimuli.files import shown

CHOICE_SCORER = "choice"  # Inspect's own, which writes the letters that were taken
FIRST_TOKEN = "/first token"
SCALARS = (int, float, str)
Key: TypeAlias = tuple[str, str, tuple[str, ...]]  # item, wording, and the choices in the order shown


@dataclass(slots=True)
class _Counts:
    """What there is of one log, for the line that tells of it; `right`: of every wording, the share of right epochs."""

    samples: int
    errors: int = 0
    unscored: int = 0
    partial: int = 0
    shows: int = 0
    begins: int = 0
    right: list[float] = field(default_factory=list)

    def add(self, epochs: Sequence[Sample]) -> None:
        """Count what is wanting of some samples."""
        self.errors += sum(sample.error is not None for sample in epochs)
        self.unscored += sum(sample.error is None and sample.credit is None for sample in epochs)
        self.partial += sum(0 < (sample.credit or 0) < 1 for sample in epochs)

    @property
    def first_token_answers(self) -> bool:
        """Whether the first token is the answer: in half of the samples that show it, it is the letter of a choice."""
        return 0 < self.shows <= 2 * self.begins


class Answers:
    """The responses of several logs.

    Parameters
    ----------
    evaluations
        The logs.
    names
        What their items, wordings and conditions are called.
    scorer
        Whose score counts; None: that of the samples' only one.
    outcomes
        Whether of multiple choice, too, only the outcome counts.

    Attributes
    ----------
    conditions
        condition name -> fields, as far as responses have been gone through.
    told
        A line on every log, likewise.
    """

    def __init__(self, evaluations: Sequence[Evaluation], names: Names, *, scorer: str | None, outcomes: bool) -> None:
        self.conditions: dict[str, dict[str, Any]] = {}
        self.told: list[str] = []
        self._evaluations, self._names = evaluations, names
        self._scorer, self._outcomes = scorer, outcomes

    def logged(self) -> Iterator[Logged]:
        """Go through the responses of all logs.

        Raises
        ------
        InputError
            A sample is damaged or contradicts another one, or a log has no score.
        """
        for number, evaluation in enumerate(self._evaluations):
            asked, samples = self._asked(number, evaluation)
            scorer = _only_scorer(evaluation, samples)
            letters = not self._outcomes and scorer.rpartition("/")[2] == CHOICE_SCORER
            counts = _Counts(len(samples))
            for key, epochs in asked.items():
                yield self._response(number, key, epochs, counts, letters=letters and bool(epochs[0].choices))
            if letters:
                yield from self._first_tokens(number, asked, counts)
            self.told.append(_told(evaluation, counts, evaluation.accuracy.get(scorer)))

    def _asked(self, number: int, evaluation: Evaluation) -> tuple[dict[Key, list[Sample]], list[Sample]]:
        """Read the samples of a log: item, wording and choices -> its epochs; and all of them."""
        asked: dict[Key, list[Sample]] = {}
        for where, fields in evaluation.samples():
            sample = inspect_samples.read(where, fields, self._scorer)
            item = self._names.item(number, sample)
            epochs = asked.setdefault((item, self._names.wording(number, item, sample), sample.choices), [])
            if any(before.epoch == sample.epoch for before in epochs):
                raise InputError(
                    f"{where}: epoch {sample.epoch} of item '{cut(item)}' is in this log already, in the same wording; "
                    "tell wordings apart by --variant-key"
                )
            epochs.append(sample)
        return asked, [sample for epochs in asked.values() for sample in epochs]

    def _response(self, number: int, key: Key, epochs: list[Sample], counts: _Counts, *, letters: bool) -> Logged:
        """Make the response of all epochs of one wording."""
        scored = [sample for sample in epochs if sample.error is None and sample.credit is not None]
        counts.add(epochs)
        common = self._common(number, key, epochs[0], letters=letters)
        if not scored:
            reason = next((sample.error for sample in epochs if sample.error), "the log has no score for it")
            return Logged(**common, error=reason)
        if letters:
            _refuse_contradictions(scored)
        taken = [sample.answer if letters else int(sample.credit != 1) for sample in scored]
        right = epochs[0].gold if letters else 0
        counts.right.append(sum(answer == right for answer in taken) / len(taken))
        outputs = tuple(sample.output for sample in scored if sample.output is not None) or None
        if len(epochs) == 1:
            return Logged(**common, answer=taken[0], output=outputs)
        times = Counter(taken)
        count = tuple(times[place] for place in range(len(key[2]) if letters else 2))
        return Logged(**common, count=count, invalid=times[None], output=outputs)

    def _common(self, number: int, key: Key, first: Sample, *, letters: bool, way: str = "") -> dict[str, Any]:
        """Make what all responses to one wording share; its condition is recorded."""
        condition, task = self._names.conditions[number], self._names.tasks[number]
        name, fields = condition + way, self._names.fields[condition]
        told = {field: value if isinstance(value, SCALARS) else shown(value) for field, value in fields.items()}
        self.conditions.setdefault(name, {"form": saving.FORM, "way": "letters" if way else "text", **told})
        item, wording, choices = key
        return {
            "where": first.where,
            "model": self._evaluations[number].model,
            "condition": name,
            "item": item,
            "wording": wording,
            "text": first.prompt,
            "choices": choices if letters else (),
            "gold": first.gold if letters else None,
            "attributes": {} if task is None else {"subset": task},
        }

    def _first_tokens(self, number: int, asked: Mapping[Key, list[Sample]], counts: _Counts) -> Iterator[Logged]:
        """Make the responses by probabilities of the first token: a condition of its own, where it is the answer."""
        shows = [(key, epochs[0]) for key, epochs in asked.items() if key[2] and epochs[0].first is not None]
        counts.shows, counts.begins = len(shows), sum(sample.begins for _, sample in shows)
        if not counts.first_token_answers:
            return
        for key, sample in shows:
            outputs = None if sample.output is None else (sample.output,)
            common = self._common(number, key, sample, letters=True, way=FIRST_TOKEN)
            yield Logged(**common, score=sample.first, output=outputs)


def _only_scorer(evaluation: Evaluation, samples: Sequence[Sample]) -> str:
    """Find the scorer that the samples have in common; refuse a log that nobody scored."""
    scorers = dict.fromkeys(sample.scorer for sample in samples if sample.scorer and sample.credit is not None)
    if not scorers:
        n_errors = sum(sample.error is not None for sample in samples)
        raise make_unscored_error(evaluation.path, len(samples), n_errors)
    if len(scorers) > 1:
        raise InputError(
            f"{evaluation.path}: samples have scores of different scorers ({cut(', '.join(scorers))}); choose one with "
            "--scorer NAME"
        )
    return next(iter(scorers))


def _refuse_contradictions(samples: Sequence[Sample]) -> None:
    """Refuse a letter that the score does not agree with, as after an edit by hand."""
    for sample in samples:
        if sample.gold is not None and (sample.credit == 1) != (sample.answer == sample.gold):
            raise InputError(
                f"{sample.where}: the score is {sample.credit:g}, though the answer is {_letter(sample.answer)} and "
                f"the right one {_letter(sample.gold)}; with --right-or-wrong the scores count"
            )


def _told(evaluation: Evaluation, counts: _Counts, stated: float | None) -> str:
    """Say in one line what a log held, and whether its accuracy is that of the rows."""
    own = sum(counts.right) / len(counts.right)
    parts = [_many(counts.samples, "sample"), f"accuracy {own:.3f}"]
    if stated is not None:
        parts[-1] += ", as the log states" if abs(own - stated) < 1e-6 else f" (the log states {stated:.3f})"
    if counts.errors:
        parts.append(f"{counts.errors:,} ended with an error")
    if counts.unscored:
        parts.append(f"{counts.unscored:,} without a score")
    if counts.partial:
        parts.append(f"{_many(counts.partial, 'partial score')} taken as wrong")
    if counts.shows:
        taken = "" if counts.first_token_answers else ", so its probabilities are not taken"
        parts.append(f"the first token is a letter in {counts.begins:,} of {counts.shows:,}{taken}")
    if not evaluation.finished:
        parts.append(f"not finished (status {evaluation.status})")
    if evaluation.invalidated:
        parts.append("marked as not to be used")
    return f"{evaluation.path}: {', '.join(parts)}"


def _letter(place: int | None) -> str:
    return "no choice" if place is None else ascii_uppercase[place]


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
