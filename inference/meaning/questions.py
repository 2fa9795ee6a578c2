"""Ask whether two texts mean the same: a study of pairs, each asked twice, in either direction or order of options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from inference.asking.rounds import Round, build_round_per_setting
from inference.judge.questions import break_turn_marks_in_text
from inference.meaning.checks import ENTAILMENT, JUDGE
from inference.meaning.wordings import Pair
from inference.stimuli import entailment
from inference.stimuli.study import Item, Option, Study, Variant
from inference.stimuli.templates.prompt_forms import CHAT, OPTION_ORDERS, PLAIN, Fields
from inference.stimuli.templates.prompts import Prompt, PromptBook

FOLDER = Path(__file__).parent
PROTOCOL = "meaning"
SAME, DIFFERENT = "same", "different"
# Either text is the premise once.
DIRECTIONS = ("original-first", "wording-first")
OPTIONS = {ENTAILMENT: entailment.OPTIONS, JUDGE: tuple(Option(label, label) for label in (SAME, DIFFERENT))}
"""Of each kind of check; the first one speaks for the same meaning."""
DECISION_RULES = {
    ENTAILMENT: "the smaller of the probabilities of entailment in both directions",
    JUDGE: "the probability of the same meaning, mean over both orders of the options",
}
_TRIAL = {"original": "An original.", "wording": "A wording.", "mark": "====="}
FIELDS = Fields(
    variables=frozenset({*_TRIAL, "options"}),
    needed=frozenset({"original", "wording"}),
    trials=(_TRIAL,),
    forms=(PLAIN, CHAT),
    answers=True,
)


def build_pair_study(kind: str, pairs: Sequence[Pair]) -> Study:
    """Make a study of pairs of texts.

    Parameters
    ----------
    kind
        `ENTAILMENT` or `JUDGE`.
    pairs
        The pairs.

    Returns
    -------
    The study: an item per pair, named by its key; its variant is the text, its attribute `original` the original.
    """
    options = OPTIONS[kind]
    pair_items = tuple(
        Item(pair.key, (Variant(pair.key, "pair", "pair", pair.text, options, attributes={"original": pair.original}),))
        for pair in pairs
    )
    labels = tuple(option.label for option in options)
    return Study(PROTOCOL, kind, pair_items, labels, DECISION_RULES[kind], paraphrased=False)


@dataclass(frozen=True, slots=True)
class EntailmentQuestions:
    """Whether the original entails the wording, and the wording the original."""

    book: PromptBook

    def rounds(self, form: str) -> list[Round]:
        """Make a round per direction.

        Raises
        ------
        InputError
            The prompts do not have this form.
        """
        return build_round_per_setting(self.book, form, "direction", DIRECTIONS, self._render_prompt)

    def _render_prompt(self, form: str, direction: str, variant: Variant, mask_token: str | None) -> Prompt:
        """Render the prompt of a pair in one direction."""
        texts = (variant.attributes["original"], variant.text)
        premise, hypothesis = texts if direction == DIRECTIONS[0] else texts[::-1]
        labels = [option.label for option in variant.options]
        values = {"premise": premise, "hypothesis": hypothesis, "options": labels, "mask": mask_token}
        return self.book.render(form, values)


@dataclass(frozen=True, slots=True)
class JudgeQuestions:
    """Whether both texts mean the same, once in each order of the options."""

    book: PromptBook

    def rounds(self, form: str) -> list[Round]:
        """Make a round per order.

        Raises
        ------
        InputError
            The prompts do not have this form.
        """
        return build_round_per_setting(self.book, form, "option_order", OPTION_ORDERS, self._render_prompt)

    def _render_prompt(self, form: str, order: str, variant: Variant, _mask_token: str | None) -> Prompt:
        """Render the prompt of a pair with its options in one order; the answers keep theirs."""
        values = {
            "original": break_turn_marks_in_text(variant.attributes["original"]),
            "wording": break_turn_marks_in_text(variant.text),
            "mark": f"=== {variant.item[:10]} ===",
            "options": [option.label for option in variant.options],
        }
        return self.book.render(form, values, option_order=order)
