"""Which answers are asked for, from the command line to the rows; stopped and killed runs go on where they were."""

from __future__ import annotations

import os
import signal
from argparse import ArgumentParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ground.errors import InputError, RunFailed
from helpers.commands import ROOT
from helpers.trivial_engine import TrivialEngine, loader, small_study
from inference.asking import text_answers
from inference.asking.answer_ways import AnswerWays, add_answer_arguments, is_variant_in_subsample, parse_answer_ways
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Sampling, Thinking
from inference.protocols.agreement import Questions, read_agreement_prompts
from inference.runfolder.parquet import KEY

pytestmark = pytest.mark.slow

STUDY = small_study(items=8, paraphrases=7)
A = Model("a", "somewhere/a")


def ways(*arguments: str) -> AnswerWays:
    parser = ArgumentParser()
    add_answer_arguments(parser)
    return parse_answer_ways(parser.parse_args(arguments))


def ask(out: Path, answers: AnswerWays, load=None) -> None:
    questions = Questions(read_agreement_prompts(), answers=answers)
    ask_tasks_and_list_tallies([Task(STUDY, [A], questions, Settings(), str(out))], load=load or loader())


def table_of(out: Path) -> pa.Table:
    table = pa.concat_tables([pq.read_table(file) for file in sorted((out / "responses").glob("part-*.parquet"))])
    return table.sort_by([(name, "ascending") for name in KEY]).combine_chunks()


def test_the_command_line_says_which_answers() -> None:
    assert ways() == AnswerWays()
    assert ways("--answer", "text") == AnswerWays(False, (Sampling(),))
    sampled = (Sampling(10, 0.7), Sampling(1, 0.0), Sampling(10, 1.3))
    assert ways("--answer", "probability", "text", "--temperature", "0.7", "0", "1.3") == AnswerWays(True, sampled)
    assert ways("--answer", "thought") == AnswerWays(False, (), (Thinking(8),))
    assert ways("--answer", "thought", "--effort", "high") == AnswerWays(False, (), (Thinking(effort="high"),))
    today = ways("--answer", "thought", "--thoughts", "1", "--temperature", "0", "--max-tokens", "1024")
    assert today == AnswerWays(False, (), (Thinking(1, 0.0, max_tokens=1024),))
    several = ways("--answer", "thought", "--effort", "none", "low", "high", "--budget", "64", "128")
    assert several.thinkings == (
        Thinking(1, 0.0, effort="none"),
        *(Thinking(effort=effort, budget=budget) for effort in ("low", "high") for budget in (64, 128)),
    )
    sampler = ("--temperature", "0", "0.6", "--top-p", "0.9", "--top-k", "20", "--min-p", "0.05")
    assert ways("--answer", "text", "thought", *sampler) == AnswerWays(
        False,
        (Sampling(), Sampling(10, 0.6, top_p=0.9, top_k=20, min_p=0.05)),
        (Thinking(1, 0.0), Thinking(8, 0.6, 0.9, 20, 0.05)),
    )
    both = ways("--answer", "text", "thought", "--max-tokens", "9", "--text-share", "0.5")
    assert both == AnswerWays(False, (Sampling(max_tokens=9),), (Thinking(max_tokens=9),), 0.5)


