"""Logs of lm-eval become run folders; each trap of their format with a small log of our own."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

from helpers.lm_eval_logs import CHOICE, FEW, LATER, SNOW, TEA, TEXT, letters, row, write, written
from inference.__main__ import main
from inference.importers.lm_eval.requests import _parse_options_from_differing_contexts

pytestmark = pytest.mark.slow


def imported(tmp_path, *words, out="run"):
    """Import, and return the rows with their stimuli, and run.json."""
    assert main(["import", "lm-eval", *map(str, words), "--out", str(tmp_path / out)]) == 0
    return read(tmp_path / out)


def read(folder):
    stimuli = pd.read_parquet(folder / "stimuli.parquet")
    stimuli["attributes"] = [dict(pairs) for pairs in stimuli["attributes"]]
    parts = sorted((folder / "responses").glob("*.parquet"))
    rows = pd.concat([pd.read_parquet(part) for part in parts]).merge(stimuli, on=["study", "item", "variant"])
    return rows, json.loads((folder / "run.json").read_text(encoding="utf-8"))


def refused(tmp_path, capsys, *words):
    """Import what is refused: return the line; nothing is left of the run."""
    assert main(["import", "lm-eval", *map(str, words), "--out", str(tmp_path / "run")]) == 2
    assert not (tmp_path / "run").exists()
    return capsys.readouterr().err


def test_a_choice_by_letter_has_the_choices_words_their_probabilities_as_bounds_and_the_models_facts(tmp_path, capsys):
    folder = write(tmp_path / "logs", {"drinks": [letters(0, TEA), letters(1, SNOW)]}, CHOICE | {"shots": 5})
    rows, info = imported(tmp_path, folder)
    first = rows.iloc[0]
    assert (first["model"], first["condition"], first["variant"], first["pattern"]) == (
        "org/model", "plain", "5-shot/1", "5-shot",
    )  # fmt: skip
    assert first["item"].startswith("drinks/") and len(first["item"]) == len("drinks/") + 16
    assert list(first["options"]) == list(first["canonical"]) == list("ABCD") and first["gold"] == "A"
    assert first["attributes"]["choice_B"] == "stones" and first["attributes"]["subset"] == "drinks"
    assert first["attributes"]["template"] == "5-shot"
    assert list(first["logprob"]) == list(FEW)
    assert list(first["probability"]) == pytest.approx([math.exp(score) for score in FEW], abs=1e-15)
    assert (first["mass"], first["mass_upper"]) == (pytest.approx(sum(map(math.exp, FEW))), 1.0)
    assert list(rows["answer"]) == ["A", "A"] and list(rows["gold"]) == ["A", "B"]
    known = {"engine": "import", "revision": "abc", "dtype": "float16", "parameters": 7}
    assert known.items() <= info["models"]["org/model"].items()
    assert info["conditions"]["plain"] == {"form": "plain", "shots": 5, "filter": "none"}
    assert "a lower bound: of one way to write each option" in capsys.readouterr().out


@pytest.mark.parametrize("lead", [" ", ""])
def test_a_chat_template_leaves_no_delimiter_before_the_options(tmp_path, lead):
    rows, _ = imported(tmp_path, write(tmp_path / "logs", {"t": [letters(0, TEA, lead=lead)]}, chat_template_sha="x"))
    assert rows["attributes"][0]["choice_A"] == "leaves" and rows["condition"][0] == "chat"


def test_shots_that_vary_are_wordings_and_the_second_file_keeps_the_items(tmp_path, capsys):
    for shots, date in ((0, "2026-02-03T04-05-06.1"), (5, "2026-02-03T04-05-07.2")):
        lines = [letters(0, TEA, shots=shots), letters(1, SNOW, shots=shots)]
        write(tmp_path / "logs", {"drinks": lines}, CHOICE | {"shots": shots}, date=date)
    rows, info = imported(tmp_path, tmp_path / "logs")
    assert rows.groupby("item")["variant"].apply(sorted).tolist() == [["0-shot/1", "5-shot/1"]] * 2
    assert list(info["conditions"]) == ["plain"] and "shots" not in info["conditions"]["plain"]
    assert "wordings: 0-shot, 5-shot" in capsys.readouterr().out


def test_shots_that_vary_between_models_only_are_a_condition(tmp_path):
    for model, shots in (("a", 0), ("b", 5)):
        write(tmp_path / model, {"t": [letters(0, TEA, shots=shots)]}, CHOICE | {"shots": shots}, model_name=model)
    rows, _ = imported(tmp_path, tmp_path / "a", tmp_path / "b")
    assert list(zip(rows["model"], rows["condition"], rows["pattern"], strict=True)) == [
        ("a", "plain/0-shot", "prompt"), ("b", "plain/5-shot", "prompt"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tasks", "base", "wordings"),
    [
        (("know_nob_p0", "know_nob_p1", "know_nob_p10"), "know_nob", ["p0", "p1", "p10"]),
        (("afri_direct_amh_prompt_1", "afri_direct_amh_prompt_2"), "afri_direct_amh", ["prompt_1", "prompt_2"]),
        (("ita_prompt-1", "ita_prompt-2"), "ita", ["prompt-1", "prompt-2"]),
        (("ita_v1", "ita_v2"), "ita", ["v1", "v2"]),
        (("jcq-v1.1-0.3", "jcq-v1.1-0.4"), "jcq", ["v1.1-0.3", "v1.1-0.4"]),
    ],
)
def test_endings_of_task_names_are_wordings(tmp_path, tasks, base, wordings):
    rows, _ = imported(tmp_path, write(tmp_path / "logs", {task: [letters(0, TEA)] for task in tasks}))
    assert rows["item"].nunique() == 1 and rows["item"][0].startswith(f"{base}/")
    assert sorted(rows["pattern"]) == sorted(wordings)


def test_an_ending_that_nothing_is_compared_with_belongs_to_the_task(tmp_path):
    rows, _ = imported(tmp_path, write(tmp_path / "logs", {"truth_v2": [letters(0, TEA)], "other": [letters(0, SNOW)]}))
    assert {item.split("/")[0] for item in rows["item"]} == {"truth_v2", "other"}
    assert set(rows["pattern"]) == {"0-shot"}


def test_folders_of_prompts_are_wordings(tmp_path):
    for number in (1, 2):
        write(tmp_path / "logs" / f"prompt_{number}" / "org__model", {"t": [letters(0, TEA)]})
    rows, _ = imported(tmp_path, tmp_path / "logs")
    assert sorted(rows["variant"]) == ["prompt_1/1", "prompt_2/1"] and rows["item"].nunique() == 1


def test_keys_of_the_call_name_items_and_wordings(tmp_path):
    docs = [{**TEA, "question_id": 7, "prompt_id": number} for number in (0, 1)]
    folder = write(tmp_path / "logs", {"t": [letters(i, doc) for i, doc in enumerate(docs)]})
    rows, _ = imported(tmp_path, folder, "--item-key", "doc.question_id", "--variant-key", "doc.prompt_id")
    assert list(rows["item"]) == ["t/7"] * 2 and list(rows["pattern"]) == ["prompt_id-0", "prompt_id-1"]
    for shots, key in ((0, "folder"), (0, "task")):
        rows, _ = imported(tmp_path, folder, "--item-key", "doc_id", "--variant-key", key, out=key)
        assert rows["pattern"][0] == (tmp_path.name if key == "folder" else "t"), shots


def test_other_orders_of_the_options_are_numbered_and_the_first_is_canonical(tmp_path):
    turned = {**TEA, "choices": TEA["choices"][::-1], "answer": 3}
    docs = [{**TEA, "id": "tea"}, {**turned, "id": "tea"}]
    folder = write(tmp_path / "logs", {"t": [letters(i, doc) for i, doc in enumerate(docs)]})
    rows, _ = imported(tmp_path, folder, "--item-key", "doc.id")
    assert list(rows["variant"]) == ["0-shot/1", "0-shot/2"] and list(rows["gold"]) == ["A", "A"]
    assert [row["order"] for row in rows["attributes"]] == ["ABCD", "DCBA"]
    meant = zip(rows["options"], rows["canonical"], rows["answer"], strict=True)
    assert [dict(zip(shown, own, strict=True))[answer] for shown, own, answer in meant] == ["A", "D"]


def texts(doc_id, scores, alone=None, **fields):
    """A row whose options are words of different lengths: normalised, another one is chosen."""
    doc = {"sentence": "Tea is", "ends": ["a hot drink", "né", "no"]}
    requests = [("Tea is", f" {end}") for end in doc["ends"]]
    both = list(scores) + list(alone or ())
    requests += [("", f" {end}") for end in doc["ends"]] if alone else []
    said = {"target": "0", "filtered_resps": [[str(score), "False"] for score in both], "metrics": ["acc"]}
    return row(doc_id, doc, requests, **{**said, **fields})


def test_normalised_readings_are_conditions_and_divide_by_characters_and_by_bytes(tmp_path):
    """By hand: -11/11 = -1, -2.4/2 = -1.2, -2.2/2 = -1.1; in bytes "né" has 3: -0.8."""
    line = texts(0, (-11.0, -2.4, -2.2), metrics=["acc", "acc_norm", "acc_bytes"], acc=0.0, acc_norm=1.0, acc_bytes=0.0)
    rows, info = imported(tmp_path, write(tmp_path / "logs", {"t": [line]}))
    assert dict(zip(rows["condition"], rows["answer"], strict=True)) == {
        "plain": "C", "plain/per character": "A", "plain/per byte": "B",
    }  # fmt: skip
    assert rows["probability"].notna().tolist() == [True, False, False]
    assert info["conditions"]["plain/per byte"]["reading"] == "per byte"


def test_mutual_information_asks_twice_and_is_a_condition(tmp_path):
    """Six requests of three options: by hand -9 + 10 = 1, -4 + 3 = -1, -3 + 2 = -1."""
    line = texts(
        0, (-9.0, -4.0, -3.0), (-10.0, -3.0, -2.0), metrics=["acc", "acc_mutual_info"], acc=0.0, acc_mutual_info=1.0
    )
    rows, _ = imported(tmp_path, write(tmp_path / "logs", {"t": [line]}))
    assert dict(zip(rows["condition"], rows["answer"], strict=True)) == {"plain": "C", "plain/mutual information": "A"}
    assert list(rows["options"][0]) == ["A", "B", "C"] and len(rows["logprob"][0]) == 3


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_options_in_the_text_share_what_follows(tmp_path, right):
    """As in winogrande: contexts vary, `target` is what follows; the right one is known by `acc`."""
    contexts = [f"The cup did not fit into the bag because the {what}" for what in ("cup", "bag")]
    line = row(0, {"q": 1}, [(context, " was too big.") for context in contexts], target="was too big.",
               filtered_resps=[["-30.5", "False"], ["-31.0", "False"]], metrics=["acc"], acc=right)  # fmt: skip
    rows, _ = imported(tmp_path, write(tmp_path / "logs", {"t": [line]}))
    found = rows.iloc[0]
    assert found["text"] == "The cup did not fit into the bag because the _ was too big."
    assert (found["attributes"]["choice_A"], found["attributes"]["choice_B"]) == ("cup", "bag")
    assert found["answer"] == "A" and found["gold"] == ("A" if right else "B")
    assert found["probability"] is None and math.isnan(found["mass"]) and list(found["logprob"]) == [-30.5, -31.0]


@pytest.mark.parametrize(
    ("before", "first", "second"),
    [
        ("Give it to the ", "trophy", "trolley"),
        ("奖杯放不进手提箱，因为", "奖杯", "手提箱"),
        ("カップは鞄に入らない。なぜなら", "カップ", "鞄"),
        ("住んだのは", "京", "京都"),
        ("住んだのは", "東京", "東北"),
        ("飼うのは", "コアラ", "コウモリ"),
        ("컵이 안 들어간다. ", "가방이", "가위가"),
    ],
)
def test_options_in_the_text_begin_where_a_word_may_begin(before, first, second):
    """In scripts without blanks, all text up to the last blank was lost."""
    row_options = _parse_options_from_differing_contexts([before + first, before + second], " End.", False)
    assert (row_options.text, row_options.words) == (f"{before}_ End.", (first, second))


def test_options_in_the_text_that_begin_alike_are_whole_where_the_document_has_them():
    """Of 东京 and 东北 in Chinese, the first character was lost."""
    doc = {"sentence": "他住在_。", "option1": "东京", "option2": "东北", "label": 0}
    assert _parse_options_from_differing_contexts(["他住在东京", "他住在东北"], "。", False, doc).words == (
        "东京",
        "东北",
    )


def test_options_of_the_document_are_not_lengthened_by_a_word_before_them():
    """牛乳 was 毎日牛乳: 毎日 was taken for the start of a Japanese word."""
    doc = {"sentence": "私は毎日_を飲む。", "option1": "牛乳", "option2": "紅茶"}
    options = _parse_options_from_differing_contexts(["私は毎日牛乳", "私は毎日紅茶"], "を飲む。", False, doc)
    assert (options.text, options.words) == ("私は毎日_を飲む。", ("牛乳", "紅茶"))


@pytest.mark.parametrize("shape", ["list", "numbers", "flat"])
def test_older_and_other_shapes_of_a_row_read_the_same(tmp_path, shape):
    """Arguments as a list of lists; numbers as numbers, no list of metrics; lmms-eval's lists of one."""
    line = letters(0, TEA)
    if shape == "list":
        line["arguments"] = [[each["arg_0"], each["arg_1"]] for each in line["arguments"].values()]
        del line["filter"]
    elif shape == "numbers":
        line["filtered_resps"] = [[score, False] for score in FEW]
        line["target"] = 0
        del line["metrics"]
    else:
        line["filtered_resps"] = [[[str(score), "False"]] for score in FEW]
    expected, _ = imported(tmp_path, write(tmp_path / "a", {"t": [letters(0, TEA)]}), out="one")
    rows, _ = imported(tmp_path, write(tmp_path / "b", {"t": [line]}), out="two")
    pd.testing.assert_frame_equal(rows.drop(columns="study"), expected.drop(columns="study"))


