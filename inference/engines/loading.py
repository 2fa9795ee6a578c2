"""Load a checkpoint from a folder or the hub: safetensors only, no remote code, no weight left at a random value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    GenerationConfig,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES
from transformers.utils import GENERATION_CONFIG_NAME, cached_file
from transformers.utils import logging as transformers_logging

from ground.errors import InputError, NoSuchModel
from inference.engines.adapters import Adapter
from inference.engines.checking import (
    refuse_config_beyond_weights,
    refuse_nonfinite_weights,
    refuse_tokens_without_embedding,
    refuse_unreadable_or_oversized_config,
)
from inference.engines.digest import compute_sampled_checkpoint_digest
from inference.engines.hub import is_hub_id_rather_than_path, is_hub_reachable_else_require_cached_model
from inference.engines.merging import merge_adapter

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# A tiny model runs faster on one thread: threads that wait for each other cost more than they save, up to forty times
# as much on a busy machine.
ONE_THREAD_BELOW = 3_000_000  # parameters
THREADS = torch.get_num_threads()
LESS_MEMORY = "try another --device or a smaller model, or --dtype bfloat16 where the command has it"
LONGEST_REASON = 300  # characters of another library's message
AUTO = {
    "causal": AutoModelForCausalLM,
    "masked": AutoModelForMaskedLM,
    "classifier": AutoModelForSequenceClassification,
}
CLASSIFIER = "ForSequenceClassification"


@dataclass(slots=True)
class Checkpoint:
    """A loaded model with its tokenizer; `info` is what run.json records of it, `seed` is the seed of its texts."""

    name: str
    model: Any
    tokenizer: Any
    info: dict[str, Any] = field(default_factory=dict)
    seed: int = 0


def load_checkpoint(
    name: str,
    *,
    engine: str,
    dtype: str,
    device: str,
    revision: str | None,
    seed: int,
    adapter: Adapter | None = None,
    quantization: Any = None,
) -> Checkpoint:
    """Load model and tokenizer, in eval mode on the device.

    Parameters
    ----------
    name
        As `model` of `inference.engines.load_engine`.
    engine, dtype, device, revision, seed, adapter
        As in `inference.engines.load_engine`.
    quantization
        The quantization configuration of transformers; None: the weights stay as they are.

    Returns
    -------
    The checkpoint, its adapter merged into the weights.

    Raises
    ------
    InputError
        As in `inference.engines.load_engine`.
    """
    target = resolve_device(device)
    commit, digest = find_commit_of_hub_or_digest_of_folder(name, revision)
    with convert_transformers_errors(name), silence_transformers_during_block():
        config = AutoConfig.from_pretrained(name, revision=commit, trust_remote_code=False)
    engine = choose_engine_for_architecture(name, config, engine)
    if adapter is not None and engine != "causal":
        raise InputError(f"--lora {adapter.folder}: model {name} is asked by --engine {engine}, which takes no adapter")
    precision = resolve_dtype(dtype, target, config)
    torch.manual_seed(seed)
    auto = AUTO[engine]
    with convert_transformers_errors(name), silence_transformers_during_block():
        if (Path(name) / GENERATION_CONFIG_NAME).exists():  # a damaged one would be left out without a word
            GenerationConfig.from_pretrained(name)
        refuse_config_beyond_weights(name, auto, config)
        tokenizer = AutoTokenizer.from_pretrained(name, revision=commit, trust_remote_code=False)
        model, report = auto.from_pretrained(
            name,
            revision=commit,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=precision,
            **({"quantization_config": quantization, "device_map": {"": target}} if quantization else {}),
            ignore_mismatched_sizes=True,  # then they are reported here, and refused below in one line
            output_loading_info=True,
        )
    _refuse_missing_weights(name, report)
    parameters = count_parameters_and_set_threads(model)
    info = {
        "engine": engine,
        "revision": commit or digest,
        "dtype": str(precision).removeprefix("torch."),
        "device": str(target),
        "parameters": parameters,
    }
    if adapter is not None:
        merge_adapter(model, adapter)
    try:
        model = (model if quantization else model.to(target)).eval()
    except torch.OutOfMemoryError as error:
        raise InputError(f"model {name} does not fit on {target}: {LESS_MEMORY}") from error
    refuse_nonfinite_weights(name, model)
    refuse_tokens_without_embedding(name, tokenizer, len(model.get_input_embeddings().weight))
    return Checkpoint(name, model, tokenizer, info, seed)


def count_parameters_and_set_threads(model: Any) -> int:
    """Count the parameters of a model, and let PyTorch use as many threads as suit that many."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    torch.set_num_threads(1 if parameters < ONE_THREAD_BELOW else THREADS)
    return parameters


