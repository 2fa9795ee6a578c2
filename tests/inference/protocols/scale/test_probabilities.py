"""Probabilities of 5 and of 11 options equal a slow sum over all spellings, one token after the other."""

from __future__ import annotations

import math
import re
from itertools import product
from typing import Any

import pytest
import torch

from helpers import tiny_models
from inference.engines.loading import Checkpoint
from inference.engines.local.causal import CausalEngine
from inference.protocols.scale import Questions, read_scale_prompts
from inference.protocols.scale.items import build_scale_study
from inference.protocols.scale.shown import DOWN, LABELS, NUMBERS, UP, WORDS, Showing
from inference.stimuli.study import ORIGINAL, Item, Variant

FIVE = ("Strongly disagree", "Disagree", "Neither", "Agree", "Agree strongly")  # one begins another
ELEVEN = ("no", "not", "not at all", "less", "a bit", "half", "more", "much", "very much", "nearly", "yes")
NUMBERED = tuple(map(str, range(11)))
TOLERANCE = 5e-6
TOKENIZERS = {
    "llama": tiny_models.metaspace_tokenizer,
    "gpt2": tiny_models.byte_tokenizer,
    "qwen2": tiny_models.byte_tokenizer,
    "gemma3": tiny_models.metaspace_tokenizer,
}
LONG = {"gpt2": {"n_positions": 1024}}


def build_engine(architecture: str) -> CausalEngine:
    """A random model that likes to write digits, letters and words of the options, so that these have probability."""
    tokenizer = TOKENIZERS[architecture](chat=True)
    settings = LONG.get(architecture, {"max_position_embeddings": 1024})
    model = tiny_models.model(architecture, tokenizer, **settings)
    bias = torch.zeros(len(tokenizer))
    bias[[token for token in range(len(tokenizer)) if tokenizer.decode([token]).strip().isalnum()]] = 3.0
    model.get_output_embeddings().register_forward_hook(lambda module, given, logits: logits + bias)
    return CausalEngine(Checkpoint("tiny", model, tokenizer, {}, 0))


def build_variant(options: tuple[str, ...]) -> Variant:
    variant = Variant("bread", ORIGINAL, ORIGINAL, "Bread tastes better on the day it is baked.", ())
    (item,) = build_scale_study([Item("bread", (variant,))], "s", options).items
    return item.variants[0]


