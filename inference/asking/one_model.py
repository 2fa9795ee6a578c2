"""Ask one model all rounds of one study, batch by batch, and write the rows into the run folder."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ground import progress
from ground.errors import InputError, NoSuchModel, RunFailed
from ground.importing import import_without_interruption
from inference.asking import recorded_prompts
from inference.asking.expected_rows import record_conditions_and_expected_rows
from inference.asking.models import Model, format_similar_model_hint
from inference.asking.rounds import (
    ClusterEngine,
    Condition,
    Exact,
    PendingRound,
    Prompts,
    Questions,
    Response,
    Round,
    ask_rounds,
)
from inference.asking.session import (
    PAID_EVERY,
    SAVED_EVERY,
    CallProgress,
    Stop,
    Tally,
    Writer,
    copy_fields_with_pruned_paths_as_shortcut,
    print_prompt_and_failure_counts,
)
from inference.engines import ENGINES, is_engine_of_server
from inference.engines.contract import NO_SAMPLER, Engine, StreamingEngine, Thinking
from inference.engines.digest import compute_sampled_checkpoint_digest
from inference.engines.hub import is_hub_id_rather_than_path, is_hub_reachable_else_require_cached_model
from inference.runfolder.store import Run
from inference.stimuli.study import Variant
from inference.stimuli.templates.prompt_forms import CHAT, CLOZE, PAIR, PLAIN
from inference.stimuli.templates.prompts import Prompt

MOST_SINGLE_ROUNDS = 20  # rounds of a model that are asked, and written, one by one
# Prompts that are measured and cut into batches together: enough that rows of like length meet in a batch, and so few
# that the first answers come soon and a study of any size takes the same memory.
PROMPTS_CUT_TOGETHER = 20_000
SILENT = {CLOZE: "fills a mask", PAIR: "classifies"}  # form of models that write no text -> what they do instead


@dataclass(frozen=True, slots=True)
class Settings:
    """The engine settings of a call; what is `auto` or None is chosen per model and recorded."""

    form: str = "auto"
    engine: str = "auto"
    dtype: str = "auto"
    device: str = "auto"
    revision: str | None = None
    seed: int | None = None
    batch_size: int | None = None
    engine_settings: Mapping[str, Any] = field(default_factory=dict)
    """Those of single engines by the `keyword` of their entries; None where the call gives none."""

    def load_model_engine(self, model: Model, seed: int) -> Engine:
        """Load a model into its engine.

        Parameters
        ----------
        model, seed
            As in `inference.engines.load_engine`.

        Returns
        -------
        The engine.

        Raises
        ------
        InputError
            As in `inference.engines.load_engine`, with the most similar name where there is no such model.
        """
        from inference import engines

        revision = model.fields.get("revision", self.revision)
        try:
            if self._loads_checkpoint() and is_hub_id_rather_than_path(model.source):
                is_hub_reachable_else_require_cached_model(
                    model.source, revision
                )  # before torch is loaded, which takes seconds
            return engines.load_engine(
                model.source,
                engine=self.engine,
                dtype=self.dtype,
                device=self.device,
                revision=revision,
                seed=seed,
                batch_size=self.batch_size,
                adapter=model.adapter,
                **self.engine_settings,
            )
        except NoSuchModel as error:
            raise InputError(f"{error}{format_similar_model_hint(model.source)}") from error

    def refuse_missing_model(self, model: Model) -> None:
        """Refuse a model that is plainly not there, as `load_model_engine` does, but at once.

        A server is not asked, and another package's engine may know models that are neither folders nor on the hub.

        Raises
        ------
        InputError
            There is no such model, or its folder or config.json cannot be used.
        """
        if not self._loads_checkpoint():
            return
        loading = import_without_interruption("inference.engines.loading")

        try:
            loading.find_and_check_config_file(model.source, model.fields.get("revision", self.revision))
        except NoSuchModel as error:
            raise InputError(f"{error}{format_similar_model_hint(model.source)}") from error

    def _loads_checkpoint(self) -> bool:
        """Tell whether the engine is one of Waver's own that load a checkpoint from a folder or the hub."""
        return self.engine in ("auto", *ENGINES) and not is_engine_of_server(self.engine)


