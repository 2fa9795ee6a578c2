"""Name the items, wordings and conditions of several logs of Inspect by what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ground.errors import InputError, shorten_text
from inference.importers.inspect.log import Evaluation
from inference.importers.inspect.samples import Sample
from inference.importers.shared import log_differences, waver_fields
from inference.stimuli.reading.files import require_storable_value, shorten_value

ID, PROMPT = "id", "prompt"
METADATA = "metadata."
WAVER_TASKS = "waver_inspect/"
FIRST_WORDING = "p1"  # the name of the only wording


class InspectNames:
    """Items, wordings and conditions of the samples of several logs; a log is named by its number.

    Parameters
    ----------
    evaluations
        The logs.
    item_key
        `id`, or `metadata.NAME`.
    variant_key
        An argument, `metadata.NAME` or `prompt`; None: the arguments that differ between the logs of one task and
        model, else `prompt`.

    Attributes
    ----------
    tasks
        The task of every log, as short as tells all apart; None: there is only one.
    conditions
        The condition of every log: the generation settings that differ between the logs of one task and model.
    fields
        condition -> the settings that all its logs have in common.

    Raises
    ------
    InputError
        `item_key` is something else, or `variant_key` is an argument that no log has.
    """

    def __init__(self, evaluations: Sequence[Evaluation], item_key: str, variant_key: str | None) -> None:
        if item_key != ID and not item_key.startswith(METADATA):
            raise InputError(f"--item-key {shorten_text(item_key)}: give id or metadata.NAME")
        self.tasks = _name_task_per_log_or_none(evaluations)
        groups = [(evaluation.task, evaluation.model) for evaluation in evaluations]
        settings = [_select_condition_settings(evaluation) for evaluation in evaluations]
        self.conditions = log_differences.name_conditions_by_settings(groups, settings)
        self.fields = log_differences.collect_shared_settings_by_condition(self.conditions, settings)
        self._item_key, self._variant_key = item_key, variant_key
        self._by_log = _name_wording_per_log_or_none(evaluations, variant_key)
        self._texts: dict[str, dict[str, str]] = {}  # item -> first message -> name of the wording
        self._first: dict[str, tuple[str, str, str]] = {}  # item -> first place, right answer there, and in words

    def name_sample_item(self, log_number: int, sample: Sample) -> str:
        """Name the item of a sample; of several tasks, with its task.

        Parameters
        ----------
        log_number
            Number of the log.
        sample
            A sample of it.

        Returns
        -------
        The name.

        Raises
        ------
        InputError
            It has another right answer than the item had before, or not the metadata that names it.
        """
        waver_names = self._read_item_and_wording_by_waver(sample)
        if waver_names is not None:
            name = waver_names[0]
        elif self._item_key == ID:
            name = sample.name
        else:
            name = _read_name_from_metadata(sample, "--item-key", self._item_key)
        item = name if self.tasks[log_number] is None else f"{self.tasks[log_number]}:{name}"
        self._refuse_other_right_answer(item, sample)
        return item

    def name_sample_wording(self, log_number: int, item: str, sample: Sample) -> str:
        """Name the wording of a sample: by its log, its metadata, or its first message.

        Parameters
        ----------
        log_number
            Number of the log.
        item
            Name of the item, as `name_sample_item` gives it.
        sample
            A sample of it.

        Returns
        -------
        The name; where the first message tells, p1, p2 ... in order of appearance.

        Raises
        ------
        InputError
            The sample has no such metadata.
        """
        waver_names = self._read_item_and_wording_by_waver(sample)
        if waver_names is not None:
            return waver_names[1]
        if self._by_log is not None:
            return self._by_log[log_number]
        if self._variant_key is not None and self._variant_key.startswith(METADATA):
            return _read_name_from_metadata(sample, "--variant-key", self._variant_key)
        texts = self._texts.setdefault(item, {})
        return texts.setdefault(sample.prompt, f"p{len(texts) + 1}")

    def _read_item_and_wording_by_waver(self, sample: Sample) -> tuple[str, str] | None:
        """Read item and wording where `waver_inspect` named them, and no key says otherwise."""
        if self._item_key != ID or self._variant_key is not None:
            return None
        return waver_fields.read_item_and_wording_of_sample(sample.where, sample.metadata)

    def _refuse_other_right_answer(self, item: str, sample: Sample) -> None:
        """Refuse two samples of one item with different right answers: they are not two wordings of one question.

        The right answer of multiple choice is the same where its letter is, or its words are, as in another order.
        """
        words = sample.choices[sample.gold] if sample.gold is not None else sample.target
        first_where, target, first_words = self._first.setdefault(item, (sample.where, sample.target, words))
        if sample.target != target and words != first_words:
            raise InputError(
                f"{sample.where}: item '{shorten_text(item)}' has the right answer {shorten_value(words)}, but "
                f"{shorten_value(first_words)} in {first_where}; these are two questions: name items by --item-key, "
                "or import the logs apart"
            )


def _select_condition_settings(evaluation: Evaluation) -> dict[str, Any]:
    """Select what makes a condition: how answers are generated, and whether a task of `waver_inspect` has reasons."""
    if not evaluation.task.startswith(WAVER_TASKS):
        return dict(evaluation.settings)
    has_reasons = {name: value for name, value in evaluation.arguments.items() if name == "multiple_choice.cot"}
    return {**evaluation.settings, **has_reasons}


def _name_task_per_log_or_none(evaluations: Sequence[Evaluation]) -> list[str | None]:
    """Name the task of every log, as short as tells all apart; None where there is only one task."""
    full = list(dict.fromkeys(evaluation.task for evaluation in evaluations))
    short = [name.rpartition("/")[2] for name in full]
    names = dict(zip(full, short if len(set(short)) == len(full) else full, strict=True))
    return [names[evaluation.task] if len(full) > 1 else None for evaluation in evaluations]


def _name_wording_per_log_or_none(evaluations: Sequence[Evaluation], variant_key: str | None) -> list[str] | None:
    """Name the wording of every log by its arguments; None: samples tell their wordings."""
    arguments = [log.arguments for log in evaluations]
    if variant_key is None:
        differing_names = log_differences.list_settings_differing_within_groups(
            [(log.task, log.model) for log in evaluations], arguments
        )
        return (
            log_differences.name_logs_by_settings(arguments, differing_names, FIRST_WORDING)
            if differing_names
            else None
        )
    if variant_key == PROMPT or variant_key.startswith(METADATA):
        return None
    if not any(variant_key in log for log in arguments):
        argument_names = ", ".join(sorted({name for log in arguments for name in log})) or "none"
        raise InputError(
            f"--variant-key {shorten_text(variant_key)}: no log has this argument; give metadata.NAME, prompt, or one "
            f"of these arguments: {shorten_text(argument_names, 300)}"
        )
    return log_differences.name_logs_by_settings(arguments, [variant_key], FIRST_WORDING)


def _read_name_from_metadata(sample: Sample, option: str, key: str) -> str:
    """Return the metadata of a sample that an option names, as the name of an item or a wording."""
    value = sample.metadata.get(key.removeprefix(METADATA))
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        metadata_names = shorten_text(", ".join(f"{METADATA}{name}" for name in sample.metadata), 200) or "none"
        raise InputError(
            f"{sample.where}: {option} {shorten_text(key)} must be a text or number of every sample, here it is "
            f"{shorten_value(value)}; of metadata there are {metadata_names}"
        )
    return str(require_storable_value(sample.where, str(value).strip()))
