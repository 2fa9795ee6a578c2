"""Asking: every variant once, the same numbers however often it is interrupted, and a word for whatever went wrong."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ground import progress
from ground.errors import InputError, RunFailed
from helpers.trivial_engine import TrivialEngine, loader, shown, small_study
from inference.asking import one_model, session
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.failures import AllowedFailures
from inference.asking.models import Model
from inference.asking.one_model import Settings, count_expected_and_saved_rows
from inference.protocols.agreement import Questions, read_agreement_prompts
from inference.runfolder.parquet import KEY
from inference.runfolder.responses import Responses
from inference.runfolder.store import Run
from inference.stimuli.templates.prompts import build_template_values_of_options

pytestmark = pytest.mark.slow

STUDY = small_study(items=5, paraphrases=5)
A, B = Model("a", "somewhere/a"), Model("b", "somewhere/b")


def ask(
    out: Path, *models: Model, study=STUDY, book=None, load=None, settings=None, option_orders=("yes-no",), **options
):
    questions = Questions(book or read_agreement_prompts(), option_orders)
    task = Task(study, models or (A,), questions, settings or Settings(), str(out), **options)
    return ask_tasks_and_list_tallies([task], load=load or loader())


def test_rows_of_prompts_in_plain_form_alone_are_counted_before_a_model_is_loaded(tmp_path):
    file = tmp_path / "prompt.yaml"
    file.write_text('plain:\n  template: "{{ text }}"\n  answers: {agree: ["yes"], disagree: ["no"]}\n', "utf-8")
    with Run.create_or_open(tmp_path / "run", STUDY) as run:
        questions = Questions(read_agreement_prompts(file))
        assert count_expected_and_saved_rows(run, A, questions, Settings()) == (30, 0)


def table_of(out: Path) -> pa.Table:
    """All rows in a fixed order, as one table that can be compared exactly."""
    files = sorted((out / "responses").glob("part-*.parquet"))
    table = pa.concat_tables([pq.read_table(file, partitioning=None) for file in files])
    return table.sort_by([(name, "ascending") for name in KEY]).combine_chunks()


def content(out: Path) -> dict:
    return json.loads((out / "run.json").read_text(encoding="utf-8"))


@pytest.fixture
def undisturbed(tmp_path) -> pa.Table:
    ask(tmp_path / "undisturbed")
    return table_of(tmp_path / "undisturbed")


def test_every_variant_of_every_model_under_every_condition_once(tmp_path):
    tallies = ask(tmp_path, A, B, option_orders=("yes-no", "no-yes"))
    rows = table_of(tmp_path).to_pylist()
    keys = [(r["model"], r["condition"], r["item"], r["variant"]) for r in rows]
    assert set(keys) == {(m, f"plain/{o}", *v.key) for m in "ab" for o in ("yes-no", "no-yes") for v in STUDY.variants}
    assert len(keys) == len(set(keys)) == 2 * 2 * 30
    assert [(t.model, t.condition, t.asked_count, t.failed) for t in tallies] == [
        (m, f"plain/{o}", 30, 0) for m in "ab" for o in ("yes-no", "no-yes")
    ]


def test_a_row_is_what_the_engine_said_about_that_prompt(tmp_path):
    ask(tmp_path, option_orders=("no-yes",))
    engine, book = TrivialEngine(), read_agreement_prompts()
    variants = list(STUDY.variants)
    prompts = [
        book.render("plain", build_template_values_of_options(variant), option_order="no-yes") for variant in variants
    ]
    expected = {}
    for batch in engine.cut_into_batches(prompts):
        expected |= {
            variants[n].key: s for n, s in zip(batch, engine.score([prompts[n] for n in batch])[0], strict=True)
        }
    answers = Counter()
    for row in table_of(tmp_path).to_pylist():
        score = expected[row["item"], row["variant"]]
        assert (row["probability"], row["logprob"], row["mass"]) == (
            list(score.probability),
            list(score.logprob),
            score.mass,
        )
        assert row["answer"] == (None if score.answer is None else ("agree", "disagree")[score.answer])
        assert row["error"] is None
        answers[row["answer"]] += 1
    assert len(answers) == 3  # agree, disagree and no valid answer all occurred


def test_what_the_run_folder_says(tmp_path):
    ask(
        tmp_path, Model("a", "x", {"series": "s", "stage": "base"}), settings=Settings(seed=4), command=["waver", "run"]
    )
    about = content(tmp_path)
    assert about["models"]["a"] == {
        "engine": "causal", "revision": "1", "dtype": "float32", "device": "cpu", "parameters": 10,
        "series": "s", "stage": "base", "forms": {"auto": "plain"},
    }  # fmt: skip
    assert about["conditions"]["plain/yes-no"] == {
        "form": "plain", "option_order": "yes-no", "prompt": None,
        "prompt_hash": read_agreement_prompts().compute_hash_of_prompt_form("plain"),
    }  # fmt: skip
    assert about["seed"] == 4
    assert [(s["command"], s["finished"] is None) for s in about["sessions"]] == [(["waver", "run"], False)]


@pytest.mark.parametrize(("form", "condition"), [("chat", "chat/yes-no"), ("cloze", "cloze/yes-no")])
def test_the_engine_decides_what_auto_means(tmp_path, form, condition):
    ask(tmp_path, load=loader(form=form))
    assert list(content(tmp_path)["conditions"]) == [condition]


def test_a_form_asked_for_is_for_models_that_read_left_to_right(tmp_path):
    def load(model, seed):
        return TrivialEngine(form="cloze" if model.id == "b" else "chat")

    ask(tmp_path, A, B, settings=Settings(form="plain"), load=load)
    rows = table_of(tmp_path).to_pylist()
    assert {(r["model"], r["condition"]) for r in rows} == {("a", "plain/yes-no"), ("b", "cloze/yes-no")}


def test_models_and_conditions_may_be_added_later(tmp_path):
    ask(tmp_path, A)
    ask(tmp_path, A, B, option_orders=("yes-no", "no-yes"))
    assert table_of(tmp_path).num_rows == 4 * 30
    assert list(content(tmp_path)["models"]) == ["a", "b"]


def test_a_repeated_call_asks_nothing(tmp_path, undisturbed, capsys):
    ask(tmp_path / "run")
    engine = TrivialEngine()
    ask(tmp_path / "run", load=lambda model, seed: engine)
    assert engine.batches_scored == 0
    assert table_of(tmp_path / "run").equals(undisturbed)
    assert "a: nothing left to ask" in capsys.readouterr().err


class TestInterrupted:
    """Whatever happens to a run, it ends with the rows of an undisturbed one, and asks nothing twice."""

    @pytest.fixture(autouse=True)
    def written_at_once(self, monkeypatch):
        monkeypatch.setattr(session, "FIRST_FLUSH", 0.0)
        monkeypatch.setattr(session, "LAST_FLUSH", 0.0)

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_stops_after_the_batch_in_hand(self, tmp_path, undisturbed, number):
        before = signal.getsignal(number)
        signalling = loader(before_batch=lambda batch: os.kill(os.getpid(), number) if batch == 2 else None)
        with pytest.raises(
            RunFailed, match=r"stopped; 12 of 30 rows of a plain/yes-no are saved; give the same command"
        ):
            ask(tmp_path / "run", load=signalling)
        assert signal.getsignal(number) == before
        assert table_of(tmp_path / "run").num_rows == 12
        assert content(tmp_path / "run")["sessions"][-1]["finished"] is None
        engine = TrivialEngine()
        ask(tmp_path / "run", load=lambda model, seed: engine)
        assert engine.batches_scored == 5
        assert table_of(tmp_path / "run").equals(undisturbed)

    def test_prompts_are_cut_in_windows_and_only_those_with_missing_rows_again(self, tmp_path, monkeypatch):
        """Numbers of this engine depend on the batch: of 30 prompts in windows of 12, none is asked in another one."""
        monkeypatch.setattr(one_model, "PROMPTS_CUT_TOGETHER", 12)
        ask(tmp_path / "undisturbed")
        stopped = loader(before_batch=lambda batch: os.kill(os.getpid(), signal.SIGINT) if batch == 3 else None)
        with pytest.raises(RunFailed, match="16 of 30 rows"):
            ask(tmp_path / "run", load=stopped)
        engine, sizes = TrivialEngine(), []
        cut = engine.cut_into_batches
        monkeypatch.setattr(engine, "cut_into_batches", lambda prompts: sizes.append(len(prompts)) or cut(prompts))
        ask(tmp_path / "run", load=lambda model, seed: engine)
        assert sizes == [12, 6]
        assert table_of(tmp_path / "run").equals(table_of(tmp_path / "undisturbed"))
        keys = [(row["item"], row["variant"]) for row in table_of(tmp_path / "run").to_pylist()]
        assert sorted(keys) == sorted(variant.key for variant in STUDY.variants)

    def test_a_second_signal_stops_at_once(self, tmp_path):
        def twice(batch: int) -> None:
            if batch == 2:
                os.kill(os.getpid(), signal.SIGINT)
                os.kill(os.getpid(), signal.SIGINT)

        with pytest.raises(KeyboardInterrupt):
            ask(tmp_path, load=loader(before_batch=twice))
        assert table_of(tmp_path).num_rows == 8

    def test_a_signal_while_a_model_loads_stops_before_it_is_asked(self, tmp_path):
        def load(model, seed):
            os.kill(os.getpid(), signal.SIGINT)
            return TrivialEngine()

        with pytest.raises(RunFailed, match="stopped before a; give the same command"):
            ask(tmp_path, load=load)

    def test_a_crashing_engine_loses_nothing_it_had_scored(self, tmp_path, undisturbed, monkeypatch):
        monkeypatch.setattr(session, "FIRST_FLUSH", 1000.0)

        def crash(batch: int) -> None:
            if batch == 3:
                raise RuntimeError("the device is gone")

        with pytest.raises(RuntimeError, match="gone"):
            ask(tmp_path / "run", load=loader(before_batch=crash))
        assert table_of(tmp_path / "run").num_rows == 12
        ask(tmp_path / "run")
        assert table_of(tmp_path / "run").equals(undisturbed)

    def test_failed_rows_are_asked_again_in_the_batch_they_belong_to(self, tmp_path, undisturbed, capsys):
        (tally,) = ask(
            tmp_path / "run", load=loader(fails=lambda text: "said 2" in text), allowed=AllowedFailures(rows=5)
        )
        assert (tally.asked_count, tally.failed) == (30, 5)
        assert "5 of 30 prompts got no response (first 0/paraphrase-002: too long)" in capsys.readouterr().err
        failed = [r for r in table_of(tmp_path / "run").to_pylist() if r["error"]]
        assert len(failed) == 5
        assert all(r["probability"] is r["mass"] is r["answer"] is None for r in failed)
        (tally,) = ask(tmp_path / "run")
        assert (tally.asked_count, tally.failed) == (5, 0)
        assert table_of(tmp_path / "run").equals(undisturbed)


def test_a_full_disk_is_a_failed_run_that_can_be_gone_on_with(tmp_path, undisturbed, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(
            Responses, "append_rows_as_part", lambda self, *rows: (_ for _ in ()).throw(OSError("no space left"))
        )
        with pytest.raises(
            RunFailed, match=r"30 rows could not be written \(no space left\).*give the same command again"
        ):
            ask(tmp_path / "run")
    ask(tmp_path / "run")
    assert table_of(tmp_path / "run").equals(undisturbed)


def test_parts_are_written_early_and_then_ever_less_often(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(session.time, "monotonic", lambda: now[0])

    def half_a_second(batch: int) -> None:
        now[0] += 0.5

    ask(tmp_path, study=small_study(40, 9), load=loader(before_batch=half_a_second))
    sizes = [pq.read_metadata(part).num_rows for part in sorted((tmp_path / "responses").iterdir())]
    seconds = [size / 4 * 0.5 for size in sizes]  # 4 rows a batch, half a second each
    assert seconds == [1, 2, 4, 8, 15, 15, 5]


def test_many_rows_are_written_whatever_the_clock_says(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "FLUSH_ROWS", 8)
    ask(tmp_path)
    assert [pq.read_metadata(part).num_rows for part in sorted((tmp_path / "responses").iterdir())] == [8, 8, 8, 6]


class TestRefused:
    """A known name stands for one model and one prompt."""

    def test_a_hub_model_that_is_done_is_not_loaded_again(self, tmp_path, capsys):
        def load(model, seed):
            raise AssertionError("loaded")

        ask(tmp_path, Model("owner/a", "owner/a"))
        described = Model("owner/a", "owner/a", {"series": "new"})
        assert [(t.rows, t.asked_count) for t in ask(tmp_path, described, load=load)] == [(30, 0)]
        assert "owner/a: nothing left to ask" in capsys.readouterr().err
        assert content(tmp_path)["models"]["owner/a"]["series"] == "new"
        for changed in (
            {"settings": Settings(dtype="float16")},
            {"settings": Settings(revision="2")},
            {"settings": Settings(form="chat")},
            {"option_orders": ("no-yes",)},
        ):
            with pytest.raises(AssertionError, match="loaded"):
                ask(tmp_path, described, load=load, **changed)

    def test_another_prompt_under_a_known_name(self, tmp_path):
        prompt = tmp_path / "mine.yaml"
        template = 'plain: {template: "%s {{ text }}", answers: {agree: ["yes"], disagree: ["no"]}}'
        prompt.write_text(template % "Well?", encoding="utf-8")
        ask(tmp_path / "run", book=read_agreement_prompts(prompt))
        assert list(content(tmp_path / "run")["conditions"]) == ["mine/plain/yes-no"]
        prompt.write_text(template % "Now?", encoding="utf-8")
        with pytest.raises(InputError, match=r"condition 'mine/plain/yes-no' is already here .*prompt_hash was"):
            ask(tmp_path / "run", book=read_agreement_prompts(prompt))
        assert table_of(tmp_path / "run").num_rows == 30


def test_rows_without_a_response_fail_the_call_and_the_others_stay(tmp_path):
    says = r": 30 of 60 rows have no response \(first b plain/yes-no, 0/.*: too long\); all others are saved: give"
    with pytest.raises(RunFailed, match=says):
        ask(tmp_path, A, B, load=lambda model, seed: TrivialEngine(fails=lambda text: model.id == "b"))
    assert Counter((r["model"], r["error"]) for r in table_of(tmp_path).to_pylist()) == {
        ("a", None): 30,
        ("b", "too long"): 30,
    }


def test_as_many_rows_may_fail_as_the_user_allows(tmp_path):
    """5 of 60 rows fail, which are 8.3 %. Asked again, they still are 5 of 60: the other model's count, too."""
    failing = {"load": lambda model, seed: TrivialEngine(fails=lambda text: model.id == "b" and "said 2" in text)}
    a, b = Model("owner/a", "owner/a"), B
    for allowed, fits in (
        (AllowedFailures(), False), (AllowedFailures(rows=4), False), (AllowedFailures(rows=5), True),
        (AllowedFailures(share=0.08), False), (AllowedFailures(share=0.09), True),
    ):  # fmt: skip
        if fits:
            assert sum(tally.failed for tally in ask(tmp_path, a, b, allowed=allowed, **failing)) == 5
        else:
            with pytest.raises(RunFailed, match=r"5 of 60 rows have no response \(first b plain/yes-no, 0/para"):
                ask(tmp_path, a, b, allowed=allowed, **failing)
        assert sum(row["error"] is None for row in table_of(tmp_path).to_pylist()) == 55


