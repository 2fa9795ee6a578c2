"""Models on a server from the command line: what is refused, what a preview says, and what it costs."""

from __future__ import annotations

import re

import pytest

from helpers.faulty_server import MODEL, FaultyServer, text_of
from inference.__main__ import main
from inference.engines.openai.failures import Retries

pytestmark = pytest.mark.slow

KEY = "sk-do-not-write-me-down-4711"


@pytest.fixture
def items(tmp_path):
    file = tmp_path / "items.csv"
    rows = [f"{number},Statement {number} is true." for number in range(100)]
    file.write_text("\n".join(["item,text", *rows]) + "\n", encoding="utf-8")
    return file


def call(command, items, *more) -> int:
    return main([command, "agreement", "--items", str(items), *map(str, more)])


def test_a_run_from_the_command_line(items, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", KEY)
    out = tmp_path / "run"
    with FaultyServer() as server:
        given = ("--engine", "openai", "--model", f"mine={MODEL}", "--base-url", server.url, "--out", out,
                 "--key-variable", "OTHER_KEY", "--concurrency", 8, "--price-in", 1, "--price-out", 2,
                 "--limit", 20)  # fmt: skip
        assert call("run", items, *given) == 0
        assert server.keys == {f"bearer {KEY}"}
        count = len(server.requests)
        assert call("run", items, *given) == 0
        assert len(server.requests) == count + 2  # the probe
    said = capsys.readouterr()
    assert re.search(r"mine: 22 replies .* tokens in, 22 out, cost 0\.\d{4}", said.err)
    for file in out.rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes()
    assert KEY not in said.out + said.err


def test_a_preview_asks_little_and_tells_the_cost(items, capsys):
    with FaultyServer() as server:
        more = ("--engine", "openai", "--model", MODEL, "--base-url", server.url, "--price-in", 1000, "--price-out", 0)
        assert call("preview", items, *more) == 0
        assert len(server.requests) < 40
        tokens = sum(len(text_of(body).split()) + 3 for _, body in server.requests if "Statement" in str(body))
        asked = sum("Statement" in str(body) for _, body in server.requests)
        asked_in_all = len(server.requests)
    said, bill = capsys.readouterr()
    assert f"{MODEL}: {asked_in_all} replies" in bill
    assert re.search(r"  to come: 100 prompts, about [\d,]+ tokens, about ", said)
    assert re.search(r"  item \S+, variant original, \d+ tokens:", said)
    assert f"openai, {MODEL} at {server.url}" in said
    assert "or more; counted: 'yes' ' yes' 'Yes'" in said
    # The estimate against the server's own count, had all been asked: 5 %.
    estimate = re.search(
        r"  at most ([\d,]+) tokens in and 100 out, cost at most ([\d.]+); estimated with [\d.]+ char", said
    )
    assert float(estimate[1].replace(",", "")) == pytest.approx(100 * tokens / asked, rel=0.05)
    assert float(estimate[2]) == pytest.approx(float(estimate[1].replace(",", "")) / 1000, abs=0.01)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--concurrency", "4"), "--concurrency is about a server: add --engine openai"),
        (("--engine", "openai", "--base-url", f"http://u:{KEY}@h/v1"), "--base-url: an address with a user name"),
        (("--engine", "openai", "--key-variable", KEY), "--key-variable: give the name of an environment variable"),
        (("--engine", "openai", "--dtype", "float32"), "--dtype float32: with --engine openai the server decides"),
        (("--engine", "openai", "--base-url", "http://127.0.0.1:9/v1"), "cannot be asked for model 'm'"),
    ],
)
def test_wrong_calls_are_one_line(items, tmp_path, capsys, monkeypatch, more, says):
    monkeypatch.setattr("inference.engines.openai.engine.Retries", lambda: Retries(first=0.001))
    assert call("run", items, "--model", "m", "--out", tmp_path / "run", *more) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert says in said[-1] and "Traceback" not in "".join(said) and KEY not in "".join(said)
    assert not any(KEY.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--concurrency", "0", "--concurrency: 0 is not a whole number from 1 to 10,000"),
        ("--top-logprobs", "1_0", "--top-logprobs: 1_0 is not a whole number from 1 to 1,000,000"),
        ("--timeout", "1_0", "--timeout: 1_0 is not a number from 0.01 to 86,400"),
    ],
)
def test_what_no_server_takes_is_refused_as_it_is_read(items, tmp_path, capsys, option, value, says):
    with pytest.raises(SystemExit):
        call("run", items, "--model", "m", "--out", tmp_path / "run", "--engine", "openai", option, value)
    assert says in capsys.readouterr().err
