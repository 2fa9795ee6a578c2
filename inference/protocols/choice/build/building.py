"""Build a study step by step. What a step made lies beside the study, and no step asks anything twice.

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
from inference.asking.execute import Task, execute
from inference.asking.failures import NONE, Allowed
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.protocols.choice.build import filters, rewording, selecting, steps
from inference.protocols.choice.build.steps import SOURCED, Step
from inference.engines.contract import Engine
from inference.protocols import choice
from inference.runfolder import json_lines
from inference.stimuli import questions
from inference.stimuli.files import located, shown
from inference.stimuli.questions import EqualChoices, Question

Load = Callable[[Model, int], Engine]


@dataclass(frozen=True, slots=True)
class Plan:
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
    words: int = filters.WORDS
    orders: int = 8
    seed: int = 0
    allowed: Allowed = NONE
    command: tuple[str, ...] = ()

    def beside(self, name: str) -> Path:
        """Name a file or folder beside the study: STUDY.judge for "judge"."""
        return self.out.with_suffix(f".{name}")


@dataclass(frozen=True, slots=True)
class Built:
    """The steps that were made; `done` tells whether the study is written, or waits for the selection."""

    steps: tuple[Step, ...]
    done: bool


def build(plan: Plan, load: Load | None = None) -> Built:
    """Build the study, or go as far as it is possible without the list of selected questions.

    Parameters
    ----------
    load
        As for `inference.asking.execute.execute`.

    Raises
    ------
    InputError
        For a wrong file of questions or list; where no question is left; a folder beside the study was begun with
        other questions or settings.
    RunFailed
        Stopped, or rows failed; answers are kept, and the same command asks for the others. No question was reworded.
    """
    given, equal = sourced(plan.files)
    made = [Step(SOURCED, (*given, *(error.question for error in equal))), filters.filtered(given, equal, plan.words)]
    _refuse_none(made[-1])
    made.append(_reworded(plan, made[-1], load))
    if plan.writers and not made[-1].kept:
        steps.write(plan.out, made)
        raise RunFailed(
            f"no question is left to build from; {made[-1].said()}; what the models wrote is in "
            f"{plan.beside('left-out.csv')}: give other models"
        )
    _refuse_none(made[-1])
    asked = [replace(each, orders=_orders(plan, each), split=None) for each in made[-1].kept]
    if plan.judge is not None:
        _judge(plan, plan.judge, asked, load)
    chosen = plan.selected or (plan.beside("selected.jsonl") if plan.judge else None)
    if chosen is not None and plan.selected is None and not chosen.exists():
        steps.write(plan.out, made)
        return Built(tuple(made), done=False)
    if chosen is not None:
        made.append(selecting.selected(asked, chosen))
        asked = list(made[-1].kept)
    made[-1] = replace(made[-1], kept=selecting.split(asked, plan.seed))
    steps.write(plan.out, made)
    write(plan.out, made[-1].kept)
    return Built(tuple(made), done=True)


def sourced(files: Sequence[str]) -> tuple[list[Question], list[EqualChoices]]:
    """Read the questions of all files; a question whose data set is not known gets the name of its file.

    Raises
    ------
    InputError
        As for `questions.read`; and for an item that two files have.
    """
    of: dict[str, str] = {}
    found: list[Question] = []
    equal: list[EqualChoices] = []
    for name in files:
        path, wrong = located(name), list[EqualChoices]()
        read = questions.read(path, wrong)
        for error in wrong:
            error.question = _with_source(error.question, path)
        for question in (*read, *(error.question for error in wrong)):
            first = of.setdefault(question.item, name)
            if first != name:
                raise InputError(f"{name}: item {shown(question.item)} is in {first}, too; name each question once")
        found += [_with_source(question, path) for question in read]
        equal += wrong
    return found, equal


def _with_source(question: Question, path: Path) -> Question:
    return question if question.source else replace(question, source=path.stem)


def write(path: Path, given: Iterable[Question]) -> None:
    """Write questions in our own layout, atomically; `questions.read` gives them back."""
    json_lines.write(path, map(_record, given))


def _record(question: Question) -> dict[str, object]:
    return {
        "item": question.item,
        "question": question.question,
        "paraphrases": list(question.paraphrases),
        "choices": list(question.choices),
        "answer": question.letter,
        "subset": question.subset,
        "source": question.source,
        "split": question.split,
        "orders": [list(order) for order in question.orders],
    }


def _orders(plan: Plan, question: Question) -> tuple[tuple[int, ...], ...]:
    return questions.draw_orders(question.item, len(question.choices), plan.orders, plan.seed)


def _refuse_none(step: Step) -> None:
    if not step.kept:
        raise InputError(f"no question is left to build from; {step.said()}")


def _reworded(plan: Plan, before: Step, load: Load | None) -> Step:
    """Ask the writers, each in its folder; or take the paraphrases that the questions hold."""
    given = before.kept
    if not plan.writers:
        if not any(question.paraphrases for question in given):
            raise InputError(
                f"{plan.files[0]}: its questions hold no paraphrases; name two models that write them, each with "
                f"--paraphrase-model (so far {before.said()})"
            )
        return rewording.own(given)
    known = next((question.item for question in given if question.paraphrases), None)
    if known is not None:
        raise InputError(
            f"--paraphrase-model: item {shown(known)} holds paraphrases already; leave the models out to take those, "
            "or take the paraphrases out of the file"
        )
    study = rewording.study(given, plan.out.stem, plan.files[0])
    asked = rewording.Questions(rewording.prompt_book(plan.book), plan.max_tokens)
    folders = [plan.beside(f"paraphrase-{number}") for number, _ in enumerate(plan.writers, start=1)]
    execute(
        [
            Task(study, [model], asked, plan.settings, str(folder), command=plan.command, allowed=plan.allowed)
            for model, folder in zip(plan.writers, folders, strict=True)
        ],
        load=load,
    )
    wrote = {model.id: rewording.answers(folder, model.id) for model, folder in zip(plan.writers, folders, strict=True)}
    return rewording.reworded(given, wrote)


def _judge(plan: Plan, judge: Model, asked: Sequence[Question], load: Load | None) -> None:
    """Have the judge write an answer to every wording in every order, at temperature 0 (Choi, section 4.3)."""
    candidates = plan.beside("candidates.jsonl")
    folder = plan.beside("judge")
    write(candidates, asked)
    parser = ArgumentParser()
    choice.add_arguments(parser)
    options = parser.parse_args(
        ["--items", str(candidates), "--answer", "text", "--max-tokens", str(plan.judge_max_tokens)]
    )
    options.name, options.seed, options.out = f"{plan.out.stem}-judged", plan.settings.seed, str(folder)
    study, wanted = choice.prepare(options)
    task = Task(study, [judge], wanted, plan.settings, str(folder), command=plan.command, allowed=plan.allowed)
    execute([task], load=load)
