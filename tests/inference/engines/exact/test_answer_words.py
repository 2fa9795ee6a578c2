"""Answer words to token ids, and the tree that turns next-token probabilities into option probabilities."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

import pytest
import torch

from ground.errors import InputError
from helpers import tiny_models
from inference.engines.exact.answer_words import (
    Options,
    build_options_from_forms,
    extract_first_word,
    extract_prompt_end_affecting_tokens,
    tokenize_answers_into_options,
)
from inference.engines.exact.followed_paths import FollowedPaths
from inference.engines.exact.option_tree import TreeTable, build_option_tree
from inference.engines.exact.targets import Targets, WholeVocabulary, score_batch
from inference.engines.tokens import Tokens, build_encoder_without_truncation_or_padding
from inference.stimuli.templates.prompts import Prompt

VOCABULARY = 5


class Model:
    """Next-token probabilities over five tokens that depend on the row and the path, and count their calls."""

    def __init__(self, rows: int = 3, sharpness: float = 1.0) -> None:
        self.rows = rows
        self.sharpness = sharpness
        self.calls: list[tuple[int, ...]] = []

    def next_token(self, path: tuple[int, ...]) -> torch.Tensor:
        self.calls.append(path)
        generator = torch.Generator().manual_seed(hash(path) % 1000)
        scores = torch.randn(self.rows, VOCABULARY, generator=generator, dtype=torch.float64)
        return (self.sharpness * scores).log_softmax(-1)

    def of_tokens(self, path: tuple[int, ...], tokens: Sequence[int]) -> torch.Tensor:
        return self.next_token(path)[:, tokens]

    def of_path(self, path: tuple[int, ...]) -> torch.Tensor:
        steps = [self.next_token(path[:at])[:, token] for at, token in enumerate(path)]
        return torch.stack(steps).sum(0).exp()


def probabilities(model: Model, *sequences: list[tuple[int, ...]]) -> torch.Tensor:
    tree = build_option_tree(sequences)
    following = FollowedPaths([TreeTable(tree)] * model.rows, [len(sequences)] * model.rows, 1)
    first = model.of_tokens((), list(tree.children)).flatten().numpy()
    next_tokens = WholeVocabulary(model.next_token)
    found = following.compute_option_logprobs(
        first, lambda beginnings: next_tokens.compute_continuation_logprobs(beginnings, [1.0])
    )
    return torch.from_numpy(found.logprobs).exp().unflatten(0, (model.rows, len(sequences)))


def test_options_that_exhaust_the_tree_sum_to_one() -> None:
    paths = list(itertools.product(range(VOCABULARY), repeat=2))
    found = probabilities(Model(), paths[::3], paths[1::3], paths[2::3])
    assert found.sum(-1).tolist() == pytest.approx([1, 1, 1], abs=1e-12)
    model = Model()
    assert found[:, 0].tolist() == pytest.approx(sum(model.of_path(path) for path in paths[::3]).tolist())


def test_an_answer_that_begins_another_counts_where_it_ends() -> None:
    model = Model()
    found = probabilities(model, [(1,)], [(1, 0)], [(1, 0, 0)], [(2,)])
    goes_on = model.next_token((1,))[:, 0].exp()
    further = model.next_token((1, 0))[:, 0].exp()
    one = model.of_path((1,))
    assert found[:, 0].tolist() == pytest.approx((one * (1 - goes_on)).tolist())
    assert found[:, 1].tolist() == pytest.approx((one * goes_on * (1 - further)).tolist())
    assert found[:, 2].tolist() == pytest.approx((one * goes_on * further).tolist())


def test_an_answer_that_others_follow_completely_keeps_nothing() -> None:
    found = probabilities(Model(), [(1,)], [(1, token) for token in range(VOCABULARY)])
    assert found[:, 0].tolist() == pytest.approx([0, 0, 0], abs=1e-12)
    assert found[:, 1].tolist() == pytest.approx(Model().of_path((1,)).tolist())


def test_longer_forms_of_the_same_option_are_held_by_the_shorter() -> None:
    model = Model()
    found = probabilities(model, [(1,), (1, 0), (1, 2, 3)], [(2,)])
    assert found[:, 0].tolist() == pytest.approx(Model().of_path((1,)).tolist())
    assert model.calls == [()]


def test_one_forward_pass_per_inner_node_and_none_for_single_tokens() -> None:
    model = Model()
    probabilities(model, [(0,), (1,)], [(2,), (3,)])
    assert model.calls == [()]
    model = Model()
    probabilities(model, [(0, 1), (0, 2)], [(0, 3, 3), (1,)])
    assert sorted(model.calls) == [(), (0,), (0, 3)]


def test_what_cannot_matter_is_not_computed() -> None:
    model = Model(sharpness=60.0)
    sequences = [[(token,), ((token + 1) % VOCABULARY, 0)] for token in (0, 2)]
    found = probabilities(model, *sequences)
    exact = [sum(Model(sharpness=60.0).of_path(path) for path in paths) for paths in sequences]
    for option, expected in enumerate(exact):
        assert found[:, option].tolist() == pytest.approx(expected.tolist(), rel=2e-9)
    single = Model(rows=1, sharpness=200.0)
    best = int(single.next_token(()).argmax())
    single.calls.clear()
    probabilities(single, [(best,), ((best + 1) % VOCABULARY, 0)], [((best + 2) % VOCABULARY,)])
    assert single.calls == [()]


def test_an_impossible_option_has_probability_zero_not_nan() -> None:
    class Certain(Model):
        def next_token(self, path: tuple[int, ...]) -> torch.Tensor:
            return torch.tensor([[0.0, *[-math.inf] * (VOCABULARY - 1)]], dtype=torch.float64)

    assert probabilities(Certain(rows=1), [(0,)], [(1,), (2, 0)]).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("likeliest", "expected"),
    [(0, 0), (1, 1), (4, None), (2, 1)],  # token 2 begins both options; the second is the likelier one
)
def test_the_answer_is_the_owner_of_the_likeliest_token(likeliest: int, expected: int | None) -> None:
    options = Options(((), ()), (((0,), (2, 0)), ((1,), (2, 1))), ())
    target = Targets().find_or_build_target("any", lambda: options)

    def next_token(path: tuple[int, ...]) -> torch.Tensor:
        scores = torch.zeros(1, VOCABULARY)
        scores[0, likeliest if not path else 1] = 5
        return scores.log_softmax(-1)

    ((score,),) = score_batch([target], WholeVocabulary(next_token))
    assert score.answer == expected
    assert score.mass == pytest.approx(sum(score.probability))


def test_rows_of_one_batch_may_have_targets_of_their_own() -> None:
    targets = Targets()
    first = targets.find_or_build_target("a", lambda: Options(((), ()), (((0,),), ((1,),)), ()))
    second = targets.find_or_build_target("b", lambda: Options(((), ()), (((2, 3),), ((4,),)), ()))
    again = targets.find_or_build_target("c", lambda: Options(((), ()), (((0,),), ((1,),)), ()))
    assert again is first
    model = Model()
    scores = [score for (score,) in score_batch([first, second, again], WholeVocabulary(model.next_token))]
    assert scores[0].probability[0] == pytest.approx(float(model.of_path((0,))[0]))
    assert scores[1].probability[0] == pytest.approx(float(model.of_path((2, 3))[1]))
    assert scores[2].probability[1] == pytest.approx(float(model.of_path((1,))[2]))


def test_forms_with_the_same_ids_count_once() -> None:
    tokenizer = tiny_models.metaspace_tokenizer()
    options = tokenize_answers_into_options(
        "Reply:", (("yes", " yes", "yes"), ("no",)), build_encoder_without_truncation_or_padding(tokenizer)
    )
    assert len(options.sequences[0]) == len(set(options.sequences[0]))
    assert len(options.forms[0]) > len(options.sequences[0])


def test_ids_shared_by_two_options_are_refused() -> None:
    with pytest.raises(InputError, match="'yes' of option 1 and 'yep' of option 2 are the same"):
        build_options_from_forms((("yes",), ("yep",)), [(0, "yes", (3,)), (1, "yep", (3,))], [])


def test_context_is_the_last_word_with_the_space_behind_it() -> None:
    assert extract_prompt_end_affecting_tokens("Some text.\nReply: ") == "Reply: "
    assert extract_prompt_end_affecting_tokens("答" * 100) == "答" * 32
    for end in ("a", "a b\n", " ", "a\u2028", "a \x1c\n ", "\n\na", "a\tb \t"):
        assert extract_prompt_end_affecting_tokens(end) == re.search(r"\S*\s*$", end).group()
    assert extract_first_word(" with it.") == " with"
    assert extract_prompt_end_affecting_tokens("") == extract_first_word("") == ""


@pytest.mark.parametrize("eos", [False, True])
def test_one_bos_and_no_eos(eos: bool) -> None:
    tokenizer = tiny_models.metaspace_tokenizer(chat=True, eos=eos)
    tokens = Tokens("tiny", tokenizer)
    bos, end = tokenizer.bos_token_id, tokenizer.eos_token_id
    chat = Prompt(None, ({"role": "user", "content": "Reply yes or no."},), ())
    for prompt in (Prompt("Reply:", None, ()), Prompt("<s>Reply:", None, ()), chat):
        text = tokens.render(prompt)
        (ids,) = tokens.encode([text], [prompt.messages is not None])
        assert ids.count(bos) == 1
        assert ids[0] == bos
        assert end not in ids


def test_tokenizers_without_bos_get_none() -> None:
    tokenizer = tiny_models.byte_tokenizer()
    assert Tokens("tiny", tokenizer).encode(["Reply:"], [False]) == [tokenizer("Reply:")["input_ids"]]


def test_truncation_and_padding_left_in_a_tokenizer_file_are_ignored() -> None:
    tokenizer = tiny_models.byte_tokenizer()
    tokenizer.backend_tokenizer.enable_truncation(3)
    tokenizer.backend_tokenizer.enable_padding(length=50)
    (ids,) = build_encoder_without_truncation_or_padding(tokenizer)(["A warm lamp makes a small room friendlier."])
    assert 3 < len(ids) < 50


def test_a_chat_template_gets_a_date_that_stays() -> None:
    template = "{{ date_string if date_string is defined else strftime_now('%d %b %Y') }}{{ messages[0]['content'] }}"
    tokens = Tokens("tiny", tiny_models.byte_tokenizer(chat=True, template=template))
    assert tokens.render(Prompt(None, ({"role": "user", "content": "?"},), ())) == "26 Jul 2024?"


def test_messages_that_a_template_refuses_are_an_input_error() -> None:
    template = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    tokens = Tokens("tiny", tiny_models.byte_tokenizer(chat=True, template=template))
    with pytest.raises(InputError, match=r"model tiny: its chat template refuses these messages .no system role."):
        tokens.render(Prompt(None, ({"role": "system", "content": "Be brief."},), ()))