def find_tallies_of_finished_model(run: Run, model: Model, questions: Questions, settings: Settings) -> list[Tally]:
    """Return the tallies of a model that has nothing left to ask, without loading it.

    Only if every setting is as recorded or left open, and a local folder has the same content; never with an adapter,
    and never for a model of the hub or of a server under a chosen name. What the call states of the model is recorded.

    Parameters
    ----------
    run, model, questions, settings
        As in `ask_model`.

    Returns
    -------
    list of Tally
        Empty: it has to be loaded and asked.
    """
    local = Path(model.source).is_dir() and not is_engine_of_server(settings.engine)
    if model.adapter or (model.id != model.source and not local):
        return []
    recorded_fields = run.models.get(model.id, {})
    form = recorded_fields.get("forms", {}).get(settings.form)
    chosen = {
        "engine": settings.engine,
        "dtype": settings.dtype,
        "device": settings.device,
        "revision": model.fields.get("revision", settings.revision),
    }
    for own_settings in filter(None, settings.engine_settings.values()):
        chosen |= own_settings.fields_of_run_json
    changed = any(value not in ("auto", None, recorded_fields.get(name)) for name, value in chosen.items())
    if (
        form is None
        or changed
        or (local and compute_sampled_checkpoint_digest(Path(model.source)) != recorded_fields.get("revision"))
    ):
        return []
    tallies = []
    for round_ in _select_rounds_of_prompt_form(form, questions.rounds(form)):
        variants = list(filter(round_.chosen, run.study.variants))
        for condition in round_.conditions:
            same = run.conditions.get(condition.name) == condition.fields
            if not same or any(run.responses.flag_variants_without_response(model.id, condition.name, variants)):
                return []
            tallies.append(Tally(model.id, condition.name, len(variants), study=run.study.name))
    run.add_model(model.id, {**recorded_fields, **model.fields})
    run.add_prompts(model.id, recorded_prompts.build_form_entry_under_hash(questions.book, form), {})
    return tallies


def count_expected_and_saved_rows(run: Run, model: Model, questions: Questions, settings: Settings) -> tuple[int, int]:
    """Count the rows of a model before it is loaded, in the prompt form that it most probably has.

    Parameters
    ----------
    run, model, questions, settings
        As in `ask_model`.

    Returns
    -------
    int
        All rows; 0 where no form fits.
    int
        Those that the run folder has already.
    """
    recorded_form = run.models.get(model.id, {}).get("forms", {}).get(settings.form)
    requested_form = None if settings.form == "auto" else settings.form
    for form in filter(None, (recorded_form, requested_form, CHAT, PLAIN, CLOZE, PAIR)):
        with suppress(InputError):
            rounds = [
                _MissingRows.build_from_run_and_round(run, model.id, round_)
                for round_ in _select_rounds_of_prompt_form(form, questions.rounds(form))
            ]
            n_rows = sum(len(round_.missing) * len(round_.variants) for round_ in rounds)
            return n_rows, n_rows - sum(round_.count() for round_ in rounds)
    return 0, 0


def ask_model(
    run: Run,
    model: Model,
    engine: Engine | ClusterEngine,
    questions: Questions,
    settings: Settings,
    stop: Stop,
    call_progress: CallProgress,
    name: str,
) -> list[Tally]:
    """Ask one model for all rows that are not in the run folder yet.

    Parameters
    ----------
    run
        The run folder, which takes the rows.
    model, engine
        The model, and the engine that it is loaded into.
    questions, settings
        What is asked, and the settings of the call.
    stop
        Notes a Ctrl-C.
    call_progress
        Shows how far the call is.
    name
        What lines about this model and study begin with.

    Returns
    -------
    A tally per condition.

    Raises
    ------
    RunFailed
        If stopped by Ctrl-C or SIGTERM, after the current batch.
    InputError
        If the model, form or a setting does not fit, or differs from what the folder records under that name.
    """
    with stop.end_block_at_first_signal(model.id):  # a server may be tried here
        form = engine.choose_prompt_form(settings.form)
    all_rounds = questions.rounds(form)
    rounds = select_answerable_rounds_or_refuse_model(model, engine, form, all_rounds)
    if len(rounds) < len(all_rounds):
        progress.print_warning(f"{model.id} {SILENT[form]} and writes no text: asked for probabilities only")
    forms = {**run.models.get(model.id, {}).get("forms", {}), settings.form: form}
    recorded_fields = run.models.get(model.id, {})
    info = {**engine.info, **model.fields, "forms": forms}
    run.add_model(model.id, copy_fields_with_pruned_paths_as_shortcut(info, recorded_fields, ()))
    record_conditions_and_expected_rows(run, model.id, rounds)
    with stop.end_block_at_first_signal(model.id):
        rounds = recorded_prompts.record_prompts_and_build_rounds(run, model.id, form, questions, rounds, engine)
    missing_by_round = [_MissingRows.build_from_run_and_round(run, model.id, round_) for round_ in rounds]
    n_rows = sum(len(round_.missing) * len(round_.variants) for round_ in missing_by_round)
    call_progress.add_study_to_progress_bar(
        run.path, n_rows, n_rows - sum(round_.count() for round_ in missing_by_round)
    )
    tallies, begun_all = [], time.monotonic()
    # Engines on a cluster start once for a call, so they get all rounds at once. So does any engine where there are
    # many, such as one for every persona: each would else be a file of few rows.
    at_once = isinstance(engine, ClusterEngine) or len(rounds) > MOST_SINGLE_ROUNDS

    def record_unfollowed_token_paths() -> None:
        every_tally = [tally for round_ in missing_by_round for tally in round_.tallies.values()]
        if any(tally.left_out for tally in every_tally):
            run.add_model(model.id, copy_fields_with_pruned_paths_as_shortcut(info, recorded_fields, every_tally))

    try:
        for together in [missing_by_round] if at_once else [[round_] for round_ in missing_by_round]:
            began = time.monotonic()
            new_tallies = _ask_model_rounds(run, model.id, together, engine, stop, call_progress)
            if progress.is_verbose():
                for tally in new_tallies:
                    seconds = time.monotonic() - began
                    print_prompt_and_failure_counts(tally.format_model_and_condition(), [tally], seconds)
            tallies += new_tallies
    except BaseException:
        with suppress(OSError):  # the first error is the one to tell: on a full disk, nothing can be recorded either
            record_unfollowed_token_paths()
        raise
    record_unfollowed_token_paths()
    if not progress.is_verbose():
        print_prompt_and_failure_counts(name, tallies, time.monotonic() - begun_all)
    return tallies


