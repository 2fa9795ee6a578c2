"""A server that fails in every way it can: nothing lost, nothing double, and the key in no file, line or error.

Every run goes through `inference.asking.execute` against `faulty_server.FaultyServer` on loopback. The reference is the
server's own distribution (`faulty_server.distribution`), summed up here by hand.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from itertools import pairwise

import pyarrow.parquet as pq
import pytest

from ground.errors import InputError, RunFailed
from helpers.broken_replies import BROKEN, send_payload
from helpers.faulty_server import MODEL, Fault, FaultyServer, distribution
from helpers.log_records import collect_log_records
from helpers.trivial_engine import small_study
from inference.asking.answer_ways import AnswerWays
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.failures import AllowedFailures
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Sampling
from inference.engines.openai.engine import OpenAIEngine
from inference.engines.openai.failures import Retries
from inference.engines.openai.limits import Clock
from inference.engines.openai.settings import ApiSettings
from inference.protocols.agreement import Questions, read_agreement_prompts
from inference.stimuli.templates.prompts import build_template_values_of_options

pytestmark = pytest.mark.slow

KEY = "sk-do-not-write-me-down-4711"
STUDY = small_study(items=3, paraphrases=4)
VARIANTS = list(STUDY.variants)
COUNT = len(VARIANTS)
BOOK = read_agreement_prompts()
QUICK = Retries(first=0.001, longest=0.004)
PROBABILITY, TEXT = AnswerWays(), AnswerWays(False, (Sampling(),))


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


class SkippingClock(Clock):
    """Nobody waits; the time that would have passed is added to the clock."""

    def __init__(self) -> None:
        self.skipped = 0.0

    def now(self) -> float:
        return self.skipped

    async def sleep(self, seconds: float) -> None:
        until = self.skipped + seconds
        await asyncio.sleep(0)
        self.skipped = max(self.skipped, until)


def ask(
    out, server, *, ways=PROBABILITY, form="chat", retries=QUICK, clock=None, batch=6, model=MODEL, failed=1, **settings
):
    """A run of the whole study; `settings` are those of the server."""
    api = ApiSettings(base_url=server.url, **{"concurrency": 4, **settings})

    def load(model, seed):
        return OpenAIEngine(model.source, api, seed=seed, batch_size=batch, retries=retries, clock=clock)

    questions = Questions(BOOK, answers=ways)
    task = Task(
        STUDY, [Model("m", model)], questions, Settings(form=form), str(out), allowed=AllowedFailures(rows=failed)
    )
    return ask_tasks_and_list_tallies([task], load=load)


def rows_of(out) -> list[dict]:
    return [row for part in sorted((out / "responses").glob("*.parquet")) for row in pq.read_table(part).to_pylist()]


def answered(out) -> dict[tuple[str, str], dict]:
    """Rows with a response by item and variant; none of them is there twice."""
    rows = [row for row in rows_of(out) if row["error"] is None]
    assert max(Counter((row["item"], row["variant"]) for row in rows).values(), default=1) == 1
    return {(row["item"], row["variant"]): row for row in rows}


def bill(out) -> dict:
    return json.loads((out / "run.json").read_text())["sessions"][-1]["bills"]["m"]


def prompt_of(variant) -> str:
    return BOOK.render("chat", build_template_values_of_options(variant)).messages[0]["content"]


def complete(out) -> None:
    """Every variant has its own numbers, to the last bit that a sum in another order leaves (1e-12)."""
    rows = answered(out)
    assert len(rows) == COUNT
    for variant in VARIANTS:
        shown = distribution(prompt_of(variant))[:20]
        expected = [sum(p for w, p in shown if w.strip().lower() == word) for word in ("yes", "no")]
        upper = sum(expected) + 1 - sum(p for _, p in shown) + sum(p for w, p in shown if w in ("Y", " N"))
        row = rows[variant.key]
        assert row["probability"] == pytest.approx(expected, abs=1e-12)
        assert row["mass"] == pytest.approx(sum(expected), abs=1e-12)
        assert row["mass_upper"] == pytest.approx(upper, abs=1e-12)
        assert row["logprob"] is None


def without_key(out, *texts: str) -> None:
    """The key is in no file of the run (Parquet pages may be compressed: their values are read too) and in no text."""
    for file in out.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes()
    for text in (*texts, repr(rows_of(out))):
        assert KEY not in text


def first_time(fault: Fault):
    """The fault whenever a statement of the study is asked for the first time."""
    return lambda number, text, before: fault if "Thing" in text and before == 0 else None


PASSING = {
    "drop": Fault("drop"),
    "half a reply": Fault("half"),
    "truncated JSON": Fault("cut"),
    "rate limit": Fault("status", 429),
    "server error": Fault("status", 500),
    "overloaded": Fault("status", 503),
    "no log-probabilities": Fault("bare"),
    "too few log-probabilities": Fault("few"),
    "another model": Fault("other"),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_waited_out(tmp_path, name, capsys):
    with FaultyServer(first_time(PASSING[name])) as server:
        ask(tmp_path, server)
    complete(tmp_path)
    assert bill(tmp_path)["repeated"] == COUNT
    assert f"; {COUNT} requests were sent again after failures (the last: " in bill(tmp_path)["shown"]
    assert all(server.asked(prompt_of(variant)) == 2 for variant in VARIANTS)
    without_key(tmp_path, *capsys.readouterr())


def test_a_reply_that_takes_too_long_is_cut_and_asked_again(tmp_path):
    """The limit is one for the whole reply, its head, too: between two pieces of one that drips there are 40 ms.

    All would come whole after four seconds or more, so without the limit nothing would be asked again.
    """
    prompts = [prompt_of(variant) for variant in VARIANTS if variant.item == VARIANTS[5].item]
    slow = dict(zip(prompts, ["drip", "drip bytes", "drip head", "late"], strict=False))
    with FaultyServer(
        lambda number, text, before: Fault(slow[text]) if text in slow and not before else None
    ) as server:
        ask(tmp_path, server, timeout=1, concurrency=8, batch=COUNT)
    complete(tmp_path)
    assert [server.asked(prompt_of(v)) for v in VARIANTS] == [1 + (prompt_of(v) in slow) for v in VARIANTS]
    assert bill(tmp_path)["repeated"] == len(slow) == 4


def test_a_reply_that_always_takes_too_long_is_a_row_with_an_error(tmp_path):
    slow = {prompt_of(VARIANTS[7]): "drip", prompt_of(VARIANTS[8]): "drip head"}
    with FaultyServer(lambda number, text, before: Fault(slow[text]) if text in slow else None) as server:
        ask(tmp_path, server, timeout=0.5, retries=Retries(2, first=0.001, longest=0.004), failed=2)
        assert [server.asked(prompt) for prompt in slow] == [2, 2]
    rows = {row["variant"]: row for row in rows_of(tmp_path) if row["error"]}
    assert {name: row["error"] for name, row in rows.items()} == {
        VARIANTS[7].variant: "the reply is not whole after 0.5 s (asked 2 times)",
        VARIANTS[8].variant: "no reply within 0.5 s (asked 2 times)",
    }
    assert {row["probability"] for row in rows.values()} == {None}
    assert len(answered(tmp_path)) == COUNT - 2


def test_nothing_is_asked_twice_without_need(tmp_path):
    with FaultyServer() as server:
        ask(tmp_path, server)
    complete(tmp_path)
    assert all(server.asked(prompt_of(variant)) == 1 for variant in VARIANTS)
    assert bill(tmp_path)["shown"].startswith(f"{COUNT + 2} replies (2 of them only try the server or count tokens), ")
    assert "again" not in bill(tmp_path)["shown"]
    assert bill(tmp_path) | {"shown": 0} == {
        "replies": COUNT + 2, "repeated": 0, "uncounted": 0, "cost": None, "shown": 0, "tokens_out": COUNT + 2,
        "tokens_in": sum(len(prompt_of(variant).split()) + 3 for variant in VARIANTS) + 2 * (7 + 3),
    }  # fmt: skip


@pytest.mark.parametrize("fault", [Fault("drop"), Fault("cut"), Fault("status", 500), Fault("status", 400)], ids=str)
def test_what_fails_for_good_is_a_row_with_an_error_and_is_asked_again(tmp_path, fault, capsys):
    lost = prompt_of(VARIANTS[7])
    with FaultyServer(lambda number, text, before: fault if text == lost else None) as server:
        ask(tmp_path, server)
        assert server.asked(lost) == (1 if fault.status == 400 else QUICK.attempts)
    assert [row["variant"] for row in rows_of(tmp_path) if row["error"]] == [VARIANTS[7].variant]
    assert len(answered(tmp_path)) == COUNT - 1
    assert "1 of 15 prompts got no response" in capsys.readouterr().err
    with FaultyServer() as server:
        ask(tmp_path, server)
        assert [text for _, body in server.requests if "Thing" in (text := body["messages"][0]["content"])] == [lost]
    complete(tmp_path)


def test_storm_of_429_with_retry_after(tmp_path):
    """No request comes sooner than the server said, whichever of them was told."""
    clock, came = SkippingClock(), []

    def storm(number, text, before):
        if "Thing" in text:
            came.append(clock.now())
        return (
            Fault("status", 429, headers={"Retry-After": "30"})
            if "Thing" in text and len(came) in range(3, 7)
            else None
        )

    with FaultyServer(storm) as server:
        ask(tmp_path, server, clock=clock, concurrency=1)
    complete(tmp_path)
    assert bill(tmp_path)["repeated"] == 4
    waits = [after - before for before, after in pairwise(came[2:7])]
    assert all(wait >= 30 for wait in waits) and came[-1] - came[0] < 4 * 31.1


def test_a_wait_beyond_patience_is_not_waited_for(tmp_path):
    clock = SkippingClock()
    fault = Fault("status", 429, headers={"retry-after": "86400"})
    lost = prompt_of(VARIANTS[0])
    with FaultyServer(lambda number, text, before: fault if text == lost else None) as server:
        ask(tmp_path, server, clock=clock)
    assert [row["error"] for row in rows_of(tmp_path) if row["error"]] == [
        "HTTP 429: out of order; it asks to wait 86,400 s"
    ]
    assert clock.skipped < 1


def test_a_wait_that_is_none_counts_as_nothing(tmp_path):
    """Rows failed at once where a server asked to wait until the year 9999; `test_failures` has other such waits."""
    clock = SkippingClock()
    no_wait = {"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}
    with FaultyServer(first_time(Fault("status", 429, headers=no_wait))) as server:
        ask(tmp_path, server, clock=clock)
    complete(tmp_path)
    assert bill(tmp_path)["repeated"] == COUNT
    assert clock.skipped < 1


def test_backoff_doubles_with_jitter_up_to_its_limit(tmp_path):
    clock, came = SkippingClock(), []
    lost = prompt_of(VARIANTS[0])

    def fail(number, text, before):
        if text == lost:
            came.append(clock.now())
            return Fault("status", 503)
        return None

    with FaultyServer(fail) as server:
        ask(tmp_path, server, clock=clock, concurrency=1, retries=Retries(attempts=6, first=1, longest=4))
    waits = [after - before for before, after in pairwise(came)]
    assert len(waits) == 5
    for wait, longest in zip(waits, (1, 2, 4, 4, 4), strict=True):
        assert longest / 2 <= wait <= longest
    assert len(set(waits[2:])) == 3  # jitter: no two alike


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault("bare"), "does not show the 20 most probable tokens of 'hash-1': the reply has no log-probabilities"),
        (Fault("few"), "the reply shows 10 of 20 top log-probabilities"),
        (Fault("other"), "model 'another-model' answered where 'hash-1' was asked"),
        (Fault("status", 401, "bad key KEY"), "HTTP 401: bad key bearer ***; put a valid key into OPENAI_API_KEY"),
        (Fault("status", 404, "no such model"), "HTTP 404: no such model"),
        (Fault("drop"), "the connection failed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_probe_stops_a_run_that_cannot_be(tmp_path, fault, says):
    with FaultyServer(lambda number, text, before: fault) as server, pytest.raises(InputError) as error:
        ask(tmp_path, server)
    assert says in str(error.value) and "\n" not in str(error.value)
    assert not any("Thing" in str(body) for _, body in server.requests)
    assert not rows_of(tmp_path)
    without_key(tmp_path, str(error.value))


def test_nobody_there(tmp_path):
    with FaultyServer() as server:
        pass
    with pytest.raises(InputError, match=r"cannot be asked for model 'hash-1': the connection failed"):
        ask(tmp_path, server)


@pytest.mark.parametrize(("name", "fits"), [("hash", True), ("has", False), ("hash-1-2026", False)])
def test_only_a_dated_release_of_the_model_may_answer_in_its_place(tmp_path, name, fits):
    with FaultyServer(model="hash-2024-08-06" if fits else "hash-1-mini") as server:
        if not fits:
            with pytest.raises(InputError, match="model 'hash-1-mini' answered where"):
                ask(tmp_path, server, model=name)
            return
        ask(tmp_path, server, model=name)
    assert json.loads((tmp_path / "run.json").read_text())["models"]["m"]["revision"] == "hash-2024-08-06"
    with FaultyServer(model="hash-2025-01-01") as server, pytest.raises(InputError, match="revision was"):
        ask(tmp_path, server, model=name)


@pytest.mark.parametrize("fault", [Fault("status", 401, "no KEY"), Fault("status", 429, code="insufficient_quota")])
def test_a_key_that_is_no_longer_accepted_ends_the_run_and_keeps_what_was_paid(tmp_path, fault, capsys):
    """The batch in hand is kept, the next one is not begun."""
    seen = []

    def fail(number, text, before):
        seen.append(text)
        return fault if sum("Thing" in text for text in seen) > 8 else None

    with FaultyServer(fail) as server, pytest.raises(RunFailed, match="check the key or the account") as error:
        ask(tmp_path, server, concurrency=2)
    assert len(answered(tmp_path)) == 8
    assert sum("Thing" in text for text in seen) <= 10
    without_key(tmp_path, str(error.value), *capsys.readouterr())
    with FaultyServer() as server:
        ask(tmp_path, server)
        assert sum("Thing" in str(body) for _, body in server.requests) == COUNT - 8
    complete(tmp_path)


def test_the_key_is_sent_and_written_nowhere(tmp_path, capsys):
    """Not even where the server repeats it in its errors and everything is logged."""
    lost = prompt_of(VARIANTS[0])
    with (
        collect_log_records(logging.DEBUG) as records,
        FaultyServer(lambda n, text, b: Fault("status", 400, "KEY is no good") if text == lost else None) as server,
    ):
        ask(tmp_path, server)
    assert records
    assert server.keys == {f"bearer {KEY}"}
    assert [row["error"] for row in rows_of(tmp_path) if row["error"]] == ["HTTP 400: bearer *** is no good"]
    without_key(tmp_path, *capsys.readouterr(), *(record.getMessage() for record in records))


def test_a_key_in_the_start_of_a_reply_is_not_shown_in_part(tmp_path, monkeypatch, capsys):
    """The start that is shown is cut after the key is taken out of it."""
    page = b"x" * 110 + KEY.encode()
    monkeypatch.setitem(BROKEN, "echo", lambda writer, payload: send_payload(writer, page))
    fault = lambda number, text, before: Fault("echo") if "Thing" in text else None  # noqa: E731
    with FaultyServer(fault) as server, pytest.raises(RunFailed, match="could not be used") as error:
        ask(tmp_path, server, concurrency=15, batch=COUNT)
    said = f"{error.value} {capsys.readouterr().err}"
    assert f"the last one begins: {'x' * 110}***" in said and KEY[:5] not in said


def test_a_reply_that_sends_elsewhere_is_not_followed(tmp_path, capsys):
    """Neither the prompt nor the key goes to a server that nobody named."""
    lost = prompt_of(VARIANTS[0])
    with FaultyServer() as elsewhere:
        moved = Fault("status", 307, headers={"location": f"{elsewhere.url}/chat/completions"})
        with FaultyServer(lambda number, text, before: moved if text == lost else None) as server:
            ask(tmp_path, server)
        assert elsewhere.requests == []
    assert [row["error"] for row in rows_of(tmp_path) if row["error"]] == ["HTTP 307: out of order"]
    without_key(tmp_path, *capsys.readouterr())


def test_not_more_at_once_than_allowed(tmp_path):
    with FaultyServer(delay=0.01) as server:
        ask(tmp_path, server, concurrency=3, batch=15)
    complete(tmp_path)
    assert server.most_under_way == 3


def test_limits_per_minute(tmp_path):
    """60 requests a minute: one a second, the probe's and repeated ones among them."""
    clock, came = SkippingClock(), []

    def fault(number, text, before):
        came.append(clock.now())
        return Fault("status", 500) if number == 5 else None

    with FaultyServer(fault) as server:
        ask(tmp_path, server, clock=clock, requests_per_minute=60)
    complete(tmp_path)
    assert len(came) == COUNT + 3
    # One more request goes out than arrives: that for a tokenizer, which this server does not have.
    assert max(came) == pytest.approx(len(came), abs=1.5)


