"""A server that stops giving usable replies is not paid for thousands of them; the same command goes on later."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from helpers.faulty_server import MODEL, Fault, FaultyServer
from inference.__main__ import main

GOOD, ITEMS, CONCURRENCY = 30, 200, 8
KINDS = {
    "bare": "no log-probabilities",
    "nan": "log-probability",
    "positive": "log-probability",
    "cut": "not whole JSON",
    "half": "ends before it is whole",
    "login": "not whole JSON",
    "other": "answered instead of",
}


def run(folder, url) -> int:
    return main(["run", "agreement", "--items", str(folder / "items.csv"), "--out", str(folder / "run"), "--model",
                 MODEL, "--engine", "openai", "--base-url", url, "--concurrency", str(CONCURRENCY), "--form",
                 "chat"])  # fmt: skip


def rows(folder) -> list[dict]:
    return [row for part in sorted(folder.glob("run/responses/part-*")) for row in pq.read_table(part).to_pylist()]


@pytest.mark.parametrize("kind", KINDS)
def test_ten_unusable_replies_in_a_row_end_a_run(tmp_path, capsys, kind):
    """Each prompt was sent eight times: 3,191 requests for 400 prompts."""
    lines = ["item,text", *(f"{number},Statement {number} is true." for number in range(ITEMS))]
    (tmp_path / "items.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    with FaultyServer(lambda number, text, before: Fault(kind) if number >= GOOD else None) as server:
        assert run(tmp_path, server.url) == 1
        assert len(server.requests) - GOOD <= 20
    said = capsys.readouterr().err.splitlines()[-1]
    assert "10 replies in a row could not be used" in said and KINDS[kind] in said
    assert "the last one begins:" in said and "give the same command again" in said and "\x1b" not in said
    good = {row["item"] for row in rows(tmp_path) if row["error"] is None}
    assert len(good) >= GOOD - 4  # the probe asks some of them
    with FaultyServer() as server:
        assert run(tmp_path, server.url) == 0
    answered = {row["item"] for row in rows(tmp_path) if row["error"] is None}
    assert answered == {str(number) for number in range(ITEMS)}


def test_single_unusable_replies_are_asked_again(tmp_path):
    (tmp_path / "items.csv").write_text("item,text\n" + "".join(f"{n},It is {n}.\n" for n in range(60)), "utf-8")
    with FaultyServer(lambda number, text, before: Fault("bare") if number > 4 and number % 6 == 0 else None) as server:
        assert run(tmp_path, server.url) == 0
    assert all(row["error"] is None for row in rows(tmp_path))
