"""Sentences of the text-features report on hand-made tables."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import features
from analysis.pages.text_features import narrative
from analysis.reporting.catalogue.selection import AnswerPair

UNIT = {"study": "s", "condition": "plain/yes-no"}


def effect(model, term, estimate, p=0.001, **fields):
    std = 10 * estimate
    return {
        **UNIT, "model": model, "term": term, "estimate": estimate, "lower": estimate - 0.01, "upper": estimate + 0.01,
        "p_bonferroni": p, "p_slopes": 0.5, "confirmed": p < 0.05,
        "estimate_std": std, "estimate_std_lower": std - 0.1, "estimate_std_upper": std + 0.1,
        "n_tests": 4, "n_rows": 100, "n_items": 40, "scale": "identity", **fields,
    }  # fmt: skip


def fit(model, **fields):
    return {
        **UNIT, "model": model, "r2_marginal": 0.05, "r2_conditional": 0.45, "converged": True, "singular": False,
        "validity": 0.9, "n_rows": 100, "n_missing": 0, "n_items": 40, "message": "", "dropped": "", **fields,
    }  # fmt: skip


def tables(**changes):
    effects = [
        effect("a", "statement_length", 0.02), effect("b", "statement_length", 0.01),
        effect("c", "statement_length", 0.03), effect("a", "word_length", 0.001, 0.5),
        effect("b", "word_length", -0.002, 0.2), effect("c", "word_length", 0.001, 1),
        effect("a", "(Intercept)", 0.5),
    ]  # fmt: skip
    frames = {
        "mixed": effects,
        "mixed_diagnostics": [fit("a"), fit("b", r2_marginal=0.12), fit("c")],
        "mixed_conventions": pd.DataFrame(columns=["model", "confirmed_dropped", "confirmed_inconsistent"]),
        "vif": [{**UNIT, "model": "a", "term": "word_length", "vif": 1.2}],
        "scales": [{"verdict": "significant on both, same sign"}, {"verdict": "significant on neither"}],
        "correlations": pairs({("statement_length", "word_length"): (-0.4, 0.001)}),
        "features": [
            {
                "study": "s",
                "columns": "word_length, statement_length",
                "language": "en",
                "component": "words cut by white space",
                "missing": None,
                "looks_like": None,
            }
        ],
    }
    return {name: pd.DataFrame(changes.get(name, rows)) for name, rows in frames.items()}


def pairs(given):
    both = {**given, **{(b, a): values for (a, b), values in given.items()}}
    return [
        {"study": "s", "feature_a": a, "feature_b": b, "r": r, "p": p, "n": 100} for (a, b), (r, p) in both.items()
    ]  # fmt: skip


def told(frames, choice=AnswerPair(), **options):  # noqa: B008
    return narrative.answer_page_question(frames, choice, **options)


def test_answer_names_the_feature_with_most_confirmed_effects():
    answer = told(tables())
    assert answer.setup == (
        "The answers of 3 models to paraphrases of 40 items were compared with 2 features of their wording."
    )
    assert answer.verdict == (
        "Statement length: higher values go with higher agreement with 3 of 3 models. No other feature has a confirmed "
        "effect."
    )
    assert answer.details["effects"] == (
        narrative.WORD_MEANINGS,
        "The largest confirmed effect is that of statement length with c: +0.300 SD per SD of the feature (95 % "
        "interval +0.200 to +0.400).",
        "That is +3.00 percentage points per word.",
    )
    assert answer.details["mixed"][:2] == (
        "3 of 6 effects are confirmed.",
        "Statement length: higher values go with higher agreement with 3 of 3 models (confirmed effects).",
    )
    assert answer.details["mixed_diagnostics"] == (
        "All features together explain 5.0 to 12 % of the variance of the answers.",
        "The item that is asked explains another 33 to 40 %.",
    )
    assert answer.cautions == ()


def test_numbers_of_examples_are_no_wordings():
    """Longer texts had more examples before them, and the verdict was about the length of the statement."""
    answer = told(tables(), varying_examples=["s"])
    assert answer.verdict == "Nothing is known about the wording: only the number of examples varied."
    assert set(answer.details) == {"correlations"}
    other = effect("a", "word_length", -0.02, study="t")
    frames = tables()
    frames["mixed"] = pd.concat([frames["mixed"], pd.DataFrame([other])], ignore_index=True)
    frames["mixed_diagnostics"] = pd.concat(
        [frames["mixed_diagnostics"], pd.DataFrame([fit("a", study="t")])], ignore_index=True
    )
    answer = told(frames, varying_examples=["s"])
    assert answer.verdict == "Word length: higher values go with lower agreement with a · t."
    assert answer.details["mixed"][0] == "1 of 1 effect is confirmed."


def test_other_answers_are_called_by_their_names():
    answer = told(tables(), AnswerPair("left", "right"))
    assert answer.verdict.startswith(
        "Statement length: higher values go with a higher share of “left” with 3 of 3 models."
    )
    assert "agreement" not in " ".join(answer.details["mixed"])


def test_without_a_confirmed_effect_no_feature_is_named():
    effects = [effect("a", "word_length", 0.01, 0.6), effect("a", "statement_length", -0.02, 0.06)]
    answer = told(tables(mixed=effects, mixed_diagnostics=[fit("a")]))
    assert answer.verdict == (
        "These runs cannot tell: no effect of the 2 features on the answers of 1 model is confirmed."
    )
    assert answer.details["effects"] == (narrative.WORD_MEANINGS,)
    assert answer.details["mixed"] == ("None of 2 effects is confirmed.",)
    assert "Only 1 model: these results say nothing about models in general." in answer.cautions


def test_no_sentence_rests_on_an_effect_that_only_the_plain_fit_confirms():
    effects = [
        effect("a", "word_length", 0.09, 0.001, confirmed=False),
        effect("b", "word_length", -0.01, 0.001),
        effect("a", "statement_length", 0.08, 0.001, confirmed=False),
        effect("b", "statement_length", 0.07, 0.001, confirmed=False),
    ]
    answer = told(tables(mixed=effects, mixed_diagnostics=[fit("a"), fit("b")]))
    assert answer.verdict.startswith("Word length: higher values go with lower agreement with 1 of 2 models. No other")
    assert "that of word length with b: −0.100 SD" in answer.details["effects"][1]
    assert answer.details["mixed"][0] == "1 of 4 effects is confirmed."
    assert "statement" not in " ".join(answer.details["mixed"])
    none = told(tables(mixed=[{**row, "confirmed": False} for row in effects]))
    assert none.verdict.startswith("These runs cannot tell: no effect of the 2 features on the answers of")


def test_effects_in_both_directions_are_told_as_such():
    effects = [effect("a", "word_length", 0.02), effect("b", "word_length", -0.01)]
    answer = told(tables(mixed=effects))
    assert "higher values go with higher or lower agreement with 2 of 2 models." in answer.verdict
    assert "higher agreement with 1 and with lower agreement with 1 of 2 models" in answer.details["mixed"][1]


def test_effects_are_told_for_steps_that_wordings_differ_by():
    effects = [effect("a", "sentiment_positive", -0.5), effect("b", "sentiment_positive", -0.25)]
    assert "That is −5.00 percentage points per step of 0.1." in told(tables(mixed=effects)).details["effects"]


def test_on_the_logit_scale_there_are_no_percentage_points():
    frames = tables()
    frames["mixed"]["scale"] = "logit"
    assert "That is +0.030 nats of its logit per word." in told(frames).details["effects"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"features": [{"study": "s", "columns": "left_dependents, right_dependents", "component": None,
                        "language": "en", "looks_like": None,
                        "missing": "spaCy is not installed: pip install spacy"}]},
         "Left out: left dependents and right dependents. SpaCy is not installed: pip install spacy."),
        ({"features": [{"study": "s", "columns": "sentiment_positive", "missing": None, "language": "en",
                        "looks_like": None,
                        "component": "vader 3.3.2; VADER, because pysentimiento is not installed"}]},
         "Sentiment is measured by another tool than the paper's: VADER, because pysentimiento is not installed."),
        ({"features": [{"study": "s", "columns": "negation_cues", "missing": None, "language": "en",
                        "looks_like": "de", "component": "list of negation cues 2"}]},
         "The wordings that name English look German: their features are those of English texts."),
        ({"mixed_diagnostics": [fit("a", singular=True), fit("b"), fit("c")]},
         "Singular fit in 1 of 3 models (item variance 0): a."),
        ({"mixed_diagnostics": [fit("a", converged=False), fit("b"), fit("c")]}, "No convergence in 1 of 3 models: a."),
        ({"mixed_diagnostics": [fit("a", dropped="word_length: constant"), fit("b"), fit("c")]},
         "Dropped from 1 of 3 models: word_length: constant."),
        ({"mixed_diagnostics": [fit("a", n_rows=90, n_missing=10), fit("b"), fit("c")]},
         "10 of 300 responses have a missing value and are left out."),
        ({"mixed_diagnostics": [fit("a", validity=0.04), fit("b"), fit("c")]},
         "Not judged: a. Less than half of the probability is surely on the options (or of the texts can be read as "
         "one): 4 %."),
        ({"mixed_diagnostics": [fit("a", n_items=7), fit("b"), fit("c")]},
         "Only 7 items for a: how items differ is poorly known."),
        ({"mixed_diagnostics": [fit("a"), fit("b"), fit("c"), fit("d", n_rows=0, message="not fitted: no")]},
         "d: not fitted: no."),
        ({"scales": [{"verdict": "on logit only"}, {"verdict": "significant on both, opposite sign"}]},
         "Agreement and its logit disagree on 2 of 2 effects; see the table of scales."),
        ({"mixed": [effect(m, "statement_length", 0.02, 0.01, confirmed=m == "a") for m in "abc"]},
         "Cluster-robust errors do not confirm 2 of the 3 tests that are significant by the fits' own errors. They "
         "count as not significant here."),
        ({"mixed": [effect(m, "word_length", 0.02, p_slopes=p) for m, p in (("a", 1e-9), ("b", 0.03), ("c", 0.6))]},
         "Effects differ between items in 1 of 3 F tests (Holm): word length. One number per model is then an average "
         "over these items."),
        ({"mixed": [effect(m, term, 0.02, p_slopes=1e-9) for m, term in
                    (("a", "word_length"), ("b", "word_length"), ("a", "statement_length"))]},
         "Effects differ between items in 3 of 3 F tests (Holm): most often word length and statement length. One "
         "number per model is then an average over these items."),
    ],
)  # fmt: skip
def test_unpleasant_things_are_said(changes, said):
    assert said in told(tables(**changes)).cautions


def test_collinear_dependents_are_explained():
    vif = [{**UNIT, "model": "a", "term": term, "vif": size} for term, size in
           (("left_dependents", 250.0), ("right_dependents", 240.0), ("word_length", 9.9))]  # fmt: skip
    correlated = pairs({("left_dependents", "right_dependents"): (-0.97, 0.0001)})
    said = [line for line in told(tables(vif=vif, correlations=correlated)).cautions if "collinear" in line]
    assert said == [
        "Nearly collinear (variance inflation above 10): left dependents (250.0) and right dependents (240.0). Do not "
        "read these one by one. Left and right dependents correlate at −0.97: per word they are 1 − roots/words in "
        "sum, so only their difference can be estimated."
    ]


def test_only_confirmed_effects_are_compared_with_the_printed_ones():
    """In Table 3, most significant effects of positive sentiment and of statement length are positive."""
    same = told(tables()).details["mixed"][-1]
    assert same == (
        "Most confirmed effects have the same sign as most significant ones in Table 3 of Haller et al. for statement "
        "length."
    )
    turned = told(tables(mixed=[effect("a", "sentiment_positive", -0.01)])).details["mixed"][-1]
    assert "the opposite sign as most significant ones" in turned and turned.endswith("for sentiment +.")
    unsure = told(tables(mixed=[effect("a", "sentiment_positive", -0.01, 0.3)])).details["mixed"]
    assert not any("Table 3" in line for line in unsure)


def test_correlations_are_compared_with_what_the_paper_says():
    names = list(features.PUBLISHED)
    given = {(a, b): (0.3, 0.001) for i, a in enumerate(names) for b in names[i + 1 :]}
    given["word_frequency", "word_length"] = (-0.8, 0.0)
    given["word_frequency", "sentiment_positive"] = (0.01, 0.6)
    lines = told(tables(correlations=pairs(given))).details["correlations"]
    assert lines[0] == (
        "27 of 28 correlations between the paper's eight features are significant at 0.05 after Holm (n = 100)."
    )
    assert lines[1].startswith("The test takes all wordings for independent")
    assert lines[3].startswith("The strongest: word frequency with word length (−0.80)")
    assert lines[4] == "Not significant: word frequency with sentiment +."
    few = told(tables()).details["correlations"][0]
    assert few.startswith("1 of 1 correlation between 2 of the paper's eight features is significant")


def test_a_model_that_answers_in_one_of_two_studies_is_named_with_its_study():
    effects = [effect("a", "word_length", 0.02), effect("a", "word_length", 0.03, study="t")]
    fits = [fit("a"), fit("a", study="t", validity=0.2)]
    frames = tables(mixed=effects, mixed_diagnostics=fits)
    for drawn in (None, frames["mixed"].assign(silent=[False, True])):
        answer = told(frames, drawn_effects=drawn)
        assert answer.verdict.endswith(" with a · s.")
        assert "with a · s (confirmed effects)." in answer.details["mixed"][1]
        assert " with a · s: +0.200 SD per SD" in answer.details["effects"][1]
