"""environment.yml and pyproject.toml name the same packages with the same bounds."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# conda-forge's name for what the Python package index calls otherwise
CONDA_NAME = {
    "duckdb": "python-duckdb",
    "great_tables": "great-tables",
    "ray": "ray-data",
    "matplotlib": "matplotlib-base",
    "torch": "pytorch",
    "vaderSentiment": "vadersentiment",
}
# What only conda can provide: the interpreter, R and its packages, a spaCy model
CONDA_ONLY = re.compile(r"python|pip|r-[a-z0-9.]+|spacy-model-en_core_web_sm")


def split(requirement: str) -> tuple[str, str]:
    name, bounds = re.fullmatch(r"(?:\w+::)?([A-Za-z0-9_.-]+)(?:\[\w+\])?\s*(.*)", requirement).groups()
    return name, ",".join(sorted(bounds.replace(" ", "").split(",")))


def pyproject() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = [
        *project["dependencies"],
        *(r for extra in project["optional-dependencies"].values() for r in extra),
    ]
    return {CONDA_NAME.get(name, name): bounds for name, bounds in map(split, requirements)}


def conda() -> dict[str, str]:
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    by_pip = next(d["pip"] for d in dependencies if isinstance(d, dict))
    return dict(split(d) for d in [*dependencies, *by_pip] if isinstance(d, str) and not d.startswith("--"))


def test_same_packages_and_bounds():
    shared = {name: bounds for name, bounds in conda().items() if not CONDA_ONLY.fullmatch(name)}
    assert shared == pyproject()


def test_the_full_install_is_there():
    assert {"vllm", "pymer4", "spacy-model-en_core_web_sm", "r-report", "r-lme4", "r-lmertest"} <= conda().keys()


def test_python_bound_is_the_one_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] in conda()["python"]


def test_environment_can_be_solved():
    solver = next(filter(None, map(shutil.which, ("micromamba", "mamba", "conda"))), None)
    if solver is None:
        pytest.skip("not solved here: no conda, mamba or micromamba on this machine")
    done = subprocess.run(
        [solver, "env", "create", "--dry-run", "--name", "waver-solve", "--file", str(ROOT / "environment.yml")],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    if re.search(r"connection|resolve host|CondaHTTPError", done.stderr, re.I):
        pytest.skip("not solved here: the conda channels cannot be reached")
    assert done.returncode == 0, done.stderr
