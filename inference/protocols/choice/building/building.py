"""Build a study step by step. The files of every step lie beside the study, so a repeated call asks nothing twice.

STUDY.jsonl
    the study, written last: `run choice --items` reads it;
STUDY.building.csv, STUDY.left-out.csv
    what every step kept and left out, in numbers and one by one;
STUDY.paraphrase-1, STUDY.paraphrase-2
    run folders: what each model wrote, from which the paraphrases are read anew each time;
STUDY.candidates.jsonl, STUDY.judge
    what the judge is asked, and the run folder of its answers;
STUDY.selected.jsonl
    the list that `waver select STUDY.judge` makes.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ground.errors import InputError, RunFailed
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.failures import NO_FAILURES, AllowedFailures
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Engine
from inference.protocols import choice
from inference.protocols.choice.building import filters, rewording, selecting, steps
from inference.protocols.choice.building.steps import SOURCED, Step
from inference.runfolder import json_lines
from inference.stimuli import questions
from inference.stimuli.questions import EqualChoices, Question
from inference.stimuli.reading.files import expand_user_path, shorten_value

Load = Callable[[Model, int], Engine]


@dataclass(frozen=True, slots=True)
class BuildingPlan:
    """What to build and with whom.

    Attributes
    ----------
    files
        Of questions, in any layout.
    out
        The study, a .jsonl file.
    writers
        The models that write paraphrases: two, or none where the files hold them.
    book, max_tokens
        How they are asked.
    judge
        The model that answers all wordings; None: nothing is asked.
    selected
        The list of selected questions; None: STUDY.selected.jsonl, where there is a judge.
    words
        The fewest words of a question.
    orders, seed
        Orders of the choices per question; the seed of these and of the splits.
    """

    files: tuple[str, ...]
    out: Path
    settings: Settings
    writers: tuple[Model, ...] = ()
    book: str | None = None
    max_tokens: int = 256
    judge: Model | None = None
    judge_max_tokens: int = 512
    selected: Path | None = None
    words: int = filters.FEWEST_WORDS
    orders: int = 8
    seed: int = 0
    allowed: AllowedFailures = NO_FAILURES
    command: tuple[str, ...] = ()

    def name_file_beside_study(self, name: str) -> Path:
        """Name a file or folder beside the study: STUDY.judge for "judge"."""
        return self.out.with_suffix(f".{name}")


@dataclass(frozen=True, slots=True)
class BuiltStudy:
    """The steps that were made; `done` tells whether the study is written, or waits for the selection."""

    steps: tuple[Step, ...]
    done: bool


def build_study_in_steps(plan: BuildingPlan, load: Load | None = None) -> BuiltStudy:
    """Build the study, or go as far as it is possible without the list of selected questions.

    Parameters
    ----------
    plan
        What to build and with whom.
    load
        As for `inference.asking.execute.ask_tasks_and_list_tallies`.

    Returns
    -------
    The steps that were made, and whether the study is written.

    Raises
    ------
    InputError
        For a wrong file of questions or list; where no question is left; a folder beside the study was begun with
        other questions or settings.
    RunFailed
        Stopped, or rows failed; answers are kept, and the same command asks for the others. No question was reworded.
    """
    sourced_questions, equal_choices = read_questions_and_equal_choices_of_files(plan.files)
    made_steps = [
        Step(SOURCED, (*sourced_questions, *(error.question for error in equal_choices))),
        filters.build_filtering_step(sourced_questions, equal_choices, plan.words),
    ]
    _refuse_step_without_questions(made_steps[-1])
    made_steps.append(_build_rewording_step(plan, made_steps[-1], load))
    if plan.writers and not made_steps[-1].kept_questions:
        steps.write_step_tables(plan.out, made_steps)
        raise RunFailed(
            f"no question is left to build from; {made_steps[-1].describe_questions_left_and_dropped()}; "
            "what the models wrote is in "
            f"{plan.name_file_beside_study('left-out.csv')}: give other models"
        )
    _refuse_step_without_questions(made_steps[-1])
    candidates = [
        replace(
            question,
            orders=questions.draw_choice_orders(question.item, len(question.choices), plan.orders, plan.seed),
            split=None,
        )
        for question in made_steps[-1].kept_questions
    ]
    if plan.judge is not None:
        _ask_judge_and_write_run_folder(plan, plan.judge, candidates, load)
    selected_path = plan.selected or (plan.name_file_beside_study("selected.jsonl") if plan.judge else None)
    if selected_path is not None and plan.selected is None and not selected_path.exists():
        steps.write_step_tables(plan.out, made_steps)
        return BuiltStudy(tuple(made_steps), done=False)
    if selected_path is not None:
        made_steps.append(selecting.build_step_of_inconsistent_confidence(candidates, selected_path))
        candidates = list(made_steps[-1].kept_questions)
    made_steps[-1] = replace(
        made_steps[-1], kept_questions=selecting.assign_random_splits_within_subsets(candidates, plan.seed)
    )
    steps.write_step_tables(plan.out, made_steps)
    write_questions(plan.out, made_steps[-1].kept_questions)
    return BuiltStudy(tuple(made_steps), done=True)


def read_questions_and_equal_choices_of_files(files: Sequence[str]) -> tuple[list[Question], list[EqualChoices]]:
    """Read the questions of all files; a question whose data set is not known gets the name of its file.

    Raises
    ------
    InputError
        As for `questions.read_questions`; and for an item that two files have.
    """
    file_by_item: dict[str, str] = {}
    all_questions: list[Question] = []
    equal_choices: list[EqualChoices] = []
    for name in files:
        path, file_equal_choices = expand_user_path(name), list[EqualChoices]()
        file_questions = questions.read_questions(path, file_equal_choices)
        for error in file_equal_choices:
            error.question = _fill_missing_source(error.question, path)
        items = [question.item for question in (*file_questions, *(error.question for error in file_equal_choices))]
        for item in items:
            if item in file_by_item:
                raise InputError(
                    f"{name}: item {shorten_value(item)} is in {file_by_item[item]}, too; name each question once, and "
                    "each file"
                )
        file_by_item |= dict.fromkeys(items, name)
        all_questions += [_fill_missing_source(question, path) for question in file_questions]
        equal_choices += file_equal_choices
    return all_questions, equal_choices


def _fill_missing_source(question: Question, path: Path) -> Question:
    """Take the name of the file as the source of a question that has none."""
    return question if question.source else replace(question, source=path.stem)


def write_questions(path: Path, question_list: Iterable[Question]) -> None:
    """Write questions in our own layout, atomically; `questions.read_questions` reads them back.

    Parameters
    ----------
    path
        The .jsonl file; one that is there is replaced.
    question_list
        The questions, a line each.
    """
    json_lines.write_json_lines(path, map(_build_question_record, question_list))


def _build_question_record(question: Question) -> dict[str, object]:
    """Make the JSON record of a question, one line of a study's file."""
    return {
        "item": question.item,
        "question": question.question,
        "paraphrases": list(question.paraphrases),
        "choices": list(question.choices),
        "answer": question.letter_of_right_choice,
        "subset": question.subset,
        "source": question.source,
        "split": question.split,
        "orders": [list(order) for order in question.orders],
    }