def test_of_equal_options_the_first_is_the_answer_as_in_lm_eval(tmp_path):
    rows, _ = imported(tmp_path, write(tmp_path / "logs", {"t": [letters(0, TEA, (-1.0, -1.0, -2.0, -2.0))]}))
    assert rows["answer"].tolist() == ["A"]


def test_probabilities_are_above_1_by_rounding_alone_or_of_options_that_begin_each_other(tmp_path):
    """Models in bfloat16 gave 1.003: the run was written, and `compare` could not read it."""
    rounded = letters(0, TEA, (math.log(0.998), math.log(0.005), -20.0, -20.0))
    rows, _ = imported(tmp_path, write(tmp_path / "logs", {"t": [rounded]}))
    assert sum(rows["probability"][0]) == pytest.approx(rows["mass"][0], abs=1e-12) == 1.0
    doc = {"question": "How many?", "choices": ["4", "42"], "answer": 0}
    fields = {"filtered_resps": [["-0.1", "False"], ["-0.2", "False"]], "target": "0", "metrics": ["acc"], "acc": 1.0}
    nested = row(0, doc, [("How many?", " 4"), ("How many?", " 42")], **fields)
    rows, _ = imported(tmp_path, write(tmp_path / "nested", {"t": [nested]}), out="other")
    assert rows["answer"].tolist() == ["A"] and rows["probability"].isna().all() and rows["mass"].isna().all()


