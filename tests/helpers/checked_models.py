"""Demo models that are asked, made baselines of, compared and checked by the real commands."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from helpers.commands import ROOT, waver

MODELS = ROOT / "inference" / "demo" / "models"
LARGE, MINI = MODELS / "waver-demo-large", MODELS / "waver-demo-mini"
SAME_ANSWERS = "same answers as before on 95 % of items"
STUDIES = {
    "choice": (["--limit", "150", "--orders", "2"], ["accuracy", "flips", "validity"]),
    "agreement": (["--wordings", "12"], ["flips", "validity"]),
}  # study -> options of the call, and measures that have a better side


def ask_study(study: str, out: Path, model: Path, *options: str, name: str = "model") -> None:
    """Ask a model about the demo items of a study."""
    asked = ["run", study, "--items", "demo", "--model", f"{name}={model}", *STUDIES[study][0], *options]
    waver("inference", *asked, "--out", out)


def save_baseline(run: Path, out: Path) -> None:
    """Save a run as a baseline."""
    waver("analysis", "baseline", "save", run, "--as", out.name, "--to", out)


def check_run(run: Path, baseline: Path, study: str, wordings: str) -> tuple[int, dict[str, str]]:
    """Check all rules of a study at their default margins: the exit status, and what each rule is."""
    requirements = [*(f"not worse in {measure}" for measure in STUDIES[study][1]), SAME_ANSWERS]
    rules = run.parent / "rules.toml"
    rules.write_text(
        f'wordings = "{wordings}"\n' + "".join(f'[[rule]]\nrequire = "{text}"\n' for text in requirements),
        encoding="utf-8",
    )
    done = waver("analysis", "check", run, "--rules", rules, "--against", baseline, "--json", check=False)
    assert done.returncode in (0, 3), done.stderr
    return done.returncode, {rule["require"]: rule["decision"] for rule in json.loads(done.stdout)["rules"]}


def compare_runs(a: Path, b: Path) -> list[dict[str, Any]]:
    """Compare two runs by all measures."""
    return json.loads(waver("analysis", "compare", a, b, "--json").stdout)["comparisons"]


def disturb_weights(model: Path, out: Path, share: float) -> None:
    """Copy a model, and replace a share of the weights of every matrix by noise of the same spread."""
    import torch
    from safetensors.torch import load_file, save_file

    shutil.copytree(model, out)
    weights = load_file(out / "model.safetensors")
    draw = torch.Generator().manual_seed(1)
    for name, weight in weights.items():
        if weight.ndim == 2:
            noise = torch.randn(weight.shape, generator=draw) * weight.float().std()
            is_disturbed = torch.rand(weight.shape, generator=draw) < share
            weights[name] = torch.where(is_disturbed, noise.to(weight.dtype), weight)
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
