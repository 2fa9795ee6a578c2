"""The page on readings: what is read from a run, what its sentences say, and what a sheet may hold."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import runs
from analysis.measures.readings import list_readings_by_setting, read_reading_groups
from analysis.pages.readings import cautions, kept, narrative, sheet, tables
from analysis.pages.readings.catalogue import CATALOGUE
from analysis.pages.readings.page import ReadingsPage
from analysis.reporting.words.verdicts import mark_readings_with_artefact
from ground.errors import InputError
from helpers import reading_errors, reading_runs
from helpers.choice_runs import answers, questions, write_choice
from helpers.page_runs import SILENT
from helpers.scoring_runs import make_run
from helpers.sentences import too_long
from helpers.synthetic import edit_run_json, paraphrases, write_run


@pytest.fixture(scope="module")
def frame():
    return reading_runs.reading_rows(items=8, wordings=5, samples=6, misread=0.15)


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    return reading_runs.write_readings(tmp_path_factory.mktemp("readings") / "run", frame)


@pytest.fixture(scope="module")
def opened(folder):
    return runs.open_runs(folder)


@pytest.fixture(scope="module")
def page(folder):
    made = ReadingsPage([str(folder)], resamples=20)
    made.answer()
    return made


def names(conditions):
    return {setting: [kind.name for kind in kinds] for setting, kinds in list_readings_by_setting(conditions).items()}


def test_conditions_that_ask_the_same_prompts_are_one_setting_with_named_readings():
    conditions = reading_runs.condition_fields()
    other = {"form": "chat", "option_order": "yes-no", "prompt": None, "prompt_hash": "h"}
    low = {**conditions[reading_runs.THOUGHT], "effort": "low"}
    found = names({**conditions, "chat/yes-no": other, f"{reading_runs.THOUGHT}-low": low})
    assert found["plain/yes-no"] == [
        "probability", "strict rule", "lenient rule", "judge org/judge", "thought", "thought (low)"
    ]  # fmt: skip
    assert found["chat/yes-no"] == ["probability"]


def test_thinking_off_is_said_and_is_no_thought():
    prompt = {"form": "chat", "option_order": "yes-no"}
    texts = {**prompt, "answer": "text", "temperature": 0.0, "text_rule": 3}
    thoughts = {**prompt, "answer": "thought", "thoughts": 8}
    kinds = list_readings_by_setting({
        "chat/yes-no": prompt,
        "chat/yes-no/text-none": {**texts, "effort": "none"},
        "chat/yes-no/text-low": {**texts, "effort": "low"},
        "chat/yes-no/thought-none": {**thoughts, "effort": "none"},
        "chat/yes-no/thought-low": {**thoughts, "effort": "low"},
    })["chat/yes-no"]  # fmt: skip
    assert [kind.name for kind in kinds] == [
        "probability", "probability (thinking off)", "strict rule (thinking off)", "strict rule (low)",
        "lenient rule (thinking off)", "lenient rule (low)", "thought (low)",
    ]  # fmt: skip
    assert [kind.column for kind in kinds][:2] == ["probability", "probability"]


def test_letters_words_and_the_strict_main_rule_of_choices():
    base = {"form": "plain", "prompt": "base"}
    conditions = {
        "plain/base/letters": {**base, "way": "letters"}, "plain/base/texts": {**base, "way": "texts"},
        "plain/base/text": {**base, "way": "text", "answer": "text", "temperature": 0.0, "reply_rule": 2},
    }  # fmt: skip
    kinds = list_readings_by_setting(conditions)["plain/base"]
    assert [kind.name for kind in kinds] == ["letters", "words", "strict rule", "lenient rule"]
    assert [kind.column for kind in kinds[2:]] == ["sample_answer", "sample_answer_otherwise"]


def test_texts_at_two_temperatures_are_told_apart_and_each_is_a_source():
    base, text = {"form": "plain"}, {"answer": "text"}
    kinds = list_readings_by_setting(
        {"p/a": {**base, **text, "temperature": 0.2}, "p/b": {**base, **text, "temperature": 1.0}}
    )["p"]
    assert [kind.name for kind in kinds] == [
        "strict rule (t0.2)", "strict rule (t1)", "lenient rule (t0.2)", "lenient rule (t1)"
    ]  # fmt: skip
    assert [kind.source for kind in kinds] == ["p/a", "p/b"] * 2


@pytest.mark.slow
def test_values_are_those_of_the_rows(opened, frame):
    (group,) = read_reading_groups(opened)
    assert group.values.shape == (5, 8, 5)
    first = frame[(frame["item"] == "item-00") & (frame["variant"] == "p1")].set_index("condition")
    probability = first.loc[reading_runs.PLAIN, "probability"]
    assert group.values[0, 0, 0] == pytest.approx(probability[0] / sum(probability))
    strict = [text for text in first.loc[reading_runs.TEXT, "sample_answer_otherwise"] if text]
    assert group.values[1, 0, 0] == pytest.approx(strict.count("agree") / len(strict))
    lenient = first.loc[reading_runs.TEXT, "sample_answer"].count("agree") / 6
    assert group.values[2, 0, 0] == pytest.approx(lenient)
    assert group.noise[2, 2, 0, 0] == pytest.approx(lenient * (1 - lenient) / 5)
    thought = np.array([part for part in first.loc[reading_runs.THOUGHT, "sample_probability"] if part])
    shares = thought[:, 0] / thought.sum(axis=1)
    assert group.values[4, 0, 0] == pytest.approx(shares.mean())
    assert group.noise[4, 4, 0, 0] == pytest.approx(shares.var(ddof=1) / len(shares))
    assert (group.noise[0] == 0).all() and (group.noise[4, :4] == 0).all() and (group.noise[1, 2] != 0).any()
    assert group.thoughts[4] == 240 and group.unclosed[4] > 0


@pytest.mark.slow
def test_a_single_text_at_a_temperature_has_unknown_noise_and_a_greedy_one_none(tmp_path):
    one = reading_runs.reading_rows(items=4, wordings=4, samples=1, ways=reading_runs.WAYS[:2])
    for temperature, unknown in ((1.0, [1, 2]), (0.0, [])):
        path = tmp_path / str(temperature)
        for column in ("probability", "sample_answer", "sample_answer_otherwise", "output", "count"):
            one[column] = [value if isinstance(value, list) else None for value in one[column]]
        fields = reading_runs.condition_fields(temperature, 1)
        (group,) = read_reading_groups(runs.open_runs(write_run(path, one, conditions=fields)))
        assert [place for place in range(3) if np.isnan(group.noise[place, place]).all()] == unknown


@pytest.mark.slow
def test_choices_and_scores_are_read_too(tmp_path):
    rows = answers(questions(6, 3), ["m"], conditions=["plain/base/letters", "plain/base/texts"])
    folder = write_choice(tmp_path / "choice", rows)
    fields = {name: {"form": "plain", "way": name.rpartition("/")[2]} for name in rows["condition"].unique()}
    edit_run_json(folder, conditions=fields)
    (group,) = read_reading_groups(runs.open_runs(folder))
    assert [kind.name for kind in group.kinds] == ["letters", "words"] and group.measure == "accuracy"
    assert ((group.values >= 0) & (group.values <= 1))[~np.isnan(group.values)].all()
    folder = make_run(tmp_path / "scores", {"En-De": 6})
    fields = json.loads((folder / "run.json").read_text(encoding="utf-8"))["conditions"]
    edit_run_json(folder, conditions={
        name: {**part, "option_order": None, "prompt": None} for name, part in fields.items()
    })  # fmt: skip
    scored = read_reading_groups(runs.open_runs(folder))
    assert scored and {group.measure for group in scored} == {"score"}
    names_by_group = [{kind.name.partition(" (")[0] for kind in group.kinds} for group in scored]
    assert all(kinds == {"probability", "lenient rule"} for kinds in names_by_group)


@pytest.mark.slow
def test_the_page_is_left_out_where_nothing_is_read_twice(tmp_path, opened):
    plain = write_run(tmp_path / "plain", paraphrases({"x": [0.2, 0.4]}))
    assert CATALOGUE.explain_no_data(runs.open_runs(plain), {}) == "no prompt's answer was read in two ways"
    assert CATALOGUE.explain_no_data(opened, {}) == ""
    page = ReadingsPage([str(plain)])  # made by hand all the same
    assert "No prompt&#39;s answer was read in two ways." in page.answer().text
    shown = [page.table(name) for name in CATALOGUE.tables] + [page.figure(name) for name in CATALOGUE.figures]
    assert all(part.text for part in [*shown, page.examples(), page.method(), page.provenance()])


@pytest.mark.parametrize(
    ("kept", "low", "high", "said"),
    [(0.85, 0.7, 0.96, "Mostly the model: 85 % of"), (0.2, 0.1, 0.3, "Less than half: 20 % of"),
     (0.6, 0.3, 0.9, "These runs cannot tell: 60 % of"), (0.6, np.nan, np.nan, "These runs cannot tell: 60 % of")],
)  # fmt: skip
def test_a_word_is_said_where_the_whole_interval_lies_in_its_range(kept, low, high, said):
    row = {"reading": "probability", "wording_sd": 0.1, "kept": kept, "kept_lower": low, "kept_upper": high,
           "n_sources": 2, "common": 0.9, "common_lower": 0.6, "same": False}  # fmt: skip
    assert narrative.describe_variance_kept_by_all_readings(pd.DataFrame([row])).startswith(said)
    if "Mostly" in said:
        unsure = pd.DataFrame([{**row, "common_lower": 0.3}])
        assert narrative.describe_variance_kept_by_all_readings(unsure).startswith(
            "These runs cannot tell: the other readings move"
        )


def test_no_more_is_said_to_stay_than_is_surely_the_same():
    """The other reading shows the same thing on a larger scale: it moves further, but only .81 is common."""
    row = {"reading": "probability", "wording_sd": 0.1, "kept": 1.0, "kept_lower": np.nan, "kept_upper": np.nan,
           "no_interval": "kept: the same in every resample", "n_sources": 2, "same": False,
           "common": 0.81, "common_lower": 0.7, "common_upper": 0.88}  # fmt: skip
    assert narrative.describe_variance_kept_by_all_readings(pd.DataFrame([row])) == (
        "Mostly the model: at least 70 % of the variance over wordings by probability stays under every reading "
        "(lower end of the interval)."
    )
    whole = {**row, "common": 1.0, "common_lower": 1.0, "common_upper": 1.0}
    rounded = {**whole, "common": 1 - 1e-12, "common_lower": 1 - 1e-12}  # a correlation of 1, as computed
    for row in (whole, rounded):
        assert narrative.describe_variance_kept_by_all_readings(pd.DataFrame([row])) == (
            "Mostly the model: 100 % of the variance over wordings by probability stays under every reading (in every "
            "resample)."
        )


def test_two_rules_for_the_same_texts_are_not_the_model_and_the_same_answers_are_told():
    row = {"reading": "strict rule", "wording_sd": 0.1, "kept": 0.95, "kept_lower": 0.9, "kept_upper": 0.99,
           "n_sources": 1, "same": False}  # fmt: skip
    assert narrative.describe_variance_kept_by_all_readings(pd.DataFrame([row])).startswith(
        "In the same texts, 95 % of the variance"
    )
    same = {**row, "kept": 1.0, "kept_lower": np.nan, "no_interval": "kept: the same in every resample"}
    one_item = pd.DataFrame([{**same, "no_interval": "wording_sd, kept: one item only"}])
    assert "(no interval)" in narrative.describe_variance_kept_by_all_readings(one_item)
    wanted = (
        "In the same texts, 100 % of the variance over wordings by strict rule stays under every reading (in every "
        "resample)."
    )
    assert narrative.describe_variance_kept_by_all_readings(pd.DataFrame([same])) == wanted


def test_of_several_settings_the_sentence_names_the_one_that_it_is_about():
    row = {"reading": "probability", "wording_sd": 0.1, "kept": 0.95, "kept_lower": 0.9, "kept_upper": 0.99,
           "n_sources": 2, "same": False, "common": 0.97, "common_lower": 0.8, "n_models": 4,
           "study": "s", "setting": "plain/yes-no"}  # fmt: skip
    one, two = (narrative.describe_variance_kept_by_all_readings(pd.DataFrame([row] * number)) for number in (1, 2))
    assert one.endswith("stays under every reading (interval 90 to 99 %).")
    assert two.endswith("stays under every reading (interval 90 to 99 %; 4 models, plain/yes-no).")


def test_the_verdict_names_what_it_is_about_where_others_were_asked_and_are_not_compared():
    kept = pd.DataFrame([{"reading": "probability", "wording_sd": 0.1, "kept": 0.95, "kept_lower": 0.9,
                          "kept_upper": 0.99, "n_sources": 2, "same": False, "common": 0.97, "common_lower": 0.8,
                          "n_models": 1, "study": "s", "setting": "plain"}])  # fmt: skip
    alone = pd.DataFrame({"study": "s", "model": "m", "setting": "plain", "reading": ["probability", "strict rule"]})
    for others, about in (
        ({}, ""), ({"model": "n"}, "; 1 model, plain"), ({"study": "t"}, "; 1 model, plain of study “s”"),
    ):  # fmt: skip
        verdict = narrative.describe_variance_kept_by_all_readings(kept, pd.concat([alone, alone.assign(**others)]))
        assert verdict.endswith(f"stays under every reading (interval 90 to 99 %{about}).")


def test_a_setting_in_which_less_stays_than_in_that_of_the_verdict_is_named():
    """The demo's “at least 77 %” was that of one setting, beside a table with 59 % in another."""
    rows = pd.DataFrame({"reading": ["probability"] * 3 + ["text"], "study": "s",
                         "setting": ["plain", "chat", "cloze", "chat"], "kept": 0.9,
                         "common_lower": [0.77, 0.59, 0.75, 0.1]})  # fmt: skip
    assert narrative.describe_settings_where_less_stays(rows) == [
        "The answer is about plain. By probability, less surely stays in 1 other setting: 59 % in chat."
    ]
    studies = narrative.describe_settings_where_less_stays(rows.assign(study=["s", "t", "t", "t"], setting="plain"))
    assert studies == [
        "The answer is about plain of study “s”. By probability, less surely stays in 1 other setting: 59 % in plain "
        "of study “t”."
    ]
    less = rows.assign(kept=0.6)  # the verdict says 60 %, which is no more than the 59 %
    for same in (rows[:1], rows[2:], rows.assign(common_lower=np.nan), rows.assign(common_lower=None), less):
        assert narrative.describe_settings_where_less_stays(same) == []


