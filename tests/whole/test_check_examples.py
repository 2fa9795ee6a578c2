"""The files that docs/check.md gives away: workflows, rules and hooks whose every call is one that Waver takes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from analysis.__main__ import build_parser as build_reading_parser
from analysis.check.rules_file import read_rules_file
from helpers.commands import waver
from inference.__main__ import build_parser_importing_only_called_command
from waver import list_commands_by_package

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "check"
WORKFLOWS = ("pull-request.yml", "nightly.yml")
SCRIPT = "nightly.sh"
RULES = ("rules.toml", "drift.toml")


def steps_of(workflow: str) -> list[dict]:
    content = yaml.safe_load((EXAMPLES / workflow).read_text(encoding="utf-8"))
    (job,) = content["jobs"].values()
    return job["steps"]


def calls_in(script: str) -> Iterator[list[str]]:
    """The words of every call of `waver` in a script, with "x" for what the shell fills in but a date."""
    for line in re.sub(r"\\\n\s*", "", script).splitlines():
        if line.startswith("waver "):
            filled = line.replace('"$(date -u +%Y%m%d)"', "20260131")
            yield shlex.split(re.sub(r'"\$\w+"', "x", filled))[1:]


def parse_call(words: list[str]) -> object:
    if words[0] in list_commands_by_package()["inference"]:
        return build_parser_importing_only_called_command(words, "waver").parse_args(words)
    return build_reading_parser("waver").parse_args(words)


def scripts_of(example: str) -> list[str]:
    if example == SCRIPT:
        return [(EXAMPLES / example).read_text(encoding="utf-8")]
    return [step["run"] for step in steps_of(example) if "run" in step]


@pytest.mark.parametrize("example", [*WORKFLOWS, SCRIPT])
def test_every_call_is_one_that_waver_takes(example):
    calls = [words for script in scripts_of(example) for words in calls_in(script)]
    assert [words[0] for words in calls] == ["run", "check"]
    asked, checked = map(parse_call, calls)
    assert str(asked.out) == str(checked.run)
    assert str(checked.rules) in RULES


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_workflow_shows_the_summary_that_the_check_writes(workflow):
    checked = next(step["run"] for step in steps_of(workflow) if step.get("name") == "Check")
    shown = next(step for step in steps_of(workflow) if step.get("name") == "Show")
    (words,) = calls_in(checked)
    file = str(parse_call(words).markdown)
    assert shown["run"] == f'cat {file} >> "$GITHUB_STEP_SUMMARY"'
    assert f"hashFiles('{file}')" in shown["if"]


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_workflow_may_only_read_and_leaves_no_credentials_to_what_it_checks_out(workflow):
    content = yaml.safe_load((EXAMPLES / workflow).read_text(encoding="utf-8"))
    assert content["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in content[True]  # `on`, as YAML 1.1 reads it
    checkout = next(step for step in steps_of(workflow) if step.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"]["persist-credentials"] is False
    # What comes from outside is never pasted into a script.
    assert not any("${{" in step.get("run", "") for step in steps_of(workflow))


@pytest.mark.parametrize("name", RULES)
def test_the_rules_are_read(name):
    rules = read_rules_file(EXAMPLES / name)
    assert len(rules.rules) > 1


def test_the_hooks_are_those_that_pre_commit_takes():
    clientlib = pytest.importorskip("pre_commit.clientlib")
    hooks = {hook["id"]: hook for hook in clientlib.load_manifest(ROOT / ".pre-commit-hooks.yaml")}
    (repository,) = clientlib.load_config(EXAMPLES / "pre-commit-config.yaml")["repos"]
    assert {hook["id"] for hook in repository["hooks"]} == set(hooks)
    for hook in repository["hooks"]:
        words = [*shlex.split(hooks[hook["id"]]["entry"]), *hook["args"]]
        call = parse_call(words[1:])
        assert str(call.rules) == "rules.toml"
        assert not hooks[hook["id"]]["pass_filenames"]
        assert re.search(hook["files"], "rules.toml")


def test_what_the_page_shows_of_a_file_stands_there():
    """Blocks of YAML and TOML on the page are parts of the files, word by word."""
    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    files = [path.read_text(encoding="utf-8") for path in (*EXAMPLES.iterdir(), ROOT / ".pre-commit-hooks.yaml")]
    flat = ["".join(line.strip() + "\n" for line in text.splitlines()) for text in files]
    blocks = [textwrap.dedent(found) for found in re.findall(r"(?<=\n\n)(?: {4,}\S.*\n)+", page)]
    shown = [block for block in blocks if re.match(r"- (name|id|repo|uses): ", block)]
    assert len(shown) >= 2
    for block in shown:
        assert any("".join(line.strip() + "\n" for line in block.splitlines()) in text for text in flat), block
    for path in EXAMPLES.iterdir():
        assert f"check/{path.name})" in page


def write_questions(file: Path) -> None:
    """Sums that no demo model has read, in three wordings: what it answers does not matter here."""
    entries = [
        {
            "question": f"What is {n} and {n + 1}?",
            "choices": [str(2 * n + more) for more in (0, 1, 2, 3)],
            "answer": "B",
            "paraphrases": [f"How much is {n} plus {n + 1}?", f"What do {n} and {n + 1} make?"],
        }
        for n in range(1, 13)
    ]
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_the_steps_of_a_pull_request_pass_where_nothing_changed_and_fail_where_a_rule_is_broken(tmp_path):
    pytest.importorskip("torch")
    write_questions(tmp_path / "questions.jsonl")
    shutil.copy(ROOT / "inference" / "protocols" / "choice" / "prompts.yaml", tmp_path)
    rules = (EXAMPLES / "rules.toml").read_text(encoding="utf-8")
    (tmp_path / "waver").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\" >words\nexit $STATUS\n", encoding="utf-8")
    (tmp_path / "waver").chmod(0o755)
    environment = os.environ | {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "MODEL": f"model={ROOT}/inference/demo/models/waver-demo-small",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    scripts = {step["name"]: step["run"] for step in steps_of("pull-request.yml") if "run" in step and "name" in step}

    def run_script(script: str, status: int = 0) -> int:
        # As GitHub does, with -e, but with a `waver` that leaves its words and ends with a status.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return subprocess.run(command, cwd=tmp_path, env=environment | {"STATUS": str(status)}, check=False).returncode

    def run_script_and_its_command(script: str, wing: str) -> int:
        assert run_script(script) == 0
        words = (tmp_path / "words").read_text(encoding="utf-8").splitlines()
        status = waver(wing, *words, cwd=tmp_path, check=False).returncode
        return run_script(script, status)

    assert run_script_and_its_command(scripts["Ask"], "inference") == 0
    waver("analysis", "baseline", "save", "answers", "--as", "released", cwd=tmp_path)
    # The model's guesses are worse than the accuracy that the example asks for.
    for limit, status in (("0.01", 0), ("0.99", 3)):
        text = rules.replace("choice.accuracy >= 0.70", f"choice.accuracy >= {limit}").replace("0.95", "0.01")
        (tmp_path / "rules.toml").write_text(text, encoding="utf-8")
        assert run_script_and_its_command(scripts["Check"], "analysis") == status
        assert run_script(scripts["Show"]) == 0
        assert (tmp_path / "summary.md").read_text("utf-8").endswith((tmp_path / "check.md").read_text("utf-8"))
