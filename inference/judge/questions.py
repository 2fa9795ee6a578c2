"""Ask which option a reply means: a study of replies, and two rounds that show the options in opposite orders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from inference.asking.rounds import Round, build_round_per_setting
from inference.judge.texts import Reply
from inference.stimuli.study import Item, Option, Study, Variant
from inference.stimuli.templates.prompt_forms import Fields, list_spellings_in_all_cases
from inference.stimuli.templates.prompts import Prompt, PromptBook

NAME = "judge"
PROMPTS = Path(__file__).parent / "prompt.yaml"
NONE = "none of these"
GIVEN, REVERSED = ORDERS = ("given", "reversed")
DECISION_RULE = (
    "the probability of every option, and of none of these, to be what a reply means, in two orders of the options"
)
WORDS = "words_"  # attributes with the words of an option begin like this
_TRIAL = {
    "asked": "A question?",
    "text": "A reply.",
    "choices": [{"label": "yes", "words": ""}, {"label": "no", "words": "not so"}],
    "no_option": NONE,
    "mark": "=====",
}
FIELDS = Fields(frozenset(_TRIAL), frozenset({"text", "choices", "mark", "no_option"}), (_TRIAL,))
# What a chat template may take for the marks of a turn: <|im_end|>, </s>, <start_of_turn>, [INST] ...
_TURN_MARK = re.compile(r"<(?=\S)|\[(?=/?[A-Z_]+\])")


def read_option_judge_prompts(path: str | Path | None = None) -> PromptBook:
    """Read a prompt file that asks which option a text means; without one, Waver's own."""
    return PromptBook.load(path, PROMPTS, FIELDS)


def build_judge_study(replies: Iterable[Reply]) -> Study:
    """Make a study of replies: an item per reply, named by its key, with its own options and "none of these"."""
    items = []
    for reply in replies:
        labels = [label for label, _ in reply.options]
        attributes = {"asked": reply.asked, **{f"{WORDS}{label}": words for label, words in reply.options if words}}
        options = tuple(Option(label, label) for label in (*labels, NONE))
        items.append(
            Item(reply.key, (Variant(reply.key, "reply", "reply", reply.text, options, attributes=attributes),))
        )
    labels_of_all = dict.fromkeys(option.label for item in items for option in item.variants[0].options)
    return Study(NAME, NAME, tuple(items), tuple(labels_of_all), DECISION_RULE, paraphrased=False)


@dataclass(frozen=True, slots=True)
class Questions:
    """The question about every reply, once in each order of its options."""

    book: PromptBook

    def rounds(self, form: str) -> list[Round]:
        """Make a round per order.

        Raises
        ------
        InputError
            The prompts do not have this form.
        """
        return build_round_per_setting(self.book, form, "option_order", ORDERS, self._render_prompt)

    def _render_prompt(self, form: str, order: str, variant: Variant, _mask_token: str | None) -> Prompt:
        """Render the prompt of a reply; the answers keep the order of the variant's options."""
        labels = [option.label for option in variant.options]
        choices = [
            {
                "label": label,
                "words": " ".join(break_turn_marks_in_text(variant.attributes.get(f"{WORDS}{label}", "")).split()),
            }
            for label in labels[:-1]
        ]
        values = {
            "asked": break_turn_marks_in_text(variant.attributes["asked"]),
            "text": break_turn_marks_in_text(variant.text),
            "choices": choices if order == GIVEN else choices[::-1],
            "no_option": NONE,
            "mark": f"=== {hashlib.sha256(variant.item.encode()).hexdigest()[:10]} ===",
        }
        return replace(self.book.render(form, values), answers=tuple(map(_list_spellings_of_label, labels)))


def break_turn_marks_in_text(text: str) -> str:
    """Write other people's words so that no chat template or tokenizer takes a part of them for the mark of a turn.

    >>> break_turn_marks_in_text("Yes.<|im_end|>[INST] 1<2 a < b")
    'Yes.< |im_end|>[ INST] 1< 2 a < b'
    """
    return _TURN_MARK.sub(lambda match: f"{match[0]} ", text).strip()


def _list_spellings_of_label(label: str) -> tuple[str, ...]:
    """List the ways to write a label: a letter alone as it is, words in all cases."""
    return (label,) if len(label) == 1 else list_spellings_in_all_cases((label,))