def select_answerable_rounds_or_refuse_model(
    model: Model, engine: Engine | ClusterEngine, form: str, rounds: Sequence[Round]
) -> list[Round]:
    """Select the rounds that a model can be asked in this form.

    Parameters
    ----------
    model, engine
        The model, and the engine that it is loaded into.
    form
        The prompt form.
    rounds
        All rounds of the questions.

    Returns
    -------
    At least one round.

    Raises
    ------
    InputError
        A masked model or a classifier, where only texts are wanted. Option probabilities of a chat model that thinks
        before it answers, because its first token is no answer, or of a server that does not show them. Thinking of a
        model that does not think.
    """
    fitting = _select_rounds_of_prompt_form(form, rounds)
    thinks = form == CHAT and engine.info.get("thinks")
    if not fitting:
        raise InputError(f"model {model.id} {SILENT[form]} and writes no text: ask it for --answer probability")
    if thinks and any(round_.has_condition_answered_in_way(Exact) for round_ in fitting):
        raise InputError(
            f"model {model.id} thinks before it answers, so its first token is no answer: "
            "ask it for --answer thought (probabilities after its thoughts; --effort none: without them) or text, or "
            "with --form plain"
        )
    if not thinks and any(round_.has_condition_answered_in_way(Thinking) for round_ in fitting):
        raise InputError(
            f"model {model.id} in {form} form does not think before it answers: ask it for --answer probability"
        )
    ways = [condition.way for round_ in fitting for condition in round_.conditions]
    if engine.info.get("sampler") is None and any(
        isinstance(way, Thinking) and way.temperature is None for way in ways
    ):
        raise InputError(f"model {model.id}: {NO_SAMPLER}")
    if engine.info.get("unshown") and any(
        round_.has_condition_answered_in_way(Exact) or round_.has_condition_answered_in_way(Thinking)
        for round_ in fitting
    ):
        raise InputError(f"{engine.info['unshown']}; or ask for text (--answer text)")
    return fitting


def _select_rounds_of_prompt_form(form: str, rounds: Sequence[Round]) -> list[Round]:
    """Select the rounds that have a form: a masked model (cloze) or a classifier (pair) is not asked for texts."""
    return [round_ for round_ in rounds if form not in SILENT or round_.has_condition_answered_in_way(Exact)]


