"""`waver compare` of logs as they are: of Inspect, lm-eval and HELM, and of what is none of them."""

from __future__ import annotations

import json
import random
from contextlib import nullcontext
from pathlib import Path

import pytest
from scipy.stats import binomtest

import waver
from helpers.eval_logs import as_eval, as_json, header, helm, request, text_sample, write
from helpers.lm_eval_logs import SNOW, TEA, letters
from helpers.lm_eval_logs import write as write_lm_eval
from inference.importers.shared.log_kinds import list_import_arguments_of_log

pytestmark = pytest.mark.slow


def write_eval(path: Path, model: str, right: list[bool]) -> str:
    """A log of Inspect, whose samples are right or wrong."""
    samples = [text_sample(number, value="C" if is_right else "I") for number, is_right in enumerate(right)]
    return str(write(path, as_eval(samples, header(model=model))))


def test_two_logs_of_inspect_are_compared_by_the_exact_test(tmp_path, capsysbinary):
    draw = random.Random(5)
    right = [[draw.random() < share for _ in range(80)] for share in (0.5, 0.8)]
    named = zip(("old", "new"), right, strict=True)
    logs = [write_eval(tmp_path / f"{name}.eval", f"m/{name}", values) for name, values in named]
    assert waver.main(["compare", *logs, "--json"]) == 0
    content = json.loads(capsysbinary.readouterr().out)
    (row,) = content["comparisons"]
    ups = sum(a and not b for a, b in zip(*right, strict=True))
    downs = sum(b and not a for a, b in zip(*right, strict=True))
    assert [content["a"], content["b"]] == logs
    assert (row["a_model"], row["b_model"], row["n_items"]) == ("m/old", "m/new", 80)
    assert row["p"] == pytest.approx(binomtest(ups, ups + downs).pvalue, rel=1e-12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.eval", "old.eval"]


def test_two_folders_of_lm_eval_are_compared(tmp_path, capsysbinary):
    rows = [letters(0, TEA), letters(1, SNOW)]
    folders = [str(write_lm_eval(tmp_path / name, {"quiz": rows}, model_name=f"org/{name}")) for name in ("a", "b")]
    assert waver.main(["compare", *folders, "--json"]) == 0
    rows = json.loads(capsysbinary.readouterr().out)["comparisons"]
    assert {row["verdict"] for row in rows} == {"no difference found"}
    assert {(row["a_model"], row["b_model"]) for row in rows} == {("org/a", "org/b")}


def test_two_runs_of_helm_are_compared(tmp_path, capsysbinary):
    folders = [str(helm(tmp_path / name, [request("id1"), request("id2")], model=f"made/{name}")) for name in "ab"]
    assert waver.main(["compare", *folders, "--json"]) == 0
    rows = json.loads(capsysbinary.readouterr().out)["comparisons"]
    assert {(row["a_model"], row["b_model"], row["verdict"]) for row in rows} == {
        ("made/a", "made/b", "no difference found")
    }


def test_the_kind_of_a_log_is_told_from_its_name_and_folder(tmp_path):
    for name in ("helm/scenario_state.json", "lm/results_1.json", "lm/samples_x_1.jsonl", "in/a.eval", "run/run.json",
                 "run/b.eval", "none/a.txt", "none/a.json"):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}", encoding="utf-8")
    (tmp_path / "json" / "deeper").mkdir(parents=True)
    write(tmp_path / "json" / "deeper" / "a.json", as_json([text_sample(1)]))
    marked = b"\xef\xbb\xbf" + (tmp_path / "json" / "deeper" / "a.json").read_bytes()
    (tmp_path / "marked").mkdir()
    (tmp_path / "marked" / "a.json").write_bytes(marked)
    names = ("helm", "lm", "in", "json", "marked", "run", "none", "lm/results_1.json")
    calls = {name: list_import_arguments_of_log(tmp_path / name) for name in names}
    assert {name: call and call[1] for name, call in calls.items()} == {
        "helm": "helm", "lm": "lm-eval", "in": "inspect", "json": "inspect", "marked": "inspect", "run": None,
        "none": None, "lm/results_1.json": "lm-eval",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mixed", "a.eval"], "holds logs of lm-eval and of inspect; give one of them"),
        (["results_2.json", "a.eval"], "no samples_*.jsonl of its date"),
        (["bad.eval", "a.eval"], "bad.eval"),
        (["a.eval", "missing"], "missing"),
        ([], "required: A, B"),
        (["--json", "a.eval", "a.eval"], "give A and B first, then options"),
        (["a.eval", "a.eval", "--out", "a.eval"], "--out a.eval: this file is there already"),
        (["x" * 5000, "a.eval"], "name too long"),
    ],
)
def test_what_is_no_log_is_one_line(tmp_path, capfd, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mixed").mkdir()
    for name in ("mixed/samples_x_1.jsonl", "mixed/a.eval", "results_2.json", "bad.eval"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    write_eval(tmp_path / "a.eval", "m/a", [True, False])
    with nullcontext() if words else pytest.raises(SystemExit) as ended:
        assert waver.main(["compare", *words]) == 2
    assert words or ended.value.code == 2
    out, err = capfd.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and said.lower() in err.lower()


def test_names_of_logs_and_sides_may_be_any(tmp_path, capsysbinary, monkeypatch):
    (tmp_path / "logs").mkdir()
    write_eval(tmp_path / "logs" / "-a.eval", "m/a", [True, False, True])
    monkeypatch.chdir(tmp_path / "logs")
    assert waver.main(["compare", "./-a.eval", ".", "--name-a=before", "--json"]) == 0
    content = json.loads(capsysbinary.readouterr().out)
    assert (content["a"], content["b"], content["comparisons"][0]["n_items_differing"]) == ("before", ".", 0)


def test_a_stopped_comparison_leaves_no_folder_behind(tmp_path, capsys, monkeypatch):
    def stop(_path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("inference.importers.shared.log_kinds.list_import_arguments_of_log", stop)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert waver.main(["compare", "a.eval", "b.eval"]) == 1
    assert capsys.readouterr().err == "waver: stopped\n" and not list(tmp_path.iterdir())


def test_an_import_that_is_stopped_says_no_word_of_rows_that_stay(tmp_path, capsys, monkeypatch):
    def stop(_args: object) -> None:
        raise KeyboardInterrupt

    log = write_eval(tmp_path / "a.eval", "m/a", [True, False])
    monkeypatch.setattr("inference.importers.inspect.command.main", stop)
    assert waver.main(["compare", log, log]) == 1
    assert capsys.readouterr().err == "waver: stopped\n"


def test_a_name_in_a_log_is_no_formula_to_a_spreadsheet(tmp_path, capsysbinary):
    logs = [write_eval(tmp_path / f"{side}.eval", "=1+1", [True, False]) for side in "ab"]
    assert waver.main(["compare", *logs, "--format", "csv"]) == 0
    assert b",'=1+1," in capsysbinary.readouterr().out
