"""Make paraphrases of originals: ask a model, choose among its lines, write a folder.

The folder of paraphrases holds

calls/
    a run folder with the raw answer to every call, from which everything else is made;
items.jsonl
    the items with their paraphrases, for `run --items`;
report.csv, report.json
    per item what was kept, and what was dropped for which reason; the settings of the choice;
dropped.csv
    every dropped line with its reason.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from ground import run_json, spreadsheet
from ground.errors import InputError, RunFailed, format_part_with_verb, format_quantity
from ground.writing import write_atomically
from inference.asking.execute import MOST_LISTED, Task, ask_tasks_and_list_tallies
from inference.asking.failures import AllowedFailures, describe_remedy_for_failed_rows
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Engine
from inference.paraphrase import itemsfile
from inference.paraphrase.choosing import REASONS, ParaphraseChoice, choose_paraphrases
from inference.paraphrase.combining import SEPARATOR, SOURCE
from inference.paraphrase.meaning import Meaning
from inference.paraphrase.questions import Calls
from inference.runfolder.parquet import read_parquet
from inference.stimuli.reading.files import parse_json, read_text_file
from inference.stimuli.study import PARAPHRASE, Item, Study, Variant

COUNTS = ("calls", "refused_calls", *(reason.replace(" ", "_") for reason in REASONS), "kept")


@dataclass(frozen=True, slots=True)
class ChoiceSettings:
    """The settings of `choosing.choose_paraphrases`, and the sentence-transformers model that compares meanings."""

    keep: int
    meaning_check: str | None = None
    meaning_threshold: float | None = None


def make_paraphrase_folder(
    study: Study,
    model: Model,
    calls: Calls,
    settings: Settings,
    choice_settings: ChoiceSettings,
    out: Path,
    *,
    command: Sequence[str] = (),
    load: Callable[[Model, int], Engine] | None = None,
) -> list[ParaphraseChoice]:
    """Make the paraphrases of a study's originals; calls that the folder already has are not asked again.

    Parameters
    ----------
    study
        From `questions.build_study_of_originals_to_paraphrase`.
    model
        Who writes the paraphrases: their attribute `source`.
    calls, settings
        What it is asked, and the engine to ask with.
    choice_settings
        How the paraphrases are chosen.
    out
        The folder, new or begun by this very call.
    command
        As in `inference.asking.execute.Task`.
    load
        As in `inference.asking.execute.ask_tasks_and_list_tallies`.

    Returns
    -------
    list of ParaphraseChoice
        One per item.

    Raises
    ------
    InputError
        The folder is something else, or was begun with other settings; the model's name has `|` in it.
    RunFailed
        Stopped, or calls failed; answers are kept, and the same command asks the other calls.
    """
    if SEPARATOR in model.id:
        raise InputError(f"--model {model.id}: a source of paraphrases needs a name without '{SEPARATOR}'")
    _refuse_folder_of_other_settings(out, model, choice_settings)
    meaning = Meaning(choice_settings.meaning_check) if choice_settings.meaning_check else None
    # Items without an answer are counted below, when the others are written.
    task = Task(
        study, [model], calls, settings, str(out / "calls"), command=command, allowed=AllowedFailures(share=1.0)
    )
    tallies = ask_tasks_and_list_tallies([task], load=load)
    seed = run_json.read_run_json(out / "calls")["seed"]
    choices = _choose_paraphrases_of_originals(study, choice_settings, seed, meaning, _read_call_answers(out / "calls"))
    try:
        _write_paraphrase_folder(out, study, model, choice_settings, choices)
    except OSError as error:
        raise RunFailed(
            f"{out}: cannot be written ({error}); the calls are kept: make room, then give the same command again"
        ) from error
    _print_items_with_too_few(choices, choice_settings.keep)
    failed = [choice.original.item for choice in choices if not choice.calls]
    if failed:
        raise RunFailed(
            f"{len(failed):,} of {format_quantity(len(choices), 'item')} got no answer (such as '{failed[0]}')"
            f"{'; the others were written' * (len(failed) < len(choices))}: {describe_remedy_for_failed_rows(tallies)}"
        )
    return choices


def _refuse_folder_of_other_settings(out: Path, model: Model, choice_settings: ChoiceSettings) -> None:
    """Refuse a folder of another model or choice; other settings of the calls are refused by their run folder."""
    if out.is_dir() and any(out.iterdir()) and not (out / "calls").is_dir():
        raise InputError(f"{out}: not a folder of paraphrases (there is no calls in it); choose another --out")
    other_models = set(_read_models_of_begun_calls(out / "calls")) - {model.id}
    if other_models:
        raise InputError(f"{out}: was begun with model {min(other_models)}, not {model.id}; choose another --out")
    recorded_settings = _read_settings_recorded_in_report(out / "report.json")
    new_settings = asdict(choice_settings)
    changed = [
        f"{name} was {value}, now {new_settings.get(name)}"
        for name, value in recorded_settings.items()
        if new_settings.get(name) != value
    ]
    if changed:
        raise InputError(
            f"{out}: the paraphrases there were chosen with other settings ({', '.join(changed)}); go back to those, "
            "choose another --out, or remove its report.json to choose again from the same calls"
        )


def _read_models_of_begun_calls(calls: Path) -> Mapping[str, Any]:
    """Return the models that the calls were begun with; none where there are no calls yet."""
    models: Mapping[str, Any] = run_json.read_run_json(calls)["models"] if (calls / "run.json").exists() else {}
    return models


def _read_settings_recorded_in_report(report: Path) -> Mapping[str, Any]:
    """Return the settings that a report records; none where there is no report yet."""
    try:
        report_content = parse_json(report, read_text_file(report)) if report.exists() else {"settings": {}}
        settings: dict[str, Any] = report_content["settings"]
        return dict(settings.items())
    except (OSError, InputError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{report}: damaged ({type(error).__name__}: {error}); remove it to choose the paraphrases again"
        ) from None


def _read_call_answers(calls: Path) -> dict[str, Mapping[int, str]]:
    """Read the calls as item -> call (from 1) -> answer; items whose calls failed are absent."""
    row_filter = pc.field("error").is_null()
    answers_by_item: dict[str, Mapping[int, str]] = {}
    for part in sorted((calls / "responses").glob("part-*.parquet")):
        table = read_parquet(part, ["item", "output"], filters=row_filter)
        for item, output in zip(table["item"].to_pylist(), table["output"].to_pylist(), strict=True):
            answers_by_item[item] = dict(enumerate(output, start=1))
    return answers_by_item


def _choose_paraphrases_of_originals(
    study: Study,
    choice_settings: ChoiceSettings,
    seed: int,
    meaning: Meaning | None,
    answers: Mapping[str, Mapping[int, str]],
) -> list[ParaphraseChoice]:
    """Choose the paraphrases of every original in the study from the answers of its calls."""
    return [
        choose_paraphrases(
            original,
            answers.get(original.item, {}),
            n_kept=choice_settings.keep,
            seed=seed,
            measure_similarities=meaning.compute_cosines_with_original if meaning else None,
            threshold=choice_settings.meaning_threshold,
        )
        for original in study.variants
    ]


def _build_item_of_original_and_paraphrases(choice: ParaphraseChoice, source: str) -> Item:
    """Make an item of an original and its paraphrases, which have its gold and language."""
    original = choice.original
    variants: list[Variant] = [original]
    for number, wording in enumerate(choice.kept_wordings, start=1):
        about = {**original.attributes, SOURCE: source}
        if wording.similarity is not None:
            about["similarity"] = f"{wording.similarity:.4f}"
        name = f"{PARAPHRASE}-{number:03d}"
        variants.append(replace(original, variant=name, pattern=PARAPHRASE, text=wording.text, attributes=about))
    return Item(original.item, tuple(variants))


def _write_paraphrase_folder(
    out: Path, study: Study, model: Model, choice_settings: ChoiceSettings, choices: Sequence[ParaphraseChoice]
) -> None:
    """Write the items, the dropped lines and the report into the folder."""
    itemsfile.write_items_file(
        out / "items.jsonl", [_build_item_of_original_and_paraphrases(choice, model.id) for choice in choices]
    )
    dropped = (
        (choice.original.item, wording.call, wording.reason, wording.text)
        for choice in choices
        for wording in choice.wordings
        if wording.reason is not None
    )
    spreadsheet.write_spreadsheet_csv(out / "dropped.csv", ("item", "call", "reason", "text"), dropped)
    counts = [{"item": choice.original.item, **_count_calls_and_lines_of_item_by_outcome(choice)} for choice in choices]
    spreadsheet.write_spreadsheet_csv(out / "report.csv", ("item", *COUNTS), [tuple(row.values()) for row in counts])
    # The report is written last: if it is there, all files are.
    report = {"study": study.name, "source": model.id, "settings": asdict(choice_settings), "items": counts}
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    write_atomically(out / "report.json", lambda aside: aside.write_text(text, encoding="utf-8"))


def _count_calls_and_lines_of_item_by_outcome(choice: ParaphraseChoice) -> dict[str, int]:
    """Count the calls of an item, and its lines by what became of them."""
    numbers = (choice.calls, choice.n_refused_calls, *choice.n_dropped_by_reason.values(), len(choice.kept_wordings))
    return dict(zip(COUNTS, numbers, strict=True))


def _print_items_with_too_few(choices: Sequence[ParaphraseChoice], n_wanted: int) -> None:
    """List the items with fewer paraphrases than wanted, and why, on standard error."""
    short = [choice for choice in choices if len(choice.kept_wordings) < n_wanted]
    if not short:
        return
    subject = format_part_with_verb(len(short), len(choices), "item")
    print(f"{subject} fewer than {format_quantity(n_wanted, 'paraphrase')}:", file=sys.stderr)
    rows: list[Sequence[Any]] = [("item", *(name.replace("_", " ") for name in COUNTS))]
    rows += [
        (choice.original.item, *_count_calls_and_lines_of_item_by_outcome(choice).values())
        for choice in short[:MOST_LISTED]
    ]
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            str(row[0]).ljust(widths[0]),
            *(str(cell).rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        print("  " + "  ".join(cells), file=sys.stderr)
    if len(short) > MOST_LISTED:
        print(f"  ... and {len(short) - MOST_LISTED:,} more: report.csv", file=sys.stderr)
