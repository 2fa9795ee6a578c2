"""Hold the settings that only the engine `vllm` takes."""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    tensor_parallel_size: int = 1
    quantization: str | None = None
    gpu_memory_utilization: float = 0.9
