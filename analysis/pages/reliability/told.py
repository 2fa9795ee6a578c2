"""Say in sentences what accuracies without answers tell about templates and rankings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from analysis.reporting.words import Answer, count, few_models, listing, low_to_high, percent

TABLES = ("template_reliability", "template_scores", "wording_ranking", "template_pairs")
ALL = "all"  # the mean over tasks
LIKELY = 0.95
CONDITIONS = 3  # that sentences are written about


def answer(frames: Mapping[str, pd.DataFrame], when: str = "") -> Answer:
    """Say how many pairs of models keep their order with another template, and how reliably one ranks them.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.when`.
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
    """Add what accuracies tell to the answer about other runs."""
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
    several = len(main) > 1
    least = "at least " if several else ""
    of_each = " of each task" if (main["task"] == ALL).all() else ""
    mean = ", by the mean over tasks" if of_each else ""
    yield (
        f"With another template{of_each}, {least}{percent(main['kept_one'].min())} of pairs of models keep their "
        f"order{mean}."
    )
    said = f"One template ranks them with an estimated reliability of {least}{_number(main['one'].min())}"
    single = ranked[ranked["task"] != ALL]
    yield f"{said}; in single tasks, of {_number(single['one'].min())} or more." if of_each else f"{said}."


def _main(ranked: pd.DataFrame) -> pd.DataFrame:
    """Return the rankings that sentences are about: those by the mean over tasks, or of the only task."""
    several = ranked.groupby(["study", "condition"])["task"].transform(lambda tasks: (tasks == ALL).any())
    return ranked[(ranked["task"] == ALL) | ~several]


def _reliable(ranked: pd.DataFrame) -> Iterator[str]:
    """Say it of every condition: by the mean over tasks, and of the task that templates move most."""
    for row in _main(ranked).to_dict("records")[:CONDITIONS] if len(ranked) else ():
        over = f"the mean over {row['n_tasks']} tasks" if row["task"] == ALL else row["task"]
        where = _condition(ranked, row)
        yield (
            f"{f'{where}one' if where else 'One'} template ranks {row['n_models']} models by {over} with a reliability "
            f"of {_number(row['one'])} "
            f"({_number(row['one_lower'])} to {_number(row['one_upper'])}), four with {_number(row['four'])}."
        )
        yield (
            f"With another template, {percent(row['kept_one'])} of pairs keep their order; with other items, too, the "
            f"reliability of one is estimated at {_number(row['one_items'])} or more."
        )
        single = ranked[(ranked["study"] == row["study"]) & (ranked["condition"] == row["condition"])
                        & (ranked["task"] != ALL)].dropna(subset=["one"])  # fmt: skip
        if row["task"] == ALL and len(single):
            low = single.loc[single["one"].idxmin()]
            yield (
                f"Least reliable is {low['task']}: {_number(low['one'])} with one template, {_number(low['four'])} "
                f"with four; {percent(low['kept_one'])} of pairs keep their order with another."
            )


def _condition(ranked: pd.DataFrame, row: Mapping[str, object]) -> str:
    return f"Condition {row['condition']}: " if ranked["condition"].nunique() > 1 else ""


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


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
            f"{_condition(ranked, row)}{first['model']} is first, and expected to stay so in "
            f"{percent(first['first'])} or more of studies with other items and templates ({place} in 95 %)."
        )
        yield f"The ranking's tau with that of another study is expected to be {_number(row['tau'])} or more."


def _pairs(pairs: pd.DataFrame) -> Iterator[str]:
    """Count the pairs that keep their order almost surely."""
    for condition, part in list(pairs.groupby("condition", sort=False))[:CONDITIONS] if len(pairs) else ():
        where = f"Condition {condition}: " if pairs["condition"].nunique() > 1 else ""
        sure, both = ((part[name] >= LIKELY).sum() for name in ("same_wordings", "same_both"))
        yield (
            f"{where}{sure:,} of {count(len(part), 'pair')} keep their order under as many other templates "
            f"with a probability of 95 % or more; with other items, too, at least {both:,}."
        )


def _cautions(scores: pd.DataFrame, ranked: pd.DataFrame) -> Iterator[str]:
    yield (
        "These are accuracies without answers: flips, spreads over the wordings of an item, and components of items "
        "need the answers to single items."
    )
    if ranked.empty:
        return
    main = _main(ranked)
    fewer = main[main["n_models"] < main["n_models"].max()]
    left = scores["model"].nunique() - int(main["n_models"].min())
    if left or len(fewer):
        yield (
            f"{count(left, 'model')} {'is' if left == 1 else 'are'} not ranked everywhere: ranked are models with half "
            "of a task's templates or more, by the templates that all of these have."
        )
    few = ranked.loc[ranked["task"] != ALL, "n_templates"]
    if len(few) and few.min() < 5:
        yield f"Some tasks have only {int(few.min())} templates: what is said about others rests on few."
    yield from few_models(int(main["n_models"].min()))
    uncertain = list(dict.fromkeys(ranked.loc[ranked["model_template_least"] < 0, "task"]))
    if uncertain:
        yield (
            f"Binomial error alone may explain how templates move models differently in {listing(uncertain)}: too few "
            "answers are behind each accuracy."
        )