@dataclass(slots=True)
class _MissingRows:
    """The prompts of one round that are not in the run folder yet.

    Attributes
    ----------
    missing
        Per condition a byte for each variant: 1 if its row is missing.
    due
        The conditions with a missing row at the start.
    """

    model: str
    round: Round
    variants: list[Variant]
    missing: dict[str, bytearray]
    due: list[Condition]
    tallies: dict[str, Tally]

    @classmethod
    def build_from_run_and_round(cls, run: Run, model: str, round_: Round) -> _MissingRows:
        """Look up in the run folder which rows of a round are missing."""
        variants = list(filter(round_.chosen, run.study.variants))
        missing = {
            condition.name: run.responses.flag_variants_without_response(model, condition.name, variants)
            for condition in round_.conditions
        }
        due = [condition for condition in round_.conditions if any(missing[condition.name])]
        tallies = {
            condition.name: Tally(model, condition.name, len(variants), study=run.study.name)
            for condition in round_.conditions
        }
        return cls(model, round_, variants, missing, due, tallies)

    def count(self) -> int:
        """Count the missing rows."""
        return sum(map(sum, self.missing.values()))

    def list_starts_of_unfinished_windows(self, size: int) -> list[int]:
        """List the first place of every window of `size` prompts that has a missing row.

        Windows begin at multiples of `size`, whatever is missing: a resumed run cuts the same batches.
        """
        return [
            start
            for start in range(0, len(self.variants), size)
            if any(any(self.missing[condition.name][start : start + size]) for condition in self.due)
        ]

    def build_window_marking_missing_prompts(self, start: int, size: int, mask_token: str | None) -> PendingRound:
        """Make a window of the round that an engine is asked: all its prompts, those with a missing row wanted."""

        def needs_row(number: int) -> bool:
            return any(self.missing[condition.name][start + number] for condition in self.due)

        prompts = Prompts(self.variants[start : start + size], self.round.render, mask_token)
        return PendingRound(prompts, [condition.way for condition in self.due], needs_row)

    def build_rows_of_batch_and_clear_missing(
        self, batch: Sequence[int], prompts: Sequence[Prompt], responses: Sequence[Sequence[Response]]
    ) -> list[dict[str, Any]]:
        """Make the missing rows of a batch, and note that they are no longer missing."""
        rows = []
        for condition, column in zip(self.due, responses, strict=True):
            for number, prompt, response in zip(batch, prompts, column, strict=True):
                if self.missing[condition.name][number]:
                    self.missing[condition.name][number] = False
                    variant = self.variants[number]
                    rows.append(_build_response_row(self.model, condition.name, variant, prompt, response, self.round))
                    self.tallies[condition.name].add(variant, response, rows[-1])
        return rows


def _ask_model_rounds(
    run: Run,
    model: str,
    missing_by_round: Sequence[_MissingRows],
    engine: Engine | ClusterEngine,
    stop: Stop,
    call_progress: CallProgress,
) -> list[Tally]:
    """Ask one model what is missing of some rounds; return a tally per condition."""
    tallies = [tally for round_ in missing_by_round for tally in round_.tallies.values()]
    unfinished = [round_ for round_ in missing_by_round if round_.due]
    names = [condition.name for round_ in unfinished for condition in round_.due]
    if not names:
        return tallies
    if stop.requested:
        raise RunFailed(f"stopped before {model} {names[0]}; give the same command again to go on")
    total = sum(len(round_.due) * len(round_.variants) for round_ in unfinished)
    saved = total - sum(round_.count() for round_ in unfinished)
    title = f"{model} {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
    # An engine that streams cuts no batches, and would idle at the end of every window.
    size = sys.maxsize if isinstance(engine, StreamingEngine) else PROMPTS_CUT_TOGETHER
    windows = [(round_, start) for round_ in unfinished for start in round_.list_starts_of_unfinished_windows(size)]
    pending = [round_.build_window_marking_missing_prompts(start, size, engine.mask_token) for round_, start in windows]
    with (
        Writer(run, stop, PAID_EVERY if is_engine_of_server(engine.info["engine"]) else SAVED_EVERY) as writer,
        closing(ask_rounds(engine, pending)) as answered_batches,
    ):
        for place, batch, prompts, columns in answered_batches:
            round_, start = windows[place]
            variant_places = [start + index for index in batch]
            rows = round_.build_rows_of_batch_and_clear_missing(variant_places, prompts, columns)
            writer.rows += rows
            saved += len(rows)
            writer.save_rows_if_due()
            call_progress.advance_progress_bar_by_rows(len(rows))
            if stop.requested and saved < total:
                raise RunFailed(
                    f"stopped; {saved:,} of {total:,} rows of {title} are saved; give the same command again to go on"
                )
    return tallies


def _build_response_row(
    model: str, condition: str, variant: Variant, prompt: Prompt, response: Response, round_: Round
) -> dict[str, Any]:
    """Build the row of one response: its keys, and its columns or its error."""
    row: dict[str, Any] = {"model": model, "condition": condition, "item": variant.item, "variant": variant.variant}
    if response.error is not None:
        return {**row, "error": response.error}
    return {**row, **round_.read(variant, prompt, response)}


def release_device_memory() -> None:
    """Free the device memory of models that are no longer used."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
