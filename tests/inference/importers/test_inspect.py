"""`waver import inspect`: what comes out of made logs of every kind."""

from __future__ import annotations

import json
import math
import zipfile

import pytest

from helpers.eval_logs import (
    DEFLATED,
    STORED,
    ZSTANDARD,
    as_eval,
    as_json,
    header,
    sample,
    stating,
    text_sample,
    unfinished,
    write,
)
from helpers.eval_logs import (
    imported as run,
)

pytestmark = pytest.mark.slow


def test_multiple_choice(tmp_path, capsys):
    log = as_eval([sample(1), sample("two", "I", "C"), sample(3, "I", "")], {**header(), **stating("choice", 1 / 3)})
    info, stimuli, responses = run(tmp_path / "run", write(tmp_path / "made.eval", log))
    assert (info["study"]["protocol"], info["study"]["canonical"]) == ("choice", ["A", "B", "C"])
    assert info["conditions"] == {"import": {"form": "import", "way": "text"}}
    assert [(row["item"], row["variant"], row["gold"]) for row in stimuli] == [
        ("1", "p1/1", "A"),
        ("two", "p1/1", "A"),
        ("3", "p1/1", "A"),
    ]
    attributes = dict(stimuli[0]["attributes"])
    assert (attributes["choice_B"], attributes["order"], attributes["wording"]) == ("green", "ABC", "p1")
    assert stimuli[0]["text"].startswith("Which colour has fruit 1?\n\nA) red")  # the first message of the user
    assert [(row["model"], row["answer"], row["output"]) for row in responses] == [
        ("made/up", "A", ["ANSWER: A"]),
        ("made/up", "C", ["ANSWER: C"]),
        ("made/up", None, ["ANSWER: "]),
    ]
    assert capsys.readouterr().out.splitlines()[1:-1] == [
        "made/up import: 3 of 3 variants, 1 of 3 answers invalid",
        "wordings: p1",
        f"{tmp_path}/made.eval: 3 samples, accuracy 0.333, as the log states",
    ]


@pytest.mark.parametrize(("method", "frames"), [(STORED, 1), (DEFLATED, 1), (ZSTANDARD, 1), (ZSTANDARD, 5)])
def test_every_compression_and_json_read_the_same(tmp_path, method, frames):
    samples, head = [sample(n, "I", "B") for n in range(1, 4)], header(eval_task_args={"subject": "fruit"})
    expected = run(tmp_path / "a", write(tmp_path / "log.json", as_json(samples, head)), "--name", "s")
    content = as_eval(samples, head, method, frames)
    found = run(tmp_path / "b", write(tmp_path / "log.eval", content), "--name", "s")
    assert found[1:] == expected[1:]
    assert found[0]["conditions"] == expected[0]["conditions"] and len(found[2]) == 3


def test_an_archive_of_pythons_own_module_is_read(tmp_path):
    """The helper writes archives by hand, so one that somebody else wrote is read, too."""
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample()))
        with archive.open("header.json", "w", force_zip64=True) as member:
            member.write(json.dumps(header()).encode())
    assert len(run(tmp_path / "run", tmp_path / "log.eval")[2]) == 1


def test_epochs_are_counted(tmp_path, capsys):
    answers = [("C", "A"), ("C", "A"), ("I", "B"), ("I", "")]
    samples = [sample(1, value, answer, epoch=n) for n, (value, answer) in enumerate(answers, start=1)]
    samples += [sample(2, "C", "A", epoch=n) for n in (1, 2, 3)] + [sample(2, epoch=4, error={"message": "Time out"})]
    _, stimuli, responses = run(tmp_path / "run", write(tmp_path / "made.eval", as_eval(samples)))
    assert len(stimuli) == 2
    assert [(row["count"], row["invalid"], row["answer"]) for row in responses] == [
        ([2, 1, 0], 1, None),
        ([3, 0, 0], 0, None),
    ]
    assert len(responses[0]["output"]) == 4
    assert "8 samples, accuracy 0.750, 1 ended with an error" in capsys.readouterr().out  # (2 / 4 + 3 / 3) / 2