def _refuse_step_without_questions(step: Step) -> None:
    """Refuse a step that keeps no question."""
    if not step.kept_questions:
        raise InputError(f"no question is left to build from; {step.describe_questions_left_and_dropped()}")


def _build_rewording_step(plan: BuildingPlan, previous_step: Step, load: Load | None) -> Step:
    """Ask the writers, each in its folder; or take the paraphrases that the questions hold."""
    question_list = previous_step.kept_questions
    if not plan.writers:
        if not any(question.paraphrases for question in question_list):
            raise InputError(
                f"{plan.files[0]}: its questions hold no paraphrases; name two models that write them, each with "
                f"--paraphrase-model (so far {previous_step.describe_questions_left_and_dropped()})"
            )
        return rewording.build_step_of_paraphrases_in_file(question_list)
    paraphrased_item = next((question.item for question in question_list if question.paraphrases), None)
    if paraphrased_item is not None:
        raise InputError(
            f"--paraphrase-model: item {shorten_value(paraphrased_item)} holds paraphrases already; leave the models "
            "out to take those, or take the paraphrases out of the file"
        )
    study = rewording.build_rewording_study(question_list, plan.out.stem, plan.files[0])
    rewording_request = rewording.Questions(rewording.read_rewording_prompts(plan.book), plan.max_tokens)
    folders = [plan.name_file_beside_study(f"paraphrase-{number}") for number, _ in enumerate(plan.writers, start=1)]
    ask_tasks_and_list_tallies(
        [
            Task(
                study,
                [model],
                rewording_request,
                plan.settings,
                str(folder),
                command=plan.command,
                allowed=plan.allowed,
            )
            for model, folder in zip(plan.writers, folders, strict=True)
        ],
        load=load,
    )
    texts_by_model = {
        model.id: rewording.read_rewordings(folder, model.id)
        for model, folder in zip(plan.writers, folders, strict=True)
    }
    return rewording.build_step_of_two_model_rewordings(question_list, texts_by_model)


def _ask_judge_and_write_run_folder(
    plan: BuildingPlan, judge: Model, candidate_questions: Sequence[Question], load: Load | None
) -> None:
    """Have the judge write an answer to every wording in every order, at temperature 0 (Choi, section 4.3)."""
    candidates = plan.name_file_beside_study("candidates.jsonl")
    folder = plan.name_file_beside_study("judge")
    write_questions(candidates, candidate_questions)
    parser = ArgumentParser()
    choice.add_arguments(parser)
    options = parser.parse_args(
        ["--items", str(candidates), "--answer", "text", "--max-tokens", str(plan.judge_max_tokens)]
    )
    options.name, options.seed, options.out = f"{plan.out.stem}-judged", plan.settings.seed, str(folder)
    study, judge_questions = choice.prepare_study(options)
    task = Task(study, [judge], judge_questions, plan.settings, str(folder), command=plan.command, allowed=plan.allowed)
    ask_tasks_and_list_tallies([task], load=load)
