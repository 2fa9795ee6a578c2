"""Have trl's trainer send nothing, keep whole checkpoints, show a progress bar, and record its losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from tqdm import tqdm
from transformers import TrainerCallback
from trl import SFTTrainer

from ground.progress import can_show_progress_bars
from inference.engines.adapters import ROW
from inference.protocols.choice.tune.checkpoints import AdapterFolder

LOSS_NAMES = {"loss": "loss", "eval_loss": "validation_loss"}
"""What the trainer calls a loss -> what a history calls it."""


class QuietTrainer(SFTTrainer):
    """The trainer without what it sends about its use, and without a page about the model beside every checkpoint."""

    def _send_telemetry(self) -> None:
        """Send nothing."""
        pass

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """Write no model card."""
        pass


class CheckpointCallback(TrainerCallback):
    """Evaluate and save at the very end, too; keep the last checkpoint and the best."""

    def __init__(self, folder: AdapterFolder) -> None:
        self._folder = folder

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        """Have the trainer log, evaluate and save after its very last step, too."""
        if state.global_step >= state.max_steps:
            control.should_log = control.should_evaluate = control.should_save = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Remove all checkpoints but the one just saved and the best."""
        self._folder.mark_checkpoint_whole_and_remove_others(state.global_step, state.best_global_step)


class ProgressCallback(TrainerCallback):
    """Show a progress bar with the losses, and print a line per evaluation."""

    def __init__(self, print_line: Callable[[str], None]) -> None:
        self._print_line = print_line
        self._bar: Any = None
        self._evaluating: Any = None
        self._losses: dict[str, float] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Open the progress bar, at the step from which the training goes on."""
        self._bar = tqdm(
            total=state.max_steps,
            initial=state.global_step,
            desc="tuning",
            unit="step",
            disable=not can_show_progress_bars(),
        )

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Move the progress bar to the step just made."""
        self._bar.update(state.global_step - self._bar.n)

    def on_prediction_step(self, args: Any, state: Any, control: Any, eval_dataloader: Any = None, **_: Any) -> None:
        """Move the bar of the evaluation by one batch; open it at the first."""
        if self._evaluating is None:
            self._evaluating = tqdm(
                total=len(eval_dataloader), desc="validation", leave=False, disable=not can_show_progress_bars()
            )
        self._evaluating.update()

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any], **_: Any) -> None:
        """Take over the losses that the trainer logs, and show them at the progress bar."""
        self._losses |= {name: float(logs[theirs]) for theirs, name in LOSS_NAMES.items() if theirs in logs}
        self._bar.set_postfix({name.replace("_", " "): f"{value:.4f}" for name, value in self._losses.items()})

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Close the bar of the evaluation, and print a line with step, epoch and losses."""
        if self._evaluating is not None:
            self._evaluating.close()
            self._evaluating = None
        losses = ", ".join(f"{name.replace('_', ' ')} {value:.4f}" for name, value in self._losses.items())
        self._print_line(f"step {state.global_step:,} of {state.max_steps:,}, epoch {state.epoch:.2f}: {losses}")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Close the progress bar."""
        self._bar.close()


def build_loss_history(log_history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Make the losses by step from what the trainer logged; null where a step has no such loss.

    >>> build_loss_history([{"step": 2, "epoch": 1.0, "loss": 0.5, "grad_norm": 1.0},
    ...                {"step": 2, "epoch": 1.0, "eval_loss": 0.4}])
    [{'step': 2, 'epoch': 1.0, 'loss': 0.5, 'validation_loss': 0.4}]
    """
    rows: dict[int, dict[str, Any]] = {}
    for entry in log_history:
        losses = {name: entry[theirs] for theirs, name in LOSS_NAMES.items() if theirs in entry}
        if losses:
            row = rows.setdefault(entry["step"], {**dict.fromkeys(ROW), "step": entry["step"], "epoch": entry["epoch"]})
            row.update(losses)
    return list(rows.values())


def has_finite_losses(log_history: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether all losses are numbers."""
    return all(isfinite(entry[name]) for entry in log_history for name in LOSS_NAMES if name in entry)