def test_without_variance_over_wordings_nothing_is_said_of_what_stays():
    row = {"reading": "probability", "wording_sd": 0.0, "kept": np.nan, "kept_lower": np.nan, "kept_upper": np.nan,
           "same": False}  # fmt: skip
    assert "no variance over wordings is left" in narrative.describe_variance_kept_by_all_readings(pd.DataFrame([row]))
    unknown = pd.DataFrame([{**row, "wording_sd": np.nan}])
    assert (
        "what sampling adds to the texts or thoughts is not known"
        in narrative.describe_variance_kept_by_all_readings(unknown)
    )
    same = pd.DataFrame([{**row, "same": True}])
    assert narrative.describe_variance_kept_by_all_readings(same).startswith(
        "Where all readings have an answer, they are the same"
    )


def test_with_one_wording_of_each_item_the_page_does_not_say_that_answers_are_missing(tmp_path):
    rows = reading_runs.reading_rows(items=8, wordings=1, samples=6)
    page = ReadingsPage([str(reading_runs.write_readings(tmp_path / "run", rows))], resamples=20)
    answer = narrative.answer_page_question({name: page.frame(name) for name in narrative.TABLES}, "")
    assert answer.verdict.endswith("no model has two readings with valid answers to two wordings of an item.")
    assert not any("is due to the reading" in caution for caution in answer.cautions)  # more items would not help