def test_tokens_per_minute(tmp_path):
    clock = SkippingClock()
    with FaultyServer() as server:
        ask(tmp_path, server, clock=clock, tokens_per_minute=600)
    complete(tmp_path)
    paid = bill(tmp_path)
    # Ten tokens a second, as the server counts them; the first guess and the last request may be off.
    assert clock.skipped == pytest.approx((paid["tokens_in"] + paid["tokens_out"]) / 10, rel=0.15)


def test_cost(tmp_path, capsys):
    with FaultyServer() as server:
        ask(tmp_path, server, price_in=2.5, price_out=10)
    paid = bill(tmp_path)
    assert paid["cost"] == pytest.approx((2.5 * paid["tokens_in"] + 10 * paid["tokens_out"]) / 1e6, rel=1e-12)
    assert f"m: {paid['shown']}" in capsys.readouterr().err
    assert f"{paid['tokens_in']:,} tokens in" in paid["shown"]


@pytest.mark.parametrize("form", ["chat", "plain"])
def test_texts(tmp_path, form):
    ways = AnswerWays(False, (Sampling(), Sampling(3, 0.7)))
    with FaultyServer(first_time(Fault("cut"))) as server:
        ask(tmp_path / "a", server, ways=ways, form=form)
        ask(tmp_path / "b", server, ways=ways, form=form, batch=2)
    rows = {(r["condition"], r["item"], r["variant"]): r for r in rows_of(tmp_path / "a")}
    assert rows == {(r["condition"], r["item"], r["variant"]): r for r in rows_of(tmp_path / "b")}
    assert len(rows) == 2 * COUNT
    assert {len(row["output"]) for (name, *_), row in rows.items() if name.endswith("t0.7")} == {3}
    if form == "chat":
        for variant in VARIANTS:
            likeliest = distribution(prompt_of(variant))[0][0]
            assert rows["chat/yes-no/text", *variant.key]["output"] == [likeliest]


