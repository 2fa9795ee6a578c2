"""Import once what the commands of most cases need; `helpers.apart` forks from here."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # no case may wait for a hub
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import openai  # noqa: F401
import pandas  # noqa: F401
import pyarrow.parquet  # noqa: F401
import torch  # noqa: F401
import transformers
import transformers.models.llama.modeling_llama  # noqa: F401
import yaml  # noqa: F401

import analysis.reporting.tables
import analysis.runs  # noqa: F401
import inference.asking.execute
import inference.engines.local.causal
import inference.engines.local.masked
import inference.engines.openai.engine
import inference.importers.haller
import inference.importers.table
import inference.paraphrase.command
import inference.runfile  # noqa: F401
from inference import protocols

for name in protocols.names():
    protocols.protocol(name)