def test_an_artefact_needs_a_test_an_estimate_and_validity():
    own, p, validity = pd.Series([0.4, 0.4, np.nan, 0.4]), pd.Series([0.01, 0.2, 0.01, 0.01]), [0.9, 0.9, 0.9, 0.4]
    assert mark_readings_with_artefact(own, p, pd.Series(validity)).tolist() == [True, False, False, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mass_upper", "verdict", "n_reasons"),
    [(None, "These models do not answer.", 1), (0.7, "Whether these models answer cannot be told.", 2)],
)
def test_where_nothing_answers_the_reason_stands_once_and_heeds_both_bounds(tmp_path, mass_upper, verdict, n_reasons):
    folder, _ = SILENT["readings"](tmp_path / "run")
    for part in (folder / "responses").glob("*.parquet"):
        rows = pq.read_table(part)
        bounds = [None if mass is None else mass_upper for mass in rows["mass"].to_pylist()]
        place = rows.schema.get_field_index("mass_upper")
        pq.write_table(rows.set_column(place, "mass_upper", pa.array(bounds, pa.float64())), part)
    page = ReadingsPage([str(folder)], resamples=20)
    answer = narrative.answer_page_question({name: page.frame(name) for name in narrative.TABLES}, "")
    assert answer.verdict == verdict
    reasons = [line for line in answer.cautions if "Less than half" in line or "cannot be told" in line]
    assert len(reasons) == n_reasons and len(set(reasons)) == n_reasons
    assert "probability (a)" in reasons[0] + reasons[-1]


