"""Ask: study x model x condition x engine -> run folder."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from inference.asking import Exact, Prompts, Questions, Response, Round, answers
from inference.errors import InputError, RunFailed
from inference.models import Model
from inference.prompts import CHAT, CLOZE, Prompt
from inference.session import Stop, Tally, Writer
from inference.store import Run
from inference.study import Study, Variant

if TYPE_CHECKING:
    from inference.engines import Engine


LISTED = 100  # items without paraphrases that are named one by one


@dataclass(frozen=True, slots=True)
class Settings:
    """How models are asked; what stays `auto` or None is chosen per model and recorded."""

    form: str = "auto"
    engine: str = "auto"
    dtype: str = "auto"
    device: str = "auto"
    revision: str | None = None
    seed: int | None = None
    batch_size: int | None = None

    def load(self, model: Model, seed: int) -> Engine:
        """The engine of a model."""
        from inference import engines

        return engines.load(
            model.source,
            engine=self.engine,
            dtype=self.dtype,
            device=self.device,
            revision=model.fields.get("revision", self.revision),
            seed=seed,
            batch_size=self.batch_size,
        )


def execute(
    study: Study,
    models: Sequence[Model],
    questions: Questions,
    settings: Settings,
    out: str,
    *,
    descriptions: Mapping[str, Mapping[str, Any]] | None = None,
    command: Sequence[str] = (),
    load: Callable[[Model, int], Engine] | None = None,
) -> list[Tally]:
    """Ask every model every variant under every condition, but for what the run folder already has.

    Parameters
    ----------
    study
        What is asked.
    models
        Asked one after the other; only one is in memory at a time.
    questions, settings
        The protocol's rounds of prompts with their conditions, and the engine to ask with.
    out
        The run folder, new or of the same study; rows appear in it at batch boundaries.
    descriptions
        Fields by model id (`models.read_descriptions`), which override what is known about a model.
    command
        The call, for `run.json`.
    load
        Makes an engine from a model and the seed; `Settings.load` unless given.

    Returns
    -------
    list of Tally
        One per model and condition that had something left to ask.

    Raises
    ------
    RunFailed
        If stopped by Ctrl-C or SIGTERM (after the batch in hand), or if no prompt of a condition got a response.
    InputError
        If a model, form or setting does not fit, or differs from what the folder records under that name.
    """
    list_unstable(study)
    with Run.create_or_open(out, study, seed=settings.seed, command=command) as run, Stop() as stop:
        described = _describe(run, models, descriptions or {})
        tallies: list[Tally] = []
        for model in described:
            if stop.requested:
                raise RunFailed(f"stopped before {model.id}; give the same command again to go on")
            if _finished(run, model, questions, settings):
                print(f"{model.id}: nothing left to ask", file=sys.stderr)
                continue
            engine = (load or settings.load)(model, run.seed)
            tallies += _ask_model(run, model, engine, questions, settings, stop)
            del engine
            release_memory()
        if not any(model.id in run.models for model in described):
            raise InputError(f"no model of this call can be asked for an answer of {study.protocol}")
        run.finish()
    hopeless = [tally for tally in tallies if tally.asked and tally.failed == tally.asked]
    if hopeless:
        raise RunFailed(f"{hopeless[0].model} {hopeless[0].condition}: not one response ({hopeless[0].first_error})")
    return tallies


def list_unstable(study: Study) -> None:
    """Name the items without paraphrases on standard error."""
    alone = study.without_paraphrases
    if alone:
        names = ", ".join(alone[:LISTED]) + (" ..." if len(alone) > LISTED else "")
        print(
            f"{len(alone)} of {len(study.items)} items have fewer than two paraphrases: "
            f"asked, but left out of stability statistics: {names}",
            file=sys.stderr,
        )


def _describe(run: Run, models: Sequence[Model], stated: Mapping[str, Mapping[str, Any]]) -> list[Model]:
    """Models with what the user states about them; statements about models asked earlier are recorded at once."""
    asked = {model.id for model in models}
    for name, fields in stated.items():
        if name in run.models and name not in asked:
            run.add_model(name, {**run.models[name], **fields})
        elif name not in asked:
            raise InputError(f"--models: there is no model '{name}' in this call or run; correct its id or take it out")
    return [replace(model, fields={**model.fields, **stated.get(model.id, {})}) for model in models]


def _finished(run: Run, model: Model, questions: Questions, settings: Settings) -> bool:
    """Whether nothing is left to ask a hub model, so that a large one need not be loaded to find that out.

    Only under settings that are as recorded or were left open. A local folder is always loaded: what it holds may have
    changed under the same name, and then the call must be refused.
    """
    if model.id != model.source or Path(model.source).is_dir():
        return False
    known = run.models.get(model.id, {})
    form = known.get("forms", {}).get(settings.form)
    chosen = {"engine": settings.engine, "dtype": settings.dtype, "device": settings.device}
    chosen["revision"] = model.fields.get("revision", settings.revision)
    if form is None or any(value not in ("auto", None, known.get(name)) for name, value in chosen.items()):
        return False
    for each in askable(form, questions.rounds(form)):
        wanted = {variant.key for variant in run.study.variants if each.chosen(variant)}
        for condition in each.conditions:
            if run.conditions.get(condition.name) != condition.fields or wanted - run.done(model.id, condition.name):
                return False
    run.add_model(model.id, {**known, **model.fields})
    return True


def _ask_model(
    run: Run, model: Model, engine: Engine, questions: Questions, settings: Settings, stop: Stop
) -> list[Tally]:
    form = engine.form(settings.form)
    wanted = questions.rounds(form)
    if not wanted:
        print(no_room(model, run.study), file=sys.stderr)
        return []
    rounds = fitting_rounds(model, engine, form, wanted)
    if len(rounds) < len(wanted):
        print(f"{model.id} fills a mask and writes no text: asked for probabilities only", file=sys.stderr)
    forms = {**run.models.get(model.id, {}).get("forms", {}), settings.form: form}
    run.add_model(model.id, {**engine.info, **model.fields, "forms": forms})
    variants = list(run.study.variants)
    tallies = []
    for each in rounds:
        for condition in each.conditions:
            run.add_condition(condition.name, condition.fields)
        began = time.monotonic()
        found = _ask_round(run, model.id, each, engine, [variant for variant in variants if each.chosen(variant)], stop)
        for tally in found:
            tally.report(time.monotonic() - began)
        tallies += found
    return tallies


def no_room(model: Model, study: Study) -> str:
    """What is said of a model that a protocol has nothing to ask."""
    return f"{model.id} fills a mask, which has no room for an answer of {study.protocol}: left out"


def fitting_rounds(model: Model, engine: Engine, form: str, rounds: Sequence[Round]) -> list[Round]:
    """The rounds that a model can be asked in this form.

    Raises
    ------
    InputError
        For a masked model where only texts are wanted, and for option probabilities of a model in chat form that
        thinks before it answers: its first token is no answer.
    """
    fitting = askable(form, rounds)
    if not fitting:
        raise InputError(f"model {model.id} fills a mask and writes no text: ask it for --answer probability")
    if form == CHAT and engine.info.get("thinks") and any(map(_exact, fitting)):
        raise InputError(
            f"model {model.id} thinks before it answers, so its first token is no answer: "
            "ask it for text (--answer text), or with --form plain"
        )
    return fitting


def askable(form: str, rounds: Sequence[Round]) -> list[Round]:
    """All rounds, but those for texts where a mask is filled."""
    return [each for each in rounds if form != CLOZE or _exact(each)]


def _exact(asked: Round) -> bool:
    return any(isinstance(condition.way, Exact) for condition in asked.conditions)


def _ask_round(
    run: Run, model: str, asked: Round, engine: Engine, variants: Sequence[Variant], stop: Stop
) -> list[Tally]:
    """One model in one round: a tally per condition.

    Batches come from the full list and are asked as composed even where only some of their rows are missing, so the
    numbers do not depend on how often a run was interrupted.
    """
    tallies = {condition.name: Tally(model, condition.name) for condition in asked.conditions}
    done = {condition.name: run.done(model, condition.name) for condition in asked.conditions}
    due = [condition for condition in asked.conditions if len(done[condition.name]) < len(variants)]
    if not due:
        return list(tallies.values())
    if stop.requested:
        raise RunFailed(f"stopped before {model} {due[0].name}; give the same command again to go on")
    prompts = Prompts(variants, asked.render, engine.mask_token)

    def missing(number: int) -> bool:
        return any(variants[number].key not in done[condition.name] for condition in due)

    batches = [batch for batch in engine.batches(prompts) if any(map(missing, batch))]
    total = len(due) * len(variants)
    saved = sum(len(done[condition.name]) for condition in due)
    title = f"{model} {due[0].name}" + (f" and {len(due) - 1} more" if len(due) > 1 else "")
    with (
        Writer(run) as writer,
        tqdm(total=total, initial=saved, desc=title, unit="prompt", disable=None) as bar,
    ):
        for batch, asked_prompts, responses in answers(engine, prompts, batches, [condition.way for condition in due]):
            before = saved
            for condition, column in zip(due, responses, strict=True):
                for number, prompt, response in zip(batch, asked_prompts, column, strict=True):
                    variant = variants[number]
                    if variant.key not in done[condition.name]:
                        writer.rows.append(_row(model, condition.name, variant, prompt, response, asked))
                        tallies[condition.name].add(variant, response)
                        saved += 1
            writer.flush_if_due()
            bar.update(saved - before)
            if stop.requested and saved < total:
                raise RunFailed(
                    f"stopped; {saved:,} of {total:,} rows of {title} are saved; give the same command again to go on"
                )
    return list(tallies.values())


def _row(
    model: str, condition: str, variant: Variant, prompt: Prompt, response: Response, asked: Round
) -> dict[str, Any]:
    row: dict[str, Any] = {"model": model, "condition": condition, "item": variant.item, "variant": variant.variant}
    if response.error is not None:
        return {**row, "error": response.error}
    return {**row, **asked.read(variant, prompt, response)}


def release_memory() -> None:
    """Give the memory of a model that nobody holds any more back to the device."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
