"""Ask a model which negations are acceptable sentences (Yoshida et al., section 3.1.1, step 1.2, and appendix A.1).

Every negation is asked about on its own, after its source: that counts as acceptable, so that only what the negation
spoils is judged. The answers are kept as a run folder, and the same call asks for those that it does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow.compute as pc

from ground import run_json
from inference.asking.answer_ways import AnswerWays
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.asking.rounds import Round
from inference.engines.contract import Engine, Sampling
from inference.protocols.negation.negate.sentences import NegatedSentence
from inference.runfolder.parquet import read_parquet
from inference.stimuli.study import Item, Option, Study, Variant
from inference.stimuli.templates.prompt_forms import OPTION_FIELDS, Shot
from inference.stimuli.templates.prompts import Prompt, PromptBook, build_template_values_of_options

NAME = "negate"
ACCEPTABLE, UNACCEPTABLE = "acceptable", "unacceptable"
OPTIONS = tuple(Option(label, label) for label in (ACCEPTABLE, UNACCEPTABLE))
DECISION_RULE = (
    "the option that the likeliest next token begins, or that the generated text names; null: no valid answer"
)
PROMPT_FOLDER = Path(__file__).parent
WAYS = {
    "probability": AnswerWays(),
    "text": AnswerWays(probability=False, texts=(Sampling(max_tokens=32),)),  # as in appendix A.1
}


def read_judging_prompts(language: str, path: str | None = None) -> PromptBook:
    """Read a prompt file that asks whether a sentence is acceptable.

    Parameters
    ----------
    language
        The language of Waver's own prompts: "en" or "ja".
    path
        A file of the user's; None: Waver's own in that language.

    Returns
    -------
    The prompts.

    Raises
    ------
    InputError
        Naming the file, the form and the field that is wrong.
    """
    return PromptBook.load(path, PROMPT_FOLDER / f"prompt-{language}.yaml", OPTION_FIELDS)


def build_judging_study(negated_sentences: Iterable[NegatedSentence], name: str, language: str, source: str) -> Study:
    """Make a study of negations: an item is a sentence, its variants are its negations.

    Parameters
    ----------
    negated_sentences
        The sentences, each with its negations; one that is there twice is one item.
    name
        The name of the study.
    language
        Of the sentences.
    source
        Where the sentences came from, as the user gave it.

    Returns
    -------
    The study; every variant has its sentence as the attribute `source`.
    """
    items = []
    for number, (sentence, negations) in enumerate(
        {negated.source: negated.negations for negated in negated_sentences}.items(), start=1
    ):
        item = f"sentence-{number:06d}"
        variants = tuple(
            Variant(item, f"negation-{place:03d}", "negation", negation.text, OPTIONS, language=language,
                    attributes={"source": sentence})
            for place, negation in enumerate(negations, start=1)
        )  # fmt: skip
        items.append(Item(item, variants))
    canonical = tuple(option.label for option in OPTIONS)
    return Study(NAME, name, tuple(items), canonical, DECISION_RULE, source, paraphrased=False)


@dataclass(frozen=True, slots=True)
class Questions:
    """The question about every negation; `answer` is one of `WAYS`."""

    book: PromptBook
    answer: str = "probability"

    def rounds(self, form: str) -> list[Round]:
        """Make the round of a prompt form.

        Raises
        ------
        InputError
            The prompts do not have this form.
        """
        fields = {"form": form, **self.book.build_prompt_name_and_hash_fields_of_form(form), "shots": 1}
        return WAYS[self.answer].rounds(
            self.book.name_condition(form, "1-shot"), fields, partial(self._render_prompt, form)
        )

    def _render_prompt(self, form: str, variant: Variant, mask_token: str | None) -> Prompt:
        """Render the prompt of a negated sentence; the original sentence stands before it as an acceptable example."""
        accepted = Shot(variant.attributes["source"], ACCEPTABLE)
        return self.book.render(form, build_template_values_of_options(variant, mask_token), shots=[accepted])


def ask_acceptability_verdicts(
    judged_study: Study,
    model: Model,
    questions: Questions,
    settings: Settings,
    out: Path,
    *,
    command: Sequence[str] = (),
    load: Callable[[Model, int], Engine] | None = None,
) -> dict[tuple[str, str], str | None]:
    """Ask a model about every negation; what the run folder already has is not asked again.

    Parameters
    ----------
    judged_study
        From `build_judging_study`.
    model
        Whom to ask.
    questions
        The prompts, and the way of answering.
    settings
        How the model is run.
    out
        The run folder.
    command
        The call of the user, recorded in run.json.
    load
        As for `inference.asking.execute.ask_tasks_and_list_tallies`.

    Returns
    -------
    (sentence, negation) -> "acceptable" or "unacceptable", whichever is more probable or named in the text; None where
    both are equally probable or the text names neither.

    Raises
    ------
    InputError
        The folder is something else, or a setting does not fit the model.
    RunFailed
        Stopped, or calls failed; answers are kept, and the same command asks for the others.
    """
    ask_tasks_and_list_tallies([Task(judged_study, [model], questions, settings, str(out), command=command)], load=load)
    form = run_json.read_run_json(out)["models"][model.id]["forms"][settings.form]
    (condition,) = (condition.name for asking_round in questions.rounds(form) for condition in asking_round.conditions)
    row_filter = (pc.field("model") == model.id) & (pc.field("condition") == condition)
    verdict_by_key: dict[tuple[str, str], str | None] = {}
    for part in sorted((out / "responses").glob("part-*.parquet")):
        rows = read_parquet(part, ["item", "variant", "probability", "answer"], filters=row_filter).to_pylist()
        verdict_by_key.update(
            {
                (row["item"], row["variant"]): _choose_acceptability_verdict(row["probability"], row["answer"])
                for row in rows
            }
        )
    return {
        (variant.attributes["source"], variant.text): verdict_by_key[variant.key] for variant in judged_study.variants
    }


def _choose_acceptability_verdict(
    verdict_probabilities: Sequence[float] | None, text_verdict: str | None
) -> str | None:
    """Take the more probable verdict, else the one of the text; None where both are equally probable."""
    if verdict_probabilities is None:
        return text_verdict
    acceptable, unacceptable = verdict_probabilities
    return None if acceptable == unacceptable else ACCEPTABLE if acceptable > unacceptable else UNACCEPTABLE