def test_every_study_of_a_call_is_counted_by_itself(tmp_path):
    """The second study is asked although the first has failed rows already."""
    tasks = [
        Task(small_study(items=2, name=name), (A,), Questions(read_agreement_prompts(), ("yes-no",)), Settings(),
             str(tmp_path / name), allowed=AllowedFailures(rows=number))
        for name, number in (("first", 1), ("second", 2))
    ]  # fmt: skip
    with pytest.raises(RunFailed, match=r"first: 2 of 10 rows have no response") as error:
        ask_tasks_and_list_tallies(tasks, load=loader(fails=lambda text: "said 2" in text))
    assert "second" not in str(error.value)
    assert table_of(tmp_path / "second").num_rows == 10


def test_descriptions_complete_what_is_recorded(tmp_path):
    ask(tmp_path, A)
    ask(tmp_path, B, descriptions={"a": {"stage": "base"}, "b": {"series": "s"}})
    models = content(tmp_path)["models"]
    assert (models["a"]["stage"], models["b"]["series"]) == ("base", "s")
    with pytest.raises(InputError, match="--models: there is no model 'c' in this call or run"):
        ask(tmp_path, B, descriptions={"c": {}})


def test_items_without_paraphrases_are_asked_and_listed(tmp_path, capsys):
    ask(tmp_path, study=small_study(items=2, paraphrases=0))
    assert table_of(tmp_path).num_rows == 2
    assert (
        "2 of 2 items have fewer than two paraphrases: asked, but left out of stability statistics: 0, 1"
        in capsys.readouterr().err
    )


