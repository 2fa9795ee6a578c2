"""Import once what the commands of most cases need; `helpers.apart` forks from here."""

# ruff: noqa: E402  # settings come first
from __future__ import annotations

import gc
import importlib
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"  # no case may wait for a hub
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["LANGUAGE"] = "C"  # as `conftest` has it
os.environ.setdefault("MPLBACKEND", "agg")  # as kernels have it (`helpers.kernels`)
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # as `conftest` has it

import duckdb  # noqa: F401
import ipykernel.kernelapp  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import openai  # noqa: F401
import pandas  # noqa: F401
import papermill  # noqa: F401  # and nbformat, of every report
import pyarrow.parquet  # noqa: F401
import scipy.stats  # noqa: F401  # it looks for PyTorch in sys.modules, where a case may have hidden it
import torch  # noqa: F401
import transformers
import transformers.models.llama.modeling_llama  # noqa: F401
import yaml  # noqa: F401

import analysis.__main__
import analysis.reporting.catalogue.tables
import analysis.runs.database
import inference.__main__
import inference.asking.execute
import inference.asking.limit
import inference.asking.preview.records
import inference.asking.preview.text
import inference.engines.local.causal
import inference.engines.local.masked
import inference.engines.openai.engine
import inference.importers.tables.command_table
import inference.paraphrase.command
import inference.protocols.agreement.command_haller
import inference.runfile
import inference.runfolder.status
from analysis.reporting import catalogue
from inference import protocols

for name in protocols.list_protocols():
    protocols.load_protocol(name)
for name in catalogue.map_page_names_to_catalogues():
    importlib.import_module(f"analysis.pages.{name}.tables")
    importlib.import_module(f"analysis.pages.{name}.page")

# The declarations of all commands are parsed once.
inference.__main__.build_parser_importing_only_called_command([])
analysis.__main__.build_parser("python -m analysis")

# What is here stays: no fork looks through it for garbage, which would also copy the memory that all share.
gc.collect()
gc.freeze()