def test_where_no_test_could_show_an_artefact_the_page_says_so():
    group = reading_errors.build_group(reading_errors.simulate_study(np.random.default_rng(0), error=0.15, uneven=True))
    described = tables.build_table_of_readings_in_groups([group], pd.DataFrame(), 50, 0)
    said = narrative.describe_readings_with_artefacts(described)
    assert said == "What is an artefact, so few items or bootstrap samples cannot show."


def test_two_readings_never_make_an_artefact():
    study = reading_errors.simulate_study(
        np.random.default_rng(0), error=0.4, uneven=True, readings=("probability", "lenient")
    )
    described = tables.build_table_of_readings_in_groups([reading_errors.build_group(study)], pd.DataFrame(), 200, 0)
    assert described["own"].isna().all() and described["own_most"].notna().all()
    assert narrative.describe_readings_with_artefacts(described) == "What is an artefact, these readings cannot tell."


@pytest.mark.slow
@pytest.mark.parametrize("setting", [{"items": 12, "texts": 4, "wordings": 5}, {"temperature": 0.7}])
def test_an_artefact_is_seldom_named_where_there_is_none(setting):
    rng = np.random.default_rng(4)
    claims = 0
    for number in range(20):
        studies = [reading_errors.simulate_study(rng, **setting) for _ in range(2)]
        groups = [reading_errors.build_group(study, model) for study, model in zip(studies, "ab", strict=True)]
        frame = tables.build_table_of_readings_in_groups(groups, pd.DataFrame(), 1000, number)
        claims += "artefact of" in narrative.describe_readings_with_artefacts(frame)
    # Of 20: 5 % and the error of the simulation; bench_readings.py has more. By intervals alone, without a p value
    # after Holm, few texts would give 5 claims.
    assert claims <= 3


