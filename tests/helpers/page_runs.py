"""What the tests of all pages share: for every page a run that fills all its tables, and one that has next to nothing.

`SILENT` are runs of models that do not answer. A new page adds its three runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.reporting import catalogue
from analysis.reporting.catalogue import tables
from helpers import (
    accuracy_runs,
    choice_runs,
    drift_runs,
    meaning_runs,
    negation_runs,
    reading_runs,
    scale_people,
    scale_runs,
    scored_runs,
    scoring_runs,
    text_feature_runs,
    wording_runs,
)
from helpers.synthetic import CANONICAL, paraphrases, random_frame, write_run
from helpers.thinking_runs import FIELDS, THOUGHT, think

PLAIN, TEXT = "plain/yes-no", "plain/yes-no/text"
STAGES = {
    "small": {"stage": "base", "series": "S", "parameters": 1000},
    "small-tuned": {"stage": "tuned", "series": "S", "parameters": 1000},
    "large": {"stage": "base", "series": "L", "parameters": 9000},
    "large-tuned": {"stage": "tuned", "series": "L", "parameters": 9500},
}
Written = tuple[Path, dict[str, Any]]  # a run folder, and options of the tables


def opinions(path: Path, canonical: Sequence[str] = CANONICAL) -> Written:
    """Two models asked for probabilities and texts; two sources of paraphrases; an item with one paraphrase, one with
    two that differ in blanks, one with invalid answers."""
    wordings = text_feature_runs.wordings()
    wordings = wordings[(wordings["item"] != "item-5") | wordings["variant"].isin(["original", "paraphrase-001"])]
    same = (wordings["item"] == "item-2") & wordings["variant"].isin(["paraphrase-002", "paraphrase-004"])
    wordings.loc[same, "text"] = ["The state pays for trade.", "The state pays for trade.\n"]
    number = wordings["variant"].str.extract(r"-(\d+)$")[0].astype(float)
    wordings["attributes"] = [None if np.isnan(n) else [("source", "a" if n % 2 else "b")] for n in number]
    asked = text_feature_runs.answers(wordings, ["gpt-4o", "bert"]).assign(condition=PLAIN)
    asked.loc[(asked["item"] == "item-0") & (asked["variant"] == "paraphrase-001"), "agreement"] = 0.001  # an outlier
    lost = asked["variant"].isin([f"paraphrase-{n:03d}" for n in range(10, 22)]) & (asked["item"] == "item-1")
    bert = asked["model"] == "bert"
    asked.loc[bert & (asked["item"] == "item-1"), "agreement"] = 0.9
    asked.loc[bert & lost, "agreement"] = np.nan  # invalid
    few = asked[asked["variant"].isin(["paraphrase-001", "paraphrase-003"])].drop(columns="mass")
    said = few.assign(condition=TEXT, agreement=np.nan, answer=canonical[0], count=[[1, 0]] * len(few), invalid=0)
    fields = {"form": "plain", "option_order": "yes-no", "prompt": None, "prompt_hash": "h"}
    ways = {"answer": "text", "temperature": 0.0, "samples": 1, "max_tokens": 32, "effort": None, "share": 0.5}
    run = write_run(
        path, pd.concat([asked, said], ignore_index=True), models={"bert": {"engine": "masked"}},
        conditions={PLAIN: fields, TEXT: {**fields, **ways}}, canonical=canonical,
    )  # fmt: skip
    return run, {"resamples": 20}


def _thoughts(path: Path) -> Written:
    """Two models asked for probabilities, right after the prompt and after three thoughts, of which some do not end."""
    plain = random_frame(["a", "b"], items=8, paraphrases=5)
    share, rng = plain["agreement"].to_numpy()[:, None], np.random.default_rng(1)
    after = np.clip(share + rng.normal(0, 0.1, (len(plain), 3)), 0.01, 0.99)
    closed = rng.random(after.shape) < 0.9
    prompts = plain.drop(columns=["agreement", "mass"])
    said = think(prompts, np.stack([after, 1 - after], axis=-1), closed)
    of_plain = plain.assign(
        probability=[[value * mass, (1 - value) * mass] for value, mass in zip(share[:, 0], plain["mass"], strict=True)]
    ).drop(columns="agreement")  # fmt: skip
    rows = pd.concat([of_plain, said], ignore_index=True)
    return write_run(path, rows, conditions={THOUGHT: FIELDS}), {"resamples": 20}


def _one_opinion(path: Path) -> Written:
    """One model, one item, one paraphrase."""
    return write_run(path, paraphrases({"x": [0.4]}, original=0.4)), {"resamples": 0}


def _equal_wordings(path: Path) -> Written:
    """No feature of the wordings varies, so that fits have nothing but an intercept."""
    rows = text_feature_runs.answers(text_feature_runs.wordings(), ["m"]).assign(text="All say the same.")
    return write_run(path, rows), {}


def _questions(path: Path) -> Written:
    """Base and tuned models of two series, with and without exemplars, and a file with scores of theirs."""
    rows = wording_runs.random_rows(list(STAGES), items=120, conditions=["chat/0-shot", "chat/4-shot"], seed=1)
    scores = path.with_suffix(".csv")
    values = np.arange(len(STAGES), dtype=float)
    pd.DataFrame({"model": list(STAGES), "MT": values, "GPQA": values**2}).to_csv(scores, index=False)
    return wording_runs.write_wording(path, rows, models=STAGES), {
        "resamples": 20, "scores": str(scores), "score_columns": "all"
    }  # fmt: skip


def _silent_opinions(path: Path) -> Written:
    """Two models that put a tenth of their probability on the answers."""
    rows = random_frame(["a", "b"], items=8, paraphrases=5).assign(mass=0.1)
    return write_run(path, rows), {"resamples": 20}


def _silent_questions(path: Path) -> Written:
    """Four models without a valid answer but to the first questions."""
    rows = wording_runs.random_rows(list(STAGES), items=12, invalid=0.9, seed=1)
    return wording_runs.write_wording(path, rows, models=STAGES), {"resamples": 20}


def _silent_wordings(path: Path) -> Written:
    """Two models whose answers have features, and a tenth of the probability."""
    return write_run(path, text_feature_runs.answers(text_feature_runs.wordings()).assign(mass=0.1)), {}


def _one_question(path: Path) -> Written:
    """One model without probabilities, asked one question in two wordings."""
    rows = wording_runs.said({"original": "y", "synonym": "y"})
    return wording_runs.write_wording(path, rows), {"resamples": 0}


def _judges(path: Path) -> Written:
    """Two base and two tuned judges in every setting."""
    return scoring_runs.make_run(path, {"En-De": 10, "Et-En": 10, "Si-En": 10}), {"resamples": 20}


def _one_judge(path: Path) -> Written:
    """One judge, one item."""
    return scoring_runs.one_judge(path, [3], [30]), {"resamples": 0}


def _silent_judge(path: Path) -> Written:
    """One judge that gives one item in ten a number."""
    return scoring_runs.one_judge(path, [3, *[np.nan] * 9], range(0, 100, 10)), {"resamples": 20}


def _negations(path: Path) -> Written:
    """Two models, the second asked with exemplars as well; negations at both places."""
    asked = negation_runs.stimuli(40)
    rows = pd.concat([
        negation_runs.answers(asked, ["org/one"], skill=0.9),
        negation_runs.answers(asked, ["org/two"], conditions=["chat/0-shot", "chat/3-shot"], skill=0.9, seed=1),
    ])  # fmt: skip
    return negation_runs.write_negation(path, rows), {"resamples": 20}


def _one_negation(path: Path) -> Written:
    """One model, one original and one negation of it, at a place that nobody noted."""
    asked = negation_runs.stimuli(1, variants=("original", "p_neg-1"), places=False)
    return negation_runs.write_negation(path, negation_runs.answers(asked, invalid=0)), {"resamples": 0}


def _silent_negations(path: Path) -> Written:
    """Two models with one valid answer in ten."""
    rows = negation_runs.answers(negation_runs.stimuli(12), ["a", "b"], invalid=0.9)
    return negation_runs.write_negation(path, rows), {"resamples": 20}


def _multiple_choice(path: Path) -> Written:
    """Three models, one with an adapter that records its training, both prompts, all ways, two subsets."""
    asked = choice_runs.questions(40, 4, subsets=("general knowledge", "math reasoning"))
    ways = [choice_runs.LETTER, choice_runs.TEXTS, choice_runs.TEXT, choice_runs.AWARE]
    rows = choice_runs.answers(asked, ["org/small", "org/large", "tuned"], conditions=ways, unparsed=0.1)
    history = [
        {"step": 10 * n, "epoch": n / 4, "loss": 2 / n, "validation_loss": None if n % 2 else 3 / n}
        for n in range(1, 9)
    ]
    adapter = {"name": "tuned", "base": "org/large", "revision": "r", "settings": {"r": 16}, "history": history}
    building = [
        {"step": "read", "source": "arc", "count": 60, "reason": None},
        {"step": "left out", "source": "arc", "count": 20, "reason": "shorter than ten words"},
    ]
    run = choice_runs.write_choice(
        path, rows, building=building, models={"tuned": {"stage": "tuned", "adapter": adapter}}
    )
    return run, {"resamples": 20}


def _one_choice(path: Path) -> Written:
    """One model, one question in one order, answered rightly."""
    asked = choice_runs.questions(1, 1)
    return choice_runs.write_choice(path, choice_runs.always(asked, choice_runs.right)), {"resamples": 0}


def _silent_choices(path: Path) -> Written:
    """Two models that put a tenth of their probability on the letters."""
    rows = choice_runs.answers(choice_runs.questions(12, 3), ["a", "b"], mass=0.1)
    return choice_runs.write_choice(path, rows), {"resamples": 20}


def _templates(path: Path) -> Written:
    """Four models that get yes/no questions in templates that all items share, with right answers; and accuracies."""
    rows = wording_runs.random_rows(list(STAGES), items=40, seed=1)
    wording_runs.write_wording(path / "answers", rows, models=STAGES)
    accuracy_runs.write_accuracies(path / "accuracies", accuracy_runs.random_accuracies())
    return path, {"resamples": 20}


def _readings(path: Path) -> Written:
    """Three models read in five ways, of which one misreads texts; a sheet of what people read."""
    names = {"org/small": 0, "org/middle": 1, "org/large": 2}
    rows = pd.concat([
        reading_runs.reading_rows(model, items=15, seed=seed, misread=0.15) for model, seed in names.items()
    ], ignore_index=True)  # fmt: skip
    sheet = reading_runs.write_sheet(path.with_suffix(".csv"), rows)
    return reading_runs.write_readings(path, rows), {"resamples": 20, "sheet": str(sheet)}


def _two_readings(path: Path) -> Written:
    """One model, one item, one wording; a probability and a text."""
    rows = reading_runs.reading_rows(items=1, wordings=1, samples=1, ways=reading_runs.WAYS[:2])
    return reading_runs.write_readings(path, rows), {"resamples": 0}


def _silent_readings(path: Path) -> Written:
    """Two models that put a tenth of their probability on the answers, and seldom write one."""
    rows = pd.concat([
        reading_runs.reading_rows(model, items=8, mass=0.1, no_rule=0.9, ways=reading_runs.WAYS[:2]) for model in "ab"
    ], ignore_index=True)  # fmt: skip
    rows["sample_answer"] = rows["sample_answer_otherwise"]
    return reading_runs.write_readings(path, rows), {"resamples": 20}


def _scores(path: Path) -> Written:
    """Three models, scored by two measures in templates that all items share."""
    rows = scored_runs.draw_scores(["org/a", "org/b", "org/c"], 40, 5, measures=["F1", "ms"], crossed=True)
    return scored_runs.write_scored(path, rows), {"resamples": 20}


def _one_score(path: Path) -> Written:
    """One model with one score."""
    return scored_runs.write_scored(path, scored_runs.draw_scores(["m"], 1, 1)), {"resamples": 0}


def _missing_scores(path: Path) -> Written:
    """Two models, of whose responses one in three has a score."""
    rows = scored_runs.draw_scores(["a", "b"], 12, 3)
    rows["score"] = rows["score"].where(rows["variant"] == "w0")
    return scored_runs.write_scored(path, rows.assign(error=rows["score"].isna().map({True: "no", False: None}))), {}


def _ratings(path: Path) -> Written:
    """Three models with response styles, and 40 people."""
    people = path.with_suffix(".csv")
    scale_people.draw_people(scale_runs.draw_answers(["m"], items=6, wordings=2), 40).to_csv(people, index=False)
    return scale_runs.write_full(path), {"resamples": 20, "people": str(people)}


def _checked(path: Path) -> Written:
    """Two models that answer wordings of which some mean something else, three checks, and two people."""
    return meaning_runs.write_meaning_run(path, ["org/small", "org/large"]), {"resamples": 50}


def _one_checked(path: Path) -> Written:
    """One model, one item, one paraphrase, which shares words with its original."""
    run = write_run(path, paraphrases({"x": [0.4]}, original=0.4))
    meaning_runs.write_meaning(run, pd.DataFrame([{"item": "x", "variant": "p1", "check": "words", "score": 0.5}]))
    return run, {"resamples": 0}


def _silent_checked(path: Path) -> Written:
    """Two models that put a tenth of their probability on the answers to wordings that were checked."""
    frame = meaning_runs.draw_flips(["a", "b"])
    run = write_run(path, frame.drop(columns="same").assign(mass=0.1))
    wordings = frame[frame["variant"] != "original"].drop_duplicates(["item", "variant"])
    meaning_runs.write_meaning(run, meaning_runs.draw_meaning(wordings[["item", "variant", "text", "same"]]))
    return run, {"resamples": 20}


FULL: dict[str, Callable[[Path], Written]] = {
    "stability": opinions,
    "text_features": opinions,
    "wording": _questions,
    "benchmarks": _questions,
    "scoring": _judges,
    "negation": _negations,
    "choice": _multiple_choice,
    "transcripts": _thoughts,
    "reliability": _templates,
    "readings": _readings,
    "scored": _scores,
    "scales": _ratings,
    "meaning": _checked,
    "drift": lambda path: (drift_runs.write_changed_model(path, items=20), {}),
}
BARE: dict[str, Callable[[Path], Written]] = {
    "stability": _one_opinion,
    "text_features": _equal_wordings,
    "wording": _one_question,
    "benchmarks": _one_question,
    "scoring": _one_judge,
    "negation": _one_negation,
    "choice": _one_choice,
    "transcripts": _one_opinion,
    "reliability": _one_opinion,
    "readings": _two_readings,
    "scored": _one_score,
    "scales": lambda path: (scale_runs.write_bare(path), {"resamples": 0}),
    "meaning": _one_checked,
    "drift": lambda path: (drift_runs.write_bare(path), {}),
}
SILENT: dict[str, Callable[[Path], Written]] = {
    "stability": _silent_opinions,
    "text_features": _silent_wordings,
    "wording": _silent_questions,
    "benchmarks": _silent_questions,
    "scoring": _silent_judge,
    "negation": _silent_negations,
    "choice": _silent_choices,
    "reliability": _silent_opinions,
    "readings": _silent_readings,
    "scored": _missing_scores,
    "scales": lambda path: (scale_runs.write_silent(path), {"resamples": 20}),
    "meaning": _silent_checked,
    "drift": lambda path: (drift_runs.write_silent(path), {}),
}


def select_options_of_page(page: str, options: dict[str, Any]) -> dict[str, Any]:
    """Select those of some options that a page has: of two pages that one run is for, one may have fewer."""
    known_options = {
        name
        for table in catalogue.map_page_names_to_catalogues()[page].tables
        for name in tables.list_table_options(table)
    }
    return {name: value for name, value in options.items() if name in known_options}
