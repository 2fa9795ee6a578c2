"""How often first sentences claim something of models among which there is nothing to find.

    python tests/benchmarks/bench_null.py              # 1,000 studies in each cell, about eight minutes
    python tests/benchmarks/bench_null.py --runs 200   # coarser

`identical`: models whose answers have one distribution; each meets items and wordings with errors of its own.
`at the limit`: the true share or change is the very limit between two words, so that each word is wrong half of the
time it is said. `one by one`: what sentences said when every model was judged by its own interval, a reliability was
stated by its estimate, and coefficients were corrected within each method only. `now`: what the pages say. Exit status
1 where a cell claims something in more than .05 of its studies, beyond the error of the simulation.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from analysis.measures.reworded.study import AGREEMENT, Study, estimate_components_across_models  # noqa: E402
from analysis.pages.benchmarks import narrative as of_benchmarks  # noqa: E402
from analysis.pages.choice import narrative as of_choice  # noqa: E402
from analysis.pages.negation import narrative as of_negation  # noqa: E402
from analysis.pages.reliability import narrative as of_reliability  # noqa: E402
from analysis.pages.scoring import narrative as of_scoring  # noqa: E402
from analysis.pages.stability import narrative as of_stability  # noqa: E402
from analysis.reporting.words import beyond, chance, verdicts  # noqa: E402
from analysis.statistics import correlation  # noqa: E402
from analysis.statistics.multiplicity import correct_families_by_holm, holm  # noqa: E402
from analysis.statistics.reliability.generalizability import (  # noqa: E402
    compute_relative_coefficient,
    compute_relative_coefficient_interval,
)
from analysis.statistics.shares import estimate_share, newcombe, wilson  # noqa: E402
from analysis.statistics.significance import mcnemar  # noqa: E402

Claims = tuple[bool, bool]  # one by one, now
ITEMS, WORDINGS, QUESTIONS = 62, 5, 300


def draw_study(rng: np.random.Generator, models: int, crossed: bool) -> Study:
    """Draw answers of identical models: items and wordings are the same for all, interactions each model's own."""
    shape = (1, 1, WORDINGS) if crossed else (1, ITEMS, WORDINGS)
    answers = 0.5 + rng.normal(0, 0.2, (1, ITEMS, 1)) + rng.normal(0, 0.05, shape)
    answers = answers + rng.normal(0, 0.1, (models, ITEMS, 1)) + rng.normal(0, 0.15, (models, ITEMS, WORDINGS))
    if crossed:
        answers = answers + rng.normal(0, 0.06, (models, 1, WORDINGS))
    units = [(f"m{number}", "c") for number in range(models)]
    names = [f"w{number}" for number in range(WORDINGS)] if crossed else []
    return Study("s", AGREEMENT, True, crossed, units, np.ones(models), answers.clip(0, 1), names)


def claim_reliability(rng: np.random.Generator, models: int, crossed: bool) -> Claims:
    found = estimate_components_across_models(draw_study(rng, models, crossed))
    assert found is not None
    value = compute_relative_coefficient(found, found.n_items, found.n_wordings)
    low, high = compute_relative_coefficient_interval(found)
    row = {"headline": True, "measure": AGREEMENT, "relative": value, "relative_lower": low, "relative_upper": high,
           "anew": ""}  # fmt: skip
    said = " ".join(of_reliability._describe_least_reliable_ranking(pd.DataFrame([row]), has_several_studies=False))
    return value >= 0, "has a reliability" in said


def claim_beyond(rng: np.random.Generator, models: int, crossed: bool) -> Claims:
    """Name a pair that holds for wordings like these; before, one that holds for these, over items."""
    pairs = beyond.tabulate_pair_difference_tests([draw_study(rng, models, crossed)])
    these = correct_families_by_holm(pairs, ["study", "measure"], "p_items")
    return bool(verdicts.mark_clear_effects(these).any()), "and none for" not in (
        said := beyond.describe_significant_difference_counts(pairs)
    ) and "none" not in said


