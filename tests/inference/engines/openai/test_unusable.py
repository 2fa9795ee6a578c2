"""A server that stops giving usable replies is not paid for thousands of them; the same command goes on later."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest

from helpers import apart
from helpers.faulty_server import MODEL, Fault, FaultyServer
from inference.__main__ import main
from inference.engines.openai import engine, replies
from inference.engines.openai.doubts import MOST_ALIKE, MOST_DOUBTFUL, Doubts
from inference.engines.openai.failures import RepliesUnusable, Retries
from inference.engines.openai.settings import ApiSettings

pytestmark = pytest.mark.slow

GOOD, ITEMS = 6, 32  # more wait than are sent while replies are doubted
QUICK = Retries(first=0.1, longest=1.0)
JSON = '{"id": "1", "model": "hash-1", "choices": ['
KINDS = {  # what is said of the replies, and how the one that is shown begins
    "bare": ("the reply has no log-probabilities", JSON),
    "few": ("the reply shows 10 of 20 top log-probabilities", JSON),
    "nan": ("the reply has an impossible log-probability", JSON),
    "positive": ("the reply has an impossible log-probability", JSON),
    "cut": ("the reply is not whole JSON", JSON),
    "half": ("the reply ends before it is whole", JSON),
    "packed half": ("the reply ends before it is whole", JSON),
    "login": ("the reply is not whole JSON", "<html><title>Sign in"),
    "other": ("model 'another-model' answered instead of 'hash-1'", '{"id": "1", "model": "another-model"'),
    "drip": ("the reply is not whole after 0.5 s", JSON),
    "endless": ("the reply is larger than 16 MB", '{"choices": "'),
    "endless error": ("the reply is larger than 16 MB", '{"choices": "'),
    "gzip": ("the reply is larger than 16 MB", '{"choices": "'),
    "deflate": ("the reply is larger than 16 MB", '{"choices": "'),
    "twice": ("the reply is packed ('gzip, gzip'), which was not asked for", "nothing"),
    "br": ("the reply is packed ('br'), which was not asked for", "nothing"),
    "charset": ("the reply is not whole JSON", ""),
}


TURNS = apart.Turns()


@pytest.fixture(scope="module", autouse=True)
def end_of_turns() -> Iterator[None]:
    yield
    TURNS.close()


def write_items(folder) -> None:
    lines = ["item,text", *(f"{number},Statement {number} is true." for number in range(ITEMS))]
    (folder / "items.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")


def write_call(folder, url, *more) -> list[str]:
    return ["run", "agreement", "--items", f"{folder}/items.csv", "--out", f"{folder}/run", "--model", MODEL,
            "--engine", "openai", "--base-url", url, "--form", "chat", *more]  # fmt: skip


def run(folder, url, *more) -> apart.Ended:
    """Ask for all items, in another process; with the default of `--concurrency`."""
    return TURNS.call(["inference", *write_call(".", url, *more)], folder, folder / "notes", 120)


def run_here(folder, url, *more) -> int:
    """Ask for all items, in this process."""
    return main(write_call(folder, url, *more))


def rows(folder) -> list[dict]:
    return [row for part in sorted(folder.glob("run/responses/part-*")) for row in pq.read_table(part).to_pylist()]


def answered(folder) -> list[str]:
    """The items that have an answer, as often as they have one."""
    return [row["item"] for row in rows(folder) if row["error"] is None]


@pytest.fixture
def waits_are_short(monkeypatch):
    """Requests are repeated after tenths of a second, by calls in this process."""
    monkeypatch.setattr(engine, "Retries", lambda: QUICK)


LARGE = ("endless", "gzip")  # asked for in a process of its own, whose memory is measured


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in LARGE])
def test_ten_unusable_replies_in_a_row_end_a_run(tmp_path, kind, capsys, waits_are_short, monkeypatch):
    """Each prompt was sent eight times: 3,191 requests for 400 prompts."""
    if "16 MB" in KINDS[kind][0]:
        monkeypatch.setattr(replies, "MOST_BYTES", 1_000_000)
    write_items(tmp_path)
    with FaultyServer(lambda number, text, before: Fault(kind) if number >= GOOD else None) as server:
        assert run_here(tmp_path, server.url, *(("--timeout", "0.5") if "drip" in kind else ())) == 1
        assert len(server.requests) - GOOD <= 20
    require_end_by_unusable_replies(tmp_path, kind, capsys.readouterr().err)


@pytest.mark.parametrize("kind", LARGE)
def test_ten_large_replies_in_a_row_end_a_run_and_take_no_memory(tmp_path, kind):
    """Endless replies took 2.1 to 3.6 GB."""
    write_items(tmp_path)
    with FaultyServer(lambda number, text, before: Fault(kind) if number >= GOOD else None) as server:
        ended = run(tmp_path, server.url)
        assert len(server.requests) - GOOD <= 20
    assert ended.status == 1 and ended.megabytes < 1_000
    require_end_by_unusable_replies(tmp_path, kind, ended.err)


def require_end_by_unusable_replies(tmp_path, kind, err) -> None:
    said, (problem, begins) = err.splitlines()[-1], KINDS[kind]
    problem = problem.replace("16 MB", f"{replies.MOST_BYTES // 1_000_000} MB")
    # On a busy machine, another failure may stand between them, such as a reply too late.
    number = rf"10 replies in a row could not be used|{MOST_DOUBTFUL} replies could not be used, and none asked for .*"
    assert re.search(f"(?:{number}): {re.escape(f'{problem}; the last one begins: {begins}')}", said)
    assert "check the server, then give the same command again" in said and "\x1b" not in said
    paid = answered(tmp_path)
    assert len(paid) == len(set(paid)) >= GOOD - 2  # the probe asks the others


def test_the_same_command_later_asks_for_what_the_server_could_not_give(tmp_path):
    write_items(tmp_path)
    with FaultyServer(lambda number, text, before: Fault("bare") if number >= GOOD else None) as server:
        assert run(tmp_path, server.url).status == 1
    paid = answered(tmp_path)
    assert paid
    with FaultyServer() as server:
        assert run(tmp_path, server.url).status == 0
        assert not any(server.asked(f"Statement {item} is") for item in paid)
    assert sorted(map(int, answered(tmp_path))) == list(range(ITEMS))


def test_unusable_replies_of_several_kinds_end_a_run_too(tmp_path):
    """No ten of one kind follow each other."""
    write_items(tmp_path)
    kinds = ["bare", "nan", "login"]
    with FaultyServer(lambda number, text, before: Fault(kinds[number % 3]) if number >= GOOD else None) as server:
        ended = run(tmp_path, server.url)
        assert len(server.requests) - GOOD <= 20
    said = ended.err.splitlines()[-1]
    assert ended.status == 1 and "16 replies could not be used, and none asked for after them: the reply" in said


@pytest.mark.parametrize("kind", ["packed", "large"])
def test_packed_and_large_replies_are_read(tmp_path, kind):
    write_items(tmp_path)
    with FaultyServer(lambda number, text, before: Fault(kind) if number < 4 else None) as server:
        assert run(tmp_path, server.url).status == 0
        assert len(server.requests) == ITEMS + 2
    assert len(answered(tmp_path)) == ITEMS


@pytest.mark.usefixtures("waits_are_short")
def test_single_unusable_replies_are_asked_again(tmp_path):
    """They are more than may follow each other, all in all."""
    write_items(tmp_path)
    with FaultyServer(lambda number, text, before: Fault("bare") if number > 4 and number % 3 == 0 else None) as server:
        assert run_here(tmp_path, server.url) == 0
        assert len(server.requests) - ITEMS - 2 > MOST_ALIKE
    assert len(answered(tmp_path)) == ITEMS


@pytest.mark.usefixtures("waits_are_short")
def test_a_few_prompts_that_never_get_a_usable_reply_do_not_keep_the_others(tmp_path, capsys):
    """They come last, since they are asked again after a while, and then all replies cannot be used."""
    write_items(tmp_path)
    bad = [f"Statement {number} is" for number in (3, 13, 14, 28)]
    with FaultyServer(
        lambda number, text, before: Fault("bare") if any(each in text for each in bad) else None
    ) as server:
        assert run_here(tmp_path, server.url, "--allow-failed", "4") == 0
        assert f"4 of {ITEMS} prompts got no response" in capsys.readouterr().err
        assert len(answered(tmp_path)) == ITEMS - 4
        assert run_here(tmp_path, server.url, "--allow-failed", "4") == 0
        assert "replies in a row could not be used: the reply has no log-prob" in capsys.readouterr().err
    with FaultyServer() as server:
        assert run_here(tmp_path, server.url) == 0
    assert len(answered(tmp_path)) == ITEMS


@pytest.mark.parametrize("concurrency", [1, 3, 9, ApiSettings().concurrency])
@pytest.mark.parametrize("seed", range(4))
def test_few_requests_are_sent_to_a_server_that_goes_bad(concurrency, seed):
    """In whatever order it takes requests and its replies arrive; kinds are one or several."""
    doubts, chance = Doubts(), random.Random(seed)
    sent = {"good": 0, "bad": 0}
    kinds = chance.choice([1, 3])

    async def ask() -> None:
        while True:
            async with doubts.wait_and_count_request_during_block() as number:
                await asyncio.sleep(chance.random() / 1000)
                bad = sent["good"] >= 25
                sent["bad" if bad else "good"] += 1
                await asyncio.sleep(chance.random() / 200)
                if bad:
                    doubts.note_unusable_reply(str(chance.randrange(kinds)), "bad")
                else:
                    doubts.note_usable_reply(number)

    async def ask_all() -> list[BaseException | None]:
        return await asyncio.gather(*(ask() for _ in range(concurrency)), return_exceptions=True)

    ended = asyncio.run(asyncio.wait_for(ask_all(), 20))
    assert all(isinstance(error, RepliesUnusable) for error in ended)
    assert sent["good"] == 25 and 10 <= sent["bad"] <= MOST_DOUBTFUL
    doubts.forget_unusable_replies()
    assert asyncio.run(admitted(doubts))


async def admitted(doubts: Doubts) -> bool:
    async with doubts.wait_and_count_request_during_block():
        return True


def test_the_default_of_concurrency_is_no_more_than_what_is_sent_in_doubt():
    assert ApiSettings().concurrency <= MOST_DOUBTFUL
