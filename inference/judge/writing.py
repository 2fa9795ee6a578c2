"""Write what a judge read into the run that the texts are from: a judged condition for every condition with texts."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inference.asking.recorded_prompts import build_form_entry_under_hash
from inference.judge.reading import Judgement, JudgeReadings
from inference.judge.texts import THOUGHT, ReplyRow, RunTexts
from inference.runfolder.parquet import KEY
from inference.runfolder.store import Run
from inference.stimuli.templates.prompts import PromptBook

ROWS = 20_000  # of a part
LEAST_MASS = 0.5  # below it, the judge does not find it likelier than not that a text takes one of the options


def _name_judged_condition(condition: str, judge: str) -> str:
    """Name the condition of what a judge read of another condition: `CONDITION/judge-JUDGE`."""
    return f"{condition}/judge-{judge}"


def _list_models_identical_to_judge(
    models: Mapping[str, Mapping[str, Any]], judge: str, about: Mapping[str, Any]
) -> list[str]:
    """List the models of a run that are the judge: those with its name, or with the revision among its fields."""
    revision = about.get("revision")
    return [
        name
        for name, fields in models.items()
        if name == judge or (revision is not None and fields.get("revision") == revision and "adapter" not in fields)
    ]


def add_judged_rows_to_run_of_texts(
    texts: RunTexts, judge: str, readings: JudgeReadings, book: PromptBook, command: Sequence[str]
) -> Counter[str]:
    """Write a judged row for every row whose texts the judge has all read, where there is none yet.

    Parameters
    ----------
    texts
        The run folder and its texts.
    judge
        The judge's id.
    readings
        What it read.
    book
        Its prompts.
    command
        The call, for run.json.

    Returns
    -------
    Condition -> rows written.

    Raises
    ------
    InputError
        The run records a judge of this name with another engine, revision or prompt.
    """
    itself = _list_models_identical_to_judge(texts.info["models"], judge, readings.about)
    fields = {name: value for name, value in readings.about.items() if name != "forms"} | {"itself": itself}
    if itself:
        told = "its own texts" if itself == [judge] else f"its own texts: it is {', '.join(itself)}"
        print(f"{judge}: this judge reads {told}; run.json says so (judges)", file=sys.stderr)
    written: Counter[str] = Counter()
    with Run.create_or_open(texts.folder, texts.study, command=command) as run:
        run.record_judge(judge, fields)
        expected: dict[str, Counter[str]] = {}
        rows: list[dict[str, Any]] = []
        for name in texts.conditions:
            recorded_fields = {**run.conditions[name], "reads": name, "judge": judge}
            run.add_condition(_name_judged_condition(name, judge), recorded_fields)
        for row, judged_row in _pair_text_rows_with_judged_rows(run, texts, judge, readings.judgement_by_key):
            expected.setdefault(row.model, Counter())[_name_judged_condition(row.condition, judge)] += 1
            if judged_row is not None:
                rows.append(judged_row)
                written[judged_row["condition"]] += 1
            if len(rows) == ROWS:
                run.responses.append_rows_as_part(rows)
                rows = []
        run.responses.append_rows_as_part(rows)
        for model, counts in expected.items():
            run.record_row_and_drawn_wording_counts(model, counts, run.drawn_wording_counts.get(model))
            run.add_prompts(model, build_form_entry_under_hash(book, readings.about["form"]), {})
        run.finish()
    return written


def _pair_text_rows_with_judged_rows(
    run: Run, texts: RunTexts, judge: str, judgement_by_key: Mapping[str, Judgement]
) -> Iterator[tuple[ReplyRow, dict[str, Any] | None]]:
    """Go through the rows with texts, each with its judged row; None: it is there, or not all its texts are read."""
    answered_by_unit: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row in texts.iterate_rows_with_texts():
        condition = _name_judged_condition(row.condition, judge)
        if (row.model, condition) not in answered_by_unit:
            answered_by_unit[row.model, condition] = run.responses.list_answered_keys(row.model, condition)
        judgements = [
            None if text is None else judgement_by_key.get(texts.build_reply_from_text_and_context(row, text).key)
            for text in row.texts
        ]
        is_whole = all(
            judgement is not None or text is None for judgement, text in zip(judgements, row.texts, strict=True)
        )
        if not is_whole or row.variant.key in answered_by_unit[row.model, condition]:
            yield row, None
            continue
        thought = texts.info["conditions"][row.condition].get("answer") == THOUGHT
        keys = dict(zip(KEY, (row.model, condition, *row.variant.key), strict=True))
        labels = [option.label for option in row.variant.options]
        yield row, {**keys, **build_cells_of_judged_row(labels, judgements, counts_silence=not thought)}


def build_cells_of_judged_row(
    labels: Sequence[str], judgements: Sequence[Judgement | None], *, counts_silence: bool
) -> dict[str, Any]:
    """Make the columns of a judged row.

    Parameters
    ----------
    labels
        The options.
    judgements
        Per text; None: nothing was written.
    counts_silence
        Whether a text that holds nothing takes no option, with certainty. Otherwise it is left out of the mean: after a
        thought that did not end there is no text.

    Returns
    -------
    `sample_probability`, per text; `probability`, their mean, `logprob` and `mass`, null where there is no text;
    `mass_upper`, and no `logprob`, where the judge shows bounds; `answer`, the likeliest option, null where the mass is
    below .5 or two are equally likely.
    """
    silence = (0.0,) * len(labels) if counts_silence else None
    samples = [silence if judgement is None else judgement.probability for judgement in judgements]
    means = [sample for sample in samples if sample is not None]
    if not means:
        return {"sample_probability": samples}
    probability = [math.fsum(values) / len(means) for values in zip(*means, strict=True)]
    mass, most = min(math.fsum(probability), 1.0), max(probability)
    mass_upper = _average_mass_upper_bound_or_none(judgements, silence)
    logarithms = [math.log(value) if value else -math.inf for value in probability]
    is_clear = mass >= LEAST_MASS and probability.count(most) == 1
    return {
        "sample_probability": samples,
        "probability": probability,
        "logprob": logarithms if mass_upper is None else None,
        "mass": mass,
        "mass_upper": mass_upper,
        "answer": labels[probability.index(most)] if is_clear else None,
    }


def _average_mass_upper_bound_or_none(
    judgements: Sequence[Judgement | None], silence: Sequence[float] | None
) -> float | None:
    """Average the upper bounds of the masses; None where all are exact."""
    uppers = [
        sum(judgement.probability) if judgement.mass_upper is None else judgement.mass_upper
        for judgement in judgements
        if judgement is not None
    ]
    if all(judgement is None or judgement.mass_upper is None for judgement in judgements):
        return None
    counted = len(judgements) if silence is not None else len(uppers)
    return min(math.fsum(uppers) / counted, 1.0)
