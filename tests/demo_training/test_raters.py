"""The raters' training: they read what protocol scale asks, their courses, and adapters that the house can add."""

from __future__ import annotations

import random
from collections import Counter

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("peft")

from demo_training import raters  # noqa: E402
from demo_training.battery import Habit  # noqa: E402
from demo_training.battery_chats import LABELS, BatteryCorpus, Lesson  # noqa: E402
from demo_training.raters import COURSES, HABITS, PLAIN, Course, train_adapter, train_plain_rater  # noqa: E402
from inference.demo import BATTERY, RATERS  # noqa: E402
from inference.engines.adapters import read_adapter_and_check_shapes  # noqa: E402
from inference.engines.digest import compute_sampled_checkpoint_digest  # noqa: E402
from inference.protocols import scale  # noqa: E402
from inference.protocols.scale.shown import DOWN, NUMBERS, Showing  # noqa: E402
from inference.stimuli import items  # noqa: E402
from inference.stimuli.templates.prompt_forms import CHAT  # noqa: E402

pytestmark = pytest.mark.slow

CORPUS = BatteryCorpus()


def test_they_read_the_very_prompts_that_the_protocol_asks() -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(RATERS[PLAIN].path)
    study = scale.build_scale_study(items.read_and_check_items(str(BATTERY), protocol_columns=scale.COLUMNS), "demo")
    showings = tuple(Showing(labels, DOWN) for labels in LABELS)
    questions = scale.Questions(scale.read_scale_prompts(), showings)
    for showing, round_ in zip(showings, questions.rounds(CHAT), strict=True):
        originals = [variant for variant in study.variants if variant.variant == "original"]
        for variant, statement in zip(originals, CORPUS.battery.statements, strict=True):
            messages = round_.render(variant, None).messages
            asked = tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
            assert asked == "<s>" + CORPUS.write_prompt(statement, statement.wordings[0], showing, "")


def test_answers_are_drawn_by_the_shares_and_an_option_in_the_statements_place_is_the_answer(monkeypatch) -> None:
    rng, statement = random.Random(0), CORPUS.battery.statements[0]
    monkeypatch.setattr(CORPUS.battery, "statements", (statement,))  # others would take most draws
    habit = Habit(last=1.2)
    prompt = CORPUS.write_prompt(statement, statement.wordings[0], Showing(NUMBERS, DOWN), "")
    rows = [CORPUS.write_row(rng, habit, Lesson(1.0, 0.0, 0.0))[0] for _ in range(5_000)]
    counts = Counter(row.answer for row in rows if row.before == prompt)
    shares = CORPUS.battery.compute_shares(statement, "", DOWN, habit)[::-1]  # 1 stands for the highest option
    assert sum(counts.values()) > 200
    for number, share in enumerate(shares, start=1):
        assert counts[str(number)] / sum(counts.values()) == pytest.approx(share, abs=0.12)
    for _ in range(50):
        (row,) = CORPUS.write_row(rng, habit, Lesson(1.0, 1.0, 1.0))
        lines = row.before.splitlines()
        told = next(line for line in lines if line.startswith("Statement: ")).removeprefix("Statement: ")
        assert row.answer == told or f"{row.answer}. {told}" in lines


def test_a_course_ends_with_answers_as_people_give_them() -> None:
    course = COURSES[PLAIN]
    first, last = course.plan_lesson(0), course.plan_lesson(course.steps - 1)
    assert first.sharpness > 2 and first.personas == 0 and first.lookups > 0
    assert last.sharpness == 1 and last.personas > 0
    assert all(COURSES[name].plan_lesson(0).sharpness == 1 for name in HABITS)
    assert 0 < course.compute_rate(course.steps - 1) < course.compute_rate(0) * 2 < course.rate


def test_a_short_training_gives_a_model_and_an_adapter_that_is_added_to_it_the_same_each_time(
    tmp_path, monkeypatch
) -> None:
    name = next(iter(HABITS))
    monkeypatch.setattr(raters, "COURSES", {PLAIN: Course(3, 0.01, True), name: Course(3, 0.01, False)})
    monkeypatch.setattr(raters, "BLOCKS", 4)
    digests = []
    for run in ("first", "second"):
        base, folder = tmp_path / run / PLAIN, tmp_path / run / name
        train_plain_rater(CORPUS, base)
        train_adapter(name, CORPUS, base, folder)
        adapter = read_adapter_and_check_shapes(folder)
        assert (adapter.base, adapter.base_revision) == (PLAIN, compute_sampled_checkpoint_digest(base))
        digests.append((adapter.base_revision, adapter.revision))
    assert digests[0] == digests[1]
