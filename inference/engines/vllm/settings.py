"""Hold the settings that only the engine `vllm` takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ground.errors import InputError, suggest_nearest

Value = bool | int | float | str

# Arguments of vLLM that make it faster, or fit it to a machine. Not among them: what Waver sets itself, and what names
# other code or files to load.
SITE: Mapping[str, type[Value]] = {
    "async_scheduling": bool,
    "attention_backend": str,
    "block_size": int,
    "cpu_offload_gb": float,
    "disable_custom_all_reduce": bool,
    "enable_chunked_prefill": bool,
    "enable_expert_parallel": bool,
    "enforce_eager": bool,
    "kv_cache_dtype": str,
    "kv_cache_memory_bytes": int,
    "max_cudagraph_capture_size": int,
    "max_model_len": int,
    "max_num_batched_tokens": int,
    "max_num_seqs": int,
    "pipeline_parallel_size": int,
}
ROUNDED = "kv_cache_dtype"
"""The one of them that changes probabilities by more than their last digits."""
TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class VllmSettings:
    """Settings of the engine `vllm`.

    Attributes
    ----------
    tensor_parallel_size
        GPUs over which the weights are distributed.
    quantization
        vLLM's name of a method; None: what the checkpoint says.
    gpu_memory_utilization
        Share of a GPU's memory that vLLM may take.
    site
        Other arguments of vLLM, of those in `SITE`.
    """

    tensor_parallel_size: int = 1
    quantization: str | None = None
    gpu_memory_utilization: float = 0.9
    site: Mapping[str, Value] = field(default_factory=dict)


def parse_site_settings(assignments: Sequence[str]) -> dict[str, Value]:
    """Read what `--vllm-set` was given: NAME=VALUE, as often as it was given.

    Raises
    ------
    InputError
        For a name that is not in `SITE` or given twice, or a value of another kind.

    >>> parse_site_settings(["max_num_seqs=512", "enforce-eager=true"])
    {'max_num_seqs': 512, 'enforce_eager': True}
    """
    settings: dict[str, Value] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not value.strip():
            raise InputError(f"--vllm-set {text}: a setting is given as NAME=VALUE")
        if name not in SITE:
            raise InputError(
                f"--vllm-set {name}: Waver passes on no such setting{suggest_nearest(name, SITE)}; there are "
                f"{', '.join(SITE)}"
            )
        if name in settings:
            raise InputError(f"--vllm-set {name}: given twice; give it once")
        settings[name] = _parse_value(name, value.strip())
    return settings


def _parse_value(name: str, text: str) -> Value:
    kind = SITE[name]
    try:
        if kind is bool:
            return TRUTH[text.lower()]
        value = kind(text)
    except (KeyError, ValueError):
        expected = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise InputError(f"--vllm-set {name}={text}: expected {expected}") from None
    return value
