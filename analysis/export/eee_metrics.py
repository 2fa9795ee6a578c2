"""Choose the metric of a record of Every Eval Ever, and score single responses by it.

A record needs a finite score in every row. There are three metrics:

- accuracy, where the study has right answers: whether the likeliest option is right, or the share of samples that are.
  Two options that are equally likely are no answer; a sample without a valid answer is not right; a response to a
  wording without a right answer cannot be carried;
- the score, where a number on a scale was asked for; a response without a number cannot be carried;
- else the probability of the first canonical option, or the share of samples that gave it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.runs.conditions import drop_middle_option_if_not_shown

ABOUT_ACCURACY = (
    "share of right answers, by the likeliest option where there are probabilities, else of the texts; a text without "
    "a valid answer is not right, nor are two options that are equally likely"
)
ABOUT_SCORE = "mean of the scores that the model gave; none is right or wrong, so is_correct is false in all rows"
NO_NUMBER = "without a number on the scale"
NO_GOLD = "without a right answer, in a study that has them"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes
    ----------
    kind
        accuracy, score or probability.
    config
        `metric_config` of the record.
    option
        The canonical option whose probability is meant.
    """

    kind: str
    config: Mapping[str, Any]
    option: str = ""

    def score_response_or_give_reason(self, row: Mapping[str, Any]) -> float | str:
        """Score a response; a text says why it cannot be."""
        if self.kind == "score":
            return NO_NUMBER if row["score"] is None else float(row["score"])
        if self.kind == "probability":
            return _compute_option_probability_or_sample_share(row, self.option)
        if row["gold"] is None:
            return NO_GOLD
        if labels := list_likeliest_labels(row):
            return float(len(labels) == 1 and _map_shown_label_to_original_option(row, labels[0]) == row["gold"])
        return _compute_option_probability_or_sample_share(row, row["gold"])

    def is_right(self, score: float) -> bool:
        """Tell whether an answer is right, of samples more than half; else False, as the schema wants a truth value."""
        return self.kind == "accuracy" and score > 0.5

    def list_reference_answers(self, row: Mapping[str, Any]) -> list[str]:
        """List the right answer as the response could give it: its label as shown, or the score given by people."""
        if row["gold"] is not None:
            labels = [
                label for label, means in zip(row["options"], row["canonical"], strict=True) if means == row["gold"]
            ]
            return labels or [row["gold"]]
        return [] if row["gold_score"] is None else [repr(row["gold_score"])]


@dataclass(slots=True)
class ScoredCondition:
    """What one model answered to one study under one condition: its metric, and the score of every row carried."""

    metric: Metric
    scores: array[float] = field(default_factory=lambda: array("d"))
    left_out: Counter[str] = field(default_factory=Counter)


def choose_metric_of_condition(
    canonical_options: Sequence[str], fields: Mapping[str, Any], *, has_right_answers: bool
) -> Metric:
    """Choose the metric of a condition.

    Parameters
    ----------
    canonical_options
        Labels of the study's canonical frame.
    fields
        Of the condition, as run.json has them.
    has_right_answers
        Whether the study has right answers.

    Returns
    -------
    Metric
        Of accuracy, of scores, or of the probability of the first label: see the module's docstring.
    """
    if has_right_answers:
        return Metric("accuracy", _build_metric_config("accuracy", "Accuracy", ABOUT_ACCURACY, "proportion", 0, 1))
    if "range" in fields or not canonical_options:
        ends = fields.get("range")
        lowest, highest = ends if isinstance(ends, list) and len(ends) == 2 else ("-Infinity", "Infinity")
        name = str(fields.get("measure") or "Score")
        config = _build_metric_config("waver.score", name, ABOUT_SCORE, "points", lowest, highest)
        return Metric("score", {**config, "lower_is_better": fields.get("direction") == "lower"})
    about = (
        f"mean probability of the answer {canonical_options[0]!r}, or share of samples that gave it; no answer is "
        "right or wrong, so is_correct is false in all rows"
    )
    config = _build_metric_config(
        "waver.probability_of_first_option", f"Probability of {canonical_options[0]!r}", about, "proportion", 0, 1
    )
    return Metric("probability", config, canonical_options[0])


def _build_metric_config(key: str, name: str, about: str, unit: str, lowest: Any, highest: Any) -> dict[str, Any]:
    """Build the dict `metric_config` of the schema: name, description, unit and bounds of a metric."""
    return {
        "evaluation_description": about,
        "metric_id": key,
        "metric_name": name,
        "metric_kind": key,
        "metric_unit": unit,
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": lowest,
        "max_score": highest,
    }


def list_likeliest_labels(row: Mapping[str, Any]) -> list[str]:
    """List the labels of the options with the largest probability: several where they are equally likely.

    Empty without probabilities, and where they are not one for each option that was shown.
    """
    values = row["probability"]
    options = drop_middle_option_if_not_shown(row["options"], len(values or ()))
    if not values or len(values) != len(options):
        return []
    return [str(option) for option, value in zip(options, values, strict=True) if value == max(values)]


def _map_shown_label_to_original_option(row: Mapping[str, Any], label: str | None) -> str | None:
    """Return what a label means in the frame of the original item."""
    options = list(row["options"])
    return str(row["canonical"][options.index(label)]) if label in options else None


def _compute_option_probability_or_sample_share(row: Mapping[str, Any], option: str) -> float:
    """Return the probability of a canonical option, else the share of samples that gave it; else 1 if it is the answer.

    Without any of these, and of samples without a number, it is 0.

    A probability that rounds to more than 1 is 1: the bounds of the metric hold.
    """
    for name in ("probability", "count"):
        is_option = [
            means == option for means in drop_middle_option_if_not_shown(row["canonical"], len(row[name] or ()))
        ]
        if row[name] is not None and len(row[name]) == len(is_option):
            total = 1 if name == "probability" else sum(row[name]) + (row["invalid"] or 0)
            option_amount = sum(value for value, is_meant in zip(row[name], is_option, strict=True) if is_meant)
            return min(1.0, option_amount / total) if total else 0.0
    return float(_map_shown_label_to_original_option(row, row["answer"]) == option)