@pytest.mark.slow
def test_a_rule_that_misreads_unequally_is_named():
    rng = np.random.default_rng(5)
    study = reading_errors.simulate_study(rng, error=0.15, uneven=True, items=60, texts=20)
    described = tables.build_table_of_readings_in_groups([reading_errors.build_group(study)], pd.DataFrame(), 500, 0)
    wanted = "Part of the variance over wordings by lenient is an artefact of reading."
    assert narrative.describe_readings_with_artefacts(described) == wanted


def write_lines(path, frame, change):
    reading_runs.write_sheet(path, frame)
    lines = pd.read_csv(path, dtype=str, keep_default_na=False)
    change(lines)
    lines.to_csv(path, index=False)
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "value", "said"),
    [("option", "maybe", "line 2: option 'maybe' is none of agree, disagree"), ("sample", "0", "line 2: sample '0' is"),
     ("item", "nothing", "line 2: item 'nothing' has no texts"), ("variant", "p77", "line 2: variant 'p77' has no"),
     ("sample", "9" * 5_000, "line 2: sample '999"),
     ("text", "other", "line 2: text 'other' is not text 1"), ("model", "nobody", "line 2: study 'synthetic', model"),
     ("sample", "2", "the same text as in line")],
)  # fmt: skip
def test_a_wrong_row_of_a_sheet_is_one_line_that_names_it(column, value, said, frame, opened, tmp_path):
    path = write_lines(tmp_path / "sheet.csv", frame, lambda lines: lines.__setitem__(
        column, [value, *lines[column][1:]]))  # fmt: skip
    with pytest.raises(InputError, match=said):
        tables.tabulate_readings(opened, sheet=path, resamples=0)


