"""Token texts are decoded all at once, and are what `transformers` decodes one by one."""

from __future__ import annotations

from typing import Any

import pytest

from helpers import tiny_models
from inference.engines.tokens import Tokens


@pytest.mark.parametrize(
    "make", [tiny_models.byte_tokenizer, tiny_models.metaspace_tokenizer, tiny_models.wordpiece_tokenizer]
)
def test_texts_are_those_that_transformers_decodes_one_by_one(make: Any) -> None:
    tokenizer = make()
    tokens = Tokens("tiny", tokenizer)
    some = [[token, (7 * token) % len(tokenizer), 3] for token in range(len(tokenizer))]
    expected = [
        tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False) for ids in [*some, []]
    ]
    assert tokens.decode([*some, []]) == expected