class SlowModel:
    """Next-token probabilities, one forward pass per path, or for all paths of a length."""

    def __init__(self, engine: CausalEngine, prompt: Any) -> None:
        self.model, self.tokenizer = engine.model, engine.tokenizer
        if prompt.messages is None:
            self.text, is_chat = prompt.text, False
        else:
            self.text, is_chat = self.tokenizer.apply_chat_template(
                list(prompt.messages), tokenize=False, add_generation_prompt=True), True  # fmt: skip
        self.bare = self.encode(self.text)
        lead = self.tokenizer("a")["input_ids"][: -len(self.encode("a"))]
        self.ids = [*([] if is_chat else lead), *self.bare]
        self.known: dict[tuple[int, ...], torch.Tensor] = {}

    def encode(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    @torch.inference_mode()
    def follow(self, paths: list[tuple[int, ...]]) -> None:
        """Keep what follows paths of one length; a pass gives what follows every beginning of a path, too."""
        logits = self.model(torch.tensor([[*self.ids, *path] for path in paths])).logits[:, len(self.ids) - 1 :]
        for path, after in zip(paths, logits.double().softmax(-1), strict=True):
            for end, following in enumerate(after):
                self.known.setdefault(path[:end], following)

    def following(self, path: tuple[int, ...]) -> torch.Tensor:
        if path not in self.known:
            self.follow([path])
        return self.known[path]

    def reach(self, path: tuple[int, ...]) -> float:
        self.following(path)
        return math.prod(float(self.following(path[:at])[token]) for at, token in enumerate(path))

    def sum_spellings(self, answers: tuple[tuple[str, ...], ...]) -> list[float]:
        """Sum over the spellings of every answer; where another answer goes on, what ends there counts."""
        owner = {
            tuple(ids[len(self.bare) :]): option
            for option, words in enumerate(answers) for word in words for space in ("", " ")
            if (ids := self.encode(self.text + space + word))[: len(self.bare)] == self.bare
        }  # fmt: skip
        for length in {len(path) for path in owner}:
            self.follow([path for path in owner if len(path) == length])
        total = [0.0] * len(answers)
        for path, option in owner.items():
            begun = (owner.get(path[:end]) for end in range(1, len(path)))
            longer = [other for other in owner if other[: len(path)] == path != other]
            if option in begun and all(owner[other] == option for other in owner if other[:1] == path[:1]):
                continue  # a shorter spelling of the option counts it
            ends = 1.0
            if any(owner[other] != option for other in longer):
                ends -= sum(float(self.following(path)[token]) for token in {other[len(path)] for other in longer})
            total[option] += self.reach(path) * ends
        return total

    def sum_numbers(self, answers: tuple[str, ...]) -> list[float]:
        """Sum over all token paths whose text is the number, each as far as no digit or decimal follows."""
        wanted = {form: place for place, answer in enumerate(answers) for form in (answer, f" {answer}")}
        total = [0.0] * len(answers)

        def decode(paths: list[list[int]]) -> list[str]:
            texts = self.tokenizer.batch_decode(paths, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            return [text[len(before) :] for text in texts]

        anchor = self.encode("a")
        (before,) = self.tokenizer.batch_decode([anchor])
        starts = decode([[*anchor, token] for token in range(len(self.tokenizer))])
        candidates = [token for token, text in enumerate(starts) if text[:1] and text[:1] in " .0123456789"]

        def visit(path: tuple[int, ...], here: str) -> None:
            after = dict(zip(candidates, decode([[*anchor, *path, token] for token in candidates]), strict=True))
            if here in wanted:
                more = {token: text[len(here) :] for token, text in after.items()}
                goes_on = [t for t, text in more.items() if text[:1].isdigit() or re.match(r"\.[0-9]", text)]
                ends = 1 - float(self.following(path)[goes_on].sum())
                total[wanted[here]] += self.reach(path) * ends
            longer = {}
            for token, text in after.items():
                if text != here and any(form.startswith(text) for form in wanted):
                    longer[(*path, token)] = text
            if longer:
                self.follow(list(longer))
            for each in longer.items():
                visit(*each)

        visit((), "")
        return total


def list_cases() -> list[Any]:
    """All options and labels with either tokenizer, in one form each; in the other form, those of several tokens.

    What follows the words is computed alike for all: `inference/engines/local` asks every family.
    """
    several = [(ELEVEN, WORDS), (NUMBERED, NUMBERS)]
    all_options = [*product((FIVE, ELEVEN), LABELS), (NUMBERED, NUMBERS)]
    cases = [
        (*model_and_form, *each)
        for model_and_form, options in (
            (("llama", "chat"), all_options), (("gpt2", "plain"), all_options),
            (("qwen2", "chat"), several), (("gemma3", "plain"), several),
        )
        for each in options
    ]  # fmt: skip
    return [
        pytest.param(*case, id=f"{case[0]} {case[1]} {len(case[2])} {case[3]}{' whole' * (case[2] is NUMBERED)}")
        for case in cases
    ]


ENGINES: dict[str, CausalEngine] = {}


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "form", "options", "labels"), list_cases())
def test_options_equal_a_slow_sum_over_all_spellings(architecture, form, options, labels):
    if architecture not in ENGINES:
        ENGINES[architecture] = build_engine(architecture)
    engine = ENGINES[architecture]
    variant = build_variant(options)
    showings = [Showing(labels, order, middle) for order, middle in ((UP, False), (DOWN, True))]
    rounds = Questions(read_scale_prompts(), tuple(showings)).rounds(form)
    prompts = [round_.render(variant, None) for round_ in rounds]
    assert len({engine.render(prompt) for prompt in prompts}) == len(prompts)
    engine.cut_into_batches(prompts)
    (scores,) = engine.score(prompts)
    for prompt, score, round_, showing in zip(prompts, scores, rounds, showings, strict=True):
        row, slow = round_.read(variant, prompt, score), SlowModel(engine, prompt)
        two_digits = prompt.numbers is not None
        assert two_digits == (labels == NUMBERS and len(options) == 11)
        expected = (
            slow.sum_numbers(list_rising_answers(options, showing))
            if two_digits
            else slow.sum_spellings(prompt.answers)
        )
        assert len(row["probability"]) == len(options) - showing.without_middle
        assert row["probability"] == pytest.approx(expected, abs=TOLERANCE, rel=2e-4)
        assert row["mass"] == pytest.approx(sum(expected), abs=TOLERANCE, rel=2e-4)
        assert sum(expected) > 1e-4
        if two_digits:
            shown = [option for option in options if not showing.without_middle or option != options[5]]
            assert row["answer"] == shown[expected.index(max(expected))]


def list_rising_answers(options: tuple[str, ...], showing: Showing) -> tuple[str, ...]:
    """What stands for each option, written by hand: 1 to 11 or 11 to 1, and the whole numbers themselves."""
    if options == NUMBERED:
        return tuple(option for option in options if not showing.without_middle or option != "5")
    numbers = tuple(map(str, range(1, 12 - showing.without_middle)))
    return numbers if showing.order == UP else numbers[::-1]
