"""A part of some runs is what would be there if only that had been asked."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.runs.unanswered import count_unanswered_prompts
from ground.errors import InputError
from helpers.synthetic import edit_run_json, random_frame, write_run
from waver import open as open_run

MODELS = ("one", "two")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    frame = random_frame(MODELS, items=3, paraphrases=2, conditions=("plain/yes-no", "chat/yes-no"))
    lost = (frame["model"] == "two") & (frame["item"] == "item-02") & (frame["variant"] == "original")
    frame["error"] = None
    frame.loc[lost & (frame["condition"] == "chat/yes-no"), ["error", "agreement"]] = "no room", None
    asked = frame[~(lost & (frame["condition"] == "plain/yes-no"))]
    folder = write_run(tmp_path_factory.mktemp("parts") / "run", asked, parts=3)
    draw = {"wordings": 2, "least": 2, "most": 5}
    edit_run_json(folder, drawn={model: {"plain/yes-no": draw} for model in MODELS},
                  asked={"chat/yes-no": [{"models": list(MODELS), "item": "item-01", "variant": "original",
                                          "prompt": "p", "characters": 1, "wordings": None}]})  # fmt: skip
    return open_run(folder)


@pytest.mark.slow
def test_run_json_names_only_what_is_kept(run):
    part = run.where("model = 'two' AND condition LIKE 'chat%'").open_runs_of_protocols()
    assert list(part.info["models"]) == ["two"] and part.models == ("one", "two")
    assert list(part.info["conditions"]["synthetic"]) == ["chat/yes-no"]
    assert part.info["drawn"] == []
    assert [entry["models"] for entry in part.info["asked"]["synthetic"]["chat/yes-no"]] == [["two"]]
    assert part.sql("SELECT DISTINCT model, condition FROM responses").to_numpy().tolist() == [["two", "chat/yes-no"]]
    assert part.sql("SELECT model, condition, position FROM units").to_numpy().tolist() == [["two", "chat/yes-no", 0]]


def test_stimuli_are_numbered_as_if_there_were_no_others(run):
    part = run.where("item <> 'item-01' AND variant <> 'original'").open_runs_of_protocols()
    rows = part.sql("SELECT item, variant, position FROM stimuli ORDER BY position").to_numpy().tolist()
    assert rows == [
        [item, variant, 2 * i + j]
        for i, item in enumerate(("item-02", "item-03"))
        for j, variant in enumerate(("paraphrase-001", "paraphrase-002"))
    ]
    assert part.sql("SELECT count(*) AS n FROM errors")["n"].tolist() == [0]


@pytest.mark.slow
def test_a_part_of_models_reads_the_stimuli_as_they_are(run):
    part, whole = run.where("model = 'two'").open_runs_of_protocols(), run.open_runs_of_protocols()
    assert part.part.keeps_all_wordings
    for query in (
        "SELECT * FROM stimuli ORDER BY position",
        "SELECT * FROM responses WHERE model = 'two' ORDER BY condition, item, variant",
    ):
        pd.testing.assert_frame_equal(part.sql(query), whole.sql(query))
    assert not run.where("model = 'two' AND item <> 'item-01'").part.keeps_all_wordings
    assert not run.where("model = 'two' OR item <> 'item-01'").part.keeps_all_wordings


@pytest.mark.slow
def test_a_part_lacks_only_those_prompts_that_are_its_own(run):
    whole = count_unanswered_prompts(run.open_runs_of_protocols())
    assert whole[["model", "condition", "failed", "missing"]].to_numpy().tolist() == [
        ["two", "plain/yes-no", 0, 1], ["two", "chat/yes-no", 1, 0]
    ]  # fmt: skip
    kept = count_unanswered_prompts(run.where("item = 'item-02'").open_runs_of_protocols())
    assert kept[["asked", "failed", "missing"]].to_numpy().tolist() == [[3, 0, 1], [3, 1, 0]]
    assert count_unanswered_prompts(run.where("item <> 'item-02'").open_runs_of_protocols()).empty


def test_what_is_left_out_is_counted(run):
    part = run.where("model = 'one' AND item IN ('item-01', 'item-02')").part
    assert part.count_kept_and_all_by_kind() == {
        "responses": (12, 34),
        "wordings": (6, 9),
        "items": (2, 3),
        "models": (1, 2),
    }
    assert part.pairs is None


@pytest.mark.slow
def test_a_part_of_a_part_keeps_what_both_keep(run):
    first = run.where("(model = 'one' AND item = 'item-01') OR (model = 'two' AND item = 'item-03')")
    assert first.part.pairs is not None
    second = first.where("item = 'item-03' OR variant = 'original'")
    rows = second.sql("SELECT DISTINCT model, item, variant FROM responses ORDER BY ALL").to_numpy().tolist()
    assert rows == [["one", "item-01", "original"], *(["two", "item-03", v] for v in
                    ("original", "paraphrase-001", "paraphrase-002"))]  # fmt: skip
    assert second.part.count_kept_and_all_by_kind()["responses"] == (8, 34)
    assert len(run.responses()) == 34
    with pytest.raises(InputError, match="keeps nothing"):
        second.where("model = 'one' AND item = 'item-03'")


@pytest.mark.slow
def test_keys_name_responses_wordings_or_texts(run, tmp_path):
    assert len(run.where(pd.DataFrame({"item": ["item-01"]})).responses()) == 12
    keys = pd.DataFrame({"item": ["item-01", "item-03"], "text": ["item-01: original", "item-03: paraphrase-002"]})
    assert sorted(run.where(keys).wordings()["text"]) == sorted(keys["text"])
    keys = run.responses()[["study", "model", "condition", "item", "variant"]].iloc[[0, 5, 17, 30]]
    part = run.where(keys)
    assert part.part.pairs is not None
    kept = part.responses()[list(keys)]
    assert sorted(map(tuple, kept.to_numpy())) == sorted(map(tuple, keys.to_numpy()))
    keys.to_csv(tmp_path / "checked.csv", index=False)
    pd.testing.assert_frame_equal(run.where(str(tmp_path / "checked.csv")).responses(), part.responses())


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (pd.DataFrame({"itm": ["item-01"]}), "no column 'itm' (the nearest is 'item')"),
        (pd.DataFrame({"item": ["item-01", "item-99"]}), "no row of these runs has item 'item-99'"),
        (pd.DataFrame({"item": ["'; DROP VIEW responses; --"]}), "no row of these runs has"),
        (pd.DataFrame({"item": []}), "empty"),
        (pd.DataFrame({"item": ["item-01", None]}), "missing"),
        (pd.DataFrame([["item-01", "item-01"]], columns=["item", "item"]), "twice"),
        (pd.DataFrame({"item": [["item-01"]]}), "no row of these runs has"),
        ("nowhere.csv", "nowhere.csv: cannot be read"),
        (7, "neither a condition nor a DataFrame"),
        (None, "neither a condition nor a DataFrame"),
        ("negation_cues = 0", "negation_cues is a text feature, and these runs hold none yet"),
        ("item = 'item-99'", "keeps nothing"),
    ],
)
def test_keys_that_cannot_be_are_told_in_one_line(run, keys, words):
    with pytest.raises(InputError) as refused:
        run.where(keys)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_a_text_may_hold_the_name_of_a_feature(run):
    assert len(run.where("text NOT LIKE '%word_length%'").responses())


def test_an_empty_condition_is_the_run_itself(run):
    assert run.where("") is run and run.where(" ") is run and run.where() is run


def test_a_condition_that_keeps_nothing_names_the_values_of_its_attribute(tmp_path):
    frame = random_frame(MODELS, items=2, paraphrases=2)
    hedged = {variant: {"hedged": "1.0" if variant == "original" else "0.0"} for variant in set(frame["variant"])}
    folder = write_run(tmp_path / "run", frame.assign(attributes=frame["variant"].map(hedged)))
    with pytest.raises(InputError, match=r"keeps nothing; hedged holds '0\.0', '1\.0'$"):
        open_run(folder).where("hedged = '1'")
