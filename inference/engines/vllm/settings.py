"""Read from the command line the settings that only the engine `vllm` takes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ground.errors import InputError, format_nearest_name_hint
from ground.numerals import build_bounded_whole_number_type, parse_positive_share

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

    @property
    def fields_of_run_json(self) -> dict[str, Value | None]:
        """The fields of run.json that these settings decide; None: the model's own."""
        return {"quantization": self.quantization, ROUNDED: self.site.get(ROUNDED)}


def add_arguments(parser: ArgumentParser) -> None:
    """Define the options of the engine; `parse_settings` reads them."""
    group = parser.add_argument_group("engine vllm")
    parse_count = build_bounded_whole_number_type(1, 1_000_000)
    group.add_argument("--tensor-parallel-size", type=parse_count, metavar="N", help="GPUs to spread a model over")
    group.add_argument("--quantization", metavar="METHOD", help="as vLLM calls it (default: what the checkpoint says)")
    group.add_argument(
        "--gpu-memory-utilization",
        type=parse_positive_share,
        metavar="P",
        help="share of a GPU's memory to take (default: 0.9)",
    )
    group.add_argument(
        "--vllm-set", action="append", default=[], metavar="NAME=VALUE",
        help="another argument of vLLM that a machine needs, as max_num_seqs=512 (may be repeated)",
    )  # fmt: skip


def parse_settings(options: Namespace) -> VllmSettings | None:
    """Read the options that `add_arguments` defines; None where none is given.

    Raises
    ------
    InputError
        For one of them with another engine, or an impossible value.
    """
    names = ("tensor_parallel_size", "quantization", "gpu_memory_utilization")
    values = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.vllm_set:
        values["site"] = parse_vllm_assignments(options.vllm_set)
    if values and options.engine != "vllm":
        option = "vllm-set" if "site" in values else next(iter(values)).replace("_", "-")
        raise InputError(f"--{option} is for --engine vllm: say so, or leave it out")
    return VllmSettings(**values) if values else None


def parse_vllm_assignments(assignments: Sequence[str]) -> dict[str, Value]:
    """Read what `--vllm-set` was given: NAME=VALUE, as often as it was given.

    Raises
    ------
    InputError
        For a name that is not in `SITE` or given twice, or a value of another kind.

    >>> parse_vllm_assignments(["max_num_seqs=512", "enforce-eager=true"])
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
                f"--vllm-set {name}: Waver passes on no such setting{format_nearest_name_hint(name, SITE)}; there are "
                f"{', '.join(SITE)}"
            )
        if name in settings:
            raise InputError(f"--vllm-set {name}: given twice; give it once")
        settings[name] = _parse_setting_value(name, value.strip())
    return settings


def _parse_setting_value(name: str, text: str) -> Value:
    """Convert the text of a setting to the kind that it has."""
    kind = SITE[name]
    try:
        if kind is bool:
            return TRUTH[text.lower()]
        value = kind(text)
    except (KeyError, ValueError):
        expected = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise InputError(f"--vllm-set {name}={text}: expected {expected}") from None
    return value
