"""Keep the training of an adapter in its folder, so that a killed one goes on where its last checkpoint was.

    OUT/tuning.json                   what was asked for, and what it is trained on
    OUT/checkpoints/checkpoint-N/     while it is trained: the last one and the best; `complete` marks a whole one
    OUT/history.json                  losses by step
    OUT/adapter_model.safetensors, OUT/adapter_config.json      the adapter; the last one is written at the very end

The trainer writes a checkpoint file by file. One without its mark was cut by a kill and is removed; the mark is made
before any older one goes.
"""

from __future__ import annotations

import json
import pickle
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from ground.errors import InputError
from ground.locking import flush_to_disk
from ground.writing import remove_abandoned_temporary_files, write_atomically
from inference.engines.adapters import CONFIG, HISTORY, WEIGHTS
from inference.stimuli.reading.files import parse_json, read_text_file
from inference.tune.folder import TuningFolder, write_record_as_json

CHECKPOINTS, COMPLETE, STATE = "checkpoints", "complete", "trainer_state.json"
NAME = re.compile(r"checkpoint-(\d+)")
TENSORS = ("optimizer.pt", "scheduler.pt")


class AdapterFolder(TuningFolder):
    """The folder of an adapter, while it is trained and afterwards."""

    def _remove_leftovers_of_killed_call(self) -> None:
        """Remove checkpoints and files that a killed call left half written; all checkpoints of a finished tuning."""
        for checkpoint in self._find_checkpoints_by_step().values():
            if not (checkpoint / COMPLETE).exists():
                shutil.rmtree(checkpoint)
        for leftover in self.path.glob("*.tmp"):
            leftover.unlink()
        for name in (HISTORY, WEIGHTS, CONFIG):
            remove_abandoned_temporary_files(self.path / name)
        if self.is_adapter_finished:
            shutil.rmtree(self.path / CHECKPOINTS, ignore_errors=True)

    @property
    def is_adapter_finished(self) -> bool:
        """Whether the adapter is there."""
        return (self.path / CONFIG).exists()

    @property
    def checkpoints_folder(self) -> Path:
        """Where the trainer writes its checkpoints."""
        return self.path / CHECKPOINTS

    def find_last_checkpoint(self) -> Path | None:
        """Find the newest whole checkpoint; None where there is none.

        Raises
        ------
        InputError
            One of its files is damaged.
        """
        steps = self._find_checkpoints_by_step()
        checkpoint = steps[max(steps)] if steps else None
        if checkpoint is not None:
            _refuse_damaged_checkpoint(checkpoint)
        return checkpoint

    def mark_checkpoint_whole_and_remove_others(self, step: int, best_step: int | None) -> None:
        """Mark the checkpoint of a step as whole, and remove all but this one and the best.

        Parameters
        ----------
        step
            The step that was just saved.
        best_step
            The step with the lowest validation loss so far; None before the first evaluation.
        """
        steps = self._find_checkpoints_by_step()
        for file in steps[step].iterdir():
            flush_to_disk(file)
        (steps[step] / COMPLETE).touch()
        flush_to_disk(steps[step])
        for number, checkpoint in steps.items():
            if number not in (step, best_step):
                (checkpoint / COMPLETE).unlink(missing_ok=True)
                shutil.rmtree(checkpoint)

    def save_best_adapter_and_remove_checkpoints(
        self, best_step: int, base_model: str, history: Sequence[Mapping[str, Any]]
    ) -> None:
        """Put the adapter of the best checkpoint where it is asked from, its settings last.

        Parameters
        ----------
        best_step
            The step of its checkpoint.
        base_model
            What the settings call the base model: never the path of a folder.
        history
            Losses by step.
        """
        source = self._find_checkpoints_by_step()[best_step]
        config = json.loads((source / CONFIG).read_text(encoding="utf-8")) | {"base_model_name_or_path": base_model}
        config["target_modules"] = _sort_module_names(config.get("target_modules"))
        write_record_as_json(self.path / HISTORY, history)
        write_atomically(self.path / WEIGHTS, lambda aside: shutil.copyfile(source / WEIGHTS, aside))
        write_record_as_json(self.path / CONFIG, config)
        shutil.rmtree(self.path / CHECKPOINTS)

    def _find_checkpoints_by_step(self) -> dict[int, Path]:
        """Map the step of every checkpoint to its folder."""
        path_by_match = {NAME.fullmatch(path.name): path for path in (self.path / CHECKPOINTS).glob("checkpoint-*")}
        return {int(match[1]): path for match, path in path_by_match.items() if match}


def _sort_module_names(modules: Any) -> Any:
    """Sort names that peft keeps as a set, so that equal trainings write equal files."""
    return sorted(modules) if isinstance(modules, list) else modules


def _refuse_damaged_checkpoint(checkpoint: Path) -> None:
    """Refuse a checkpoint that cannot be read; what torch saved is read as numbers, never run."""
    try:
        parse_json(checkpoint / STATE, read_text_file(checkpoint / STATE))
        load_file(checkpoint / WEIGHTS)
        for name in TENSORS:
            torch.load(checkpoint / name, weights_only=True, map_location="cpu")
    except (InputError, OSError, SafetensorError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            f"{checkpoint}: cannot be continued from ({reason}); remove it, then give the same command again"
        ) from None
