"""Name the items, wordings and conditions of several logs of Inspect by what differs between them."""

from __future__ import annotations

from collections.abc import Sequence

from ground.errors import InputError, cut
from inference.importers import differing, saving
from inference.importers.inspect_log import Evaluation
from inference.importers.inspect_samples import Sample
from inference.stimuli.files import checked, shown

ID, PROMPT = "id", "prompt"
METADATA = "metadata."
FIRST = "p1"  # the name of the only wording


class Names:
    """Items, wordings and conditions of the samples of several logs; a log is named by its number.

    Parameters
    ----------
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
        A key that no log has.
    """

    def __init__(self, evaluations: Sequence[Evaluation], item_key: str, variant_key: str | None) -> None:
        if item_key != ID and not item_key.startswith(METADATA):
            raise InputError(f"--item-key {cut(item_key)}: give id or metadata.NAME")
        self.tasks = _tasks(evaluations)
        own = [(each.task, each.model) for each in evaluations]
        settings = [each.settings for each in evaluations]
        self.conditions = differing.names(settings, differing.within(own, settings), saving.CONDITION)
        self.fields = {
            name: differing.shared([its for its, of in zip(settings, self.conditions, strict=True) if of == name])
            for name in self.conditions
        }
        self._item_key, self._variant_key = item_key, variant_key
        self._by_log = _wordings(evaluations, variant_key)
        self._texts: dict[str, dict[str, str]] = {}  # item -> first message -> name of the wording
        self._first: dict[str, tuple[Sample, str]] = {}  # item -> its first sample, the right answer in words

    def item(self, log: int, sample: Sample) -> str:
        """Name the item of a sample; of several tasks, with its task.

        Parameters
        ----------
        log
            Number of the log.
        sample
            A sample of it.

        Returns
        -------
        The name.

        Raises
        ------
        InputError
            It has another right answer than the item had before.
        """
        name = sample.name if self._item_key == ID else _metadata(sample, "--item-key", self._item_key)
        item = name if self.tasks[log] is None else f"{self.tasks[log]}:{name}"
        self._refuse_other_question(item, sample)
        return item

    def wording(self, log: int, item: str, sample: Sample) -> str:
        """Name the wording of a sample: by its log, its metadata, or its first message.

        Parameters
        ----------
        log
            Number of the log.
        item
            Name of the item, as `item` gives it.
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
        if self._by_log is not None:
            return self._by_log[log]
        if self._variant_key is not None and self._variant_key.startswith(METADATA):
            return _metadata(sample, "--variant-key", self._variant_key)
        texts = self._texts.setdefault(item, {})
        return texts.setdefault(sample.prompt, f"p{len(texts) + 1}")

    def _refuse_other_question(self, item: str, sample: Sample) -> None:
        """Refuse two samples of one item with different right answers: they are not two wordings of one question.

        The right answer of multiple choice is the same where its letter is, or its words are, as in another order.
        """
        words = sample.choices[sample.gold] if sample.gold is not None else sample.target
        first, meant = self._first.setdefault(item, (sample, words))
        if sample.target != first.target and words != meant:
            raise InputError(
                f"{sample.where}: item '{cut(item)}' has the right answer {shown(words)}, but {shown(meant)} in "
                f"{first.where}; these are two questions: name items by --item-key, or import the logs apart"
            )


def _tasks(evaluations: Sequence[Evaluation]) -> list[str | None]:
    full = list(dict.fromkeys(each.task for each in evaluations))
    short = [name.rpartition("/")[2] for name in full]
    names = dict(zip(full, short if len(set(short)) == len(full) else full, strict=True))
    return [names[each.task] if len(full) > 1 else None for each in evaluations]


def _wordings(evaluations: Sequence[Evaluation], variant_key: str | None) -> list[str] | None:
    """Name the wording of every log by its arguments; None: samples tell their wordings."""
    arguments = [each.arguments for each in evaluations]
    if variant_key is None:
        chosen = differing.within([(each.task, each.model) for each in evaluations], arguments)
        return differing.names(arguments, chosen, FIRST) if chosen else None
    if variant_key == PROMPT or variant_key.startswith(METADATA):
        return None
    if not any(variant_key in each for each in arguments):
        known = ", ".join(sorted({name for each in arguments for name in each})) or "none"
        raise InputError(
            f"--variant-key {cut(variant_key)}: no log has this argument; give metadata.NAME, prompt, or one of these "
            f"arguments: {cut(known, 300)}"
        )
    return differing.names(arguments, [variant_key], FIRST)


def _metadata(sample: Sample, option: str, key: str) -> str:
    value = sample.metadata.get(key.removeprefix(METADATA))
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        known = cut(", ".join(f"{METADATA}{name}" for name in sample.metadata), 200) or "none"
        raise InputError(
            f"{sample.where}: {option} {cut(key)} must be a text or number of every sample, here it is {shown(value)}; "
            f"of metadata there are {known}"
        )
    return str(checked(sample.where, str(value).strip()))
