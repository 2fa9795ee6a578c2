"""Turn the samples of several logs of Inspect into logged responses: name items, wordings and conditions, join epochs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from inference.errors import InputError, cut
from inference.importers import differing, inspect_samples, saving
from inference.importers.inspect_log import Evaluation
from inference.importers.inspect_samples import Sample
from inference.importers.logged import Logged
from inference.stimuli.files import checked, shown

CHOICE_SCORER = "choice"  # Inspect's own, which writes the letters that were taken
FIRST_TOKEN = "first token"
PROMPT = "prompt"


@dataclass(slots=True)
class _Counts:
    """What there is of one log, for the line that tells of it."""

    samples: int = 0
    errors: int = 0
    unscored: int = 0
    partial: int = 0
    begins: int = 0
    shows: int = 0
    right: list[float] = field(default_factory=list)  # per item and wording: the share of right epochs


class Answers:
    """The responses of several logs.

    Parameters
    ----------
    evaluations
        The logs.
    item_key
        `id`, or `metadata.NAME`.
    variant_key
        An argument, `metadata.NAME` or `prompt`; None: the arguments that differ between the logs of a task, else
        `prompt`.
    scorer
        Whose score counts.
    outcomes
        Whether of multiple choice only the outcome counts.

    Attributes
    ----------
    conditions
        condition name -> fields, as far as responses have been gone through.
    told
        A line on every log, likewise.
    """

    def __init__(
        self,
        evaluations: Sequence[Evaluation],
        *,
        item_key: str,
        variant_key: str | None,
        scorer: str | None,
        outcomes: bool,
    ) -> None:
        self.conditions: dict[str, dict[str, Any]] = {}
        self.told: list[str] = []
        self._evaluations = evaluations
        self._item_key, self._scorer, self._outcomes = item_key, scorer, outcomes
        self._variant_metadata = (variant_key or "").removeprefix("metadata.") if _is_metadata(variant_key) else None
        self._tasks = _task_names(evaluations)
        self._wordings = self._by_arguments(variant_key)
        settings = [each.settings for each in evaluations]
        self._names = differing.names(settings, differing.keys(settings), saving.CONDITION)
        self._texts: dict[str, dict[str, str]] = {}  # item -> first message -> number of the wording
        self._targets: dict[str, tuple[Sample, str]] = {}

    def logged(self) -> Iterator[Logged]:
        """Go through the responses of all logs."""
        for number, evaluation in enumerate(self._evaluations):
            yield from self._of(number, evaluation)

    def _of(self, number: int, evaluation: Evaluation) -> Iterator[Logged]:
        """Make the responses of one log: epochs of one wording are samples of one response."""
        counts = _Counts()
        asked: dict[tuple[str, str], list[Sample]] = {}
        for where, fields in evaluation.samples():
            sample = inspect_samples.read(where, fields, self._scorer)
            counts.samples += 1
            epochs = asked.setdefault((self._item(number, sample), self._wording(number, sample)), [])
            if any(before.epoch == sample.epoch for before in epochs):
                raise InputError(
                    f"{where}: item '{cut(sample.name)}', epoch {sample.epoch} is in this log already with the same "
                    "wording; tell them apart by --item-key or --variant-key"
                )
            epochs.append(sample)
        responses = [self._response(number, key, epochs, counts) for key, epochs in asked.items()]
        self._refuse_unscored(evaluation, counts)
        yield from responses
        yield from self._first_tokens(number, asked, counts)
        self.told.append(_told(evaluation, counts, self._stated(evaluation)))

    def _item(self, number: int, sample: Sample) -> str:
        name = sample.name if self._item_key == "id" else self._metadata(sample, self._item_key)
        task = self._tasks[number]
        item = name if task is None else f"{task}:{name}"
        self._refuse_other_question(item, sample)
        return item

    def _wording(self, number: int, sample: Sample) -> str:
        if self._variant_metadata is not None:
            return self._metadata(sample, f"metadata.{self._variant_metadata}")
        if self._wordings is not None:
            return self._wordings[number]
        texts = self._texts.setdefault(self._item(number, sample), {})
        return texts.setdefault(sample.prompt, f"p{len(texts) + 1}")

    def _by_arguments(self, variant_key: str | None) -> list[str] | None:
        """Name the wording of every log by the arguments that differ; None: samples tell their wordings."""
        if variant_key is not None and (variant_key == PROMPT or _is_metadata(variant_key)):
            return None
        arguments = [each.arguments for each in self._evaluations]
        if variant_key is not None:
            if not any(variant_key in each for each in arguments):
                known = ", ".join(sorted({name for each in arguments for name in each})) or "none"
                raise InputError(
                    f"--variant-key {cut(variant_key)}: no log has this argument; there are metadata.NAME, prompt, and "
                    f"of arguments {cut(known, 300)}"
                )
            return differing.names(arguments, [variant_key], "p1")
        # Tasks have arguments of their own: only what differs between the logs of one task makes wordings.
        varied = {
            name
            for task in dict.fromkeys(each.task for each in self._evaluations)
            for name in differing.keys([each.arguments for each in self._evaluations if each.task == task])
        }
        chosen = [name for name in dict.fromkeys(name for each in arguments for name in each) if name in varied]
        return differing.names(arguments, chosen, "p1") if chosen else None

    def _metadata(self, sample: Sample, key: str) -> str:
        name = key.removeprefix("metadata.")
        value = sample.metadata.get(name)
        if not _is_metadata(key) or isinstance(value, bool) or not isinstance(value, str | int | float):
            known = cut(", ".join(f"metadata.{each}" for each in sample.metadata), 200) or "none"
            raise InputError(
                f"{sample.where}: {cut(key)} must name a text or number of every sample, here it is {shown(value)}; of "
                f"metadata there are {known}"
            )
        return str(checked(sample.where, str(value).strip() or "none"))

    def _refuse_other_question(self, item: str, sample: Sample) -> None:
        """Refuse two samples of one item with different right answers: they are not two wordings of one question.

        The right answer of multiple choice is the same where its letter is, or its words are, as in another order.
        """
        words = sample.choices[sample.gold] if sample.gold is not None else sample.target
        first, meant = self._targets.setdefault(item, (sample, words))
        if sample.target != first.target and words != meant:
            raise InputError(
                f"{sample.where}: item '{cut(item)}' has the right answer {shown(words)}, but {shown(meant)} in "
                f"{first.where}: two questions, not two wordings; name items by --item-key, or import the logs apart"
            )

    def _response(self, number: int, key: tuple[str, str], epochs: list[Sample], counts: _Counts) -> Logged:
        """Make the response of all epochs of one wording."""
        first, evaluation = epochs[0], self._evaluations[number]
        letters = self._letters(evaluation, first)
        counts.errors += sum(sample.error is not None for sample in epochs)
        counts.unscored += sum(sample.error is None and sample.credit is None for sample in epochs)
        scored = [sample for sample in epochs if sample.error is None and sample.credit is not None]
        counts.partial += sum(0 < (sample.credit or 0) < 1 for sample in scored)
        common = self._common(number, key, first, letters=letters)
        if not scored:
            reason = next((sample.error for sample in epochs if sample.error), "the log has no score for it")
            return Logged(**common, error=reason)
        if letters:
            for sample in scored:
                _refuse_contradiction(sample)
        taken = [sample.answer if letters else int(sample.credit != 1) for sample in scored]
        right = first.gold if letters else 0
        counts.right.append(sum(answer == right for answer in taken) / len(taken))
        outputs = tuple(sample.output for sample in scored if sample.output is not None) or None
        if len(epochs) == 1:
            return Logged(**common, answer=taken[0], output=outputs)
        times = Counter(taken)
        options = len(first.choices) if letters else 2
        return Logged(
            **common, count=tuple(times[place] for place in range(options)), invalid=times[None], output=outputs
        )

    def _letters(self, evaluation: Evaluation, sample: Sample) -> bool:
        """Tell whether the letter that was taken counts, and not only whether it was the right one."""
        scorer = self._scorer or next(iter(evaluation.accuracy), CHOICE_SCORER)
        return bool(sample.choices) and not self._outcomes and scorer.rpartition("/")[2] == CHOICE_SCORER

    def _common(self, number: int, key: tuple[str, str], first: Sample, *, letters: bool, way: str = "") -> dict[str, Any]:
        """Make what all responses to one wording share; its condition is recorded."""
        evaluation, task = self._evaluations[number], self._tasks[number]
        name = self._names[number] + way
        fields = {key: value if isinstance(value, int | float | str) else shown(value) for key, value in evaluation.settings.items()}
        self.conditions.setdefault(name, {"form": saving.FORM, "way": "letters" if way else "text", **fields})
        return {
            "where": first.where,
            "model": evaluation.model,
            "condition": name,
            "item": key[0],
            "wording": key[1],
            "text": first.prompt,
            "choices": first.choices if letters else (),
            "gold": first.gold if letters else None,
            "attributes": {} if task is None else {"subset": task},
        }

    def _first_tokens(self, number: int, asked: dict[tuple[str, str], list[Sample]], counts: _Counts) -> Iterator[Logged]:
        """Make the responses by the probabilities of the first token, a condition of its own, where it is the answer."""
        evaluation = self._evaluations[number]
        shown = [
            (key, sample)
            for key, (sample, *_) in asked.items()
            if sample.first is not None and self._letters(evaluation, sample)
        ]
        counts.shows, counts.begins = len(shown), sum(sample.begins for _, sample in shown)
        if 2 * counts.begins < max(counts.shows, 1):
            return
        for key, sample in shown:
            yield Logged(
                **self._common(number, key, sample, letters=True, way=f"/{FIRST_TOKEN}"),
                score=sample.first,
                output=None if sample.output is None else (sample.output,),
            )

    def _stated(self, evaluation: Evaluation) -> float | None:
        """Find the accuracy that the log states for the scorer that counts."""
        if self._scorer is not None:
            return evaluation.accuracy.get(self._scorer)
        return next(iter(evaluation.accuracy.values())) if len(evaluation.accuracy) == 1 else None

    def _refuse_unscored(self, evaluation: Evaluation, counts: _Counts) -> None:
        if counts.right:
            return
        named = f" by {self._scorer}" if self._scorer else ""
        errors = f"; {counts.errors:,} ended with an error" if counts.errors else ""
        raise InputError(
            f"{evaluation.path}: none of its {_many(counts.samples, 'sample')} has a score{named}{errors}, so nothing tells "
            "right from wrong; leave it out, or score it first (`inspect score`)"
        )


def _refuse_contradiction(sample: Sample) -> None:
    """Refuse a letter that the score does not agree with, as after an edit by hand."""
    if sample.gold is not None and (sample.credit == 1) != (sample.answer == sample.gold):
        raise InputError(
            f"{sample.where}: the score is {sample.credit:g}, though the answer is choice {_place(sample.answer)} and the "
            f"right one {_place(sample.gold)}; import it with --right-or-wrong, then the scores count"
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
        part = f"the first token is a letter in {counts.begins:,} of {counts.shows:,}"
        parts.append(part + ("" if 2 * counts.begins >= counts.shows else ", so its probabilities are not taken"))
    if not evaluation.finished:
        parts.append(f"not finished (status {evaluation.status})")
    if evaluation.invalidated:
        parts.append("marked as not to be used")
    return f"{evaluation.path}: {', '.join(parts)}"


def _task_names(evaluations: Sequence[Evaluation]) -> list[str | None]:
    """Name the task of every log, as short as tells all apart; None: there is only one."""
    full = list(dict.fromkeys(each.task for each in evaluations))
    short = [name.rpartition("/")[2] for name in full]
    names = dict(zip(full, short if len(set(short)) == len(full) else full, strict=True))
    return [names[each.task] if len(full) > 1 else None for each in evaluations]


def _is_metadata(key: str | None) -> bool:
    return key is not None and key.startswith("metadata.")


def _place(place: int | None) -> str:
    return "none" if place is None else chr(ord("A") + place)


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