def test_several_filters_of_a_document_are_conditions(tmp_path):
    lines = [written(0, TEA, right, filter=name) for name, right in (("strict-match", 0.0), ("flexible-extract", 1.0))]
    rows, info = imported(tmp_path, write(tmp_path / "logs", {"t": lines}, TEXT))
    assert dict(zip(rows["condition"], rows["answer"], strict=True)) == {
        "plain/strict-match": "wrong", "plain/flexible-extract": "right",
    }  # fmt: skip
    assert rows["item"].nunique() == 1 and info["study"]["canonical"] == ["right", "wrong"]


def test_several_metrics_of_a_text_are_readings_where_they_say_right_or_wrong_in_all_rows(tmp_path):
    names = ["f1", "loose", "exact_match", "strict"]
    lines = [
        written(number, doc, right, metrics=names, f1=f1, loose=1.0, strict=strict, filter=name)
        for name in ("none", "get-answer")
        for number, (doc, right, f1, strict) in enumerate([(TEA, 1.0, 1.0, True), (SNOW, 0.0, 0.4, True)])
    ]
    rows, info = imported(tmp_path, write(tmp_path / "logs", {"t": lines}, TEXT))
    answers = rows.groupby("condition", sort=False)["answer"].agg(list).to_dict()
    assert answers == {
        "plain": ["right", "wrong"], "plain/loose": ["right", "right"], "plain/strict": ["right", "right"],
        "plain/get-answer": ["right", "wrong"], "plain/get-answer/loose": ["right", "right"],
        "plain/get-answer/strict": ["right", "right"],
    }  # fmt: skip
    fields = {
        name: (condition.get("filter"), condition.get("metric")) for name, condition in info["conditions"].items()
    }
    assert fields["plain"] == ("none", None) and fields["plain/get-answer/loose"] == ("get-answer", "loose")
    assert {row["metric"] for row in rows["attributes"]} == {"exact_match"}


