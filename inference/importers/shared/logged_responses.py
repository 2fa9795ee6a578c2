"""Turn the responses that other tools logged into a study and its response rows: what all importers of logs share.

An importer reads its files and yields a `LoggedResponse` for every response. They become a study of one of three
protocols:

- `choice`, where the log shows the options of a question. Variants are `WORDING/ORDER`. Letters in the question's own
  order are canonical: that in which its first response shows the choices. Other orders of the same words are numbered.
- `agreement` with the labels `right` and `wrong`, where only the outcome is known, or wanted. The right answer is
  always `right`, so that agreement is the share of right answers. Probabilities are not kept: the likeliest of four
  options may have less than half of their probability.
- `scored`, where every number that a log has of a response is wanted: a response per measure, each measure a condition
  (`scored`, `logged_scores`).

A wording has one name for all items (`5-shot`), which is its `template`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inference.engines.contract import Score


@dataclass(frozen=True, slots=True)
class LoggedResponse:
    """One response as a log has it.

    Attributes
    ----------
    where
        File and row, for messages.
    wording
        Name of the wording, for all items the same: `0-shot`, `p1`.
    text
        What was asked.
    choices
        The words of the choices, in the order shown; their labels are A, B ... Empty: only the outcome is known.
    gold
        Place of the right choice.
    logprob
        Of each choice as shown, a lower bound: of one way to write it. Not given where there is another measure.
    one_distribution
        Whether these are probabilities of continuations of one text, so that they add up to 1 at most.
    score
        Of each choice as shown, the probabilities that were read from the most probable tokens: exact, or bounds.
    answer
        Place of the choice that was taken; without choices 0 (right) or 1 (wrong); None: no valid answer.
    count, invalid
        Of several samples: how often each choice, or right and wrong, was the answer; how many had no valid answer.
    scores
        By the measure of the condition, one per sample; none where `error` says why there is no score. Given in
        studies of scores only.
    output
        Raw texts.
    error
        Why there is no response.
    attributes
        Of the stimulus: `subset` and others.
    own_choices
        The same words in the order of the item's table, where the log says it; else the first response's order is it.
    """

    where: str
    model: str
    condition: str
    item: str
    wording: str
    text: str
    choices: tuple[str, ...] = ()
    gold: int | None = None
    logprob: tuple[float, ...] | None = None
    one_distribution: bool = True
    score: Score | None = None
    answer: int | None = None
    count: tuple[int, ...] | None = None
    invalid: int | None = None
    scores: tuple[float, ...] | None = None
    output: tuple[str, ...] | None = None
    error: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    own_choices: tuple[str, ...] = ()