def test_of_several_reducers_of_epochs_the_mean_is_compared(tmp_path, capsys):
    """A log states the accuracy of every reducer; the last one was taken for the mean."""
    samples = [sample(1, value, answer, epoch=n) for n, (value, answer) in enumerate((("C", "A"), ("I", "B")), start=1)]
    stated = [
        {"name": "choice", "reducer": reducer, "metrics": {"accuracy": {"value": value}}}
        for reducer, value in (("mode", 0.0), ("mean", 0.5), ("max", 1.0))
    ]
    log = write(tmp_path / "made.eval", as_eval(samples, {**header(), "results": {"scores": stated}}))
    run(tmp_path / "run", log)
    assert "2 samples, accuracy 0.500, as the log states" in capsys.readouterr().out


def test_epochs_are_in_the_order_of_their_numbers(tmp_path):
    """A log has samples as they ended; what is taken of the first epoch was of the one that ended first."""
    samples = [sample(1, epoch=3, answer="C", value="I"), sample(1, epoch=1), sample(1, epoch=2, answer="B", value="I")]
    _, _, (response,) = run(tmp_path / "run", write(tmp_path / "made.eval", as_eval(samples)))
    assert response["output"] == ["ANSWER: A", "ANSWER: B", "ANSWER: C"]


def test_scores_are_right_or_wrong(tmp_path, capsys):
    values = ["C", "I", "P", "N", True, 0, 0.25, "1.0", "no", math.nan]
    samples = [text_sample(n, value) for n, value in enumerate(values)]
    info, stimuli, responses = run(tmp_path / "run", write(tmp_path / "made.json", as_json(samples)))
    assert (info["study"]["protocol"], info["study"]["canonical"]) == ("agreement", ["right", "wrong"])
    assert {row["gold"] for row in stimuli} == {"right"}
    assert [row["answer"] for row in responses] == [
        "right", "wrong", "wrong", "wrong", "right", "wrong", "wrong", "right", "wrong", None,
    ]  # fmt: skip
    assert [row["error"] for row in responses] == [None] * 9 + ["the log has no score for it"]
    told = capsys.readouterr().out
    assert "10 samples, accuracy 0.333, 1 without a score, 2 partial scores taken as wrong" in told


def test_multiple_choice_can_be_taken_as_right_or_wrong(tmp_path):
    """The scorer's verdict counts then, also where a letter contradicts it."""
    log = write(tmp_path / "made.eval", as_eval([sample(1, "C", "B"), sample(2, "I", "A"), sample(3)]))
    info, _, responses = run(tmp_path / "run", log, "--right-or-wrong")
    assert info["study"]["protocol"] == "agreement"
    assert [row["answer"] for row in responses] == ["right", "wrong", "right"]


def test_several_scorers_are_readings_of_the_same_answers(tmp_path, capsys):
    """A scorer whose grades are not right or wrong is left out, with a line; a sample that failed has no answer."""
    samples = [
        sample(
            n, scores={"choice": {"value": c, "answer": "BA"[c == "C"]}, "match": {"value": m}, "style": {"value": 7}}
        )
        for n, c, m in ((1, "C", "I"), (2, "I", "I"))
    ]
    samples.append(sample(3, scores={}, error={"message": "Time out"}))
    both = {"results": {"scores": [{"name": name, "metrics": {"accuracy": {"value": value}}}
                                   for name, value in (("choice", 0.5), ("match", 0.0))]}}  # fmt: skip
    log = write(tmp_path / "made.eval", as_eval(samples, {**header(), **both}))
    info, stimuli, responses = run(tmp_path / "run", log)
    assert info["study"]["protocol"] == "agreement" and len(stimuli) == 3
    assert info["conditions"] == {
        f"import/{name}": {"form": "import", "way": "text", "metric": name} for name in ("choice", "match")
    }
    assert [(row["condition"], row["answer"], row["error"] is None) for row in responses] == [
        ("import/choice", "right", True), ("import/choice", "wrong", True), ("import/choice", None, False),
        ("import/match", "wrong", True), ("import/match", "wrong", True), ("import/match", None, False),
    ]  # fmt: skip
    told = capsys.readouterr().out.splitlines()
    assert told[-4:-2] == [
        f"{log}: 3 samples, scorer choice, accuracy 0.500, as the log states, 1 ended with an error",
        f"{log}: 3 samples, scorer match, accuracy 0.000, as the log states, 1 ended with an error",
    ]
    assert told[-2].startswith("scorer style left out: ") and "the score 7" in told[-2]
    info, _, responses = run(tmp_path / "letters", log, "--scorer", "choice")
    assert info["study"]["protocol"] == "choice" and list(info["conditions"]) == ["import"]
    assert [row["answer"] for row in responses] == ["A", "B", None]


