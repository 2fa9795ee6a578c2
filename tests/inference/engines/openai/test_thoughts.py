"""Thoughts of models on servers, by every way that a server offers; the reference is its own whole distribution."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ground.errors import InputError
from helpers.faulty_server import MODEL, Fault
from helpers.thinking_server import END, WINDOW, WRITES, ThinkingServer, next_tokens, write_in_family
from inference.engines.contract import Sampling, Thinking
from inference.engines.openai.engine import OpenAIEngine
from inference.engines.openai.failures import Retries
from inference.engines.openai.requests import split_choice_into_thoughts_and_answer
from inference.engines.openai.settings import ApiSettings
from inference.engines.openai.thoughts.message_route import MessageRoute
from inference.engines.openai.thoughts.template_route import TemplateRoute
from inference.engines.thinking_marks import THINKING, ThinkingMarks
from inference.stimuli.templates.prompts import Prompt

pytestmark = pytest.mark.slow

ANSWERS = (("yes", "Yes"), ("no", "No"))
SAMPLED = Thinking(8, 0.6, 0.95, max_tokens=60)
ENDED = {write for write in WRITES if "</think>" in write}


def build_prompt(statement: str, numbers: range | None = None) -> Prompt:
    return Prompt(None, ({"role": "user", "content": f"Is it so? {statement}"},), () if numbers else ANSWERS, numbers)


PROMPTS = [build_prompt(f"Statement {number}.") for number in range(3)]


@contextmanager
def asking(server: ThinkingServer, **settings: Any) -> Iterator[OpenAIEngine]:
    engine = OpenAIEngine(
        MODEL,
        ApiSettings(base_url=server.url, concurrency=4, **settings),
        retries=Retries(first=0.001, longest=0.004),
    )
    try:
        assert engine.choose_prompt_form("auto") == "chat"
        assert engine.info["thinks"]
        yield engine
    finally:
        engine.close()


def render(prompt: Prompt, effort: str = "") -> str:
    return f"{effort}<|user|>\n{prompt.messages[0]['content']}{END}\n<|assistant|>\n<think>\n"


def sum_options(text: str) -> list[float]:
    after = next_tokens(text)
    return [sum(p for form, p in after.items() if form.strip() in words) for words in ANSWERS]


@pytest.mark.parametrize("more", [{}, {"one_by_one": True}], ids=["n at once", "one by one"])
@pytest.mark.parametrize("kind", ["ids", "no ids"])
def test_exact_probabilities_after_each_thought_by_completions(kind: str, more: dict[str, bool]) -> None:
    with ThinkingServer(kind, **more) as server, asking(server) as engine:
        answered = engine.think(PROMPTS, SAMPLED)
        assert isinstance(engine._route, TemplateRoute)
        for prompt, response in zip(PROMPTS, answered, strict=True):
            assert response.error is None and len(response.scores) == 8
            for thought, answer, tokens, closed, score in zip(
                response.thoughts, response.answers, response.tokens, response.closed, response.scores, strict=True
            ):
                assert tokens == len(server.encode(thought))
                if score is None:
                    assert (closed, answer, tokens) == (False, "", 60) and WRITES[-1].startswith(thought)
                    continue
                assert closed and thought in ENDED
                text = render(prompt) + thought
                assert score.probability == pytest.approx(sum_options(text), abs=1e-12) and score.mass_upper is None
                likeliest = max(next_tokens(text), key=lambda form: next_tokens(text)[form])
                assert answer == ("" if likeliest == END else likeliest)
        written = Counter(thought for response in answered for thought in response.thoughts)
        assert set(written) >= ENDED  # unclosed, empty, nested and doubled ones, and one that speaks of an answer
        bodies = [body for path, body in server.requests if "temperature" in body and body["temperature"] == 0.6]
        assert all((b["top_p"], b["top_k"], b["min_p"], b["max_tokens"]) == (0.95, -1, 0, 60) for b in bodies)


@pytest.mark.parametrize("parted", [False, True])
def test_bounds_after_each_thought_by_chat(parted: bool) -> None:
    with ThinkingServer("chat", parted=parted) as server, asking(server) as engine:
        answered = engine.think(PROMPTS, SAMPLED)
        assert isinstance(engine._route, MessageRoute)
        for prompt, response in zip(PROMPTS, answered, strict=True):
            assert response.error is None
            for thought, tokens, closed, score in zip(
                response.thoughts, response.tokens, response.closed, response.scores, strict=True
            ):
                assert tokens == len(server.encode(thought))
                if score is None:
                    assert not closed
                    continue
                assert closed and thought in ENDED
                for low, value in zip(score.probability, sum_options(render(prompt) + thought), strict=True):
                    assert low <= value + 1e-12
                assert score.mass <= sum(sum_options(render(prompt) + thought)) + 1e-12 <= score.mass_upper + 2e-12
        assert any(score is not None for response in answered for score in response.scores)


@pytest.mark.parametrize("kind", ["ids", "chat"])
def test_a_budget_closes_by_force(kind: str) -> None:
    with ThinkingServer(kind, writes=WRITES[-1:], parted=True) as server, asking(server) as engine:
        (response,) = engine.think(PROMPTS[:1], Thinking(2, 0.6, budget=20))
        assert response.closed == (False, False) and response.answers == ("", "") and response.tokens == (20, 20)
        for thought, score in zip(response.thoughts, response.scores, strict=True):
            expected = sum_options(f"{render(PROMPTS[0])}{thought}\n</think>\n\n")
            assert len(server.encode(thought)) == 20
            if kind == "ids":
                assert score.probability == pytest.approx(expected, abs=1e-12)
            else:
                assert score.mass - 1e-12 <= sum(expected) <= score.mass_upper + 1e-12


@pytest.mark.parametrize("marks", THINKING, ids=lambda marks: marks.end)
@pytest.mark.parametrize("kind", ["ids", "no ids", "chat"])
def test_a_thought_that_ends_with_the_last_token_is_not_answered_yet(kind: str, marks: ThinkingMarks) -> None:
    """As in `ThoughtWriter`: the line breaks before the answer may be missing."""
    thought = write_in_family("Hm, it is so.</think>", marks).removesuffix(marks.opener)
    with ThinkingServer(kind, writes=[f"{thought}\n\n"], marks=marks) as server, asking(server) as engine:
        length = len(server.encode(thought))
        (cut,) = engine.think(PROMPTS[:1], Thinking(2, 0.6, max_tokens=length))
        assert (cut.closed, cut.scores, cut.tokens) == ((False, False), (None, None), (length, length))
        (forced,) = engine.think(PROMPTS[:1], Thinking(1, 0.6, budget=length))
        assert (forced.thoughts, forced.answers, forced.tokens, forced.closed) == (
            (thought,),
            ("",),
            (length,),
            (True,),
        )
        behind = marks.closing.rpartition(marks.end)[2]
        expected = sum_options(render(PROMPTS[0]).replace("<think>", marks.begin) + thought + behind)
        (score,) = forced.scores
        if kind == "chat":
            assert score.mass - 1e-12 <= sum(expected) <= score.mass_upper + 1e-12
        else:
            assert score.probability == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", ["ids", "chat"])
def test_numbers_of_a_scale_are_bounded(kind: str) -> None:
    """ "1" may go on as "10": the bounds hold the probability that the number ends, and are narrow after a digit."""
    numbers = range(0, 11)
    prompt = build_prompt("How much?", numbers)
    with ThinkingServer(kind, writes=WRITES[:1]) as server, asking(server, top_logprobs=20) as engine:
        (response,) = engine.think([prompt], Thinking(1, 0.0, max_tokens=60))
        (score,) = response.scores
        first = next_tokens(render(prompt) + WRITES[0])
        exact = {n: (first[str(n)] + first[f" {n}"]) * 0.98 for n in range(10)}
        exact[10] = (first["1"] + first[" 1"]) * 0.015 * 0.98
        for number, low in zip(numbers, score.probability, strict=True):
            assert low <= exact[number] + 1e-9
        assert score.mass_upper - score.mass < 0.5
        assert score.mass <= sum(exact.values()) + 1e-9 <= score.mass_upper + 2e-9


@pytest.mark.parametrize("kind", ["ids", "chat"])
@pytest.mark.parametrize("marks", THINKING, ids=lambda marks: marks.end)
def test_marks_of_every_family(marks: ThinkingMarks, kind: str) -> None:
    """In a chat they are found by the tokens that the server counts, since parted thoughts show no marks."""
    ended = {write_in_family(write, marks) for write in ENDED}
    with ThinkingServer(kind, parted=True, marks=marks) as server, asking(server) as engine:
        answered = engine.think(PROMPTS[:1], SAMPLED)
        assert engine._route._marks == marks
        for prompt, response in zip(PROMPTS, answered, strict=False):
            assert response.error is None
            for thought, tokens, score in zip(response.thoughts, response.tokens, response.scores, strict=True):
                assert tokens == len(server.encode(thought))
                if score is None:
                    continue
                assert thought in ended
                expected = sum_options(render(prompt).replace("<think>", marks.begin) + thought)
                for low, value in zip(score.probability, expected, strict=True):
                    assert value == pytest.approx(low, abs=1e-12) if kind == "ids" else low <= value + 1e-12
        if kind == "ids":
            (forced,) = engine.think(PROMPTS[:1], Thinking(3, 0.6, budget=2))
            for thought, closed, score in zip(forced.thoughts, forced.closed, forced.scores, strict=True):
                text = render(PROMPTS[0]).replace("<think>", marks.begin) + thought + ("" if closed else marks.closing)
                assert score.probability == pytest.approx(sum_options(text), abs=1e-12)


def test_efforts_reach_the_template_and_thinking_off_is_shown() -> None:
    with ThinkingServer() as server, asking(server) as engine:
        (low,) = engine.think(PROMPTS[:1], Thinking(2, 0.6, max_tokens=400, effort="low"))
        for thought, score in zip(low.thoughts, low.scores, strict=True):
            if score is not None:
                text = render(PROMPTS[0], "Effort: low.\n") + thought
                assert score.probability == pytest.approx(sum_options(text), abs=1e-12)
        (off,) = engine.think(PROMPTS[:1], Thinking(1, 0.0, effort="none"))
        assert off.thoughts == off.tokens == off.closed == ()
        expected = sum_options(f"{render(PROMPTS[0])}\n</think>\n\n")
        assert off.scores[0].probability == pytest.approx(expected, abs=1e-12)


def test_a_thought_takes_what_the_window_has_left() -> None:
    long = build_prompt("word " * (WINDOW - 60))
    with ThinkingServer(writes=WRITES[-1:]) as server, asking(server) as engine:
        (response,) = engine.think([long], Thinking(1, 0.6))
        asked = len(server.encode(render(long)))
        assert response.tokens == (WINDOW - asked - 8,)
        (error,) = engine.think([long], Thinking(1, 0.6, max_tokens=100))
        assert error.error == f"{asked} tokens and 108 for the answer exceed the model's context window of {WINDOW}"


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("ignoring", "it does not continue the last message"),
        ("unended", "it does not continue the last message"),
        ("forgetting", "it leaves the thoughts of a message out"),
        ("trimming", "it drops the line breaks at the end of a message that it continues"),
        ("refusing", "HTTP 400: unknown field"),
        ("uncounted", "the reply does not count the tokens of its prompt"),
    ],
)
def test_servers_that_cannot_continue_after_a_thought_are_refused_in_one_line(kind: str, says: str) -> None:
    with ThinkingServer(kind, parted=True) as server, asking(server) as engine:
        with pytest.raises(InputError) as error:
            engine.think(PROMPTS[:1], SAMPLED)
        assert not any("Statement" in str(body) for _, body in server.requests)
    assert "cannot continue after a thought (completions of its rendered prompt: " in str(error.value)
    assert f"a chat that is continued: {says}" in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "thinking", "says"),
    [
        (
            "chat",
            Thinking(1, 0.0, effort="none"),
            "shows no rendered prompt, so it is not known whether thinking is off",
        ),
        ("ids", Thinking(1, 0.0, effort="none"), "its chat template cannot switch thinking off"),
        ("ids", Thinking(), "no sampler of its maker is known"),
        ("chat", Thinking(2, 0.6, top_k=20), "--top-k is a field of vLLM's server"),
        ("chat", Thinking(2, 0.6, min_p=0.1), "--min-p is a field of vLLM's server"),
    ],
)
def test_ways_of_thinking_that_a_server_cannot_do(kind: str, thinking: Thinking, says: str) -> None:
    with (
        ThinkingServer(kind, switches=False) as server,
        asking(server) as engine,
        pytest.raises(InputError, match=says),
    ):
        engine.think(PROMPTS[:1], thinking)


def test_texts_of_a_vllm_server_that_shows_no_probabilities_are_drawn_as_recorded() -> None:
    class FewShown(ThinkingServer):
        async def _reply(self, writer: Any, body: dict[str, Any], *more: Any) -> bool:
            if "logprobs" in body:
                error = "Requested sample logprobs of 20, which is greater than max allowed: 5"
                return await self._send(writer, 400, {"error": {"message": error}})
            return await super()._reply(writer, body, *more)

    with FewShown("ids") as server, asking(server) as engine:
        engine.generate(PROMPTS[:1], [Sampling(2, 1.0, max_tokens=32), Sampling(2, 1.0, max_tokens=32, top_k=20)])
        engine.generate(PROMPTS[:1], [Sampling(1, 0.0, effort="none")])
        *_, (_, first), (_, second), (_, third) = server.requests
    assert [(body["top_k"], body["min_p"], body["repetition_penalty"]) for body in (first, second)] == [
        (-1, 0.0, 1),
        (20, 0.0, 1),
    ]
    assert third["chat_template_kwargs"] == {"enable_thinking": False, "thinking": False}


class SGLangServer(ThinkingServer):
    """It tokenizes, but shows no token ids beside probabilities, and calls the text of tokens `text`."""

    async def _answer_other(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        status, reply = await super()._answer_other(path, body)
        if path != "/detokenize":
            return status, reply
        text = reply["prompt"]
        return 200, {"text": text if body.get("skip_special_tokens", True) is False else re.sub("<[^>]*>", "", text)}

    def _reply_to(self, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
        return super()._reply_to({name: value for name, value in body.items() if "token_ids" not in name}, fault)


def test_sglang_is_known_to_think_and_gets_its_own_fields() -> None:
    # Of a long thought no mark is shown, but the chat template opens it.
    with SGLangServer("no ids", writes=WRITES[-1:]) as server, asking(server) as engine:
        engine.generate(PROMPTS[:1], [Sampling(2, 1.0, max_tokens=32, top_k=20)])
        _, body = server.requests[-1]
        assert (body["top_k"], body["min_p"], body["repetition_penalty"]) == (20, 0.0, 1)
        (response,) = engine.think(PROMPTS[:1], SAMPLED)
        assert isinstance(engine._route, MessageRoute) and response.error is None


def test_a_prompt_whose_requests_fail_is_an_error_of_its_own() -> None:
    def fail(number: int, text: str, before: int) -> Fault | None:
        return Fault("status", 500) if "Statement 1" in text else None

    with ThinkingServer("chat", fault=fail) as server, asking(server) as engine:
        answered = engine.think(PROMPTS[:3], SAMPLED)
        assert [bool(response.error) for response in answered] == [False, True, False]
        assert answered[1].error.startswith("HTTP 500: out of order (asked 8 times)")


@pytest.mark.parametrize("marks", THINKING, ids=lambda marks: marks.end)
@pytest.mark.parametrize("write", WRITES)
def test_texts_after_thoughts_follow_the_same_rule(marks: ThinkingMarks, write: str) -> None:
    thought = write_in_family(write, marks)
    if marks.end not in thought:
        assert split_choice_into_thoughts_and_answer({"text": f"{marks.begin}{thought}"}).answer is None
        return
    for written in (f"{marks.begin}{thought}yes", f"{thought}yes"):  # the template opens it, or the model
        text = split_choice_into_thoughts_and_answer({"text": written})
        assert (text.answer, text.whole) == ("yes", written)
    written = f"No {marks.begin} here."
    assert split_choice_into_thoughts_and_answer({"text": written}).answer == written
