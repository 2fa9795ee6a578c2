"""Say in sentences what accuracies without answers tell about templates and rankings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.reporting.words import Answer, count, few_models, listing, low_to_high, percent

TABLES = ("template_reliability", "template_scores", "wording_ranking", "template_pairs")
ALL = "all"  # the mean over tasks
LIKELY = 0.95
CONDITIONS = 3  # that sentences are written about
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def answer(frames: Mapping[str, pd.DataFrame], when: str = "") -> Answer:
    """Say how many pairs of models keep their order with another template, and how reliably one ranks them.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.when`.

    Returns
    -------
    Answer
        What the page says in words.
    """
    scores, ranked = frames["template_scores"], frames["template_reliability"]
    models, tasks = scores["model"].nunique(), scores.groupby("study")["task"].nunique().sum()
    conditions = scores["condition"].nunique()
    under = f" under {conditions} conditions" if conditions > 1 else ""
    asked = (
        f"{count(models, 'model')} {'has' if models == 1 else 'have'} accuracies in {count(int(tasks), 'task')} with "
        f"{low_to_high(scores['n_templates'])} templates of each{under}{when}."
    )
    return Answer(
        asked, " ".join(_verdict(ranked)), cautions=tuple(_cautions(scores, ranked)), details=_details(frames)
    )


def added(found: Answer, frames: Mapping[str, pd.DataFrame]) -> Answer:
    """Add what accuracies tell to the answer about other runs.

    Parameters
    ----------
    found
        The answer about other runs.
    frames
        The tables named in `TABLES`.

    Returns
    -------
    Answer
        With the cautions and details about accuracies.
    """
    scores, ranked = frames["template_scores"], frames["template_reliability"]
    own = scores[scores["task"] != ""]
    details = {name: (*found.details.get(name, ()), *said) for name, said in _details(frames).items()}
    return replace(found, cautions=(*found.cautions, *_cautions(own, ranked)), details={**found.details, **details})


def _details(frames: Mapping[str, pd.DataFrame]) -> dict[str, tuple[str, ...]]:
    ranked, scores, places = (frames[name] for name in ("template_reliability", "template_scores", "wording_ranking"))
    details = {
        "template_reliability": tuple(_reliable(ranked)),
        "template_ranges": tuple(_ranges(scores[scores["task"] != ""])) if len(scores) else (),
        "wording_ranking": tuple(_first(places[places["task"] != ""], ranked)) if len(places) else (),
        "template_pairs": tuple(_pairs(frames["template_pairs"])),
    }
    return {name: said for name, said in details.items() if said}


def _verdict(ranked: pd.DataFrame) -> Iterator[str]:
    if ranked.empty:
        yield "Two models and two templates that both have would be needed to tell whether their order would stand."
        return
    main = _main(ranked)
    of_each = " of each task" if (main["task"] == ALL).all() else ""
    each = "condition" if len(main) == main["condition"].nunique() else "ranking"
    or_more, under = (" or more", f", in every {each}") if len(main) > 1 else ("", "")
    yield (
        f"From one template{of_each} to another, {percent(main['kept_one'].min())}{or_more} of pairs of models kept "
        f"their order{', by the mean over tasks' if of_each else ''}{under}."
    )
    known = main.dropna(subset=["one_lower", "one_upper"])
    if len(known) < len(main):
        yield "How reliably one template ranks them is not shown: models differ too little."
        return
    every = f"intervals of every {each}" if len(main) > 1 else "interval"
    yield (
        f"One of {_templates(main, spelled=True)} templates ranks them with a reliability of "
        f"{_number(known['one_lower'].min())} to {_number(known['one_upper'].max())} ({every})."
    )


def _templates(rows: pd.DataFrame, *, spelled: bool = False) -> str:
    """Write how many templates the tasks have: "5 to 7", or, as far as there are words, "five to seven"."""
    ends = int(rows["n_templates_least"].min()), int(rows["n_templates_most"].max())
    texts = [WORDS[number] if spelled and number < len(WORDS) else f"{number:,}" for number in ends]
    return " to ".join(dict.fromkeys(texts))


def _main(ranked: pd.DataFrame) -> pd.DataFrame:
    """Return the rankings that sentences are about: those by the mean over tasks, or of the only task."""
    several = ranked.groupby(["study", "condition"])["task"].transform(lambda tasks: (tasks == ALL).any())
    return ranked[(ranked["task"] == ALL) | ~several]


def _reliable(ranked: pd.DataFrame) -> Iterator[str]:
    """Say it of every condition: by the mean over tasks, and of the task with the lowest estimate."""
    for row in _main(ranked).to_dict("records")[:CONDITIONS] if len(ranked) else ():
        several = row["task"] == ALL
        over = f"the mean over {_over(row)}" if several else row["task"]
        where = _condition(ranked, row)
        templates = _templates(pd.DataFrame([row]))
        yield (
            f"{f'{where}one' if where else 'One'} of {templates} templates ranks "
            f"{row['n_models']} models by {over} {_reliability(row, 'one')}."
        )
        yield f"Four such templates rank them {_reliability(row, 'four')}."
        yield f"From one template to another, {percent(row['kept_one'])} of pairs of models kept their order."
        single = ranked[(ranked["study"] == row["study"]) & (ranked["condition"] == row["condition"])
                        & (ranked["task"] != ALL)].dropna(subset=["one"])  # fmt: skip
        if several and len(single):
            low = single.loc[single["one"].idxmin()]
            yield (
                f"By single tasks, the estimate is lowest in {low['task']}: one of {low['n_templates']:.0f} templates "
                f"ranks models {_reliability(low, 'one')}."
            )


def _over(row: Mapping[str, Any]) -> str:
    """Say over how many tasks a mean is: "8 tasks", or "6 of 8 tasks"."""
    of_all = f"{row['n_tasks']} of " if row["n_tasks"] < row["n_tasks_asked"] else ""
    return f"{of_all}{count(int(row['n_tasks_asked']), 'task')}"


def _reliability(row: Mapping[str, Any] | pd.Series, name: str) -> str:
    """Say a coefficient with its interval; nothing is said of one without."""
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    if pd.isna(low) or pd.isna(high):
        return "with a reliability that is not shown, as models differ too little"
    return f"with a reliability of {_number(row[name])} (interval {_number(low)} to {_number(high)})"


def _condition(ranked: pd.DataFrame, row: Mapping[str, object]) -> str:
    return f"Condition {row['condition']}: " if ranked["condition"].nunique() > 1 else ""


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−") if value < 0.995 or value >= 1 else "more than 0.99"


def _ranges(scores: pd.DataFrame) -> Iterator[str]:
    """Say how far templates are apart: over all tasks, and in the task where they are most."""
    own = scores[scores["n_templates"] > 1]
    for condition, part in list(own.groupby("condition", sort=False))[:CONDITIONS]:
        where = f"Condition {condition}: the" if own["condition"].nunique() > 1 else "The"
        means = part.groupby("task", sort=False)["range"].mean()
        most = f", most in {means.idxmax()} by {means.max():.3f}" if len(means) > 1 else ""
        yield (
            f"{where} best and the worst template of a task differ by {part['range'].mean():.3f} on average{most}; SD "
            f"over templates {part['sd'].mean():.3f}."
        )
        row = part.loc[part["range"].idxmax()]
        yield f"They differ most for {row['model']} in {row['task']}: {row['lowest']:.3f} to {row['highest']:.3f}."


def _first(places: pd.DataFrame, ranked: pd.DataFrame) -> Iterator[str]:
    """Say who is first, and whether it would be in another study."""
    for row in _main(ranked).to_dict("records")[:CONDITIONS] if len(ranked) else ():
        keys = ["study", "condition", "task"]
        part = places[(places[keys] == pd.Series(row)[keys]).all(axis=1)]
        first = part.loc[part["rank"].idxmin()]
        place = f"ranks {first['rank_lower']:.0f} to {first['rank_upper']:.0f}"
        yield (
            f"{_condition(ranked, row)}{first['model']} is first, and expected to stay so in some "
            f"{percent(first['first'])} of studies with other items and templates ({place} in 95 %)."
        )
        yield f"The ranking's tau with that of another study is expected to be about {_number(row['tau'])}."


def _pairs(pairs: pd.DataFrame) -> Iterator[str]:
    """Count the pairs that keep their order almost surely."""
    for condition, part in list(pairs.groupby("condition", sort=False))[:CONDITIONS] if len(pairs) else ():
        where = f"Condition {condition}: " if pairs["condition"].nunique() > 1 else ""
        sure, both = ((part[name] >= LIKELY).sum() for name in ("same_wordings", "same_both"))
        number = f"{part['n_templates'].mean():.1f}".removesuffix(".0")
        yield (
            f"{where}{sure:,} of {count(len(part), 'pair')} keep their order under {number} other templates "
            f"with a probability of 95 % or more; with other items, too, {both:,}."
        )


def _cautions(scores: pd.DataFrame, ranked: pd.DataFrame) -> Iterator[str]:
    yield (
        "These are accuracies without answers: flips, spreads over the wordings of an item, and components of items "
        "need the answers to single items."
    )
    if ranked.empty:
        return
    main = _main(ranked)
    for row in main[main["n_tasks"] < main["n_tasks_asked"]].to_dict("records")[:CONDITIONS]:
        if row["task"] == ALL:
            yield (
                f"{_condition(ranked, row)}means over tasks are over {row['n_tasks']} of {row['n_tasks_asked']} tasks, "
                "in which half of the models or more are ranked."
            )
    fewer = main[main["n_models"] < main["n_models"].max()]
    left = scores["model"].nunique() - int(main["n_models"].min())
    if left or len(fewer):
        yield (
            f"{count(left, 'model')} {'is' if left == 1 else 'are'} not ranked everywhere: ranked are models with half "
            "of a task's templates or more, by the templates that all of these have."
        )
    few = ranked.loc[ranked["task"] != ALL, "n_templates"]
    if len(few) and few.min() < 5:
        yield f"Some tasks have only {int(few.min())} templates: so few say little of others, however many models."
    yield from few_models(int(main["n_models"].min()))
    uncertain = list(dict.fromkeys(ranked.loc[ranked["model_template_least"] < 0, "task"]))
    if uncertain:
        yield (
            f"Binomial error alone may explain how templates move models differently in {listing(uncertain)}: too few "
            "answers are behind each accuracy."
        )
