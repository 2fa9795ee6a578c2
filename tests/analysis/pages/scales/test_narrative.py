"""The sentences of the page on rating scales follow its rules."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.pages.scales import narrative
from analysis.pages.scales.captions import caption_scales_moves
from analysis.pages.scales.narrative import answer_page_question, phrase_behaviour_of_response_style
from analysis.pages.scales.page import ScalesPage
from helpers.scale_runs import draw_answers, write_scale

MODELS = ("m0", "m1", "m2")
UNIT = {"study": "s", "condition": "plain"}


def frames(moves=(), styles=(), *, models=MODELS, validity=0.9, keys=(1, -1), n_items=40):
    """The tables of a study: changes (change, apart, models, lower, upper), styles (model, style, difference, p)."""
    shares = [validity] * len(models) if isinstance(validity, float) else validity
    spread = pd.DataFrame([
        {**UNIT, "model": model, "validity": share, "validity_at_most": np.nan, "sd": 0.1, "n_items": n_items}
        for model, share in zip(models, shares, strict=True)
    ])  # fmt: skip
    items = pd.DataFrame([
        {**UNIT, "model": model, "item": f"i{item}", "scale": "care", "key": keys[item % len(keys)]}
        for model in models for item in range(n_items)
    ])  # fmt: skip
    names = ["change", "apart", "models", "lower", "upper"]
    of_moves = pd.DataFrame([{**UNIT, **dict(zip(names, row, strict=True))} for row in moves])
    if len(of_moves):
        of_moves = of_moves.assign(
            difference=of_moves["apart"] - of_moves["models"], apart_lower=0.0, apart_upper=0.2, n_items=n_items
        )
    of_styles = pd.DataFrame([
        {**UNIT, "model": model, "style": style, "difference": difference, "p_holm": p, "validity": 0.9,
         "like_lower": 0.0, "like_upper": 0.1}
        for model, style, difference, p in styles
    ])  # fmt: skip
    scores = pd.DataFrame([
        {**UNIT, "model": model, "scale": "care", "validity": 0.9, "score": 0.4 + 0.1 * place}
        for place, model in enumerate(models)
    ])  # fmt: skip
    return {"scales_spread": spread, "scales_items": items, "scales_moves": of_moves, "scales_styles": of_styles,
            "scales_scores": scores, "scales_differences": pd.DataFrame(), "scales_people": pd.DataFrame(),
            "scales_respondents": pd.DataFrame()}  # fmt: skip


def test_a_distance_without_an_interval_has_none_in_its_sentence():
    of_models = pd.DataFrame([{"change": "model", "apart": 0.1, "apart_lower": np.nan, "apart_upper": np.nan}])
    assert list(narrative._describe_model_distance_and_persona_distance(of_models)) == [
        "Two answers that differ in the model alone are 0.100 of the scale apart, on average."
    ]


def test_of_one_model_nothing_is_said_of_answers_of_another_one():
    made = frames([("order", 0.02, np.nan, np.nan, np.nan)], models=("m0",))
    assert "scales_moves" not in answer_page_question(made).details
    assert "Square" not in caption_scales_moves(made["scales_moves"])
    several = frames([LESS, ("model", 0.05, np.nan, np.nan, np.nan)])
    assert "differ in the model alone" in answer_page_question(several).details["scales_moves"][0]
    assert caption_scales_moves(several["scales_moves"]).endswith("Square: two models, asked in the same way.")


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ({}, "m0 avoids the ends: −0.200 (+0.000 to +0.100), for wordings like these."),
        (
            {"like_lower": np.nan, "like_upper": np.nan},
            "m0 avoids the ends: −0.200, with too few items for an interval.",
        ),
    ],
)
def test_a_style_without_an_interval_has_none_in_its_sentence(ends, said):
    made = frames(styles=[("m0", "ends", -0.2, 0.01)])
    made["scales_styles"] = made["scales_styles"].assign(lower=np.nan, upper=np.nan, **ends)
    assert answer_page_question(made).details["scales_styles"][0] == said


MORE = ("wording", 0.12, 0.05, 0.05, 0.09)
LESS = ("order", 0.02, 0.05, -0.05, -0.01)
UNCLEAR = ("labels", 0.05, 0.05, -0.02, 0.02)


@pytest.mark.parametrize(
    ("moves", "verdict"),
    [
        ([MORE],
         "On average, another wording moves an answer more than another model does (0.12 against 0.05 of the scale)."),
        ([LESS],
         "On average, another order moves an answer less than another model does (0.02 against 0.05 of the scale)."),
        ([MORE, LESS],
         "On average, another wording moves an answer more than another model does (0.12 against 0.05), another order "
         "less."),
        ([MORE, LESS, UNCLEAR],
         "On average, another wording moves an answer more than another model does (0.12 against 0.05), another order "
         "less; of another kind of label, these runs cannot tell."),
        ([LESS, ("labels", 0.01, 0.05, -0.05, -0.03)],
         "On average, another order or kind of label moves an answer less than another model does (order: 0.02 against "
         "0.05)."),
        ([UNCLEAR],
         "These runs cannot tell whether another kind of label moves an answer more than another model does."),
        ([("wording", 0.12, float("nan"), float("nan"), float("nan"))],
         "On average, another wording moves an answer by 0.12 of the scale."),
        ([("model", 0.05, float("nan"), float("nan"), float("nan"))],
         "These runs cannot tell what moves answers: no two differ in the wording, order or labels alone."),
    ],
)  # fmt: skip
def test_what_moves_answers_is_what_whole_intervals_say(moves, verdict):
    assert answer_page_question(frames(moves)).verdict == verdict


def test_numbers_beside_models_are_about_the_same_answers():
    """Another order was asked of models that are further apart."""
    said = answer_page_question(frames([MORE, ("order", 0.14, 0.20, -0.08, -0.04)])).verdict
    assert said.startswith(
        "On average, another wording moves an answer more than another model does (0.12 against 0.05)"
    )


def test_intervals_are_widened_for_the_number_of_changes():
    """Alone, the interval of a change lies above 0; beside two that are not clear, it does not."""
    close = ("wording", 0.10, 0.05, 0.005, 0.095)
    assert answer_page_question(frames([close])).verdict.startswith("On average, another wording moves an answer more")
    others = [("order", 0.05, 0.05, -0.02, 0.02), ("labels", 0.05, 0.05, -0.02, 0.02)]
    assert answer_page_question(frames([close, *others])).verdict.startswith("These runs cannot tell whether")


def test_clear_styles_are_named_and_others_are_not():
    said = answer_page_question(frames([MORE], [
        ("m0", "acquiescence", 0.1, 0.001), ("m1", "ends", -0.1, 0.01), ("m1", "middle", 0.1, 0.01),
        ("m2", "order", 0.05, 0.04), ("m2", "labels numbers-words", 0.1, 0.2),
    ]))  # fmt: skip
    assert said.verdict.endswith(
        "Whatever is asked, m0 leans to agreeing, m1 avoids the ends and m2 is drawn to the last option."
    )
    assert any("opinions are stronger" in caution for caution in said.cautions)
    assert "m0 leans to agreeing: +0.100 (+0.000 to +0.100), for wordings like these." in said.details["scales_styles"]
    none = answer_page_question(frames([MORE], [("m0", "acquiescence", 0.1, 0.06), ("m1", "order", 0.1, 0.5)]))
    assert none.verdict.endswith("No response style is clear.")
    unknown = answer_page_question(frames([MORE], [("m0", "acquiescence", 0.1, float("nan"))]))
    assert "style" not in unknown.verdict


@pytest.mark.parametrize(("n_styles", "n_more"), [(3, 0), (4, 2), (20, 18)])
def test_styles_are_at_most_three_sentences_without_the_rules(n_styles, n_more):
    styles = [(f"m{number}", "order", 0.1, 0.001) for number in range(n_styles)]
    sentences = answer_page_question(frames([], styles)).details["scales_styles"]
    assert len(sentences) == 3 and all(len(sentence.split()) <= 30 for sentence in sentences)
    assert not set(sentences) & set(narrative.WORD_MEANINGS)
    assert (sentences[-1] == f"The table has {n_more} more styles that are clear.") == (n_more > 0)


def test_models_with_one_style_are_counted():
    said = answer_page_question(frames([], [("m0", "order", -0.1, 0.001), ("m1", "order", -0.1, 0.001)]))
    assert said.verdict.endswith("Whatever is asked, 2 models are drawn to the first option.")
    said = answer_page_question(frames([], [("m0", "acquiescence", 0.1, 0.001), ("m1", "acquiescence", 0.1, 0.001)]))
    assert said.verdict.endswith("Whatever is asked, 2 models lean to agreeing.")


def test_a_model_in_two_settings_is_one_model():
    """Where the style is clear in one of them only, that is said."""
    tables = frames([], [("m0", "order", -0.1, 0.001), ("m0", "order", -0.1, 0.001)])
    tables["scales_styles"]["condition"] = ["chat", "chat/personas"]
    assert answer_page_question(tables).verdict.endswith("Whatever is asked, m0 is drawn to the first option.")
    tables["scales_styles"]["p_holm"] = [0.001, 0.5]
    said = answer_page_question(tables).verdict
    assert said.endswith("Whatever is asked, m0 is drawn to the first option in some settings.")


@pytest.mark.slow
def test_a_style_that_another_one_says_already_is_clear_there():
    """Where m0 avoids the ends, that it picks the middle is not said; it does so in both settings."""
    tables = frames([], [("m0", "ends", -0.1, 0.001), ("m0", "middle", 0.1, 0.001), ("m0", "middle", 0.1, 0.001)])
    tables["scales_styles"]["condition"] = ["chat", "chat", "plain"]
    assert answer_page_question(tables).verdict.endswith("m0 avoids the ends and m0 picks the middle.")
    for other in ({"difference": [-0.1, -0.1, 0.1]}, {"validity": [0.9, 0.2, 0.9]}, {"p_holm": [0.001, 0.5, 0.001]}):
        unlike = tables | {"scales_styles": tables["scales_styles"].assign(**other)}
        assert "m0 picks the middle in some settings" in answer_page_question(unlike).verdict


@pytest.mark.parametrize(
    ("style", "up", "down"),
    [("acquiescence", "leans to agreeing", "leans to disagreeing"), ("ends", "picks the ends", "avoids the ends"),
     ("middle", "picks the middle", "avoids the middle"),
     ("no middle", "answers higher without the middle", "answers lower without the middle")],
)  # fmt: skip
def test_every_style_has_its_words(style, up, down):
    assert (phrase_behaviour_of_response_style(style, 0.1), phrase_behaviour_of_response_style(style, -0.1)) == (
        up,
        down,
    )


def test_nothing_is_said_of_models_that_do_not_answer():
    assert answer_page_question(frames([MORE], validity=0.4)).verdict == "These models do not answer."
    said = answer_page_question(frames([MORE], validity=(0.9, 0.9, 0.3)))
    assert any(
        caution.startswith("Not judged: m2. Less than half of the probability is on") for caution in said.cautions
    )


def test_the_score_of_the_one_model_that_answers_bears_its_name():
    tables = frames([])
    assert answer_page_question(frames([], models=["m0"])).details["scales_scores"] == ("On care, the score is 0.40.",)
    tables["scales_scores"]["validity"] = [0.2, 0.9, 0.2]
    assert answer_page_question(tables).details["scales_scores"] == ("On care, the score of m1 is 0.50.",)
    tables["scales_scores"] = tables["scales_scores"].assign(validity=0.9, score=[0.506, 0.511, 0.514])
    assert answer_page_question(tables).details["scales_scores"] == ("On care, all scores are 0.51.",)


def test_what_weakens_the_answer_is_told():
    said = answer_page_question(frames([UNCLEAR], [("m0", "acquiescence", 0.1, 0.5)], keys=(1,), n_items=8))
    text = " ".join(said.cautions)
    assert "Only 8 items of a scale" in text and "No scale has items of both keys" in text
    assert "shown in one order only" in text and "One wording of each item only" in text
    assert said.setup == "3 models were asked 8 items of 1 scale."
    assert said.details["scales_scores"] == ("On care, scores go from 0.40 (m0) to 0.60 (m2).",)


def test_differences_are_counted_over_all_scales_that_the_sentence_names():
    """With p = .015, each scale would have three that hold after Holm; among six, none does."""
    tables = frames([MORE])
    tables["scales_differences"] = pd.DataFrame([
        {"study": "s", "scale": f"scale {place}", "a_model": a, "b_model": b, "p_items": 0.015, "p": 0.015,
         "p_holm": 0.09}
        for place in range(2) for a, b in (("m0", "m1"), ("m0", "m2"), ("m1", "m2"))
    ])  # fmt: skip
    assert answer_page_question(tables).details["scales_differences"] == (
        "Of 6 differences in scores on 2 scales between models, none holds for these wordings.",
    )


@pytest.mark.slow
def test_the_foot_names_the_conditions_of_the_settings_in_tables(tmp_path):
    rows = draw_answers(["a"], items=4, wordings=2, personas=("ann", "bob"))
    page = ScalesPage([str(write_scale(tmp_path / "run", rows))])
    title = "Settings, here and in files; --where takes their conditions"
    assert title not in dict(page.list_footer_entries())
    page.frame("scales_scores")
    names = [f"plain/numbers-{order}/persona-{name}" for order, name in (("up", "ann"), ("up", "bob"), ("down", "ann"))]
    assert dict(page.list_footer_entries())[title] == [f"plain/personas: {', '.join(names)} and 1 other"]
    page.frame("scales_conditions")
    assert dict(page.list_footer_entries())[title][1:] == [
        f"plain/numbers-{order}/personas: plain/numbers-{order}/persona-ann and plain/numbers-{order}/persona-bob"
        for order in ("up", "down")
    ]


def join_two_studies(first, second):
    """The tables of two studies, s and t."""
    return {name: pd.concat([first[name], second[name].assign(study="t")], ignore_index=True) for name in first}


def test_scales_of_one_name_in_two_studies_are_two():
    """With 16 items of each, and in each one key: put together, they would have enough items and both keys."""
    tables = join_two_studies(frames(keys=(1,), n_items=16), frames(keys=(-1,), n_items=16))
    tables["scales_items"].loc[tables["scales_items"]["study"] == "t", "item"] += "b"
    said = answer_page_question(tables)
    assert said.setup == "3 models were asked 32 items of 2 scales in 2 studies."
    assert "Only 16 items of a scale: its intervals are wide, and lean on normal items." in said.cautions
    assert any(line.startswith("No scale has items of both keys") for line in said.cautions)
    tables["scales_items"].loc[0, "key"] = -1
    assert any(line.endswith("agreeing whatever is asked: care · t.") for line in answer_page_question(tables).cautions)
    differences = pd.DataFrame([{"study": "s", "scale": "care", "a_model": "m0", "b_model": "m1", "p_items": 0.01,
                                 "p": 0.01, "p_holm": 0.01}])  # fmt: skip
    tables["scales_differences"] = pd.concat([differences, differences.assign(study="t")])
    assert "in scores on 2 scales" in answer_page_question(tables).details["scales_differences"][0]


def test_a_model_of_two_studies_is_one_model():
    clear, unclear = (frames([], [("m0", "order", -0.1, p)]) for p in (0.001, 0.5))
    said = answer_page_question(join_two_studies(clear, clear)).verdict
    assert said.endswith("Whatever is asked, m0 is drawn to the first option.")
    said = answer_page_question(join_two_studies(clear, unclear)).verdict
    assert said.endswith("Whatever is asked, m0 is drawn to the first option in some studies.")


def test_a_study_of_one_wording_or_order_is_named():
    several = frames([MORE], [("m0", "order", 0.1, 0.5)])
    single = frames([LESS], [("m0", "acquiescence", 0.1, 0.5)])
    said = answer_page_question(join_two_studies(several, single)).cautions
    assert "Options were shown in one order only in t: what their order does is not known." in said
    assert (
        "One wording of each item only in t (beside a paraphrase, the original does not count): nothing is said of "
        "other wordings." in said
    )
    said = answer_page_question(join_two_studies(single, single)).cautions
    assert "Options were shown in one order only: what their order does is not known." in said


def test_of_two_studies_the_verdict_names_the_one_that_it_is_about():
    said = answer_page_question(join_two_studies(frames([LESS]), frames([MORE])))
    assert said.verdict.startswith("In s, on average, another order moves an answer less than another model does")
    assert "What moves answers is said of s alone; the table has all." in said.cautions
    said = answer_page_question(join_two_studies(frames(), frames([MORE])))
    assert said.verdict.startswith("In t, on average, another wording moves an answer more than another model does")


def test_the_one_model_that_answers_is_named_beside_others():
    of_two = answer_page_question(frames(models=("m0", "m1"), validity=[0.9, 0.2])).details["scales_spread"]
    assert of_two == ("The answer of m0 to an item has an SD of 0.100 of the scale over its wordings, on average.",)
    (of_one,) = answer_page_question(frames(models=("m0",))).details["scales_spread"]
    assert of_one.startswith("The answer to an item has")
