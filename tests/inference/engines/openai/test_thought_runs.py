"""Runs of all five protocols with thoughts on a server: rows, costs, a resumed run, previews, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from helpers.faulty_server import MODEL, Fault
from helpers.thinking_server import ThinkingServer, next_tokens
from inference.__main__ import main

pytestmark = pytest.mark.slow

THOUGHTS = ("--answer", "thought", "--thoughts", "4", "--temperature", "0.6", "--top-p", "0.95", "--max-tokens", "60")
PROTOCOLS = {
    "agreement": ("--wordings", "2"),
    "wording": (),
    "negation": (),
    "choice": ("--orders", "2"),
    "scoring": ("--range", "0-9"),
}


def call(command: str, protocol: str, server: ThinkingServer, *more: str) -> int:
    words = (command, protocol, "--items", "demo", "--limit", "1", "--engine", "openai", "--model", f"m={MODEL}",
             "--base-url", server.url, *PROTOCOLS[protocol], *more)  # fmt: skip
    return main(list(words))


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [row for part in sorted((out / "responses").glob("part-*")) for row in pq.read_table(part).to_pylist()]


@pytest.mark.parametrize("kind", ["ids", "chat"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_run_of_every_protocol(tmp_path: Path, protocol: str, kind: str) -> None:
    out = tmp_path / "run"
    with ThinkingServer(kind) as server:
        assert call("run", protocol, server, *THOUGHTS, "--out", str(out), "--top-logprobs", "20") == 0
        count = sum(body.get("temperature") == 0.6 for _, body in server.requests)
        assert call("run", protocol, server, *THOUGHTS, "--out", str(out), "--top-logprobs", "20") == 0
        assert sum(body.get("temperature") == 0.6 for _, body in server.requests) == count == len(rows_of(out))
    for row in rows_of(out):
        assert row["error"] is None and len(row["thought"]) == len(row["output"]) == len(row["thought_tokens"]) == 4
        answered = [values for values in row["sample_probability"] if values is not None]
        assert len(answered) == 4 - row["unclosed"]
        if not answered:
            assert row["probability"] is row["mass"] is None
            continue
        mean = [sum(values) / len(answered) for values in zip(*answered, strict=True)]
        assert row["probability"] == pytest.approx(mean, abs=1e-12)
        assert row["mass"] == pytest.approx(sum(mean), abs=1e-12)
        exact = kind == "ids" and protocol != "scoring"
        assert (row["mass_upper"] is None) == exact
        assert exact or row["mass"] <= row["mass_upper"] <= 1


def test_a_run_that_was_stopped_asks_for_no_thought_twice(tmp_path: Path) -> None:
    out = tmp_path / "run"

    def written() -> list[str]:
        return [str(body["prompt"]) for _, body in server.requests if body.get("temperature") == 0.6]

    with ThinkingServer(fault=lambda number, text, before: Fault("status", 401) if number > 12 else None) as server:
        assert call("run", "agreement", server, *THOUGHTS, "--out", str(out), "--concurrency", "1") == 1
        before, kept = written(), [row for row in rows_of(out) if row["error"] is None]
        assert 0 < len(kept) <= len(before)
        server.fault = lambda number, text, before: None
        assert call("run", "agreement", server, *THOUGHTS, "--out", str(out)) == 0
        assert len(written()) - len(before) == len(rows_of(out)) - len(kept)
    assert len({(row["item"], row["variant"]) for row in rows_of(out)}) == len(rows_of(out))


@pytest.mark.parametrize("protocol", ["agreement", "scoring"])
def test_a_preview_of_thoughts(protocol: str, capsys: pytest.CaptureFixture[str]) -> None:
    with ThinkingServer() as server:
        more = ("--price-in", "1", "--price-out", "2")
        assert call("preview", protocol, server, *THOUGHTS, *more) == 0
    said = capsys.readouterr().out
    assert "condition chat/" in said and "/thought-t0.6-p0.95" in said and "to come:" in said and "cost at most" in said


@pytest.mark.parametrize(
    ("server", "more", "says"),
    [
        ({"kind": "ignoring", "parted": True}, THOUGHTS, "cannot continue after a thought"),
        ({"switches": False}, ("--answer", "thought", "--effort", "none"), "cannot switch thinking off"),
        ({"kind": "chat"}, (*THOUGHTS, "--top-k", "20"), "--top-k is a field of vLLM's server"),
        ({"kind": "chat"}, ("--answer", "text", "--temperature", "0.6", "--top-k", "20"), "--top-k is a field of vLLM"),
        ({}, ("--answer", "thought"), "no sampler of its maker is known"),
        ({}, ("--answer", "probability"), "thinks before it answers"),
    ],
)
def test_refusals_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], server: dict[str, Any], more: tuple[str, ...], says: str
) -> None:
    with ThinkingServer(**server) as serving:
        assert call("run", "agreement", serving, *more, "--out", str(tmp_path / "run")) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert says in said[-1] and "Traceback" not in "".join(said)


def test_the_servers_distribution_is_whole() -> None:
    for text in ("a", "<think>\n", "7"):
        assert sum(next_tokens(text).values()) == pytest.approx(1, abs=1e-9)