def test_an_argument_of_the_task_that_differs_is_the_wording(tmp_path):
    for style in ("plain", "formal"):
        message = {"role": "user", "content": f"{style}: which colour?"}
        head = header(eval_task_args={"style": style, "limit": 3})
        write(tmp_path / f"{style}.eval", as_eval([sample(n, messages=[message]) for n in (1, 2)], head))
    _, stimuli, responses = run(tmp_path / "run", tmp_path)
    assert [(row["item"], row["variant"], row["text"]) for row in stimuli] == [
        ("1", "formal/1", "formal: which colour?"),
        ("1", "plain/1", "plain: which colour?"),
        ("2", "formal/1", "formal: which colour?"),
        ("2", "plain/1", "plain: which colour?"),
    ]
    assert len(responses) == 4
    assert {dict(row["attributes"])["template"] for row in stimuli} == {"plain", "formal"}


def test_what_differs_between_models_only_is_no_wording(tmp_path):
    logs = [
        write(tmp_path / f"{model}.eval", as_eval([sample()], header(model, eval_solver_args={"mark": model})))
        for model in ("one", "two")
    ]
    _, stimuli, responses = run(tmp_path / "run", *logs)
    assert len(stimuli) == 1 and [row["model"] for row in responses] == ["one", "two"]


def test_metadata_names_item_and_wording(tmp_path):
    samples = [
        sample(n, metadata={"question": question, "style": style}, input=f"{style} {question}", messages=[])
        for n, (question, style) in enumerate([("q1", "a"), ("q1", "b"), ("q2", "a"), ("q2", "b")])
    ]
    log = write(tmp_path / "made.eval", as_eval(samples))
    keys = ("--item-key", "metadata.question", "--variant-key", "metadata.style")
    _, stimuli, _ = run(tmp_path / "run", log, *keys)
    assert [(row["item"], row["variant"], row["text"]) for row in stimuli] == [
        ("q1", "a/1", "a q1"), ("q1", "b/1", "b q1"), ("q2", "a/1", "a q2"), ("q2", "b/1", "b q2"),
    ]  # fmt: skip
    # Without a key for the wordings, the texts of an item are numbered.
    _, stimuli, _ = run(tmp_path / "numbered", log, *keys[:2])
    assert [row["variant"] for row in stimuli] == ["p1/1", "p2/1"] * 2


def test_generation_settings_that_differ_are_conditions(tmp_path):
    for temperature in (0.0, 0.7):
        plan = {"steps": [{"solver": "choose", "params": {"max_tokens": 5}}], "config": {"temperature": temperature}}
        write(tmp_path / f"{temperature}.eval", as_eval([sample()], header(plan=plan)))
    info, stimuli, responses = run(tmp_path / "run", tmp_path)
    common = {"form": "import", "way": "text", "max_tokens": 5}
    assert info["conditions"] == {
        "temperature=0.0": {**common, "temperature": 0.0},
        "temperature=0.7": {**common, "temperature": 0.7},
    }
    assert len(stimuli) == 1 and len(responses) == 2


