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

from inference.errors import InputError, RunFailed
from inference.models import Model
from inference.prompts import Prompt, PromptBook
from inference.session import Stop, Tally, Writer
from inference.store import Run
from inference.study import Study, Variant

if TYPE_CHECKING:
    from inference.engines import Engine, Score


LISTED = 100  # items without paraphrases that are named one by one


@dataclass(frozen=True, slots=True)
class Settings:
    """How models are asked; what stays `auto` or None is chosen per model and recorded."""

    form: str = "auto"
    option_orders: tuple[str, ...] = ("yes-no",)
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
    book: PromptBook,
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
    book, settings
        The prompts, and how to ask. Every form and every option order is a condition.
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
            if _finished(run, model, book, settings):
                print(f"{model.id}: nothing left to ask", file=sys.stderr)
                continue
            engine = (load or settings.load)(model, run.seed)
            tallies += _ask_model(run, model, engine, book, settings, stop)
            del engine
            release_memory()
        run.finish()
    hopeless = [tally for tally in tallies if tally.asked and tally.failed == tally.asked]
    if hopeless:
        raise RunFailed(f"{hopeless[0].model} {hopeless[0].condition}: not one response ({hopeless[0].first_error})")
    return tallies


def condition_fields(book: PromptBook, form: str, option_order: str) -> dict[str, Any]:
    """What `run.json` records about a condition."""
    return {"form": form, "option_order": option_order, "prompt": book.name, "prompt_hash": book.hash(form)}


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


def _finished(run: Run, model: Model, book: PromptBook, settings: Settings) -> bool:
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
    wanted = {variant.key for variant in run.study.variants}
    for order in settings.option_orders:
        condition = book.condition(form, order)
        if run.conditions.get(condition) != condition_fields(book, form, order):
            return False
        if wanted - run.done(model.id, condition):
            return False
    run.add_model(model.id, {**known, **model.fields})
    return True


def _ask_model(run: Run, model: Model, engine: Engine, book: PromptBook, settings: Settings, stop: Stop) -> list[Tally]:
    form = engine.form(settings.form)
    forms = {**run.models.get(model.id, {}).get("forms", {}), settings.form: form}
    run.add_model(model.id, {**engine.info, **model.fields, "forms": forms})
    variants = list(run.study.variants)
    tallies = []
    for order in settings.option_orders:
        condition = book.condition(form, order)
        run.add_condition(condition, condition_fields(book, form, order))
        prompts = [book.render(form, variant, order, engine.mask_token) for variant in variants]
        began = time.monotonic()
        tally = _ask_condition(run, model.id, condition, engine, variants, prompts, stop)
        tally.report(time.monotonic() - began)
        tallies.append(tally)
    return tallies


def _ask_condition(
    run: Run,
    model: str,
    condition: str,
    engine: Engine,
    variants: Sequence[Variant],
    prompts: Sequence[Prompt],
    stop: Stop,
) -> Tally:
    """One model under one condition.

    Batches come from the full list and are scored as composed even where only some of their rows are missing, so the
    numbers do not depend on how often a run was interrupted.
    """
    tally = Tally(model, condition)
    done = run.done(model, condition)
    if len(done) == len(prompts):
        return tally
    with (
        Writer(run) as writer,
        tqdm(total=len(prompts), initial=len(done), desc=f"{model} {condition}", unit="prompt", disable=None) as bar,
    ):
        for batch in engine.batches(prompts):
            missing = {number for number in batch if variants[number].key not in done}
            if not missing:
                continue
            if stop.requested:
                saved = f"{len(done) + tally.asked:,} of {len(prompts):,} prompts of {model} {condition} are saved"
                raise RunFailed(f"stopped; {saved}; give the same command again to go on")
            scores = engine.score([prompts[number] for number in batch])
            for number, score in zip(batch, scores, strict=True):
                if number in missing:
                    writer.rows.append(_row(model, condition, variants[number], score))
                    tally.add(variants[number], score)
            writer.flush_if_due()
            bar.update(len(missing))
    return tally


def _row(model: str, condition: str, variant: Variant, score: Score) -> dict[str, Any]:
    row: dict[str, Any] = {"model": model, "condition": condition, "item": variant.item, "variant": variant.variant}
    if score.error is not None:
        return {**row, "error": score.error}
    answer = None if score.answer is None else variant.options[score.answer].label
    return {**row, "probability": score.probability, "logprob": score.logprob, "mass": score.mass, "answer": answer}


def release_memory() -> None:
    """Give the memory of a model that nobody holds any more back to the device."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