class TestWhatIsShown:
    """In a terminal a bar per model, elsewhere a line per model and study; --verbose: a line per condition."""

    ORDERS = ("yes-no", "no-yes")

    @pytest.fixture(autouse=True)
    def end_as_begun(self, monkeypatch):
        monkeypatch.setenv("TERM", "xterm")
        yield
        progress.set_loudness(progress.NORMAL)

    def names(self, text: str) -> list[str]:
        return [line.partition(" prompts in ")[0] for line in text.splitlines()]

    def test_without_a_terminal_a_line_per_model(self, tmp_path, capsys):
        ask(tmp_path, A, B, option_orders=self.ORDERS)
        assert self.names(capsys.readouterr().err) == ["a: 60", "b: 60"]

    def test_of_several_studies_a_line_per_model_and_study(self, tmp_path, capsys):
        questions = Questions(read_agreement_prompts(), self.ORDERS)
        tasks = [
            Task(small_study(items=2, paraphrases=2, name=name), (A,), questions, Settings(), str(tmp_path / name))
            for name in ("tea", "dogs")
        ]
        ask_tasks_and_list_tallies(tasks, load=loader())
        assert self.names(capsys.readouterr().err) == ["tea, a: 12", "dogs, a: 12"]

    @pytest.mark.parametrize(
        ("loudness", "lines"), [(progress.VERBOSE, ["a plain/yes-no: 30", "a plain/no-yes: 30"]), (progress.QUIET, [])]
    )
    def test_more_or_less_where_it_is_asked_for(self, tmp_path, capsys, loudness, lines):
        progress.set_loudness(loudness)
        ask(tmp_path, option_orders=self.ORDERS)
        assert self.names(capsys.readouterr().err) == lines

    def test_a_quiet_run_tells_failures(self, tmp_path, capsys):
        progress.set_loudness(progress.QUIET)
        with pytest.raises(RunFailed):
            ask(tmp_path, load=loader(fails=lambda text: "said 2" in text))
        assert capsys.readouterr().err.startswith("a plain/yes-no: 5 of 30 prompts got no response")

    def test_failures_of_several_conditions_are_one_line(self, tmp_path, capsys):
        with pytest.raises(RunFailed):
            ask(tmp_path, option_orders=self.ORDERS, load=loader(fails=lambda text: "said 2" in text))
        lines = [line for line in capsys.readouterr().err.splitlines() if "no response" in line]
        assert len(lines) == 1 and lines[0].startswith("a: 10 of 60 prompts got no response (first 0/paraphrase-002")

    def test_on_a_terminal_a_bar_per_model_with_what_is_left_of_the_whole_run(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        ask(tmp_path, A, B, option_orders=self.ORDERS, load=loader(seconds=0.015))
        bars = capsys.readouterr().err
        assert "a: 100%" in bars and "b: 100%" in bars and "60/60" in bars
        assert "prompt/s" in bars and "prompts in" not in bars
        assert "whole run: 60 left" in bars and bars.rstrip().endswith("whole run: 0 left, 00:00]")

    def test_a_bar_goes_on_from_the_rows_that_are_there(self, tmp_path, capsys, monkeypatch):
        ask(tmp_path)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        ask(tmp_path, option_orders=self.ORDERS, load=loader(seconds=0.015))
        assert "50%|" in capsys.readouterr().err

    def test_a_terminal_that_cannot_move_its_cursor_gets_lines(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("TERM", "dumb")
        ask(tmp_path)
        assert self.names(capsys.readouterr().err) == ["a: 30"]


def test_only_one_engine_is_alive_at_a_time(tmp_path):
    alive: list[str] = []

    class Counted(TrivialEngine):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name
            assert alive == []
            alive.append(name)

        def __del__(self) -> None:
            alive.remove(self.name)

    ask(tmp_path, A, B, load=lambda model, seed: Counted(model.id))
    assert alive == []


def test_the_statement_reaches_the_engine(tmp_path):
    seen: list[str] = []

    class Listening(TrivialEngine):
        def score(self, prompts, temperatures=(1.0,)):
            seen.extend(shown(prompt) for prompt in prompts)
            return super().score(prompts, temperatures)

    ask(tmp_path, load=lambda model, seed: Listening())
    assert len(seen) == 30
    assert all(any(variant.text in text for text in seen) for variant in STUDY.variants)