def resolve_device(requested: str) -> torch.device:
    """Turn a device name into a device that exists on this machine.

    Raises
    ------
    InputError
        There is no such device here, or it holds no numbers ("meta").
    """
    if requested == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(requested)
        torch.empty(0, device=device)
        if device.type == "meta":
            raise RuntimeError("it holds no numbers")
    except Exception as error:  # every kind of device has its own errors
        reason = _get_first_line_of_error(error)
        raise InputError(f"device '{requested}' cannot be used here ({reason}): try --device cpu") from error
    return device


def resolve_dtype(requested: str, device: torch.device, config: Any) -> torch.dtype:
    """Turn a dtype name into a dtype.

    Parameters
    ----------
    requested
        A name in `DTYPES`, or "auto": float32, but bfloat16 for a half-precision checkpoint on an accelerator.
    device
        Where the model runs.
    config
        Configuration of the model, which names the dtype of the stored weights.

    Returns
    -------
    The dtype to compute in.

    Raises
    ------
    InputError
        Another name.
    """
    if requested in DTYPES:
        return DTYPES[requested]
    if requested != "auto":
        raise InputError(f"unknown dtype '{requested}': choose auto, {', '.join(DTYPES)}")
    stored = getattr(config, "dtype", None)
    # On a CPU half precision is not faster and loses digits; on an accelerator float32 adds no digits to half-precision
    # weights. bfloat16 instead of float16, because a large activation can be too large for float16.
    is_full = stored in (None, torch.float32, torch.float64)
    return torch.float32 if device.type == "cpu" or is_full else torch.bfloat16


def choose_engine_for_architecture(name: str, config: Any, requested: str) -> str:
    """Choose the engine for an architecture.

    Parameters
    ----------
    name
        The model, for the message.
    config
        Its configuration.
    requested
        "causal", "masked", "classifier", or "auto": as the architecture says.

    Returns
    -------
    "causal", "masked" or "classifier".

    Raises
    ------
    InputError
        The architecture is unknown, or not of the requested kind: a bidirectional model is not asked as a causal one.
    """
    architectures = getattr(config, "architectures", None) or []
    if not (isinstance(architectures, list) and all(isinstance(architecture, str) for architecture in architectures)):
        raise InputError(f"model {name}: config.json: architectures must be a list of names, not {architectures!r}")
    architecture_names = ", ".join(architectures) or "no architecture"
    classifies = any(a.endswith(CLASSIFIER) for a in architectures)
    engine = requested
    if engine == "auto":
        if any(a.endswith("ForMaskedLM") for a in architectures):
            engine = "masked"
        elif any(a.endswith(("ForCausalLM", "LMHeadModel")) for a in architectures):
            engine = "causal"
        elif classifies:
            engine = "classifier"
        else:
            raise InputError(
                f"model {name}: its config names {architecture_names}; give a causal or masked language model or a "
                "classifier, or say --engine causal or --engine masked"
            )
    if engine == "masked" and classifies:
        raise InputError(f"model {name}: its config names {architecture_names}; give the encoder that it was made from")
    if engine == "classifier" and not classifies:
        raise InputError(
            f"model {name}: its config names {architecture_names}, no classifier; tune it first (waver tune nli)"
        )
    bidirectional = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not getattr(config, "is_decoder", True)
    if engine == "causal" and bidirectional:
        raise InputError(f"model {name}: {config.model_type} reads in both directions; ask it with --engine masked")
    return engine


def find_commit_of_hub_or_digest_of_folder(name: str, revision: str | None) -> tuple[str | None, str | None]:
    """Find out exactly what will be loaded.

    Parameters
    ----------
    name, revision
        As in `find_and_check_config_file`.

    Returns
    -------
    (commit, None) of a hub model, (None, digest) of a local folder.

    Raises
    ------
    InputError
        As in `find_and_check_config_file`.
    """
    config = find_and_check_config_file(name, revision)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return None, compute_sampled_checkpoint_digest(folder)
    # The hub's cache keeps every commit in a folder of its own name: .../snapshots/<commit>/config.json
    return config.parent.name, None