@pytest.mark.parametrize(
    "tokenized",
    [
        (404, {"detail": "Not Found"}),
        (200, {"tokens": []}),  # llama.cpp's, which calls the text `content`
        (422, {"error": "missing field `inputs`"}),  # text-generation-inference's
        (200, [{"id": 1, "text": "Is", "start": 0, "stop": 2}]),
        (200, {"tokens": ["Is", " water"]}),
    ],
)
def test_a_server_that_tokenizes_otherwise_than_vllm_gets_no_fields_of_vllm(tmp_path, monkeypatch, tokenized):
    async def answer_other(*_: object) -> tuple:
        return tokenized

    monkeypatch.setattr(FaultyServer, "_answer_other", answer_other)
    with FaultyServer() as server:
        ask(tmp_path, server, ways=AnswerWays(True, (Sampling(2, 0.7, effort="none"),)))
        with pytest.raises(InputError, match="--top-k is a field of vLLM's server, which this one does not seem to be"):
            ask(tmp_path / "k", server, ways=AnswerWays(False, (Sampling(2, 0.7, top_k=20),)))
        fields = {name for _, body in server.requests for name in body}
    assert fields == {
        *("model", "messages", "max_tokens", "temperature", "top_p", "n", "seed"),
        *("logprobs", "top_logprobs", "reasoning_effort"),
    }
    assert [row["error"] for row in rows_of(tmp_path)] == [None] * 2 * COUNT


