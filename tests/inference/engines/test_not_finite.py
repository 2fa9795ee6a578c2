"""A probability that is no number is an error, never a row: in options, numbers, texts and thinking."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from ground.errors import InputError
from helpers import tiny_models
from inference import engines
from inference.engines.checking import refuse_nonfinite_weights
from inference.engines.contract import NOT_FINITE, Sampling, Thinking
from inference.engines.exact.answer_words import Options
from inference.engines.exact.number_probabilities import build_number_scores_per_row
from inference.engines.exact.option_tree import build_option_tree
from inference.engines.exact.targets import Target, WholeVocabulary, score_batch
from inference.engines.local.classifier import _build_score_from_class_log_probabilities
from inference.stimuli.templates.prompts import Prompt

ANSWERS = (("yes", "Yes"), ("no", "No"))
NAN = math.nan


def scored(sequences, rows):
    options = Options(forms=((), ()), sequences=sequences, dropped=())
    target = Target(options, build_option_tree(sequences), options.options_by_first_token)
    return [scores[0] for scores in score_batch([target] * len(rows), WholeVocabulary(lambda path: torch.tensor(rows)))]


@pytest.mark.parametrize("sequences", [(((0,),), ((1,),)), (((0, 1),), ((1, 0),))], ids=["one token", "two tokens"])
def test_options(sequences):
    """With two tokens, a row of NaN used to get the probability 0."""
    good, bad = scored(sequences, [[-1.0, -1.0, -2.0], [NAN, NAN, NAN]])
    assert good.error is None and all(map(math.isfinite, good.probability))
    assert (bad.error, bad.probability, bad.mass) == (NOT_FINITE, (), None)


def test_an_impossible_option_is_no_error():
    (score,) = scored((((0,),), ((1,),)), [[0.0, -math.inf, -math.inf]])
    assert (score.error, score.probability) == (None, (1.0, 0.0))


def test_classes_of_a_classifier():
    bad = _build_score_from_class_log_probabilities([NAN, NAN, NAN], [0, 1])
    assert (bad.error, bad.probability, bad.mass) == (NOT_FINITE, (), None)


def test_numbers_of_a_scale():
    ((good,), (bad,)) = build_number_scores_per_row(np.log(np.array([[[0.25, 0.5], [NAN, 0.5]]])))
    assert (good.error, good.answer) == (None, 1)
    assert (bad.error, bad.probability) == (NOT_FINITE, ())


def test_numbers_of_a_scale_are_those_of_each_row_and_temperature():
    logprobs = np.log(np.random.default_rng(0).dirichlet(np.ones(6), size=(2, 4)))[..., :5]  # 2 temperatures, 4 rows
    scores = build_number_scores_per_row(logprobs)
    assert [len(row) for row in scores] == [2] * 4
    for row, by_temperature in enumerate(scores):
        for t, score in enumerate(by_temperature):
            assert score.logprob == tuple(logprobs[t, row])
            assert score.probability == tuple(np.exp(logprobs[t, row]))
            assert score.mass == pytest.approx(sum(score.probability), rel=1e-14)
            assert score.answer == logprobs[t, row].argmax()


@pytest.fixture(scope="module")
def overflowing(tmp_path_factory):
    """A model with finite weights, too large to compute with."""
    folder = tiny_models.checkpoint(tmp_path_factory.mktemp("models") / "llama", "llama")
    engine = engines.load_engine(folder)
    with torch.no_grad():
        engine.model.model.layers[-1].mlp.down_proj.weight.fill_(3e38)
    return engine


def test_texts_options_and_thinking_of_a_model_that_overflows(overflowing):
    prompts = [Prompt("Reply yes or no. Statement: bread.\nReply:", None, ANSWERS)] * 2
    assert [score.error for score in overflowing.score(prompts)[0]] == [NOT_FINITE] * 2
    ways = [Sampling(), Sampling(3, 0.7)]
    assert [[text.error for text in texts] for texts in overflowing.generate(prompts, ways)] == [[NOT_FINITE] * 2] * 2
    assert [thought.error for thought in overflowing.think(prompts, Thinking(1, 0.0, max_tokens=8))] == [NOT_FINITE] * 2


@pytest.mark.parametrize("value", [NAN, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_weights_that_are_no_numbers_are_refused(value, dtype):
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 5)).to(dtype)
    refuse_nonfinite_weights("tiny", model)
    with torch.no_grad():
        model[1].weight[2, 3] = value
    with pytest.raises(InputError, match=r"model tiny: its weights hold NaN or infinity \(1.weight\)"):
        refuse_nonfinite_weights("tiny", model)


def test_weights_whose_sum_is_too_large_are_numbers():
    model = torch.nn.Linear(2, 2)
    with torch.no_grad():
        model.weight.fill_(3e38)
    refuse_nonfinite_weights("tiny", model)
