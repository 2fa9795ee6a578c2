"""Wrong scores in logs, and wrong calls that import them: `waver import lm-eval|inspect|helm|eee ... --scores`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.eval_logs import as_eval, eee_record, eee_result, eee_row, helm, request, text_sample
from helpers.lm_eval_logs import SNOW, TEA, TEXT, write, written
from helpers.refusals import Case

LM_EVAL = "inference import lm-eval logs --scores --out run"
INSPECT = "inference import inspect log.eval --scores --out run"
HELM = "inference import helm helm --scores --out run"
EEE = "inference import eee records --scores --out run"


def f1(*values: Any, **fields: Any) -> Callable[[Path], None]:
    """Logs of lm-eval whose samples have these values of f1."""

    def into(folder: Path) -> None:
        rows = [
            written(number, doc, 1.0, metrics=["f1"], f1=value, **fields)
            for number, (doc, value) in enumerate(zip((TEA, SNOW), values, strict=True))
        ]
        write(folder / "logs", {"drinks": rows}, TEXT)

    return into


def by(*scores: Any) -> dict[str, bytes]:
    """A log of Inspect whose samples have these scores."""
    return {"log.eval": as_eval([text_sample(number, scores=score) for number, score in enumerate(scores, start=1)])}


def grades(*values: Any) -> dict[str, bytes]:
    """A log of Inspect whose samples have these values by one scorer."""
    return by(*({"grade": {"value": value}} for value in values))


def stats(*pairs: tuple[str, Any]) -> Callable[[Path], None]:
    """The folder of a HELM run with these statistics of its instance, each a name and its fields."""
    entry = {
        "instance_id": "id1",
        "train_trial_index": 0,
        "stats": [{"name": {"name": name, "split": "test"}, **fields} for name, fields in pairs],
    }

    def into(folder: Path) -> None:
        helm(folder / "helm", [request("id1")], stats=[entry])

    return into


def records(*scores: Any, name: str = "F1", results: Any = None, **config: Any) -> Callable[[Path], None]:
    """A record of another tool with these scores by F1."""

    def into(folder: Path) -> None:
        rows = [eee_row(f"s{number}", name, score) for number, score in enumerate(scores, start=1)]
        eee_record(folder / "records", results or [eee_result("F1", 0.5, **config)], rows)

    return into


def two_directions(folder: Path) -> None:
    """Records of two models that differ in which scores are better."""
    for model, is_turned in (("a", False), ("b", True)):
        row = {**eee_row("s1", "F1", 0.5), "evaluation_id": model, "model_id": model}
        eee_record(folder / "records" / model, [eee_result("F1", 0.5, lower_is_better=is_turned)], [row],
                   evaluation_id=model, model_info={"id": model})  # fmt: skip


def mean(value: Any, count: Any = 1) -> dict[str, Any]:
    """The fields of a statistic."""
    return {"count": count, "sum": value, "mean": value}


CASES = [
    # lm-eval
    Case("a score outside the range", f"{LM_EVAL} --score-range 0-1",
         ("samples_drinks", "line 2", "f1 is 1.5", "outside", "0-1", "--score-range"), f1(0.5, 1.5)),
    Case("a score below the range", f"{LM_EVAL} --score-range f1=1-5", ("line 1", "f1 is 0.5", "1-5"), f1(0.5, 2)),
    Case("a text where others are numbers", LM_EVAL, ("line 2", "f1 is 'good'", "but 0.5 in", "line 1"),
         f1(0.5, "good")),
    Case("a number where others are texts", LM_EVAL, ("line 2", "f1 is 0.5", "but 'good' in", "line 1"),
         f1("good", 0.5)),
    Case("an infinite score", LM_EVAL, ("line 2", "f1 is inf", "number"), f1(0.5, float("inf"))),
    Case("no score in any row", LM_EVAL, ("no score in these logs", "plain/f1", "responses: 2"),
         f1(None, float("nan"))),
    Case("no metric that is a number", LM_EVAL, ("no score in these logs; left out: f1, whose 2 values are",),
         f1([1, 2], [3, 4])),
    Case("rows that were not judged", LM_EVAL, ("line 1", "bypass"),
         lambda folder: write(folder / "logs", {"t": [written(0, TEA, 1.0, metrics=["bypass"], bypass=999)]}, TEXT)),
    Case("a row without a metric", LM_EVAL, ("line 1", "names no metric"),
         lambda folder: write(folder / "logs", {"t": [{k: v for k, v in written(0, TEA, 1.0).items()
                                                       if k not in ("metrics", "exact_match")}]}, TEXT)),
    Case("two scores of one name", LM_EVAL, ("line 1", "two scores of one name"),
         lambda folder: write(folder / "logs", {"t": [written(0, TEA, 1.0, metrics=["f1", "f1"], f1=1.0)]}, TEXT)),
    Case("two conditions of one name", LM_EVAL, ("line 2", "two scores", "plain/a/f1"),
         lambda folder: write(folder / "logs", {"t": [
             written(0, TEA, 1.0, metrics=["a/f1"], **{"a/f1": 1.0}),
             written(0, TEA, 1.0, metrics=["f1"], f1=1.0, filter="a"),
         ]}, TEXT)),
    Case("the direction of a score that is not there", f"{LM_EVAL} --lower-is-better F1",
         ("--lower-is-better F1", "no score called 'F1'", "f1"), f1(0.5, 1)),
    Case("the range of a score that is not there", f"{LM_EVAL} --score-range F2=0-1",
         ("--score-range F2=0-1", "no score called 'F2'"), f1(0.5, 1)),
    Case("a range that is none", f"{LM_EVAL} --score-range 1-0", ("--score-range 1-0", "lower one first"), f1(0.5, 1)),
    Case("a range without scores", "inference import lm-eval logs --score-range 0-1 --out run",
         ("--score-range", "--scores", "add it"), f1(0.5, 1)),
    Case("a direction without scores", "inference import helm helm --lower-is-better f1 --out run",
         ("--lower-is-better", "--scores"), stats(("f1", mean(0.5)))),
    Case("scores that are right or wrong", f"{LM_EVAL} --right-or-wrong", ("--scores", "--right-or-wrong"), f1(0.5, 1)),
    Case("answers that need numbers", "inference import lm-eval logs --out run",
         ("line 1", "f1 is 0.5", "--scores imports numbers"), f1(0.5, 1)),
    # Inspect
    Case("a score of Inspect outside the range", f"{INSPECT} --score-range 1-5",
         ("log.eval", "samples/2", "grade is 6", "outside", "1-5"), grades(5, 6)),
    Case("a letter outside the range", f"{INSPECT} --score-range 1-5", ("samples/1", "grade is 0.5"), grades("P", "C")),
    Case("a text where others of Inspect are numbers", INSPECT,
         ("samples/2", "'good'", "neither a number", "--scorer"), grades(5, "good")),
    Case("a small letter where others are large", INSPECT, ("samples/2", "'c'", "neither"), grades("C", "c")),
    Case("a list where others of Inspect are numbers", INSPECT, ("samples/2", "[1]", "neither"), grades(1, [1])),
    Case("only texts", INSPECT, ("no score in these logs", "grade", "'good'"), grades("good", "bad")),
    Case("two scores of Inspect of one name", INSPECT, ("samples/1", "two scores", "'a/b'"),
         by({"a": {"value": {"b": 1}}, "a/b": {"value": 1}})),
    Case("the direction of a scorer that is not there", f"{INSPECT} --lower-is-better grad",
         ("--lower-is-better grad", "nearest is 'grade'"), grades(1, 2)),
    Case("partial answers of Inspect that need numbers", "inference import inspect log.eval --out run",
         ("samples/1", "score 5", "--scores"), grades(5, 4)),
    # HELM
    Case("a score of HELM outside the range", f"{HELM} --score-range f1=0-1",
         ("scenario_state.json, request 1", "f1 is 1.5", "0-1"), stats(("f1", mean(1.5)))),
    Case("a text as a score of HELM", HELM, ("per_instance_stats.json, entry 1", "sum of f1 is 'half'", "number"),
         stats(("f1", mean("half")))),
    Case("a list as a count of HELM", HELM, ("entry 1", "count of f1 is [1]"), stats(("f1", mean(1, count=[1])))),
    Case("two scores of HELM of one name", HELM, ("entry 1", "two scores by f1", "0.5", "1.0"),
         stats(("f1", mean(0.5)), ("f1", mean(1)))),
    Case("a score of HELM without a name", HELM, ("entry 1", "name must be a text"), stats(("", mean(0.5)))),
    Case("no score of HELM", HELM, ("no score in these logs", "f1"), stats(("f1", mean(0, count=0)))),
    Case("a metric that no run of HELM has", f"{HELM} --metric f2",
         ("--metric f2: no run has this metric; there are f1, bleu",), stats(("f1", mean(0.5)), ("bleu", mean(0.5)))),
    Case("HELM's default metric, named where no run has it", f"{HELM} --metric exact_match",
         ("--metric exact_match: no run has this metric; there are f1",), stats(("f1", mean(0.5)))),
    Case("a metric of HELM in logs without a score", f"{HELM} --metric f2",
         ("there is no score in these logs",), stats()),
    # Every Eval Ever
    Case("a score outside the range of a record", EEE, ("record_samples.jsonl, line 2", "F1 is 1.5", "0-1"),
         records(0.5, 1.5, min_score=0, max_score=1)),
    Case("a text as a score of a record", EEE, ("line 2", "evaluation.score is 'good'"), records(0.5, "good")),
    Case("bounds of a record in the wrong order", EEE, ("record.json, evaluation_results 1", "not below"),
         records(0.5, min_score=1, max_score=0)),
    Case("a direction of a record that is neither", EEE,
         ("record.json, evaluation_results 1", "lower_is_better must be true or false, not 'yes'"),
         records(0.5, lower_is_better="yes")),
    Case("two directions of one name", EEE, ("'F1'", "higher scores are better in one log", "--lower-is-better"),
         two_directions),
    Case("an evaluation without a name", EEE, ("evaluation_results 1", "evaluation_name is empty", "name the"),
         records(0.5, results=[eee_result(" ", 1)])),
    Case("two evaluations of one name", EEE, ("evaluation_results 2", "two scores are called 'F1'"),
         records(0.5, results=[eee_result("F1", 1), eee_result("F1", 1)])),
    Case("an evaluation that the record lacks", EEE, ("line 1", "evaluation_name 'F2'", "record.json"),
         records(0.5, name="F2")),
    Case("a sample twice", EEE, ("line 2", "second score", "'s1'", "line 1"),
         lambda folder: eee_record(folder / "records", [eee_result("F1", 1)], [eee_row("s1", "F1", 1)] * 2)),
    Case("records of another tool without scores", "inference import eee records --out run",
         ("waver export --as eee", "--scores"),
         records(0.5, results=[{**eee_result("F1", 1), "generation_config": {"additional_details": {}}}])),
    Case("records of another tool without details", "inference import eee records --out run",
         ("generation_config.additional_details", "with --scores the scores of others"), records(0.5)),
]  # fmt: skip
