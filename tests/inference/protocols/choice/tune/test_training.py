"""A tiny model, tuned by `waver tune choice`: it learns, goes on after a kill as if nothing was, and is asked."""

from __future__ import annotations

import json
import shutil

import pytest

pytest.importorskip("trl")

import torch
from safetensors.torch import load_file
from trl.trainer import base_trainer

from ground import run_json
from ground.errors import InputError
from helpers import choice_texts, tiny_models
from inference.__main__ import main
from inference.asking.models import Model
from inference.engines import adapters, loading
from inference.engines.digest import compute_sampled_checkpoint_digest
from inference.protocols.choice.tune import settings, training
from inference.protocols.choice.tune.checkpoints import AdapterFolder
from inference.protocols.choice.tune.examples import Example
from inference.protocols.choice.tune.training import IGNORED_LABEL, Learner

pytestmark = pytest.mark.slow

SETTINGS = """
[training]
learning_rate = 0.02
per_device_train_batch_size = 8
per_device_eval_batch_size = 4
logging_steps = 1
eval_steps = 2
num_train_epochs = 2
[lora]
r = 4
target_modules = "all-linear"
"""
STEPS = 6  # 24 examples, 8 at a time, twice


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny model, a run that it has answered, settings."""
    folder = tmp_path_factory.mktemp("choice")
    tiny_models.checkpoint(folder / "tiny", "llama", num_hidden_layers=1)
    revision = compute_sampled_checkpoint_digest(folder / "tiny")
    choice_texts.write_run(folder / "run", info={"revision": revision})
    (folder / "settings.toml").write_text(SETTINGS, encoding="utf-8")
    return folder


def call(folder, out, *more):
    return ["tune", "choice", "--run", str(folder / "run"), "--model", str(folder / "tiny"), "--out", str(out),
            "--config", str(folder / "settings.toml"), "--device", "cpu", *more]  # fmt: skip


@pytest.fixture(scope="module")
def tuned(folder):
    out = folder / "tuned"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(base_trainer, "send_telemetry", refuse)
        patched.delenv("CI", raising=False)
        assert main(call(folder, out)) == 0
    return out


def refuse(*_, **__):
    raise AssertionError("something was to be sent")


def contents(out):
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_it_leaves_the_adapter_its_history_and_what_it_learnt_from(tuned):
    assert set(contents(tuned)) == {
        ".lock", "adapter_config.json", "adapter_model.safetensors", "history.json", "tuning.json"}  # fmt: skip
    record = json.loads((tuned / "tuning.json").read_text())
    assert record["base"] == "tiny"
    assert (record["counts"]["train examples"], record["counts"]["validation examples"]) == (24, 6)
    assert record["revision"].startswith("sha256:") and record["settings"]["learning_rate"] == 0.02
    assert json.loads((tuned / "adapter_config.json").read_text())["base_model_name_or_path"] == "tiny"


def test_the_history_has_every_loss_and_the_training_lowers_them(tuned):
    history = adapters.read_loss_history_file(tuned / "history.json")
    assert [row["step"] for row in history] == [1, 2, 3, 4, 5, 6]
    assert [row["validation_loss"] is not None for row in history] == [False, True, False, True, False, True]
    assert history[-1]["epoch"] == 2.0 and history[-1]["loss"] < history[0]["loss"]
    assert history[-1]["validation_loss"] < history[1]["validation_loss"]


def test_the_adapter_has_the_lowest_validation_loss_of_all_and_it_is_that_of_the_replies(folder, tuned):
    """The recorded loss is the mean of -log p over the tokens of the replies, worked out one by one."""
    chosen = settings.read_tuning_settings(folder / "settings.toml")
    learner = Learner(Model("tiny", str(folder / "tiny")), chosen, "cpu")
    from inference.asking.models import find_requested_models
    from inference.protocols.choice.tune import Lesson, answers

    (model,) = find_requested_models([str(folder / "tiny")])
    examples = Lesson(
        folder / "run", model, answers.read_answers_by_wording_and_order(folder / "run", model), chosen
    ).draw_examples_of_lesson(learner.has_text_ended_before_limit)
    rows = learner.encode_examples(examples.validation)
    tuned_model = loading.load_checkpoint(
        str(folder / "tiny"), engine="causal", dtype="float32", device="cpu", revision=None, seed=0,
        adapter=adapters.read_adapter_and_check_shapes(tuned),
    ).model  # fmt: skip
    batches = []
    for start in (0, 4):  # as evaluation takes them
        found = []
        for row in rows[start : start + 4]:
            with torch.no_grad():
                logprobs = tuned_model(torch.tensor([row["input_ids"]])).logits[0].log_softmax(-1)
            found += [
                -float(logprobs[place - 1, label])
                for place, label in enumerate(row["labels"])
                if label != IGNORED_LABEL
            ]
        batches.append((sum(found) / len(found), len(rows[start : start + 4])))
    expected = sum(loss * count for loss, count in batches) / sum(count for _, count in batches)
    losses = [
        row["validation_loss"]
        for row in adapters.read_loss_history_file(tuned / "history.json")
        if row["validation_loss"]
    ]
    assert min(losses) == pytest.approx(expected, rel=1e-4)


def test_only_the_reply_is_learnt_and_the_token_that_ends_it(folder):
    learner = Learner(Model("tiny", str(folder / "tiny")), settings.read_tuning_settings(), "cpu")
    from inference.stimuli.templates.prompts import Prompt

    prompt = Prompt("Question: What?\nParaphrase:", None, (("A",),))
    (row,) = learner.encode_examples([Example("a", "original/1", prompt, " Which?\nAnswer: A")])
    tokens = learner._reader.tokens
    learnt = [label for label in row["labels"] if label != IGNORED_LABEL]
    assert tokens.decode([learnt[:-1]]) == [" Which?\nAnswer: A"] and learnt[-1] in tokens.ends
    asked = row["input_ids"][: -len(learnt)]
    assert asked == learner._reader._get_or_tokenize_rows([prompt])[0].ids  # what the engine asks, token for token
    long = Prompt("word " * 300, None, (("A",),))
    several = [Example("a", "original/1", each, " A") for each in (long, prompt)]
    assert len(learner.encode_examples(several)) == 1 and learner.too_long == 1
    with pytest.raises(InputError, match="each example exceeds its context window of 256 tokens"):
        learner.encode_examples(several[:1])


def test_several_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(InputError, match="there are 2 GPUs, and a training takes one: set CUDA_VISIBLE_DEVICES"):
        training._refuse_several_gpus(torch.device("cuda"))
    training._refuse_several_gpus(torch.device("cpu"))


@pytest.mark.parametrize(("message", "ends"), [("[enforce fail] PytorchStreamWriter failed writing", 1), ("odd", None)])
def test_a_full_disk_is_one_line_and_a_fault_of_ours_is_not(folder, tmp_path, monkeypatch, capsys, message, ends):
    def full(self, *_):
        raise RuntimeError(message)

    monkeypatch.setattr(AdapterFolder, "mark_checkpoint_whole_and_remove_others", full)
    if ends is None:
        with pytest.raises(RuntimeError, match="odd"):
            main(call(folder, tmp_path / "tuned"))
    else:
        assert main(call(folder, tmp_path / "tuned")) == ends
        err = capsys.readouterr().err
        assert "cannot be written (no room for a checkpoint); make room" in err and err.count("\n") == 1


class Killed(BaseException):
    """Stands for SIGKILL."""


@pytest.mark.parametrize(
    ("moment", "step"),
    [("weights", 2), ("saving", 2), ("saving", STEPS), ("marked", 2), ("marked", STEPS), ("published", STEPS)],
)
def test_a_killed_training_ends_with_the_same_weights_as_an_undisturbed_one(
    folder, tuned, tmp_path, monkeypatch, moment, step
):
    out = tmp_path / "tuned"
    killed = False

    def at(real, when):
        def instead(self, *given, **more):
            nonlocal killed
            due = when(given) and not killed
            if due and moment != "marked":
                killed = True
                if moment == "saving":  # not all of it is written
                    (self.checkpoints_folder / f"checkpoint-{step}" / "optimizer.pt").write_bytes(b"")
                raise Killed
            real(self, *given, **more)
            if due:
                killed = True
                raise Killed

        return instead

    with monkeypatch.context() as patched:
        if moment in ("saving", "marked"):
            patched.setattr(
                AdapterFolder,
                "mark_checkpoint_whole_and_remove_others",
                at(AdapterFolder.mark_checkpoint_whole_and_remove_others, lambda given: given[0] == step),
            )
        elif moment == "published":
            patched.setattr(
                AdapterFolder,
                "save_best_adapter_and_remove_checkpoints",
                at(AdapterFolder.save_best_adapter_and_remove_checkpoints, lambda given: True),
            )
        else:
            patched.setattr(
                "inference.protocols.choice.tune.checkpoints.write_record_as_json", cut_short("adapter_config.json")
            )
        with pytest.raises(Killed):
            main(call(folder, out))
    assert main(call(folder, out)) == 0
    assert contents(out) == contents(tuned)


def cut_short(name):
    from inference.tune.folder import write_record_as_json

    def instead(file, content):
        if file.name == name:
            raise Killed
        write_record_as_json(file, content)

    return instead


def test_the_same_call_again_does_nothing_and_another_is_refused(folder, tuned, capsys):
    before = contents(tuned)
    assert main(call(folder, tuned)) == 0
    assert "finished before" in capsys.readouterr().out and contents(tuned) == before
    assert main(call(folder, tuned, "--subset", "general knowledge")) == 2
    assert "subset was None, now general knowledge" in capsys.readouterr().err


def test_a_damaged_checkpoint_is_named(folder, tmp_path, monkeypatch, capsys):
    out = tmp_path / "tuned"
    real = AdapterFolder.mark_checkpoint_whole_and_remove_others

    def keep_and_die(self, step, best_step):
        real(self, step, best_step)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(AdapterFolder, "mark_checkpoint_whole_and_remove_others", keep_and_die)
        with pytest.raises(Killed):
            main(call(folder, out))
    checkpoint = out / "checkpoints" / "checkpoint-2"
    for name in ("optimizer.pt", "adapter_model.safetensors", "trainer_state.json"):
        whole = (checkpoint / name).read_bytes()
        (checkpoint / name).write_bytes(whole[: len(whole) // 2])
        capsys.readouterr()
        assert main(call(folder, out)) == 2
        err = capsys.readouterr().err
        assert "checkpoint-2: cannot be continued from" in err and err.count("\n") == 1
        (checkpoint / name).write_bytes(whole)
    shutil.rmtree(out)


def test_another_version_of_the_model_is_refused(folder, tmp_path, capsys):
    choice_texts.write_run(tmp_path / "run")
    words = call(folder, tmp_path / "tuned")
    words[words.index(str(folder / "run"))] = str(tmp_path / "run")
    assert main(words) == 2
    assert "was answered by another version of 'tiny' (sha256:0)" in capsys.readouterr().err
    assert not (tmp_path / "tuned").exists()


def test_four_bits_need_a_gpu(folder, tmp_path, capsys):
    (tmp_path / "four.toml").write_text("[loading]\nfour_bit = true\n")
    words = call(folder, tmp_path / "tuned")
    words[words.index(str(folder / "settings.toml"))] = str(tmp_path / "four.toml")
    assert main(words) == 2
    assert "four_bit = true needs a CUDA device, this is cpu" in capsys.readouterr().err


def test_the_adapter_is_asked_and_its_training_is_recorded(folder, tuned, tmp_path):
    items = tmp_path / "items.csv"
    items.write_text("item,text\n1,Bread is good.\n1,Good is bread.\n", encoding="utf-8")
    words = ["run", "agreement", "--items", str(items), "--model", str(folder / "tiny"), "--lora", str(tuned)]
    assert main([*words, "--form", "plain", "--out", str(tmp_path / "run")]) == 0
    about = run_json.read_run_json(tmp_path / "run")["models"]["tuned"]["adapter"]
    assert about["base"] == "tiny" and about["counts"]["train examples"] == 24
    assert [row["step"] for row in about["history"]] == [1, 2, 3, 4, 5, 6]
    assert about["settings"]["r"] == 4 and about["settings"]["num_train_epochs"] == 2


def test_the_matrices_moved(tuned):
    found = load_file(tuned / "adapter_model.safetensors")
    assert all(float(each.abs().max()) > 0 for name, each in found.items() if "lora_B" in name)