@pytest.mark.parametrize(
    ("output", "shown"),
    [("<think>hm</think>\n\n=1\r\nyes ", "'=1\nyes"), ("-", "'-"), ("'=", "''="), ("Yes.", "Yes.")],
)
def test_texts_of_a_sheet_are_those_that_the_judge_writes(output, shown, tmp_path):
    (tmp_path / "s.csv").write_text(f'{",".join(sheet.COLUMNS)}\ns,m,c,i,v,1,"{shown}",yes\n', encoding="utf-8")
    (row,) = sheet.read_sheet_of_human_readings(str(tmp_path / "s.csv"))
    assert sheet._does_text_end_with_shown_part(output, row.cells["text"]) and not sheet._does_text_end_with_shown_part(
        output, "No."
    )


@pytest.mark.slow
def test_a_text_after_an_original_is_passed_over(opened):
    group = read_reading_groups(opened)[0]
    cells = {"item": "item-00", "variant": "original", "sample": "1", "text": "", "option": "agree"}
    place = next(iter(group.samples))
    outputs = {("item-00", "original"): ["Yes."]}
    _, has_people = sheet.arrange_human_readings_and_read_mask(
        [sheet.SheetRow("s.csv: line 2", cells)], group, place, outputs
    )
    assert not has_people.any()