def test_generation_settings_of_a_solver_are_no_wordings(tmp_path):
    """One model may write 5 tokens, another 500: both were asked the same wording."""
    for model, most in (("a", 5), ("b", 500)):
        plan = {"steps": [{"solver": "choose", "params": {"max_tokens": most, "style": "plain"}}], "config": {}}
        write(tmp_path / f"{model}.eval", as_eval([sample()], header(model, plan=plan)))
    info, stimuli, responses = run(tmp_path / "run", tmp_path)
    assert len(stimuli) == 1 and len(info["models"]) == 2 and len(responses) == 2
    assert len({row["variant"] for row in responses}) == 1


def test_items_of_several_tasks_are_told_apart(tmp_path):
    logs = [
        write(tmp_path / f"{task}.eval", as_eval([sample()], header(task=f"suite/{task}"))) for task in ("one", "two")
    ]
    _, stimuli, _ = run(tmp_path / "run", *logs)
    assert [row["item"] for row in stimuli] == ["one:1", "two:1"]
    assert [dict(row["attributes"])["subset"] for row in stimuli] == ["one", "two"]


@pytest.mark.parametrize("reference", ["attachment://", "tc://"])
def test_attachments_are_resolved(tmp_path, reference):
    messages = [{"role": "user", "content": [{"type": "text", "text": f"{reference}f00"}, {"type": "image"}]}]
    made = sample(messages=messages, attachments={"f00": "The long question."})
    _, stimuli, _ = run(tmp_path / "run", write(tmp_path / "made.eval", as_eval([made])))
    assert stimuli[0]["text"] == "The long question.\n[image]"


def test_a_log_that_was_broken_off(tmp_path, capsys):
    log = write(tmp_path / "made.eval", unfinished([sample(1), sample(2, error={"message": "Out of\nmemory"})]))
    _, _, responses = run(tmp_path / "run", log)
    assert [row["error"] for row in responses] == [None, "the sample ended with an error: Out of memory"]
    assert "2 samples, accuracy 1.000, 1 ended with an error, not finished (status started)" in capsys.readouterr().out


def test_logs_that_say_nothing_are_left_out_of_a_folder(tmp_path, capsys):
    """Logs of a folder come from many evaluations: that one of them failed takes nothing from the others."""
    logs = tmp_path / "logs"
    logs.mkdir()
    write(logs / "cancelled.eval", as_eval([sample(scores={})], {**header("made/other"), "status": "cancelled"}))
    write(logs / "empty.json", as_json([]))
    write(logs / "broken.eval", as_eval([sample(1)])[:100])
    write(logs / "config.json", b'{"learning_rate": 0.1}')
    write(logs / "good.eval", as_eval([sample(1), sample(2, "I", "B")]))
    write(logs / "late.eval", as_eval([sample(1)], {**header("made/late"), "version": 4}))
    write(logs / "more.json", as_json([sample(1, "I", "C")], header("made/more")))
    _, _, responses = run(tmp_path / "run", logs)
    assert {(row["model"], row["item"], row["answer"]) for row in responses} == {
        ("made/up", "1", "A"),
        ("made/up", "2", "B"),
        ("made/more", "1", "C"),
    }
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("left out: ")]
    reasons = ["broken.eval: no whole zip archive", "cancelled.eval: not finished (status cancelled)",
               "config.json: no log of Inspect", "empty.json: the log holds no samples",
               "late.eval: a log of version 4"]  # fmt: skip
    assert len(lines) == len(reasons)
    for line, reason in zip(lines, reasons, strict=True):
        assert line.startswith(f"left out: {logs}/{reason}")


