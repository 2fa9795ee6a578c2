"""Read a LoRA adapter as peft writes it, and refuse one that this house cannot apply as peft would.

    FOLDER/adapter_config.json          its settings: rank, scale, the base model's name
    FOLDER/adapter_model.safetensors    its matrices; pickled ones (adapter_model.bin) are refused
    FOLDER/tuning.json, history.json    where `waver tune choice` made it: base model, settings, counts; the losses

Settings are data: none is handed on to peft, some of whose settings name modules to import. All engines that take an
adapter do the same with it: they add scale B A to the weights W of linear layers. A setting that asks for anything else
is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.engines.digest import compute_sampled_checkpoint_digest
from inference.stimuli.reading.files import parse_json, read_text_file, shorten_value

CONFIG, WEIGHTS, PICKLED = "adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"
RECORD, HISTORY = "tuning.json", "history.json"
NAME = re.compile(r"base_model\.model\.(?P<layer>.+)\.lora_(?P<matrix>[AB])\.weight")
MOST_RANK = 512  # vLLM takes no larger one
STARTS = (None, True, False, "gaussian", "eva", "orthogonal")
"""Ways of starting the matrices that leave the base model as it is; the other ways (pissa, olora ...) change it."""
READ = {"peft_type", "task_type", "r", "lora_alpha", "use_rslora", "init_lora_weights", "base_model_name_or_path"}
FREE = {
    "auto_mapping", "ensure_weight_tying", "eva_config", "exclude_modules", "fan_in_fan_out", "inference_mode",
    "layers_pattern", "layers_to_transform", "lora_dropout", "megatron_core", "peft_version", "qalora_group_size",
    "rank_pattern", "revision", "runtime_config", "target_modules",
}  # fmt: skip
"""Settings that say nothing beyond the matrices' names and shapes, or do nothing once an adapter is trained."""
EMPTY: tuple[Any, ...] = (None, False, 0, "", "none", [], {})
ROW = {"step": int, "epoch": float, "loss": float, "validation_loss": float}


@dataclass(frozen=True, slots=True)
class Adapter:
    """A LoRA adapter: where it is, what it was made from, and by what factor its product counts.

    Attributes
    ----------
    base, base_revision
        Name of the base model, and its commit or digest where that is recorded.
    revision
        Digest of the folder.
    rank, scale
        Of all its matrices: W + scale B A, with `rank` rows in A.
    settings, counts, history
        What the record says: settings of adapter and training, numbers of examples, losses by step.
    """

    folder: str
    base: str
    base_revision: str | None
    revision: str
    rank: int
    scale: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)
    history: Sequence[Mapping[str, Any]] = ()

    @property
    def name(self) -> str:
        """The name of its folder."""
        return Path(self.folder).resolve().name


def read_adapter_and_check_shapes(folder: Path) -> Adapter:
    """Read the settings and the record of an adapter, and the shapes of its matrices; their numbers stay on disk.

    Raises
    ------
    InputError
        There is no adapter, it is pickled, or it has a setting that cannot be applied; the file and field are named.
    """
    _refuse_folder_without_adapter(folder)
    file = folder / CONFIG
    config = _read_json_object(file)
    _refuse_unsupported_adapter(file, config)
    rank, alpha = config.get("r"), config.get("lora_alpha", 8)  # peft's default
    if type(rank) is not int or not 1 <= rank <= MOST_RANK:
        raise InputError(f"{file}: r must be a whole number from 1 to {MOST_RANK}, not {shorten_value(rank)}")
    if type(alpha) not in (int, float) or not isfinite(alpha) or alpha <= 0:
        raise InputError(f"{file}: lora_alpha must be a number above 0, not {shorten_value(alpha)}")
    group_and_check_matrices_by_layer(folder / WEIGHTS, _read_matrix_shapes(folder / WEIGHTS), rank)
    record = _read_json_object(folder / RECORD) if (folder / RECORD).exists() else {}
    base = record.get("base", config.get("base_model_name_or_path"))
    revision = record.get("revision")
    if not isinstance(base, str) or not base.strip():
        raise InputError(f"{file}: base_model_name_or_path must name the base model, not {shorten_value(base)}")
    if not isinstance(revision, str | None):
        raise InputError(f"{folder / RECORD}: revision must be text, not {shorten_value(revision)}; restore the file")
    record_fields = {
        name: _read_optional_record_object(folder / RECORD, record, name) for name in ("settings", "counts")
    }
    modules = config.get("target_modules")
    settings = {"r": rank, "lora_alpha": alpha, "target_modules": modules if isinstance(modules, str | list) else None}
    return Adapter(
        folder=str(folder),
        base=base,
        base_revision=revision,
        revision=compute_sampled_checkpoint_digest(folder),
        rank=rank,
        scale=alpha / (sqrt(rank) if config.get("use_rslora") else rank),
        settings={**settings, **record_fields["settings"]},
        counts=record_fields["counts"],
        history=read_loss_history_file(folder / HISTORY) if (folder / HISTORY).exists() else (),
    )


