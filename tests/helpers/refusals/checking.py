"""Wrong calls of `waver check`, and files of rules that cannot be read as they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from helpers.refusals import Case
from helpers.synthetic import random_frame, write_run

CHECK = "analysis check run --rules rules.toml"
FLIPS = '[[rule]]\nrequire = "stability.flip_10 <= 0.2"\n'


def _write(rules: str | bytes) -> Callable[[Path], None]:
    """Write a run of two models, and a file of rules."""

    def write(folder: Path) -> None:
        write_run(folder / "run", random_frame(["gpt2", "opt"], items=6))
        (folder / "rules.toml").write_bytes(rules if isinstance(rules, bytes) else rules.encode())

    return write


def _require(sentence: str, more: str = "") -> Callable[[Path], None]:
    """Write a run, and one rule."""
    return _write(f"[[rule]]\nrequire = '{sentence}'\n{more}")


CASES = [
    Case("no rules", "analysis check run", ("required", "--rules"), _write(FLIPS)),
    Case("no run", "analysis check --rules rules.toml", ("give a run folder", "--explain"), _write(FLIPS)),
    Case("no file of rules", "analysis check run --rules rule.toml", ("rule.toml", "cannot be read"), _write(FLIPS)),
    Case("a folder of rules", "analysis check run --rules run", ("run", "not a file"), _write(FLIPS)),
    Case("rules that are a workbook", "analysis check run --rules a.xlsx", ("workbook",), {"a.xlsx": b"PK"}),
    Case("an empty file of rules", CHECK, ("rules.toml", "empty"), _write("")),
    Case("rules in no UTF-8", CHECK, ("rules.toml", "UTF-8"), _write(b"# \xff\xff")),
    Case("malformed rules", CHECK, ("rules.toml", "malformed TOML", "line 2"), _write("[[rule]]\nrequire = \n")),
    Case("rules nested too deeply", CHECK, ("rules.toml", "nested"), _write(f"rule = {'[' * 5000}{']' * 5000}")),
    Case("no rule", CHECK, ("rules.toml", "has no rule", "[[rule]]"), _write("looks = 5\n")),
    Case("a rule that is no table", CHECK, ("has no rule",), _write('rule = ["validity >= 0.9"]\n')),
    Case("a rule that requires nothing", CHECK, ("rule 2", "write require"), _write(f"{FLIPS}[[rule]]\nname = 'x'\n")),
    Case("an unknown key", CHECK, ("unknown key 'cannottell'", "'cannot_tell'"),
         _write(f"cannottell = 'fail'\n{FLIPS}")),
    Case("an unknown key of a rule", CHECK, ("rule 1", "'modles'", "'models'"), _write(f"{FLIPS}modles = ['opt']\n")),
    Case("a word that is none of two", CHECK, ("rule 1", "'likes these'", '"these" or "like these"'),
         _write(f"{FLIPS}wordings = 'likes these'\n")),
    Case("looks that are no number", CHECK, ("looks = 0", "whole number"), _write(f"looks = 0\n{FLIPS}")),
    Case("looks that are true", CHECK, ("looks = True", "whole number"), _write(f"looks = true\n{FLIPS}")),
    Case("models that are one text", CHECK, ("models = 'opt'", "no list of names"), _write(f"{FLIPS}models = 'opt'\n")),
    Case("no models", CHECK, ("models = []", "no list of names"), _write(f"{FLIPS}models = []\n")),
    Case("a name that is a number", CHECK, ("name = 5", "no text"), _write(f"{FLIPS}name = 5\n")),
    Case("two rules of one name", CHECK, ("rule 2", "rule 1 has the name", "of its own"), _write(FLIPS * 2)),
    Case("a kurtosis of nothing", CHECK, ("rule 1", "kurtosis of score as before"), _require("kurtosis as before")),
    Case("a sentence of no form", CHECK, ("rules.toml, rule 1, 'be good'", "the forms are"), _require("be good")),
    Case("an unknown table", CHECK, ("rule 1", "'stabilty'", "'stability'"), _require("stabilty.flip_10 <= 0.2")),
    Case("an unknown column", CHECK, ("rule 1", "'acuracy'", "'accuracy'"), _require("choice.acuracy >= 0.7")),
    Case("a column that is text", CHECK, ("stability.mark", "a text"), _require("stability.mark <= 0.2")),
    Case("a limit that is no number", CHECK, ("'low' is no number",), _require("stability.flip_10 <= low")),
    Case("a limit that is no share", CHECK, ("0 to 1", "20 % or 0.2"), _require("stability.flip_10 <= 20")),
    Case("an unknown option of a table", CHECK, ("rule 1, parameters", "'resample'", "'resamples'"),
         _write(f"{FLIPS}parameters = {{ resample = 5 }}\n")),
    Case("options of no table", CHECK, ("options of a table",), _require("validity >= 0.9", "parameters = { a = 1 }")),
    Case("a model that is not in the run", CHECK, ("models", "no 'gpt'", "'gpt2'"),
         _write(f"{FLIPS}models = ['gpt']\n")),
    Case("a study that is not in the run", CHECK, ("study", "no 'other'", "synthetic"),
         _write(f"{FLIPS}study = 'other'\n")),
    Case("a change without a baseline", CHECK, ("'ranking as before'", "--against"), _require("ranking as before")),
    Case("no run folder", "analysis check runs --rules rules.toml", ("runs", "no such run folder"), _write(FLIPS)),
    Case("no folder for a file", f"{CHECK} --junit no/x.xml", ("--junit", "there is no folder no"), _write(FLIPS)),
    Case("a folder as a file", f"{CHECK} --markdown run", ("--markdown run", "is a folder"), _write(FLIPS)),
    Case("a pipe as a file", f"{CHECK} --junit pipe", ("--junit pipe", "not an ordinary file"),
         lambda folder: (_write(FLIPS)(folder), os.mkfifo(folder / "pipe"))),
    Case("a file in the run", f"{CHECK} --junit run/run.json", ("run/run.json", "is a part of run"), _write(FLIPS)),
    Case("the rules as a file", f"{CHECK} --markdown rules.toml", ("--markdown rules.toml", "which is read"),
         _write(FLIPS)),
    Case("one file for two", f"{CHECK} --junit x --markdown x", ("the same file",), _write(FLIPS)),
    Case("JSON of an explanation", f"{CHECK} --explain --json", ("not allowed with",), _write(FLIPS)),
    Case("a file of an explanation", f"{CHECK} --explain --junit x", ("--explain", "--junit"), _write(FLIPS)),
]  # fmt: skip