def find_and_check_config_file(name: str, revision: str | None) -> Path:
    """Find the config.json of a checkpoint folder or hub model, without loading anything else.

    Parameters
    ----------
    name
        Folder or hub id.
    revision
        Branch, tag or commit of a hub model; None: its main branch. A folder has none.

    Returns
    -------
    The file.

    Raises
    ------
    NoSuchModel
        Neither a folder nor a reachable hub model.
    InputError
        The folder holds no checkpoint that can be loaded, or a revision is given for a folder; or config.json cannot
        be read.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        if revision is not None:
            raise InputError(f"model {name}: a local folder has no revisions; drop --revision")
        _refuse_unusable_folder(name, folder)
        refuse_unreadable_or_oversized_config(name, folder / "config.json")
        return folder / "config.json"
    if not is_hub_id_rather_than_path(name):
        raise NoSuchModel(f"model {name}: no such folder; give a checkpoint folder or a hub id such as owner/name")
    is_reachable = is_hub_reachable_else_require_cached_model(name, revision)
    try:
        with convert_transformers_errors(name):
            path = Path(cached_file(name, "config.json", revision=revision, local_files_only=not is_reachable))
    except InputError as error:
        raise NoSuchModel(str(error)) from error
    if path.is_file():
        refuse_unreadable_or_oversized_config(name, path)
    return path


def _refuse_unusable_folder(name: str, folder: Path) -> None:
    """Refuse a folder without config.json or safetensors weights."""
    if not (folder / "config.json").is_file():
        raise InputError(f"model {name}: the folder holds no model (config.json is missing)")
    if any(folder.glob("*.safetensors")):
        return
    if any(folder.glob("*.bin")) or any(folder.glob("*.pt")):
        raise InputError(
            f"model {name}: its weights are pickled, and opening a pickle can run any code; "
            "save them as safetensors (save_pretrained does)"
        )
    raise InputError(f"model {name}: the folder holds no weights (*.safetensors is missing)")


def _refuse_missing_weights(name: str, report: dict[str, Any]) -> None:
    """Refuse a checkpoint with missing weights: transformers fills those with random numbers and only warns."""
    missing = sorted(report["missing_keys"]) + sorted(key for key, *_ in report["mismatched_keys"])
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InputError(f"model {name}: incomplete checkpoint, no fitting weights for {missing[0]}{more}")


@contextmanager
def convert_transformers_errors(name: str) -> Iterator[None]:
    """Turn long errors of transformers into one line; nearly all of them mean a wrong name, folder or field."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # dozens of kinds, from fields of a wrong kind or size
        reason = _get_first_line_of_error(error)
        if is_out_of_memory_error(error):
            message = f"does not fit into memory ({reason}): {LESS_MEMORY}"
        elif isinstance(error, (OSError, ValueError, KeyError, ImportError, SafetensorError)):
            message = f"cannot be loaded: {reason}"
        else:
            message = (
                "cannot be loaded: its config.json, tokenizer or weights do not fit together "
                f"({type(error).__name__}: {reason}); save the model again"
            )
        raise InputError(f"model {name} {message}") from error


def is_out_of_memory_error(error: Exception) -> bool:
    """Tell whether an error says that memory has run out: allocators of a CPU say so in words only.

    >>> is_out_of_memory_error(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
    True
    """
    text = str(error).lower()
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or any(
        phrase in text
        for phrase in ("out of memory", "can't allocate memory", "cannot allocate memory", "not enough memory")
    )


def _get_first_line_of_error(error: Exception) -> str:
    """Return the first line of an error's message, shortened; without a message, its name."""
    lines = [" ".join(line.split()) for line in str(error).splitlines() if line.strip()]
    return lines[0][:LONGEST_REASON] if lines else type(error).__name__


@contextmanager
def silence_transformers_during_block() -> Iterator[None]:
    """Silence transformers: its progress bars break up the run's own, and missing weights are reported here."""
    bars, verbosity = transformers_logging.is_progress_bar_enabled(), transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()
