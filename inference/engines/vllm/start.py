"""Find vLLM, check its version and start it on a model."""

from __future__ import annotations

import os
import re
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig
from transformers.utils import GENERATION_CONFIG_NAME

from ground.errors import InputError
from ground.extras import build_install_command
from inference.engines.adapters import Adapter
from inference.engines.loading import (
    choose_engine_for_architecture,
    convert_transformers_errors,
    find_commit_of_hub_or_digest_of_folder,
    resolve_dtype,
    silence_transformers_during_block,
)
from inference.engines.merging import iterate_weights_and_adapter_products
from inference.engines.vllm.child_processes import Companions
from inference.engines.vllm.settings import ROUNDED, VllmSettings

OLDEST, TOO_NEW = (0, 32), (1, 0)  # the first release that was tested; the first one that may change everything
MOST_TOKENS = 128  # token ids that one request may list
# On a CPU: the shortest blocks of the prefix cache that its kernels allow (the default block is longer than most shared
# starts of prompts), and a cache that leaves memory to other programs; VLLM_CPU_KVCACHE_SPACE (GiB) overrides its size.
CPU_BLOCK, CPU_CACHE_BYTES = 32, 2 * 2**30
ADAPTER_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # the largest ranks that vLLM can be set to


@dataclass(frozen=True, slots=True)
class RunningVllm:
    """vLLM with a model in it.

    `window` is the longest sequence that it takes, `info` is what run.json records, `generation_config` how its maker
    writes texts. `stop` ends its processes; so does deleting `llm`.
    """

    llm: Any
    stop: Callable[[], Any]
    tokenizer: Any
    adapter: Any
    window: int
    info: dict[str, Any]
    generation_config: Any


def start_vllm(
    name: str,
    dtype: str,
    device: str,
    revision: str | None,
    seed: int,
    settings: VllmSettings,
    adapter: Adapter | None = None,
) -> RunningVllm:
    """Start vLLM on a model, in processes that end with the returned object.

    Parameters
    ----------
    name
        As `model` of `inference.engines.load_engine`.
    dtype, device, revision, seed, adapter
        As in `inference.engines.load_engine`.
    settings
        Settings of vLLM.

    Returns
    -------
    vLLM with the model in it.

    Raises
    ------
    InputError
        As in `inference.engines.load_engine`.
    """
    vllm = import_vllm()
    on = _resolve_device_of_vllm(device)
    commit, digest = find_commit_of_hub_or_digest_of_folder(name, revision)
    with convert_transformers_errors(name), silence_transformers_during_block():
        config = AutoConfig.from_pretrained(name, revision=commit, trust_remote_code=False)
        choose_engine_for_architecture(name, config, "causal")
        tokenizer = AutoTokenizer.from_pretrained(name, revision=commit, trust_remote_code=False)
        with torch.device("meta"):  # no weights: only to count them
            shape = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
        generation_config = _load_generation_config(name, commit, shape)
    if adapter is not None:  # vLLM would say so in many lines, and only with the first prompt
        deque(iterate_weights_and_adapter_products(shape, adapter), maxlen=0)
    info = {
        "engine": "vllm",
        "revision": commit or digest,
        "dtype": str(resolve_dtype(dtype, on, config)).removeprefix("torch."),
        "device": str(on),
        "parameters": sum(parameter.numel() for parameter in shape.parameters()),
    }
    info["vllm"] = vllm.__version__
    if settings.quantization:
        info["quantization"] = settings.quantization
    if settings.site:
        info["vllm_set"] = dict(settings.site)
    if ROUNDED in settings.site:
        info[ROUNDED] = settings.site[ROUNDED]
    # Without this, vLLM's processes go on when a run is killed and keep the memory that the next run needs.
    with _convert_loading_errors(name), Companions() as companions:
        llm = vllm.LLM(**{
            "model": name,
            "revision": commit,
            "tokenizer_revision": commit,
            "trust_remote_code": False,
            "load_format": "auto" if settings.quantization else "safetensors",
            "dtype": info["dtype"],
            "max_model_len": -1,  # the model's own window, or as much of it as the cache has room for
            "seed": seed,
            "tensor_parallel_size": settings.tensor_parallel_size,
            "quantization": settings.quantization,
            "gpu_memory_utilization": settings.gpu_memory_utilization,
            "enable_prefix_caching": True,
            "logprobs_mode": "processed_logprobs",  # of the logits after division by the temperature
            "max_logprobs": MOST_TOKENS,
            "use_tqdm_on_load": False,
            **_list_adapter_options(adapter),
            **_list_cpu_options(on),
            **settings.site,
        })  # fmt: skip
    stop = weakref.finalize(llm, _stop_vllm, llm.llm_engine.engine_core, companions)
    window = llm.llm_engine.model_config.max_model_len
    return RunningVllm(llm, stop, tokenizer, _build_adapter_request(adapter), window, info, generation_config)


