"""Thoughts in front of readers: the tidy table, `show`, the page of examples, exports, and the caution about them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import waver
from analysis import runs
from analysis.measures.thoughts import count_unclosed_thoughts
from analysis.pages.transcripts.page import LONGEST, TEXTS, TranscriptsPage
from analysis.pages.transcripts.tables import tabulate_thought_lengths
from analysis.reporting.output.show import iterate_prompt_and_answer_lines
from analysis.reporting.words.thinking import list_unclosed_thought_cautions
from helpers.commands import waver as call
from helpers.synthetic import write_run
from helpers.thinking_runs import FIELDS, THOUGHT, think, write_thinking_run

SHARE = np.array([[[0.9, 0.2, 0.3], [0.6, 0.6, 0.6]]])
CLOSED = np.array([[[True, True, False], [False, False, False]]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_thinking_run(tmp_path_factory.mktemp("thoughts") / "run", SHARE, closed=CLOSED)


def test_the_tidy_table_has_a_row_for_every_thought(folder):
    run = waver.open(folder)
    thoughts = run.thoughts()
    assert thoughts["number"].tolist() == [1, 2, 3] * 2 and thoughts["tokens"].tolist() == [20, 21, 22] * 2
    assert thoughts["answered"].tolist() == CLOSED.ravel().tolist()
    np.testing.assert_allclose(thoughts["probability.agree"], [0.9, 0.2, *[np.nan] * 4])
    assert thoughts["answer"].tolist()[:2] == ["agree", "disagree"] and thoughts["answer"].isna().sum() == 4
    assert list(run.columns("thoughts")) == list(thoughts) and all(run.columns("thoughts").values())
    (mean,) = run.sql("SELECT avg(tokens) AS mean FROM thoughts WHERE answered")["mean"]
    assert mean == 20.5
    assert run.responses()["unclosed"].tolist() == [1, 3]


def test_a_run_without_thoughts_has_an_empty_table(tmp_path):
    rows = pd.DataFrame({"item": ["x"], "variant": ["p1"], "agreement": [0.3]})
    assert waver.open(write_run(tmp_path / "run", rows)).thoughts().empty


def test_show_quotes_the_first_thoughts_and_counts_the_others(tmp_path):
    share = np.full((1, 1, 5), 0.7)
    lines = list(iterate_prompt_and_answer_lines(runs.open_runs(write_thinking_run(tmp_path / "run", share))))
    assert "  m: 5 thoughts; agree 0.7, disagree 0.3, together 1; most thoughts say: agree" in lines
    place = lines.index("    thought (20 tokens): “thought 0 <b>&”")
    assert lines[place + 1] == "    wrote: “agree”" and lines[-1] == "    and 2 more thoughts"


def test_show_writes_nothing_after_a_thought_without_an_end(folder):
    lines = list(iterate_prompt_and_answer_lines(runs.open_runs(folder)))
    assert "  m: 3 thoughts, 3 of them without an end; most thoughts say: none" in lines
    assert lines[-3:] == [f"    thought ({20 + n} tokens): “thought {n} <b>&”" for n in range(3)]


def test_the_page_of_examples_folds_escapes_and_cuts_thoughts(tmp_path):
    rows = think(pd.DataFrame({"item": ["x"], "variant": ["p1"]}), np.array([[[0.9, 0.1]] * 4]))
    rows["thought"] = [["<script>" + "a" * LONGEST, "short", "third", "fourth"]]
    html = TranscriptsPage([str(write_run(tmp_path / "run", rows, conditions={THOUGHT: FIELDS}))]).examples().text
    assert "<script>" not in html and "&lt;script&gt;aaa" in html and "a" * LONGEST not in html
    assert "<summary>Thought 1 of 4 (20 tokens)</summary>" in html and "And 8 more characters." in html
    assert html.count("<summary>Thought") == TEXTS and f"And {4 - TEXTS} more thoughts." in html


@pytest.mark.slow
def test_exports_keep_thoughts_and_eee_brings_them_back(folder, tmp_path):
    call("analysis", "export", folder, "--as", "parquet", "--out", tmp_path / "tables")
    samples = pq.read_table(tmp_path / "tables" / "response_samples.parquet").to_pylist()
    assert [row["thought_tokens"] for row in samples] == [20, 21, 22] * 2
    options = pq.read_table(tmp_path / "tables" / "response_sample_options.parquet").to_pylist()
    assert {(row["sample"], row["canonical"]): row["probability"] for row in options} == pytest.approx(
        {(1, "agree"): 0.9, (1, "disagree"): 0.1, (2, "agree"): 0.2, (2, "disagree"): 0.8}
    )
    call("analysis", "export", folder, "--as", "eee", "--out", tmp_path / "records")
    (file,) = (tmp_path / "records").rglob("*_samples.jsonl")
    first = json.loads(file.read_text(encoding="utf-8").splitlines()[0])["metadata"]
    assert json.loads(first["waver_sample_probability"])[2] is None and first["waver_unclosed"] == "1"
    call("inference", "import", "eee", tmp_path / "records" / "data" / "synthetic", "--out", tmp_path / "back")
    names = ["variant", "thought", "thought_tokens", "unclosed", "sample_probability", "sample_answer", "output"]
    there, back = (
        [
            row
            for part in sorted((path / "responses").iterdir())
            for row in pq.read_table(part, columns=names).to_pylist()
        ]
        for path in (folder, tmp_path / "back")
    )
    assert there == back


@pytest.mark.slow
def test_the_caution_counts_thoughts_without_an_end(folder, tmp_path):
    counts = count_unclosed_thoughts(runs.open_runs(folder))
    assert counts[["thoughts", "unclosed", "unanswered"]].to_numpy().tolist() == [[6, 4, 1]]
    assert list_unclosed_thought_cautions(counts) == [
        "67 % of 6 thoughts did not end within their tokens (m). They have no answer, and are in no mean: a larger "
        "--max-tokens may end them. 1 prompt got no answer at all."
    ]
    forced = write_run(
        tmp_path / "run", think(pd.DataFrame({"item": ["x"], "variant": ["p"]}), np.array([[[0.4, 0.6]] * 4])).assign(
            unclosed=1
        ), conditions={THOUGHT: {**FIELDS, "budget": 64}},
    )  # fmt: skip
    assert list_unclosed_thought_cautions(count_unclosed_thoughts(runs.open_runs(forced))) == [
        "25 % of 4 thoughts did not end within their tokens (m). They were closed by force, and their answers count: a "
        "larger --budget may end them."
    ]
    whole = write_thinking_run(tmp_path / "whole", SHARE)
    assert list_unclosed_thought_cautions(count_unclosed_thoughts(runs.open_runs(whole))) == []


@pytest.mark.slow
def test_lengths_of_thoughts_are_counted_by_kind_of_wording(folder):
    (row,) = tabulate_thought_lengths(runs.open_runs(folder)).to_dict("records")
    assert row == {
        "study": "synthetic", "model": "m", "condition": THOUGHT, "pattern": "paraphrase", "n_prompts": 2,
        "n_thoughts": 6, "n_unclosed": 4, "unclosed": pytest.approx(2 / 3), "n_unanswered": 1, "tokens": 21.0,
        "tokens_median": 21.0, "tokens_most": 22, "most_allowed": 256.0,
    }  # fmt: skip
    assert "How long thoughts are" in TranscriptsPage([str(folder)]).examples().text
