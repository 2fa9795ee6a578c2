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

from ground import run_json
from ground.errors import InputError, RunFailed
from ground.writing import write_atomically
from inference.asking.execute import LISTED, Task, execute
from inference.asking.failures import Allowed, advise
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Engine
from inference.paraphrase import itemsfile
from inference.paraphrase.choosing import REASONS, Choice, choose
from inference.paraphrase.combining import SEPARATOR, SOURCE
from inference.paraphrase.meaning import Meaning
from inference.paraphrase.questions import Calls
from inference.runfolder import spreadsheet
from inference.runfolder.parquet import read_parquet
from inference.stimuli.files import parse_json, text_of
from inference.stimuli.study import PARAPHRASE, Item, Study, Variant

COUNTS = ("calls", "refused_calls", *(reason.replace(" ", "_") for reason in REASONS), "kept")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The settings of `choosing.choose`, and the sentence-transformers model that compares meanings."""

    keep: int
    meaning_check: str | None = None
    meaning_threshold: float | None = None


def make(
    study: Study,
    model: Model,
    calls: Calls,
    settings: Settings,
    wanted: Wanted,
    out: Path,
    *,
    command: Sequence[str] = (),
    load: Callable[[Model, int], Engine] | None = None,
) -> list[Choice]:
    """Make the paraphrases of a study's originals; calls that the folder already has are not asked again.

    Parameters
    ----------
    study
        From `questions.study`.
    model
        Who writes the paraphrases: their attribute `source`.
    calls, settings
        What it is asked, and the engine to ask with.
    wanted
        How the paraphrases are chosen.
    out
        The folder, new or begun by this very call.
    command, load
        As for `inference.asking.execute.execute`.

    Returns
    -------
    list of Choice
        One per item.

    Raises
    ------
    InputError
        The folder is something else, or was begun with other settings.
    RunFailed
        Stopped, or calls failed; answers are kept, and the same command asks the other calls.
    """
    if SEPARATOR in model.id:
        raise InputError(f"--model {model.id}: a source of paraphrases needs a name without '{SEPARATOR}'")
    _refuse_other(out, model, wanted)
    meaning = Meaning(wanted.meaning_check) if wanted.meaning_check else None
    # Items without an answer are counted below, when the others are written.
    task = Task(study, [model], calls, settings, str(out / "calls"), command=command, allowed=Allowed(share=1.0))
    tallies = execute([task], load=load)
    seed = run_json.read(out / "calls")["seed"]
    choices = _choices(study, wanted, seed, meaning, _answers(out / "calls"))
    try:
        _write(out, study, model, wanted, choices)
    except OSError as error:
        raise RunFailed(
            f"{out}: cannot be written ({error}); the calls are kept: make room, then give the same command again"
        ) from error
    _report(choices, wanted.keep)
    failed = [choice.original.item for choice in choices if not choice.calls]
    if failed:
        raise RunFailed(
            f"{len(failed):,} of {len(choices):,} items got no answer (such as '{failed[0]}')"
            f"{'; the others were written' * (len(failed) < len(choices))}: {advise(tallies)}"
        )
    return choices


def _refuse_other(out: Path, model: Model, wanted: Wanted) -> None:
    """Refuse a folder with calls of another model, or with a choice made with other settings.

    Other settings of the calls are refused by their run folder.
    """
    if out.is_dir() and any(out.iterdir()) and not (out / "calls").is_dir():
        raise InputError(f"{out}: not a folder of paraphrases (there is no calls in it); choose another --out")
    others = set(_recorded(out / "calls")) - {model.id}
    if others:
        raise InputError(f"{out}: was begun with model {min(others)}, not {model.id}; choose another --out")
    known = _settings(out / "report.json")
    now = asdict(wanted)
    changed = [f"{name} was {value}, now {now.get(name)}" for name, value in known.items() if now.get(name) != value]
    if changed:
        raise InputError(
            f"{out}: the paraphrases there were chosen with other settings ({', '.join(changed)}); go back to those, "
            "choose another --out, or remove its report.json to choose again from the same calls"
        )


def _recorded(calls: Path) -> Mapping[str, Any]:
    """Return the models that the calls were begun with; none where there are no calls yet."""
    models: Mapping[str, Any] = run_json.read(calls)["models"] if (calls / "run.json").exists() else {}
    return models


def _settings(report: Path) -> Mapping[str, Any]:
    """Return the settings that a report records; none where there is no report yet."""
    try:
        recorded = parse_json(report, text_of(report)) if report.exists() else {"settings": {}}
        settings: dict[str, Any] = recorded["settings"]
        return dict(settings.items())
    except (OSError, InputError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{report}: damaged ({type(error).__name__}: {error}); remove it to choose the paraphrases again"
        ) from None


def _answers(calls: Path) -> dict[str, Mapping[int, str]]:
    """Read the calls as item -> call (from 1) -> answer; items whose calls failed are absent."""
    answered = pc.field("error").is_null()
    found: dict[str, Mapping[int, str]] = {}
    for part in sorted((calls / "responses").glob("part-*.parquet")):
        table = read_parquet(part, ["item", "output"], filters=answered)
        for item, output in zip(table["item"].to_pylist(), table["output"].to_pylist(), strict=True):
            found[item] = dict(enumerate(output, start=1))
    return found


def _choices(
    study: Study, wanted: Wanted, seed: int, meaning: Meaning | None, answers: Mapping[str, Mapping[int, str]]
) -> list[Choice]:
    return [
        choose(
            original,
            answers.get(original.item, {}),
            keep=wanted.keep,
            seed=seed,
            similarity=meaning.similarity if meaning else None,
            threshold=wanted.meaning_threshold,
        )
        for original in study.variants
    ]


def _item(choice: Choice, source: str) -> Item:
    """Make an item of an original and its paraphrases, which have its gold and language."""
    original = choice.original
    variants: list[Variant] = [original]
    for number, wording in enumerate(choice.kept, start=1):
        about = {**original.attributes, SOURCE: source}
        if wording.similarity is not None:
            about["similarity"] = f"{wording.similarity:.4f}"
        name = f"{PARAPHRASE}-{number:03d}"
        variants.append(replace(original, variant=name, pattern=PARAPHRASE, text=wording.text, attributes=about))
    return Item(original.item, tuple(variants))


def _write(out: Path, study: Study, model: Model, wanted: Wanted, choices: Sequence[Choice]) -> None:
    itemsfile.write(out / "items.jsonl", [_item(choice, model.id) for choice in choices])
    dropped = (
        (choice.original.item, wording.call, wording.reason, wording.text)
        for choice in choices
        for wording in choice.wordings
        if wording.reason is not None
    )
    spreadsheet.write(out / "dropped.csv", ("item", "call", "reason", "text"), dropped)
    counts = [{"item": choice.original.item, **_counts(choice)} for choice in choices]
    spreadsheet.write(out / "report.csv", ("item", *COUNTS), [tuple(row.values()) for row in counts])
    # The report is written last: if it is there, all files are.
    report = {"study": study.name, "source": model.id, "settings": asdict(wanted), "items": counts}
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    write_atomically(out / "report.json", lambda aside: aside.write_text(text, encoding="utf-8"))


def _counts(choice: Choice) -> dict[str, int]:
    numbers = (choice.calls, choice.refused, *choice.dropped.values(), len(choice.kept))
    return dict(zip(COUNTS, numbers, strict=True))


def _report(choices: Sequence[Choice], keep: int) -> None:
    """List the items with fewer paraphrases than wanted, and why, on standard error."""
    short = [choice for choice in choices if len(choice.kept) < keep]
    if not short:
        return
    print(f"{len(short):,} of {len(choices):,} items have fewer than {keep:,} paraphrases:", file=sys.stderr)
    rows: list[Sequence[Any]] = [("item", *(name.replace("_", " ") for name in COUNTS))]
    rows += [(choice.original.item, *_counts(choice).values()) for choice in short[:LISTED]]
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            str(row[0]).ljust(widths[0]),
            *(str(cell).rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        print("  " + "  ".join(cells), file=sys.stderr)
    if len(short) > LISTED:
        print(f"  ... and {len(short) - LISTED:,} more: report.csv", file=sys.stderr)