def _load_generation_config(name: str, commit: str | None, shape: Any) -> Any:
    """Read how the maker of a model writes texts; without a file of its own, from config.json as transformers does."""
    try:
        return GenerationConfig.from_pretrained(name, revision=commit)
    except OSError:
        if (Path(name) / GENERATION_CONFIG_NAME).exists():  # damaged
            raise
        return shape.generation_config


def _stop_vllm(core: Any, companions: Companions) -> None:
    """Shut vLLM's core down and kill the processes that still run."""
    core.shutdown()
    companions.kill_running_child_processes()


def import_vllm() -> Any:
    """Import vLLM.

    Raises
    ------
    InputError
        It is not installed, cannot be imported, or its version does not fit.
    """
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")  # its other messages would break up the progress bar
    try:
        import vllm
    except ImportError as error:
        reason = "is not installed" if error.name == "vllm" else f"cannot be imported ({error})"
        raise InputError(
            f"--engine vllm: vLLM {reason}; {build_install_command('models', 'vllm')} in an environment of its own, "
            "or use --engine causal"
        ) from error
    version = re.match(r"(\d+)\.(\d+)", vllm.__version__)
    if not version or not OLDEST <= (int(version[1]), int(version[2])) < TOO_NEW:
        needed_versions = f">={OLDEST[0]}.{OLDEST[1]},<{TOO_NEW[0]}"
        raise InputError(
            f"--engine vllm: this is vLLM {vllm.__version__}, Waver needs {needed_versions}; pip install "
            f"'vllm{needed_versions}'"
        )
    return vllm


def _resolve_device_of_vllm(requested: str) -> torch.device:
    """Return the device that this build of vLLM runs on."""
    from vllm.platforms import current_platform

    available = current_platform.device_type
    if requested not in ("auto", available):
        raise InputError(
            f"--device {requested}: this vLLM runs on {available}; leave out --device, or use --engine causal"
        )
    return torch.device(available)


def _list_cpu_options(device: torch.device) -> dict[str, Any]:
    """List the arguments that vLLM needs on a CPU; none on another device."""
    if device.type != "cpu":
        return {}
    os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")  # the worker would call a compiler for one small function
    return {
        "enforce_eager": True,
        "block_size": CPU_BLOCK,
        "kv_cache_memory_bytes": CPU_CACHE_BYTES,
        # A seeded request whose prompt is cut into chunks ends the worker: it rewinds a random generator, which
        # torch's generators on a CPU cannot do.
        "enable_chunked_prefill": False,
    }


def _list_adapter_options(adapter: Adapter | None) -> dict[str, Any]:
    """List the arguments with which vLLM makes room for an adapter; none without one."""
    if adapter is None:
        return {}
    room = next(room for room in ADAPTER_RANKS if adapter.rank <= room)
    return {"enable_lora": True, "max_loras": 1, "max_lora_rank": room}


def _build_adapter_request(adapter: Adapter | None) -> Any:
    """Build what vLLM takes with every request to apply an adapter; None without one."""
    if adapter is None:
        return None
    from vllm.lora.request import LoRARequest

    return LoRARequest("adapter", 1, adapter.folder)


@contextmanager
def _convert_loading_errors(name: str) -> Iterator[None]:
    """Turn whatever vLLM raises while it loads a model into one line."""
    try:
        yield
    except Exception as error:  # vLLM raises dozens of kinds, for a model too large, not supported or not readable
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        reason = next((line for line in lines if line.startswith("Value error, ")), lines[0]).removeprefix(
            "Value error, "
        )
        raise InputError(f"model {name} cannot be loaded by vLLM: {reason}") from error