def test_of_metrics_that_are_no_exact_match_the_first_that_says_right_or_wrong_counts(tmp_path):
    lines = [written(n, doc, None, metrics=["f1", "em"], f1=0.5 * n, em=n) for n, doc in enumerate((TEA, SNOW))]
    rows, info = imported(tmp_path, write(tmp_path / "logs", {"t": lines}, TEXT))
    assert list(info["conditions"]) == ["plain"] and rows["answer"].tolist() == ["wrong", "right"]
    assert {row["metric"] for row in rows["attributes"]} == {"em"}


def test_a_nul_that_a_model_wrote_or_was_shown_stands_in_no_run_folder(tmp_path):
    rows, _ = imported(tmp_path, write(tmp_path / "logs", {"t": [written(0, TEA, 1.0, text=" Le\0f.")]}, TEXT))
    assert list(rows["output"][0]) == [" Le\ufffdf."]
    shown = {"question": "Te\0?", "choices": ["l\0f", "b", "c", "d"], "answer": 0}
    rows, _ = imported(tmp_path, write(tmp_path / "shown", {"t": [letters(0, shown)]}), out="asked")
    assert rows["text"][0].startswith("Te\ufffd?\nA. l\ufffdf\n") and rows["attributes"][0]["choice_A"] == "l\ufffdf"