def claim_flips_differ(rng: np.random.Generator, models: int, crossed: bool) -> Claims:
    """Name a pair of models that differ in flips, without saying that it is in these wordings."""
    agree = draw_study(rng, models, crossed).values >= 0.5
    flips = (np.minimum(agree.mean(axis=2), 1 - agree.mean(axis=2)) > 0.1).astype(float)
    pairs = [(a, b) for a in range(models) for b in range(a)]
    p = mcnemar(*(flips[list(side)].T for side in zip(*pairs, strict=True)))[0]
    names = [f"m{number}" for number in range(models)]
    frame = pd.DataFrame({
        "study": "s", "measure": "flip_10", "p_holm": holm(p), "p_least": 2.0 ** (1 - ITEMS),
        "a_model": [names[a] for a, _ in pairs], "a_condition": "c",
        "b_model": [names[b] for _, b in pairs], "b_condition": "c",
    })  # fmt: skip
    answering = pd.DataFrame({"study": "s", "model": names, "condition": "c", "label": names})
    said = of_stability._describe_model_pairs_differing_in_flips(frame, frame, answering, "flip_10", crossed)
    different = bool(verdicts.mark_clear_effects(frame["p_holm"]).any())
    return different, different and "in these wordings" not in said[0]


def name_rows(shares: np.ndarray, n: int, figure: str) -> pd.DataFrame:
    low, high = wilson(shares, np.full(shares.shape, n), 0.95)
    names = [f"m{number}" for number in range(len(shares))]
    about = {"study": "s", "model": names, "condition": "c"}
    return pd.DataFrame({**about, figure: shares, f"{figure}_lower": low, f"{figure}_upper": high})


def count_one_by_one(rows: pd.DataFrame, ends: tuple[str, str], bands: tuple[verdicts.Band, ...]) -> bool:
    return any(
        verdicts.choose_word_for_interval(low, high, bands)
        for low, high in rows[list(ends)].itertuples(index=False, name=None)
    )


def claim_flips(rng: np.random.Generator, models: int, share: float) -> Claims:
    rows = name_rows(rng.binomial(ITEMS, share, models) / ITEMS, ITEMS, "flip_10")
    said = of_stability._describe_counts_of_stability_verdicts(
        rows, "flip_10", chance.NO_CHANCE, measured_rows=rows, n_asked=models
    )
    alone = count_one_by_one(rows, ("flip_10_lower", "flip_10_upper"), of_stability.BANDS)
    return alone, not said.startswith(verdicts.UNCLEAR)


def claim_changed(rng: np.random.Generator, models: int, share: float) -> Claims:
    rows = name_rows(rng.binomial(QUESTIONS, share, models) / QUESTIONS, QUESTIONS, "changed")
    said = of_choice._describe_counts_of_choice_verdicts(
        rows, models, (QUESTIONS, pd.Series([3]), pd.Series([8])), chance.NO_CHANCE, ()
    )
    alone = count_one_by_one(rows, ("changed_lower", "changed_upper"), of_choice.BANDS)
    return alone, not said.startswith(verdicts.UNCLEAR)


def claim_negation(rng: np.random.Generator, models: int, change: float) -> Claims:
    """Pairs of sentences without and with a negation; a model that loses by a change loses rightly labelled pairs."""
    before = rng.random((QUESTIONS, models)) < 0.8
    kept = 1 - 0.1 + change / 0.8  # a tenth of the right labels is lost, and as many are won, but for the change
    after = np.where(before, rng.random(before.shape) < kept, rng.random(before.shape) < 0.4)
    ones = np.ones(before.shape)
    parts = [estimate_share([(side.astype(float), ones)], 0.95) for side in (after, before)]
    low, high = newcombe(parts[0], parts[1])
    rows = pd.DataFrame({
        "study": "s", "model": [f"m{number}" for number in range(models)], "condition": "c",
        "acc": parts[1].estimate, "acc_negated": parts[0].estimate,
        "acc_change": parts[0].estimate - parts[1].estimate, "lower": low, "upper": high,
    })  # fmt: skip
    said = of_negation._describe_models_hurt_by_negation(rows, models)
    words = ("yes",) if change == 0 else ("yes", "hardly")
    old = verdicts.Band("yes", -1.0, 0.0), verdicts.Band("hardly", -0.05, 1.0)
    alone = count_one_by_one(rows, ("lower", "upper"), old[:1] if change == 0 else old)
    return alone, any(word in said.lower() for word in words)


