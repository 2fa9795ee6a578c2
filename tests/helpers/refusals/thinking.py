"""Wrong calls of `run` about models that think."""

from __future__ import annotations

import shutil
from pathlib import Path

from helpers.refusals import Case
from helpers.refusals.missing import MODEL

THINKER = MODEL.parent / "waver-demo-thinker"
CALL = "inference run agreement --items demo --limit 1 --text-share 0.02 --out run"
THOUGHT = f"{CALL} --model {THINKER} --answer thought"


def copy_thinker(file: str, before: str, after: str) -> object:
    """Copy the thinking model into the folder `model`, with a change in a file of it."""

    def write(folder: Path) -> None:
        shutil.copytree(THINKER, folder / "model")
        text = (folder / "model" / file).read_text(encoding="utf-8")
        assert before in text
        (folder / "model" / file).write_text(text.replace(before, after), encoding="utf-8")

    return write


OWN = f"{CALL} --model model --answer thought"

CASES = [
    Case("a model that does not think", f"{CALL} --model {MODEL} --answer thought",
         ("waver-demo-small", "does not think", "--answer probability")),
    Case("a thinking model in plain form", f"{THOUGHT} --form plain", ("waver-demo-thinker", "does not think")),
    Case("no thought", f"{THOUGHT} --thoughts 0", ("--thoughts", "0 is not", "from 1")),
    Case("too many thoughts", f"{THOUGHT} --thoughts 10001", ("--thoughts", "10001 is not", "10,000")),
    Case("several thoughts at temperature 0", f"{THOUGHT} --thoughts 2 --temperature 0", ("--thoughts 2", "ask for 1")),
    Case("a sampler for the likeliest tokens", f"{THOUGHT} --temperature 0 --top-k 3", ("--top-k", "--temperature")),
    Case("half a sampler of the maker's", f"{THOUGHT} --top-p 0.9", ("--top-p", "--temperature")),
    Case("a share of no tokens", f"{THOUGHT} --temperature 1 --top-p 0", ("top_p 0", "above 0")),
    Case("a maker that advises no sampler", OWN, ("model", "sampler", "--temperature"),
         copy_thinker("generation_config.json", '"temperature": 0.8,', "")),
    Case("thinking that cannot be switched off", f"{OWN} --effort none",
         ("cannot switch thinking off", "--effort none"),
         copy_thinker("chat_template.jinja", "not enable_thinking", "false")),
    Case("an effort that is empty", (*THOUGHT.split(), "--effort", ""), ("--effort", "not a level")),
    Case("an effort that is no word", f"{THOUGHT} --effort low/high",
         ("--effort", "low/high", "not a level")),
    Case("a budget and a length", f"{THOUGHT} --budget 5 --max-tokens 9", ("--budget", "--max-tokens")),
    Case("a budget of nothing", f"{THOUGHT} --budget 0", ("--budget", "0 is not")),
    Case("a budget beyond the window", f"{THOUGHT} --budget 2000", ("context window of 1024", "--budget"), status=1),
    Case("a budget of texts", f"{CALL} --model {THINKER} --answer text --budget 5", ("--budget", "--answer thought")),
    Case("thoughts of a run file", "inference run r.toml", ("r.toml", "thoughts", "0 is not"),
         {"r.toml": 'out = "r"\n[[study]]\nprotocol = "agreement"\nitems = "demo"\nmodel = ["demo"]\n'
                    'answer = ["thought"]\nthoughts = 0\n'}),
]  # fmt: skip
