"""Alarms on one stream of fresh wordings: of `waver check`, of the page `drift`, and of a G-test for each question.

The stream is real: waver-demo-large is asked the 34 statements of its questionnaire in 64 wordings each. Every week
each statement is asked ten times, for a year of 50 weeks. In some years nothing changes; in others another model stands
under the same name from week 20 on: waver-demo-mini, or waver-demo-large with 5 % of its weights disturbed.

The G-test is the rule that driftline (@catidegla/driftline, 2026) documents: answers to a question are counted, and
tested against the baseline's (likelihood ratio, chi-squared); Benjamini-Hochberg over questions at .05; and a change of
a distribution below .15 (total variation) is none. No registry had driftline when this was written, so its rule is
written anew here, without its store, its names of models that servers tell, and its control chart, which fails no
check. A question has one prompt there, which may not change; so there are two ways to use it with wordings:

- *one wording*: a week's wording of a statement, ten times, as behind a gateway that rewords, or with a date in it;
- *ten wordings*: each once, counted together.

Waver checks that all items are answered as before, and that agreement is not worse by .02, both for wordings like
these, with `looks = 50`. The page `drift` tests every week whether mean agreement has changed since any week.

    .venv/bin/python tests/benchmarks/bench_driftline.py --years 200
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy
from scipy.stats import chi2, false_discovery_control

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from analysis.check.judged_means import judge_answers_not_worse_by_margin
from analysis.check.outcomes import LEVEL
from analysis.check.rules import DEFAULT_MARGIN
from analysis.check.same_answers import judge_share_of_same_answers
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.runs import open_runs
from analysis.statistics.drift import detect_change_over_looks
from analysis.statistics.multiplicity import ALPHA, holm
from helpers.checked_models import LARGE, MODELS, disturb_weights
from inference.__main__ import main as ask

BEFORE, MINI, DISTURBED = "waver-demo-large", "waver-demo-mini", "waver-demo-large, disturbed"
ASKED, WEEKS, CHANGED = 10, 50, 20  # answers to a statement each week; weeks; the week that another model starts in
RATE, LEAST = 0.05, 0.15  # driftline's defaults: rate of false discoveries, and least total variation
SAME = 1.0
SOON = 4  # weeks
Array = npt.NDArray[np.float64]


def ask_models(folder: Path) -> dict[str, Array]:
    """Ask all models; the probability of agreement of each (items, wordings)."""
    disturb_weights(LARGE, folder / "model", share=0.05)
    named = {BEFORE: LARGE, MINI: MODELS / MINI, DISTURBED: folder / "model"}
    call = ["run", "agreement", "--items", "demo", "--dtype", "float32", "--out", str(folder / "run"), "--model"]
    if ask([*call, *(f"{name}={path}" for name, path in named.items())]):
        sys.exit("the demo models were not asked")
    study = next(study for study in read_reworded_studies(open_runs(folder / "run")) if study.measure == "agreement")
    return {model: values for (model, _), values in zip(study.units, study.values, strict=True)}


def draw_week(draw: np.random.Generator, probabilities: Array, *, one_wording: bool, sampled: bool) -> Array:
    """Ask every statement in fresh wordings: answers of 0 or 1 (items, ASKED)."""
    order = draw.random(probabilities.shape)
    order[np.isnan(probabilities)] = 2.0  # an answer that cannot be read is not asked for again
    places = np.argsort(order, axis=1)[:, : 1 if one_wording else ASKED]
    drawn = np.repeat(np.take_along_axis(probabilities, places, axis=1), ASKED if one_wording else 1, axis=1)
    return (draw.random(drawn.shape) < drawn if sampled else drawn >= 0.5).astype(float)


def alarm_by_g_test(before: Array, now: Array) -> bool:
    """Tell whether any question drifted by driftline's rule, from answers of 0 or 1 (items, answers)."""
    sides = [np.stack([(answers == kind).sum(axis=1) for kind in (0, 1)], axis=1) for answers in (before, now)]
    counts = np.stack(sides).astype(float)  # (sides, items, kinds)
    totals = counts.sum(axis=2)
    expected = counts.sum(axis=0) * (totals / totals.sum(axis=0))[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        g = 2 * np.where(counts > 0, xlogy(counts, counts / expected), 0.0).sum(axis=(0, 2))
    is_tested = (counts.sum(axis=0) > 0).all(axis=1)  # both answers were given, before or now
    variation = np.abs(np.diff(counts / totals[..., None], axis=0)[0]).sum(axis=1) / 2
    if not is_tested.any():
        return False
    is_significant = false_discovery_control(chi2.sf(g[is_tested], 1)) <= RATE
    return bool((is_significant & (variation[is_tested] >= LEAST)).any())


def alarm_by_check(before: Array, now: Array) -> bool:
    """Tell whether a rule of Waver is broken, at the level of one look of WEEKS."""
    means = [answers.mean(axis=1, keepdims=True) for answers in (now, before)]
    outcomes = [judge_answers_not_worse_by_margin(*means, False, DEFAULT_MARGIN, like_these=True)]
    outcomes.append(judge_share_of_same_answers(now, before, False, SAME, like_these=True, same_wordings=False))
    p = np.array([outcome.p_broken for outcome in outcomes])
    return bool((holm(p[~np.isnan(p)]) < LEVEL / WEEKS).any())


def find_alarms(name: str, weeks: list[Array], *, one_wording: bool) -> list[bool]:
    """Tell of every week after the first whether there is an alarm."""
    if name == "page drift":
        return list(detect_change_over_looks(weeks, looks=WEEKS + 1).p[1:] < ALPHA)
    if name == "G-test":
        return [alarm_by_g_test(weeks[0], now) for now in weeks[1:]]
    # Samples of one wording do not tell how other wordings are answered: only their means count.
    kept = [week.mean(axis=1, keepdims=True) if one_wording else week for week in weeks]
    return [alarm_by_check(kept[0], now) for now in kept[1:]]


def main() -> None:
    """Print the alarms of all in every kind of stream."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--years", type=int, default=200)
    years = parser.parse_args().years
    with tempfile.TemporaryDirectory() as folder:
        models = ask_models(Path(folder))
    print(f"{years} years of {WEEKS} weeks; {len(models[BEFORE])} statements, {ASKED} answers each a week")
    for sampled in (False, True):
        for one_wording in (True, False):
            print(f"temperature {int(sampled)}, {'one wording' if one_wording else 'ten wordings'}")
            for after in models:
                draw = np.random.default_rng(0)
                alarms: dict[str, list[list[bool]]] = {name: [] for name in ("G-test", "waver check", "page drift")}
                for _ in range(years):
                    answering = [BEFORE] * CHANGED + [after] * (WEEKS + 1 - CHANGED)
                    weeks = [draw_week(draw, models[name], one_wording=one_wording, sampled=sampled)
                             for name in answering]  # fmt: skip
                    for name in alarms:
                        alarms[name].append(find_alarms(name, weeks, one_wording=one_wording))
                print(f"  from week {CHANGED} on: {after}")
                for name, found in alarms.items():
                    print(f"    {name}: {describe_alarms(np.array(found), is_changed=after != BEFORE)}")


def describe_alarms(alarms: npt.NDArray[np.bool_], *, is_changed: bool) -> str:
    """Say how often there are alarms (years, weeks)."""
    if not is_changed:
        return f"alarms in {alarms.mean():.4f} of weeks, in {alarms.any(axis=1).mean():.3f} of years"
    after = alarms[:, CHANGED - 1 :]  # the first week has none
    soon, ever = after[:, :SOON].any(axis=1).mean(), after.any(axis=1).mean()
    return f"alarm within {SOON} weeks in {soon:.3f} of years, until week {WEEKS} in {ever:.3f}"


if __name__ == "__main__":
    main()