def claim_habit(rng: np.random.Generator, models: int, share: float) -> Claims:
    """Judges that give half of the texts of either group their favourite score."""
    parts = [name_rows(rng.binomial(ITEMS, share, models) / ITEMS, ITEMS, "mode_share").assign(group=group)
             for group in ("g", "h")]  # fmt: skip
    rows = pd.concat(parts, ignore_index=True).assign(range="0-9", label=lambda frame: frame["model"])
    said = of_scoring._describe_counts_of_scoring_verdicts(rows, rows.assign(model="judge"), models)
    alone = any(
        of_scoring._choose_verdict_words_of_score_rows(rows, rows.assign(model="judge"))
        .groupby(rows["model"])
        .agg(of_scoring._combine_group_verdicts_of_model)
    )
    return alone, not said.startswith(verdicts.UNCLEAR)


def claim_correlation(rng: np.random.Generator, models: int, measures: int) -> Claims:
    """Measures of the models, their size, and two benchmarks, each drawn by itself."""
    size, rows = rng.normal(size=models), []
    for measure in range(measures):
        values = rng.normal(size=models)
        for benchmark in (of_benchmarks.SIZE, "x", "y"):
            other = size if benchmark == of_benchmarks.SIZE else rng.normal(size=models)
            for method in correlation.METHODS:
                for given in (None,) if benchmark == of_benchmarks.SIZE else (None, size):
                    found = correlation.build_coefficient_row(
                        correlation.correlate_over_models(values, other, method=method, control=given)
                    )
                    rows.append({**found, "method": method + of_benchmarks.GIVEN_SIZE * (given is not None),
                                 "page": "p", "study": "s", "measure": f"measure {measure}", "headline": True,
                                 "benchmark": benchmark})  # fmt: skip
    table = pd.DataFrame(rows)
    table = table.assign(p_holm=correct_families_by_holm(table, ["method", "headline"]))
    said = of_benchmarks.describe_clear_and_largest_correlations(of_benchmarks.select_headline_rank_correlations(table))
    alone = bool(of_benchmarks._mark_coefficients_clearly_nonzero(table).any())
    return alone, not said.startswith(verdicts.UNCLEAR)


Cell = tuple[str, int, Callable[[np.random.Generator], Claims]]


def list_cells() -> Iterator[Cell]:
    for models in (2, 3, 5, 10, 50):
        for crossed, wordings in ((False, "own wordings"), (True, "shared wordings")):
            yield (f"a reliability: identical, {wordings}", models,
                   lambda rng, m=models, c=crossed: claim_reliability(rng, m, c))  # fmt: skip
            if models <= 5:
                yield (f"a difference in flips: identical, {wordings}", models,
                       lambda rng, m=models, c=crossed: claim_flips_differ(rng, m, c))  # fmt: skip
                yield (f"more than rewording: identical, {wordings}", models,
                       lambda rng, m=models, c=crossed: claim_beyond(rng, m, c))  # fmt: skip
    for models in (2, 3, 5, 10, 50):
        yield "answers change: flips at the limit, .10", models, lambda rng, m=models: claim_flips(rng, m, 0.1)
        yield "choices change: at the limit, .05", models, lambda rng, m=models: claim_changed(rng, m, 0.05)
        yield "negation costs: no effect", models, lambda rng, m=models: claim_negation(rng, m, 0.0)
        yield "negation costs: at the limit, 5 points", models, lambda rng, m=models: claim_negation(rng, m, -0.05)
        yield "one score: at the limit, .50, two groups", models, lambda rng, m=models: claim_habit(rng, m, 0.5)
    for models in (10, 50):
        yield "a correlation: no effect, 4 measures", models, lambda rng, m=models: claim_correlation(rng, m, 4)


def measure_cell(claim: Callable[[np.random.Generator], Claims], runs: int, seed: int) -> tuple[float, float]:
    """Return the shares of simulated studies that claim something, one by one and now."""
    rng = np.random.default_rng(seed)
    found = np.array([claim(rng) for _ in range(runs)])
    return float(found[:, 0].mean()), float(found[:, 1].mean())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000, help="studies in each cell (default: %(default)s)")
    options = parser.parse_args()
    too_many = 0
    print(f"{'first sentences that claim':55} models  one by one    now")
    for seed, (name, models, claim) in enumerate(list_cells()):
        alone, now = measure_cell(claim, options.runs, seed)
        over = now > 0.05 + 2 * np.sqrt(0.05 * 0.95 / options.runs)
        too_many += over
        print(f"{name:55} {models:6} {alone:11.3f} {now:6.3f}{'  *' * bool(over)}", flush=True)
    return int(too_many > 0)


if __name__ == "__main__":
    sys.exit(main())