def read_loss_history_file(file: Path) -> list[dict[str, Any]]:
    """Read the losses of a training: step, epoch, loss, validation_loss; a loss is null where it was not computed.

    Raises
    ------
    InputError
        Naming the file, the entry and the field.
    """
    content = parse_json(file, read_text_file(file))
    if not isinstance(content, list):
        raise InputError(f"{file}: expected a list of steps, not {shorten_value(content)}; restore the file")
    for number, row in enumerate(content, start=1):
        for name, kind in ROW.items():
            value: Any = row.get(name) if isinstance(row, dict) else None
            absent = value is None and name not in ("step", "epoch")
            if not (absent or (type(value) in (int, kind) and isfinite(value))):
                where = f"{file}, entry {number}"
                raise InputError(f"{where}: {name} must be a number, not {shorten_value(value)}; restore the file")
    return content


def group_and_check_matrices_by_layer(
    file: Path, shapes: Mapping[str, Sequence[int]], rank: int
) -> dict[str, dict[str, str]]:
    """Find the two matrices of every layer by their names.

    Parameters
    ----------
    file
        The file of the matrices, for the message.
    shapes
        Name of a matrix -> its rows and columns.
    rank
        Rows of A and columns of B.

    Returns
    -------
    Name of a layer -> "A" and "B" -> name of the matrix.

    Raises
    ------
    InputError
        There is none, one is missing, is of another rank, or is no matrix of a linear layer.
    """
    matrices_by_layer: dict[str, dict[str, str]] = {}
    for key, shape in shapes.items():
        match = NAME.fullmatch(key)
        if match is None or len(shape) != 2:
            raise InputError(f"{file}: {key} is no matrix of a linear layer; such adapters are not supported")
        matrices_by_layer.setdefault(match["layer"], {})[match["matrix"]] = key
    if not matrices_by_layer:
        raise InputError(f"{file}: there is no matrix in it; save the adapter again")
    for name, pair in matrices_by_layer.items():
        if len(pair) < 2:
            raise InputError(f"{file}: {name} has one matrix of two; save the adapter again")
        if (shapes[pair["A"]][0], shapes[pair["B"]][1]) != (rank, rank):
            raise InputError(f"{file}: {name} is not of rank {rank}, as {CONFIG} says; save the adapter again")
    return matrices_by_layer


def _read_matrix_shapes(file: Path) -> dict[str, tuple[int, ...]]:
    """Read the shapes of the matrices, not their numbers."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="np") as tensors:
            return {key: tuple(tensors.get_slice(key).get_shape()) for key in tensors.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(f"{file}: cannot be read ({error}); save the adapter again") from None


def _refuse_folder_without_adapter(folder: Path) -> None:
    """Refuse a folder that lacks the settings or the safetensors weights of an adapter."""
    if not folder.is_dir():
        raise InputError(f"--lora {folder}: no such folder; give the folder of an adapter, as peft writes it")
    if not (folder / CONFIG).is_file():
        reason = (
            f"its tuning is not finished (no {CONFIG}); give that call of `waver tune` again"
            if (folder / RECORD).is_file()
            else f"no adapter there; give a folder with {CONFIG}, as peft writes it"
        )
        raise InputError(f"--lora {folder}: {reason}")
    if not (folder / WEIGHTS).is_file():
        reason = (
            f"its weights are pickled ({PICKLED}), and opening a pickle can run any code"
            if (folder / PICKLED).exists()
            else "its weights are missing"
        )
        raise InputError(f"--lora {folder}: {reason}; save them as {WEIGHTS}")


def _refuse_unsupported_adapter(file: Path, config: Mapping[str, Any]) -> None:
    """Refuse an adapter that does anything but add scale B A to the weights of linear layers."""
    kind, task = config.get("peft_type", "LORA"), config.get("task_type", "CAUSAL_LM")
    if kind != "LORA":
        raise InputError(f"{file}: peft_type is {shorten_value(kind)}; give an adapter of the kind LORA")
    if task not in (None, "CAUSAL_LM"):
        raise InputError(f"{file}: task_type is {shorten_value(task)}; give an adapter of a CAUSAL_LM")
    if config.get("init_lora_weights") not in STARTS:
        raise InputError(
            f"{file}: init_lora_weights is {shorten_value(config['init_lora_weights'])}, which changes the base "
            "model, too; convert the adapter with peft (path_initial_model_for_weight_conversion)"
        )
    other = [name for name, value in config.items() if name not in READ | FREE and value not in EMPTY]
    if other:
        raise InputError(
            f"{file}: {other[0]} = {shorten_value(config[other[0]])} is not supported; merge the adapter into its "
            "model with peft (merge_and_unload) and ask that"
        )


def _read_json_object(file: Path) -> dict[str, Any]:
    """Read a JSON file of the adapter folder that must hold one object."""
    content = parse_json(file, read_text_file(file))
    if not isinstance(content, dict):
        raise InputError(f"{file}: expected an object with named fields, not {shorten_value(content)}")
    return content


def _read_optional_record_object(file: Path, record: Mapping[str, Any], field_name: str) -> dict[str, Any]:
    """Return a field of the record that must be an object; an empty one where it is missing."""
    value = record.get(field_name, {})
    if not isinstance(value, dict):
        raise InputError(
            f"{file}: {field_name} must be an object with named fields, not {shorten_value(value)}; restore the file"
        )
    return value
