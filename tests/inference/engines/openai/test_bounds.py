"""What the most probable tokens say of the options: exact numbers, bounds, and never a silent zero.

The reference of the property tests is a made-up model whose whole vocabulary is known.
"""

from __future__ import annotations

import math
import random

import pytest

from ground.errors import InputError
from inference.engines.exact.answer_words import tokenize_answers_into_options
from inference.engines.openai import bounds
from inference.engines.openai.replies import MalformedReply
from inference.engines.openai.returned import ShownToken, parse_candidates_for_first_token

YES_NO = (("yes", "Yes", "YES"), ("no", "No", "NO"))


def texts(*pairs: tuple[str, float]) -> list[ShownToken]:
    return [ShownToken(math.log(p), text.encode()) for text, p in sorted(pairs, key=lambda pair: -pair[1])]


def chat(*entries: dict) -> dict:
    return {"logprobs": {"content": [{"token": "x", "logprob": 0, "top_logprobs": list(entries)}]}}


def test_whole_words_count_whatever_their_case_or_space():
    found = bounds.compute_score_from_shown_first_tokens(
        texts((" Yes", 0.5), ("yes", 0.2), (" NO", 0.1)), bounds.build_option_forms_in_bytes(YES_NO)
    )
    assert found.probability == pytest.approx((0.7, 0.1), abs=1e-15)
    assert (found.mass, found.mass_upper) == (pytest.approx(0.8, abs=1e-15), pytest.approx(1.0, abs=1e-15))
    assert found.logprob == () and found.answer == 0


def test_an_option_that_is_not_shown_is_no_exact_zero():
    found = bounds.compute_score_from_shown_first_tokens(
        texts(("Yes", 0.9), ("Maybe", 0.04)), bounds.build_option_forms_in_bytes(YES_NO)
    )
    assert found.probability == (pytest.approx(0.9), 0.0)
    assert found.mass_upper == pytest.approx(0.96, abs=1e-12)
    assert found.logprob == ()  # no logarithm that could be taken for exact


@pytest.mark.parametrize("token", ["Y", " ", " N", "", "ye"])
def test_the_beginning_of_an_answer_counts_for_the_upper_bound_only(token):
    found = bounds.compute_score_from_shown_first_tokens(
        texts(("Yes", 0.5), (token, 0.3), ("Of", 0.2)), bounds.build_option_forms_in_bytes(YES_NO)
    )
    assert found.mass == pytest.approx(0.5, abs=1e-15)
    assert found.mass_upper == pytest.approx(0.8, abs=1e-12)


@pytest.mark.parametrize("token", ["Yesterday", "Yes,", "\n", "  Yes", "oN", "es"])
def test_what_is_no_answer_counts_nowhere(token):
    found = bounds.compute_score_from_shown_first_tokens(
        texts((token, 0.6), ("Yes", 0.4)), bounds.build_option_forms_in_bytes(YES_NO)
    )
    assert (found.mass, found.mass_upper, found.answer) == (pytest.approx(0.4), None, None)
    assert found.logprob == pytest.approx((math.log(0.4), -math.inf))  # the whole vocabulary was shown: exact


def test_an_answer_that_begins_another_one_is_nobodys():
    """Is "1" the number 1 or the beginning of 10?"""
    found = bounds.compute_score_from_shown_first_tokens(
        texts(("1", 0.6), ("2", 0.3), ("x", 0.1)), bounds.build_option_forms_in_bytes((("1",), ("2",), ("10",)))
    )
    assert found.probability == pytest.approx((0, 0.3, 0))
    assert (found.mass, found.mass_upper, found.answer) == (pytest.approx(0.3), pytest.approx(0.9), None)
    same = bounds.compute_score_from_shown_first_tokens(
        texts(("agree", 0.7), ("x", 0.3)), bounds.build_option_forms_in_bytes((("agree", "agrees"), ("no",)))
    )
    assert same.probability == (pytest.approx(0.7), 0.0) and same.mass_upper is None


def test_options_with_one_word_are_refused():
    with pytest.raises(InputError, match="'yes' is an answer of options 1 and 2"):
        bounds.build_option_forms_in_bytes((("yes",), ("no", "yes")))


@pytest.mark.parametrize(
    ("entry", "upper"),
    [
        ({"token": "は", "bytes": list("は".encode())}, 0.9),  # a whole character of はい
        ({"token": "bytes:\\xe3\\x81"}, 0.9),  # two of its three bytes, as OpenAI writes them
        ({"token": "\ufffd", "bytes": [0xE3, 0x81]}, 0.9),  # the same where bytes are given
        ({"token": "\ufffd", "bytes": None}, 0.9),  # unknown bytes: they may begin it
        ({"token": "\ufffd", "bytes": list("\ufffd".encode())}, 0.9),  # bytes taken from the decoded text
        ({"token": "は\ufffd"}, 0.9),
        ({"token": "\ufffd", "bytes": [0xFF]}, 0.5),  # known bytes that cannot
        ({"token": "す"}, 0.5),
        ({"token": "\u2581はい"}, 0.9),  # SentencePiece's space
    ],
)
def test_parts_of_characters(entry, upper):
    others = {"token": "いいえ", "logprob": math.log(0.5)}, {"token": "x", "logprob": math.log(0.1)}
    tokens = parse_candidates_for_first_token(chat({**entry, "logprob": math.log(0.4)}, *others), 3)
    found = bounds.compute_score_from_shown_first_tokens(
        tokens, bounds.build_option_forms_in_bytes((("はい",), ("いいえ",)))
    )
    assert (found.mass if found.mass_upper is None else found.mass_upper) == pytest.approx(upper, abs=1e-12)


