"""Models with an attention window count places in the cache: a prompt may not push another one's answers out of it."""

from __future__ import annotations

import itertools

import pytest
import torch

from helpers import tiny_models
from inference.engines.exact.answer_words import Options
from inference.engines.exact.option_tree import build_option_tree
from inference.engines.exact.targets import Target, WholeVocabulary, score_batch
from inference.engines.loading import Checkpoint
from inference.engines.local.answer_paths import AnswerPaths
from inference.engines.local.causal import CausalEngine
from inference.engines.local.continuations import Continuations, Prefix

LIKELY, UNLIKELY, NEVER = 5, 6, 299


@pytest.mark.slow
@pytest.mark.parametrize("most_positions", [72, 512])
def test_prompts_that_keep_many_places_leave_room_for_those_that_need_many(most_positions: int) -> None:
    """A keeps the long way behind LIKELY, then B reads its long way behind UNLIKELY: 77 places, 64 of them in view."""
    model = tiny_models.model(
        "gpt_neo", tiny_models.byte_tokenizer(vocab_size=300), max_position_embeddings=most_positions, window_size=64,
        initializer_range=0.3,
    )  # fmt: skip
    bias = torch.zeros(model.config.vocab_size)
    bias[10:20], bias[NEVER], bias[LIKELY], bias[UNLIKELY] = 6.0, -1000.0, 12.0, 5.0
    model.get_output_embeddings().register_forward_hook(lambda module, inputs, logits: logits + bias)
    engine = CausalEngine(Checkpoint("tiny", model, tiny_models.byte_tokenizer(vocab_size=300), {}), None)
    tokens = itertools.cycle([13, 11, 17, 19, 12, 10, 16])
    ways = {
        (first, length): (first, *itertools.islice(tokens, length), *([NEVER] if first == LIKELY else []))
        for first in (LIKELY, UNLIKELY) for length in (36, 18)
    }  # fmt: skip
    targets = []
    for lengths in ((36, 18), (18, 36)):
        sequences = ((ways[LIKELY, lengths[0]], ways[UNLIKELY, lengths[1]]), ((30,),))
        options = Options(((), ()), sequences, ())
        targets.append(Target(options, build_option_tree(sequences), options.options_by_first_token))
    prompts, trees = [[40, 41, 42, 43, 44], [50, 51, 52]], [target.tree for target in targets]
    budget = engine._choose_pass_budget(5, max(target.longest_answer_length for target in targets),
                                        max(len(target.tree_as_arrays.nodes) for target in targets))  # fmt: skip
    with torch.inference_mode():
        kept, alone = (Continuations(engine.run_model, prompts, Prefix([]), is_kept) for is_kept in (True, False))
        scores = score_batch(targets, AnswerPaths(kept, trees, (1.0,), budget), (1.0,))
        slow_scores = score_batch(targets, WholeVocabulary(alone.compute_next_logprobs), (1.0,))
    for (score,), (slow_score,) in zip(scores, slow_scores, strict=True):
        assert score.logprob == pytest.approx(slow_score.logprob, abs=2e-3)
