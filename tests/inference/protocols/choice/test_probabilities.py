"""Probabilities of letters and of the choices' own words, against the slow way: token by token with transformers."""

from __future__ import annotations

import math

import pytest
import torch
import transformers

from helpers.commands import ROOT
from inference.engines import load_engine
from inference.protocols import choice
from inference.protocols.choice.wordings import build_question_items
from inference.stimuli.questions import Question

SMALL = str(ROOT / "inference" / "demo" / "models" / "waver-demo-small")
# Choices that begin others, with one token and with several; the last is "in the" and more.
QUESTION = Question(
    "fox", "What is like the fox?", ("red", "red and blue", "in the house", "in the", "in the house of the mouse"), 0,
    orders=((4, 3, 2, 1, 0), (0, 1, 2, 3, 4), (2, 0, 4, 1, 3)),
)  # fmt: skip
TOLERANCE = 1e-5  # float32 in both, summed in another order


@pytest.fixture(scope="module")
def engine():
    return load_engine(SMALL, dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def slow():
    tokenizer = transformers.AutoTokenizer.from_pretrained(SMALL)
    model = transformers.AutoModelForCausalLM.from_pretrained(SMALL, dtype=torch.float32).eval()

    def probabilities(text: str, choices: tuple[str, ...]) -> list[float]:
        """Sum over the spellings of a choice; where a longer choice goes on, only what does not go on counts."""
        prompt = tokenizer(text, add_special_tokens=False)["input_ids"]
        lead = [tokenizer.bos_token_id] if tokenizer("")["input_ids"] else []
        spelt = [
            {tuple(tokenizer(text + space + words, add_special_tokens=False)["input_ids"][len(prompt) :])
             for space in ("", " ")}
            for words in choices
        ]  # fmt: skip

        @torch.no_grad()
        def following(path: tuple[int, ...]) -> torch.Tensor:
            return model(torch.tensor([lead + prompt + list(path)])).logits[0, -1].double().softmax(-1)

        def one(own: int, path: tuple[int, ...]) -> float:
            steps = math.prod(float(following(path[:at])[token]) for at, token in enumerate(path))
            on = {other[len(path)] for number, some in enumerate(spelt) if number != own
                  for other in some if other[: len(path)] == path and len(other) > len(path)}  # fmt: skip
            return steps * (1 - sum(float(following(path)[token]) for token in on))

        return [sum(one(number, path) for path in paths) for number, paths in enumerate(spelt)]

    return probabilities


@pytest.mark.slow
@pytest.mark.parametrize("way", ["letters", "texts"])
def test_probabilities_are_those_of_the_slow_way_in_every_order(engine, slow, way):
    (item,) = build_question_items([QUESTION])
    (asked,) = choice.Questions(choice.read_choice_prompts(), ways=(way,)).rounds("plain")
    for variant in item.variants:
        prompt = asked.render(variant, None)
        ((score,),) = engine.score([prompt])
        expected = slow(prompt.text, tuple(words for (words,) in prompt.answers))
        assert score.probability == pytest.approx(expected, rel=1e-4, abs=TOLERANCE)
        if way == "texts":
            row = asked.read(variant, prompt, score)
            assert row["answer"] == variant.options[expected.index(max(expected))].label


def test_a_letter_is_a_capital_with_or_without_a_space_and_nothing_else(engine):
    (item,) = build_question_items([QUESTION])
    (asked,) = choice.Questions(choice.read_choice_prompts()).rounds("plain")
    explained = engine.explain_and_score_prompt(asked.render(item.variants[0], None))
    assert [{form for form, _ in forms} for forms in explained.options] == [{each, f" {each}"} for each in "ABCDE"]