@pytest.mark.parametrize("flat", [False, True])
def test_texts_are_right_or_wrong_as_the_metric_says_and_are_kept(tmp_path, flat):
    texts = {"resps": [" Leaves."]} if flat else {"resps": [[" Leaves.", " Or stones."]]}
    rows, info = imported(
        tmp_path, write(tmp_path / "logs", {"t": [written(0, TEA, 1.0, **texts), written(1, SNOW, False)]}, TEXT)
    )
    assert rows["answer"].tolist() == ["right", "wrong"] and rows["gold"].tolist() == ["right"] * 2
    assert list(rows["output"][0]) == [" Leaves."] + [" Or stones."] * (not flat)
    assert info["study"]["protocol"] == "agreement" and rows["attributes"][0]["metric"] == "exact_match"


def test_rows_of_score_name_question_and_prompt_and_hold_both_answers(tmp_path):
    """NVIDIA's SCORE: `N_macro_accuracy` is [question, prompt, answer, right answer, category]."""
    lines = [
        written(number, {**TEA, "prompt_id": number % 2}, None, metrics=[f"{number % 2}_macro_accuracy"],
                **{f"{number % 2}_macro_accuracy": [number // 2, number % 2, "A", gold, "food"]})
        for number, gold in enumerate("ABBA")
    ]  # fmt: skip
    rows, _ = imported(tmp_path, write(tmp_path / "logs", {"score_prompt_robustness": lines}, TEXT))
    assert list(zip(rows["item"], rows["variant"], rows["answer"], strict=True)) == [
        ("score_prompt_robustness/0", "prompt-0", "right"), ("score_prompt_robustness/0", "prompt-1", "wrong"),
        ("score_prompt_robustness/1", "prompt-0", "wrong"), ("score_prompt_robustness/1", "prompt-1", "right"),
    ]  # fmt: skip


def test_equal_documents_are_items_of_their_own(tmp_path):
    rows, _ = imported(tmp_path, write(tmp_path / "logs", {"t": [letters(0, TEA), letters(1, TEA)]}))
    assert rows["item"].nunique() == 2 and rows["item"][1] == rows["item"][0] + "-2"


def test_choices_and_texts_are_one_study_only_as_right_or_wrong(tmp_path, capsys):
    folder = write(tmp_path / "a", {"drinks": [letters(0, TEA), letters(1, SNOW)]})
    write(tmp_path / "b", {"say": [written(0, TEA, 1.0)]}, TEXT)
    assert "--right-or-wrong" in refused(tmp_path, capsys, folder, tmp_path / "b")
    rows, info = imported(tmp_path, folder, tmp_path / "b", "--right-or-wrong")
    assert rows["answer"].tolist() == ["right", "wrong", "right"] and info["study"]["canonical"] == ["right", "wrong"]
    assert {row["template"] for row in rows["attributes"]} == {"0-shot"}


def test_the_models_name_is_that_of_its_hub_its_folder_or_the_one_given(tmp_path):
    for number, (name, expected) in enumerate({
        "/cache/models--org--m/snapshots/0123456789abcdef": "org/m", "/data/my-model": "my-model", "gpt2": "gpt2",
    }.items()):  # fmt: skip
        folder = write(tmp_path / str(number), {"t": [letters(0, TEA)]}, model_name=name)
        assert imported(tmp_path, folder, out=f"run-{number}")[0]["model"][0] == expected
    assert imported(tmp_path, f"mine={folder}", out="named")[0]["model"][0] == "mine"
    old = write(tmp_path / "old", {"t": [letters(0, TEA)]}, model_name=None, lm_eval_version=None,
                config={"model_args": "pretrained=org/old,dtype=float32"})  # fmt: skip
    rows, info = imported(tmp_path, old, out="run-old")
    assert rows["model"][0] == "org/old" and info["models"]["org/old"]["dtype"] == "float32"


def test_a_results_file_may_have_a_name_of_its_own(tmp_path):
    folder = write(tmp_path / "logs", {"t": [letters(0, TEA)]})
    next(folder.glob("results_*")).rename(folder / "mine_2026-02-03T04-05-06.789.json")
    assert len(imported(tmp_path, folder)[0]) == 1


def test_the_same_files_are_here_already_and_another_model_joins_them(tmp_path, capsys):
    for model in ("a", "b"):
        write(tmp_path / model, {"t": [letters(0, TEA)]}, model_name=model)
    imported(tmp_path, tmp_path / "a")
    assert len(imported(tmp_path, tmp_path / "a")[0]) == 1 and "is here already" in capsys.readouterr().out
    rows, _ = imported(tmp_path, tmp_path / "a", tmp_path / "b")
    assert sorted(rows["model"]) == ["a", "b"]
    write(tmp_path / "a", {"t": [letters(0, TEA, (-3.0, -1.0, -2.0, -4.0))]}, model_name="a")
    assert main(["import", "lm-eval", str(tmp_path / "a"), "--out", str(tmp_path / "run")]) == 2


def test_texts_that_differ_between_models_are_counted_and_the_first_stands(tmp_path, capsys):
    write(tmp_path / "a", {"t": [letters(0, TEA)]}, model_name="a")
    write(tmp_path / "b", {"t": [letters(0, TEA, shots=1)]}, model_name="b")
    rows, _ = imported(tmp_path, tmp_path / "a", tmp_path / "b")
    assert rows["text"].nunique() == 1 and not rows["text"][0].startswith("An example")
    assert "1 prompt differs between responses (chat templates or examples do)" in capsys.readouterr().out


def test_samples_that_are_missing_are_counted(tmp_path, capsys):
    imported(tmp_path, write(tmp_path / "logs", {"t": [letters(0, TEA)]}, CHOICE | {"samples": 5_000}))
    assert "1 sample, where its results file counts 5,000" in capsys.readouterr().out


def test_two_runs_of_one_task_are_refused_by_name(tmp_path, capsys):
    write(tmp_path / "logs", {"drinks": [letters(0, TEA)]})
    write(tmp_path / "logs", {"drinks": [letters(0, TEA)]}, date=LATER)
    line = refused(tmp_path, capsys, tmp_path / "logs")
    assert all(word in line for word in ("second run of task 'drinks'", LATER, "2026-02-03T04-05-06.789", "org/model"))


def test_what_a_row_says_of_itself_must_hold(tmp_path, capsys):
    line = refused(tmp_path, capsys, write(tmp_path / "logs", {"t": [letters(0, TEA), letters(1, SNOW, acc=1.0)]}))
    assert "line 2: acc is 1.0, but by likelihood the choice is wrong" in line


def test_a_row_without_a_right_option_is_read_by_the_metrics_that_it_states(tmp_path):
    rows = [letters(0, TEA, target="[0, 1]", metrics=["acc_norm"], acc_norm=1.0)]
    read_rows, _ = imported(tmp_path, write(tmp_path / "logs", {"t": rows}), "--right-or-wrong")
    assert list(zip(read_rows["condition"], read_rows["answer"], strict=True)) == [("plain/per character", "right")]


@pytest.mark.parametrize("target", ["[0, 1]", "1" * 5_000])
def test_what_nobody_judged_is_not_wrong(tmp_path, capsys, target):
    rows = [letters(0, TEA, target=target, metrics=["brier_score"], brier_score=0.1)]
    line = refused(tmp_path, capsys, write(tmp_path / "logs", {"t": rows}), "--right-or-wrong")
    assert "line 1: no right option is named" in line and "--scores imports numbers" in line


def test_a_byte_order_mark_belongs_to_no_row(tmp_path):
    """It made the first row no JSON, and the line said to take that row out."""
    folder = write(tmp_path / "logs", {"t": [letters(0, TEA)]})
    for file in folder.iterdir():
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert len(imported(tmp_path, folder)[0]) == 1


def test_a_target_in_digits_of_full_width_is_the_words_of_an_option(tmp_path):
    line = row(0, {"q": 1}, [("いくつ？", f" {word}") for word in "１２３"], target="２", metrics=["acc"], acc=1.0,
               filtered_resps=[["-3", "False"], ["-1", "False"], ["-2", "False"]])  # fmt: skip
    assert list(imported(tmp_path, write(tmp_path / "logs", {"t": [line]}))[0]["gold"]) == ["B"]


@pytest.mark.parametrize("end", [None, {}])
def test_a_choice_that_continues_with_no_text_is_refused(tmp_path, capsys, end):
    line = row(0, TEA, [("a", " b"), ("a", end)], metrics=["acc"])
    assert "the text of an option is needed" in refused(tmp_path, capsys, write(tmp_path / "logs", {"t": [line]}))


def test_a_choice_of_one_option_is_refused(tmp_path, capsys):
    line = refused(tmp_path, capsys, write(tmp_path / "logs", {"t": [row(0, TEA, [("a", " b")], metrics=["acc"])]}))
    assert "line 1: 1 request; two or more are needed" in line


def test_a_log_of_a_folder_whose_options_are_no_distribution_is_left_out(tmp_path, capsys):
    """It was found when the run was written, and refused the whole folder."""
    whole, too_much = [letters(0, TEA), letters(1, SNOW)], [letters(0, TEA, (-0.5, -0.5, -0.5, -0.5))]
    folder = write(tmp_path / "logs", {"good": whole, "bad": too_much}, CHOICE)
    assert main(["import", "lm-eval", str(folder), "--out", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr().out
    assert "left out: " in printed and "samples_bad" in printed and "2.426" in printed
    assert len(read(tmp_path / "run")[0]) == 2