@pytest.mark.parametrize("field", ["stop_reason", "matched_stop"])
@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize("form", ["chat", "plain"])
def test_a_gateway_that_does_not_tokenize_hides_no_vllm(tmp_path, field, refused, form):
    def refuse(number, text, before):
        return Fault("status", 400, "no field top_k") if refused and "top_k" in server.requests[-1][1] else None

    with FaultyServer(refuse, choice_fields={field: None}) as server:
        ask(tmp_path, server, ways=AnswerWays(True, (Sampling(2, 0.7, effort="none"),)), form=form)
    asked = [body for _, body in server.requests if body.get("n") == 2]
    assert {body.get("top_k") for body in asked} == {None if refused else -1}
    assert {"chat_template_kwargs" in body for body in asked} == {not refused}
    assert [row["error"] for row in rows_of(tmp_path)] == [None] * 2 * COUNT


def test_a_server_that_gives_one_text_at_a_time(tmp_path):
    ways = AnswerWays(False, (Sampling(3, 0.7),))

    def refuse(number, text, before):
        several = "Thing" in text and server.requests[-1][1].get("n", 1) > 1
        return Fault("status", 400, "only one choice") if several else None

    with FaultyServer(refuse) as server:
        ask(tmp_path, server, ways=ways)
        assert sum(body.get("n") == 3 for _, body in server.requests) <= 4  # those under way at the first refusal
    assert {len(row["output"]) for row in answered(tmp_path).values()} == {3}
    assert max(len(set(row["output"])) for row in answered(tmp_path).values()) > 1


