"""Save imported responses as a run folder: the part that all importers share."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ground.errors import InputError, printable
from inference.arguments import add_models_file
from inference.stimuli.workbooks import split

if TYPE_CHECKING:
    import pyarrow as pa

    from inference.runfolder.store import Run
    from inference.stimuli.study import Study

Responses: TypeAlias = "Callable[[], Iterable[pa.Table]]"
CONDITION = "import"
FORM = "import"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options that all importers share."""
    parser.add_argument(
        "--out", required=True, metavar="RUN", help="run folder: new, or one of the same study to add to"
    )
    parser.add_argument("--name", metavar="STUDY", help="name of the study (default: the name of the run folder)")
    parser.add_argument("--language", metavar="CODE", help="language of the texts, for example en")
    add_models_file(parser)


def named(files: Sequence[str]) -> list[tuple[str | None, Path]]:
    """Split arguments PATH or NAME=PATH into (model name or None, path); an existing path is never split."""
    pairs: list[tuple[str | None, Path]] = []
    for file in files:
        name, equals, path = file.partition("=")
        chosen = equals and not Path(file).exists()
        pairs.append((name, Path(path)) if chosen else (None, Path(file)))
    return pairs


def source(files: Sequence[str]) -> str:
    """Describe where a study comes from: one file as it was given, or the first of several."""
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def fingerprint(paths: Sequence[Path], settings: Mapping[str, Any]) -> str:
    """Compute the sha256 of the files' content and of the settings they are read with.

    Parameters
    ----------
    paths
        The files, in an order that counts.
    settings
        What JSON can hold.

    Returns
    -------
    The sha256 in hexadecimal digits.

    Raises
    ------
    InputError
        A file cannot be read.
    """
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, ensure_ascii=True).encode())
    for path in paths:
        try:
            with split(path)[0].open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    return digest.hexdigest()


def save(
    out: str,
    study: Study,
    responses: Responses,
    conditions: Mapping[str, Mapping[str, Any]],
    *,
    descriptions: str | None,
    imported: str | Mapping[str, str],
    command: Sequence[str],
    models: Mapping[str, Mapping[str, Any]] | None = None,
    complete: bool = False,
) -> list[str]:
    """Write a study and its responses as one part; what an earlier import of the same files wrote stays.

    Parameters
    ----------
    out
        The run folder.
    responses
        Makes the tables of all responses, one in memory at a time; it is called twice. Columns of `results/schema.json`
        without `study`; at least model, condition, item and variant.
    conditions
        condition name -> fields, for every condition in `responses`.
    descriptions
        A ``--models`` file, or None.
    imported
        Fingerprint of the files, recorded per model and condition; or model -> that of its files.
    models
        model -> what the files say about it; what `descriptions` says holds.
    complete
        Whether the rows are all that there was to ask of each model, though others have more; `run.json` records it.
        Such tables may have hundreds of models: one line is about them all.

    Returns
    -------
    list of str
        What was written, for the user: of the study, then one line per model and condition, or of all together.

    Raises
    ------
    InputError
        The folder belongs to another study, or has other responses of the same model and condition.
    """
    from inference.asking.models import read_descriptions
    from inference.importers.recorded import refuse_unrecordable
    from inference.runfolder.store import Run

    stated = read_descriptions(descriptions) if descriptions else {}
    tallies = _tallies(responses)
    for model, condition in tallies:
        refuse_unrecordable(study.source, "models", model, (models or {}).get(model, {}))
        refuse_unrecordable(study.source, "conditions", condition, conditions[condition])
    for model in stated.keys() - {model for model, _ in tallies}:
        raise InputError(f"{descriptions}: there is no model '{model}' in these files; correct its id or take it out")
    variants = sum(1 for _ in study.variants)
    lines = [f"{study.name}: {_count(len(study.items), 'item')}, {_count(variants, 'variant')}"]
    with Run.create_or_open(out, study, command=command) as run:
        # Everything is checked before the first change.
        prints = {model: imported if isinstance(imported, str) else imported[model] for model, _ in tallies}
        for _, condition in tallies:
            run.check_condition(condition, conditions[condition])
        here = [(model, condition) for model, condition in tallies if _is_here(run, model, condition, prints[model])]
        for (model, condition), tally in tallies.items():
            if (model, condition) in here:
                lines.append(f"{model} {condition}: is here already, nothing to do")
                continue
            known = run.models.get(model, {})
            own = {"engine": "import", "revision": known.get("revision"), **(models or {}).get(model, {})}
            run.add_condition(condition, conditions[condition])
            had = {"imported": {**known.get("imported", {}), condition: prints[model]}}
            run.add_model(model, {**own, **stated.get(model, {}), **had})
            if complete:
                run.expect(model, {condition: tally.rows})
            lines.append(f"{model} {condition}: {tally.told(variants)}")
        if len(here) < len(tallies):
            run.responses.append_tables(_without(table, here) for table in responses())
        run.finish()
    return [lines[0], _together(tallies, here)] if complete else lines


