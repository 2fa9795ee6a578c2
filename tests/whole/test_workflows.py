"""Workflows, container and scripts for Slurm name what there is: targets of make, extras, files."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from helpers.scheduling import UNIT_WITH_R, choose_unit_of_file

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPTS = sorted((ROOT / "docs" / "cluster").glob("*.sh"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
EXTRAS = re.compile(r"--editable [\"']\.\[([a-z,]+)\][\"']")


def read_jobs(workflow: Path) -> dict[str, dict]:
    return yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]


def list_runs(workflow: Path) -> list[str]:
    return [step["run"] for job in read_jobs(workflow).values() for step in job["steps"] if "run" in step]


def test_there_are_workflows_and_scripts():
    assert [path.stem for path in WORKFLOWS] == ["site", "tests", "wheel"]
    assert len(SCRIPTS) == 2


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_what_there_is_and_holds_nothing_secret(workflow):
    text = workflow.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.M))
    called = [run.split()[1] for run in list_runs(workflow) if run.startswith("make ")]
    assert called
    assert set(called) <= targets
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    for path in re.findall(r"tests/\S+\.py", text):
        assert (ROOT / path).is_file(), path


def test_quick_tests_get_the_extras_of_make_setup():
    workflow = next(path for path in WORKFLOWS if path.stem == "tests")
    install = next(run for run in list_runs(workflow) if "--editable" in run)
    made = re.search(r"^SETUP_EXTRAS := (.+)$", MAKEFILE, re.M)
    assert EXTRAS.search(install)[1] == made[1]
    matrix = read_jobs(workflow)["quick"]["strategy"]["matrix"]
    assert matrix == {
        "system": ["ubuntu-latest", "macos-latest", "windows-latest"], "python": ["3.11", "3.12", "3.13"],
    }  # fmt: skip


def test_the_container_installs_the_wheel_as_a_user_without_rights():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert "USER 10001" in lines
    assert "COPY dist/*.whl /tmp/dist/" in lines
    assert (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()[1:] == ["*", "!dist/*.whl"]
    assert not any(re.match(r"ENV .*(KEY|TOKEN)", line) for line in lines)


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_says_what_is_missing(script, tmp_path):
    done = subprocess.run(
        ["bash", str(script)], cwd=tmp_path, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 1
    assert "give" in done.stderr


def test_files_that_start_r_are_run_in_one_process_and_others_apart():
    folder = "tests/analysis/statistics"
    units = {
        name: choose_unit_of_file(f"{folder}/{name}") for name in ("mixed/test_lme4.py", "reliability/test_reml.py")
    }
    assert set(units.values()) == {UNIT_WITH_R}
    assert choose_unit_of_file(f"{folder}/mixed/test_profile.py") == f"{folder}/mixed/test_profile.py"