def test_texts_read_by_another_rule_are_not_gone_on_with(tmp_path, monkeypatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(text_answers, "VERSION", text_answers.VERSION - 1)
        ask(tmp_path / "run", ways("--answer", "text"))
    there = table_of(tmp_path / "run")
    with pytest.raises(InputError, match=r"condition 'plain/yes-no/text' is already here .*text_rule was 3, now 4"):
        ask(tmp_path / "run", ways("--answer", "text"))
    assert table_of(tmp_path / "run") == there


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--samples", "3"), "--samples is about generated texts: add --answer text"),
        (("--temperature", "1"), "--temperature is about generated texts and thoughts: add --answer text or thought"),
        (("--answer", "text", "--thoughts", "3"), "--thoughts is about thoughts: add --answer thought"),
        (("--answer", "thought", "--samples", "3"), "--samples is about generated texts: add --answer text"),
        (
            ("--answer", "thought", "--temperature", "0", "--thoughts", "3"),
            "at temperature 0 all thoughts are the same",
        ),
        (("--answer", "thought", "--top-p", "0.9"), "--top-p is for sampled thoughts: give a --temperature above 0"),
        (("--answer", "text", "--top-k", "9"), "--top-k is for temperatures above 0"),
        (("--answer", "thought", "--budget", "9", "--max-tokens", "9"), "leave out --max-tokens"),
        (("--answer", "thought", "--temperature", "1", "--top-p", "0"), "top_p 0.0: give a share above 0"),
        (("--answer", "text", "--samples", "3"), "give a --temperature"),
        (("--answer", "text", "--text-share", "0"), "--text-share 0.0: give a share above 0"),
        (("--answer", "text", "--temperature", "1", "--samples", "9999", "--max-tokens", "9999"), "at most 16,777,216"),
    ],
)
def test_settings_that_do_not_fit_are_refused(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ways(*arguments)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": -1.0}, "temperature -1.0: give a number from 0"),
        ({"temperature": float("inf")}, "temperature inf: give a number from 0"),
        ({"max_tokens": 0}, "ask for at least one of each"),
        ({"samples": 10**9, "temperature": 1.0}, "ask for fewer or shorter ones"),
    ],
)
def test_samplings_that_cannot_be(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Sampling(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_tokens": -5}, "max_tokens -5: give at least 1 token"),
        ({"budget": 0}, "budget 0: give at least 1 token"),
        ({"thoughts": 10_000, "max_tokens": 8_192}, "ask for fewer or shorter ones"),
        ({"thoughts": 10_000, "budget": 8_192}, "ask for fewer or shorter ones"),
    ],
)
def test_thoughts_that_cannot_be(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Thinking(**settings)


def test_a_share_is_drawn_by_name_and_grows_with_the_share() -> None:
    variants = list(STUDY.variants)
    few, many = ([v.key for v in variants if is_variant_in_subsample(v, share)] for share in (0.3, 0.6))
    assert set(few) < set(many)
    assert len(few) == pytest.approx(0.3 * len(variants), abs=11)  # 3 standard deviations
    assert all(is_variant_in_subsample(variant, 1.0) for variant in variants)


def test_every_way_is_a_condition_with_rows_of_its_own_kind(tmp_path: Path) -> None:
    answers = AnswerWays(True, (Sampling(), Sampling(4, 0.7)), (), 0.5)
    ask(tmp_path / "run", answers)
    rows = table_of(tmp_path / "run").to_pylist()
    by_condition = {name: [row for row in rows if row["condition"] == name] for name in {r["condition"] for r in rows}}
    assert set(by_condition) == {"plain/yes-no", "plain/yes-no/text", "plain/yes-no/text-t0.7"}
    chosen = {variant.key for variant in STUDY.variants if is_variant_in_subsample(variant, 0.5)}
    assert len(by_condition["plain/yes-no"]) == len(list(STUDY.variants)) > len(chosen)
    for name, samples in (("plain/yes-no/text", 1), ("plain/yes-no/text-t0.7", 4)):
        assert {(row["item"], row["variant"]) for row in by_condition[name]} == chosen
        for row in by_condition[name]:
            assert row["probability"] is None
            assert len(row["output"]) == sum(row["count"]) + row["invalid"] == samples
    assert all(row["output"] is None and row["probability"] for row in by_condition["plain/yes-no"])


def test_probabilities_after_thoughts_and_thoughts_that_do_not_end(tmp_path: Path) -> None:
    engine = TrivialEngine({"thinks": True, "sampler": {"temperature": 0.6}}, form="chat")
    ways_of_thinking = (Thinking(3), Thinking(2, 0.5, budget=9))
    ask(tmp_path / "run", AnswerWays(False, (), ways_of_thinking), load=lambda model, seed: engine)
    rows = table_of(tmp_path / "run").to_pylist()
    assert {row["condition"] for row in rows} == {"chat/yes-no/thought", "chat/yes-no/thought-t0.5-b9"}
    makers = [row for row in rows if row["condition"] == "chat/yes-no/thought"]
    ended = [row for row in makers if row["probability"]]
    assert 0 < len(ended) < len(makers) == len(list(STUDY.variants))
    for row in makers:
        assert (row["thought"], row["thought_tokens"]) == (["I think 0.", "I think 1.", "I think 2."], [3, 4, 5])
        assert row["error"] is row["count"] is row["invalid"] is None
        if not row["probability"]:
            assert row["unclosed"] == 3 and row["output"] == ["", "", ""] and row["sample_probability"] == [None] * 3
            assert row["answer"] is row["mass"] is row["logprob"] is None
            continue
        assert (row["unclosed"], row["output"]) == (1, ["yes", "", "yes"])
        first, second, third = row["sample_probability"]
        assert second is None and first == third == pytest.approx(row["probability"], abs=1e-15)
    forced = [row for row in rows if row not in makers]
    assert all(row["probability"] and row["unclosed"] in (1, 2) for row in forced)
    with pytest.raises(InputError, match=r"no sampler of its maker is known .* give --temperature"):
        ask(tmp_path / "b", AnswerWays(False, (), (Thinking(),)), loader(info={"thinks": True}, form="chat"))


def test_masked_models_are_asked_for_probabilities_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(tmp_path / "run", AnswerWays(True, (Sampling(),)), loader(form="cloze"))
    assert "a fills a mask and writes no text: asked for probabilities only" in capsys.readouterr().err
    assert set(table_of(tmp_path / "run")["condition"].to_pylist()) == {"cloze/yes-no"}
    with pytest.raises(InputError, match="model a fills a mask and writes no text: ask it for --answer probability"):
        ask(tmp_path / "texts", AnswerWays(False, (Sampling(),)), loader(form="cloze"))


def test_failed_texts_carry_their_error_and_are_asked_again(tmp_path: Path) -> None:
    answers = AnswerWays(False, (Sampling(),))
    ask(tmp_path / "undisturbed", answers)
    with pytest.raises(RunFailed, match="rows have no response"):
        ask(tmp_path / "run", answers, loader(fails=lambda text: "Thing 3" in text))
    failed = [row for row in table_of(tmp_path / "run").to_pylist() if row["error"]]
    assert {row["item"] for row in failed} == {"3"}
    ask(tmp_path / "run", answers)
    answered = table_of(tmp_path / "run").filter(pa.compute.field("error").is_null())
    assert answered.equals(table_of(tmp_path / "undisturbed"))


def test_a_stopped_run_goes_on_to_the_same_texts(tmp_path: Path) -> None:
    answers = AnswerWays(True, (Sampling(3, 0.7), Sampling(2, 1.0)), (), 0.6)
    ask(tmp_path / "undisturbed", answers)

    def stop(number: int) -> None:
        if number == 18:  # among the texts
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(RunFailed, match=r"text-t0\.7 and 1 more are saved"):
        ask(tmp_path / "run", answers, loader(before_batch=stop))
    ask(tmp_path / "run", answers)
    assert table_of(tmp_path / "run").equals(table_of(tmp_path / "undisturbed"))


def test_a_demo_model_writes_the_same_whether_or_not_it_is_killed(tmp_path: Path) -> None:
    model = Model("small", str(ROOT / "inference" / "demo" / "models" / "waver-demo-small"))
    questions = Questions(read_agreement_prompts(), answers=AnswerWays(False, (Sampling(), Sampling(3, 0.8))))

    def write(out: Path) -> pa.Table:
        ask_tasks_and_list_tallies([Task(STUDY, [model], questions, Settings(batch_size=4, seed=5), str(out))])
        return table_of(out)

    whole = write(tmp_path / "whole")
    assert whole.num_rows == 2 * len(list(STUDY.variants))
    write(tmp_path / "cut")
    first, *others = sorted((tmp_path / "cut" / "responses").glob("part-*.parquet"))
    kept = pq.read_table(first).slice(7, 19)  # as if the rest had not been written before the kill
    for part in others:
        part.unlink()
    pq.write_table(kept, first)
    assert write(tmp_path / "cut").equals(whole)