def _together(tallies: Mapping[tuple[str, str], _Tally], here: Sequence[tuple[str, str]]) -> str:
    """Say in one line what was written of all models and conditions."""
    models, conditions = ({pair[place] for pair in tallies} for place in (0, 1))
    about = f"{_count(len(models), 'model')} under {_count(len(conditions), 'condition')}"
    if len(here) == len(tallies):
        return f"{about}: all is here already, nothing to do"
    new = [tally for pair, tally in tallies.items() if pair not in here]
    scores = sum(tally.scores for tally in new)
    before = f"; {len(here):,} of {len(tallies):,} pairs of model and condition were here already" if here else ""
    return f"{about}: {_count(scores, 'score')}, mean {sum(tally.score for tally in new) / scores:.3f}{before}"


def tell(lines: Iterable[str]) -> None:
    """Print lines for the user: what `save` returns, and what else is to be known."""
    print("\n".join(map(printable, lines)))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _without(table: pa.Table, pairs: Sequence[tuple[str, str]]) -> pa.Table:
    """Leave out the rows of some models and conditions."""
    import pyarrow.compute as pc

    for model, condition in pairs:
        chosen = pc.and_(pc.equal(table["model"], model), pc.equal(table["condition"], condition))
        table = table.filter(pc.invert(chosen))
    return table


def _is_here(run: Run, model: str, condition: str, imported: str) -> bool:
    """Tell whether the run has these very responses; refuse other ones of the same model and condition."""
    if not run.responses.done(model, condition):
        return False
    if run.models[model].get("imported", {}).get(condition) == imported:
        return True
    raise InputError(
        f"{run.path}: model '{model}' already has responses under condition '{condition}' from elsewhere; "
        "rename one of them or choose another --out"
    )


@dataclass(slots=True)
class _Tally:
    """Count the responses of one model under one condition, and what is missing."""

    rows: int = 0
    errors: int = 0
    masses: int = 0
    mass: float = 0.0
    scores: int = 0
    score: float = 0.0
    bounds: int = 0
    valid: int = 0
    invalid: int = 0

    def add(self, rows: pa.Table) -> None:
        """Add some rows."""
        import pyarrow.compute as pc

        def total(values: Any) -> Any:
            return pc.sum(values).as_py() or 0

        def there(column: str) -> int:
            return len(rows) - rows[column].null_count if column in rows.column_names else 0

        self.rows += len(rows)
        self.errors += there("error")
        if there("mass"):
            self.masses += there("mass")
            self.mass += total(rows["mass"])
            self.bounds += there("mass_upper")
        if there("score"):
            self.scores += there("score")
            self.score += total(rows["score"])
        counted = total(pc.list_flatten(rows["count"].combine_chunks())) if there("count") else 0
        single = len(rows) - there("error") - there("count") - there("mass")
        answered = there("answer") if single else 0
        self.valid += counted + answered
        self.invalid += (total(rows["invalid"]) if there("invalid") else 0) + single - answered

    def told(self, variants: int) -> str:
        """Say it in one line."""
        parts = [f"{self.rows:,} of {variants:,} variants"]
        if self.errors:
            parts.append(f"{self.errors:,} without a response")
        if self.masses:
            bound = ", a lower bound: of one way to write each option" if self.bounds else ""
            parts.append(f"mean mass {self.mass / self.masses:.3f}{bound}")
        if self.scores:
            parts.append(f"{_count(self.scores, 'score')}, mean {self.score / self.scores:.3f}")
        elif not self.masses:
            parts.append(f"{self.invalid:,} of {self.valid + self.invalid:,} answers invalid")
        return ", ".join(parts)


def _tallies(responses: Responses) -> dict[tuple[str, str], _Tally]:
    """Count the rows of every model and condition, in order of appearance."""
    import pyarrow as pa
    import pyarrow.compute as pc

    tallies: dict[tuple[str, str], _Tally] = {}
    for table in responses():
        numbered = table.select(["model", "condition"]).append_column("row", pa.array(range(len(table))))
        pairs = numbered.group_by(["model", "condition"]).aggregate([("row", "min")]).sort_by("row_min")
        for pair in pairs.select(["model", "condition"]).to_pylist():
            model, condition = pair.values()
            chosen = pc.and_(pc.equal(table["model"], model), pc.equal(table["condition"], condition))
            tallies.setdefault((model, condition), _Tally()).add(table.filter(chosen))
    return tallies
