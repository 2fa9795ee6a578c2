"""Write a run folder: append-only, resumable, atomic Parquet parts (`results/schema.json`).

No file is ever half written: it is written under another name, flushed to disk and renamed. A killed process leaves
only a file such as `.run.json.123` behind, which the next writer removes.
"""

from __future__ import annotations

import functools
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from ground.errors import InputError
from ground.outside_rooms import map_rooms_used_for_protocol_to_versions
from ground.version import find_installed_version, read_waver_version
from ground.writing import list_missing_folder_and_parents, remove_empty_folders, write_atomically
from inference.runfolder.belonging import build_run_json, build_stimuli_tables, read_matching_run_json
from inference.runfolder.locking import (
    make_and_lock_run_folder,
    remove_run_of_refused_call,
    remove_unfinished_run_files,
)
from inference.runfolder.parquet import (
    drop_error_rows_asked_again,
    read_arrow_schema_of_table,
    refuse_damaged_or_foreign_columns,
    write_tables_as_row_groups,
)
from inference.runfolder.responses import Responses
from inference.stimuli.study import Study

# If one of these fields differs, it is another model; other fields (series, stage, parameters) may be added later.
# The digest of an adapter belongs to them, too; older runs have it as `lora`.
IDENTITY = ("engine", "revision", "dtype", "device", "top_logprobs", "quantization", "kv_cache_dtype", "lora")
LIBRARIES = ("torch", "transformers", "openai", "pyarrow")
# A call that asks many models makes many run folders, and reading the metadata takes milliseconds.
_find_version_once = functools.cache(find_installed_version)


