"""Make the stimuli of logged responses, each of its first response, and a row of every response."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any

from ground.errors import InputError, format_quantity
from inference.importers.shared.json_log import refuse_half_surrogates
from inference.importers.shared.logged_responses import LoggedResponse
from inference.importers.shared.scored import DECISION_RULE, ENDS, PROTOCOL
from inference.runfolder.parquet import replace_nul_characters
from inference.stimuli.reading.line_ends import unify_line_ends_of_all_texts
from inference.stimuli.study import PARAPHRASE, Item, Option, Study, Variant

RIGHT, WRONG = "right", "wrong"
CHOICE, AGREEMENT = "choice", "agreement"
_LABELS = {AGREEMENT: (RIGHT, WRONG), PROTOCOL: ENDS}
_RULES = {
    CHOICE: "the choice with the highest log-likelihood, where the condition names no other reading, or the one that "
    "the tool read from a text; null: no valid answer",
    AGREEMENT: "right where the choice is the right one, or where the tool counts the text as right; else wrong",
    PROTOCOL: DECISION_RULE,
}
_COLUMNS = (
    "model", "condition", "item", "variant", "probability", "logprob", "count", "invalid", "mass", "mass_upper",
    "answer", "output", "error",
    "score", "sample_score",  # of studies of scores
)  # fmt: skip
ROUNDING = 0.01  # models in half precision round log-likelihoods: their options may add up to so much more than 1
_MEASURED = 7  # columns from `probability` to `answer`


@dataclass(slots=True)
class _Stimulus:
    """A wording of an item in one order: what later responses to it must agree with."""

    number: int
    variant: str
    text: str
    gold: int | None


class LoggedStimuli:
    """Make a stimulus of the first response to it, and a row of every response."""

    def __init__(self, outcomes_only: bool, language: str | None) -> None:
        self.differing_numbers: set[int] = set()
        self._outcomes, self._language = outcomes_only, language
        self._protocol: str | None = AGREEMENT if outcomes_only else None
        self._stimuli_by_wording: dict[
            tuple[str, str], dict[tuple[str, ...], _Stimulus]
        ] = {}  # by item and wording, and choices
        self._count = 0
        self._choices_by_item: dict[str, tuple[str, ...]] = {}  # item -> its choices in its own order
        self._items: dict[str, list[Variant]] = {}
        self._marks_by_condition: dict[
            tuple[str, str], bytearray
        ] = {}  # model, condition -> which stimuli it has responses to

    def build_logged_study(self, name: str, source: str) -> Study:
        """Make the study, its items in the order of their first responses.

        Parameters
        ----------
        name
            Name of the study.
        source
            Where the responses are from.

        Returns
        -------
        The study.

        Raises
        ------
        InputError
            There are no responses.
        """
        if self._protocol is None:
            raise InputError(f"{source}: there are no responses")
        most = max(map(len, self._choices_by_item.values()), default=0)
        labels = _LABELS.get(self._protocol, tuple(ascii_uppercase[:most]))
        items = tuple(Item(item, tuple(variants)) for item, variants in self._items.items())
        return Study(self._protocol, name, items, labels, _RULES[self._protocol], source, paraphrased=False)

    def build_response_row_and_add_stimulus(self, response: LoggedResponse) -> tuple[Any, ...]:
        """Make the row of a response, in the order of `_COLUMNS`; its stimulus, where it is new, is added.

        Rows of studies without scores have no cells for them.

        Raises
        ------
        InputError
            The text is empty, the choices or the right one contradict another response, the response is of another
            protocol, or it is there twice.
        """
        shown = (response.text, *response.choices)
        if any("\r" in text or "\0" in text for text in shown):
            text, *choices = unify_line_ends_of_all_texts(tuple(map(replace_nul_characters, shown)))
            response = replace(response, text=text, choices=tuple(choices))
        orders = self._stimuli_by_wording.setdefault((response.item, response.wording), {})
        stimulus = orders.get(response.choices)
        if stimulus is None:
            stimulus = self._add_new_stimulus(response, orders)
        else:
            self._refuse_changed_gold_note_changed_text(response, stimulus)
        self._refuse_second_response(response, stimulus.number)
        key = response.model, response.condition, response.item, stimulus.variant
        if response.scores is not None:
            return (
                *key,
                *(None,) * _MEASURED,
                response.output,
                response.error,
                *_build_score_and_sample_score(response.scores),
            )
        if response.error is not None:
            return *key, *(None,) * _MEASURED, None, response.error
        measured_cells = (
            _build_right_or_wrong_response_cells(response)
            if self._protocol == AGREEMENT
            else _build_response_cells_of_choice(response)
        )
        return *key, *measured_cells, response.output, None

    def _add_new_stimulus(self, response: LoggedResponse, orders: dict[tuple[str, ...], _Stimulus]) -> _Stimulus:
        """Add the stimulus of a response; refuse one of another protocol, or with other choices."""
        if not response.text.strip():
            raise InputError(f"{response.where}: the text that was asked is empty; leave the response out")
        refuse_half_surrogates(
            response.where,
            [response.item, response.wording, response.text, response.choices, dict(response.attributes)],
        )
        protocol = CHOICE if response.choices and not self._outcomes else AGREEMENT
        protocol = protocol if response.scores is None else PROTOCOL
        self._protocol = self._protocol or protocol
        if protocol != self._protocol:
            raise InputError(
                f"{response.where}: some responses choose among options and others are texts; import them into two run "
                "folders, or all as right or wrong with --right-or-wrong"
            )
        first = next(iter(orders), response.choices)
        if sorted(first) != sorted(response.choices):
            raise InputError(
                f"{response.where}: the options of item '{response.item}', wording '{response.wording}' are not those "
                "of an earlier row; are these logs of one version of the task?"
            )
        build_variant = self._build_question_variant if protocol == CHOICE else self._build_right_wrong_or_score_variant
        variant = build_variant(response, len(orders) + 1)
        self._items.setdefault(response.item, []).append(variant)
        stimulus = orders[response.choices] = _Stimulus(self._count, variant.variant, response.text, response.gold)
        self._count += 1
        return stimulus

    def _build_right_wrong_or_score_variant(self, response: LoggedResponse, order_number: int) -> Variant:
        """Make a variant whose options are right and wrong, or the ends of a score."""
        name = response.wording if order_number == 1 else f"{response.wording}/{order_number}"
        labels = _LABELS[AGREEMENT if response.scores is None else PROTOCOL]
        return Variant(
            response.item, name, PARAPHRASE, response.text, tuple(map(Option, labels, labels)),
            language=self._language, gold=RIGHT if response.scores is None else None,
            attributes={**response.attributes, "template": name},
        )  # fmt: skip

    def _build_question_variant(self, response: LoggedResponse, order_number: int) -> Variant:
        """Make a variant of a multiple-choice question, its choices in the order that the response shows."""
        if not 1 < len(response.choices) <= len(ascii_uppercase):
            raise InputError(
                f"{response.where}: {format_quantity(len(response.choices), 'option')}; a question needs 2 to "
                f"{len(ascii_uppercase)}"
            )
        if response.gold is None:
            raise InputError(f"{response.where}: no single right option is named; import it with --right-or-wrong")
        item_choices = self._choices_by_item.setdefault(
            response.item, unify_line_ends_of_all_texts(response.own_choices) or response.choices
        )
        if len(item_choices) != len(response.choices):
            raise InputError(
                f"{response.where}: {len(response.choices)} options; item '{response.item}' had {len(item_choices)} "
                "before"
            )
        letters = ascii_uppercase[: len(response.choices)]
        resorted = len(set(item_choices)) == len(item_choices) and set(item_choices) == set(response.choices)
        canonical = (
            "".join(ascii_uppercase[item_choices.index(words)] for words in response.choices) if resorted else letters
        )
        lines = [" ".join(words.split()) for words in response.choices]
        attributes = {
            **response.attributes,
            "wording": response.wording,
            "template": response.wording,
            "order": canonical,
            "choices": "\n".join(f"{letter}. {line}" for letter, line in zip(letters, lines, strict=True)),
            **{f"choice_{letter}": line for letter, line in zip(canonical, lines, strict=True)},
        }
        return Variant(
            response.item, f"{response.wording}/{order_number}", response.wording, response.text,
            tuple(map(Option, letters, canonical)),
            language=self._language, gold=canonical[response.gold], attributes=attributes,
        )  # fmt: skip

    def _refuse_changed_gold_note_changed_text(self, response: LoggedResponse, stimulus: _Stimulus) -> None:
        """Refuse another right choice than the stimulus has; note where the text differs."""
        if response.gold != stimulus.gold:
            raise InputError(
                f"{response.where}: the right option of item '{response.item}', wording '{response.wording}' is not "
                "that of an earlier row; are these logs of one version of the task?"
            )
        if response.text != stimulus.text:
            self.differing_numbers.add(stimulus.number)

    def _refuse_second_response(self, response: LoggedResponse, stimulus_number: int) -> None:
        """Refuse a second response of a model to one stimulus under one condition."""
        marks = self._marks_by_condition.setdefault((response.model, response.condition), bytearray())
        if stimulus_number >= len(marks):
            marks.extend(bytes(stimulus_number + 1 - len(marks)))
        if marks[stimulus_number]:
            raise InputError(
                f"{response.where}: model '{response.model}' has a response to item '{response.item}', wording "
                f"'{response.wording}' under '{response.condition}' already; leave one of the two out, or say what "
                "tells them apart (--variant-key)"
            )
        marks[stimulus_number] = 1


def _build_response_cells_of_choice(response: LoggedResponse) -> tuple[Any, ...]:
    """Make probability, logprob, count, invalid, mass, mass_upper and answer of a choice among options."""
    if response.score is not None:
        score = response.score
        letter = None if score.answer is None else ascii_uppercase[score.answer]
        return score.probability, score.logprob or None, None, None, score.mass, score.mass_upper, letter
    probability = mass = upper = None
    if response.logprob is not None and response.one_distribution:
        probability = compute_option_probabilities(response.where, response.logprob)
        mass, upper = min(math.fsum(probability), 1.0), 1.0
    answer = None if response.answer is None else ascii_uppercase[response.answer]
    return probability, response.logprob, response.count, response.invalid, mass, upper, answer


def compute_option_probabilities(where: str, logprob: Sequence[float]) -> list[float]:
    """Compute the probabilities of options that exclude each other from their logarithms.

    Parameters
    ----------
    where
        File and row, for messages.
    logprob
        Log-likelihood of every option.

    Returns
    -------
    list of float
        They add up to 1 at most: a sum that is larger by rounding alone (`ROUNDING`) is divided out.

    Raises
    ------
    InputError
        They add up to more than that.

    >>> compute_option_probabilities("a", [0.0, math.log(0.004)])[0] == 1 / 1.004
    True
    """
    probabilities = [math.exp(value) for value in logprob]
    total = math.fsum(probabilities)
    if total > 1 + ROUNDING:
        raise InputError(
            f"{where}: the probabilities of the {len(probabilities)} options add up to {total:.4g}, more than 1; these "
            "are no log-likelihoods of options after one text"
        )
    return [value / total for value in probabilities] if total > 1 else probabilities


def _build_right_or_wrong_response_cells(response: LoggedResponse) -> tuple[Any, ...]:
    """Make the same cells, in the same order, of a response that is only right or wrong."""
    right = 0 if not response.choices else response.gold
    count = response.count and (response.count[right or 0], sum(response.count) - response.count[right or 0])
    answer = None if response.answer is None else RIGHT if response.answer == right else WRONG
    return None, None, count, response.invalid, None, None, answer


def _build_score_and_sample_score(scores: Sequence[float]) -> tuple[float | None, Sequence[float] | None]:
    """Make score and sample_score: of several samples, the score is their mean."""
    if len(scores) < 2:
        return (scores[0] if scores else None), None
    return math.fsum(scores) / len(scores), scores


def build_response_columns_of_logged_rows(rows: Sequence[tuple[Any, ...]]) -> dict[str, Sequence[Any]]:
    """Turn rows of `LoggedStimuli.build_response_row_and_add_stimulus` into columns of responses, without `study`."""
    return dict(zip(_COLUMNS, zip(*rows, strict=True), strict=False))