def test_bounds_hold_for_every_vocabulary_and_k():
    """400 random models over pieces of the answers: with k tokens shown, the truth lies within; with all, it is met."""
    draw = random.Random(1)
    pieces = ["yes", " yes", "y", "es", "Ye", "no", " no", " ", "n", "o", "x", "yesx", "nope", ""]
    for _ in range(400):
        weights = [draw.random() ** 4 for _ in pieces]
        model = {piece: weight / sum(weights) for piece, weight in zip(pieces, weights, strict=True)}
        # The mass of an option: its whole tokens, and those that begin it as often as the model goes on with the rest.
        goes_on = {piece: draw.random() for piece in pieces}
        true = [0.0, 0.0]
        for option, words in enumerate((("yes", " yes", "Yes", " Yes"), ("no", " no"))):
            for piece, p in model.items():
                if piece in words:
                    true[option] += p
                elif any(word.startswith(piece) for word in words):
                    true[option] += p * goes_on[piece] / 2
        shown = texts(*model.items())[: draw.randint(1, len(pieces))]
        found = bounds.compute_score_from_shown_first_tokens(
            shown, bounds.build_option_forms_in_bytes((("yes", "Yes"), ("no",)))
        )
        upper = found.mass if found.mass_upper is None else found.mass_upper
        assert all(low <= value + 1e-12 for low, value in zip(found.probability, true, strict=True))
        assert found.mass <= sum(true) + 1e-12 and sum(true) <= upper + 1e-6


IDS = {"Q:": [9], "Q:yes": [9, 1], "Q: yes": [9, 2], "Q:no": [9, 3], "Q: no": [9, 4, 5]}


def by_ids() -> bounds.Forms:
    return bounds.build_option_forms_in_token_ids(
        tokenize_answers_into_options("Q:", (("yes",), ("no",)), lambda texts: [IDS[text] for text in texts])
    )


def ids(**probability: float) -> list[ShownToken]:
    return sorted(
        (ShownToken(math.log(p), id=int(name[1:])) for name, p in probability.items()), key=lambda t: -t.logprob
    )


def test_token_ids_of_which_all_are_shown_are_exact():
    found = bounds.compute_score_from_shown_first_tokens(ids(t1=0.4, t2=0.1, t3=0.2, t4=1e-9, t8=0.01), by_ids())
    assert found.probability == pytest.approx((0.5, 0.2), abs=1e-15) and found.mass_upper is None
    assert found.logprob == pytest.approx((math.log(0.5), math.log(0.2)), abs=1e-12)


def test_a_hidden_token_id_is_less_probable_than_any_shown():
    found = bounds.compute_score_from_shown_first_tokens(ids(t1=0.4, t2=0.1, t3=0.2, t8=0.01), by_ids())
    assert found.mass_upper == pytest.approx(0.71, abs=1e-12)
    found = bounds.compute_score_from_shown_first_tokens(
        ids(t1=0.4, t2=0.1, t3=0.2, t4=0.05), by_ids()
    )  # " no" needs a second token
    assert found.mass_upper == pytest.approx(0.75, abs=1e-12)


def test_both_formats_are_read_and_surplus_tokens_dropped():
    listed = chat(*({"token": t, "logprob": math.log(p)} for t, p in (("a", 0.2), ("b", 0.5), ("c", 0.1))))
    assert [token.text for token in parse_candidates_for_first_token(listed, 2)] == [b"b", b"a"]
    mapped = {"logprobs": {"top_logprobs": [{"a": math.log(0.2), "b": math.log(0.5), "token_id:7": -9999.0}]}}
    found = parse_candidates_for_first_token(mapped, 5)
    assert [(token.text, token.id) for token in found] == [(b"b", None), (b"a", None), (b"", 7)]
    assert found[2].logprob == -math.inf


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"logprobs": None},
        {"logprobs": {"content": []}},
        {"logprobs": {"content": [{"token": "x", "logprob": -1}]}},
        {"logprobs": {"top_logprobs": [None]}},
        chat({"token": "a", "logprob": 0.5}),
        chat({"token": "a", "logprob": float("nan")}),
        chat({"token": "a", "logprob": None}),
        chat({"token": None, "logprob": -1}),
        chat({"token": "a", "bytes": [300], "logprob": -1}),
        chat({"token": "a", "logprob": -0.1}, {"token": "b", "logprob": -0.1}),  # together above certainty
    ],
)
def test_what_cannot_be_is_malformed(choice):
    with pytest.raises(MalformedReply):
        parse_candidates_for_first_token(choice, 1 if len(str(choice)) < 120 else 2)


def test_wanted_token_ids_are_all_there_or_it_is_malformed():
    choice = chat({"token": "token_id:3", "logprob": -1.0}, {"token": "token_id:5", "logprob": -2.0})
    assert len(parse_candidates_for_first_token(choice, 20, (3, 5))) == 2
    with pytest.raises(MalformedReply, match="does not have 1 of 3"):
        parse_candidates_for_first_token(choice, 20, (3, 4, 5))
