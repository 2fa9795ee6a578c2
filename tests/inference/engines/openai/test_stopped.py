"""A call that asks a server is stopped at once, and what the server has answered is in the folder."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from helpers import apart
from helpers.faulty_server import MODEL, Fault, FaultyServer
from inference.__main__ import main

pytestmark = pytest.mark.slow

ITEMS = 300
ENOUGH = 60  # replies after which a server fails, or a signal is sent


def run(folder: str, url: str) -> None:
    os.chdir(folder)
    error = os.open("error", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(error, sys.stderr.fileno())
    status = main(["run", "agreement", "--items", "items.csv", "--out", "run", "--model", MODEL, "--engine", "openai",
                   "--base-url", url, "--concurrency", "4", "--form", "chat"])  # fmt: skip
    os._exit(status)


@pytest.fixture
def folder(tmp_path) -> Path:
    return made(tmp_path)


def made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [f"{number},Statement {number} is true." for number in range(ITEMS)]
    (folder / "items.csv").write_text("\n".join(["item,text", *rows]) + "\n", encoding="utf-8")
    return folder


def started(folder: Path, server: FaultyServer):
    process = apart.forked(run, str(folder), server.url)
    process.start()
    return process


def wait_for(server: FaultyServer, replies: int, seconds: float = 0.0) -> None:
    """Wait until a server has served so many replies, then some seconds more."""
    until = time.monotonic() + 60
    while len(server.served) < replies:
        assert time.monotonic() < until, f"{len(server.served)} replies"
        time.sleep(0.01)
    time.sleep(seconds)


def rows(folder: Path) -> int:
    return sum(pq.read_metadata(part).num_rows for part in folder.glob("run/responses/part-*.parquet"))


def ended(process, begun: float) -> float:
    """The seconds until a process ended; it is killed if that takes too long."""
    process.join(20)
    if process.is_alive():
        process.kill()
        process.join()
    return time.monotonic() - begun


def after(number: int, fault: Fault):
    """The fault from one request on; the probe's requests come first."""
    return lambda asked, text, before: fault if asked >= number + 2 else None


STUCK = {
    "hanging": Fault("hang"),
    "failing": Fault("status", 503),
    "pausing": Fault("status", 429, headers={"Retry-After": "200"}),
}


@pytest.mark.parametrize("name", STUCK)
def test_one_signal_ends_the_wait_for_a_server_that_is_stuck(folder, name):
    """It took 30 to 150 seconds."""
    with FaultyServer(after(ENOUGH, STUCK[name])) as server:
        process = started(folder, server)
        wait_for(server, ENOUGH + 2, 0.5)
        begun = time.monotonic()
        os.kill(process.pid, signal.SIGINT if name == "hanging" else signal.SIGTERM)
        assert ended(process, begun) < 5
    assert process.exitcode == 1
    assert rows(folder) == ENOUGH
    said = (folder / "error").read_text()
    assert "Traceback" not in said
    assert "stopped; 60 of 300 rows of hash-1 chat/yes-no are saved; give the same command again" in said


def test_one_signal_ends_the_wait_for_a_server_that_never_answers(folder):
    with FaultyServer(lambda *_: Fault("hang")) as server:
        process = started(folder, server)
        while not server.requests:
            time.sleep(0.01)
        begun = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        assert ended(process, begun) < 5
    assert process.exitcode == 1
    assert (
        (folder / "error")
        .read_text()
        .splitlines()[-1]
        .endswith("stopped before hash-1; give the same command again to go on")
    )


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT] * 3])
def test_what_came_before_a_stop_is_saved(folder, signals):
    """351 and 227 replies were served, and none saved."""
    with FaultyServer(delay=0.01) as server:
        process = started(folder, server)
        wait_for(server, ENOUGH)
        begun = time.monotonic()
        for number in signals:
            with contextlib.suppress(ProcessLookupError):  # the first signal may have ended it already
                os.kill(process.pid, number)
            time.sleep(0.02)
        assert ended(process, begun) < 5
    assert process.exitcode == 1
    came = sum(moment < begun - 0.5 for moment, _ in server.served) - 2
    assert came <= rows(folder) <= len(server.served) - 2
    assert rows(folder) > 0 or len(signals) > 1


def test_a_kill_loses_no_reply_that_came_half_a_second_before(tmp_path):
    """Up to 325 replies were lost, of two seconds.

    One run of three must do: this machine may be busy. Each is killed when nothing was saved for long, if that ever is.
    """
    lost: list[set[str]] = []
    while len(lost) < 3 and (not lost or lost[-1]):
        lost.append(paid_twice(made(tmp_path / str(len(lost)))))
    assert not lost[-1], f"{[len(prompts) for prompts in lost]} replies"


def paid_twice(folder: Path) -> set[str]:
    """The prompts answered more than half a second before a kill, which the same command asks again."""
    with FaultyServer(delay=0.02) as server:
        process = started(folder, server)
        wait_for(server, ENOUGH)
        while len(server.served) < 200 and time.monotonic() < saved(folder) + 0.6:
            time.sleep(0.01)
        killed = time.monotonic()
        process.kill()
        process.join()
        paid = {text for moment, text in server.served if "Statement" in text and moment < killed - 0.5}
    assert paid
    with FaultyServer() as server:
        process = started(folder, server)
        process.join(60)
        asked = {text for _, text in server.served}
    assert process.exitcode == 0
    assert len(answered(folder)) == len(set(answered(folder))) == ITEMS
    return paid & asked


def saved(folder: Path) -> float:
    """When a part was last written, on the clock of `time.monotonic`."""
    ages = [time.time() - part.stat().st_mtime for part in folder.glob("run/responses/part-*.parquet")]
    return time.monotonic() - min(ages, default=0.0)


def answered(folder: Path) -> list[str]:
    parts = folder.glob("run/responses/part-*.parquet")
    return [row["item"] for part in parts for row in pq.read_table(part).to_pylist() if row["error"] is None]


def test_a_kill_of_a_run_whose_server_is_silent_loses_nothing(folder):
    with FaultyServer(after(ENOUGH, Fault("hang"))) as server:
        process = started(folder, server)
        wait_for(server, ENOUGH)
        until = time.monotonic() + 3  # rows are saved several times a second
        while rows(folder) < ENOUGH and time.monotonic() < until:
            time.sleep(0.05)
        process.kill()
        process.join()
    assert rows(folder) == ENOUGH
