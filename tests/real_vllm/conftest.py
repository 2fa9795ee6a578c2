"""Tests on a vLLM that is really there (`make test-vllm`); elsewhere nothing in here is collected."""

from __future__ import annotations

import os
from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("vllm") else ["test_*.py"]

os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