def test_logs_of_the_third_version_are_read(tmp_path):
    """Only their events differ: they share messages."""
    events = [{"event": "model", "input": [], "input_refs": [[0, 3]]}]
    log = as_eval([sample(1, events=events, events_data={"messages": []})], {**header(), "version": 3})
    expected = run(tmp_path / "a", write(tmp_path / "old.eval", as_eval([sample(1)])), "--name", "s")
    assert run(tmp_path / "b", write(tmp_path / "new.eval", log), "--name", "s")[1:] == expected[1:]


def test_a_nul_in_an_answer_is_read_as_a_character_that_cannot_be_shown(tmp_path):
    said = {"role": "assistant", "content": "ANSWER: A\0"}
    log = as_eval([sample(1, messages=[*sample()["messages"][:2], said], output={"choices": [{"message": said}]})])
    assert run(tmp_path / "run", write(tmp_path / "made.eval", log))[2][0]["output"] == ["ANSWER: A\ufffd"]


@pytest.mark.parametrize("name", ["ollama/qwen2.5:0.5b", "hf//of mine?dtype=x", "none/none", "bedrock/arn:a:b/c"])
def test_model_names_of_any_provider_are_read(tmp_path, name):
    log = write(tmp_path / "made.eval", as_eval([sample(1)], header(name)))
    assert [row["model"] for row in run(tmp_path / "run", log)[2]] == [name]


def shown(name, first, *others, answer="A"):
    """A sample with log-probabilities of its first token; each token as (text, probability)."""
    tokens = [{"token": token, "logprob": math.log(value)} for token, value in (first, *others)]
    content = [{**tokens[0], "top_logprobs": tokens}]
    output = {"choices": [{"message": {"content": first[0]}, "logprobs": {"content": content}}]}
    return sample(name, "C" if answer == "A" else "I", answer, output=output)


def test_first_tokens_give_bounds(tmp_path, capsys):
    samples = [
        shown(1, ("A", 0.5), (" B", 0.25), ("B", 0.125), ("The", 0.0625)),
        shown(2, ("I", 0.75), ("C", 0.125), answer=""),
    ]
    info, _, responses = run(tmp_path / "run", write(tmp_path / "made.eval", as_eval(samples)))
    assert info["conditions"]["import/first token"] == {"form": "import", "way": "letters"}
    first, second = [row for row in responses if row["condition"] == "import/first token"]
    assert first["probability"] == pytest.approx([0.5, 0.375, 0.0]) and first["mass"] == pytest.approx(0.875)
    assert first["mass_upper"] == pytest.approx(0.9375)  # what is not shown, 0.0625, may be a letter
    assert (first["logprob"], first["answer"], second["answer"]) == (None, "A", None)
    assert second["mass"] == pytest.approx(0.125) and second["mass_upper"] == pytest.approx(0.25)
    assert [row["answer"] for row in responses if row["condition"] == "import"] == ["A", None]
    assert "the first token is a letter in 1 of 2" in capsys.readouterr().out


def test_first_tokens_before_the_answer_are_not_taken(tmp_path, capsys):
    samples = [shown(n, ("ANSWER", 0.9), ("A", 0.05)) for n in (1, 2, 3)]
    info, _, responses = run(tmp_path / "run", write(tmp_path / "made.eval", as_eval(samples)))
    assert list(info["conditions"]) == ["import"] and len(responses) == 3
    told = capsys.readouterr().out
    assert "the first token is a letter in 0 of 3, so its probabilities are not taken" in told


def test_control_characters_of_a_log_are_not_printed(tmp_path, capsys):
    log = write(tmp_path / "log.eval", as_eval([sample()], {**header(), "status": "\x1b[31m"}))
    run(tmp_path / "run", log)
    said = capsys.readouterr().out
    assert "\\x1b[31m" in said
    assert said.replace("\n", "").isprintable()


def test_the_same_logs_again_change_nothing(tmp_path, capsys):
    log = write(tmp_path / "made.eval", as_eval([sample()]))
    run(tmp_path / "run", log)
    capsys.readouterr()
    assert len(run(tmp_path / "run", log)[2]) == 1
    assert "is here already, nothing to do" in capsys.readouterr().out