def test_thoughts_are_kept_apart_and_first_tokens_of_thinkers_refused(tmp_path):
    with FaultyServer(thoughts="Hm, no, yes") as server:
        with pytest.raises(InputError, match="thinks before it answers"):
            ask(tmp_path / "a", server)
        ways = AnswerWays(False, (Sampling(effort="low"),))
        ask(tmp_path / "b", server, ways=ways)
    assert {body.get("reasoning_effort") for _, body in server.requests if "Thing" in str(body)} == {"low"}
    rows = answered(tmp_path / "b")
    for variant in VARIANTS:
        likeliest = distribution(prompt_of(variant))[0][0]
        assert rows[variant.key]["output"] == [f"<think>Hm, no, yes</think>{likeliest}"]
        says = {"yes": "agree", "no": "disagree"}.get(likeliest.strip().lower())
        assert rows[variant.key]["answer"] == says


def test_half_a_surrogate_pair_is_written_as_a_replacement_character(tmp_path):
    """JSON can hold what no file can: a text cut within an emoji, say."""
    lost = prompt_of(VARIANTS[0])
    refused = Fault("status", 400, "not \ud83d this")
    with FaultyServer(
        lambda n, text, b: refused if text == lost else None, thoughts="Hm \ud83d\ude00 \ud83d"
    ) as server:
        ask(tmp_path, server, ways=TEXT)
    assert {row["output"][0].partition("</think>")[0] for row in answered(tmp_path).values()} == {"<think>Hm 😀 \ufffd"}
    assert [row["error"] for row in rows_of(tmp_path) if row["error"]] == ["HTTP 400: not \ufffd this"]


def test_probabilities_at_another_temperature_are_refused():
    with FaultyServer() as server:
        engine = OpenAIEngine(MODEL, ApiSettings(base_url=server.url))
        try:
            with pytest.raises(InputError, match="temperature 1 only"):
                engine.score([BOOK.render("chat", build_template_values_of_options(VARIANTS[0]))], [1.0, 0.5])
        finally:
            engine.close()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"base_url": f"http://user:{KEY}@host/v1"}, "may hold a secret"),
        ({"base_url": f"http://host/v1?key={KEY}"}, "may hold a secret"),
        ({"base_url": "localhost:8000"}, "expected an address"),
        ({"key_variable": KEY}, "not the key itself"),
        ({"concurrency": 0}, "--concurrency 0: give a number from 1 to 10,000"),
        ({"timeout": float("nan")}, "--timeout nan: give a number from 0.01 to 86,400"),
        ({"price_in": -1.0}, "--price-in -1.0: give a number from 0 to"),
        ({"api": "chatt"}, "choose auto"),
    ],
)
def test_settings_that_cannot_be(settings, says):
    with pytest.raises(InputError, match=says) as error:
        ApiSettings(**settings)
    assert KEY not in str(error.value)