class Run:
    """A run folder open for writing, by one process at a time.

    Use it as a context manager: the end of the block releases the lock; `finish` records that the session is complete.
    A new folder without a row is removed where the block ends in an error that refuses the call.

    Examples
    --------
    >>> with Run.create_or_open(path, study) as run:  # doctest: +SKIP
    ...     run.add_model("my-model", {"engine": "import", "revision": None})
    ...     run.add_condition("default", {"form": "plain"})
    ...     row = {"model": "my-model", "condition": "default", "item": "1", "variant": "original", "mass": 1.0}
    ...     run.responses.append_rows_as_part([row])
    ...     run.finish()
    """

    def __init__(
        self, path: Path, study: Study, content: dict[str, Any], lock: int, new_folders: Sequence[Path] | None = None
    ) -> None:
        self.path = path
        self.study = study
        self._content = content
        self._lock: int | None = lock
        self._made = new_folders  # the folders that were made for this run; None: it was there before
        self.responses = Responses(path / "responses", study.name)
        self._is_writing_postponed = False

    @classmethod
    def create_or_open(
        cls, path: str | Path, study: Study, *, seed: int | None = None, command: Sequence[str] = ()
    ) -> Run:
        """Open the run folder of a study for writing; make it if it does not exist.

        Parameters
        ----------
        path
            The folder. It must be new, empty, or the run folder of this same study.
        study
            The study that is asked; its hash must be the recorded one.
        seed
            Seed of the engines; None takes the recorded one (0 in a new folder).
        command
            The call, recorded in the new entry of `sessions`.

        Returns
        -------
        The open run.

        Raises
        ------
        InputError
            If the folder is something else, belongs to another study or seed, or another process is writing to it.
        """
        folder = Path(path)
        new_folders = list_missing_folder_and_parents(folder)
        try:
            lock = make_and_lock_run_folder(folder)
        except (InputError, OSError):
            remove_empty_folders(new_folders)
            raise
        new = not (folder / "run.json").exists()
        try:
            remove_unfinished_run_files(folder)
            content = build_run_json(study, seed) if new else read_matching_run_json(folder, study, seed)
            if not (folder / "stimuli.parquet").exists() or not content["sessions"]:
                write_tables_as_row_groups(
                    folder / "stimuli.parquet", read_arrow_schema_of_table("stimuli"), build_stimuli_tables(study)
                )
            run = cls(folder, study, content, lock, new_folders if new else None)
            refuse_damaged_or_foreign_columns(folder / "stimuli.parquet", "stimuli")
            run.responses.refuse_bad_parts_drop_old_errors()
            session = {
                "command": list(command),
                "started": _format_current_time(),
                "finished": None,
                "versions": look_up_python_and_library_versions(),
                **({"rooms": rooms} if (rooms := map_rooms_used_for_protocol_to_versions(study.protocol)) else {}),
            }
            content["sessions"].append(session)
            run._save_run_json()
        except BaseException as error:
            if new and isinstance(error, InputError | OSError):
                remove_run_of_refused_call(folder, new_folders)
            os.close(lock)
            raise
        return run

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        # A package that is not installed is reported where the command began (`ground.extras`).
        refused = kind is not None and issubclass(kind, InputError | OSError | ModuleNotFoundError)
        if refused and self._made is not None and not self.responses.parts:
            remove_run_of_refused_call(self.path, self._made)
        self.close()

    @property
    def seed(self) -> int:
        """The recorded seed."""
        seed: int = self._content["seed"]
        return seed

    @property
    def models(self) -> Mapping[str, Mapping[str, Any]]:
        """Recorded models: id -> fields."""
        models: dict[str, dict[str, Any]] = self._content["models"]
        return models

    @property
    def conditions(self) -> Mapping[str, Mapping[str, Any]]:
        """Recorded conditions: name -> fields."""
        conditions: dict[str, dict[str, Any]] = self._content["conditions"]
        return conditions

    @property
    def expected_row_counts(self) -> Mapping[str, Mapping[str, int]]:
        """Rows that each model will have under each condition; a model that was never loaded has no condition yet."""
        expected: dict[str, dict[str, int]] = self._content.get("expected", {})
        return expected

    def add_model(self, model: str, info: Mapping[str, Any]) -> None:
        """Record a model or add to what is recorded.

        Parameters
        ----------
        model
            Name of the model.
        info
            Fields of `run.json`.

        Raises
        ------
        InputError
            It is recorded with another engine, revision, dtype, device, adapter or other field of `IDENTITY`.
        """
        recorded_fields = self.models.get(model)
        if recorded_fields is not None:
            self._refuse_changed_fields(
                "model", model, _select_identity_of_model(recorded_fields), _select_identity_of_model(info)
            )
        self._record_fields_if_changed("models", model, {**(recorded_fields or {}), **info})

    def add_condition(self, name: str, fields: Mapping[str, Any]) -> None:
        """Record a condition.

        Parameters
        ----------
        name
            Name of the condition.
        fields
            Fields of `run.json`.

        Raises
        ------
        InputError
            As for `refuse_changed_condition`.
        """
        self.refuse_changed_condition(name, fields)
        self._record_fields_if_changed("conditions", name, dict(fields))

    @contextmanager
    def write_run_json_after_block(self) -> Iterator[None]:
        """Write run.json at the end of the block, however much is recorded in it: there may be thousands of models."""
        self._is_writing_postponed = True
        try:
            yield
        finally:
            self._is_writing_postponed = False
            self._save_run_json()

    def refuse_changed_condition(self, name: str, fields: Mapping[str, Any]) -> None:
        """Refuse a condition that is recorded with any other value; texts read by another rule, too (`text_rule`).

        Parameters
        ----------
        name
            Name of the condition.
        fields
            Fields of `run.json`.

        Raises
        ------
        InputError
            Some field has another value.
        """
        if name in self.conditions:
            self._refuse_changed_fields("condition", name, self.conditions[name], fields)

    def record_expected_models_and_drop_unloaded(self, names: Sequence[str]) -> None:
        """Record which models this session asks, and remove those that earlier sessions named but never loaded."""
        rows_by_model = {name: rows for name, rows in self.expected_row_counts.items() if rows or name in names}
        self._record_expected_counts({**rows_by_model, **{name: {} for name in names if name not in rows_by_model}})

    @property
    def drawn_wording_counts(self) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
        """Model -> condition -> how many wordings of every item were drawn, where not all are asked."""
        drawn: dict[str, dict[str, dict[str, int]]] = self._content.get("drawn", {})
        return drawn

    def record_row_and_drawn_wording_counts(
        self, model: str, row_counts: Mapping[str, int], drawn_counts: Mapping[str, Mapping[str, int]] | None = None
    ) -> None:
        """Record how many rows a model will have under each condition, and what was drawn under which of them.

        `waver status` compares with the numbers. A model without draws has no entry in `drawn` of run.json.

        Parameters
        ----------
        model
            Name of the model.
        row_counts
            Condition -> number of rows; other conditions keep theirs.
        drawn_counts
            Condition -> what was drawn -> how many; None: nothing was, and none stays recorded.
        """
        draws = {**self.drawn_wording_counts, model: drawn_counts or {}}
        if draws := {name: model_draws for name, model_draws in draws.items() if model_draws}:
            self._content["drawn"] = draws
        else:
            self._content.pop("drawn", None)
        self._record_expected_counts(
            {**self.expected_row_counts, model: {**self.expected_row_counts.get(model, {}), **row_counts}}
        )

    def _record_expected_counts(self, expected: Mapping[str, Mapping[str, int]]) -> None:
        """Record the numbers of expected rows, if they are new."""
        if expected != self.expected_row_counts:
            self._content["expected"] = expected
            self._save_run_json()

    @property
    def prompt_entries_by_condition(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """What the models were asked under each condition; models with the same prompt share an entry."""
        entries_by_condition: dict[str, list[dict[str, Any]]] = self._content.get("asked", {})
        return entries_by_condition

    def add_prompts(
        self, model: str, form_by_hash: Mapping[str, Any], entry_by_condition: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Record what a model was asked.

        Parameters
        ----------
        model
            The model's id.
        form_by_hash
            `prompt_hash` of a condition -> the form of the prompt file.
        entry_by_condition
            Condition -> the model's entry of `asked` in run.json, without `models`.
        """
        prompts = {**self._content.get("prompts", {}), **form_by_hash}
        entries = {
            **self.prompt_entries_by_condition,
            **{
                name: _build_prompts_entries_with_model(
                    self.prompt_entries_by_condition.get(name, ()), model, entry_by_condition[name]
                )
                for name in entry_by_condition
            },
        }
        if prompts != self._content.get("prompts", {}) or entry_by_condition:
            self._content |= {"prompts": prompts, "asked": entries}
            self._save_run_json()

    def record_judge(self, judge: str, fields: Mapping[str, Any]) -> None:
        """Record a model that read texts of this run, as `judges` of run.json has it.

        Parameters
        ----------
        judge
            Its id.
        fields
            What it is, and how it was asked.

        Raises
        ------
        InputError
            It is recorded with another engine, revision or other field of `IDENTITY`, or with another prompt.
        """
        judges: dict[str, dict[str, Any]] = self._content.setdefault("judges", {})
        fixed = (*IDENTITY, "prompt_hash")
        recorded, new = ({name: about.get(name) for name in fixed} for about in (judges.get(judge, fields), fields))
        self._refuse_changed_fields("judge", judge, recorded, new)
        self._record_fields_if_changed("judges", judge, dict(fields))

    def record_session_fields(self, **fields: Any) -> None:
        """Record something about this session; two equal runs may differ in it."""
        self._content["sessions"][-1].update(fields)
        self._save_run_json()

    def record_session_bill(self, model: str, bill: Mapping[str, Any]) -> Mapping[str, Any]:
        """Record what a model was billed for in this session.

        Parameters
        ----------
        model
            Name of the model.
        bill
            The bill; an empty one is not recorded.

        Returns
        -------
        The bill.
        """
        if bill:
            self._content["sessions"][-1].setdefault("bills", {})[model] = dict(bill)
            self._save_run_json()
        return bill

    def finish(self) -> None:
        """Record that this session has done everything it was asked to do."""
        drop_error_rows_asked_again(self.responses.parts)
        self._content["sessions"][-1]["finished"] = _format_current_time()
        self._save_run_json()

    def close(self) -> None:
        """Release the lock; all rows are on disk already."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _refuse_changed_fields(self, kind: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Refuse fields of a model, condition or judge that differ from those recorded under its name."""
        changed = [field for field in {**old, **new} if old.get(field) != new.get(field)]
        if changed:
            changes = ", ".join(f"{field} was {old.get(field)}, now {new.get(field)}" for field in changed)
            raise InputError(
                f"{self.path}: {kind} '{name}' is already here with other settings ({changes}); "
                f"go back to those, give the {kind} another name, or choose another --out"
            )

    def _record_fields_if_changed(self, kind: str, name: str, fields: dict[str, Any]) -> None:
        """Record the fields of a model, condition or judge, if they are new."""
        if self._content[kind].get(name) != fields:
            self._content[kind][name] = fields
            self._save_run_json()

    def _save_run_json(self) -> None:
        """Write run.json as it is in memory, unless a block does it at its end."""
        if self._is_writing_postponed:
            return
        text = json.dumps(self._content, indent=1, ensure_ascii=False) + "\n"
        write_atomically(self.path / "run.json", lambda aside: aside.write_text(text, encoding="utf-8"))


def _select_identity_of_model(info: Mapping[str, Any]) -> dict[str, Any]:
    """Pick what tells one model from another; of an adapter its digest."""
    adapter = info.get("adapter") or {}
    return {**{name: info.get(name) for name in IDENTITY}, "adapter": adapter.get("revision")}


def _build_prompts_entries_with_model(
    entries: Sequence[Mapping[str, Any]], model: str, entry: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Add a model to the entry that is equal to its own, or add its own."""
    for place, recorded_entry in enumerate(entries):
        if {**recorded_entry, "models": None} == {**entry, "models": None}:
            return [
                *entries[:place],
                {**recorded_entry, "models": [*recorded_entry["models"], model]},
                *entries[place + 1 :],
            ]
    return [*entries, {"models": [model], **entry}]


def _format_current_time() -> str:
    """Write the current time (UTC) as run.json has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def look_up_python_and_library_versions() -> dict[str, str | None]:
    """Look up the versions of Python, Waver and its main libraries without importing them; None: not installed."""
    installed: dict[str, str | None] = {"python": platform.python_version(), "waver": read_waver_version()}
    for library in LIBRARIES:
        installed[library] = _find_version_once(library)
    return {**installed, "platform": platform.platform()}
