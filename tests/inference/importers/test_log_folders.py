"""Folders of many logs: found at any depth, left out with a reason, gone on with after a stop, shown by a bar."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ground.errors import InputError
from helpers.commands import ROOT, waver
from helpers.eval_logs import as_eval, as_json, header, sample, stating, text_sample, unfinished, write
from helpers.lm_eval_logs import SNOW, TEA, letters
from helpers.lm_eval_logs import write as write_lm_eval
from inference.__main__ import main
from inference.importers.inspect import kept_logs, log
from inference.importers.shared import log_folders
from inference.importers.shared.log_folders import (
    SHOWN,
    LineAboutLog,
    describe_left_out_logs,
    keep_most_telling_lines_about_logs,
    list_files_below,
)


def write_logs(folder: Path, number: int) -> Path:
    """Logs of as many models, each in a folder of its own; samples have events and a text that stands apart."""
    for place in range(number):
        logs = folder / "logs" / f"part-{place % 3}" / f"{place}"
        logs.mkdir(parents=True)
        samples = [
            sample(name, "C" if (name + place) % 2 else "I", "A" if (name + place) % 2 else "B",
                   events=[{"event": "model", "text": "x" * 500}], store={"a": 1})
            for name in range(4)
        ]  # fmt: skip
        samples[0]["messages"][1]["content"] = "attachment://abc"
        samples[0]["attachments"] = {"abc": "Which colour has fruit 0?", "def": "of an event"}
        write(logs / "log.eval", as_eval(samples, header(f"made/m{place}")))
    return folder / "logs"


def read_rows(run: Path) -> list[dict]:
    (part,) = (run / "responses").glob("*.parquet")
    keys = ("model", "condition", "item", "variant")
    return sorted(pq.read_table(part).to_pylist(), key=lambda row: [row[key] for key in keys])


@pytest.mark.slow
def test_a_folder_is_searched_at_any_depth_and_reads_as_single_logs_do(tmp_path):
    logs = write_logs(tmp_path, 6)
    waver("inference", "import", "inspect", logs, "--out", tmp_path / "run")
    rows = read_rows(tmp_path / "run")
    assert len(rows) == 24 and not (tmp_path / "run.reading").exists()
    texts = [row["text"] for row in pq.read_table(tmp_path / "run" / "stimuli.parquet").to_pylist()]
    assert "Which colour has fruit 0?" in texts
    for place in range(6):  # one log alone is read from the file itself: nothing of it is kept
        alone = tmp_path / f"alone-{place}"
        (file,) = logs.glob(f"*/{place}/log.eval")
        waver("inference", "import", "inspect", file, "--out", alone, "--name", "run")
        assert read_rows(alone) == [row for row in rows if row["model"] == f"made/m{place}"]


@pytest.mark.slow
def test_a_call_that_was_stopped_goes_on_with_the_logs_that_it_had_not_read(tmp_path, monkeypatch):
    logs, call = (
        write_logs(tmp_path, 6),
        ("inference", "import", "inspect", tmp_path / "logs", "--out", tmp_path / "run"),
    )
    read, keep = [], kept_logs.write_log_into_cache

    def keep_until_stopped(file, head, samples):
        if len(read) == 4:
            raise KeyboardInterrupt
        read.append(file)
        keep(file, head, samples)

    monkeypatch.setattr(log, "write_log_into_cache", keep_until_stopped)
    done = waver(*call, check=False)
    assert done.returncode == 1
    assert f"{tmp_path}/run.reading: what was read of 4 logs; the same call goes on from there" in done.stderr
    assert not (tmp_path / "run").exists() and len(list((tmp_path / "run.reading").iterdir())) == 4
    # One log has changed since: it is read again.
    (changed,) = logs.glob("*/0/log.eval")
    write(changed, as_eval([sample(name) for name in range(4)], header("made/m0")))
    again = []
    monkeypatch.setattr(log, "write_log_into_cache", lambda file, *rest: (again.append(file), keep(file, *rest)))
    waver(*call)
    assert len(again) == 3 and not (tmp_path / "run.reading").exists()
    monkeypatch.undo()
    waver("inference", "import", "inspect", logs, "--out", tmp_path / "whole", "--name", "run")
    assert read_rows(tmp_path / "run") == read_rows(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_call_that_was_killed_goes_on_too(tmp_path):
    write_logs(tmp_path, 120)
    call = [sys.executable, "-m", "waver", "import", "inspect", str(tmp_path / "logs"), "--out", str(tmp_path / "run")]
    killed = subprocess.Popen(call, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list((tmp_path / "run.reading").glob("*.jsonl"))) < 20 and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    assert len(list((tmp_path / "run.reading").glob("*.jsonl"))) >= 20 and not (tmp_path / "run").exists()
    done = waver(*("inference", *call[3:]))
    assert len(read_rows(tmp_path / "run")) == 480 and not (tmp_path / "run.reading").exists()
    assert "and 110 more lines, which say no more against their logs; --verbose shows all" in done.stdout


def test_a_refused_call_leaves_nothing(tmp_path):
    write_logs(tmp_path, 3)
    done = waver("inference", "import", "inspect", tmp_path / "logs", "--out", tmp_path / "new" / "run",
                 "--item-key", "metadata.nothing", check=False)  # fmt: skip
    assert done.returncode == 2 and "metadata.nothing must be a text" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


@pytest.mark.slow
def test_unfinished_logs_of_a_folder_are_left_out_and_named_ones_are_read(tmp_path):
    logs = write_logs(tmp_path, 2)
    for status in ("started", "error", "cancelled"):
        write(logs / f"{status}.json", as_json([sample(1)], {**header(f"made/{status}"), "status": status}))
    write(logs / "broken-off.eval", unfinished([sample(1)]))
    done = waver("inference", "import", "inspect", logs, "--out", tmp_path / "run")
    lines = [line for line in done.stdout.splitlines() if line.startswith("left out: ")]
    assert [line.partition(" (")[2].partition(")")[0] for line in lines] == [
        "status started", "status cancelled", "status error", "status started",
    ]  # fmt: skip
    assert all(line.endswith("to import what it has, name the file itself") for line in lines)
    assert {row["model"] for row in read_rows(tmp_path / "run")} == {"made/m0", "made/m1"}
    done = waver("inference", "import", "inspect", logs / "error.json", "--out", tmp_path / "named")
    assert "not finished (status error)" in done.stdout and len(read_rows(tmp_path / "named")) == 1


def test_a_log_that_a_folder_has_too_is_read_once_and_as_the_call_names_it(tmp_path):
    logs = write_logs(tmp_path, 1)
    write(logs / "LOUD.EVAL", as_eval([sample(1)], header("made/loud")))
    (logs / "latest.eval").symlink_to("LOUD.EVAL")
    write(logs / "stopped.eval", unfinished([sample(9)]))
    done = waver("inference", "import", "inspect", logs, logs / "part-0", logs / "stopped.eval",
                 "--out", tmp_path / "run")  # fmt: skip
    assert "left out" not in done.stdout and "not finished (status started)" in done.stdout
    assert [row["model"] for row in read_rows(tmp_path / "run")] == ["made/loud", *["made/m0"] * 4, "made/up"]


def test_a_folder_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    """Root may read all folders, so the refusal is made up."""
    logs = write_logs(tmp_path, 2)
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("part-1"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    errors: list[InputError] = []
    files = list_files_below(logs, errors)
    assert [file.parent.parent.name for file in files] == ["part-0"]
    assert [str(error) for error in errors] == [f"{logs}/part-1: the folder cannot be read (Permission denied)"]
    done = waver("inference", "import", "inspect", logs, "--out", tmp_path / "run")
    assert f"left out: {errors[0]}" in done.stdout
    done = waver("inference", "import", "inspect", logs / "part-1", "--out", tmp_path / "none", check=False)
    assert done.returncode == 2 and str(errors[0]) in done.stderr


def test_what_else_is_in_the_folder_of_kept_logs_stays(tmp_path):
    logs, reading = write_logs(tmp_path, 2), tmp_path / "run.reading"
    reading.mkdir()
    (reading / "notes.jsonl").write_text("mine", encoding="utf-8")
    (reading / f".{'a' * 64}.jsonl.7").write_text("of a killed process", encoding="utf-8")
    waver("inference", "import", "inspect", logs, "--out", tmp_path / "run")
    assert [path.name for path in reading.iterdir()] == ["notes.jsonl"]


def test_a_kept_log_that_another_import_has_taken_away_is_read_from_the_log(tmp_path):
    logs = write_logs(tmp_path, 1)
    (file,) = logs.glob("*/0/log.eval")
    evaluation = log.read_evaluation_and_cache_inspect_log(file, tmp_path / "kept.jsonl")
    kept = [read["id"] for _, read in evaluation.iterate_places_and_raw_samples()]
    (tmp_path / "kept.jsonl").unlink()
    assert [read["id"] for _, read in evaluation.iterate_places_and_raw_samples()] == kept == [0, 1, 2, 3]


def test_damage_anywhere_in_a_log_leaves_it_out(tmp_path):
    """Also behind the first sample with a score, as all of a log is read before another one is."""
    logs = write_logs(tmp_path, 2)
    whole = as_eval([sample(1), sample(2)], header("made/damaged"))
    place = whole.rindex(b"samples/2_epoch_1.json", 0, whole.index(b"PK\x01\x02")) + 60
    write(logs / "damaged.eval", whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    done = waver("inference", "import", "inspect", logs, "--out", tmp_path / "run")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("left out: ")]
    assert f"{logs}/damaged.eval, samples/2_epoch_1.json" in line and "damaged" in line
    assert {row["model"] for row in read_rows(tmp_path / "run")} == {"made/m0", "made/m1"}


def test_of_many_logs_left_out_some_are_named_and_the_rest_is_counted():
    errors = [InputError(f"{place}.eval: damaged") for place in range(300)]
    lines = describe_left_out_logs(errors)
    assert lines[0] == "left out: 0.eval: damaged" and lines[-1] == f"left out: {300 - SHOWN} more logs"
    assert len(lines) == SHOWN + 1 and len(describe_left_out_logs(errors[:SHOWN])) == SHOWN


def test_of_many_lines_on_logs_those_that_say_most_are_shown():
    plain = [LineAboutLog(f"{place}.eval: 3 samples, accuracy 1.000, as the log states", 0) for place in range(100)]
    telling = LineAboutLog("z.eval: 3 samples, accuracy 1.000 (the log states 0.250)", 2)
    lines = keep_most_telling_lines_about_logs([*plain, telling])
    others = f"and {101 - SHOWN} more lines, which say no more against their logs; --verbose shows all"
    assert lines[-2:] == [telling.text, others]
    assert keep_most_telling_lines_about_logs(plain[:5]) == [line.text for line in plain[:5]]


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--scores"]])
@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ([text_sample(1, "C")], "(the log states 0.25"),
        ([text_sample(1, "C"), text_sample(2, scores={}, error={"message": "boom"})], "1 ended with an error"),
    ],
)
def test_what_speaks_against_one_of_many_logs_is_shown(tmp_path, capsys, samples, words, options):
    stated = 0.25 if len(samples) == 1 else 1.0
    for place in range(25):
        is_last = place == 24
        head = header(f"made/m{place}", **stating("match", stated if is_last else 1.0))
        write(tmp_path / f"{place:02d}.json", as_json(samples if is_last else [text_sample(1)], head))
    assert main(["import", "inspect", str(tmp_path), "--out", str(tmp_path / "run"), *options]) == 0
    assert words in next(line for line in capsys.readouterr().out.splitlines() if "24.json: " in line)


@pytest.mark.parametrize("options", [[], ["--scores"]])
def test_a_log_with_a_damaged_sample_is_left_out_wherever_the_sample_is(tmp_path, capsys, options):
    write(tmp_path / "a.json", as_json([text_sample(1)], header("made/good")))
    write(tmp_path / "b.json", as_json([text_sample(1), text_sample(2, epoch="x")], header("made/bad")))
    assert main(["import", "inspect", str(tmp_path), "--out", str(tmp_path / "run"), *options]) == 0
    assert f"left out: {tmp_path}/b.json, sample 2: epoch must be a whole number" in capsys.readouterr().out
    assert {row["model"] for row in read_rows(tmp_path / "run")} == {"made/good"}


def test_a_log_of_grades_is_left_out_beside_one_that_says_right_or_wrong(tmp_path, capsys):
    write(tmp_path / "a.json", as_json([text_sample(1)], header("made/good")))
    write(tmp_path / "b.json", as_json([text_sample(1, 7)], header("made/graded")))
    assert main(["import", "inspect", str(tmp_path), "--out", str(tmp_path / "run")]) == 0
    assert "left out: " in (said := capsys.readouterr().out) and "the score 7 is neither C, I, P or N" in said


def test_where_no_log_says_right_or_wrong_the_first_is_told(tmp_path, capsys):
    for name in "ab":
        write(tmp_path / f"{name}.json", as_json([text_sample(1, 7)], header(f"made/{name}")))
    assert main(["import", "inspect", str(tmp_path), "--out", str(tmp_path / "run")]) == 2
    assert "none of 2 logs can be imported; the first: " in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "empty", ["", " ", [], [{"type": "text", "text": ""}], [{"type": "reasoning", "reasoning": "Hm."}]]
)
def test_a_kept_log_is_asked_what_the_log_itself_is_asked(tmp_path, empty):
    messages = [{"role": "user", "content": empty}, {"role": "user", "content": "The real question?"}]
    for name in "ab":
        asked = text_sample(1, input="Raw input.", messages=messages)
        write(tmp_path / f"{name}.json", as_json([asked], header(f"made/{name}")))
    for out, logs in (("one", tmp_path / "a.json"), ("both", tmp_path)):
        assert main(["import", "inspect", str(logs), "--out", str(tmp_path / out)]) == 0
        (stimulus,) = pq.read_table(tmp_path / out / "stimuli.parquet").to_pylist()
        assert stimulus["text"] == "The real question?"
        shutil.move(tmp_path / out, tmp_path.parent / f"{tmp_path.name}-{out}")


@pytest.mark.parametrize("line", ["5", "[1]", "{"])
def test_a_kept_log_that_somebody_changed_is_refused_in_one_line(tmp_path, line):
    (tmp_path / "kept.jsonl").write_text(f"{{}}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="not what was written"):
        list(kept_logs.iterate_places_and_samples_of_cached_log(tmp_path / "kept.jsonl"))


def test_a_kept_log_that_somebody_emptied_has_no_samples(tmp_path):
    (tmp_path / "kept.jsonl").write_text("", encoding="utf-8")
    assert list(kept_logs.iterate_places_and_samples_of_cached_log(tmp_path / "kept.jsonl")) == []


def test_a_terminal_shows_a_bar_and_a_file_none(tmp_path, monkeypatch):
    logs = write_logs(tmp_path, 3)
    assert not waver("inference", "import", "inspect", logs, "--out", tmp_path / "a").stderr
    monkeypatch.setattr(log_folders, "can_show_progress_bars", lambda: True)
    assert "0/3" in waver("inference", "import", "inspect", logs, "--out", tmp_path / "b").stderr


class TestLmEval:
    """Files of samples of lm-eval."""

    def write_models(self, folder: Path) -> Path:
        for model in "abc":
            write_lm_eval(folder / "logs" / model, {"drinks": [letters(0, TEA), letters(1, SNOW)]}, model_name=model)
        return folder / "logs"

    def test_a_damaged_file_of_a_folder_is_left_out_whole(self, tmp_path):
        logs = self.write_models(tmp_path)
        (file,) = (logs / "b").glob("samples_*.jsonl")
        lines = file.read_text(encoding="utf-8").splitlines()
        file.write_text(f"{lines[0]}\n{lines[1][:40]}\n", encoding="utf-8")
        (results,) = (logs / "c").glob("results_*.json")
        results.write_text("{", encoding="utf-8")
        done = waver("inference", "import", "lm-eval", logs, "--out", tmp_path / "run")
        assert [row["model"] for row in read_rows(tmp_path / "run")] == ["a", "a"]
        told = [line for line in done.stdout.splitlines() if line.startswith("left out: ")]
        assert [f"{results}: not readable as JSON" in told[0], f"{file}, line 2: not a JSON object" in told[1]] == [
            True, True,
        ]  # fmt: skip
        assert set(json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["models"]) == {"a"}

    def test_a_damaged_file_that_is_named_is_refused(self, tmp_path):
        logs = self.write_models(tmp_path)
        files = [next((logs / model).glob("samples_*.jsonl")) for model in "ab"]
        files[1].write_text("{\n", encoding="utf-8")
        done = waver("inference", "import", "lm-eval", *files, "--out", tmp_path / "run", check=False)
        assert done.returncode == 2 and f"{files[1]}, line 1: not a JSON object" in done.stderr
        assert not (tmp_path / "run").exists()

    def test_where_all_files_are_damaged_the_first_is_told(self, tmp_path):
        logs = self.write_models(tmp_path)
        for file in logs.rglob("samples_*.jsonl"):
            file.write_text("{\n", encoding="utf-8")
        done = waver("inference", "import", "lm-eval", logs, "--out", tmp_path / "run", check=False)
        assert done.returncode == 2 and "none of 3 logs can be imported; the first: " in done.stderr
        assert not (tmp_path / "run").exists()

    def test_of_two_folders_the_one_without_any_whole_file_is_told(self, tmp_path, capsys):
        logs = self.write_models(tmp_path)
        for name in ("a/samples_x.jsonl", "b/samples_x.jsonl", "b/samples_y.jsonl"):
            (logs / name).write_text("{\n", encoding="utf-8")
        next((logs / "b").glob("results_*.json")).unlink()
        call = ["import", "lm-eval", str(logs / "a"), str(logs / "b"), "--out", str(tmp_path / "run")]
        assert main(call) == 2
        assert f"none of 3 logs can be imported; the first: {logs / 'b'}" in capsys.readouterr().err