def test_a_sheet_needs_its_columns_and_rows(tmp_path):
    (tmp_path / "a.csv").write_text("study,model\ns,m\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("study,model\n", encoding="utf-8")
    with pytest.raises(InputError, match="column 'condition' is missing"):
        sheet.read_sheet_of_human_readings(str(tmp_path / "a.csv"))
    with pytest.raises(InputError, match="no row in it"):
        sheet.read_sheet_of_human_readings(str(tmp_path / "b.csv"))


@pytest.mark.slow
def test_a_sheet_says_what_people_read_and_corrects(frame, folder, tmp_path):
    path = str(reading_runs.write_sheet(tmp_path / "sheet.csv", frame, texts=4))
    page = ReadingsPage([str(folder)], sheet=path, resamples=50)
    corrections = page.frame("reading_sheet").set_index("reading")
    assert corrections.loc["judge org/judge", "texts_alike"] == pytest.approx(1)
    assert corrections.loc["strict rule", "unread"] == pytest.approx(0.2, abs=0.1)
    assert corrections.loc["lenient rule", "n_texts"] == 8 * 5 * 4
    assert "texts as people do" in page.answer().text + page.table("reading_sheet").text


@pytest.mark.slow
def test_texts_are_escaped_and_a_judge_is_cautioned(page):
    examples, cautions = page.examples().text, page.cautions().text
    assert "&lt;b&gt;" in examples and "<b>agree" not in examples
    assert "A judge is a model of its own (org/judge)" in cautions


def test_an_unknown_reading_is_one_line(opened):
    with pytest.raises(InputError, match="reading 'strickt': no model has it beside another one; the readings are"):
        kept.tabulate_variance_kept_in_each_setting(opened, reading="strickt", resamples=0)


def test_kept_by_a_named_reading_is_about_it(opened):
    frame = kept.tabulate_variance_kept_in_each_setting(opened, reading="lenient rule", resamples=0)
    assert frame["reading"].tolist() == ["lenient rule"] and frame["n_readings"].tolist() == [5]


def test_texts_at_a_low_temperature_are_not_judged_by_other_readings():
    """Nothing is misread, but the shares of texts are bent towards 0 and 1."""
    study = reading_errors.simulate_study(np.random.default_rng(6), temperature=0.2)
    described = tables.build_table_of_readings_in_groups(
        [reading_errors.build_group(study)], pd.DataFrame(), 200, 0
    ).set_index("reading")
    assert described.loc[["lenient", "judge j"], "own"].isna().all()
    assert described.loc[["lenient", "judge j"], "own_most"].between(0, 1).all()
    assert described.loc[["probability", "thought"], "own"].notna().all()


@pytest.mark.parametrize(
    ("strict", "lenient", "ending"),
    [
        ((True, True), (True, True), "reading."),
        ((True, False), (False, True), "reading with some models."),
        ((True, True), (True, False), "reading with some models."),
        ((True, False), (True, False), "reading with m1."),
    ],
)
def test_an_artefact_is_of_all_models_only_where_each_named_reading_is_one_with_each(strict, lenient, ending):
    readings = pd.DataFrame({"reading": ["strict rule"] * 2 + ["lenient rule"] * 2, "model": ["m1", "m2"] * 2,
                             "compared": True, "own": 0.1, "artefact": [*strict, *lenient]})  # fmt: skip
    said = narrative.describe_readings_with_artefacts(readings)
    assert "the strict rule and the lenient rule" in said and said.endswith(f"is an artefact of {ending}"), said


def test_an_artefact_with_all_models_in_some_settings_is_told_so():
    readings = pd.DataFrame({"reading": "strict rule", "model": "m", "setting": ["plain", "chat"], "compared": True,
                             "own": 0.1, "artefact": [True, False]})  # fmt: skip
    assert narrative.describe_readings_with_artefacts(readings).endswith("artefact of reading in some settings.")
    two_models = pd.concat([readings, readings.assign(model="n")])
    assert narrative.describe_readings_with_artefacts(two_models).endswith("artefact of reading in some settings.")


@pytest.mark.slow
@pytest.mark.parametrize("details", ["", " (t0.5)"])
def test_a_judge_that_judges_itself_is_told_at_any_temperature(page, details):
    readings = page.frame("readings")
    renamed = readings["reading"].replace("judge org/judge", f"judge org/judge{details}")
    said = cautions.list_cautions(readings.assign(reading=renamed, model="org/judge"))
    assert any("A judge is a model of its own (org/judge):" in line for line in said)
    assert any(line.startswith("Judge and judged are the same model: org/judge.") for line in said)


@pytest.mark.parametrize(
    ("swaps", "clear", "said"),
    [(1, 0, "Of 9 pairs of models and readings, 1 swaps its order, none clearly."),
     (3, 2, "Of 9 pairs of models and readings, 3 swap their order, 2 clearly.")],
)  # fmt: skip
def test_swaps_that_are_not_clear_are_not_said_to_be_chance(swaps, clear, said):
    ranking = pd.DataFrame([{"study": "s", "setting": "plain", "n_pairs": 9, "n_swaps": swaps, "n_clear_swaps": clear}])
    assert narrative._describe_rank_swaps_between_readings(ranking) == [said]


def test_an_estimate_above_one_by_chance_is_said_as_the_whole_variance():
    readings = pd.DataFrame([{"reading": "strict rule", "study": "s", "model": "m", "setting": "plain",
                              "compared": True, "validity": 0.9, "own": 1.06, "own_lower": 0.5,
                              "own_upper": 1.3, "artefact": True}])  # fmt: skip
    said = " ".join(narrative._describe_reading_validity_and_artefacts(readings))
    assert "100 % of the variance over wordings by strict rule is its own (interval 50 to 100 %)" in said


@pytest.mark.slow
def test_sentences_on_one_model_in_two_studies_name_the_study(frame, tmp_path):
    folders = [reading_runs.write_readings(tmp_path / name, frame.copy(), study=name) for name in ("first", "second")]
    readings = tables.tabulate_readings(runs.open_runs(*folders), resamples=20).assign(artefact=True)
    said = narrative._describe_reading_validity_and_artefacts(readings)
    starts = [text.partition(",")[0] for text in said if " is its own" in text]
    assert set(starts) == {"With m · first", "With m · second"}
    of_first = readings["validity"].where(readings["study"] == "second", 0.1)
    page = ReadingsPage([str(folder) for folder in folders], resamples=20)
    shown = page.examples().text
    assert all(shown.count(f"plain/yes-no of study “{name}”; ") == 3 for name in ("first", "second"))
    page.frames["reading_examples"].query("study == 'first'", inplace=True)
    assert page.examples().text.count("plain/yes-no of study “first”; ") == 3
    (unjudged,) = (text for text in cautions.list_cautions(readings.assign(validity=of_first)) if "Not judged" in text)
    assert unjudged.startswith("Not judged: 5 of 10 rows. ") and unjudged.endswith(
        ": 10 % with probability (m · first), the lowest."
    )


def test_pairs_of_readings_are_averaged_over_what_is_said():
    rows = pd.DataFrame({
        "study": ["s", "t", "s"], "model": "m", "setting": "plain", "reading_a": "probability",
        "reading_b": ["strict rule", "strict rule", "thought"], "same_side": [0.5, 0.7, 0.9],
    })  # fmt: skip
    low = "robability and strict rule put 60 % of the wordings on the same side."
    high = "Probability and thought do so with 90 %."
    assert narrative._describe_least_and_most_agreeing_readings(rows) == [
        f"On average over the studies that have both readings, p{low}", high
    ]  # fmt: skip
    one_study = rows[1:].assign(study="s", same_side=[0.6, 0.9])
    assert narrative._describe_least_and_most_agreeing_readings(one_study) == [f"P{low}", high]
    long = rows.assign(reading_b=["judge org/judge", "judge org/judge", "lenient rule"], reading_a="judge org/other",
                       model=["m", "n", "m"], setting=["a", "b", "a"])  # fmt: skip
    assert not too_long(*narrative._describe_least_and_most_agreeing_readings(long))
    ranking = pd.DataFrame({
        "study": ["s", "t"], "setting": "plain", "n_pairs": 3, "n_swaps": [1, 0], "n_clear_swaps": 0
    })  # fmt: skip
    assert narrative._describe_rank_swaps_between_readings(ranking) == [
        "Of 6 pairs of models and readings in 2 settings, 1 swaps its order, none clearly."
    ]


def test_a_reading_whose_number_is_unknown_in_one_study_only_is_named_with_it():
    """The models of a study differed, too, but "in some studies" was all that was said."""
    readings = pd.DataFrame({
        "study": "s", "model": ["m", "n"] * 2, "setting": "plain", "reading": ["strict rule"] * 2 + ["thought"] * 2,
        "wording_sd": [np.nan, 0.1, np.nan, np.nan], "n_items": 40, "left_out": [3, 0, 3, 0], "n_wordings": 9,
    })  # fmt: skip
    compared = cautions.add_labels_and_conditions_to_readings(pd.concat([readings, readings.assign(study="t")],
                                                                        ignore_index=True).drop(index=4))  # fmt: skip
    (said,) = cautions._describe_readings_of_unknown_noise(compared)
    assert said.startswith("What sampling adds is not known of strict rule (m · s) and thought: a single text")
    (said,) = cautions._describe_left_out_wordings(compared)
    assert said.startswith("With m · s and m · t, 6 of 24 wordings are left out, as not")
    (said,) = cautions._describe_left_out_wordings(
        compared.assign(name=list("abcdefg"), left_out=[1, 1, 9, 1, 1, 1, 1])
    )
    assert said.startswith("With c and 6 others, 15 of 78 wordings are left out, as not")
    (said,) = cautions._describe_left_out_wordings(compared[compared["name"] == "m · s"])
    assert said.startswith("3 of 12 wordings are left out, as not")


def test_a_model_with_few_items_is_named_as_elsewhere_where_one_study_is_compared():
    readings = pd.DataFrame({
        "study": ["s", "s", "t"], "model": ["m", "n", "m"], "setting": "plain", "reading": "probability",
        "validity": 0.9, "validity_at_most": np.nan, "compared": [True, True, False], "n_items": [5, 90, 90],
        "left_out": 0, "n_wordings": 9, "wording_sd": 0.1, "own": 0.1, "own_most": 0.1,
    })  # fmt: skip
    assert "Only 5 items for m · s: little is known of other items." in cautions.list_cautions(readings)
