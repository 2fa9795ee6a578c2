"""What is read from the outputs of vLLM, however it orders them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from inference.engines.vllm.requested_tokens import read_logprobs_of_tokens_per_output


def output_of(told: list[tuple[int, float]]) -> Any:
    flat = SimpleNamespace(token_ids=[token for token, _ in told], logprobs=[logprob for _, logprob in told])
    return SimpleNamespace(outputs=[SimpleNamespace(logprobs=flat)])


def test_log_probabilities_are_read_in_the_order_that_they_were_asked_in() -> None:
    outputs = [
        output_of([(9, -0.1), (4, -1.0), (2, -2.0)]),  # the written token, then the asked ones
        output_of([(2, -0.5), (4, -1.5)]),  # the written token is an asked one, and is told once
        output_of([(2, -2.5), (9, -0.2), (4, -3.5)]),
        output_of([(9, -0.3), (4, -4.5)]),  # one is missing
        output_of([]),
    ]
    expected = [[-1.0, -2.0], [-1.5, -0.5], [-3.5, -2.5], [-4.5, math.nan], [math.nan, math.nan]]
    np.testing.assert_array_equal(read_logprobs_of_tokens_per_output(outputs, (4, 2)), expected)


def test_no_output_has_no_log_probabilities() -> None:
    assert read_logprobs_of_tokens_per_output([], (4, 2)).shape == (0, 2)
